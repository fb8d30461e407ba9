/* test_markup.c: kinds of lines, speakers, plain text. */
#include "core/text/markup.h"

#include "support/harness.h"

static void check_line(const char *text, enum line_kind kind, const char *rest) {
  struct str s = str_from(text);
  struct line line = markup_line(s);
  CHECK_INT(line.kind, kind);
  CHECK_STR(str_slice(s, line.text, s.n), rest);
}

TEST(lines_have_kinds) {
  check_line("", LINE_BLANK, "");
  check_line(" \t\r", LINE_BLANK, "");
  check_line("  text", LINE_TEXT, "text");
  check_line("- item", LINE_BULLET, "item");
  check_line("* item", LINE_BULLET, "item");
  check_line("• item", LINE_BULLET, "item");
  check_line("12. item", LINE_BULLET, "item");
  check_line("(3) item", LINE_BULLET, "item");
  check_line("b) item", LINE_BULLET, "item");
  check_line("1、item", LINE_BULLET, "item");
  check_line("## head", LINE_HEADING, "head");
  check_line("> > said", LINE_QUOTE, "said");
  check_line("```c", LINE_FENCE, "```c");
  check_line("~~~", LINE_FENCE, "~~~");
  check_line("| a | b |", LINE_TABLE, "a | b |");
  check_line("- - -", LINE_RULE, "- - -");
  check_line("====", LINE_RULE, "====");
}

TEST(lines_that_look_like_others_are_text) {
  check_line("-5 degrees", LINE_TEXT, "-5 degrees");
  check_line("**bold** start", LINE_TEXT, "**bold** start");
  check_line("2024 was good", LINE_TEXT, "2024 was good");
  check_line("1.5 times", LINE_TEXT, "1.5 times");
  check_line("#tag", LINE_TEXT, "#tag");
  check_line("####### seven", LINE_TEXT, "####### seven");
  check_line("```inline``` code", LINE_TEXT, "```inline``` code");
  check_line("12345. too long", LINE_TEXT, "12345. too long");
}

TEST(check_boxes_are_read) {
  CHECK(markup_line(STR("- [ ] open")).task);
  CHECK(!markup_line(STR("- [ ] open")).done);
  CHECK(markup_line(STR("* [x] done")).done);
  CHECK(!markup_line(STR("- [link](x)")).task);
  CHECK_INT(markup_line(STR("\t  - deep")).indent, 6);
}

TEST(fences_are_followed) {
  static const struct {
    const char *line;
    bool code;
  } lines[] = {{"text", false}, {"```c", true}, {"x", true}, {"~~~", true}, {"", true}, {"```", true}, {"text", false}};
  char fence = 0;
  for (size_t i = 0; i < ARRAY_LEN(lines); i++)
    CHECK_INT(markup_in_fence(str_from(lines[i].line), &fence), lines[i].code);
}

static void check_speaker(const char *line, const char *said) {
  struct str s = str_from(line);
  size_t n = markup_speaker(s);
  CHECK_STR(n ? str_slice(s, n, s.n) : STR_NONE, said);
}

TEST(speakers_are_recognized) {
  check_speaker("User: hello", "hello");
  check_speaker("assistant: hello", "hello");
  check_speaker("**Alice:** hello", "hello");
  check_speaker("**Bob**: hello", "hello");
  check_speaker("[10:42] Dr. Bob Smith: hello", "hello");
  check_speaker("Élodie: hello", "hello");
}

TEST(other_prefixes_are_not_speakers) {
  check_speaker("Note: hello", "");
  check_speaker("TODO: hello", "");
  check_speaker("Root cause: the disk", "");
  check_speaker("see: hello", "");
  check_speaker("http://x.org", "");
  check_speaker("The best thing ever: hello", "");
  check_speaker("12:30 lunch", "");
  check_speaker("std::string", "");
  check_speaker("", "");
  check_speaker("***", "");
}

static void check_plain(const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(markup_plain(&a, str_from(text)), want);
  arena_release(&a);
}

TEST(plain_text_has_no_markup) {
  check_plain("  - **Use** `make` *now*,\r\n please ", "Use make now, please");
  check_plain("![pic](a.png) and [text](http://x.org/(a) end", "pic and text end");
  check_plain("[1] is not [a link] (here)", "[1] is not [a link] (here)");
  check_plain("~~old~~ new ~5", "old new ~5");
  check_plain("3 * 4 = 12, a*b, snake_case", "3 * 4 = 12, a*b, snake_case");
  check_plain("Never commit .env* or *.pem, nor src/**; ls a*", "Never commit .env* or *.pem, nor src/**; ls a*");
  check_plain("**Keep .env* out** of *every* (*public*) repository", "Keep .env* out of every (public) repository");
  check_plain("\"quoted\"", "quoted");
  check_plain("“cut off", "cut off");
  check_plain("say \"a\" and \"b\"", "say \"a\" and \"b\"");
  check_plain("> - # deep", "deep");
}
