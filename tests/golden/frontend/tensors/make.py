"""Writes the files that the goldens of `constants` read: good ones, and ones that something is wrong with."""
import json
import struct

import numpy as np

np.save("w.npy", np.arange(12, dtype=np.float16).reshape(3, 4))
np.save("w_fortran.npy", np.asfortranarray(np.arange(12, dtype=np.float16).reshape(3, 4)))
np.save("w_big_endian.npy", np.arange(12, dtype=">f2").reshape(3, 4))
np.save("scalar.npy", np.float32(0.1))
np.save("empty.npy", np.zeros((0, 4), np.int32))
np.save("bits.npy", np.arange(4, dtype=np.uint16))
np.save("packed.npy", np.arange(4, dtype=np.uint8))
np.save("flags.npy", np.array([True, False]))
np.save("complex.npy", np.zeros(2, np.complex64))
np.save("deep.npy", np.zeros((1,) * 9, np.float32))
good = open("w.npy", "rb").read()
open("cut.npy", "wb").write(good[:-1])
open("cut_header.npy", "wb").write(good[:40])
open("text.npy", "wb").write(b"not an array\n")
open("not_bool.npy", "wb").write(open("flags.npy", "rb").read()[:-1] + b"\x07")
open("huge.npy", "wb").write(good[:10] + good[10:128].replace(b"(3, 4)", b"(4611686018427387904, 4)")[:118] + good[128:])


def write(path, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    open(path + ".safetensors", "wb").write(struct.pack("<Q", len(text) if length is None else length) + text + data)


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


bias = tensor("BF16", [4], 0, 8)
write("good", {"__metadata__": {"format": "pt"}, "layer.bias": bias, "layer.scale": tensor("F32", [], 8, 12),
               "layer.q": tensor("U8", [2, 2], 12, 16), "layer.i": tensor("I64", [1], 16, 24),
               "layer.u": tensor("U16", [2], 24, 28), "layer.odd": tensor("F6", [4], 28, 31)}, bytes(range(31)))
write("cut", {"b": bias}, b"1234567")
write("cut_header", {"b": bias}, length=1000)
write("giant_header", b"", length=1 << 60)
write("overlapping", {"b": bias, "c": tensor("F16", [4], 6, 14)}, bytes(14))
write("wrong_size", {"b": tensor("F16", [5], 0, 8)}, bytes(8))
write("nan", b'{"b": {"dtype": "F16", "shape": [NaN], "data_offsets": [0, 8]}}', bytes(8))
write("real", {"b": tensor("F16", [4.0], 0, 8)}, bytes(8))
write("negative", {"b": tensor("F16", [-4], 0, 8)}, bytes(8))
write("backwards", {"b": tensor("F16", [4], 8, 0)}, bytes(8))
write("no_offsets", {"b": {"dtype": "F16", "shape": [4]}}, bytes(8))
write("no_shape", {"b": {"dtype": "F16", "data_offsets": [0, 8]}}, bytes(8))
write("scalar_bits", {"b": tensor("U8", [], 0, 1)}, bytes(1))
write("list", [1, 2])
write("overflow", {"b": tensor("F16", [1 << 62, 1 << 62], 0, 0)})
write("endless_row", {"t": tensor("U8", [0, 1 << 62], 0, 0)})
open("tiny.safetensors", "wb").write(b"1234567")
