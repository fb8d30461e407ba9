#!/usr/bin/env python3
"""Packs the result of training/pair.py into a model file (src/embed/encoder/model_file.h). The file has no vocabulary and
no word table: both are those of the built-in embedder. Needs numpy.

usage: model/export_pair.py WEIGHTS.npz OUT.cairn"""
import struct
import sys

import numpy as np

HEADER = 1024
MATRICES = ("query", "key", "value", "attention", "attention_norm", "intermediate", "output", "output_norm")
HEADS = 12


def checksum(data):
    """model_checksum() of model_file.c."""
    mask = (1 << 64) - 1

    def step(h, word):
        h ^= word
        return ((h << 29 | h >> 35) & mask) * 0x9E3779B97F4A7C15 & mask

    lanes = [1, 2, 3, 4, 5, 6]
    whole = len(data) // 48 * 48
    words = np.frombuffer(data[:whole], "<u8").reshape(-1, 6).tolist()
    for row in words:
        lanes = [step(h, w) for h, w in zip(lanes, row)]
    rest = struct.unpack("<7Q", (data[whole:] + bytes(56))[:56])
    h = 0
    for lane, word in zip(lanes + [len(data)], rest):
        h = step(step(h, lane), word)
    return h ^ h >> 32


def pad(data):
    return data + bytes(-len(data) % 64)


def floats(array):
    return np.ascontiguousarray(array, "<f4").tobytes()


def matrix(weights, name, factor=1.0):
    q, scale = weights[name + ".weight.q"], weights[name + ".weight.s"].reshape(-1)
    n, k = q.shape
    packed = q.reshape(n // 16, 16, k // 4, 4).transpose(0, 2, 1, 3)
    return (floats(scale * factor) + floats(weights[name + ".bias"] * factor)
            + q.astype(np.int32).sum(1).astype("<i4").tobytes() + packed.astype(np.int8).tobytes())


def norm(weights, name):
    return floats(weights[name + ".weight"]) + floats(weights[name + ".bias"])


def payload(weights, layers, hidden):
    out = pad(bytes(hidden)) + pad(bytes(4))  # a word table of one row, which is not used
    out += pad(floats(weights["pos.weight"])) + norm(weights, "norm")
    for i in range(layers):
        for name in MATRICES:
            full = f"layers.{i}.{name}"
            factor = (hidden // HEADS) ** -0.5 if name == "query" else 1.0
            out += norm(weights, full) if name.endswith("norm") else matrix(weights, full, factor)
    return out + pad(floats(weights["out.weight"]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[-1])
    weights = dict(np.load(sys.argv[1]))
    layers = 1 + max(int(n.split(".")[1]) for n in weights if n.startswith("layers."))
    positions, hidden = weights["pos.weight"].shape
    classes, ffn = weights["out.weight"].shape[0], weights["layers.0.intermediate.bias"].shape[0]
    data = payload(weights, layers, hidden)
    header = bytearray(HEADER)
    header[:8] = b"CAIRNEMB"
    struct.pack_into("<IIQQ", header, 8, 1, HEADER, HEADER + len(data), checksum(data))
    struct.pack_into("<8I", header, 40, layers, hidden, HEADS, ffn, 1, positions, classes, positions)
    struct.pack_into("<IIIf", header, 72, 0, 0, 1, 1e-12)
    struct.pack_into("<II", header, 96, 2, 0)
    struct.pack_into("<d", header, 104 + 8, 1.0)
    struct.pack_into("<d", header, 168 + 8, 1.0)
    header[232:245] = b"cairn-pair-v1"
    struct.pack_into("<Q", header, 32, checksum(bytes(header)))
    with open(sys.argv[2], "wb") as f:
        f.write(header + data)


main()
