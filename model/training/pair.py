#!/usr/bin/env python3
"""Trains the cross-encoder that finds contradictions (src/embed/pair.h). Needs torch, tokenizers and a GPU: some five
minutes on an H200.

usage: pair.py FOLDER OUT.npz

FOLDER has tokenizer.json (BERT base uncased), base.npz (ms-marco-MiniLM-L12-v2 under BERT's usual names, matrices as int8
`NAME.weight.q` with a scale per row `NAME.weight.s`), pairs*.tsv (kind, label, text, text), and of pair_data.py
generated.tsv (200,000) and cross.tsv (120,000); for the second stage neighbours.tsv (label, text, text).

Stage 1: two teachers of 12 layers on the written and the generated pairs; a student of 6 layers, with the word table of
cairn-embed-v2, learns from their answers. Stage 2: the student learns which of its own alarms among neighbours in a store
were wrong. The result is 0.4 of the student after stage 1 and 0.6 after stage 2."""
import copy
import glob
import math
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from tokenizers import Tokenizer

DEVICE, SECOND, LIMIT, WIDTH, BATCH = "cuda", 128, 128, 80, 512
LABELS = {"compatible": 0, "same": 1, "contradiction": 2}
PARTS = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
         "attention": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
         "intermediate": "intermediate.dense", "output": "output.dense", "output_norm": "output.LayerNorm"}


# ---- the model

class Layer(nn.Module):
    def __init__(self, hidden, ffn, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.attention = (nn.Linear(hidden, hidden) for _ in range(4))
        self.attention_norm, self.output_norm = nn.LayerNorm(hidden, 1e-12), nn.LayerNorm(hidden, 1e-12)
        self.intermediate, self.output = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)
        self.drop = nn.Dropout(.1)

    def forward(self, x, mask):
        b, t, h = x.shape
        split = lambda y: y.view(b, t, self.heads, h // self.heads).transpose(1, 2)
        c = F.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)), mask)
        x = self.attention_norm(x + self.drop(self.attention(c.transpose(1, 2).reshape(b, t, h))))
        return self.output_norm(x + self.drop(self.output(F.gelu(self.intermediate(x)))))


class Pair(nn.Module):
    """[CLS] first [SEP] second [SEP]; the positions of the second text start at SECOND."""

    def __init__(self, base, words, picks, hidden=384, ffn=1536, heads=12):
        super().__init__()
        self.words, self.pos = nn.Embedding(len(words), hidden), nn.Embedding(2 * SECOND, hidden)
        self.norm = nn.LayerNorm(hidden, 1e-12)
        self.layers = nn.ModuleList(Layer(hidden, ffn, heads) for _ in picks)
        self.out, self.drop = nn.Linear(hidden, len(LABELS), bias=False), nn.Dropout(.1)
        take = lambda name: torch.tensor(array(base, name))
        with torch.no_grad():
            self.words.weight.copy_(torch.tensor(words))
            types = take("embeddings.token_type_embeddings.weight")
            positions = take("embeddings.position_embeddings.weight")[:SECOND]
            self.pos.weight[:SECOND].copy_(positions + types[0])
            self.pos.weight[SECOND:].copy_(positions + types[1])
            self.norm.weight.copy_(take("embeddings.LayerNorm.weight"))
            self.norm.bias.copy_(take("embeddings.LayerNorm.bias"))
            for layer, i in zip(self.layers, picks):
                for part, name in PARTS.items():
                    getattr(layer, part).weight.copy_(take(f"encoder.layer.{i}.{name}.weight"))
                    getattr(layer, part).bias.copy_(take(f"encoder.layer.{i}.{name}.bias"))
            self.out.weight.normal_(std=.02)
        self.words.weight.requires_grad_(False)

    def forward(self, ids, pos, mask):
        x = self.drop(self.norm(self.words(ids) + self.pos(pos)))
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        return self.out(self.drop(x[:, 0]))


def array(arrays, name):
    if name + ".q" in arrays:
        return arrays[name + ".q"].astype(np.float32) * arrays[name + ".s"].astype(np.float32)
    return arrays[name].astype(np.float32)


