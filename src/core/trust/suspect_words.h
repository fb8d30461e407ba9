/* suspect_words.h: what suspect.c looks for, as tables. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* Names are stored and shown: they stay as they are. */
#define SUSPECT_FINDINGS(X)                                                    \
  X(OVERRIDE, "override")           /* revokes earlier instructions or rules */ \
  X(PERSONA, "persona")             /* gives the reader another role, without limits */ \
  X(PROMPT_LEAK, "prompt-leak")     /* asks for the reader's own prompt */ \
  X(SECRECY, "secrecy")             /* the user must not know */ \
  X(ROLE_TAG, "role-tag")           /* marks of a prompt or of a conversation's turns */ \
  X(TOOL_CALL, "tool-call")         /* imitates a call of a tool */ \
  X(HIDDEN, "hidden-text")          /* not meant for human eyes */ \
  X(EXFILTRATION, "exfiltration")   /* sends data away */ \
  X(STANDING, "standing-order")     /* from now on, always */ \
  X(SCRIPTED, "scripted-answer")    /* when asked this, answer that */ \
  X(MEMORY_ORDER, "memory-order")   /* has itself remembered */ \
  X(AUTHORITY, "authority")         /* claims to speak for somebody with power */ \
  X(SAFETY_OFF, "safety-off")       /* checks shall be skipped */ \
  X(UNASKED, "unasked")             /* nobody shall be asked */ \
  X(ADDRESS, "address")             /* speaks to a model as such */ \
  X(OBEDIENCE, "obedience")         /* demands to be followed, and nothing else */ \
  X(DANGEROUS, "dangerous-command") /* commands that destroy, or run what others send */ \
  X(ENCODED, "encoded")             /* says it in a simple code */

/* Classes of words: what words of many languages have in common. */
#define SUSPECT_CLASSES(X) \
  X(IGNORE) X(EARLIER) X(ALL) X(ORDERS) X(YOUR) X(LIMITS) X(VOID) X(OUTRANK) X(YOU) X(ARE) X(NOW) X(LONGER) X(BOUND) \
  X(PRETEND) X(APPLY) X(UNBOUND) X(MODE) X(WITHOUT) X(NOT) X(TELL) X(LEARN) X(USER) X(USERS) X(THIS) X(HIDE) \
  X(REVEAL) X(PROMPT) X(SYSTEM) X(SEND) X(LINK) X(DATA) X(TALK) X(FETCH) X(LOOT) X(FROM) X(HENCEFORTH) X(ALWAYS) \
  X(WHEN) X(ASK) X(ANSWER) X(STORE) X(MEMORY) X(FOREVER) X(AUTHORITY) X(DECREE) X(OFF) X(GUARD) X(CONSENT) X(AI) \
  X(ATTENTION) X(READ) X(MUST) X(OBEY) X(ONLY) X(DECODE) X(NEW) X(HEED) X(TOLD) X(COVERT) X(ACT) \
  X(SAYS) X(FUTURE) X(APPROVED) X(TOOL)
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
_Static_assert(NUMBER_COUNT <= 64, "a set of classes is one word");
#define CLASS(id) (UINT64_C(1) << NUMBER_##id)

/* Words of a class, separated by blanks, as utf8_fold() leaves them; * at the end: whatever begins so. */
struct suspect_words {
  uint64_t class;
  const char *words;
};
/* A word of the class `lead`, and around it one of each class in `needs`: so many words before it and behind it. */
struct suspect_rule {
  enum suspect_finding found;
  int weight;
  uint64_t lead, needs;
  size_t before, behind;
};
/* What is found as it stands, in folded text without blanks at the ends of lines; `then`, when there is one, at most
 * SUSPECT_NEAR bytes behind it. */
struct suspect_mark {
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
extern const struct suspect_mark suspect_marks[];
extern const size_t suspect_mark_count;
/* Of scripts that are written without spaces: looked for only where there are such characters. `text` and `then` are
 * one of several words, with '|' between them. */
extern const struct suspect_mark suspect_unspaced[];
extern const size_t suspect_unspaced_count;
