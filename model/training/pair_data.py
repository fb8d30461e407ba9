#!/usr/bin/env python3
"""Makes training pairs of notes for pair.py, from the files of data.tar.xz.

usage: pair_data.py generated COUNT OUT relations.jsonl    labelled pairs from relations
       pair_data.py cross COUNT OUT pairs.tsv              unlabelled pairs of notes that share words

A relation has the sentences that say that a subject {S} has a value {V}, in many wordings: `forms`. Two forms with the
same subject and another value contradict each other if the relation is `single`, two forms with the same value say the
same. `changed` sentences name the former value {U}, too, `negated` ones deny a value, `compatible` ones mention another
value without claiming it, `other` ones are about another attribute. Written lines: label (0 compatible, 1 same,
2 contradiction), text, text."""
import collections
import json
import math
import random
import re
import sys

rng = random.Random(1)
PREFIXES = ["Note: ", "Decision: ", "FYI: ", "Update: ", "Reminder: ", "As of today, ", "For the record: ",
            "From the meeting: ", "Lesson: ", "User: ", "Currently ", "Just so you know, ", "Since last week ",
            "Important: "]
HEADS = re.compile(r" (team|squad|service|project|app|cluster|server|database|repository|repo|office|group|department|"
                   r"module|library|pipeline|job|system|platform|tool|meeting|site|API)$")


def capital(text):
    return text[:1].upper() + text[1:]


def alias(subject):
    """Another way to name the subject, now and then."""
    r = rng.random()
    if r < .1 and subject.startswith("the "):
        return subject[4:]
    if r < .16:
        return re.sub("^the ", "our ", subject)
    if r < .26:
        short = HEADS.sub("", subject)
        if short != subject and len(short.split()) > (1 if short.startswith("the ") else 0):
            return short
        if subject.lower().startswith("project "):
            return subject[8:]
    return subject


def fill(form, s, v="", u=""):
    for slot, value in (("S", s), ("V", v), ("U", u)):
        form = form.replace("{%s^}" % slot, capital(value)).replace("{%s}" % slot, value)
    return form


def decorate(text, relation, subject):
    r = rng.random()
    if r < .08:
        other = fill(rng.choice(relation["other"]), subject)
        text = (f"{text.rstrip('.')}. {capital(other)}" if rng.random() < .6
                else f"{other.rstrip('.')}. {capital(text)}")
    elif r < .16:
        prefix = rng.choice(PREFIXES)
        lower = text if prefix.endswith(": ") or text[:2].isupper() else text[:1].lower() + text[1:]
        text = prefix + lower
    elif r < .20:
        text = text.lower()
    r = rng.random()
    if r < .35:
        text = text.rstrip(".")
    elif r < .5 and not text.endswith("."):
        text += "."
    return capital(text) if rng.random() < .8 else text


def contradiction(rel, a, b, values):
    forms, v1, v2 = rel["forms"], *values
    f, g, r = rng.choice(forms), rng.choice(forms), rng.random()
    if r < .72 and rel["single"]:
        return fill(f, a, v1), fill(g if r < .62 else f, b, v2)
    if r < .86 and rel["single"] and rel["changed"]:
        former = v1 if rng.random() < .6 else rng.choice([v for v in rel["values"] if v not in (v1, v2)])
        return fill(f, a, v1), fill(rng.choice(rel["changed"]), b, v2, former)
    if rel.get("negated"):
        return fill(f, a, v1), fill(rng.choice(rel["negated"]), b, v1)
    return None


def same(rel, a, b, values):
    f, g = rng.sample(rel["forms"], 2)
    if rng.random() < .85 or not rel["changed"]:
        return fill(f, a, values[0]), fill(g, b, values[0])
    return fill(f, a, values[0]), fill(rng.choice(rel["changed"]), b, *values)


def compatible(rel, a, b, another, values, relations):
    """`another` is a different subject."""
    forms, v1, v2 = rel["forms"], *values
    f, g, r = rng.choice(forms), rng.choice(forms), rng.random()
    first = fill(f, a, v1)
    if not rel["single"] and r < .5:
        return first, fill(g, b, v2)
    if r < .34:
        return first, fill(g if r < .22 else f, another, v2)
    if r < .42:
        return first, fill(g, another, v1)
    if r < .68 and rel["compatible"]:
        return first, fill(rng.choice(rel["compatible"]), b if r < .64 else another, v2)
    if r < .80:
        return first, fill(rng.choice(rel["other"]), b)
    if r < .84:
        return fill(rng.choice(rel["other"]), a), fill(rng.choice(rel["other"]), b)
    if r < .93 and rel.get("negated"):
        return first, fill(rng.choice(rel["negated"]), b, v2)
    if r < .96 and rel.get("changed"):
        return first, fill(rng.choice(rel["changed"]), another, v2, v1)
    far = rng.choice(relations)
    subject = rng.choice(far["subjects"]) if rng.random() < .5 else a
    return first, fill(rng.choice(far["forms"]), subject, rng.choice(far["values"]))


def generated_pair(relations):
    rel = rng.choice(relations)
    s1, s2 = rng.sample(rel["subjects"], 2)
    values = rng.sample(rel["values"], 2)
    a, b, r = alias(s1), alias(s1), rng.random()
    if r < .42:
        label, pair = 2, contradiction(rel, a, b, values)
    elif r < .60:
        label, pair = 1, same(rel, a, b, values)
    else:
        label, pair = 0, compatible(rel, a, b, alias(s2), values, relations)
    if not pair or (label == 0 and pair[0] == pair[1]):
        return None
    texts = [decorate(text, rel, a) for text in pair]
    rng.shuffle(texts)
    return None if "{" in texts[0] + texts[1] else (label, *texts)


def generated(count, path):
    with open(path, encoding="utf8") as f:
        relations = [json.loads(line) for line in f if line.strip()]
    pairs = []
    while len(pairs) < count:
        pair = generated_pair(relations)
        if pair:
            pairs.append(pair)
    return pairs


def cross(count, path):
    with open(path, encoding="utf8") as f:
        texts = sorted({text for line in f for text in line.rstrip("\n").split("\t")[2:4]})
    words = [set(re.findall(r"\w+", text.lower())) for text in texts]
    rows = collections.Counter(word for s in words for word in s)
    found = collections.defaultdict(list)
    for i, s in enumerate(words):
        for word in s:
            if rows[word] < 400:
                found[word].append(i)
    seen = set()
    while len(seen) < count:
        i, score = rng.randrange(len(texts)), collections.Counter()
        for word in words[i]:
            for k in found.get(word, ()):
                if k != i:
                    score[k] += math.log(len(texts) / rows[word])
        seen.update((i, k) for k, _ in score.most_common(12) if rng.random() < .4)
    return [(0, texts[i], texts[k]) for i, k in sorted(seen)[:count]]


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("generated", "cross"):
        sys.exit(__doc__.split("\n\n")[1])
    make = generated if sys.argv[1] == "generated" else cross
    with open(sys.argv[3], "w", encoding="utf8") as f:
        for pair in make(int(sys.argv[2]), sys.argv[4]):
            f.write("%d\t%s\t%s\n" % pair)


main()
