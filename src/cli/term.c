/* term.c: terminal capabilities, and text that is safe and aligned. */
#include "cli/term.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/utf8.h"

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 40, MAX_WIDTH = 10000 };

static bool is_dumb(void) {
  const char *name = getenv("TERM");
  return !name || strcmp(name, "dumb") == 0;
}

struct term term_of(int fd, bool no_color) {
  static const struct style plain = {"", "", "", "", "", "", ""};
  static const struct style colours = {"\x1b[1m",  "\x1b[2m",    "\x1b[31m", "\x1b[32m",
                                       "\x1b[33m", "\x1b[1;36m", "\x1b[0m"};
  struct term t = {.tty = isatty(fd) == 1, .width = DEFAULT_WIDTH, .style = plain};
  struct winsize size;
  if (t.tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    t.width = size.ws_col;
  const char *columns = getenv("COLUMNS");
  int64_t given;
  if (t.tty && columns && str_int64(str_from(columns), &given) && given > 0 && given <= MAX_WIDTH)
    t.width = (size_t)given;
  t.width = t.width < MIN_WIDTH ? MIN_WIDTH : t.width;
  const char *refused = getenv("NO_COLOR");
  if (t.tty && !no_color && !(refused && refused[0]) && !is_dumb())
    t.style = colours;
  return t;
}

struct range {
  uint32_t from, to;
};

static bool in_ranges(uint32_t cp, const struct range *ranges, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (cp >= ranges[i].from && cp <= ranges[i].to)
      return true;
  return false;
}
#define IN(cp, ranges) in_ranges((cp), (ranges), ARRAY_LEN(ranges))

/* Control characters, and characters that make text look like other text: C1, direction marks and overrides,
 * separators, invisible operators, tags. */
static const struct range unsafe_ranges[] = {
    {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static bool is_unsafe(uint32_t cp) { return cp < 0x20 || IN(cp, unsafe_ranges); }

static void add_visible(struct buf *out, uint32_t cp) {
  assert(is_unsafe(cp));
  if (cp < 0x20 || cp == 0x7f)
    buf_addf(out, "^%c", (char)(cp ^ 0x40));
  else
    buf_addf(out, "<U+%04X>", (unsigned)cp);
}

void term_safe(struct buf *out, struct str text, bool one_line) {
  for (size_t i = 0; i < text.n;) {
    size_t start = i;
    uint32_t cp = utf8_next(text, &i);
    char encoded[4];
    if (cp == '\r' && i < text.n && text.p[i] == '\n')
      continue;
    if (cp == '\n' || cp == '\t')
      buf_addc(out, one_line ? ' ' : (char)cp);
    else if (is_unsafe(cp))
      add_visible(out, cp);
    else if (cp == 0xfffd) /* may be an invalid byte */
      buf_add(out, (struct str){encoded, utf8_put(cp, encoded)});
    else
      buf_add(out, str_slice(text, start, i));
  }
}

void term_safe_json(struct buf *out, struct str json) {
  for (size_t i = 0; i < json.n;) {
    size_t start = i;
    uint32_t cp = utf8_next(json, &i);
    if (cp < 0x20 || !is_unsafe(cp)) /* the JSON writer has escaped control characters inside strings */
      buf_add(out, str_slice(json, start, i));
    else if (cp < 0x10000)
      buf_addf(out, "\\u%04X", (unsigned)cp);
    else
      buf_addf(out, "\\u%04X\\u%04X", (unsigned)(0xd800 + ((cp - 0x10000) >> 10)),
               (unsigned)(0xdc00 + ((cp - 0x10000) & 0x3ff)));
  }
}

/* wcwidth() depends on the locale; these blocks are enough to align columns. */
static const struct range wide_ranges[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};
static const struct range zero_ranges[] = {
    {0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
};

static size_t width_of(uint32_t cp) {
  if (cp < 0x300)
    return 1;
  if (IN(cp, zero_ranges))
    return 0;
  return IN(cp, wide_ranges) ? 2 : 1;
}

size_t term_columns(struct str text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.n;)
    columns += width_of(utf8_next(text, &i));
  return columns;
}

struct str term_fit(struct arena *a, struct str text, size_t columns) {
  if (text.n <= columns || term_columns(text) <= columns)
    return text;
  size_t used = 0, i = 0, cut = 0;
  while (i < text.n) {
    used += width_of(utf8_next(text, &i));
    if (used + 1 > columns)
      break;
    cut = i;
  }
  return arena_printf(a, "%.*s…", (int)cut, text.p);
}

void term_pad(struct buf *out, size_t used, size_t columns) {
  for (; used < columns; used++)
    buf_addc(out, ' ');
}

/* The end of the piece that starts at `i`: a wide character, or narrow ones up to the next wide one. */
static size_t piece_end(struct str word, size_t i) {
  bool wide = width_of(utf8_next(word, &i)) == 2;
  for (size_t next = i; i < word.n; i = next) {
    size_t columns = width_of(utf8_next(word, &next));
    if (columns == 2 || (wide && columns == 1))
      break;
  }
  return i;
}

/* Adds a word; lines may end after its first `end` bytes and after each further piece. Returns the column after it. */
static size_t add_word(struct buf *out, struct str word, size_t end, size_t at, size_t indent, size_t width) {
  for (size_t i = 0; i < word.n; i = end, end = i < word.n ? piece_end(word, i) : i) {
    size_t columns = term_columns(str_slice(word, i, end));
    if (i > 0 && at + columns > width) {
      buf_addc(out, '\n');
      term_pad(out, 0, indent);
      at = indent;
    }
    buf_add(out, str_slice(word, i, end));
    at += columns;
  }
  return at;
}

void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width) {
  struct str line;
  bool first = true;
  assert(indent < width);
  while (str_line(&text, &line)) {
    if (!first) {
      buf_addc(out, '\n');
      at = 0;
    }
    first = false;
    bool fresh = true;
    struct str word;
    while (str_next(&line, ' ', &word)) {
      size_t columns = term_columns(word);
      if (columns == 0)
        continue;
      /* Text without blanks, such as a sentence in Chinese, consists of pieces. */
      size_t end = indent + columns > width ? piece_end(word, 0) : word.n;
      if (!fresh && at + 1 + term_columns(str_slice(word, 0, end)) > width) {
        buf_addc(out, '\n');
        at = 0;
        fresh = true;
      }
      if (at < indent) {
        term_pad(out, at, indent);
        at = indent;
      }
      if (!fresh) {
        buf_addc(out, ' ');
        at++;
      }
      at = add_word(out, word, end, at, indent, width);
      fresh = false;
    }
  }
}

/* Bytes before the text of a line: blanks, and the mark of a list. */
static size_t prose_indent(struct str line) {
  size_t i = 0, digits;
  while (i < line.n && line.p[i] == ' ')
    i++;
  if (i + 1 < line.n && strchr("-*", line.p[i]) && line.p[i + 1] == ' ')
    return i + 2;
  for (digits = i; digits < line.n && ascii_digit(line.p[digits]);)
    digits++;
  bool numbered = digits > i && digits + 1 < line.n && line.p[digits] == '.' && line.p[digits + 1] == ' ';
  return numbered ? digits + 2 : i;
}

void term_prose(struct buf *out, struct str text, size_t width) {
  enum { CODE_INDENT = 4 };
  struct str line;
  bool is_fenced = false;
  while (str_line(&text, &line)) {
    bool fence = str_starts(str_trim(line), STR("```"));
    size_t indent = prose_indent(line);
    is_fenced = is_fenced != fence;
    bool is_code = fence || is_fenced || str_starts(line, STR("    ")) || memchr(line.p, '\t', line.n);
    if (is_code || term_columns(line) <= width || indent + CODE_INDENT > width) {
      buf_add(out, line);
    } else {
      buf_add(out, str_slice(line, 0, indent));
      term_wrap(out, str_slice(line, indent, line.n), indent, indent, width);
    }
    buf_addc(out, '\n');
  }
}

struct str term_time(struct arena *a, struct str timestamp) {
  int64_t ms;
  if (!time_parse(timestamp, &ms))
    return timestamp;
  char text[TIME_TEXT_SIZE];
  struct str s = time_format(ms, text);
  return arena_printf(a, "%.10s %.5s", s.p, s.p + 11);
}

struct str term_age(struct arena *a, struct str timestamp, int64_t now) {
  static const struct {
    int64_t ms;
    const char *unit;
  } units[] = {{365 * MS_PER_DAY, "y"}, {MS_PER_DAY, "d"}, {MS_PER_HOUR, "h"}, {60 * MS_PER_SECOND, "min"}};
  int64_t then;
  if (!time_parse(timestamp, &then))
    return STR("");
  int64_t age = now > then ? now - then : then - now;
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    if (age < units[i].ms)
      continue;
    long long n = age / units[i].ms;
    return now > then ? arena_printf(a, "%lld %s ago", n, units[i].unit)
                      : arena_printf(a, "in %lld %s", n, units[i].unit);
  }
  return STR("now");
}

struct str term_bytes(struct arena *a, int64_t bytes) {
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000)
    return arena_printf(a, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s");
  double value = (double)bytes / 1000;
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < ARRAY_LEN(units); unit++)
    value /= 1000;
  return arena_printf(a, "%.1f %s", value, units[unit]);
}

/* Avoid flicker: the line appears after a second and is redrawn at most ten times a second. */
enum { PROGRESS_AFTER_US = 1000 * 1000, PROGRESS_EVERY_US = 100 * 1000 };

void progress_init(struct progress *p, int fd) {
  *p = (struct progress){.on = isatty(fd) == 1 && !is_dumb(), .started_us = clock_ticks_us()};
}

void progress_draw(struct progress *p, const char *what, int64_t done, int64_t total) {
  int64_t now = clock_ticks_us();
  if (!p->on || now - p->started_us < PROGRESS_AFTER_US || (p->visible && now - p->drawn_us < PROGRESS_EVERY_US))
    return;
  p->drawn_us = now;
  p->visible = true;
  if (total > 0)
    fprintf(stderr, "\r\x1b[K%s: %lld of %lld (%d %%)", what, (long long)done, (long long)total,
            (int)((double)done * 100.0 / (double)total));
  else
    fprintf(stderr, "\r\x1b[K%s: %lld", what, (long long)done);
  fflush(stderr);
}

void progress_clear(struct progress *p) {
  if (!p->visible)
    return;
  fputs("\r\x1b[K", stderr);
  fflush(stderr);
  p->visible = false;
}
