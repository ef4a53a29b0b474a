# What the targets need to link, for the top Makefile.
# lld has no pkg-config or llvm-config entry; its shim is C++ and goes into libkctargets.a.
TARGETS_EXTRA_OBJ += $(BUILD)/obj/targets/hip/lld_shim.o
LLD_LIBS = -L$(shell $(LLVM_CONFIG) --libdir) -llldELF -llldCommon
LLVM_COMPONENTS := nvptx amdgpu passes bitreader irreader linker option
# as-needed drops libraries that only unused parts of LLVM mention (z3, xml2).
LLVM_LIBS = $(shell $(LLVM_CONFIG) --link-static --libs $(LLVM_COMPONENTS)) -Wl,--as-needed $(shell $(LLVM_CONFIG) --link-static --system-libs)
