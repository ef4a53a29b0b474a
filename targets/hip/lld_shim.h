// lld's ELF linker in this process: one function for C.
#ifndef KC_TARGETS_HIP_LLD_SHIM_H
#define KC_TARGETS_HIP_LLD_SHIM_H

#ifdef __cplusplus
extern "C" {
#endif

// argv[0] must be "ld.lld". Returns 0 when linked; else a malloc'd text of what lld said is in
// *said (NULL: nothing).
int kc_lld_link(int argc, const char **argv, char **said);

#ifdef __cplusplus
}
#endif

#endif
