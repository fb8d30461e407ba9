/* test_import_section.c: splitting Markdown into sections. */
#include "core/text/text.h"
#include "op/transfer/import.h"
#include "support/harness.h"

static struct arena arena;

static struct sections split(const char *text) {
  struct front_matter front;
  struct sections out = {0};
  markdown_front(&arena, str_from(text), &front);
  markdown_split(&arena, str_from(text), &front, &out);
  return out;
}

TEST(front_matter_is_read_with_tolerance) {
  struct front_matter f;
  const char *text = "---\ntitle:  \"A  title\" \ntags: [one, 'two three', \"#four\", one]\nType: decision\n"
                     "project: web\nauthor:\n  name: nobody\n# comment\nnonsense\n---\nText";
  markdown_front(&arena, str_from(text), &f);
  CHECK_STR(f.title, "A title");
  CHECK_STR(f.type, "decision");
  CHECK_STR(f.project, "web");
  CHECK_INT(f.tags.n, 3);
  CHECK_STR(f.tags.v[0], "one");
  CHECK_STR(f.tags.v[1], "two three");
  CHECK_STR(f.tags.v[2], "four");
  CHECK_STR(str_from(text + f.end), "Text");
}

TEST(front_matter_lists_have_several_forms) {
  struct front_matter f;
  markdown_front(&arena, STR("---\ntags:\n  - a\n- b\nother:\n  - c\n---\n"), &f);
  CHECK_INT(f.tags.n, 2);
  CHECK_STR(f.tags.v[1], "b");
  markdown_front(&arena, STR("---\r\ntags: a, b\r\n...\r\nx"), &f);
  CHECK_INT(f.tags.n, 2);
  CHECK_STR(f.tags.v[1], "b");
  CHECK_INT(f.end, 22);
}

TEST(invalid_front_matter_is_ignored) {
  struct front_matter f;
  markdown_front(&arena, STR("---\ntitle: 42\ntype: poem\nproject: a\tb\x01\ntags: []\n---\n"), &f);
  CHECK(!f.title.p && !f.type.p && !f.project.p);
  CHECK_INT(f.tags.n, 0);
}

TEST(a_horizontal_rule_is_not_front_matter) {
  struct front_matter f;
  markdown_front(&arena, STR("---\ntitle: x\n\nnever closed"), &f);
  CHECK_INT(f.end, 0);
  CHECK(!f.title.p);
  markdown_front(&arena, STR("text\n---\ntitle: x\n---\n"), &f);
  CHECK_INT(f.end, 0);
  markdown_front(&arena, STR(""), &f);
  CHECK_INT(f.end, 0);
  markdown_front(&arena, STR("\xef\xbb\xbf---\ntitle: x\n---\ny"), &f);
  CHECK_STR(f.title, "x");
}

TEST(each_heading_begins_a_section) {
  struct sections s =
      split("Before.\n\n# Guide\n\nIntro.\n\n## Install *now*\n\n- one\n- two\n\n### Linux\n\n    code\n"
            "\n## Use\n\nText `x`.\n");
  CHECK_INT(s.n, 5);
  CHECK_STR(s.v[0].headline, "Before");
  CHECK_STR(s.v[0].body, "Before.");
  CHECK_STR(s.v[1].headline, "Guide");
  CHECK_STR(s.v[1].body, "# Guide\n\nIntro.");
  CHECK_STR(s.v[2].headline, "Guide: Install now");
  CHECK_STR(s.v[2].body, "## Install *now*\n\n- one\n- two"); /* a list stays whole */
  CHECK_STR(s.v[3].headline, "Guide: Install now: Linux");
  CHECK_STR(s.v[3].body, "### Linux\n\n    code");
  CHECK_STR(s.v[4].headline, "Guide: Use");
  CHECK_STR(s.v[4].path, "Guide: Use");
  CHECK_STR(s.v[4].topic, "Guide");
  CHECK_INT(s.v[0].line, 1);
  CHECK_INT(s.v[1].line, 3);
  CHECK_INT(s.v[4].line, 16);
}

TEST(headings_without_text_make_no_section) {
  struct sections s = split("# Top\n\n## Empty\n\n***\n\n## Full\n\nText.\n\n# Next\n");
  CHECK_INT(s.n, 1);
  CHECK_STR(s.v[0].headline, "Top: Full");
}

TEST(code_and_quotes_hold_no_headings) {
  struct sections s = split("# Real\n\n```sh\n# comment\nmake\n```\n\n> # quoted\n\n- # item\n\nEnd.\n");
  CHECK_INT(s.n, 1);
  CHECK_STR(s.v[0].body, "# Real\n\n```sh\n# comment\nmake\n```\n\n> # quoted\n\n- # item\n\nEnd.");
}

