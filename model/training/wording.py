#!/usr/bin/env python3
"""Trains the model of the wording of injections (src/core/trust/suspect_wording.h). Needs numpy and
build/bench/wording_features (scripts/build bench).

usage: model/training/wording.py [--continue MODEL] ATTACKS ORDINARY OUT [TEST_ATTACKS TEST_ORDINARY]...
--continue starts from the weights of MODEL. ATTACKS and ORDINARY are files with a text per line, or with JSON objects with a
member "text" per line."""
import json
import os
import random
import struct
import subprocess
import sys

import numpy as np

BITS = 17
EPOCHS, RATE, DECAY = 5, 0.3, 1e-5
CONTINUED_EPOCHS, CONTINUED_RATE = 2, 0.2
LIKE, VERY_LIKE = 0.9, 1.85  # scores of a finding of weight 2 and of weight 3
START_VERY_LIKE = 1.6  # that of the first training
TOOL = os.path.join(os.path.dirname(__file__), "../../build/bench/wording_features")


def read(path):
    with open(path, encoding="utf8") as f:
        lines = [line.rstrip("\n") for line in f if line.strip()]
    return [json.loads(line)["text"] if line.startswith('{"') else line for line in lines]


def features(texts):
    lines = "".join(text.replace("\n", " ") + "\n" for text in texts)
    out = subprocess.run([TOOL], input=lines.encode(), capture_output=True, check=True).stdout.decode()
    return [np.array(line.split(), dtype=np.int64) for line in out.splitlines()]


def longer(attacks, ordinary):
    """Adds texts of several notes, so that the model does not learn that long texts are attacks."""
    rng = random.Random(4)
    mixed = [" ".join(rng.sample([rng.choice(attacks), rng.choice(ordinary)], 2)) for _ in range(len(attacks) // 3)]
    joined = [" ".join(rng.sample(ordinary, rng.choice((2, 3)))) for _ in range(len(ordinary) // 4)]
    return attacks + mixed, ordinary + joined


def train(attacks, ordinary, seed=1):
    """Logistic regression on the mean weight of a text's features, scaled by the root of their number. Attacks count
    twice."""
    rng = np.random.default_rng(seed)
    attacks = 2 * attacks
    rows = features(attacks) + features(ordinary)
    labels = [1] * len(attacks) + [0] * len(ordinary)
    weights, squares, bias = np.zeros(1 << BITS), np.full(1 << BITS, 1e-2), 0.0
    for _ in range(EPOCHS):
        for i in rng.permutation(len(rows)):
            x = rows[i]
            scale = 1 / np.sqrt(len(x))
            p = 1 / (1 + np.exp(-bias - weights[x].sum() * scale))
            step = (p - labels[i]) * scale + DECAY * weights[x]
            squares[x] += step * step
            weights[x] -= RATE * step / np.sqrt(squares[x])
            bias -= 0.02 * (p - labels[i])
    return weights, bias


def load(path):
    with open(path, "rb") as f:
        like, very_like = struct.unpack("<ff", f.read(8))
        unit = (START_VERY_LIKE - LIKE) / (very_like - like)
        return np.frombuffer(f.read(), dtype=np.int8) * unit, LIKE - like * unit


def continued(model, attacks, ordinary, seed=1):
    """Corrects a model with more texts, at a constant rate and with its bias."""
    weights, bias = model
    rng = np.random.default_rng(seed)
    rows = features(2 * attacks + ordinary)
    for _ in range(CONTINUED_EPOCHS):
        for i in rng.permutation(len(rows)):
            x = rows[i]
            scale = 1 / np.sqrt(max(len(x), 1))
            p = 1 / (1 + np.exp(-bias - weights[x].sum() * scale))
            weights[x] -= CONTINUED_RATE * (p - (i < 2 * len(attacks))) * scale
    return weights, bias


def scores(model, texts):
    weights, bias = model
    return np.array([bias + weights[x].sum() / np.sqrt(len(x)) for x in features(texts)])


def main():
    args = sys.argv[1:]
    start = load(args[1]) if args[:1] == ["--continue"] else None
    args = args[2:] if start else args
    if len(args) < 3 or not len(args) % 2:
        sys.exit(__doc__.split("\n\n")[1])
    texts = longer(read(args[0]), read(args[1]))
    weights, bias = continued(start, *texts) if start else train(*texts)
    unit = np.percentile(np.abs(weights), 99.9) / 127
    rounded = np.clip(np.round(weights / unit), -127, 127)
    with open(args[2], "wb") as f:
        f.write(struct.pack("<ff", (LIKE - bias) / unit, (VERY_LIKE - bias) / unit))
        f.write(rounded.astype(np.int8).tobytes())
    model = (rounded * unit, bias)
    for attacks, ordinary in zip(args[3::2], args[4::2]):
        a, o = scores(model, read(attacks)), scores(model, read(ordinary))
        found = [f"{(a > t).mean():.3f} at {(o > t).mean():.4f}" for t in (LIKE, VERY_LIKE)]
        print(f"{attacks}: like {found[0]}, very like {found[1]}")


if __name__ == "__main__":
    main()
