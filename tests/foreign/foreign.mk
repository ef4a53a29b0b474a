# make nightly: kernels of other compilers and our own under many seeds; tests/run/foreign.sh and seeds.sh take three in `make test`.
.PHONY: nightly nightly-foreign nightly-seeds
nightly: nightly-foreign nightly-seeds
nightly-seeds: all
	/usr/bin/python3 tests/run/seeds.py $(BUILD) --seeds 50 --all
nightly-foreign: all
	/usr/bin/python3 tests/foreign/run.py $(BUILD) --seeds 50
