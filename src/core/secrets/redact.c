/* redact.c: secret scanner: runs the finders, merges their findings, redacts and describes them. */
#include "core/secrets/redact.h"

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/secrets/redact_scan.h"

static int by_position(const void *x, const void *y) {
  const struct found *a = x, *b = y;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  return strcmp(a->pattern, b->pattern);
}

/* Merges overlapping findings, so no part of a secret remains. */
static void merge(struct redact_scan *s, struct secret_hits *ret) {
  enum found_rank rank = FOUND_CONTEXT;
  *ret = (struct secret_hits){0};
  if (s->out.n > 1)
    qsort(s->out.v, s->out.n, sizeof(*s->out.v), by_position);
  for (size_t i = 0; i < s->out.n; i++) {
    const struct found *f = &s->out.v[i];
    struct secret_hit *last = ret->n ? &ret->v[ret->n - 1] : NULL;
    if (!last || f->start >= last->start + last->len) {
      list_push(s->a, ret, (struct secret_hit){f->start, f->end - f->start, f->pattern});
      rank = f->rank;
      continue;
    }
    if (f->end > last->start + last->len)
      last->len = f->end - last->start;
    if (f->rank < rank) {
      last->pattern = f->pattern;
      rank = f->rank;
    }
  }
}

static const char marker_open[] = "[REDACTED:";

static size_t marker_length(const struct secret_hit *h) { return sizeof(marker_open) - 1 + strlen(h->pattern) + 1; }

/* Start of each hit's marker in the redacted text. */
static size_t *marker_starts(struct arena *a, const struct secret_hits *hits) {
  size_t *starts = arena_array(a, size_t, hits->n), cut = 0, added = 0;
  for (size_t i = 0; i < hits->n; i++) {
    starts[i] = hits->v[i].start - cut + added;
    cut += hits->v[i].len;
    added += marker_length(&hits->v[i]);
  }
  return starts;
}

