# `make san`: everything of ours under ASan and UBSan, all tests, in build-san. LLVM itself is not instrumented.
# What our programs leave at exit is not looked for where LLVM is linked in: it keeps its tables until the end.
# Instrumented code confuses the two warnings that are off.
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wno-clobbered -Wno-maybe-uninitialized

san:
	+$(MAKE) BUILD=build-san SAN="$(SAN_FLAGS)" OPT=-O1 all unit fuzzers
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  CFLAGS="$(SAN_FLAGS)" KC_TEST_SECONDS=1800 tests/run.sh build-san $(T)
