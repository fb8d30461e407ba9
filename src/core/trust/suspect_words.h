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
  X(ENCODED, "encoded")             /* uses a simple encoding */

/* Word classes: words of several languages with one meaning. */
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
_Static_assert(NUMBER_COUNT <= 64, "a set of classes is a uint64_t");
#define CLASS(id) (UINT64_C(1) << NUMBER_##id)

/* Words of a class, separated by blanks, folded by utf8_fold(); a * at the end matches any continuation. */
struct suspect_words {
  uint64_t class;
  const char *words;
};
/* A word of a class in `lead`, with one word of each class in `needs` nearby. */
struct suspect_rule {
  enum suspect_finding found;
  int weight;
  uint64_t lead, needs;
  size_t before, after; /* words before and after the lead that are searched */
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
extern const struct suspect_phrase suspect_phrases[];
extern const size_t suspect_phrase_count;
/* Phrases of scripts written without spaces; searched only in text with such characters. `text` and `then` are lists of
 * alternatives separated by '|'. */
extern const struct suspect_phrase suspect_unspaced[];
extern const size_t suspect_unspaced_count;
