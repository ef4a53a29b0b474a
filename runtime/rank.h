// How well an image's architecture suits a device: the vendors' rules, as pure functions.
//
// cuda: exact before family before PTX. On compute capability 9.0: sm_90a (cubin, PTX), then sm_90,
// then older sm_9x cubins,
//   then suffix-free PTX, newest first. A cubin without suffix runs on the same major and an equal
//   or higher minor version. Suffix `a` is exactly that version; `f` is its family: the same major,
//   an equal or higher minor.
// hip: the exact processor, with more named features first; then the generic targets that contain
// it.
#ifndef KCRT_RANK_H
#define KCRT_RANK_H

// 0: does not run; else higher is better. *reason is set, for 0, to a static phrase.
int kcrt_rank_cuda(int major, int minor, const char *arch, const char *role, const char **reason);
// device: what the driver reports, "gfx90a:sramecc+:xnack-".
int kcrt_rank_hip(const char *device, const char *arch, const char *role, const char **reason);

// "sm_90a": number 90, suffix 'a' (0 for none). False when it is not such a name.
_Bool kcrt_parse_sm(const char *arch, int *number, char *suffix);

#endif
