/* test_pieces.c: splitting of files into pieces with their headings and lines. */
#include "core/files/pieces.h"

#include "base/buf.h"
#include "core/memory/chunk.h"
#include "core/text/token_count.h"
#include "support/harness.h"

static struct arena a;

static struct pieces split(const char *name, struct str text) {
  struct pieces p = {0};
  pieces_split(&a, str_from(name), text, &p);
  return p;
}

TEST(markdown_is_cut_at_headings) {
  struct pieces p = split("guide.md", STR("intro\n"
                                          "\n"
                                          "# Install\n"
                                          "\n"
                                          "Run make.\n"
                                          "\n"
                                          "```sh\n"
                                          "# no heading\n"
                                          "make\n"
                                          "```\n"
                                          "## *Options* of `make`\n"
                                          "Use -j.\n"));
  CHECK_INT(p.n, 3);
  CHECK_STR(p.v[0].text, "intro");
  CHECK(!p.v[0].heading.p);
  CHECK_INT(p.v[0].line, 1);
  CHECK_STR(p.v[1].text, "# Install\n\nRun make.\n\n```sh\n# no heading\nmake\n```");
  CHECK_STR(p.v[1].heading, "Install");
  CHECK_INT(p.v[1].line, 3);
  CHECK_STR(p.v[2].text, "## *Options* of `make`\nUse -j.");
  CHECK(str_find(p.v[2].heading, STR("Options of"), 0) == 0);
  CHECK_INT(p.v[2].line, 11);
}

TEST(headings_without_text_are_joined_to_the_next_piece) {
  struct pieces p = split("a.md", STR("# One\n\n## Two\n\ntext\n"));
  CHECK_INT(p.n, 1);
  CHECK_STR(p.v[0].heading, "Two");
  CHECK_INT(p.v[0].line, 1);
  CHECK_STR(p.v[0].text, "# One\n\n## Two\n\ntext");
}

TEST(other_files_have_no_headings) {
  struct pieces p = split("a.py", STR("\n\n# a comment\nx = 1\n"));
  CHECK_INT(p.n, 1);
  CHECK(!p.v[0].heading.p);
  CHECK_INT(p.v[0].line, 3);
  CHECK_STR(p.v[0].text, "# a comment\nx = 1");
}

TEST(empty_text_has_no_pieces) {
  CHECK_INT(split("a.md", STR("")).n, 0);
  CHECK_INT(split("a.md", STR(" \n\t\n\n")).n, 0);
}

/* Paragraphs of ten lines: they are not cut, no line is lost or repeated, and each piece has its line number. */
TEST(long_texts_are_cut_at_empty_lines) {
  struct buf b = BUF(&a);
  for (int i = 1; i <= 1000; i++)
    buf_addf(&b, i % 11 ? "line %d says something about number %d\n" : "\n", i, i);
  struct pieces p = split("a.txt", buf_str(&b));
  CHECK(p.n > 10);
  int64_t next = 1;
  for (size_t i = 0; i < p.n; i++) {
    CHECK(tokens_estimate(p.v[i].text) <= CHUNK_MAX);
    if (next % 11 == 0)
      next++;
    CHECK_INT(p.v[i].line, next);
    CHECK(i == 0 || p.v[i].line % 11 == 1);
    struct str rest = p.v[i].text, line;
    for (int64_t n = next; str_line(&rest, &line); n++) {
      if (n % 11)
        CHECK_STR(line, arena_printf(&a, "line %lld says something about number %lld", (long long)n, (long long)n).p);
      next = n + 1;
    }
  }
  CHECK_INT(next, 1001);
}

TEST(a_line_that_is_too_long_is_a_piece) {
  struct buf b = BUF(&a);
  buf_adds(&b, "short\n");
  for (int i = 0; i < 5000; i++)
    buf_adds(&b, "word ");
  buf_adds(&b, "end\nafter\n");
  struct pieces p = split("a.txt", buf_str(&b));
  CHECK_INT(p.n, 3);
  CHECK_STR(p.v[0].text, "short");
  CHECK_INT(p.v[1].line, 2);
  CHECK(str_ends(p.v[1].text, STR("word end")));
  CHECK_STR(p.v[2].text, "after");
  CHECK_INT(p.v[2].line, 3);
}
