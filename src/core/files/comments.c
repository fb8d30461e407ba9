/* comments.c: comment scanner for common programming languages. */
#include "core/files/comments.h"

#include <assert.h>

#include "base/buf.h"

/* Comment and string syntax of a family of languages. */
struct language {
  const char *names;        /* extensions, and whole names after '='; lower case, separated by blanks */
  const char *line[2];      /* start of a line comment */
  const char *open, *close; /* block comment */
  const char *quotes;       /* delimiters of strings within a line */
  bool chars;               /* 'x' is a character literal; a single ' is a lifetime or an apostrophe */
  bool raw;                 /* ` delimits a string of several lines */
  bool documents;           /* """ at the start of a line is documentation */
};

#define TEXTS                                                                                                          \
  "md markdown mdown mdx rst txt text adoc asciidoc org =readme =notes =todo =changelog =contributing =design"

static const struct language languages[] = {
    {.names = "c h cc cpp cxx hpp hh hxx m mm java cs kt kts scala swift rs zig d dart groovy gradle proto sv thrift "
              "glsl hlsl metal cu cuh =jenkinsfile",
     .line = {"//"},
     .open = "/*",
     .close = "*/",
     .quotes = "\"",
     .chars = true},
    {.names = "go", .line = {"//"}, .open = "/*", .close = "*/", .quotes = "\"", .chars = true, .raw = true},
    {.names = "js jsx mjs cjs ts tsx mts cts vue svelte",
     .line = {"//"},
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .raw = true},
    {.names = "php", .line = {"//", "#"}, .open = "/*", .close = "*/", .quotes = "\"'"},
    {.names = "scss less sass", .line = {"//"}, .open = "/*", .close = "*/", .quotes = "\"'"},
    {.names = "css", .open = "/*", .close = "*/", .quotes = "\"'"},
    {.names = "tf hcl", .line = {"#", "//"}, .open = "/*", .close = "*/", .quotes = "\""},
    {.names = "py pyi pyx", .line = {"#"}, .quotes = "\"'", .documents = true},
    {.names = "rb", .line = {"#"}, .open = "=begin", .close = "=end", .quotes = "\"'"},
    {.names =
         "sh bash zsh fish ksh pl pm r yaml yml toml cfg conf mk cmake nix ex exs jl ps1 awk tcl coffee graphql gn "
         "bzl bazel star =makefile =gnumakefile =dockerfile =containerfile =cmakelists.txt =rakefile =gemfile "
         "=vagrantfile =justfile =requirements.txt",
     .line = {"#"},
     .quotes = "\"'"},
    {.names = "ini", .line = {";", "#"}},
    {.names = "sql", .line = {"--"}, .open = "/*", .close = "*/", .quotes = "'\""},
    {.names = "lua", .line = {"--"}, .open = "--[[", .close = "]]", .quotes = "'\""},
    {.names = "hs lhs elm purs", .line = {"--"}, .open = "{-", .close = "-}", .quotes = "\"", .chars = true},
    {.names = "adb ads vhd vhdl", .line = {"--"}, .quotes = "\"", .chars = true},
    {.names = "ml mli", .open = "(*", .close = "*)", .quotes = "\"", .chars = true},
    {.names = "fs fsx", .line = {"//"}, .open = "(*", .close = "*)", .quotes = "\"", .chars = true},
    {.names = "el lisp cl clj cljs cljc scm rkt", .line = {";"}, .quotes = "\""},
    {.names = "erl hrl tex", .line = {"%"}},
    {.names = "f90 f95 f03 f08", .line = {"!"}, .quotes = "\"'"},
    {.names = "html htm xhtml xml", .open = "<!--", .close = "-->"},
};

/* ---- language of a file ---- */

static bool is_in_names(const char *names, struct str name, bool whole) {
  struct str rest = str_from(names), one;
  while (str_next(&rest, ' ', &one)) {
    bool is_whole = str_starts(one, STR("="));
    if (is_whole == whole && str_ieq(name, is_whole ? str_slice(one, 1, one.n) : one))
      return true;
  }
  return false;
}

