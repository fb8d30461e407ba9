/* alloc.h: wrapper around malloc and locked memory, with fault injection for tests.
 *
 * Most code allocates from an arena (arena.h) instead. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

NODISCARD void *mem_alloc(size_t size);
NODISCARD void *mem_zalloc(size_t size);
NODISCARD void *mem_realloc(void *p, size_t size);
void mem_free(void *p);

/* Memory for secrets: locked as far as RLIMIT_MEMLOCK allows, excluded from core dumps, wiped when freed. Aligned for
 * any type. Each call costs several system calls. */
NODISCARD void *mem_secret(size_t size);
void mem_secret_free(void *p);
/* True if this process can lock `size` more bytes now. */
bool mem_secret_can_lock(size_t size);

/* Fault injection for tests: makes the nth allocation from now return NULL (1: the next one), and with `sticky` every
 * later one too. 0 switches it off. Applies only to the calling thread. */
void alloc_fail_at(long nth, int sticky);
/* Number of injected failures in this thread since the last alloc_fail_at(). */
long alloc_failures(void);
