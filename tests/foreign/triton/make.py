#!/usr/bin/python3
"""Compiles kernels.py to ../ptx: make.py [NAME...]. Needs Triton (3.9.0 made what is committed), no GPU:

    python3 -m venv V && V/bin/pip install triton==3.9.0 && V/bin/python make.py

A file holds one kernel, named as the file; shared.txt has a line a file: threads of a block, bytes of dynamic shared memory,
parameters after the kernel's own (pointers to scratch memory that none of these kernels uses).
"""
import os, re, sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import kernels

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ptx")
MATMUL = dict(M=64, N=64, K=32, GROUP=4)
ALIGNED = [["tt.divisibility", 16]]
# name: function, signature, constants, warps, stages
BUILDS = {
    "triton_add": ("triton_add", "*fp32 *fp32 *fp32 i32", dict(BLOCK=256), 4, 2),
    "triton_softmax": ("triton_softmax", "*fp32 *fp32 i32", dict(BLOCK=1024), 4, 2),
    "triton_layernorm": ("triton_layernorm", "*fp16 *fp32 *fp32 *fp16 i32 fp32", dict(BLOCK=512), 4, 2),
    "triton_matmul_f16": ("triton_matmul", "*fp16 *fp16 *fp16 i32 i32 i32", MATMUL, 4, 3),
    "triton_matmul_bf16": ("triton_matmul", "*bf16 *bf16 *fp32 i32 i32 i32", MATMUL, 4, 2),
    "triton_matmul_tf32": ("triton_matmul", "*fp32 *fp32 *fp32 i32 i32 i32", MATMUL, 4, 2),
    "triton_matmul_s8": ("triton_matmul_s8", "*i8 *i8 *i32 i32 i32 i32", MATMUL, 4, 2),
    "triton_matmul_e4m3": ("triton_matmul", "*fp8e4nv *fp8e4nv *fp32 i32 i32 i32", MATMUL, 4, 2),
    "triton_matmul_tma": ("triton_matmul_tma", "tensordesc<fp16[64,32]> tensordesc<fp16[32,64]> tensordesc<fp16[64,64]> i32 i32 i32",
                          dict(M=64, N=64, K=32), 4, 3),
    "triton_attention": ("triton_attention", "*fp16 *fp16 *fp16 *fp16 fp32 i32", dict(CAUSAL=False, M=64, N=32, D=64), 4, 2),
    "triton_attention_causal": ("triton_attention", "*fp16 *fp16 *fp16 *fp16 fp32 i32", dict(CAUSAL=True, M=64, N=32, D=64), 4, 2),
    "triton_scan_sort": ("triton_scan_sort", "*i32 *i32 *i32", dict(BLOCK=256), 4, 2),
    "triton_histogram": ("triton_histogram", "*i32 *i32 *i32 i32", dict(BLOCK=256), 4, 2),
    "triton_scaled_mxfp8": ("triton_scaled", "*fp8e4nv *u8 *fp8e5 *u8 *fp32 i32",
                            dict(FORMAT_A="e4m3", FORMAT_B="e5m2", PACK=1, BLOCK=32, M=64, N=32, K=128), 4, 2),
    "triton_scaled_mxfp4": ("triton_scaled", "*u8 *u8 *u8 *u8 *fp32 i32",
                            dict(FORMAT_A="e2m1", FORMAT_B="e2m1", PACK=2, BLOCK=32, M=64, N=32, K=128), 4, 2),
    "triton_scaled_nvfp4": ("triton_scaled", "*u8 *fp8e4nv *u8 *fp8e4nv *fp32 i32",
                            dict(FORMAT_A="e2m1", FORMAT_B="e2m1", PACK=2, BLOCK=16, M=64, N=32, K=128), 4, 2),
    "triton_fp8": ("triton_fp8", "*fp32 *fp32", dict(BLOCK=256), 4, 2),
}
ONLY = {"triton_matmul_e4m3": [90, 120], "triton_matmul_tma": [90, 120],
        "triton_scaled_mxfp8": [120], "triton_scaled_mxfp4": [120], "triton_scaled_nvfp4": [120]}


def build(name, arch):
    function, signature, constants, warps, stages = BUILDS[name]
    function = getattr(kernels, function)
    types = dict(zip(function.arg_names, signature.split()))
    types.update({c: "constexpr" for c in constants})
    aligned = {(i,): ALIGNED for i, t in enumerate(signature.split()) if t[0] == "*"}
    # Of the three sizes of a product the inner ones are multiples of 16, as Triton finds out at run time.
    if "matmul" in name:
        aligned.update({(i,): ALIGNED for i in (4, 5)})
    source = ASTSource(fn=function, signature=types, constexprs=constants, attrs=aligned)
    compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(num_warps=warps, num_stages=stages, ptx_version=88))
    ptx = compiled.asm["ptx"]
    ptx = ptx[:ptx.find(".section")] if ".section" in ptx else ptx
    ptx = re.sub(r"//[^\n]*", "", ptx)
    ptx = "\n".join(l.rstrip() for l in ptx.split("\n") if l.strip() and not re.match(r"\s*(\.loc|\.file|\$L__(tmp|func))", l))
    target = re.search(r"\.target (sm_\w+)", ptx).group(1)
    ptx = ptx.replace(compiled.metadata.name, name) + "\n"
    extra = len(re.search(r"\.entry[^(]*\(([^)]*)\)", ptx).group(1).split(",")) - len(signature.split())
    with open(f"{OUT}/{name}.{target}.ptx", "w") as f:
        f.write(ptx)
    return f"{name}.{target} {warps * 32} {compiled.metadata.shared} {extra}"


def main():
    for name in sys.argv[1:] or BUILDS:
        for arch in ONLY.get(name, [80, 90, 120]):
            try:
                print(build(name, arch), flush=True)
            except Exception as e:
                print("FAILED", name, arch, repr(e)[:600], flush=True)


main()
