#!/usr/bin/env python3
"""Pairs of (description, function) from Python sources: what taught cairn-embed-v2 to read code.

usage: code_pairs.py SOURCES SETS OUT.tsv

SOURCES is a tree of unpacked packages under permissive licences (BSD, MIT, Apache, PSF); copyleft ones are left out by name.
SETS is the folder of the retrieval sets: a function that shares eight words in a row with a document of theirs, or a description
that is one of their queries, is dropped. For v2: 153 Debian packages, 83,627 pairs, 1,852 dropped."""
import ast
import collections
import json
import os
import random
import re
import sys
import textwrap

LEFT_OUT = {"gensim", "telegram", "stem", "scapy", "paramiko", "github", "gitlab", "pygame", "test", "tests", "testing"}
PER_PACKAGE = 2500


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def shingles(text, n=8):
    w = words(text)
    return {hash(tuple(w[i:i + n])) for i in range(len(w) - n + 1)}


def read_sets(folder):
    """What must not be trained on: the sets' queries, and eight words in a row of their code."""
    seen, queries = set(), set()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "queries.jsonl")
        if os.path.exists(path):
            queries |= {" ".join(words(json.loads(line)["text"])) for line in open(path, encoding="utf8")}
        path = os.path.join(folder, name, "corpus.jsonl")
        if name.startswith("cosqa") and os.path.exists(path):
            for line in open(path, encoding="utf8"):
                seen |= shingles(json.loads(line)["text"])
    return seen, queries


def functions(path):
    """(name, first sentence of the docstring, whole source, source without the docstring)"""
    try:
        source = open(path, encoding="utf8").read()
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    lines = source.split("\n")
    for f in ast.walk(tree):
        if not isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(f.body) < 2:
            continue
        doc = ast.get_docstring(f)
        if not doc or not 3 <= f.end_lineno - f.lineno <= 70:
            continue
        first = re.split(r"\n\s*\n", doc.strip())[0].replace("\n", " ").strip()
        first = re.split(r"(?<=[a-z0-9)])\.(\s|$)", first)[0].strip()
        if not 3 <= len(words(first)) <= 22 or not first.isascii():
            continue
        own = f.body[0]
        whole = textwrap.dedent("\n".join(lines[f.lineno - 1:f.end_lineno]))
        bare = lines[f.lineno - 1:own.lineno - 1] + lines[own.end_lineno:f.end_lineno]
        yield f.name, first, whole, textwrap.dedent("\n".join(bare))


def ask(name, first, whole, bare):
    """A question as people type it: mostly the description of a function whose docstring is gone, else its name or a part of the
    description, of the function as it is."""
    parts = " ".join(x.lower() for x in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))
    how = random.random()
    question = first.lower() if random.random() < .7 else first
    if how < .65:
        text = bare
    elif how < .8 and len(parts.split()) >= 2:
        question, text = parts, whole
    else:
        question, text = " ".join(w for w in words(first) if random.random() < .7) or first, whole
    place = random.random()
    for limit, form in ((.15, "python %s"), (.3, "%s in python"), (.4, "how to %s python"), (.5, "%s python")):
        if place < limit:
            return form % question, text
    return question, text


def main():
    sources, sets, out = sys.argv[1:]
    random.seed(5)
    seen, queries = read_sets(sets)
    pairs, known, taken = [], set(), collections.Counter()
    for root, folders, files in os.walk(sources):
        folders.sort()
        parts = root.split(os.sep)
        if LEFT_OUT & set(parts):
            continue
        after = parts[parts.index("dist-packages") + 1:] if "dist-packages" in parts else []
        package = after[0] if after else "?"
        for name in sorted(f for f in files if f.endswith(".py")):
            for function, first, whole, bare in functions(os.path.join(root, name)):
                key = hash(" ".join(words(bare)))
                if key in known or taken[package] >= PER_PACKAGE:
                    continue
                known.add(key)
                if shingles(whole) & seen or " ".join(words(first)) in queries:
                    continue
                question, text = ask(function, first, whole, bare)
                pairs.append((question.replace("\t", " "), re.sub(r"\s+", " ", text)[:700]))
                taken[package] += 1
    random.shuffle(pairs)
    with open(out, "w", encoding="utf8") as f:
        f.writelines("%s\t%s\n" % p for p in pairs)


main()
