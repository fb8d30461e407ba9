/* boot.h: parts of the boot operation: op/boot/select.c fills the groups; boot.c and op/boot/format.c render them. */
#pragma once

#include "core/boot/budget.h"
#include "op/session/session.h"

enum boot_place {
  BOOT_G_ACTIONS,
  BOOT_G_BLOCKERS,
  BOOT_G_RELEVANT,
  BOOT_G_PATTERNS,
  BOOT_G_IDENTITY,
  BOOT_G_LESSONS,
  BOOT_G_PINNED,
  BOOT_G_HANDOFF,
  BOOT_G_DECISIONS,
  BOOT_G_CONTEXT,
  BOOT_G_TASKS,
  BOOT_G_SESSIONS,
  BOOT_GROUPS
};

struct boot {
  struct op_call *call;
  struct scope scope;
  struct booted booted;
  struct str degraded; /* which parts of memory retrieval failed; absent if none */
  int64_t untrusted;   /* memories that are not shown until they are promoted */
  struct boot_group groups[BOOT_GROUPS];
  struct memory_ids delivered; /* memories in the result */
};

/* Fills the groups, each up to its cap. */
NODISCARD enum status boot_select(struct boot *b);
/* Visible, trusted memories without the skills that boot leaves out: the project's first, then global ones, each newest
 * first. */
NODISCARD enum status boot_list(struct boot *b, struct filter f, struct memories *ret);

/* The other formats; they add to the result of put_head(). */
NODISCARD enum status boot_as_full(struct boot *b);
NODISCARD enum status boot_as_blocks(struct boot *b);
