# make nightly: kernels of other compilers under many seeds; tests/run/foreign.sh takes three in `make test`.
.PHONY: nightly nightly-foreign
nightly: nightly-foreign
nightly-foreign: all
	/usr/bin/python3 tests/foreign/run.py $(BUILD) --seeds 50
