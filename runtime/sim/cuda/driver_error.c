/* Names and texts of results. */
#include "runtime/sim/cuda/driver_api.h"

static const struct {
    CUresult result;
    const char *name, *text;
} results[] = {
#define ROW(name, value, text) {name, #name, text},
    DRIVER_RESULTS(ROW)
#undef ROW
};

static int find(CUresult result) {
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].result == result) return (int)i;
    return -1;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
    int row = find(error);
    *name = row < 0 ? NULL : results[row].name;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    if (text == NULL) return CUDA_ERROR_INVALID_VALUE;
    int row = find(error);
    *text = row < 0 ? NULL : results[row].text;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
