/* boot.h: the parts of the boot operation: what is gathered (op/boot/select.c), and how it is shown (boot.c,
 * op/boot/format.c). */
#pragma once

#include "core/boot/budget.h"
#include "op/session/session.h"

enum boot_place {
  BOOT_G_ACTIONS,
  BOOT_G_BLOCKERS,
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
  struct str degraded; /* of the memories; absent when all is well */
  struct boot_group groups[BOOT_GROUPS];
};

/* Fills the groups, each up to its cap. */
NODISCARD enum status boot_select(struct boot *b);
/* Visible, trusted memories, the project's before the global ones, newest first. */
NODISCARD enum status boot_list(struct boot *b, struct filter f, struct memories *ret);

/* The other renderings; they add to the result, which has the members of every boot. */
NODISCARD enum status boot_as_full(struct boot *b);
NODISCARD enum status boot_as_blocks(struct boot *b);
