/* gate.h: write gate: the checks that every write passes, from any interface. Pure: reads no store. */
#pragma once

#include "core/gate/differ.h"
#include "core/gate/similarity.h"
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
  const char *code;    /* stable: "headline_derived", "contradiction", ... */
  struct str message;  /* one sentence */
  struct str fix;      /* may be absent */
  struct str memories; /* JSON array of the memories concerned; may be absent */
};
struct warnings {
  struct warning *v;
  size_t n, cap;
};

/* Steps 1 to 4: checks the draft m and fills in its type, severity, headline and defaults. Step 5 is
 * duplicate_judge(). A refusal names the step, the reason and what would succeed. */
NODISCARD enum status gate_check(struct arena *a, bool strict, struct memory *m, struct warnings *warnings,
                                 struct error *err);

/* For text stored byte for byte, such as a file: checks type, fields and size, and requires a headline. The text may
 * hold more than one idea. */
NODISCARD enum status gate_check_exact(struct arena *a, struct memory *m, struct error *err);

/* A team is a slug. It is the isolation boundary. */
NODISCARD enum status gate_check_team(struct str team, struct error *err);
/* A key names a memory; ids are refused as keys. */
NODISCARD enum status gate_check_key(struct str key, struct error *err);
NODISCARD enum status gate_check_project(struct str project, struct error *err);

/* ---- duplicates ---- */

/* An existing memory close to the draft. */
struct similar {
  int64_t id;
  struct str headline, body, project, key;
  double similarity; /* calibrated */
  struct difference difference;
  bool untrusted; /* callers say so when they quote it */
};
struct similars {
  struct similar *v;
  size_t n, cap;
};

enum verdict {
  VERDICT_STORE,     /* not a duplicate; warn if anything is near */
  VERDICT_SKIP,      /* a duplicate: keep the existing memory */
  VERDICT_SUPERSEDE, /* same meaning, with more detail or another key: replace the existing memory */
  VERDICT_REFUSE,    /* a rule too close to another rule */
};

/* Step 5 of the write gate. `similar` holds memories at or above SIMILARITY_NEAR, best match first; *ret_at is the
 * index of the one that decided (0 if `similar` is empty). */
enum verdict duplicate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at);
