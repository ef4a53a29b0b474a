#!/usr/bin/python3
"""What the simulator executes a second of processor time, that is on each core, with all checks and with none: instructions of
threads, and the arithmetic of tensor cores. tests/bench/instructions.py [BUILD]

The columns are those of run.sh: what, measured, target, measured / target; what misses its target is marked."""
import os, sys, time
import numpy as np

sys.dont_write_bytecode = True
BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "foreign"))
import ctypes as c, sim

SIGNS = {"f32.f16.f16": ", 1, 1, 0, 0", "f32.tf32.tf32": ", 1, 1", "f32.e4m3.e4m3": ", 1, 1", "s32.s8.s8": ""}  # and transposes
TENSOR_TARGET = 5.0  # GFLOP/s
TARGETS = {"all": 30.0, "none": 150.0}  # millions of instructions a second
FORM = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) {
.shared .align 1024 .b8 tile[24576];
.reg .pred %p<4>; .reg .b32 %r<300>; .reg .b64 %d<40>;
mov.u32 %r0, %tid.x; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
"""


def registers(first, count):
    return "{" + ", ".join(f"%r{i}" for i in range(first, first + count)) + "}"


def zeros(first, count):
    return "".join(f"mov.b32 %r{i}, 0;\n" for i in range(first, first + count))


def loop(before, body, after=""):
    return FORM + before + f"LOOP:\n{body}add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra LOOP;\n{after}ret; }}\n"


def mma(shape, types, d, a, b):
    text = f"mma.sync.aligned.{shape}.row.col.{types} {registers(10, d)}, {registers(20, a)}, {registers(30, b)}, {registers(10, d)};\n"
    return loop(zeros(10, d) + zeros(20, a) + zeros(30, b), text)


def sparse(shape, types, b):
    text = (f"mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{types} {registers(10, 4)}, {registers(20, 4)}, {registers(30, b)}, "
            f"{registers(10, 4)}, %r50, 0;\n")
    return loop(zeros(10, 4) + zeros(20, 4) + zeros(30, b) + "mov.b32 %r50, 0x44444444;\n", text)


def scaled(shape, kind, types):
    text = (f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale.f32.{types} {registers(10, 4)}, {registers(20, 4)}, "
            f"{registers(30, 2)}, {registers(10, 4)}, %r50, {{0, 0}}, %r50, {{0, 0}};\n")
    return loop(zeros(10, 4) + zeros(20, 4) + zeros(30, 2) + "mov.b32 %r50, 0x7f7f7f7f;\n", text).replace("sm_90a", "sm_120a")


def doubles(shape, d, a, b):
    def wide(first, count):
        return "{" + ", ".join(f"%d{i}" for i in range(first, first + count)) + "}"
    text = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {wide(10, d)}, {wide(20, a)}, {wide(30, b)}, {wide(10, d)};\n"
    return loop("".join(f"mov.b64 %d{i}, 0;\n" for i in range(8, 40)), text)


def wgmma(n, types, k):
    fill = ("mov.u32 %r3, tile; shl.b32 %r4, %r0, 4; add.s32 %r4, %r4, %r3;\n" +
            "".join(f"st.shared.v4.b32 [%r4+{2048 * i}], {{%r2, %r2, %r2, %r2}};\n" for i in range(12)) +
            "fence.proxy.async.shared::cta; bar.sync 0;\n"
            "shr.u32 %r5, %r3, 4; cvt.u64.u32 %d1, %r5; or.b64 %d1, %d1, 0x8000002000400000;\n"
            "add.s64 %d2, %d1, 1024;\n")
    text = ("wgmma.fence.sync.aligned;\n"
            f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {registers(10, n // 2)}, %d2, %d1, 1{SIGNS[types]};\n"
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n")
    return loop(fill + zeros(10, n // 2), text)


BENCHES = [  # name, PTX, flops of a warp and iteration
    ("mma.sync m16n8k16 f32.f16", mma("m16n8k16", "f32.f16.f16.f32", 4, 4, 2), 2 * 16 * 8 * 16),
    ("mma.sync m16n8k16 f16.f16", mma("m16n8k16", "f16.f16.f16.f16", 2, 4, 2), 2 * 16 * 8 * 16),
    ("mma.sync m16n8k4 f32.tf32", mma("m16n8k4", "f32.tf32.tf32.f32", 4, 2, 1), 2 * 16 * 8 * 4),
    ("mma.sync m16n8k8 f32.tf32", mma("m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2), 2 * 16 * 8 * 8),
    ("mma.sync m16n8k32 s32.s8", mma("m16n8k32", "s32.s8.s8.s32", 4, 4, 2), 2 * 16 * 8 * 32),
    ("mma.sync m16n8k32 f32.e4m3", mma("m16n8k32", "f32.e4m3.e4m3.f32", 4, 4, 2), 2 * 16 * 8 * 32),
    ("mma.sync m8n8k4 f64", doubles("m8n8k4", 2, 1, 1), 2 * 8 * 8 * 4),
    ("mma.sync m16n8k16 f64", doubles("m16n8k16", 4, 8, 4), 2 * 16 * 8 * 16),
    ("mma.sp m16n8k32 f32.f16", sparse("m16n8k32", "f32.f16.f16.f32", 4), 2 * 16 * 8 * 32),
    ("mma.sp m16n8k64 s32.s8", sparse("m16n8k64", "s32.s8.s8.s32", 4), 2 * 16 * 8 * 64),
    ("mma.sync m16n8k32 mxf8", scaled("m16n8k32", "mxf8f6f4", "e4m3.e4m3.f32.ue8m0"), 2 * 16 * 8 * 32),
    ("mma.sync m16n8k64 mxf4", scaled("m16n8k64", "mxf4", "e2m1.e2m1.f32.ue8m0"), 2 * 16 * 8 * 64),
    ("wgmma m64n8k16 f32.f16", wgmma(8, "f32.f16.f16", 16), 2 * 16 * 8 * 16),
    ("wgmma m64n8k8 f32.tf32", wgmma(8, "f32.tf32.tf32", 8), 2 * 16 * 8 * 8),
    ("wgmma m64n64k8 f32.tf32", wgmma(64, "f32.tf32.tf32", 8), 2 * 16 * 64 * 8),
    ("wgmma m64n128k8 f32.tf32", wgmma(128, "f32.tf32.tf32", 8), 2 * 16 * 128 * 8),
    ("wgmma m64n128k32 f32.e4m3", wgmma(128, "f32.e4m3.e4m3", 32), 2 * 16 * 128 * 32),
    ("wgmma m64n128k32 s32.s8", wgmma(128, "s32.s8.s8", 32), 2 * 16 * 128 * 32),
    ("wgmma m64n64k16 f32.f16", wgmma(64, "f32.f16.f16", 16), 2 * 16 * 64 * 16),
    ("wgmma m64n256k16 f32.f16", wgmma(256, "f32.f16.f16", 16), 2 * 16 * 256 * 16),
]


FMA = "".join(f"fma.rn.f32 %r{20 + i}, %r{20 + i}, %r{40 + i % 4}, %r{44 + i % 4};\n" for i in range(16))
SHARED = ("shl.b32 %r5, %r0, 2; mov.u32 %r3, tile; add.s32 %r5, %r5, %r3; st.shared.b32 [%r5], %r2; st.shared.b32 [%r5+512], %r2; bar.sync 0;\n",
          "".join(f"ld.shared.b32 %r{6 + i}, [%r5+{4 * i}];\nfma.rn.f32 %r{20 + i}, %r{6 + i}, %r{6 + i}, %r{20 + i};\n" for i in range(8)))
SHUFFLE = "".join(f"shfl.sync.bfly.b32 %r{40 + i}, %r{20 + i}, {1 << i}, 31, -1;\nadd.f32 %r{20 + i}, %r{20 + i}, %r{40 + i};\n" for i in range(5))

LANES = [  # name, PTX, instructions of a warp and iteration; the first is the one that has a target
    ("fma.f32", loop(zeros(20, 16) + zeros(40, 8), FMA), 16 + 3),
    ("ld.shared and fma.f32", loop(zeros(20, 16) + SHARED[0], SHARED[1]), 16 + 3),
    ("shfl and add.f32", loop(zeros(20, 5), SHUFFLE), 10 + 3),
]


def measure(driver, ptx, work):
    """Thousands of millions of units of `work` a second; a warp has so many an iteration."""
    device = sim.Device(driver, ptx.split(".target ")[1].split()[0], ptx)
    best, n = 0.0, 20
    for _ in range(8):
        start = time.process_time()
        device.launch("k", (2, 1, 1), (128, 1, 1), 0, [c.c_uint32(n)])
        took = time.process_time() - start
        best = max(best, 8 * n * work / max(took, 1e-9) / 1e9) if took > 0.05 else best
        n *= 1 if took > 0.2 else 4
    found = device.findings()
    device.close()
    assert not found, found[0]
    return best


def main():
    checks = os.environ.get("KCSIM_CHECKS")
    if checks is None:  # read once by the library: a process each
        sys.stdout.flush()
        return sum(os.spawnvpe(os.P_WAIT, sys.executable, [sys.executable, __file__, BUILD], dict(os.environ, KCSIM_CHECKS=how)) != 0
                   for how in ("all", "none"))
    driver = sim.Driver(os.path.join(BUILD, "sim", "libcuda.so.1"))

    def row(name, value, unit, target):
        missed = "  MISSED" if target and value < target else ""
        bar = f" {target:8.4g} {value / target:6.2f}{missed}" if target else ""
        print(f"{'simulator, ' + name + ', checks ' + checks:<58} {value:10.4g} {unit:<8}{bar}", flush=True)

    for i, (name, ptx, count) in enumerate(LANES):
        row(name, 1000 * measure(driver, ptx, 32 * count), "M/s", TARGETS[checks] if i == 0 else None)
    for name, ptx, flops in BENCHES:
        row(name, measure(driver, ptx, flops), "GFLOP/s", TENSOR_TARGET if checks == "all" else None)


if __name__ == "__main__":
    sys.exit(main())