/* *ret_language is NULL for plain text and unknown files. */
static enum prose_kind kind_of(struct str file, const struct language **ret_language) {
  struct str name = file, extension = STR_NONE;
  for (size_t i = file.n; i > 0; i--)
    if (file.p[i - 1] == '/') {
      name = str_slice(file, i, file.n);
      break;
    }
  for (size_t i = name.n; i > 1 && !extension.p; i--)
    if (name.p[i - 1] == '.')
      extension = str_slice(name, i, name.n);
  *ret_language = NULL;
  for (int whole = 1; whole >= 0; whole--) {
    struct str wanted = whole ? name : extension;
    for (size_t i = 0; wanted.n && i < ARRAY_LEN(languages); i++)
      if (is_in_names(languages[i].names, wanted, whole)) {
        *ret_language = &languages[i];
        return PROSE_COMMENTS;
      }
    if (wanted.n && is_in_names(TEXTS, wanted, whole))
      return PROSE_TEXT;
  }
  return PROSE_NONE;
}

enum prose_kind comments_kind(struct str file) {
  const struct language *language;
  return kind_of(file, &language);
}

/* ---- reading ---- */

struct reader {
  struct arena *a;
  struct str s;
  const struct language *l;
  size_t pos, line_start;
  int64_t line;
  int64_t last;   /* line of the last comment */
  bool code;      /* code precedes the position on this line */
  bool last_code; /* code preceded the last comment on its line */
  struct prose_lines *ret;
};

static bool is_here(const struct reader *r, const char *what) {
  assert(r->pos < r->s.n);
  return what && r->s.p[r->pos] == what[0] && str_starts(str_slice(r->s, r->pos, r->s.n), str_from(what));
}

static void next_byte(struct reader *r) {
  assert(r->pos < r->s.n);
  if (r->s.p[r->pos++] == '\n') {
    r->line++;
    r->line_start = r->pos;
    r->code = false;
  }
}

/* End of the line, at most `to`, so a long line with many comments is not read again for each. */
static size_t line_end(const struct reader *r, size_t to) {
  const char *hit = to > r->pos ? memchr(r->s.p + r->pos, '\n', to - r->pos) : NULL;
  return hit ? (size_t)(hit - r->s.p) : to;
}

static void put(struct reader *r, struct str text, bool starts) {
  list_push(r->a, r->ret, (struct prose_line){.text = str_trim(text), .line = r->line, .starts = starts});
  r->last = r->line;
  r->last_code = r->code;
}

/* A comment without code on its line continues the comment of the previous line. */
static bool is_new_comment(const struct reader *r) {
  return r->ret->n == 0 || r->last < r->line - 1 || r->code || r->last_code;
}

static void read_line_comment(struct reader *r, const char *mark) {
  size_t from = r->pos + strlen(mark), end = line_end(r, r->s.n);
  char again = mark[strlen(mark) - 1];
  while (from < end && (r->s.p[from] == again || r->s.p[from] == '!'))
    from++; /* "///", "//!", "##", ";;" */
  put(r, str_slice(r->s, from, end), is_new_comment(r));
  r->pos = end;
}

/* Strips the stars at the left edge of a block comment. */
static struct str strip_stars(struct str s) {
  s = str_trim(s);
  size_t stars = 0;
  while (stars < s.n && s.p[stars] == '*')
    stars++;
  bool edge = stars && (stars == s.n || ascii_space(s.p[stars]) || (stars > 1 && s.p[stars] == '/'));
  return edge ? str_slice(s, stars, s.n) : s;
}

static void read_block(struct reader *r, size_t from, size_t to, const char *close) {
  assert(r->pos <= from && from <= to && to <= r->s.n);
  bool starts = is_new_comment(r), stars = str_is(str_from(close), "*/");
  size_t after = to + strlen(close) < r->s.n ? to + strlen(close) : r->s.n;
  while (r->pos < from)
    next_byte(r);
  for (;;) {
    size_t end = line_end(r, to);
    struct str text = str_slice(r->s, r->pos, end);
    put(r, stars ? strip_stars(text) : text, starts);
    starts = false;
    while (r->pos < end)
      next_byte(r);
    if (end == to)
      break;
    next_byte(r);
  }
  while (r->pos < after)
    next_byte(r);
}

