#!/usr/bin/env python3
"""Trains the model of the wording of injections (src/core/trust/suspect_wording.h). Needs numpy and
build/bench/wording_features (scripts/build bench).

usage: model/training/wording.py [--more ATTACKS ORDINARY] ATTACKS ORDINARY OUT [TEST_ATTACKS TEST_ORDINARY]...
Files have a text per line, or a JSON object with a member "text". Texts of --more count MORE times: they are closer to each
other than the rest, so they show where the border is."""
import json
import os
import random
import struct
import subprocess
import sys

import numpy as np

BITS = 17
SEEDS, EPOCHS, RATE, DECAY = 4, 5, 0.3, 1e-5
MORE = 4, 8  # times that these attacks and ordinary texts count
LIKE, VERY_LIKE = 1.0, 2.0  # scores of a finding of weight 2 and of weight 3
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


def train(attacks, ordinary):
    """Logistic regression on the mean weight of a text's features, scaled by the root of their number. Attacks count
    twice. The order of the texts matters, so the mean of several orders is taken."""
    attacks = 2 * attacks
    rows = features(attacks) + features(ordinary)
    labels = [1] * len(attacks) + [0] * len(ordinary)
    models = [train_in_order(np.random.default_rng(seed), rows, labels) for seed in range(SEEDS)]
    return sum(weights for weights, _ in models) / SEEDS, sum(bias for _, bias in models) / SEEDS


def train_in_order(rng, rows, labels):
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


def scores(model, texts):
    weights, bias = model
    return np.array([bias + weights[x].sum() / np.sqrt(len(x)) for x in features(texts)])


def main():
    args = sys.argv[1:]
    more = args[1:3] if args[:1] == ["--more"] else []
    args = args[3:] if more else args
    if len(args) < 3 or not len(args) % 2:
        sys.exit(__doc__.split("\n\n")[1])
    texts = [read(path) + n * (read(again) if again else []) for path, again, n in zip(args, more or ("", ""), MORE)]
    weights, bias = train(*longer(*texts))
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
