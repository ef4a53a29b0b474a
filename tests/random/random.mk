# make random N=2000 [SEED=7] [ARCH=sm_90a]: random models, built, run on simulators and compared; failures go to $(BUILD)/random.
.PHONY: random
random: all
	/usr/bin/python3 tests/random/run.py --build $(BUILD) --count $(or $(N),2000) --arch $(or $(ARCH),random) $(if $(SEED),--seed $(SEED))
