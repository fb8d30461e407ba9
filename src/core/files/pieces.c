/* pieces.c: splitting of a file's text into searchable pieces. */
#include "core/files/pieces.h"

#include <assert.h>

#include "base/buf.h"
#include "core/memory/chunk.h"
#include "core/text/markup.h"
#include "core/text/token_count.h"

struct cutter {
  struct arena *a;
  struct str text;
  struct pieces *out;
  struct str heading;
  size_t start;        /* offset of the current piece */
  int64_t start_line;  /* its line number */
  size_t tokens;       /* tokens of the current piece */
  size_t blank;        /* offset of its last empty line, where it may be cut; 0 if none */
  int64_t blank_line;  /* line number of that line */
  size_t blank_tokens; /* tokens up to that line */
  bool has_text;       /* it has more than headings */
};

static bool is_markdown(struct str name) {
  static const char *const ends[] = {".md", ".markdown", ".mdx", ".mkd"};
  for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
    struct str end = str_from(ends[i]);
    if (name.n > end.n && str_ieq(str_slice(name, name.n - end.n, name.n), end))
      return true;
  }
  return false;
}

/* Adds the piece that ends at `end`, without empty lines at its ends. */
static void emit(struct cutter *c, size_t end) {
  assert(c->start <= end && end <= c->text.n);
  struct piece p = {.text = str_slice(c->text, c->start, end), .heading = c->heading, .line = c->start_line};
  struct str line, rest = p.text;
  while (str_line(&rest, &line) && str_empty(str_trim(line))) {
    p.text = rest;
    p.line++;
  }
  while (p.text.n && ascii_space(p.text.p[p.text.n - 1]))
    p.text.n--;
  if (p.text.n)
    list_push(c->a, c->out, p);
}

static void begin(struct cutter *c, size_t start, int64_t line) {
  c->start = start;
  c->start_line = line;
  c->tokens = c->blank = c->blank_tokens = 0;
}

/* Ends the piece before a line that does not fit. */
static void cut(struct cutter *c, size_t at, int64_t line) {
  if (c->blank && c->blank_tokens >= CHUNK_TARGET / 2) {
    assert(c->blank > c->start && c->tokens >= c->blank_tokens);
    size_t left = c->tokens - c->blank_tokens;
    emit(c, c->blank);
    begin(c, c->blank, c->blank_line);
    c->tokens = left;
    return;
  }
  emit(c, at);
  begin(c, at, line);
}

static void add_line(struct cutter *c, size_t at, struct str line, int64_t number) {
  size_t tokens = tokens_estimate(line) + 1;
  while (c->tokens && c->tokens + tokens > CHUNK_TARGET)
    cut(c, at, number);
  c->tokens += tokens;
  if (str_empty(str_trim(line))) {
    c->blank = at;
    c->blank_line = number;
    c->blank_tokens = c->tokens;
  } else {
    c->has_text = true;
  }
}

/* A heading starts a piece unless the current piece has only headings. */
static void add_heading(struct cutter *c, size_t at, struct str line, int64_t number) {
  if (c->has_text) {
    emit(c, at);
    begin(c, at, number);
  }
  c->heading = markup_plain(c->a, line);
  if (str_empty(c->heading))
    c->heading = STR_NONE;
  add_line(c, at, line, number);
  c->has_text = false;
}

void pieces_split(struct arena *a, struct str name, struct str text, struct pieces *ret) {
  struct cutter c = {.a = a, .text = text, .out = ret, .start_line = 1};
  bool markdown = is_markdown(name);
  char fence = 0;
  int64_t number = 1;
  struct str rest = text, line;
  for (size_t at = 0; str_line(&rest, &line); at = text.n - rest.n, number++) {
    bool code = markdown && markup_in_fence(line, &fence);
    if (markdown && !code && markup_line(line).kind == LINE_HEADING)
      add_heading(&c, at, line, number);
    else
      add_line(&c, at, line, number);
  }
  emit(&c, text.n);
}
