/* test_search_input.c: any text is a valid query in every mode; noise is not an error. */
#include "base/utf8.h"
#include "support/cli.h"

static const char *const modes[] = {"hybrid", "keyword", "vector"};

static void store_some(void) {
  STORE("The build machine has 64 cores AND a fan");
  STORE("OR gates are cheaper than NAND gates");
  STORE("東京都の天気は晴れ");
  STORE("Ελληνικά γράμματα στην πινακίδα");
  STORE("مرحبا بالعالم من القاهرة");
  STORE("The rocket 🚀 was launched at noon");
}

/* Checks that the reply has the usual shape. */
static void asked(const char *query) {
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    test_note("%s: %.60s", modes[i], query);
    yyjson_val *r = OK("search", "--mode", modes[i], "--", query);
    CHECK_STR(jstr(r, "search_mode"), modes[i]);
    CHECK(jlen(r, "results") <= 10);
    CHECK(!jget(r, "degraded"));
  }
}

TEST(an_empty_query_finds_nothing) {
  static const char *const blank[] = {"", " ", "\t\n", "\xc2\xa0", "...", "?!"};
  store_some();
  for (size_t i = 0; i < ARRAY_LEN(blank); i++)
    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
      test_note("%s: '%s'", modes[m], blank[i]);
      yyjson_val *r = OK("search", "--mode", modes[m], blank[i]);
      CHECK_STR(jstr(r, "query"), blank[i]);
      CHECK_INT(jlen(r, "results"), 0);
    }
}

TEST(full_text_operators_are_plain_text, .slow = true) {
  static const char *const queries[] = {"AND",
                                        "OR",
                                        "NOT",
                                        "NEAR",
                                        "AND OR NOT",
                                        "machine AND",
                                        "AND machine",
                                        "NOT machine",
                                        "machine NOT",
                                        "NEAR(build machine)",
                                        "NEAR(build machine, 5)",
                                        "NEAR(",
                                        "^machine",
                                        "^",
                                        "mach*",
                                        "*",
                                        "**",
                                        "headline:machine",
                                        "headline : machine",
                                        "{headline body}: machine",
                                        "-machine",
                                        "- machine",
                                        "+",
                                        "a + b",
                                        "machine + fan",
                                        "(",
                                        ")",
                                        "((((",
                                        "))))",
                                        "(machine",
                                        "machine)",
                                        "()",
                                        "\"",
                                        "\"\"",
                                        "\"\"\"",
                                        "\"machine",
                                        "machine\"",
                                        "\"build machine\"",
                                        "'",
                                        "''",
                                        "'machine'",
                                        "machine; DROP TABLE memory",
                                        "--",
                                        "/* machine */",
                                        "\\",
                                        "\\\"",
                                        "%",
                                        "_",
                                        "%s%n",
                                        "?",
                                        "?1",
                                        ":a",
                                        "@a",
                                        "$a",
                                        "#",
                                        "#tag",
                                        "@",
                                        "rank MATCH 'x'",
                                        "machine\nfan",
                                        "machine\tfan",
                                        "{}",
                                        "[]",
                                        "<>",
                                        "|",
                                        "||",
                                        "&&",
                                        "!",
                                        "~",
                                        "`",
                                        "1",
                                        "1.5e309",
                                        "0x",
                                        "-1",
                                        ",",
                                        "a,b,c"};
  store_some();
  for (size_t i = 0; i < ARRAY_LEN(queries); i++)
    asked(queries[i]);
  /* The words among the operators are searched. */
  CHECK_INT(jint(OK("search", "--mode", "keyword", "(machine"), "results[0].id"), 1);
  CHECK_INT(jint(OK("search", "--mode", "keyword", "NOT machine"), "results[0].id"), 1);
  CHECK_INT(jint(OK("search", "--mode", "keyword", "body:machine\""), "results[0].id"), 1);
  CHECK_INT(jint(OK("search", "--mode", "keyword", "NAND*"), "results[0].id"), 2);
  CHECK_HEALTHY();
}

TEST(other_scripts_and_scripts_without_spaces) {
  static const struct {
    const char *query;
    int64_t id;
  } found[] = {{"東", 3},       {"東京", 3},     {"東京都", 3},  {"天気", 3},     {"晴れ", 3},
               {"ελληνικά", 4}, {"ΓΡΆΜΜΑΤΑ", 4}, {"القاهرة", 5}, {"rocket🚀", 6}, {"noon 🚀", 6}};
  store_some();
  for (size_t i = 0; i < ARRAY_LEN(found); i++) {
    asked(found[i].query);
    CHECK_INT(jint(OK("search", found[i].query), "results[0].id"), found[i].id);
    CHECK_INT(jint(OK("search", "--mode", "keyword", found[i].query), "results[0].id"), found[i].id);
  }
  asked("\xe2\x80\xae"
        "right to left, forced \xe2\x80\xac");
  asked("🚀"); /* an emoji is not a word */
  asked("👩‍👩‍👧‍👦");
  asked("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa");
  asked("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81");
  asked("\xef\xbb\xbf");
  asked("\xef\xbf\xbd");
}

TEST(invalid_utf8_is_accepted) {
  static const char *const noise[] = {"\xff\xfe",         "\xc3\x28", "\xed\xa0\x80",         "\xc0\xaf",
                                      "\xf4\x90\x80\x80", "\x80",     "\x01\x02\x7f\x1b[31m", "caf\xe9"};
  store_some();
  for (size_t i = 0; i < ARRAY_LEN(noise); i++)
    asked(noise[i]);
  /* The valid part is still searched. */
  yyjson_val *r = OK("search", "--mode", "keyword", "machine \xff\xfe");
  CHECK_INT(jint(r, "results[0].id"), 1);
  CHECK_STR(jstr(r, "query"), "machine \xef\xbf\xbd\xef\xbf\xbd");
  struct run shown = CAIRN("search", "machine \xff\xfe");
  CHECK_INT(shown.exit_code, 0);
  CHECK_INT(utf8_check(shown.out), shown.out.n);
  CHECK_HEALTHY();
}

static const char *repeated(const char *part) {
  static struct arena a;
  struct buf b = BUF(&a);
  while (b.n < 120000)
    buf_adds(&b, part);
  return cstr(buf_str(&b));
}

/* The maximum length of an argument; a word in it is found. */
TEST(a_very_long_query, .seconds = 60) {
  store_some();
  const char *many = words("noise", 12000);
  CHECK(strlen(many) > 100000 && strlen(many) < 130000);
  asked(many);
  yyjson_val *r = OK("search", "--mode", "keyword", textf("machine %.100000s", many));
  CHECK_INT(jint(r, "results[0].id"), 1);
  asked(repeated("x"));
  asked(repeated("(\""));
  asked(repeated("東"));
  CHECK_HEALTHY();
}
