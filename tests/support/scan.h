/* scan.h: finds a text in the memory of a process, and whether that memory can reach a disk. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* Search texts are given XORed with this mask, so they are not in the test's own memory. */
enum { SCAN_MASK = 0x55 };

struct scan {
  bool readable;      /* false if the memory cannot be read */
  size_t safe, risky; /* hits in memory that is locked and excluded from dumps, and elsewhere */
};
/* Counts the text, which is given masked, in the memory of the process; 0: this one. */
struct scan scan_memory(pid_t pid, struct str masked);
/* True if the mapping of this address is locked and excluded from dumps. */
bool scan_is_safe(const void *address);
