/* test_toml.c: TOML 1.0, with examples and rules from its specification. */
#include "base/toml/toml.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "support/harness.h"

static struct arena a;
static struct error err;

static struct toml *read_ok(const char *text) {
  struct toml *root = NULL;
  test_note("%s", text);
  CHECK_OK(toml_read(&a, str_from(text), "a.toml", &root, &err), &err);
  return root;
}

/* Finds a value by a path of bare keys: "a.b.c". */
static struct toml *find(struct toml *t, const char *path) {
  struct str rest = str_from(path), key;
  while (str_next(&rest, '.', &key)) {
    t = toml_get(t, key);
    if (!t)
      FAIL("%s is missing", path);
  }
  return t;
}

static struct str text_at(const char *toml, const char *path) {
  struct toml *t = find(read_ok(toml), path);
  CHECK_INT(t->form, TOML_TEXT);
  return t->text;
}

static int64_t int_at(const char *toml, const char *path) {
  struct toml *t = find(read_ok(toml), path);
  CHECK_INT(t->form, TOML_INTEGER);
  return t->integer;
}

/* Checks for an error at this line and column. */
static void refused(const char *text, int line, int column) {
  struct toml *root = NULL;
  test_note("%s", text);
  CHECK_STATUS(toml_read(&a, str_from(text), "a.toml", &root, &err), STATUS_USAGE);
  struct str place = arena_printf(&a, "a.toml:%d:%d: ", line, column);
  if (!str_starts(str_from(err.message), place))
    FAIL("'%s' does not begin with '%s'", err.message, place.p);
  CHECK(err.fix[0] && !strchr(err.message, '\n') && !root);
}

TEST(an_empty_document_is_an_empty_table) {
  CHECK(!read_ok("")->first);
  CHECK(!read_ok("\n  # a comment\n\t\r\n#")->first);
  CHECK(!read_ok("\xef\xbb\xbf# from an editor that marks its files\n")->first);
}

TEST(keys_are_bare_quoted_or_dotted) {
  CHECK_INT(int_at("key = 1", "key"), 1);
  CHECK_INT(int_at("bare-key_2 = 2", "bare-key_2"), 2);
  CHECK_INT(int_at("1234 = 3", "1234"), 3);
  CHECK_INT(int_at("a . b.c = 4", "a.b.c"), 4);
  CHECK_INT(int_at("3.14 = 5", "3.14"), 5);
  struct toml *root = read_ok("\"127.0.0.1\" = 1\n'quoted \"v\"' = 2\n\"\" = 3\n\"\\u00e9\" = 4");
  CHECK_INT(toml_get(root, STR("127.0.0.1"))->integer, 1);
  CHECK_INT(toml_get(root, STR("quoted \"v\""))->integer, 2);
  CHECK_INT(toml_get(root, STR(""))->integer, 3);
  CHECK_INT(toml_get(root, STR("\xc3\xa9"))->integer, 4);
}

TEST(errors_in_keys_have_their_position) {
  refused("= 1", 1, 1);
  refused("a\nb = 1", 1, 2);
  refused("a..b = 1", 1, 3);
  refused(".a = 1", 1, 1);
  refused("a. = 1", 1, 4);
  refused("a b = 1", 1, 3);
  refused("\n\n  \xc3\xa9 = 1", 3, 3);
  refused("\"\"\"a\"\"\" = 1", 1, 3);
  refused("a = 1 b = 2", 1, 7);
  refused("a = 1\n  a = 2", 2, 3);
  refused("\"a\" = 1\n'a' = 2", 2, 1);
}

TEST(the_four_kinds_of_strings) {
  CHECK_STR(text_at("a = \"q \\\"x\\\" \\t\\\\ \\u00E9 \\U0001F600\"", "a"), "q \"x\" \t\\ \xc3\xa9 \xf0\x9f\x98\x80");
  CHECK_STR(text_at("a = 'C:\\Users\\n'", "a"), "C:\\Users\\n");
  CHECK_STR(text_at("a = \"\"\"\nRoses\nViolets\"\"\"", "a"), "Roses\nViolets");
  CHECK_STR(text_at("a = \"\"\"\r\nRoses\r\nViolets\"\"\"", "a"), "Roses\nViolets");
  CHECK_STR(text_at("a = \"\"\"The quick \\\n\n\n    brown \\  \n  fox.\"\"\"", "a"), "The quick brown fox.");
  CHECK_STR(text_at("a = '''\nno \\escape\n'''", "a"), "no \\escape\n");
  CHECK_STR(text_at("a = \"\"", "a"), "");
  CHECK_STR(text_at("a = \"\"\"\"\"\"", "a"), "");
}

