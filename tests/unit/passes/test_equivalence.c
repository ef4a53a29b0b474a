// Every pass keeps the meaning of every function: the functions of equivalence_models.h, for a
// target of each warp size.
#include "tests/unit/passes/equivalence.h"
#include "tests/unit/passes/equivalence_models.h"

static void test_model(void **state) {
    static const char *const targets[] = {"cuda:sm_80", "hip:gfx942"};
    const model *m = *state;
    int failures = 0, k = 0;
    const char *at = m->dims;
    do {
        size_t length = strcspn(at, ";");
        failures += run_in_child(m->name, m->text, targets[k++ % 2], at, length);
        if (k < 3) failures += run_in_child(m->name, m->text, targets[k % 2], at, length);
        at += length + (at[length] == ';');
    } while (*at);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    enum { MODELS = sizeof models / sizeof *models };
    static struct CMUnitTest tests[MODELS];
    int n = 0;
    for (int i = 0; i < MODELS; i++)
        if (argc < 2 || !strcmp(argv[1], models[i].name))
            tests[n++] = (struct CMUnitTest){models[i].name, test_model, NULL, NULL,
                                             (void *)(uintptr_t)&models[i]};
    return _cmocka_run_group_tests("equivalence", tests, (size_t)n, NULL, NULL);
}
