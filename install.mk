# `make install PREFIX=/usr/local DESTDIR=`: the compiler, the runtime with its header files, and the simulators.
VERSION = $(shell sed -n 's/.*KC_VERSION "\(.*\)".*/\1/p' compiler/version.h)
DEST := $(DESTDIR)$(PREFIX)
INSTALLED_LIBS := libkcrt.so libkcrt.a libkcrt_ref.so libkcsim_cuda.so

install: all
	install -d $(DEST)/bin $(DEST)/lib/pkgconfig $(DEST)/include
	install -m 755 $(BUILD)/bin/kc $(BUILD)/bin/kcrun $(DEST)/bin
	install -m 644 $(addprefix $(LIBDIR)/,$(INSTALLED_LIBS)) $(DEST)/lib
	install -m 644 runtime/kcrt.h runtime/kcrt_device.h $(DEST)/include
	sed 's:@PREFIX@:$(PREFIX):; s:@VERSION@:$(VERSION):' runtime/kcrt.pc.in > $(DEST)/lib/pkgconfig/kcrt.pc
	chmod 644 $(DEST)/lib/pkgconfig/kcrt.pc
