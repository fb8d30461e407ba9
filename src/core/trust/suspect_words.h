/* suspect_words.h: tables of the prompt injection detector: words, rules, phrases. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* Names are stored and shown: never change them. */
#define SUSPECT_FINDINGS(X)                                                    \
  X(OVERRIDE, "override")           /* revokes earlier instructions or rules */ \
  X(PERSONA, "persona")             /* assigns the reader another role, without limits */ \
  X(PROMPT_LEAK, "prompt-leak")     /* asks for the reader's prompt */ \
  X(SECRECY, "secrecy")             /* hides something from the user */ \
  X(ROLE_TAG, "role-tag")           /* imitates tags of a prompt or turns of a conversation */ \
  X(TOOL_CALL, "tool-call")         /* imitates a tool call */ \
  X(HIDDEN, "hidden-text")          /* invisible to humans */ \
  X(EXFILTRATION, "exfiltration")   /* sends data elsewhere */ \
  X(STANDING, "standing-order")     /* "from now on, always" */ \
  X(SCRIPTED, "scripted-answer")    /* "when asked X, answer Y" */ \
  X(MEMORY_ORDER, "memory-order")   /* asks to be stored in memory */ \
  X(AUTHORITY, "authority")         /* claims to speak with authority */ \
  X(SAFETY_OFF, "safety-off")       /* asks to skip checks */ \
  X(UNASKED, "unasked")             /* asks to act without confirmation */ \
  X(ADDRESS, "address")             /* addresses a model */ \
  X(OBEDIENCE, "obedience")         /* demands to follow only this */ \
  X(DANGEROUS, "dangerous-command") /* destructive commands, or remote code */ \
  X(ENCODED, "encoded")             /* uses a simple encoding */ \
  X(WORDING, "wording")             /* worded like known injections */

/* Word classes: words of several languages with one meaning. */
#define SUSPECT_CLASSES(X) \
  X(IGNORE) X(EARLIER) X(ALL) X(ORDERS) X(YOUR) X(LIMITS) X(VOID) X(OUTRANK) X(YOU) X(ARE) X(NOW) X(LONGER) X(BOUND) \
  X(PRETEND) X(APPLY) X(UNBOUND) X(MODE) X(WITHOUT) X(NOT) X(TELL) X(LEARN) X(USER) X(USERS) X(THIS) X(HIDE) \
  X(REVEAL) X(PROMPT) X(SYSTEM) X(SEND) X(LINK) X(DATA) X(TALK) X(FETCH) X(LOOT) X(FROM) X(HENCEFORTH) X(ALWAYS) \
  X(WHEN) X(ASK) X(ANSWER) X(STORE) X(MEMORY) X(FOREVER) X(AUTHORITY) X(DECREE) X(OFF) X(GUARD) X(CONSENT) X(AI) \
  X(ATTENTION) X(READ) X(MUST) X(OBEY) X(ONLY) X(DECODE) X(NEW) X(HEED) X(TOLD) X(COVERT) X(ACT) \
  X(SAYS) X(FUTURE) X(APPROVED) X(TOOL) X(PIPE) X(DEST) X(DOWNLOAD) X(RUN) X(RECUR) X(FIND) X(CODE) X(OMIT) X(REPORT) \
  X(NOBODY) X(DENY) X(RESTORE) X(LEAVE) X(APPROVE) X(REVIEW) X(DISGUISE) X(TESTS) X(MENTION) X(PACKAGE) X(YES) X(WHETHER) X(AS) X(RAW) X(OUT) X(PRIVATE) X(LET) X(LABEL) \
  X(CONFLICT) X(CHECKED) X(REVIEWER) X(COMMIT) X(ENCODE) X(DNS)