TEST(underlined_headings_and_carriage_returns) {
  struct sections s = split("One\r\n===\r\n\r\nText one.\r\n\r\nTwo\r\nlines\r\n---\r\nText two.\r\n");
  CHECK_INT(s.n, 2);
  CHECK_STR(s.v[0].headline, "One");
  CHECK_STR(s.v[0].body, "One\r\n===\r\n\r\nText one.");
  CHECK_STR(s.v[1].headline, "One: Two lines");
  CHECK_INT(s.v[1].line, 6);
  s = split("# A\rtext a\r# B\rtext b");
  CHECK_INT(s.n, 2);
  CHECK_STR(s.v[1].body, "# B\rtext b");
  CHECK_INT(s.v[1].line, 3);
}

TEST(link_definitions_are_text) {
  struct sections s = split("# Links\n\n[a]: http://a.example\n\n# More\n\nSee [a].\n\n[b]: http://b.example\n");
  CHECK_INT(s.n, 2);
  CHECK_STR(s.v[0].body, "# Links\n\n[a]: http://a.example");
  CHECK_STR(s.v[1].body, "# More\n\nSee [a].\n\n[b]: http://b.example");
}

TEST(the_title_starts_the_path_once) {
  struct sections s = split("---\ntitle: Handbook\n---\nIntro.\n\n# handbook\n\nA.\n\n## B\n\nC.\n\n# Other\n\nD.\n");
  CHECK_INT(s.n, 4);
  CHECK_STR(s.v[0].headline, "Handbook");
  CHECK_STR(s.v[1].headline, "handbook");
  CHECK_STR(s.v[2].headline, "handbook: B");
  CHECK_STR(s.v[3].headline, "Handbook: Other");
  CHECK_INT(s.v[0].line, 4);
}

TEST(long_paths_are_truncated_at_the_start) {
  struct sections s =
      split("# one two three four five six seven eight\n\n## nine ten eleven twelve thirteen fourteen\n\n"
            "### fifteen sixteen\n\ntext\n");
  CHECK_INT(s.n, 1);
  CHECK_STR(s.v[0].headline, "nine ten eleven twelve thirteen fourteen: fifteen sixteen");
  s = split("# a b c d e f g h i j k l m n o p\n\ntext\n");
  CHECK_STR(s.v[0].headline, "a b c d e f g h i j k l m n o…");
}

TEST(a_heading_without_letters_uses_the_text) {
  struct sections s = split("# 2026\n\nMet Bob. Went home.\n\n# Log\n\n## 01\n\n42\n");
  CHECK_INT(s.n, 2);
  CHECK_STR(s.v[0].headline, "Met Bob");
  CHECK_STR(s.v[1].headline, "Log: 01");
  CHECK_STR(s.v[1].body, "## 01\n\n42");
}

static void add_words(struct buf *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    buf_addf(b, "%sw%zu", i ? " " : "", i);
}

static size_t count_alnum(struct str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++)
    n += ascii_alnum(s.p[i]);
  return n;
}

TEST(long_sections_are_split_between_paragraphs) {
  struct buf b = BUF(&arena);
  buf_adds(&b, "# Long\n\n");
  for (int i = 0; i < 5; i++) {
    add_words(&b, 150);
    buf_adds(&b, "\n\n");
  }
  struct sections s = split(buf_str(&b).p);
  CHECK_INT(s.n, 3);
  CHECK_STR(s.v[0].headline, "Long (1/3)");
  CHECK_STR(s.v[2].headline, "Long (3/3)");
  CHECK(str_starts(s.v[0].body, STR("# Long\n\nw0 ")));
  CHECK(str_starts(s.v[1].body, STR("w0 ")));
  CHECK_INT(text_count_words(s.v[0].body), 302); /* the heading and two paragraphs */
  CHECK_INT(text_count_words(s.v[2].body), 150);
}

TEST(long_paragraphs_are_split_and_nothing_is_lost) {
  struct buf b = BUF(&arena);
  buf_adds(&b, "Intro. ");
  add_words(&b, 3000); /* one endless sentence */
  buf_adds(&b, ".\n");
  for (int i = 0; i < 100; i++) {
    add_words(&b, 30);
    buf_adds(&b, i % 3 ? ". Next.\n" : ". ");
  }
  struct sections s = split(buf_str(&b).p);
  size_t kept = 0;
  CHECK(s.n > 10);
  for (size_t i = 0; i < s.n; i++) {
    CHECK(text_count_words(s.v[i].body) <= 400);
    kept += count_alnum(s.v[i].body);
  }
  CHECK_INT(kept, count_alnum(buf_str(&b)));
}

TEST(empty_texts_have_no_sections) {
  CHECK_INT(split("").n, 0);
  CHECK_INT(split("\n\n").n, 0);
  CHECK_INT(split("---\ntitle: x\n---\n").n, 0);
  CHECK_INT(split("# Only a heading").n, 0);
  CHECK_INT(split("***\n\n12\n").n, 0); /* no letter, so no headline */
}
