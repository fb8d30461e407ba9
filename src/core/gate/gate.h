/* gate.h: write gate: the checks that every write passes, from any interface. Pure: reads no store. */
#pragma once

#include "core/memory/memory.h"

enum {
  HEADLINE_LIMIT_BYTES = 1000, /* of a headline given by the caller; HEADLINE_WORDS in headline.h limits its words */
  BODY_WORDS = 400,
  BODY_BYTES = 1000000, /* of a type that allows long bodies, in assist mode */
  KEY_BYTES = 200,
  LABEL_BYTES = 200,
  REMARK_BYTES = 10000,
  SKILL_NAME_BYTES = 100,
  TEAM_BYTES = 64,
};

struct warning {
  const char *code;    /* stable: "contradiction", "near", ... */
  struct str message;  /* one sentence */
  struct str fix;      /* may be absent */
  struct str memories; /* JSON array of the memories concerned; may be absent */
};
struct warnings {
  struct warning *v;
  size_t n, cap;
};

/* Steps 1 to 4: checks the draft m and fills in its type, severity, headline and defaults. Step 5, duplicates, is
 * duplicate.h. A refusal names the step, the reason and what would succeed. */
NODISCARD enum status gate_check(struct arena *a, bool strict, struct memory *m, struct warnings *warnings,
                                 struct error *err);

/* Refuses two or more updates, wherever they stand in the text. gate_check() only warns of those within a line. */
NODISCARD enum status gate_check_updates(struct arena *a, const struct memory *m, struct error *err);

/* For text stored byte for byte, such as a file: checks type, fields and size, and requires a headline. The text may
 * hold more than one idea. */
NODISCARD enum status gate_check_exact(struct arena *a, struct memory *m, struct error *err);

/* A team is a slug. It is the isolation boundary. */
NODISCARD enum status gate_check_team(struct str team, struct error *err);
/* A key names a memory; ids are refused as keys. */
NODISCARD enum status gate_check_key(struct str key, struct error *err);
NODISCARD enum status gate_check_project(struct str project, struct error *err);
