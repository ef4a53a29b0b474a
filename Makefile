# kc: build, test, install. `make` builds into $(BUILD); BUILD=build-NAME keeps another configuration beside it.
# Files are found by folder: adding a .c file to a folder is all it takes to build it.

BUILD      ?= build
LLVM       ?= 22
PREFIX     ?= /usr/local
CC         ?= gcc
ifeq ($(origin CC),default)
CC         := gcc
endif
CXX        := $(if $(filter clang%,$(CC)),$(subst clang,clang++,$(CC)),g++)
CLANG      ?= clang-$(LLVM)
LLVM_CONFIG ?= llvm-config-$(LLVM)

OPT        ?= -O2
WARN       := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS_ALL  = -std=c11 $(OPT) -g $(WARN) -fPIC -fvisibility=hidden -ffp-contract=off -D_GNU_SOURCE -I. -I$(BUILD)/gen $(SAN) $(CFLAGS)
DEPFLAGS    = -MMD -MP
LDFLAGS_ALL = -fuse-ld=lld $(SAN) $(LDFLAGS)

# ---- what each folder becomes ------------------------------------------------------------------
IR_SRC      := $(wildcard ir/*.c)
PASSES_SRC  := $(wildcard passes/*.c)
TARGETS_SRC := $(wildcard targets/*.c targets/common/*.c targets/cuda/*.c targets/hip/*.c)
KC_SRC      := $(wildcard compiler/*.c compiler/*/*.c)
RT_SRC      := $(wildcard runtime/*.c runtime/cuda/*.c runtime/hip/*.c)
KCRUN_SRC   := $(wildcard runtime/kcrun/*.c)
REF_SRC     := $(wildcard runtime/ref/*.c)
SIM_SRC     := $(wildcard runtime/sim/*.c)
SIMCUDA_SRC := $(wildcard runtime/sim/cuda/*.c)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIBDIR := $(BUILD)/lib
INTDIR := $(BUILD)/lib/internal
IR_LIB      := $(INTDIR)/libkcir.a
PASSES_LIB  := $(INTDIR)/libkcpasses.a
TARGETS_LIB := $(INTDIR)/libkctargets.a
COMPILER_LIB := $(INTDIR)/libkccompiler.a
SIM_LIB     := $(INTDIR)/libkcsim.a

# Integer expressions are plain C that the compiler and the runtime share.
RT_SHARED   := $(wildcard ir/expr*.c)

-include build.mk
.DEFAULT_GOAL := all
.PHONY: all clean install test san fuzz bench docs format lint device
.SECONDARY:

all: $(BUILD)/bin/kc $(BUILD)/bin/kcrun $(LIBDIR)/libkcrt.so $(LIBDIR)/libkcrt.a $(LIBDIR)/libkcrt_ref.so \
     $(LIBDIR)/libkcsim_cuda.so $(BUILD)/sim/libcuda.so.1

# The deployed library is kept small: what it does not use is dropped.
$(call obj,$(RT_SRC) $(RT_SHARED)): override OPT := $(if $(filter -O2,$(OPT)),-Os,$(OPT)) -ffunction-sections -fdata-sections

# ---- LLVM, linked statically into kc alone --------------------------------------------------------
LLVM_CFLAGS  = $(shell $(LLVM_CONFIG) --cflags | tr ' ' '\n' | grep -E '^-(I|D)' | grep -v NDEBUG)
-include targets/targets.mk targets/common/math/math.mk

$(BUILD)/obj/targets/%.o: CFLAGS_ALL += $(LLVM_CFLAGS)
$(BUILD)/obj/tests/unit/targets/%.o: CFLAGS_ALL += $(LLVM_CFLAGS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(DEPFLAGS) -c $< -o $@

$(BUILD)/obj/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(OPT) -g -fPIC -fno-rtti -fno-exceptions -I. $(LLVM_CFLAGS) -w $(SAN) $(DEPFLAGS) -c $< -o $@

define archive
@mkdir -p $(@D); rm -f $@
ar rcs $@ $^
endef

$(IR_LIB): $(call obj,$(IR_SRC)) ; $(archive)
$(PASSES_LIB): $(call obj,$(PASSES_SRC)) ; $(archive)
$(TARGETS_LIB): $(call obj,$(TARGETS_SRC)) $(TARGETS_EXTRA_OBJ) ; $(archive)
# The readers of arrays are kcrun's.
ARRAY_SRC := runtime/kcrun/npy.c runtime/kcrun/fill.c runtime/kcrun/strided.c
$(COMPILER_LIB): $(filter-out $(BUILD)/obj/compiler/main.o,$(call obj,$(KC_SRC) $(ARRAY_SRC))) ; $(archive)
$(SIM_LIB): $(call obj,$(SIM_SRC) $(SIMCUDA_SRC)) ; $(archive)
$(LIBDIR)/libkcrt.a: $(call obj,$(RT_SRC) $(RT_SHARED)) ; $(archive)

$(LIBDIR)/libkcrt.so: $(call obj,$(RT_SRC) $(RT_SHARED))
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libkcrt.so -Wl,--as-needed -Wl,--gc-sections -o $@ $^ -ldl -lpthread

$(LIBDIR)/libkcrt_ref.so: $(call obj,$(REF_SRC) $(IR_SRC))
	$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libkcrt_ref.so -o $@ $^ -lm -lpthread

$(LIBDIR)/libkcsim_cuda.so: $(call obj,$(SIM_SRC) $(SIMCUDA_SRC))
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libcuda.so.1 -o $@ $^ -lm -lpthread

$(BUILD)/sim/libcuda.so.1: $(LIBDIR)/libkcsim_cuda.so
	@mkdir -p $(@D)
	ln -sf ../lib/libkcsim_cuda.so $@

KC_RUN_OBJ := $(filter-out %/kcrun/main.o,$(call obj,$(KCRUN_SRC)))
$(BUILD)/bin/kc: $(BUILD)/obj/compiler/main.o $(KC_RUN_OBJ) $(COMPILER_LIB) $(PASSES_LIB) $(TARGETS_LIB) $(IR_LIB) $(LIBDIR)/libkcrt.a $(KC_EXTRA_OBJ)
	@mkdir -p $(@D)
	$(CXX) -no-pie $(LDFLAGS_ALL) -Wl,--gc-sections -o $@ $(BUILD)/obj/compiler/main.o $(KC_RUN_OBJ) -Wl,--start-group $(COMPILER_LIB) $(PASSES_LIB) \
	  $(TARGETS_LIB) $(IR_LIB) $(LIBDIR)/libkcrt.a -Wl,--end-group $(KC_EXTRA_OBJ) $(LLD_LIBS) $(LLVM_LIBS) -lyaml -lcjson -lm -ldl -lpthread

# What kcrun does is also `kc run`; only its main stays out of kc.
KCRUN_OBJ := $(call obj,$(KCRUN_SRC) ir/dtype.c)
$(BUILD)/bin/kcrun: $(KCRUN_OBJ) $(LIBDIR)/libkcrt.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm -ldl -lpthread

# ---- unit tests: tests/unit/FOLDER/test_x.c becomes $(BUILD)/test/FOLDER/test_x -----------------------
# Each folder names what its tests link: libraries of ours, then system libraries.
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/test/%,$(UNIT_SRC))
unit: $(UNIT_BIN)

# Passes need the tables of targets, not their code generation.
TARGET_TABLES := $(call obj,$(wildcard targets/target.c targets/mma.c targets/dispatch.c targets/parse.c targets/list.c targets/*/*_target.c))
LLVM_SYS = $(LLD_LIBS) $(LLVM_LIBS) -lstdc++

