/* buf.c: growable strings and arrays in an arena. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>

static void buf_reserve(struct buf *b, size_t more) {
  assert(b->n <= b->cap);
  if (b->cap - b->n > more) /* includes space for the terminating NUL */
    return;
  size_t cap = b->cap ? b->cap : 128;
  assert(b->a);
  while (cap - b->n <= more)
    cap = arena_mul(b->a, cap, 2);
  char *p = arena_alloc(b->a, cap);
  if (b->n)
    memcpy(p, b->p, b->n);
  b->p = p;
  b->cap = cap;
  assert(b->cap - b->n > more);
}

void buf_add(struct buf *b, struct str s) {
  assert(s.p || s.n == 0);
  buf_reserve(b, s.n);
  if (s.n)
    memcpy(b->p + b->n, s.p, s.n);
  b->n += s.n;
  b->p[b->n] = 0;
}

void buf_addc(struct buf *b, char c) {
  buf_reserve(b, 1);
  b->p[b->n++] = c;
  b->p[b->n] = 0;
}

void buf_adds(struct buf *b, const char *cstr) { buf_add(b, str_from(cstr)); }

void buf_addf(struct buf *b, const char *fmt, ...) {
  va_list ap, copy;
  va_start(ap, fmt);
  va_copy(copy, ap);
  int n = vsnprintf(NULL, 0, fmt, copy);
  va_end(copy);
  if (n > 0) {
    buf_reserve(b, (size_t)n);
    vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
    b->n += (size_t)n;
  }
  va_end(ap);
}

void *list_grow(struct arena *a, const void *v, size_t n, size_t *cap, size_t size) {
  assert(n == *cap && size > 0);
  size_t wider = *cap ? arena_mul(a, *cap, 2) : 8;
  void *p = arena_alloc(a, arena_mul(a, wider, size));
  if (n)
    memcpy(p, v, n * size);
  *cap = wider; /* set last: after an out-of-memory jump the list must still be consistent */
  return p;
}

bool strs_has(const struct strs *list, struct str s) {
  for (size_t i = 0; i < list->n; i++)
    if (str_eq(list->v[i], s))
      return true;
  return false;
}

bool strs_same(const struct strs *a, const struct strs *b) {
  for (size_t i = 0; i < a->n; i++)
    if (!strs_has(b, a->v[i]))
      return false;
  return a->n == b->n;
}
