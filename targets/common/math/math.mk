# The mathematical functions: bitcode for GPU modules, embedded in the compiler, and a host copy for the tests.
# Included by the Makefile before the rules that use TARGETS_EXTRA_OBJ.

KC_MATH_DIR := targets/common/math
KC_MATH_SRC := $(addprefix $(KC_MATH_DIR)/,erf.c exp.c log.c pow.c rsqrt.c small.c tanh.c trig.c)
KC_MATH_GEN := $(BUILD)/gen/math
LLVM_AS     ?= llvm-as-$(LLVM)

# Contraction and traps off: the operations written are the ones executed. No vectors, no jump tables, no library.
KC_MATH_CLANG_FLAGS := -std=c11 -O2 -ffreestanding -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-vectorize \
  -fno-slp-vectorize -fno-jump-tables -fno-strict-aliasing -fno-stack-protector -fno-asynchronous-unwind-tables -g0 -I.

# Everything that names the build machine's target goes: data layout, triple, module flags, string attributes.
KC_MATH_NEUTRAL := -e '/^source_filename/d' -e '/^target /d' -e '/^!llvm\./d' -e '/^; ModuleID/d' \
  -e '/^attributes/s/ "[^"]*"="[^"]*"//g' -e '/^attributes/s/ "[^"]*"//g' -e 's/ dso_local//'

TARGETS_EXTRA_OBJ += $(BUILD)/obj/gen/math/math_bitcode.o $(BUILD)/obj/$(KC_MATH_DIR)/math_link.o

# One translation unit, so that one set of declarations remains. A table or a variable in memory is refused here.
$(KC_MATH_GEN)/math.ll: $(KC_MATH_SRC) $(wildcard $(KC_MATH_DIR)/*.h) $(KC_MATH_DIR)/math.mk
	@mkdir -p $(@D)
	printf '#include "%s"\n' $(KC_MATH_SRC) | $(CLANG) $(KC_MATH_CLANG_FLAGS) -x c -S -emit-llvm -o $@.raw -
	sed $(KC_MATH_NEUTRAL) $@.raw > $@.new
	! grep -nE '^@|alloca| load | store ' $@.new
	mv $@.new $@

# From standard input, so that no path gets into the file.
$(KC_MATH_GEN)/math.bc: $(KC_MATH_GEN)/math.ll
	$(LLVM_AS) < $< > $@.new
	mv $@.new $@

$(KC_MATH_GEN)/math_bitcode.c: $(KC_MATH_GEN)/math.bc
	( echo '#include "$(KC_MATH_DIR)/math_bitcode.h"'; \
	  echo '_Alignas(8) const unsigned char kc_math_bitcode[] = {'; \
	  od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; \
	  echo '};'; echo 'const size_t kc_math_bitcode_size = sizeof kc_math_bitcode;' ) > $@

$(BUILD)/obj/gen/math/math_bitcode.o: $(KC_MATH_GEN)/math_bitcode.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(DEPFLAGS) -c $< -o $@

# The host copy. A machine with an fma instruction uses it: the results are the same, sooner.
KC_MATH_HOST_OBJ := $(patsubst $(KC_MATH_DIR)/%.c,$(BUILD)/obj/math-host/%.o,$(KC_MATH_SRC))
KC_MATH_HOST_FLAGS := $(if $(shell grep -m1 -ow fma /proc/cpuinfo 2>/dev/null),-mfma)

$(BUILD)/obj/math-host/%.o: $(KC_MATH_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(KC_MATH_HOST_FLAGS) $(DEPFLAGS) -c $< -o $@

$(BUILD)/test/targets/test_math: $(KC_MATH_HOST_OBJ)
$(BUILD)/test/targets/test_math: UNIT_LIBS = $(KC_MATH_HOST_OBJ)
$(BUILD)/test/targets/test_math: UNIT_SYS =
$(BUILD)/test/targets/test_small: $(KC_MATH_HOST_OBJ)
$(BUILD)/test/targets/test_small: UNIT_LIBS = $(KC_MATH_HOST_OBJ) $(call obj,ir/dtype.c)
$(BUILD)/test/targets/test_small: UNIT_SYS =
