/* scan.h: where in the memory of a process a text is, and whether that memory can reach a disk. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* A text that must not be in the test's own memory is written with each byte turned around; this is the bit pattern. */
enum { SCAN_MASK = 0x55 };

struct scan {
  bool readable;      /* else nobody could look */
  size_t safe, risky; /* places in memory that is locked and left out of dumps, and elsewhere */
};
/* The places of the text, which is given masked, in the memory of the process; 0: this one. */
struct scan scan_memory(pid_t pid, struct str masked);
/* Both flags of the mapping that an address of this process is in. */
bool scan_is_safe(const void *address);
