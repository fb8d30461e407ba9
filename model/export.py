#!/usr/bin/env python3
"""Turns the training result (cairn-embed-v1.npz) into what `cairn model convert` reads: model.safetensors, vocab.txt,
config.json and a few more, as any BERT-family model on disk has them, and what its cosines mean. Needs numpy alone.

usage: model/export.py WEIGHTS.npz VOCAB.txt FOLDER"""
import json
import os
import shutil
import struct
import sys

import numpy as np

TYPES = {"float32": "F32", "float16": "F16"}
# Fitted by bench/calibrate.c on the fit halves of stsb, mrpc and quora; src/embed/embed.c says what the scale means,
# docs/quality.md what came out. Belongs to these weights: other weights need another fit.
CALIBRATION = {"raw": [0.428, 0.788, 0.856, 0.966, 1.0], "scaled": [0.0, 0.5, 0.75, 0.92, 1.0]}


def tensors(path):
    """The arrays under BERT's usual names; int8 rows with a scale for each become float32 again."""
    arrays = np.load(path)
    out = {}
    for name in arrays.files:
        if name.endswith(".q"):
            # int8 times float32 is exact enough that the converter finds the same int8 again.
            rows = arrays[name].astype(np.float32) * arrays[name[:-2] + ".s"].astype(np.float32)
            out[name[:-2] + ".weight"] = rows
        elif not name.endswith(".s"):
            out[name] = arrays[name]
    return out


def write_safetensors(path, arrays):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, a in arrays.items():
        header[name] = {"dtype": TYPES[a.dtype.name], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)))
        f.write(text)
        for a in arrays.values():
            f.write(np.ascontiguousarray(a).tobytes())


def config(arrays):
    words = arrays["bert.embeddings.word_embeddings.weight"]
    inner = arrays["bert.encoder.layer.0.intermediate.dense.bias"]
    layers = 1 + max(int(n.split(".")[3]) for n in arrays if n.startswith("bert.encoder.layer."))
    return {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "vocab_size": words.shape[0], "hidden_size": words.shape[1], "num_hidden_layers": layers,
        "num_attention_heads": words.shape[1] // 32, "intermediate_size": inner.shape[0],
        "max_position_embeddings": arrays["bert.embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": arrays["bert.embeddings.token_type_embeddings.weight"].shape[0],
    }


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf8") as f:
        json.dump(value, f, indent=2)
        f.write("\n")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[-1])
    weights, vocabulary, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    arrays = tensors(weights)
    write_safetensors(os.path.join(folder, "model.safetensors"), arrays)
    write_json(os.path.join(folder, "config.json"), config(arrays))
    write_json(os.path.join(folder, "1_Pooling", "config.json"), {"pooling_mode_cls_token": True})
    write_json(os.path.join(folder, "sentence_bert_config.json"), {"max_seq_length": 128})
    write_json(os.path.join(folder, "cairn_calibration.json"), CALIBRATION)
    shutil.copyfile(vocabulary, os.path.join(folder, "vocab.txt"))


main()
