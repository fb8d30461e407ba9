/* chunk.c: chunking by sentences or by the turns of a conversation. */
#include "core/memory/chunk.h"

#include <assert.h>

#include "base/buf.h"
#include "core/text/text.h"
#include "core/text/token_count.h"
#include "transcript/core/turns.h"

/* Text that is never split across chunks: a sentence, or part of a long one. */
struct unit {
  size_t start, end;
  size_t gap;     /* tokens of the white space before it */
  size_t tokens;  /* without the gap */
  bool paragraph; /* starts a paragraph */
};

struct units {
  struct unit *v;
  size_t n, cap;
};

/* Where to cut `room`, the part of a text that fits: after the last line or word in its second half, else at its end.
 */
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
  assert(from <= start && start < end && end <= body.n);
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
    assert(n > 0 && n <= rest.n);
    struct str piece = str_trim(str_slice(rest, 0, n));
    if (piece.n) {
      size_t at = (size_t)(piece.p - body.p);
      add_unit(a, body, at, at + piece.n, units);
    }
    start += n;
  }
}

/* True if all units from i on, with their gaps, have at most `room` tokens. */
static bool rest_fits(const struct units *units, size_t i, size_t room) {
  for (; i < units->n; i++) {
    size_t more = units->v[i].gap + units->v[i].tokens;
    if (more > room)
      return false;
    room -= more;
  }
  return true;
}

/* One past the last unit of the chunk that starts with unit `first`. */
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
  assert(tokens <= CHUNK_TARGET);
  /* Include a short rest: a separate chunk would be mostly overlap. */
  if (rest_fits(units, i, CHUNK_MAX - tokens))
    return units->n;
  return paragraph ? paragraph : i;
}

/* First unit of the chunk after [first, end), including the overlap. */
static size_t overlap_start(const struct units *units, size_t first, size_t end) {
  size_t tokens = 0, i = end;
  while (i > first + 1) {
    tokens += units->v[i - 1].tokens + units->v[i].gap;
    if (tokens > CHUNK_OVERLAP)
      break;
    i--;
  }
  assert(i > first); /* each chunk starts after the previous one */
  return i;
}

/* Splits plain text that starts at byte `base` of the body. */
static void split_text(struct arena *a, struct str text, size_t base, struct chunks *ret) {
  struct str whole = str_trim(text);
  if (tokens_estimate(whole) <= CHUNK_MAX) {
    list_push(a, ret, (struct chunk){base + (size_t)(whole.p - text.p), whole.n});
    return;
  }
  struct units units = {0};
  struct str sentence;
  for (size_t pos = 0; text_next_sentence(text, &pos, &sentence);) {
    size_t start = (size_t)(sentence.p - text.p);
    add_sentence(a, text, start, start + sentence.n, &units);
  }
  for (size_t first = 0; first < units.n;) {
    size_t end = chunk_end(&units, first);
    size_t start = units.v[first].start;
    assert(end > first && units.v[end - 1].end > start);
    list_push(a, ret, (struct chunk){base + start, units.v[end - 1].end - start});
    first = end < units.n ? overlap_start(&units, first, end) : end;
  }
}

/* ---- conversations */

/* Tokens of the turns [first, end) and of the text between them. */
static size_t tokens_between(struct str body, const struct turns *t, size_t first, size_t end) {
  assert(first < end && end <= t->n);
  return tokens_estimate(str_slice(body, t->v[first].start, t->v[end - 1].end));
}

/* One past the long turn at `first`, or the long turn that answers a short turn at `first`; `first` if neither. */
static size_t reply_end(const struct turns *t, size_t first) {
  if (t->v[first].tokens > CHUNK_TURNS)
    return first + 1;
  bool asked = t->v[first].tokens < CHUNK_ASKED && first + 1 < t->n;
  return asked && t->v[first + 1].tokens > CHUNK_TURNS ? first + 2 : first;
}

/* One past the last turn of a chunk of whole turns that starts with turn `first` and includes turn `next`. */
static size_t pack_end(struct str body, const struct turns *t, size_t first, size_t next) {
  size_t end = next + 1;
  while (end < t->n && reply_end(t, end) == end && tokens_between(body, t, first, end + 1) <= CHUNK_TURNS)
    end++;
  return end;
}

static void split_turns(struct arena *a, struct str body, const struct turns *t, struct chunks *ret) {
  size_t first = 0; /* first turn of the previous chunk of whole turns; equal to `next` after a long turn */
  for (size_t next = 0; next < t->n;) {
    size_t end = reply_end(t, next);
    if (end > next) {
      size_t start = t->v[next].start;
      split_text(a, str_slice(body, start, t->v[end - 1].end), start, ret);
      next = first = end;
      continue;
    }
    /* Repeat a short turn as context of the turn that follows it. */
    bool again = next > first + 1 && t->v[next - 1].tokens < CHUNK_AGAIN &&
                 tokens_between(body, t, next - 1, next + 1) <= CHUNK_TURNS;
    first = again ? next - 1 : next;
    end = pack_end(body, t, first, next);
    list_push(a, ret, (struct chunk){t->v[first].start, t->v[end - 1].end - t->v[first].start});
    next = end;
  }
}

void chunk_split(struct arena *a, struct str body, struct chunks *ret) {
  *ret = (struct chunks){0};
  struct str text = str_trim(body);
  if (text.n == 0)
    return;
  struct turns turns;
  if (tokens_estimate(text) > CHUNK_TURNS && transcript_turns(a, body, &turns))
    split_turns(a, body, &turns, ret);
  else
    split_text(a, body, 0, ret);
}

/* True if the body starts with the headline, ignoring white space and ASCII punctuation. */
static bool starts_with_headline(struct str body, struct str headline) {
  size_t i = 0, k = 0;
  for (;;) {
    while (k < headline.n && !ascii_alnum(headline.p[k]) && !(headline.p[k] & 0x80))
      k++;
    while (i < body.n && !ascii_alnum(body.p[i]) && !(body.p[i] & 0x80))
      i++;
    if (k == headline.n)
      return true;
    if (i == body.n || body.p[i++] != headline.p[k++])
      return false;
  }
}

struct str embed_text(struct arena *a, struct str before, struct str headline, struct str body) {
  /* Do not repeat a headline derived from the body. */
  struct str stem = headline;
  if (str_ends(stem, STR("…")))
    stem.n -= sizeof("…") - 1;
  struct str text =
      starts_with_headline(body, stem) ? body : arena_printf(a, "%.*s. %.*s", STR_ARG(headline), STR_ARG(body));
  return str_empty(before) ? text : arena_printf(a, "%.*s\n%.*s", STR_ARG(before), STR_ARG(text));
}
