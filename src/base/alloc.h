/* alloc.h: the only door to malloc. Tests can make the Nth allocation fail.
 *
 * Almost nothing calls this directly: memory of an operation comes from its arena (arena.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

NODISCARD void *mem_alloc(size_t size);
NODISCARD void *mem_zalloc(size_t size);
NODISCARD void *mem_realloc(void *p, size_t size);
void mem_free(void *p);

/* For what must reach neither the disk nor a core dump: locked as far as the system lets a process lock memory, left
 * out of dumps, wiped when it is given back. Aligned for any type. A call costs several system calls. */
NODISCARD void *mem_secret(size_t size);
void mem_secret_free(void *p);
/* Whether the system lets this process lock so much more now. */
bool mem_secret_locks(size_t size);

/* Fault injection for tests: the nth allocation from now on returns NULL (1 = the next one), and with
 * `sticky` all after it too; 0 switches it off. Counts for the calling thread alone. */
void alloc_fail_at(long nth, int sticky);
/* How many injected failures this thread has had since the last alloc_fail_at(). */
long alloc_failures(void);
