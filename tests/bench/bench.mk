# `make bench`: what a build, a launch and a simulated instruction cost, what kernels move, what products on tensor cores are
# made of. The table is also written to $(BUILD)/bench.txt. KC_TRITON=PYTHON: one that has Triton, to compare with.
BENCH_BIN := $(BUILD)/bench/measure $(BUILD)/bench/launch_cost $(BUILD)/bench/libnull_cuda.so

bench: all $(BENCH_BIN)
	tests/bench/run.sh $(BUILD)
	/usr/bin/python3 tests/bench/instructions.py $(BUILD) | tee -a $(BUILD)/bench.txt
	/usr/bin/python3 tests/run/footprint.py $(BUILD) | sed 's/^[a-z ]*ok /simulator, memory of a run: /' | tee -a $(BUILD)/bench.txt
	/usr/bin/python3 tests/bench/memory.py $(BUILD) | tee -a $(BUILD)/bench.txt
	/usr/bin/python3 tests/bench/gemm.py $(BUILD) | tee -a $(BUILD)/bench.txt

$(BUILD)/bench/measure: tests/bench/measure.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $<

$(BUILD)/bench/launch_cost: tests/bench/launch_cost.c $(LIBDIR)/libkcrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $^ -ldl -lpthread

$(BUILD)/bench/libnull_cuda.so: tests/bench/null_cuda.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -o $@ $<
