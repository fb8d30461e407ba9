#!/usr/bin/env python3
"""Texts and their ids from the reference tokeniser, for tests/unit/embed/test_wordpiece_reference.c.

usage: reference_ids.py MODEL_FOLDER lines N OUT     real and hostile texts, with the vocabulary of the folder
       reference_ids.py MODEL_FOLDER points STEP OUT  every STEP-th code point in every relevant context

MODEL_FOLDER has vocab.txt and reference.py, of which only words() and ids() are run, unchanged (the rest needs numpy).
Prints "skipped: ..." and writes nothing if this Python has another Unicode version.

A record of OUT: bytes of the text, token limit, number of ids, CRC-32 of the ids as int32; then the text. All numbers
have 32 bits, little endian. `points` uses its own vocabulary: ids 0 to 3 are [PAD] [UNK] [CLS] [SEP], 4 + c is the
code point c, and 4 + 0x110000 + c is c as a continuation piece (##c).
"""
import array
import ast
import lzma
import os
import random
import struct
import sys
import unicodedata
import zlib

UNICODE = "14.0.0"
LIMIT = 0x110000


def reference(folder, vocabulary):
    """The two functions of reference.py with this vocabulary; MAXLEN can be set in the result."""
    tree = ast.parse(open(os.path.join(folder, "reference.py"), encoding="utf8").read())
    tree.body = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in ("words", "ids")]
    assert len(tree.body) == 2
    space = {"unicodedata": unicodedata, "vocab": vocabulary, "MAXLEN": 128}
    exec(compile(tree, "reference.py", "exec"), space)
    return space


def read_vocabulary(folder):
    return {w.rstrip("\n"): i for i, w in enumerate(open(os.path.join(folder, "vocab.txt"), encoding="utf8"))}


class Points:
    """Vocabulary of all code points, each as a first and as a continuation piece."""

    special = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}

    def __contains__(self, piece):
        return len(piece) == (3 if piece.startswith("##") else 1)

    def __getitem__(self, piece):
        if piece in self.special:
            return self.special[piece]
        return 4 + (LIMIT if len(piece) == 3 else 0) + ord(piece[-1])


def write(out, space, text, most):
    """Writes one record. text is bytes; invalid UTF-8 is decoded as U+FFFD."""
    space["MAXLEN"] = most
    ids = space["ids"](text.decode("utf8", "replace"))
    packed = array.array("i", ids).tobytes()
    out.write(struct.pack("<IIII", len(text), most, len(ids), zlib.crc32(packed)) + text)


# ---- every code point ----

HIGH, LOW, SIGMA = "\U0001d165", "\U00016ff0", "\u03a3"  # marks that are kept, of class 216 and 6; capital sigma


def contexts(c):
    # Isolated; in a word; between marks that it may reorder; after a sigma; before one, with and without a letter.
    return (c, "a" + c + "b", "a" + HIGH + c + LOW + "b", "a" + SIGMA + c + "b", "a" + c + SIGMA, "1" + c + SIGMA)


def mark_pairs():
    """Every pair of a kept mark with another kept one, or with one dropped mark of each class."""
    stay, go = [], {}
    for o in range(LIMIT):
        c = chr(o)
        if unicodedata.combining(c) == 0:
            continue
        if unicodedata.category(c) == "Mn":
            go[unicodedata.combining(c)] = c
        else:
            stay.append(c)
    both = stay + list(go.values())
    for a in stay:
        yield " ".join("a" + p + q + r + "b" for b in both for p, q, r in ((a, b, ""), (b, a, ""), (HIGH, a, b), (b, a, LOW)))


def write_points(out, space, step):
    for text in mark_pairs():
        write(out, space, text.encode("utf8"), 1 << 24)
    for first in range(0, LIMIT, 64):
        points = [chr(o) for o in range(first, first + 64) if o % step == 0 and not 0xD800 <= o <= 0xDFFF]
        # Planes 4 to 13, 15 and 16 have no assigned characters: one context is enough.
        full = first < 0x40000 or 0xE0000 <= first < 0xF0000
        text = " ".join(t for c in points for t in (contexts(c) if full else ("a" + c + "b",)))
        if text:
            write(out, space, text.encode("utf8"), 1 << 24)


# ---- lines ----


def real_lines(folder, n):
    path = os.path.join(folder, "pairs.tsv.xz")
    if not os.path.exists(path):
        return
    with lzma.open(path, "rt", encoding="utf8", newline="\n") as f:
        for i, line in enumerate(f):
            if i == n:
                return
            yield line[:1000].encode("utf8")


def pools():
    by = {}
    for o in list(range(0x20000)) + list(range(0x2F800, 0x2FA1E)) + list(range(0xE0000, 0xE0200)):
        c = chr(o)
        category = unicodedata.category(c)
        if category == "Cs":
            continue
        name = category if unicodedata.combining(c) == 0 else category + "+"
        by.setdefault(name, []).append(c)
    out = [v for v in by.values()]
    out.append([c for v in by.values() for c in v if unicodedata.normalize("NFD", c) != c])
    out.append([c for v in by.values() for c in v if c.lower() != c])
    out += [list("\u03a3\u03c3\u03c2.'a \u0301\u00ad"), list("\uac00\ud7a3\uc2a4\u1100\u1161\u11a8"), list("\u4e00\u3400\uf900\U00020000\u3007")]
    out += [list("abcdefghijklmnopqrstuvwxyz"), list("ABCxyz019 \t\n\r\v\f.,-_#[]"), list("\U0001d165\U00016ff0\u302e\u1b44\u0301\u0323")]
    return out


def hostile(rng, kinds, pieces):
    how = rng.randrange(8)
    if how == 0:  # bytes
        return bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
    if how == 1:  # concatenated pieces of the vocabulary
        return "".join(rng.choice((str, str.upper, str.title))(rng.choice(pieces).replace("##", "")) for _ in range(rng.randrange(1, 8))).encode("utf8")
    if how == 2:  # near the maximum word length
        kind = rng.choice(kinds)
        word = "".join(rng.choice(kind) for _ in range(rng.randrange(45, 104)))
        return ("x " + word + rng.choice(("", "a", " b", "\u0301", "\U0001d165")) + " y").encode("utf8")
    chosen = [rng.choice(kinds) for _ in range(rng.randrange(1, 5))]
    text = "".join(rng.choice(rng.choice(chosen)) for _ in range(rng.randrange(1, 60))).encode("utf8")
    if how == 3:  # damaged
        damaged = bytearray(text)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        return bytes(damaged[: rng.randrange(1, len(damaged) + 1)])
    return text


def write_lines(out, space, folder, n):
    rng = random.Random(20240601)
    kinds, pieces, done = pools(), list(space["vocab"]), 0
    for line in real_lines(folder, n // 2):
        write(out, space, line, 128 if rng.randrange(4) else 512)
        done += 1
    while done < n:
        write(out, space, hostile(rng, kinds, pieces), rng.choice((128, 128, 512, 2, 3, 16)))
        done += 1


def main():
    folder, what, number, path = sys.argv[1:]
    if unicodedata.unidata_version != UNICODE:
        print("skipped: the tables are of Unicode %s, this Python's are of %s" % (UNICODE, unicodedata.unidata_version))
        return
    with open(path, "wb") as out:
        if what == "points":
            write_points(out, reference(folder, Points()), int(number))
        else:
            write_lines(out, reference(folder, read_vocabulary(folder)), folder, int(number))


if __name__ == "__main__":
    main()