/* End of the string that starts here; one past the quote if it is not closed on this line. */
static size_t string_end(const struct reader *r, char quote) {
  for (size_t i = r->pos + 1; i < r->s.n && r->s.p[i] != '\n'; i++) {
    if (r->s.p[i] == '\\')
      i++;
    else if (r->s.p[i] == quote)
      return i + 1;
  }
  return r->pos + 1;
}

/* End of a character literal: one character of up to four bytes, or an escape; one past the quote if it is neither. */
static size_t char_end(const struct reader *r) {
  size_t i = r->pos + 1;
  bool escaped = i < r->s.n && r->s.p[i] == '\\';
  size_t most = r->pos + (escaped ? 12 : 6);
  for (i += escaped ? 2 : 1; i < r->s.n && i < most && r->s.p[i] != '\n'; i++) {
    if (r->s.p[i] == '\'')
      return i + 1;
    if (!escaped && (unsigned char)r->s.p[i] < 0x80)
      break;
  }
  return r->pos + 1;
}

static bool read_document(struct reader *r) {
  const char *mark = is_here(r, "\"\"\"") ? "\"\"\"" : is_here(r, "'''") ? "'''" : NULL;
  if (!mark)
    return false;
  size_t close = str_find(r->s, str_from(mark), r->pos + 3);
  size_t to = close == SIZE_MAX ? r->s.n : close;
  if (!r->code) {
    read_block(r, r->pos + 3, to, mark);
    return true;
  }
  size_t after = to + 3 < r->s.n ? to + 3 : r->s.n;
  while (r->pos < after)
    next_byte(r);
  r->code = true;
  return true;
}

/* True if a comment can start here: not in "$#", "a--b", "http://". */
static bool can_start_comment(const struct reader *r, const char *mark) {
  char before = r->pos > r->line_start ? r->s.p[r->pos - 1] : ' ';
  if (str_is(str_from(mark), "//"))
    return before != ':';
  return ascii_space(before) || before == ';' || before == ',' || before == ')' || before == '}';
}

static bool read_comment(struct reader *r) {
  const struct language *l = r->l;
  bool own_line = l->open && l->open[0] == '='; /* "=begin" in Ruby must start a line */
  if (is_here(r, l->open) && (!own_line || r->pos == r->line_start)) {
    size_t from = r->pos + strlen(l->open), close = str_find(r->s, str_from(l->close), from);
    read_block(r, from, close == SIZE_MAX ? r->s.n : close, l->close);
    return true;
  }
  for (size_t i = 0; i < ARRAY_LEN(l->line); i++)
    if (is_here(r, l->line[i]) && can_start_comment(r, l->line[i])) {
      read_line_comment(r, l->line[i]);
      return true;
    }
  return l->documents && read_document(r);
}

static void skip_to(struct reader *r, size_t to) {
  while (r->pos < to && r->pos < r->s.n)
    next_byte(r);
  r->code = true;
}

static void read_code(struct reader *r) {
  char c = r->s.p[r->pos];
  bool quote = c == '"' || c == '\'';
  if (quote && r->l->quotes && strchr(r->l->quotes, c)) {
    skip_to(r, string_end(r, c));
  } else if (r->l->chars && c == '\'') {
    skip_to(r, char_end(r));
  } else if (r->l->raw && c == '`') {
    size_t close = str_find(r->s, STR("`"), r->pos + 1);
    skip_to(r, (close == SIZE_MAX ? r->pos : close) + 1);
  } else {
    r->code |= !ascii_space(c);
    next_byte(r);
  }
}

static void read_text(struct arena *a, struct str text, struct prose_lines *ret) {
  struct str line;
  for (int64_t number = 1; str_line(&text, &line); number++)
    list_push(a, ret, (struct prose_line){.text = line, .line = number, .starts = number == 1});
}

enum prose_kind comments_read(struct arena *a, struct str file, struct str text, struct prose_lines *ret) {
  struct reader r = {.a = a, .s = text, .line = 1, .ret = ret};
  enum prose_kind kind = kind_of(file, &r.l);
  *ret = (struct prose_lines){0};
  if (kind == PROSE_TEXT)
    read_text(a, text, ret);
  while (kind == PROSE_COMMENTS && r.pos < text.n)
    if (!read_comment(&r))
      read_code(&r);
  return kind;
}
