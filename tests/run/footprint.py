"""The memory of a run against what runtime/sim/README.md says it takes at most: tests/run/footprint.py [BUILD]. Each kernel has a
process of its own; what its peak rises by over an empty kernel of that module counts."""
import os, resource, sys

sys.dont_write_bytecode = True
BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "foreign"))
import ctypes as c, sim

MIB = 1 << 20
NON_PORTABLE_CLUSTER = 14
HEAD = """.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry empty() { ret; }
"""

# Every word is written by one warp and read by others, at random, in all blocks of the cluster; some by atomics.
SCATTER = HEAD + """
.visible .entry k(.param .u64 out, .param .u32 rounds, .param .u32 words) %s {
.reg .pred %%p<4>; .reg .b32 %%r<20>; .reg .b64 %%d<4>;
mov.u32 %%r0, %%tid.x; ld.param.u32 %%r1, [rounds]; ld.param.u32 %%r2, [words];
mov.u32 %%r3, tile; mov.u32 %%r4, %%r0;
FILL:
shl.b32 %%r5, %%r4, 2; add.s32 %%r5, %%r5, %%r3;
st.shared.b32 [%%r5], %%r4;
add.s32 %%r4, %%r4, 1024; setp.lt.u32 %%p1, %%r4, %%r2;
@%%p1 bra FILL;
barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %%r6, %%cluster_ctarank; mad.lo.s32 %%r7, %%r6, 1024, %%r0; mul.lo.s32 %%r7, %%r7, 747796405;
mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u32 %%r15, %%cluster_nctarank;
LOOP:
mad.lo.s32 %%r7, %%r7, 1664525, 1013904223;
shr.u32 %%r10, %%r7, 8; rem.u32 %%r10, %%r10, %%r2; shl.b32 %%r10, %%r10, 2; add.s32 %%r10, %%r10, %%r3;
shr.u32 %%r11, %%r7, 3; rem.u32 %%r11, %%r11, %%r15;
mapa.shared::cluster.u32 %%r12, %%r10, %%r11;
ld.shared::cluster.b32 %%r13, [%%r12];
add.s32 %%r9, %%r9, %%r13;
add.s32 %%r8, %%r8, 1; setp.lt.u32 %%p2, %%r8, %%r1;
@%%p2 bra LOOP;
barrier.cluster.arrive; barrier.cluster.wait;
or.b32 %%r14, %%r0, %%r6; setp.eq.u32 %%p3, %%r14, 0; ld.param.u64 %%d0, [out];
shl.b32 %%r14, %%r0, 2; add.s32 %%r14, %%r14, %%r3;
red.shared.add.u32 [%%r14], 1;
@%%p3 st.global.b32 [%%d0], 1;
ret; }
"""

# All of global memory once, by words and by bytes.
STREAM = HEAD + """
.visible .entry k(.param .u64 out, .param .u32 rounds, .param .u32 words) {
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<4>;
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mad.lo.s32 %r3, %r1, 1024, %r0; shl.b32 %r4, %r2, 10;
ld.param.u64 %d0, [out]; ld.param.u32 %r5, [words];
LOOP:
mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %d0, %d1;
st.global.b8 [%d1], %r3; st.global.b8 [%d1+1], %r3; st.global.b8 [%d1+2], %r3; st.global.b8 [%d1+3], %r3;
ld.global.b32 %r6, [%d1]; st.global.b32 [%d1], %r6;
add.s32 %r3, %r3, %r4; setp.lt.u32 %p1, %r3, %r5;
@%p1 bra LOOP;
ret; }
"""


def block_bound(shared, warps, registers, cluster, mbarriers=0, flags=0):
    """The table of runtime/sim/README.md, for a block."""
    clock = 4 * warps * cluster
    return (516 * warps * registers                         # values, and which bits are defined
            + shared * (2 + 10 + 2 + 4 + 1.25 + 1 + warps / 4)  # contents and marks; races, cp.async, bulk copies, flags, wgmma
            + 2 * 32 * warps * 152                          # threads that copy
            + clock * (20 * warps + 16 + 19 * mbarriers + flags))


def run_bound(blocks, cluster, touched, shared, warps, registers):
    return (touched * (2 + 6 + 24)                          # global memory: contents and marks, who wrote words, who wrote bytes
            + min(20 * touched, 256 * MIB)                  # who used it within a block
            + blocks * block_bound(shared, warps, registers, cluster) + 32 * MIB + 4 * MIB)


CASES = [  # name, PTX, blocks, cluster, dynamic shared bytes, bytes of `out`, rounds, blocks that run at a time
    ("a block of 1024 threads, 200 KiB shared", SCATTER % "", 1, 1, 200 << 10, 4, 128, 1),
    ("a cluster of 16 such blocks", SCATTER % ".reqnctapercluster 16, 1, 1", 16, 16, 200 << 10, 4, 32, 16),
    ("16 MiB of global memory, by bytes and words", STREAM, 32, 1, 0, 16 << 20, 0, os.cpu_count() or 1),
]


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(number):
    _, ptx, blocks, cluster, shared, size, rounds, _ = CASES[number]
    driver = sim.Driver(os.path.join(BUILD, "sim", "libcuda.so.1"))
    device = sim.Device(driver, "sm_90a", ptx)
    device.launch("empty", (1, 1, 1), (1, 1, 1), 0, [])
    before = peak()
    function = c.c_void_p()
    driver.call("cuModuleGetFunction", c.byref(function), device.module, b"k")
    if cluster > 8:
        driver.call("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER, 1)
    address = c.c_uint64()
    driver.call("cuMemAlloc_v2", c.byref(address), c.c_size_t(size))
    words = shared // 4 if shared else size // 4
    device.launch("k", (blocks, 1, 1), (1024, 1, 1), shared, [address, c.c_uint32(rounds), c.c_uint32(words)])
    assert not device.findings(), device.findings()[0]
    print(peak() - before)


def main():
    bad = 0
    for number, (name, _, _, cluster, shared, size, _, at_once) in enumerate(CASES):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(write, 1)
            measure(number)
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        took = int(os.fdopen(read).read() or -1)
        os.waitpid(child, 0)
        bound = run_bound(at_once, cluster, size, shared, 32, 30)
        good = 0 <= took <= bound
        bad += not good
        print(f"{'ok' if good else 'not ok'} {name}: {took / MIB:.1f} MiB, {bound / MIB:.1f} at most", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