TEST(quotes_inside_multi_line_strings) {
  CHECK_STR(text_at("a = \"\"\"Two: \"\". Enough.\"\"\"", "a"), "Two: \"\". Enough.");
  CHECK_STR(text_at("a = \"\"\"\"This,\" she said.\"\"\"", "a"), "\"This,\" she said.");
  CHECK_STR(text_at("a = \"\"\"x\"\"\"\"\"", "a"), "x\"\"");
  CHECK_STR(text_at("a = ''''it''''", "a"), "'it'");
  refused("a = \"\"\"x\"\"\"\"\"\"", 1, 14);
}

TEST(errors_in_strings_have_their_position) {
  refused("a = \"open", 1, 5);
  refused("a = \"open\nb = 1", 1, 5);
  refused("a = 'open\n'", 1, 5);
  refused("a = \"\"\"open\n\n", 1, 5);
  refused("a = \"\\x41\"", 1, 6);
  refused("a = \"\\u12\"", 1, 6);
  refused("a = \"\\ud800\"", 1, 6);
  refused("a = \"\\U00110000\"", 1, 6);
  refused("a = \"x\x01\"", 1, 7);
  refused("a = \"x\x7f\"", 1, 7);
  refused("a = 'x\r'", 1, 7);
  refused("# \x01", 1, 3);
  refused("a = 1\rb = 2", 1, 6);
  refused("a = \"\xff\"", 1, 6);
}

TEST(integers) {
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {{"+99", 99},
              {"-17", -17},
              {"0", 0},
              {"+0", 0},
              {"-0", 0},
              {"1_000", 1000},
              {"0xDEAD_beef", 3735928559},
              {"0o755", 493},
              {"0b1101_0110", 214},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN},
              {"0x00ff", 255}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++)
    CHECK_INT(int_at(arena_printf(&a, "a = %s", good[i].text).p, "a"), good[i].value);
  static const char *const bad[] = {"01",
                                    "-01",
                                    "_1",
                                    "1_",
                                    "1__0",
                                    "0x",
                                    "0xg",
                                    "+0x1",
                                    "0X1",
                                    "0b2",
                                    "0o8",
                                    "0x_1",
                                    "1 2",
                                    "++1",
                                    "abc",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "0xffffffffffffffff"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    refused(arena_printf(&a, "a = %s", bad[i]).p, 1, strcmp(bad[i], "1 2") == 0 ? 7 : 5);
  CHECK_STR(find(read_ok("a = +1_0"), "a")->text, "10");
}

