/* test_ignore.c: matching .gitignore rules; the expectations follow gitignore(5). */
#include "file/ignore.h"

#include "support/harness.h"

static struct arena a;

static bool left_out(const char *rules, const char *path) {
  struct str p = str_from(path);
  bool folder = str_ends(p, STR("/"));
  p.n -= folder;
  return ignore_match(ignore_parse(&a, NULL, STR(""), str_from(rules)), p, folder);
}

TEST(names_match_patterns) {
  static const struct {
    const char *pattern, *name;
    bool fits;
  } cases[] = {
      {"a", "a", true},
      {"a", "b", false},
      {"a", "ab", false},
      {"*", "", true},
      {"*", "abc", true},
      {"*.o", "x.o", true},
      {"*.o", "x.o.c", false},
      {"a*b*c", "aXbYbZc", true},
      {"a*b*c", "aXbY", false},
      {"?", "a", true},
      {"?", "", false},
      {"?", "ab", false},
      {"[ab]x", "bx", true},
      {"[ab]x", "cx", false},
      {"[a-c]", "b", true},
      {"[a-c]", "d", false},
      {"[!a]", "b", true},
      {"[!a]", "a", false},
      {"[^a]", "b", true},
      {"[]]", "]", true},
      {"[a-]", "-", true},
      {"[\\]]", "]", true},
      {"[ab", "a", false},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a\\", "a", false},
      {"**", "abc", true},
      {"*a*a*a*a*b", "aaaaaaaaaaaa", false},
      {"*[0-9]", "file7", true},
      {"*[0-9]", "file", false},
      {"", "", true},
      {"", "a", false},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("%s against %s", cases[i].pattern, cases[i].name);
    CHECK_INT(ignore_glob(str_from(cases[i].pattern), str_from(cases[i].name)), cases[i].fits);
  }
}

TEST(paths_match_rules) {
  static const struct {
    const char *rules, *path;
    bool out;
  } cases[] = {
      /* without a slash: at every level */
      {"*.o", "x.o", true},
      {"*.o", "a/b/x.o", true},
      {"build", "a/build/", true},
      {"build", "a/build", true},
      /* with a slash at the end: only folders */
      {"build/", "build/", true},
      {"build/", "build", false},
      {"build/", "a/build/", true},
      /* with a slash at the beginning or in the middle: from this folder */
      {"/build", "build", true},
      {"/build", "a/build", false},
      {"doc/frotz", "doc/frotz", true},
      {"doc/frotz", "a/doc/frotz", false},
      {"doc/frotz/", "doc/frotz/", true},
      {"doc/frotz/", "doc/frotz", false},
      {"foo/*", "foo/test.json", true},
      {"foo/*", "foo/bar/", true},
      {"foo/*", "foo/bar/hello.c", false},
      {"/*.c", "cat-file.c", true},
      {"/*.c", "mozilla-sha1/sha1.c", false},
      /* two stars */
      {"**/foo", "foo", true},
      {"**/foo", "a/b/foo", true},
      {"**/foo/bar", "x/foo/bar", true},
      {"**/foo/bar", "x/foo/y/bar", false},
      {"abc/**", "abc/x", true},
      {"abc/**", "abc/x/y", true},
      {"abc/**", "abc/", false},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "a/x/y/c", false},
      {"a/**/b/**/c", "a/b/x/b/y/c", true},
      {"a/**b", "a/xb", true},
      {"a/**b", "a/x/b", false},
      /* comments, blanks, escapes, line ends */
      {"# x", "# x", false},
      {"\\# x", "# x", true},
      {"\\!x", "!x", true},
      {"x   ", "x", true},
      {"x\\ ", "x ", true},
      {"x\\ ", "x", false},
      {"x\r\ny\r\n", "x", true},
      {"\xef\xbb\xbfx", "x", true},
      {"\n\n/\n", "x", false},
      /* the last rule decides */
      {"*.log\n!keep.log", "keep.log", false},
      {"*.log\n!keep.log", "other.log", true},
      {"!keep.log\n*.log", "keep.log", true},
      {"/*\n!/foo\n/foo/*\n!/foo/bar", "foo/", false},
      {"/*\n!/foo\n/foo/*\n!/foo/bar", "foo/x", true},
      {"/*\n!/foo\n/foo/*\n!/foo/bar", "foo/bar", false},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("rule %s, path %s", cases[i].rules, cases[i].path);
    CHECK_INT(left_out(cases[i].rules, cases[i].path), cases[i].out);
  }
}

TEST(the_deepest_file_decides) {
  struct ignore *top = ignore_parse(&a, NULL, STR(""), STR("*.txt\n/own\n"));
  struct ignore *deep = ignore_parse(&a, top, STR("sub"), STR("!keep.txt\n/here\n"));
  CHECK(ignore_match(deep, STR("sub/a.txt"), false));
  CHECK(!ignore_match(deep, STR("sub/keep.txt"), false));
  CHECK(ignore_match(deep, STR("sub/here"), false));
  CHECK(!ignore_match(deep, STR("sub/x/here"), false));
  CHECK(!ignore_match(deep, STR("sub/own"), false));
  CHECK(!ignore_match(NULL, STR("anything"), false));
}
