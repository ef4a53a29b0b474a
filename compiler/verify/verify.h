// kc verify: every function on every architecture, each variant executed on a simulator and
// compared with the reference.
#ifndef KC_COMPILER_VERIFY_VERIFY_H
#define KC_COMPILER_VERIFY_VERIFY_H

#include "compiler/package/reader.h"

typedef enum { KC_VERIFY_PASSED, KC_VERIFY_FAILED, KC_VERIFY_UNVERIFIED } kc_verify_state;

// One variant of one function on one architecture.
typedef struct {
    const char *function, *triple, *arch;
    int variant;
    const char *reason; // of the schedule, ""
    kc_verify_state state;
    int cases;           // that ran
    double worst;        // the largest error as a part of what is allowed; at most 1 when passed
    const char *problem; // the first one, or why it is unverified; NULL when passed
    bool cubin;          // a cubin travels with the PTX that was executed
} kc_verify_row;

typedef struct {
    int jobs;
    double seconds; // of one function on one architecture
    uint64_t seed;
    const char *const *functions; // none: all
    int n_functions;
} kc_verify_options;

// *rows is an arena array; returns how many, or -1 with *error.
int kc_verify_run(kc_arena *, const kc_package_file *, const kc_verify_options *,
                  kc_verify_row **rows, const char **error);

// ---- between the files of this folder -----------------------------------------------------------

// subset.c: a package with one function, one target and, of its images, what a simulator can
// execute; malloc'ed.
char *kc_verify_subset(const kc_package_file *, int function, int target, size_t *size);

// cases.c: what to try.
typedef struct {
    int64_t *values; // of dims, then stride names
    bool misaligned; // pointers have no alignment beyond the element's
    bool in_place;   // outputs that may share memory with an input do
    int fill;        // 0 normal, 1 uniform, 2 small integers
} kc_verify_case;
// device: values of kcrt_device_symbols.
int kc_verify_cases(kc_arena *, const kcrt_signature *, const kcrt_target *, const int64_t *device,
                    kc_verify_case **);
// The variant that a launch takes; alignments: of the arguments' addresses. -1: none.
int kc_verify_variant(const kcrt_signature *, const kcrt_target *, const int64_t *device,
                      const int64_t *alignments, const kc_verify_case *);

// The nearest value from `v` up that the facts allow, in multiples of `step` too; -1: there is
// none.
int64_t kc_verify_allowed(const kc_expr_facts *, int64_t v, int64_t step);

// strides.c: values of the stride names, behind those of the dims: of each the least that keeps the
// elements of every tensor apart, and `pad` more, in multiples of its entry in `steps` (by symbol;
// NULL: 1). False: there are none with which a launch takes the outputs.
bool kc_verify_strides(const kcrt_signature *, const int64_t *steps, int64_t pad, int64_t *values);

// execute.c: in a worker. Tells `out`, a line each:
//   case TAB VARIANT TAB WHAT               before a case
//   result TAB VARIANT TAB WORST TAB TEXT   after it; TEXT is empty when it is right
//   cannot TAB TEXT                         nothing can be executed here
//   broken TAB TEXT                         the package cannot be loaded
//   late                                    there was no time for the rest
void kc_verify_execute(const kc_package_file *subset, const char *path, double seconds,
                       uint64_t seed, int out);

#endif
