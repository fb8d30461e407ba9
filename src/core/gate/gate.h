/* gate.h: the write gate: one pipeline of checks for every write, whatever the door. Pure: duplicates are found by the
 * caller, judged here. */
#pragma once

#include "core/gate/differ.h"
#include "core/memory/memory.h"

enum {
  HEADLINE_LIMIT_BYTES = 1000, /* of a given one; words are counted by headline.h's HEADLINE_WORDS */
  BODY_WORDS = 400,
  BODY_BYTES = 1000000, /* of a long fact in assist mode */
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
  struct str memories; /* JSON array of the memories it is about; may be absent */
};
struct warnings {
  struct warning *v;
  size_t n, cap;
};

/* Steps 1 to 4 on a draft: m holds what was asked for; type, severity, headline and defaults are settled in place.
 * A refusal names the step, the reason and what would succeed. */
NODISCARD enum status gate_check(struct arena *a, bool strict, struct memory *m, struct warnings *warnings,
                                 struct error *err);

/* The same for a text that is kept byte for byte, such as a file: type, fields and size are checked; it may stack
 * ideas, and its headline is the caller's. */
NODISCARD enum status gate_check_exact(struct arena *a, struct memory *m, struct error *err);

/* One existing memory that is close to the draft. */
struct similar {
  int64_t id;
  struct str headline, body, project, key;
  double similarity; /* calibrated */
  struct difference difference;
  bool untrusted; /* who is told of it is told that, too */
};
struct similars {
  struct similar *v;
  size_t n, cap;
};

enum verdict {
  VERDICT_STORE,     /* nothing stands against it; with near ones: store with a warning */
  VERDICT_SKIP,      /* the same knowledge is there already */
  VERDICT_SUPERSEDE, /* it says the same in more detail: replaces the older one */
  VERDICT_REFUSE,    /* a rule too close to another rule */
};

/* Step 5: judges the draft against what is similar, best first; ret_at is the index of the one that decided. */
enum verdict gate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at);

/* Names: of a team (a slug: the isolation boundary), of a memory, of a project. */
NODISCARD enum status gate_check_team(struct str team, struct error *err);
NODISCARD enum status gate_check_key(struct str key, struct error *err);
NODISCARD enum status gate_check_project(struct str project, struct error *err);
