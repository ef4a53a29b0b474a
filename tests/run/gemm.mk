# make nightly: products in every size, type and schedule; tests/run/numpy_gemm.sh takes a sample in `make test`.
.PHONY: nightly nightly-gemm
nightly: nightly-gemm
nightly-gemm: all
	/usr/bin/python3 tests/run/numpy_gemm.py $(BUILD) all jobs=$(shell nproc)
