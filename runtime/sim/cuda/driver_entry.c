/* Entry points by name: cuGetProcAddress over the rows of driver_entries.h.
 *
 * A name without suffix has several symbols, each from the toolkit version that introduced it; the
 * newest that the caller's version knows is answered. Calls that the simulator lacks are found too:
 * they answer NOT_SUPPORTED when called, which says more than a missing symbol. */
#include "runtime/sim/cuda/driver_api.h"
#include "runtime/sim/cuda/driver_entries.h"
#include "runtime/sim/cuda/driver_unsupported.h"

#include <stdio.h>
#include <string.h>

/* The functions' own types do not matter to a table of addresses. */
typedef void (*entry_function)(void);

static const struct {
    const char *name;
    int version;
    entry_function function, per_thread;
} entries[] = {
#define ROW(name, version, symbol, per_thread)                                                     \
    {#name, version, (entry_function)symbol, (entry_function)per_thread},
    DRIVER_ENTRIES(ROW)
#undef ROW
};

/* The entry point `name` as cuGetProcAddress answers it. */
static CUresult find_entry(const char *name, int version, bool per_thread, void **out,
                           CUdriverProcAddressQueryResult *status) {
    int best = -1;
    bool known = false;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(entries[i].name, name) != 0) continue;
        known = true;
        if (entries[i].version <= version &&
            (best < 0 || entries[i].version > entries[best].version))
            best = (int)i;
    }
    *out = NULL;
    *status = best >= 0 ? CU_GET_PROC_ADDRESS_SUCCESS
              : known   ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (best < 0) return CUDA_ERROR_NOT_FOUND;
    entry_function found = per_thread ? entries[best].per_thread : entries[best].function;
    memcpy(out, &found, sizeof found);
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    CUdriverProcAddressQueryResult answer;
    if (name == NULL || out == NULL ||
        (flags & ~(uint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                             CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    CUresult result = find_entry(name, version, per_thread, out, &answer);
    if (status == NULL) return result;
    *status = answer;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}

/* Private tables between the vendor's libraries, above all for its runtime: undocumented, and not
 * here. The log says which one was asked for. */
CUresult cuGetExportTable(const void **table, const driver_uuid *id) {
    char name[80], hex[33] = "";
    if (table == NULL || id == NULL) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    for (size_t i = 0; i < sizeof id->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)id->bytes[i]);
    snprintf(name, sizeof name, "cuGetExportTable of %.8s-%.4s-%.4s-%.4s-%s", hex, hex + 8,
             hex + 12, hex + 16, hex + 20);
    return driver_unsupported(name);
}
