#!/usr/bin/env python3
"""Generates src/embed/encoder/unicode_tables.c, the tables of the tokeniser, from Python's Unicode database.

usage: model/unicode_tables.py [--check] [FILE]

The result depends only on the version of the database, which the file states. A vocabulary is trained with one version
of Unicode, and all machines must tokenise alike, so the tables are committed; --check compares them. Python 3.11 has
Unicode 14.0.0.
"""
import os
import sys
import unicodedata

VERSION = "14.0.0"
LIMIT = 0x110000
BITS = 5  # a leaf and a branch have 32 entries each
# In the order of enum unicode_class; what is mapped follows at FIRST_MAP.
WORD, ALONE, SPACE, DROP, DROP_MARK, HANGUL, SIGMA, FIRST_MARK = range(8)
FIRST_MAP = 16
MORE = 0x80000000
HANGUL_FIRST, HANGUL_LAST = 0xAC00, 0xD7A3


def kept(c):
    category = unicodedata.category(c)
    if category == "Mn" or ord(c) in (0, 0xFFFD):
        return False
    return c in "\t\n\r" or category not in ("Cc", "Cf")


def is_cjk(o):
    return any(a <= o <= b for a, b in ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)))


def is_punctuation(o):
    ascii_marks = any(a <= o <= b for a, b in ((33, 47), (58, 64), (91, 96), (123, 126)))
    return ascii_marks or unicodedata.category(chr(o)).startswith("P")


class Tables:
    def __init__(self):
        marks = {unicodedata.combining(chr(o)) for o in range(LIMIT) if kept(chr(o))} - {0}
        self.mark_rank = {c: FIRST_MARK + i for i, c in enumerate(sorted(marks))}
        assert FIRST_MARK + len(marks) <= FIRST_MAP
        self.pool, self.places = [], {}
        self.entries = [self.entry(o) for o in range(LIMIT)]

    def own_class(self, c):
        """What happens to a code point that is its own lower case and decomposition."""
        if is_cjk(ord(c)) or is_punctuation(ord(c)):
            return ALONE
        if c.isspace():
            return SPACE
        return self.mark_rank.get(unicodedata.combining(c), WORD)

    def entry(self, o):
        if HANGUL_FIRST <= o <= HANGUL_LAST:
            return HANGUL
        if o == 0x3A3:
            return SIGMA
        c = chr(o)
        parts = unicodedata.normalize("NFD", c.lower())
        out = "".join(p for p in parts if kept(p))
        starts = unicodedata.combining(parts[0]) == 0
        if not out:
            # A mark that is dropped leaves the order of the marks around it alone; a starter ends it.
            assert starts or all(unicodedata.combining(p) for p in parts)
            return DROP if starts else DROP_MARK
        if out == c:
            return self.own_class(c)
        # The tokeniser ends the run of marks before a mapped code point and looks each part's class up by itself.
        assert starts and all(unicodedata.normalize("NFD", p.lower()) == p for p in out)
        late = [i for i, p in enumerate(parts) if i and not kept(p) and unicodedata.combining(p) == 0]
        assert not any(unicodedata.combining(p) and kept(p) for i in late for p in parts[:i])
        # Only one that stands for itself can end a word.
        assert len(out) == 1 or all(self.own_class(p) not in (ALONE, SPACE) for p in out)
        return FIRST_MAP + self.place(out)

    def place(self, out):
        if out not in self.places:
            self.places[out] = len(self.pool)
            self.pool += [ord(p) | (MORE if i + 1 < len(out) else 0) for i, p in enumerate(out)]
        return self.places[out]


def folded(values, size):
    """Equal blocks of `size` values are stored once: the number of each block, and the blocks."""
    numbers, blocks = [], {}
    for i in range(0, len(values), size):
        numbers.append(blocks.setdefault(tuple(values[i : i + size]), len(blocks)))
    return numbers, [v for block in blocks for v in block]


def ranges(member):
    """First and last of each run of code points for which member() holds."""
    out = []
    for o in range(LIMIT):
        if 0xD800 <= o <= 0xDFFF or not member(chr(o)):
            continue
        if out and out[-1] == o - 1:
            out[-1] = o
        else:
            out += [o, o]
    return out


# Whether a sigma ends its word depends on two properties that unicodedata does not offer; lower() shows them.
def is_cased(c):
    return (c + "\u03a3").lower()[-1] == "\u03c2"


def is_ignorable(c):
    return ("a" + c + "\u03a3").lower()[-1] == "\u03c2" and not is_cased(c)


def ascii_table(entries, pool):
    """The lower-case character of a word; 0: drop, 1: space, 2: stands alone."""
    codes = {DROP: 0, SPACE: 1, ALONE: 2}
    return [o if e == WORD else codes[e] if e in codes else pool[e - FIRST_MAP] for o, e in enumerate(entries[:128])]


def array(kind, name, values, hexadecimal=False):
    lines, line = [], " "
    for v in values:
        item = "%#x," % v if hexadecimal else "%d," % v
        if len(line) + len(item) > 119:
            lines.append(line)
            line = " "
        line += item
    return "const %s %s[%d] = {\n%s\n};\n" % (kind, name, len(values), "\n".join(lines + [line.rstrip(",")]))


def generate():
    assert unicodedata.unidata_version == VERSION, "needs Unicode %s (Python 3.11)" % VERSION
    t = Tables()
    branches, leaves = folded(t.entries, 1 << BITS)
    tops, branches = folded(branches, 1 << BITS)
    parts = [
        "/* unicode_tables.c: tables of the tokeniser for each code point, generated by model/unicode_tables.py from",
        " * Unicode %s. Do not edit. */" % VERSION,
        '#include "embed/encoder/unicode_tables.h"',
        "",
        "/* clang-format off */",
        array("uint8_t", "unicode_ascii", ascii_table(t.entries, t.pool)),
        array("uint8_t", "unicode_top", tops),
        array("uint16_t", "unicode_branch", branches),
        array("uint16_t", "unicode_leaf", leaves),
        array("uint32_t", "unicode_map", t.pool, True),
    ]
    for name, member in (("unicode_cased", is_cased), ("unicode_ignorable", is_ignorable)):
        values = ranges(member)
        parts.append(array("uint32_t", name, values, True))
        parts.append("const int %s_n = %d;\n" % (name, len(values) // 2))
    return "\n".join(parts).rstrip("\n") + "\n"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    files = [a for a in arguments if a != "--check"]
    here = os.path.dirname(os.path.abspath(__file__))
    path = files[0] if files else os.path.join(here, "..", "src", "embed", "encoder", "unicode_tables.c")
    text = generate()
    if not check:
        open(path, "w", encoding="ascii").write(text)
    elif open(path, encoding="ascii").read() != text:
        sys.exit("%s is not what this script writes" % path)


if __name__ == "__main__":
    main()
