# Fuzzers. tests/fuzz/fuzz_NAME.c takes bytes; its corpus is tests/fuzz/corpus/NAME.
#   make fuzz T=60     each fuzzer for 60 seconds under ASan and UBSan, in $(BUILD)-fuzz. SEED= replays a run
#   make fuzzers       the programs alone: $(BUILD)/fuzz/fuzz_NAME [SECONDS [SEED]]
#   make libfuzzer     with clang's libFuzzer, those that have an entry point for it: $(BUILD)-fuzz/libfuzzer/fuzz_NAME CORPUS
# A file with a main of its own mutates in its own way; the others get driver.c's.
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_OWN  := $(shell grep -l '^int main' $(FUZZ_SRC) /dev/null)
FUZZ_NAME := $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC))
FUZZ_BIN  := $(FUZZ_NAME:%=$(BUILD)/fuzz/fuzz_%)
FUZZ_SAN  := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_LIBS := $(COMPILER_LIB) $(IR_LIB) $(LIBDIR)/libkcrt.a
# What a fuzzer links, by name.
FUZZ_LIBS_ir := $(IR_LIB)
FUZZ_LIBS_package := $(LIBDIR)/libkcrt.a
FUZZ_LIBS_ptx := $(SIM_LIB)
FUZZ_SYS_model := -lyaml

.PHONY: fuzzers libfuzzer
fuzzers: $(FUZZ_BIN)
test: fuzzers # tests/run/fuzz_corpus.sh replays the corpus

define fuzz_program # name
$(BUILD)/fuzz/fuzz_$(1): $(BUILD)/obj/tests/fuzz/fuzz_$(1).o $(if $(filter tests/fuzz/fuzz_$(1).c,$(FUZZ_OWN)),,$(BUILD)/obj/tests/fuzz/driver_$(1).o) $(or $(FUZZ_LIBS_$(1)),$(FUZZ_LIBS))
	@mkdir -p $$(@D)
	$$(CC) $$(LDFLAGS_ALL) -o $$@ $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $(FUZZ_SYS_$(1)) -lm -ldl -lpthread
$(BUILD)/obj/tests/fuzz/driver_$(1).o: tests/fuzz/driver.c
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS_ALL) $$(DEPFLAGS) -DKC_FUZZ_NAME='"$(1)"' -c $$< -o $$@
endef
$(foreach name,$(FUZZ_NAME),$(eval $(call fuzz_program,$(name))))

fuzz: T := $(or $(T),60)
fuzz:
	+$(MAKE) BUILD=$(BUILD)-fuzz SAN="$(FUZZ_SAN)" OPT=-O1 fuzzers
	@for name in $(FUZZ_NAME); do ASAN_OPTIONS=detect_leaks=0 $(BUILD)-fuzz/fuzz/fuzz_$$name $(T) $(SEED) || exit 1; done

libfuzzer:
	+$(MAKE) BUILD=$(BUILD)-libfuzzer CC=$(CLANG) SAN="$(FUZZ_SAN) -fsanitize=fuzzer-no-link" OPT=-O1 $(filter %.a,$(FUZZ_LIBS:$(BUILD)/%=$(BUILD)-libfuzzer/%))
	@mkdir -p $(BUILD)-libfuzzer/fuzz
	for source in $(filter-out $(FUZZ_OWN),$(FUZZ_SRC)); do \
	  $(CLANG) -std=c11 -g -O1 -D_GNU_SOURCE -I. $(FUZZ_SAN) -fsanitize=fuzzer $$source -Wl,--start-group \
	    $(filter %.a,$(FUZZ_LIBS:$(BUILD)/%=$(BUILD)-libfuzzer/%)) -Wl,--end-group -lyaml -lm -ldl -lpthread \
	    -o $(BUILD)-libfuzzer/fuzz/$$(basename $$source .c) || exit 1; done
	@echo "for example: $(BUILD)-libfuzzer/fuzz/fuzz_ir tests/fuzz/corpus/ir -max_total_time=60"
