/* clang-format off */
/* What a simulator exports beside the vendor's interface. kc's runtime looks these up with dlsym:
 * a library that has them is a simulator. They may be called before and after cuInit.
 *
 * The environment that a simulator reads, once, at the first call:
 *
 *     KCSIM_CUDA_DEVICES     architectures with commas between, a device each; default sm_90a;
 *                            a bare sm_90 is sm_90a; empty: no device
 *     KCSIM_SEED             of the scheduler; default 0, the tamest: others show more
 *     KCSIM_CHECKS           all (default) or none, each alone, or kinds of findings with commas
 *                            between
 *     KCSIM_ON_FINDING       error (default): the launch that makes a finding fails;
 *                            report: it goes on
 *     KCSIM_REPORT=FILE      counters and findings, as JSON, or as a table where the name ends in
 *                            .txt; written whole: after synchronising calls
 *                            that follow work, when a finding occurs, and at exit
 *     KCSIM_MEMORY           bytes on each card (8G, 512M)
 *     KCSIM_MULTIPROCESSORS  of each card
 *     KCSIM_LOG=FILE         appended: calls that are not supported, refused images, faults;
 *                            "-" is standard error, which a report that cannot be written and
 *                            variables that are not understood are told on where this is not set
 *
 * The report is the JSON of kcsim_report_json for the first device that was used; where several
 * were, the others stand in its array "devices". */
/* clang-format on */
#ifndef KCSIM_H
#define KCSIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counters and findings of a device as JSON: {"device": ..., "kernels": [...]}. malloc'd; NULL when
 * there is no such device or no memory. A device that ran nothing has no kernels. */
char *kcsim_report_json(int device);

/* The same as a table, a row a line of PTX. */
char *kcsim_report_table(int device);

/* Forgets the counters and findings of a device. */
void kcsim_report_reset(int device);

/* One sentence on the last launch of the device that failed, malloc'd; NULL when none did. */
char *kcsim_fault_text(int device);

/* The seed of launches from now on, on every device. Answers 0. */
int kcsim_set_seed(uint64_t seed);

/* The ordinal of a device of this architecture ("sm_80"), which is added when there is none; -1
 * when the architecture is unknown or there are too many devices. */
int kcsim_device_for_arch(const char *arch);

#ifdef __cplusplus
}
#endif

#endif