TEST(floats_and_booleans) {
  static const struct {
    const char *text, *kept;
  } good[] = {{"3.1415", "3.1415"},       {"-0.01", "-0.01"}, {"5e+22", "5e+22"},       {"1E06", "1e06"},
              {"6.626e-34", "6.626e-34"}, {"+1.0", "1.0"},    {"9_224.5_0", "9224.50"}, {"inf", "inf"},
              {"-inf", "-inf"},           {"+nan", "nan"}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    struct toml *t = find(read_ok(arena_printf(&a, "a = %s", good[i].text).p), "a");
    CHECK_INT(t->form, TOML_FLOAT);
    CHECK_STR(t->text, good[i].kept);
  }
  static const char *const bad[] = {".7",   "7.",   "3.e+20", "1.e1", "1e",  "1e+",
                                    "01.5", "1._5", "1_.5",   "1e_5", "Inf", "TRUE"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    refused(arena_printf(&a, "a = %s", bad[i]).p, 1, 5);
  CHECK_INT(find(read_ok("a = true"), "a")->integer, 1);
  CHECK_INT(find(read_ok("a = false"), "a")->integer, 0);
  CHECK_INT(find(read_ok("a = false"), "a")->form, TOML_BOOL);
  refused("a =", 1, 4);
  refused("a = # nothing", 1, 5);
}

TEST(dates_are_rejected_with_a_message) {
  refused("a = 1979-05-27", 1, 5);
  CHECK(strstr(err.message, "dates"));
  refused("a = 07:32:00", 1, 5);
  CHECK(strstr(err.message, "dates"));
  refused("a = 1979-05-27T07:32:00Z", 1, 5);
}

TEST(arrays) {
  struct toml *t = find(read_ok("a = [ 1, 'x', [2, 3], # why\n\n {b = 4}, ]\nc = []"), "a");
  CHECK_INT(t->form, TOML_ARRAY);
  CHECK_INT(t->first->integer, 1);
  CHECK_STR(t->first->next->text, "x");
  CHECK_INT(t->first->next->next->last->integer, 3);
  struct toml *inside = t->first->next->next->next;
  CHECK_INT(toml_get(inside, STR("b"))->integer, 4);
  CHECK(inside == t->last && inside->line == 3 && inside->column == 2);
  refused("a = [1, 2", 1, 5);
  refused("a = [1 2]", 1, 8);
  refused("a = [,]", 1, 6);
  refused("a = [1,,2]", 1, 8);
}

TEST(inline_tables) {
  struct toml *root = read_ok("a = { x = 1, y.z = 2 , 'q' = {} }\nb = {}");
  CHECK_INT(find(root, "a.x")->integer, 1);
  CHECK_INT(find(root, "a.y.z")->integer, 2);
  CHECK_INT(find(root, "a.q")->form, TOML_TABLE);
  refused("a = { x = 1, }", 1, 14);
  refused("a = { x = 1\n}", 1, 12);
  refused("a = { x = 1, x = 2 }", 1, 14);
  refused("a = { x = 1 }\na.y = 2", 2, 1);
  refused("a = { x = 1 }\n[a.b]", 2, 2);
  refused("a = { b = { c = 1 }, b.d = 2 }", 1, 22);
}

TEST(table_headers) {
  struct toml *root = read_ok("x = 1\n[a]\nx = 2\n[ a . 'b' ] # here\nx = 3\n[c.d]\n[c]\nx = 4");
  CHECK_INT(find(root, "x")->integer, 1);
  CHECK_INT(find(root, "a.x")->integer, 2);
  CHECK_INT(find(root, "a.b.x")->integer, 3);
  CHECK_INT(find(root, "c.x")->integer, 4);
  CHECK_INT(find(root, "a.b.x")->line, 5);
  CHECK_INT(find(root, "c.d")->line, 6);
  refused("[a]\n[a]", 2, 2);
  refused("[a]\nb = 1\n[a.b]", 3, 4);
  refused("a = 1\n[a.b]", 2, 2);
  refused("[a", 1, 3);
  refused("[]", 1, 2);
  refused("[a]]", 1, 4);
  refused("[a] b = 1", 1, 5);
  refused("[a.b.c]\nz = 9\n[a]\nb.c.t = 1", 4, 3);
}

/* The specification's example for dotted keys. */
TEST(dotted_keys_define_tables) {
  const char *fruit = "[fruit]\napple.color = \"red\"\napple.taste.sweet = true\n";
  CHECK_INT(
      find(read_ok(arena_printf(&a, "%s[fruit.apple.texture]\nsmooth = true", fruit).p), "fruit.apple.texture.smooth")
          ->integer,
      1);
  refused(arena_printf(&a, "%s[fruit.apple]", fruit).p, 4, 8);
  refused(arena_printf(&a, "%s[fruit.apple.taste]", fruit).p, 4, 14);
  CHECK_INT(int_at("a.b = 1\nc = 2\na.d = 3", "a.d"), 3);
  refused("a.b = 1\na.b.c = 2", 2, 3);
  refused("a = 1\na.b = 2", 2, 1);
}

TEST(arrays_of_tables) {
  struct toml *t = find(read_ok("[[p]]\nn = 1\n[[p]]\n[p.sub]\nk = 5\n[[p.v]]\nq = 6\n[[p.v]]\nq = 7"), "p");
  CHECK_INT(t->form, TOML_ARRAY);
  CHECK_INT(toml_get(t->first, STR("n"))->integer, 1);
  CHECK_INT(find(t->last, "sub.k")->integer, 5);
  CHECK_INT(toml_get(find(t->last, "v")->last, STR("q"))->integer, 7);
  CHECK(t->first->next == t->last);
  refused("a = []\n[[a]]", 2, 3);
  refused("[[a]]\n[a]", 2, 2);
  refused("[a]\n[[a]]", 2, 3);
  refused("[[a.b]]\n[a]\nb.y = 2", 3, 1);
  refused("[[a]", 1, 4);
}

TEST(depth_is_bounded) {
  struct buf b = BUF(&a);
  buf_adds(&b, "a = ");
  for (int i = 0; i < 100000; i++)
    buf_addc(&b, '[');
  refused(b.p, 1, 5 + TOML_DEPTH);
  struct buf k = BUF(&a);
  for (int i = 0; i < 100000; i++)
    buf_adds(&k, "a.");
  refused(k.p, 1, 1 + 2 * TOML_DEPTH);
}

TEST(a_message_stays_on_one_line) { refused("\"a\\nb\" = 1\n\"a\\nb\" = 2", 2, 1); }