/* Topics: wider sets of words, for the rules about clauses. */
#define SUSPECT_TOPICS(X) \
  X(NOT) X(WITHOUT) X(LESS) X(IGNORE) X(EARLIER) X(ORDERS) X(LIMITS) X(VOID) X(VALID) X(APPLY) X(SELF) X(OBEY) X(ONLY) \
  X(CONFLICT) X(OUTRANK) X(USER) X(REVIEWER) X(NOBODY) X(TELL) X(MENTION) X(REPORT) X(CHANGE) X(LEARN) X(COVERT) \
  X(CONFIDENTIAL) X(OMIT) X(PURPOSE) X(NEED) X(TICKET) X(SEND) X(LOOT) X(HISTORY) X(DATA) X(TALK) X(CODE) X(ALL) \
  X(RECUR) X(FIND) X(DOWNLOAD) X(RUN) X(EVAL) X(RETURNS) X(OFF) X(GUARD) X(GUARDTOOL) X(RESTORE) X(MUST) \
  X(APPROVE) X(REVIEW) X(CONSENT) X(AUTHORITY) X(ROLE) X(AI) X(YOU) X(NOW) X(TREAT) X(PARAM) X(ENCODE) X(RULEFILE) \
  X(DEST) X(RAW) X(PIPE) X(PACKAGE)
/* clang-format on */

enum suspect_finding {
#define X(id, name) FOUND_##id,
  SUSPECT_FINDINGS(X)
#undef X
      FOUND_COUNT
};

enum suspect_class_number {
#define X(id) NUMBER_##id,
  SUSPECT_CLASSES(X)
#undef X
      NUMBER_COUNT
};
typedef unsigned __int128 suspect_classes;
_Static_assert(NUMBER_COUNT <= 128, "a set of classes has 128 bits");
#define CLASS(id) ((suspect_classes)1 << NUMBER_##id)

enum suspect_topic_number {
#define X(id) TOPIC_NUMBER_##id,
  SUSPECT_TOPICS(X)
#undef X
      TOPIC_COUNT
};
_Static_assert(TOPIC_COUNT <= 64, "a set of topics has 64 bits");
#define TOPIC(id) (UINT64_C(1) << TOPIC_NUMBER_##id)

/* Words of a class, separated by blanks, folded by utf8_fold(); a * at the end matches any continuation. */
struct suspect_words {
  suspect_classes class;
  const char *words;
};
struct suspect_topic {
  uint64_t topic;
  const char *words; /* as in suspect_words */
};
/* The words of a class also belong to a topic. */
struct suspect_pair {
  suspect_classes class;
  uint64_t topic;
};
/* A word of a class in `lead`, with one word of each class in `needs` nearby. */
struct suspect_rule {
  enum suspect_finding found;
  int weight;
  suspect_classes lead, needs;
  size_t before, after;   /* words before and after the lead that are searched */
  suspect_classes unless; /* none of these may be next to the lead: "never send ..." */
  suspect_classes near;   /* one of these must be next to the lead, if not 0: "do not tell ..." */
};
/* One word of each set in the same clause; a set that is 0 is not required. `does` and `avoids` tell an act from its
 * negation: "approve", "do not read". */
struct suspect_clause {
  enum suspect_finding found;
  int weight;
  uint64_t does;            /* not next to a negation */
  uint64_t avoids;          /* next to a negation or "without" */
  uint64_t lacks;           /* next to "without" */
  uint64_t with, also, and; /* anywhere in the clause */
  uint64_t unless;          /* nowhere in the clause */
};
/* A literal phrase in folded text; `then`, if not NULL, at most SUSPECT_NEAR bytes after it. */
struct suspect_phrase {
  enum suspect_finding found;
  int weight;
  const char *text, *then;
};
enum { SUSPECT_ENOUGH = 3, SUSPECT_NEAR = 90 };

extern const char *const suspect_names[FOUND_COUNT];
extern const struct suspect_words suspect_words[];
extern const size_t suspect_word_count;
extern const struct suspect_rule suspect_rules[];
extern const size_t suspect_rule_count;
extern const struct suspect_topic suspect_topics[];
extern const size_t suspect_topic_count;
extern const struct suspect_pair suspect_pairs[];
extern const size_t suspect_pair_count;
extern const struct suspect_clause suspect_clauses[];
extern const size_t suspect_clause_count;
extern const struct suspect_phrase suspect_phrases[];
extern const size_t suspect_phrase_count;
/* Phrases of scripts written without spaces; searched only in text with such characters: lists of alternatives
 * separated by '|'. `then`, if not NULL, at most SUSPECT_NEAR bytes after `text`, `also` before or after it, `unless`
 * neither. */
struct suspect_unspaced {
  enum suspect_finding found;
  int weight;
  const char *text, *then, *also, *unless;
};
extern const struct suspect_unspaced suspect_unspaced[];
extern const size_t suspect_unspaced_count;
