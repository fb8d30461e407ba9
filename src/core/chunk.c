/* chunk.c: packs sentences into chunks. */
#include "core/chunk.h"

#include "base/buf.h"
#include "core/text.h"
#include "core/tokens.h"

/* A piece of text that is never divided between chunks: a sentence, or a part of a long one. */
struct unit {
  size_t start, end;
  size_t gap;     /* tokens of the white space before it */
  size_t tokens;  /* its own */
  bool paragraph; /* begins one */
};

struct units {
  struct unit *v;
  size_t n, cap;
};

/* A good place to cut inside a text that must be cut within `room`: behind the last line, else behind the last word,
 * provided that no more than half of the room is lost; else at its end. */
static size_t cut_inside(struct str room) {
  size_t word = 0;
  for (size_t i = room.n; i > room.n / 2; i--) {
    if (room.p[i - 1] == '\n')
      return i;
    if (word == 0 && ascii_space(room.p[i - 1]))
      word = i;
  }
  return word ? word : room.n;
}

static void add_unit(struct arena *a, struct str body, size_t start, size_t end, struct units *units) {
  struct unit unit = {.start = start, .end = end, .tokens = tokens_estimate(str_slice(body, start, end))};
  size_t from = units->n ? units->v[units->n - 1].end : 0, lines = 0;
  unit.gap = tokens_estimate(str_slice(body, from, start));
  for (size_t i = from; i < start; i++)
    lines += body.p[i] == '\n';
  unit.paragraph = units->n == 0 || lines > 1;
  list_push(a, units, unit);
}

static void add_sentence(struct arena *a, struct str body, size_t start, size_t end, struct units *units) {
  while (start < end) {
    struct str rest = str_slice(body, start, end);
    struct str room = tokens_cut(rest, CHUNK_OVERLAP);
    size_t n = room.n < rest.n ? cut_inside(room) : rest.n;
    struct str piece = str_trim(str_slice(rest, 0, n));
    if (piece.n) {
      size_t at = (size_t)(piece.p - body.p);
      add_unit(a, body, at, at + piece.n, units);
    }
    start += n;
  }
}

/* True when all units from i on, with the white space before them, come to at most `room` tokens. */
static bool rest_fits(const struct units *units, size_t i, size_t room) {
  for (; i < units->n; i++) {
    size_t more = units->v[i].gap + units->v[i].tokens;
    if (more > room)
      return false;
    room -= more;
  }
  return true;
}

/* One past the last unit of the chunk that begins with unit `first`. */
static size_t chunk_end(const struct units *units, size_t first) {
  size_t tokens = units->v[first].tokens, paragraph = 0, i = first + 1;
  for (; i < units->n; i++) {
    const struct unit *u = &units->v[i];
    if (u->paragraph && tokens >= CHUNK_TARGET / 2)
      paragraph = i;
    if (tokens + u->gap + u->tokens > CHUNK_TARGET)
      break;
    tokens += u->gap + u->tokens;
  }
  /* A short rest is taken along: on its own it would be mostly overlap. */
  if (rest_fits(units, i, CHUNK_MAX - tokens))
    return units->n;
  return paragraph ? paragraph : i;
}

/* The unit with which the next chunk begins, so that it repeats the end of the chunk [first, end). */
static size_t overlap_start(const struct units *units, size_t first, size_t end) {
  size_t tokens = 0, i = end;
  while (i > first + 1) {
    tokens += units->v[i - 1].tokens + units->v[i].gap;
    if (tokens > CHUNK_OVERLAP)
      break;
    i--;
  }
  return i;
}

void chunk_split(struct arena *a, struct str body, struct chunks *ret) {
  *ret = (struct chunks){0};
  struct str text = str_trim(body);
  if (text.n == 0)
    return;
  if (tokens_estimate(text) <= CHUNK_MAX) {
    list_push(a, ret, (struct chunk){(size_t)(text.p - body.p), text.n});
    return;
  }
  struct units units = {0};
  struct str sentence;
  for (size_t pos = 0; text_next_sentence(body, &pos, &sentence);) {
    size_t start = (size_t)(sentence.p - body.p);
    add_sentence(a, body, start, start + sentence.n, &units);
  }
  for (size_t first = 0; first < units.n;) {
    size_t end = chunk_end(&units, first);
    size_t start = units.v[first].start;
    list_push(a, ret, (struct chunk){start, units.v[end - 1].end - start});
    first = end < units.n ? overlap_start(&units, first, end) : end;
  }
}
