# make random N=2000 [SEED=7] [TARGET=cuda:sm_90a]: random models, built, run on simulators and compared; failures go to
# $(BUILD)/random. make nightly N=20000: the long share of every test that has one; each adds a prerequisite.
.PHONY: random nightly nightly-random
random: all
	/usr/bin/python3 tests/random/run.py --build $(BUILD) --count $(or $(N),2000) $(if $(TARGET),--target $(TARGET)) $(if $(SEED),--seed $(SEED))

nightly: nightly-random
nightly-random: all
	/usr/bin/python3 tests/random/run.py --build $(BUILD) --count $(or $(N),20000) --cases 3 --jobs $(shell nproc) $(if $(SEED),--seed $(SEED))
