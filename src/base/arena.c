/* arena.c: bump allocator in chained blocks. */
#include "base/arena.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/secret_pool.h"

/* AddressSanitizer checks only the bounds of malloc blocks, so its builds use one block per allocation. */
#if defined(__SANITIZE_ADDRESS__)
#define EXACT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT 1
#endif
#endif
#ifndef EXACT
#define EXACT 0
#endif

enum { BLOCK_SIZE = EXACT ? 0 : 16 * 1024, ALIGN = 16 };

struct arena_block {
  struct arena_block *next;
  size_t used, size;
  bool guarded;
  bool pooled; /* belongs to the arena's secret pool */
  _Alignas(ALIGN) char data[];
};

_Static_assert(sizeof(struct arena_block) + 16 * 1024 <= SECRET_PIECE, "a default block fits into a piece");

struct arena_defer {
  struct arena_defer *next;
  void (*fn)(void *);
  void *p;
};

void arena_init(struct arena *a) { *a = (struct arena){0}; }

static void run_deferred(struct arena *a) {
  for (struct arena_defer *d = a->deferred; d; d = d->next)
    d->fn(d->p);
  a->deferred = NULL;
}

static void free_block(struct arena *a, struct arena_block *b) {
  assert(b->used <= b->size);
  assert(!b->pooled || (b->guarded && a->pieces));
  if (b->pooled) {
    secret_pool_give(a->pieces, b, sizeof(*b) + b->used);
  } else if (b->guarded) {
    mem_secret_free(b);
  } else {
    if (a->guarded)
      sodium_memzero(b->data, b->used);
    mem_free(b);
  }
}

void arena_guard(struct arena *a) {
  a->guarded = true;
  a->undecided = false;
}

void arena_guard_undecided(struct arena *a, struct secret_pool *pieces) {
  assert(!a->head || a->pieces == pieces);
  a->pieces = pieces;
  a->guarded = a->undecided = true;
}

void arena_unguard(struct arena *a) {
  if (a->undecided)
    a->guarded = a->undecided = false;
}

void arena_release(struct arena *a) {
  run_deferred(a);
  for (struct arena_block *b = a->head, *next; b; b = next) {
    next = b->next;
    free_block(a, b);
  }
  *a = (struct arena){.oom = a->oom, .pieces = a->pieces};
}

void arena_recycle(struct arena *a, size_t most) {
  size_t wanted = a->used + a->used / 4; /* room for the unused ends of blocks and for some growth */
  run_deferred(a);
  if (!EXACT && !a->guarded && a->head && !a->head->guarded && !a->head->next && a->head->size <= most) {
    a->head->used = a->used = 0;
    return;
  }
  arena_release(a);
  a->first = wanted < most ? wanted : most;
}

static void out_of_memory(struct arena *a) {
  if (a->oom)
    longjmp(*a->oom, 1);
  fputs("cairn: out of memory\n", stderr);
  exit(71);
}

size_t arena_mul(struct arena *a, size_t x, size_t y) {
  size_t product;
  if (__builtin_mul_overflow(x, y, &product))
    out_of_memory(a);
  return product;
}

static struct arena_block *new_block(struct arena *a, size_t size) {
  size_t total = sizeof(struct arena_block) + size;
  assert(total > size);
  if (a->guarded && a->pieces && !EXACT && total <= SECRET_PIECE) {
    struct arena_block *b = secret_pool_take(a->pieces);
    if (b) {
      *b = (struct arena_block){.size = size, .guarded = true, .pooled = true};
      return b;
    }
  }
  struct arena_block *b = a->guarded ? mem_secret(total) : mem_alloc(total);
  if (b)
    *b = (struct arena_block){.size = size, .guarded = a->guarded};
  return b;
}

static struct arena_block *add_block(struct arena *a, size_t size) {
  /* A large request gets its own block after the head, so the head's free space stays in use. */
  bool own = a->head && a->head->guarded == a->guarded && size > BLOCK_SIZE / 4;
  size_t least = a->head || a->first < BLOCK_SIZE ? BLOCK_SIZE : a->first;
  struct arena_block *b = new_block(a, own || size > least ? size : least);
  if (!b)
    out_of_memory(a);
  if (own) {
    b->next = a->head->next;
    a->head->next = b;
  } else {
    b->next = a->head;
    a->head = b;
  }
  return b;
}

void *arena_alloc(struct arena *a, size_t size) {
  if (size > SIZE_MAX / 2)
    out_of_memory(a);
  if (!EXACT)
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  struct arena_block *b = a->head;
  if (EXACT || !b || b->guarded != a->guarded || b->size - b->used < size)
    b = add_block(a, size);
  assert(b->guarded == a->guarded && b->used <= b->size && b->size - b->used >= size);
  void *p = b->data + b->used;
  assert((uintptr_t)p % ALIGN == 0);
  b->used += size;
  a->used += size;
  return p;
}

void *arena_zalloc(struct arena *a, size_t size) {
  void *p = arena_alloc(a, size);
  memset(p, 0, size);
  return p;
}

char *arena_cstr(struct arena *a, struct str s) {
  char *p = arena_alloc(a, s.n + 1);
  if (s.n)
    memcpy(p, s.p, s.n);
  p[s.n] = 0;
  return p;
}

struct str arena_dup(struct arena *a, struct str s) { return (struct str){arena_cstr(a, s), s.n}; }

struct str arena_lower(struct arena *a, struct str s) {
  char *p = arena_cstr(a, s);
  for (size_t i = 0; i < s.n; i++)
    p[i] = ascii_lower(p[i]);
  return (struct str){p, s.n};
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap) {
  va_list copy;
  va_copy(copy, ap);
  int n = vsnprintf(NULL, 0, fmt, copy);
  va_end(copy);
  if (n < 0)
    out_of_memory(a);
  char *p = arena_alloc(a, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, fmt, ap);
  return (struct str){p, (size_t)n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  struct str s = arena_vprintf(a, fmt, ap);
  va_end(ap);
  return s;
}

struct str arena_shell_quote(struct arena *a, struct str s) {
  char *p = arena_alloc(a, arena_mul(a, s.n + 1, 4)), *at = p;
  *at++ = '\'';
  for (size_t i = 0; i < s.n; i++) {
    *at++ = s.p[i] == '\n' || s.p[i] == '\r' ? ' ' : s.p[i];
    if (s.p[i] == '\'') {
      memcpy(at, "\\''", 3);
      at += 3;
    }
  }
  *at++ = '\'';
  *at = 0;
  return (struct str){p, (size_t)(at - p)};
}

/* If the record cannot be allocated, fn runs before the jump to the outer boundary. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p) {
  jmp_buf inner, *outer = a->oom;
  assert(fn);
  if (ARENA_BOUNDARY(a, inner)) {
    a->oom = outer;
    fn(p);
    out_of_memory(a);
  }
  struct arena_defer *d = arena_alloc(a, sizeof(*d));
  a->oom = outer;
  *d = (struct arena_defer){a->deferred, fn, p};
  a->deferred = d;
}

static void release_child(void *child) { arena_release(child); }

struct arena *arena_child(struct arena *parent) {
  struct arena *child = arena_new(parent, struct arena);
  child->oom = parent->oom;
  child->guarded = parent->guarded;
  child->undecided = parent->undecided;
  child->pieces = parent->pieces;
  arena_defer(parent, release_child, child);
  return child;
}