define unit_folder # folder, our libraries, system libraries
$(BUILD)/test/$(1)/test_%: $(BUILD)/obj/tests/unit/$(1)/test_%.o $(2)
	@mkdir -p $$(@D)
	$$(CC) $$(LDFLAGS_ALL) -o $$@ $$< -Wl,--start-group $$(or $$(UNIT_LIBS),$(2)) -Wl,--end-group $$(or $$(UNIT_SYS),$(3)) -lcmocka -lm -ldl -lpthread
endef
$(eval $(call unit_folder,ir,$(IR_LIB)))
$(eval $(call unit_folder,passes,$(PASSES_LIB) $(TARGET_TABLES) $(IR_LIB),-lcjson))
$(eval $(call unit_folder,targets,$(TARGETS_LIB) $(PASSES_LIB) $(IR_LIB),$$(LLVM_SYS) -lcjson))
$(eval $(call unit_folder,frontend,$(COMPILER_LIB) $(IR_LIB) $(LIBDIR)/libkcrt.a,-lyaml))
$(eval $(call unit_folder,compiler,$(COMPILER_LIB) $(PASSES_LIB) $(TARGETS_LIB) $(IR_LIB) $(LIBDIR)/libkcrt.a,$$(LLVM_SYS) -lyaml -lcjson))
$(eval $(call unit_folder,runtime,$(LIBDIR)/libkcrt.a $(IR_LIB)))
$(eval $(call unit_folder,sim,$(SIM_LIB)))

# ---- checks -----------------------------------------------------------------------------------------
test: all unit
	tests/run.sh $(BUILD) $(T)

include install.mk tools/tools.mk tests/san.mk tests/fuzz/fuzz.mk tests/bench/bench.mk tests/random/random.mk tests/oracle/oracle.mk tests/foreign/foreign.mk tests/mutants/mutants.mk tests/run/gemm.mk

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
