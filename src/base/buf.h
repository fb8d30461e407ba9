/* buf.h: growable strings and arrays in an arena. */
#pragma once

#include "base/arena.h"

/* p is NUL-terminated, and NULL until something is added. */
struct buf {
  struct arena *a;
  char *p;
  size_t n, cap;
};

#define BUF(arena) ((struct buf){.a = (arena)})

void buf_add(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *cstr);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_FMT(2, 3);
static inline struct str buf_str(const struct buf *b) { return (struct str){b->p ? b->p : "", b->n}; }

/* LIST(int) numbers = {0}; list_push(arena, &numbers, 7); numbers.v[0], numbers.n */
#define LIST(type)                                                                                                     \
  struct {                                                                                                             \
    type *v;                                                                                                           \
    size_t n, cap;                                                                                                     \
  }
#define list_push(arena, list, ...)                                                                                    \
  do {                                                                                                                 \
    if ((list)->n == (list)->cap)                                                                                      \
      (list)->v = list_grow((arena), (list)->v, (list)->n, &(list)->cap, sizeof(*(list)->v));                          \
    (list)->v[(list)->n++] = (__VA_ARGS__);                                                                            \
  } while (0)
void *list_grow(struct arena *a, const void *v, size_t n, size_t *cap, size_t size);

/* List of slices, for passing between functions. */
struct strs {
  struct str *v;
  size_t n, cap;
};
static inline void strs_push(struct arena *a, struct strs *list, struct str s) { list_push(a, list, s); }
bool strs_has(const struct strs *list, struct str s);
/* Same length, and every string of `a` is in `b`. */
bool strs_same(const struct strs *a, const struct strs *b);
