/* test_comments.c: kind of prose by file name, and comments of several languages. */
#include "core/files/comments.h"

#include "base/buf.h"
#include "support/harness.h"

/* A macro, because the checks of this repository refuse line comments. */
#define SLASHES "//"

/* "LINE:TEXT" for each line, joined by '|'; '+' before continuation lines. */
static void check_lines(const char *file, const char *text, const char *want) {
  struct arena a;
  struct prose_lines lines;
  arena_init(&a);
  struct buf out = BUF(&a);
  comments_read(&a, str_from(file), str_from(text), &lines);
  for (size_t i = 0; i < lines.n; i++)
    buf_addf(&out, "%s%s%lld:%.*s", i ? "|" : "", lines.v[i].starts ? "" : "+", (long long)lines.v[i].line,
             STR_ARG(lines.v[i].text));
  CHECK_STR(buf_str(&out), want);
  arena_release(&a);
}

TEST(the_file_name_determines_the_kind_of_prose) {
  CHECK_INT(comments_kind(STR("docs/a.md")), PROSE_TEXT);
  CHECK_INT(comments_kind(STR("README")), PROSE_TEXT);
  CHECK_INT(comments_kind(STR("Notes.TXT")), PROSE_TEXT);
  CHECK_INT(comments_kind(STR("src/a.c")), PROSE_COMMENTS);
  CHECK_INT(comments_kind(STR("sub/Makefile")), PROSE_COMMENTS);
  CHECK_INT(comments_kind(STR("CMakeLists.txt")), PROSE_COMMENTS);
  CHECK_INT(comments_kind(STR("data.json")), PROSE_NONE);
  CHECK_INT(comments_kind(STR("md")), PROSE_NONE);
  CHECK_INT(comments_kind(STR(".md")), PROSE_NONE);
  CHECK_INT(comments_kind(STR("a.md/b")), PROSE_NONE);
}

TEST(comments_of_c_are_found_and_strings_are_not) {
  check_lines("a.c", "int a; " SLASHES " one\n// two\n\n/* three */ int b;\n", "1:one|2:two|4:three");
  check_lines("a.c", "/*\n * first\n *\n * second\n */\n", "1:|+2:first|+3:|+4:second|+5:");
  check_lines("a.c", "char *u = \"http://x\"; char q = '\"'; " SLASHES " real\n", "1:real");
  check_lines("a.c", "char *u = \"a\\\"// no\"; /* yes */\n", "1:yes");
  check_lines("a.c", "x(); " SLASHES " a\ny(); " SLASHES " b\n", "1:a|2:b");
  check_lines("a.c", "// a\n// b\nz();\n// c\n", "1:a|+2:b|4:c");
  check_lines("a.c", "/// doc\n//! top\n", "1:doc|+2:top");
  check_lines("a.c", "/* never closed\n", "1:never closed|+2:");
}

TEST(an_unpaired_quote_hides_no_comment) {
  check_lines("a.rs", "fn f<'a>(x: &'a str) {} " SLASHES " kept\n", "1:kept");
  check_lines("a.js", "const r = /`/; " SLASHES " kept\n", "1:kept");
  check_lines("a.js", "x = `\n// text\n`; " SLASHES " kept\n", "3:kept");
  check_lines("a.sh", "echo it\"s # kept\n", "1:kept");
}

TEST(comments_of_other_languages_are_found) {
  check_lines("a.py", "x = 1 # one\ns = '# no'\n", "1:one");
  check_lines("a.py", "def f():\n  \"\"\"Doc.\n  More.\"\"\"\n  t = \"\"\"\n  # no\n  \"\"\" # yes\n",
              "2:Doc.|+3:More.|6:yes");
  check_lines("a.sh", "n=$#\necho ${#x} # yes\n", "2:yes");
  check_lines("a.sql", "SELECT '--no'; -- yes\n/* and */\n", "1:yes|2:and");
  check_lines("a.lua", "--[[ block\nmore ]] x = 1 -- line\n", "1:block|+2:more|2:line");
  check_lines("a.hs", "{- one -}\n-- two\n", "1:one|+2:two");
  check_lines("a.html", "<p>// no</p><!-- yes -->\n", "1:yes");
  check_lines("a.css", "a { b: url(//x) } /* yes */\n", "1:yes");
  check_lines("a.rb", "x = 1\n=begin\nyes\n=end\n", "2:|+3:yes|+4:");
  check_lines("a.el", ";; yes\n", "1:yes");
  check_lines("a.yaml", "a: b#c # yes\n", "1:yes");
}

TEST(plain_text_is_all_prose) { check_lines("a.md", "one\r\n\n  two\n", "1:one|+2:|+3:  two"); }
