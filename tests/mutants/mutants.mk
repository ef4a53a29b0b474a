# make nightly: all mutants; tests/run/mutants.sh takes a share in `make test`.
.PHONY: nightly-mutants
nightly: nightly-mutants
nightly-mutants: all
	/usr/bin/python3 tests/mutants/mutants.py $(BUILD) --seeds 10
