/* arena.h: bump allocator. Each operation has one, and all its memory is freed at once.
 *
 * Out of memory: arena_alloc() never returns NULL. It jumps to the boundary that the arena's owner set with
 * ARENA_BOUNDARY, and the owner rolls back and reports STATUS_NOMEM. Code in between neither checks nor frees memory.
 * Other resources (a file, a blob handle) are registered with arena_defer() or closed before the next allocation.
 * Around reads of a store the boundary is STORE_BOUNDARY (store/store.h). */
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
  size_t used;                /* bytes allocated */
  size_t first;               /* size of the first block; 0: the default */
  bool guarded;               /* see arena_guard() */
  bool undecided;             /* see arena_guard_undecided() */
  struct secret_pool *pieces; /* source of guarded blocks before mem_secret(); may be NULL */
  jmp_buf *oom;               /* out-of-memory target; NULL: print a message and exit, for program start-up */
};

/* Usage: jmp_buf b; if (ARENA_BOUNDARY(a, b)) { ...out of memory... } else { ...work... } */
#define ARENA_BOUNDARY(arena, buffer) ((arena)->oom = &(buffer), setjmp(buffer))

void arena_init(struct arena *a);
/* Runs the deferred functions, newest first, and frees all memory. The arena can be used again. */
void arena_release(struct arena *a);
/* Like arena_release(), for an arena that will be reused for similar work: keeps its block, or allocates a large enough
 * one next time, up to `most` bytes. */
void arena_recycle(struct arena *a, size_t most);

/* Until release, allocations come from locked memory, also in children created from now on. Earlier allocations are
 * wiped on release. */
void arena_guard(struct arena *a);
/* Guards the arena until it is known whether its text holds a secret. arena_unguard() ends that, unless arena_guard()
 * was called in between. The pool may be NULL and must outlive the arena. */
void arena_guard_undecided(struct arena *a, struct secret_pool *pieces);
void arena_unguard(struct arena *a);

/* Aligned for any type, not cleared. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t size);
#define arena_new(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_zalloc((arena), arena_mul((arena), sizeof(type), (n))))
/* x * y; an overflow counts as out of memory. */
size_t arena_mul(struct arena *a, size_t x, size_t y);

/* Copies are NUL-terminated. */
struct str arena_dup(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
/* Lower-cases only ASCII letters; see also utf8_fold(). */
struct str arena_lower(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_FMT(2, 3);
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF_FMT(2, 0);

/* In single quotes for a shell: 'it'\''s'. Line breaks become blanks. */
struct str arena_shell_quote(struct arena *a, struct str s);

/* Arena for a part of the work. Shares the parent's boundary and is released with the parent at the latest. */
struct arena *arena_child(struct arena *parent);

/* Calls fn(p) at arena_release(), or immediately if there is no memory to record it. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
