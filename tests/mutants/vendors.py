"""Mutants of the kernels of tests/foreign: nvcc's and Triton's."""
import os, re, zlib
import numpy as np
import case, mutate, sim
import run as runner


class Module:
    def __init__(self, library, file, arch, path):
        self.library, self.file, self.arch, self.name = library, file, arch, f"{file}.{arch}"
        with open(path) as f:
            self.ptx = f.read()
        self.entries = re.findall(r"\.entry ([\w$]+)", self.ptx)

    def mutants(self):
        return mutate.mutants(self.ptx, STAGE.get(self.file, 1024))

    def cases(self, kernel):
        """Those that launch a kernel; a function may be called by any."""
        for file, name, make, archs in case.cases:
            here = [k for k in case.launched(name) if k in self.entries]
            if file == self.file and (archs is None or self.arch in archs) and here and (kernel in here or kernel not in self.entries):
                yield name, make

    def fate(self, mutant, seeds):
        """In a process of its own: how a mutant was caught, and what was said."""
        driver, ptx = sim.Driver(self.library), mutant.of(self.ptx)
        for seed in range(seeds):
            for name, make in self.cases(mutant.kernel):
                try:
                    device = sim.Device(driver, self.arch, ptx)
                except sim.Refused as refused:
                    return "broken", f"it does not load: {refused}"
                driver.set_seed(seed)
                device.forget()
                wrong = attempt(make, name, device)
                device.close()
                if wrong:
                    return wrong
        return "survived", ""


def attempt(make, name, device):
    try:
        answer = ""
        for step in make(np.random.default_rng(zlib.crc32(name.encode()))):
            answer = answer or case.run(step(device.arch) if callable(step) else step, device)
    except sim.Failed as failure:
        if not device.findings():
            return "broken", f"{failure}; {device.text('kcsim_fault_text')}"
    findings = device.findings()
    if findings:
        return "finding", f"{findings[0]['kind']} line {findings[0].get('line')}"
    return ("answer", answer) if answer else None


STAGE = {"triton_matmul_f16": 4096, "triton_matmul_bf16": 4096, "triton_matmul_tf32": 8192, "triton_matmul_tma": 4096,
         "triton_attention": 4096, "triton_attention_causal": 4096, "triton_matmul_s8": 2048, "triton_matmul_e4m3": 2048,
         "pipeline": 1024, "tma": 2048, "wgmma": 2048}


def modules(build):
    library = os.path.join(build, "lib", "libkcsim_cuda.so")
    for (file, arch), path in runner.modules().items():
        yield Module(library, file, arch, path)
