# What keeps the sources in order. None of it is needed to build.
CLANG_FORMAT ?= $(firstword $(foreach p,clang-format-$(LLVM) clang-format,$(shell command -v $(p))))
CLANG_TIDY   ?= $(firstword $(foreach p,clang-tidy-$(LLVM) clang-tidy,$(shell command -v $(p))))
OUR_SOURCES   = $(shell git ls-files '*.c' '*.h')

format:
	@test -n "$(CLANG_FORMAT)" || { echo "format: no clang-format here (apt-get install clang-format)"; exit 1; }
	$(CLANG_FORMAT) -i $(OUR_SOURCES)

# Both compilers' warnings are errors in every build. This looks further, with what is installed, and only advises: analysers
# do not know what the verifier has excluded.
lint:
	@if [ -n "$(CLANG_TIDY)" ]; then \
	  $(CLANG_TIDY) --quiet --checks='-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-branch-clone,-bugprone-suspicious-string-compare,-bugprone-sizeof-expression,-clang-analyzer-valist.Uninitialized,-clang-analyzer-security.insecureAPI.*' \
	    $(IR_SRC) $(RT_SRC) -- -std=c11 -D_GNU_SOURCE -I. || true; \
	else echo "skip clang-tidy: not installed"; fi
	@if command -v cppcheck > /dev/null; then \
	  cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr -D_GNU_SOURCE -I. ir passes runtime compiler/frontend compiler/package; \
	else echo "skip cppcheck: not installed"; fi

OPS_REFERENCE := $(BUILD)/tools/ops_reference
unit: $(OPS_REFERENCE)
$(OPS_REFERENCE): $(BUILD)/obj/tools/ops_reference.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $<

docs: docs/OPS.md docs/IR_OPS.md
docs/OPS.md: $(OPS_REFERENCE) compiler/frontend/op_examples.txt
	$(OPS_REFERENCE) > $@.tmp && mv $@.tmp $@
docs/IR_OPS.md: ir/ops.def tools/ir_ops.awk
	awk -f tools/ir_ops.awk ir/ops.def > $@.tmp && mv $@.tmp $@

# What needs a GPU: each package of the examples on the first real device.
device: all
	tests/device.sh $(BUILD)