/* Maps a position of the redacted text to the original. Inside a marker it is the start or the end of the secret. */
static size_t original_position(const struct secret_hits *hits, const size_t *markers, size_t at, bool is_end) {
  size_t low = 0, high = hits->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (markers[middle] + is_end <= at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return at;
  const struct secret_hit *h = &hits->v[low - 1];
  size_t marker_end = markers[low - 1] + marker_length(h), end = h->start + h->len;
  if (at < marker_end)
    return is_end ? end : h->start;
  return end + (at - marker_end);
}

static void redactor_init(struct arena *a, const struct strs *known, struct redactor *ret) {
  redact_index_vendors(&ret->vendors);
  redact_index_known(a, known, &ret->known);
}

const struct redactor *redactor_new(struct arena *a, const struct strs *known) {
  struct redactor *r = arena_alloc(a, sizeof(*r));
  redactor_init(a, known, r);
  return r;
}

static void scan_text(struct redact_scan *s, const struct redactor *what, unsigned signs) {
  redact_find_known(s, &what->known);
  if (signs & SIGN_DASH) {
    redact_find_blocks(s);
    redact_find_reversed_block(s);
  }
  redact_find_vendors(s, &what->vendors);
  redact_find_contexts(s);
}

static void scan_views(struct redact_scan *s, const struct redactor *what, unsigned signs);

/* Scans a view. Of the view that is shown all findings count, of others those that contain a changed part. */
static void scan_view(struct redact_scan *s, const struct redactor *what, enum view_kind kind) {
  struct view v;
  if (!redact_view(s->a, s->text, kind, &v))
    return;
  struct redact_scan inner = {.a = s->a, .text = v.text};
  unsigned signs = redact_signs(v.text);
  scan_text(&inner, what, signs);
  if (kind == VIEW_SHOWN)
    scan_views(&inner, what, signs & ~(1u << VIEW_SHOWN));
  for (size_t i = 0; i < inner.out.n; i++) {
    struct found f = inner.out.v[i], outer = redact_outward(&v, f);
    if (kind == VIEW_SHOWN || outer.end - outer.start != f.end - f.start)
      redact_add(s, outer.start, outer.end, outer.pattern, outer.rank);
  }
}

static void scan_views(struct redact_scan *s, const struct redactor *what, unsigned signs) {
  static const enum view_kind kinds[] = {VIEW_SHOWN, VIEW_UNESCAPED, VIEW_JOINED, VIEW_CLOSED};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
    if (signs >> kinds[i] & 1 && (kinds[i] != VIEW_CLOSED || s->has_start))
      scan_view(s, what, kinds[i]);
  redact_find_encoded(s, &what->vendors);
}

static void scan(struct redact_scan *s, const struct redactor *what) {
  unsigned signs = redact_signs(s->text);
  scan_text(s, what, signs);
  scan_views(s, what, signs);
}

/* Findings depend on their context, so the redacted text is scanned again until nothing more is found. Text without
 * secrets takes one round, nearly all other text two. */
enum { ROUNDS_MAX = 8 };

void redact_find(struct arena *a, struct str text, const struct redactor *what, struct secret_hits *ret) {
  struct redact_scan all = {.a = a, .text = text};
  struct redactor patterns;
  if (!what) {
    redactor_init(a, NULL, &patterns);
    what = &patterns;
  }
  *ret = (struct secret_hits){0};
  for (int round = 0; round < ROUNDS_MAX && text.n > 0; round++) {
    struct redact_scan s = {.a = a, .text = redact_apply(a, text, ret)};
    scan(&s, what);
    if (s.out.n == 0)
      return;
    size_t *markers = marker_starts(a, ret);
    for (size_t i = 0; i < s.out.n; i++) {
      struct found *f = &s.out.v[i];
      redact_add(&all, original_position(ret, markers, f->start, false), original_position(ret, markers, f->end, true),
                 f->pattern, f->rank);
    }
    merge(&all, ret);
  }
}

struct str redact_apply(struct arena *a, struct str text, const struct secret_hits *hits) {
  if (hits->n == 0)
    return text;
  struct buf out = BUF(a);
  size_t pos = 0;
  for (size_t i = 0; i < hits->n; i++) {
    const struct secret_hit *h = &hits->v[i];
    assert(h->start >= pos && h->len <= text.n - h->start);
    buf_add(&out, str_slice(text, pos, h->start));
    buf_adds(&out, marker_open);
    buf_adds(&out, h->pattern);
    buf_addc(&out, ']');
    pos = h->start + h->len;
  }
  buf_add(&out, str_slice(text, pos, text.n));
  return buf_str(&out);
}

struct str redact_all(struct arena *a, struct str text, const struct redactor *what) {
  struct secret_hits hits;
  redact_find(a, text, what, &hits);
  return redact_apply(a, text, &hits);
}

/* Adds the characters [from, to) of s on one line. */
static void add_characters(struct buf *out, struct str s, size_t from, size_t to) {
  size_t pos = 0;
  for (size_t i = 0; i < to && pos < s.n; i++) {
    size_t begin = pos;
    uint32_t cp = utf8_next(s, &pos);
    if (i < from)
      continue;
    if (cp < 0x20 || cp == 0x7f)
      buf_addc(out, ' ');
    else
      buf_add(out, str_slice(s, begin, pos));
  }
}

struct str redact_preview(struct arena *a, struct str text, const struct secret_hit *hit) {
  assert(hit->len > 0 && hit->start <= text.n && hit->len <= text.n - hit->start);
  size_t line = 1;
  for (size_t i = 0; i < hit->start; i++)
    line += text.p[i] == '\n';
  if (strcmp(hit->pattern, redact_known_pattern) == 0)
    return arena_printf(a, "line %zu", line);
  struct str secret = str_slice(text, hit->start, hit->start + hit->len);
  size_t length = utf8_length(secret), shown = length / 3 < 10 ? length / 3 : 10;
  size_t last = shown * 4 / 10, first = shown - last;
  struct buf out = BUF(a);
  buf_addf(&out, "line %zu: ", line);
  add_characters(&out, secret, 0, first);
  buf_adds(&out, "…");
  add_characters(&out, secret, length - last, length);
  return buf_str(&out);
}
