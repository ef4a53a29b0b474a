"""Special registers, on a grid of clusters: every name of ptx.h, what it must hold."""
import os, re
import numpy as np
import forms

GRID, BLOCK, CLUSTER = (4, 3, 2), (35, 2, 1), (2, 1, 1)
SHARED = 64  # bytes of shared memory that the kernel declares
SM_90 = {"warps": 64, "multiprocessors": 132}


def names():
    with open(os.path.join(forms.DEF, "ptx.h")) as f:
        return re.findall(r'"(%[a-z0-9_.]+)"', re.sub(r"\\\n", " ", f.read()))


def coordinates():
    """{name: array over (blocks, threads)} of tid, ctaid and what follows from them."""
    blocks = np.array([(x, y, z) for z in range(GRID[2]) for y in range(GRID[1]) for x in range(GRID[0])])
    threads = np.array([(x, y, z) for z in range(BLOCK[2]) for y in range(BLOCK[1]) for x in range(BLOCK[0])])
    shape = (len(blocks), len(threads))
    everywhere = lambda value: np.broadcast_to(value, shape)
    found = {}
    for i, axis in enumerate("xyz"):
        found[f"%tid.{axis}"] = everywhere(threads[None, :, i])
        found[f"%ntid.{axis}"] = everywhere(BLOCK[i])
        found[f"%ctaid.{axis}"] = everywhere(blocks[:, None, i])
        found[f"%nctaid.{axis}"] = everywhere(GRID[i])
        found[f"%clusterid.{axis}"] = everywhere(blocks[:, None, i] // CLUSTER[i])
        found[f"%nclusterid.{axis}"] = everywhere(GRID[i] // CLUSTER[i])
        found[f"%cluster_ctaid.{axis}"] = everywhere(blocks[:, None, i] % CLUSTER[i])
        found[f"%cluster_nctaid.{axis}"] = everywhere(CLUSTER[i])
    linear = np.arange(len(threads))
    lane = linear % 32
    found |= {"%cluster_ctarank": everywhere(blocks[:, None, 0] % 2), "%cluster_nctarank": everywhere(2), "%is_explicit_cluster": everywhere(1),
              "%laneid": everywhere(lane), "%warpid": everywhere(linear // 32), "%nwarpid": everywhere(SM_90["warps"]), "%nsmid": everywhere(SM_90["multiprocessors"]),
              "%lanemask_eq": everywhere(1 << lane), "%lanemask_lt": everywhere((1 << lane) - 1), "%lanemask_le": everywhere((2 << lane) - 1),
              "%lanemask_ge": everywhere(~((1 << lane) - 1) & 0xFFFFFFFF), "%lanemask_gt": everywhere(~((2 << lane) - 1) & 0xFFFFFFFF),
              "%total_smem_size": everywhere(SHARED), "%aggr_smem_size": everywhere(SHARED), "%dynamic_smem_size": everywhere(0),
              "%envreg1": everywhere(0), "%envreg2": everywhere(0)}  # of a cooperative grid an address: tests/foreign
    return found


# Clocks run: read twice, the second is later. smid is below nsmid; gridid is one number for all.
RUNNING = ("%clock", "%clock64", "%globaltimer", "%globaltimer_lo")
RULES = {"%smid": lambda a, _: (a < SM_90["multiprocessors"]).all() and len(np.unique(a, axis=1)[0]) == 1, "%gridid": lambda a, _: len(np.unique(a)) == 1,
         "%clock_hi": lambda a, b: (b >= a).all(), "%globaltimer_hi": lambda a, b: (b >= a).all()} | {name: lambda a, b: (b > a).all() for name in RUNNING}


def run(open_module, report):
    listed = names()
    body = []
    for i, name in enumerate(listed):
        for again in (0, 1):
            wide = name in ("%clock64", "%globaltimer", "%gridid")
            read = "mov.pred pd, %is_explicit_cluster;\nselp.b64 dz, 1, 0, pd;" if name == "%is_explicit_cluster" else \
                f"mov.u64 dz, {name};" if wide else f"mov.u32 rd, {name};\ncvt.u64.u32 dz, rd;"
            body += [read, f"st.global.u64 [do+{8 * 1680 * (2 * i + again)}], dz;"]
    threads = int(np.prod(GRID) * np.prod(BLOCK))
    assert threads == 1680
    head = [".reg .pred pd;", ".reg .b32 rd, re, rf, rt;", ".reg .b64 dz, do;", f".shared .align 8 .b8 ours[{SHARED}];", "ld.param.u64 do, [out];", 
            "mov.u32 rd, %ctaid.z;", f"mad.lo.u32 rd, rd, {GRID[1]}, 0;", "mov.u32 re, %ctaid.y;", "add.u32 rd, rd, re;", f"mul.lo.u32 rd, rd, {GRID[0]};",
            "mov.u32 re, %ctaid.x;", "add.u32 rd, rd, re;", f"mul.lo.u32 rd, rd, {BLOCK[0] * BLOCK[1]};", "mov.u32 re, %tid.y;", f"mad.lo.u32 rd, re, {BLOCK[0]}, rd;",
            "mov.u32 re, %tid.x;", "add.u32 rd, rd, re;", "mul.wide.u32 dz, rd, 8;", "add.s64 do, do, dz;", "mov.u32 rf, %tid.x;", "setp.eq.u32 pd, rf, 40;", "@pd st.shared.u32 [ours], rf;"]
    device = open_module("90", f".visible .entry k(.param .u64 out)\n.reqnctapercluster {', '.join(map(str, CLUSTER))}\n{{\n" + "\n".join(head + body) + "\nret;\n}\n")
    out = np.zeros((len(listed), 2, int(np.prod(GRID)), int(np.prod(BLOCK))), np.uint64)
    device.run("k", list(GRID), list(BLOCK), [], out)
    known = coordinates()
    for i, name in enumerate(listed):
        if name in RULES:
            good = RULES[name](*out[i])
            report(name, "" if good else f"breaks its rule: {out[i, :, 0, :2]}")
        elif name in known:
            bad = np.argwhere(out[i, 0] != known[name].astype(np.uint64))
            report(name, f"block {bad[0][0]}, thread {bad[0][1]}: {out[i, 0][tuple(bad[0])]}, expected {known[name][tuple(bad[0])]}" if len(bad) else "")
        else:
            report(name, "has no row")
    return device
