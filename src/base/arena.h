/* arena.h: bump allocator; one for each operation, everything in it is freed at once.
 *
 * Out of memory: arena_alloc() never returns NULL. When the system has no memory left it jumps to the boundary that
 * the arena's owner set with ARENA_BOUNDARY; the owner rolls back and reports STATUS_NOMEM. Code between the two
 * therefore checks nothing and frees nothing; what is not memory (a file, a blob handle) is registered with
 * arena_defer() or closed before the next allocation. Around reads of a store the boundary is STORE_BOUNDARY
 * (store/store.h). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>

#include "base/str.h"

struct arena_block;
struct arena_defer;
struct secret_pool;

struct arena {
  struct arena_block *head;
  struct arena_defer *deferred;
  size_t used;                /* bytes handed out */
  size_t first;               /* bytes of the first block; 0: the usual size */
  bool guarded;               /* see arena_guard() */
  bool undecided;             /* see arena_guard_first() */
  struct secret_pool *pieces; /* where guarded memory comes from, if there is some; NULL: from mem_secret() */
  jmp_buf *oom; /* where to go when there is no memory; NULL: print and exit, for the program's own start-up */
};

/* Usage: jmp_buf b; if (ARENA_BOUNDARY(a, b)) { ...out of memory... } else { ...work... } */
#define ARENA_BOUNDARY(arena, buffer) ((arena)->oom = &(buffer), setjmp(buffer))

void arena_init(struct arena *a);
/* Runs what was deferred, newest first, and frees all memory; the arena can be used again. */
void arena_release(struct arena *a);
/* The same for an arena that will soon be used again for the like: it keeps a block, or asks for one that is large
 * enough the next time, as long as that is no more than `most` bytes. */
void arena_recycle(struct arena *a, size_t most);

/* Until the arena is released: memory that is handed out comes from mem_secret(), also to children made from now on,
 * and what was handed out before is wiped at the end. */
void arena_guard(struct arena *a);
/* For a text of which nobody knows yet whether it holds a secret: guarded until arena_relax() says that it holds none.
 * Once arena_guard() has been called, that says nothing any more. The pool, which may be NULL, outlives the arena. */
void arena_guard_first(struct arena *a, struct secret_pool *pieces);
void arena_relax(struct arena *a);

/* Aligned for any type; the bytes are not cleared. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t size);
#define arena_new(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_zalloc((arena), arena_mul((arena), sizeof(type), (n))))
/* a * b, or the out-of-memory jump when it overflows. */
size_t arena_mul(struct arena *a, size_t x, size_t y);

/* Copies are NUL-terminated behind their last byte. */
struct str arena_dup(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
/* ASCII letters in lower case; utf8_fold() knows the others. */
struct str arena_lower(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_FMT(2, 3);
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF_FMT(2, 0);

/* An arena for a part of the work: shares the parent's boundary, is released with it at the latest. */
struct arena *arena_child(struct arena *parent);

/* fn(p) runs at arena_release(), or at once when there is no memory to note it. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