def builtin_words(path="model/cairn-embed-v2.cairn"):
    """The word table of a model file (src/embed/encoder/model_file.h)."""
    with open(path, "rb") as f:
        data = f.read()
    hidden, _, _, vocab = struct.unpack_from("<4I", data, 44)
    at = 1024 + (struct.unpack_from("<Q", data, 88)[0] + 63) // 64 * 64
    rows = np.frombuffer(data, np.int8, vocab * hidden, at).reshape(vocab, hidden)
    scale = np.frombuffer(data, np.float32, vocab, at + (vocab * hidden + 63) // 64 * 64)
    return rows.astype(np.float32) * scale[:, None]


# ---- the data

class Bank:
    """Both orders of all pairs, as tensors."""

    def __init__(self, tokenizer, rows):
        cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        sides = [[e.ids for e in tokenizer.encode_batch([r[k] for r in rows], add_special_tokens=False)] for k in (1, 2)]
        self.n = len(rows)
        ids, pos = np.zeros((2, self.n, WIDTH), np.int32), np.zeros((2, self.n, WIDTH), np.int16)
        length = np.zeros(self.n, np.int32)
        for i, pair in enumerate(zip(*sides)):
            for order, (x, y) in enumerate((pair, pair[::-1])):
                x, y = x[:LIMIT - 2], y[:LIMIT - 1]
                t = ([cls] + x + [sep] + y + [sep])[:WIDTH]
                p = (list(range(len(x) + 2)) + list(range(SECOND, SECOND + len(y) + 1)))[:WIDTH]
                ids[order, i, :len(t)], pos[order, i, :len(p)], length[i] = t, p, len(t)
        self.ids, self.pos, self.length = (torch.from_numpy(v).to(DEVICE) for v in (ids, pos, length))
        self.labels = torch.tensor([r[0] for r in rows], device=DEVICE)

    def take(self, i, order):
        return self.ids[order, i].long(), self.pos[order, i].long(), self.length[i]

    def sample(self, n):
        i = torch.randint(0, self.n, (n,), device=DEVICE)
        return i, self.take(i, torch.randint(0, 2, (n,), device=DEVICE))


def read(path):
    rows = []
    with open(path, encoding="utf8") as f:
        for line in f:
            c = line.rstrip("\n").split("\t")
            rows.append((LABELS[c[1]], c[2], c[3]) if len(c) == 4 else (int(c[0]), c[1], c[2]))
    return rows


def join(parts):
    ids, pos, length = (torch.cat(v) for v in zip(*parts))
    width = int(length.max())
    return ids[:, :width], pos[:, :width], torch.arange(width, device=DEVICE)[None] < length[:, None]


# ---- training

def fit(model, banks, shares, steps, rate, seed, soft=None):
    """`soft`: answers of the teachers for each bank; written pairs, the first bank, keep half of their label."""
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate, weight_decay=.01)
    model.train()
    for step in range(steps):
        factor = min(1, (step + 1) / (.06 * steps)) * (.49 * (1 + math.cos(math.pi * step / steps)) + .02)
        for group in optimizer.param_groups:
            group["lr"] = rate * factor
        parts, targets = [], []
        for k, (bank, share) in enumerate(zip(banks, shares)):
            i, part = bank.sample(int(BATCH * share))
            target = F.one_hot(bank.labels[i], 3).float() * .95 + .05 / 3
            if soft:
                target = (target + soft[k][i]) / 2 if k == 0 else soft[k][i]
            parts.append(part)
            targets.append(target)
        with torch.autocast(DEVICE, torch.bfloat16):
            answers = model(*join(parts))
        loss = -(torch.cat(targets) * F.log_softmax(answers.float(), -1)).sum(-1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    return model


@torch.no_grad()
def answer(models, bank):
    """Mean of the answers to both orders."""
    out = torch.zeros(bank.n, 3, device=DEVICE)
    for start in range(0, bank.n, 2048):
        i = torch.arange(start, min(start + 2048, bank.n), device=DEVICE)
        for order in (0, 1):
            for model in models:
                with torch.autocast(DEVICE, torch.bfloat16):
                    answers = model(*join([bank.take(i, order)]))
                out[i] += F.softmax(answers.float(), -1) / (2 * len(models))
    return out


def save(model, path):
    arrays = {}
    for name, tensor in model.state_dict().items():
        v = tensor.float().cpu().numpy()
        if name.startswith("layers") and v.ndim == 2:
            scale = np.abs(v).max(1, keepdims=True) / 127
            arrays[name + ".q"], arrays[name + ".s"] = np.round(v / scale).astype(np.int8), scale.astype(np.float32)
        elif not name.startswith("words"):
            arrays[name] = v
    np.savez_compressed(path, **arrays)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    folder, out = sys.argv[1:]
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    written = Bank(tokenizer, [row for path in sorted(glob.glob(f"{folder}/pairs*.tsv")) for row in read(path)])
    generated, cross = Bank(tokenizer, read(f"{folder}/generated.tsv")), read(f"{folder}/cross.tsv")
    neighbours = Bank(tokenizer, read(f"{folder}/neighbours.tsv"))
    base, words = dict(np.load(f"{folder}/base.npz")), builtin_words()
    teachers = [fit(Pair(base, table, range(12)).to(DEVICE), (written, generated), (.5, .5), 1700, 8e-5, seed)
                for seed, table in ((1, array(base, "embeddings.word_embeddings.weight")), (2, words))]
    banks = (written, generated, Bank(tokenizer, cross))
    student = Pair(base, words, (1, 3, 5, 7, 9, 11)).to(DEVICE)
    fit(student, banks, (.35, .4, .25), 4200, 1.5e-4, 1, [answer(teachers, bank) for bank in banks])
    calm = [row for row, p in zip(cross, answer([student], banks[2])[:, 2].tolist()) if p < .4]
    corrected = fit(copy.deepcopy(student), (written, neighbours, generated, Bank(tokenizer, calm)), (.4, .2, .2, .2),
                    1600, 6e-5, 7)
    with torch.no_grad():
        for p, q in zip(student.parameters(), corrected.parameters()):
            p.copy_(.4 * p + .6 * q)
    save(student, out)


main()
