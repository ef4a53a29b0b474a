# make nightly: results of NumPy and SciPy on every kind of architecture; tests/run/oracle.sh takes one of them in `make test`.
.PHONY: nightly nightly-oracle
nightly: nightly-oracle
nightly-oracle: all
	/usr/bin/python3 tests/oracle/run.py $(BUILD) -v --arch sm_75,sm_80,sm_89,sm_90a,sm_100a,sm_120a
