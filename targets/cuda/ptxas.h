// ptxas as a subprocess: PTX text to a cubin with the resources and warnings that it reports.
#ifndef KC_TARGETS_CUDA_PTXAS_H
#define KC_TARGETS_CUDA_PTXAS_H

#include "targets/build.h"

// Makes the cubin of job-independent PTX text. false: an error that says what ptxas did is in the
// sink. Findings of ptxas (performance warnings) become warnings in the sink.
bool kc_ptxas_assemble(kc_arena *, kc_diag *, const char *ptxas, double seconds, const char *arch,
                       const char *ptx, size_t ptx_size, const char **cubin, size_t *cubin_size,
                       kc_kernel_resources **kernels, int *n_kernels);

// Reads what `ptxas -v` prints. Exposed for its test.
int kc_ptxas_read_resources(kc_arena *, const char *text, kc_kernel_resources **out);

#endif
