/* error.h: error with a one-sentence message, the step that failed and a suggested fix. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

enum { ERROR_MESSAGE_MAX = 512, ERROR_FIX_MAX = 1024 };

struct error {
  enum status code;
  const char *step; /* pipeline step that refused ("headline"), a static string; or NULL */
  char message[ERROR_MESSAGE_MAX];
  char fix[ERROR_FIX_MAX]; /* what to do next, often the exact call; may be "" */
  int64_t about;           /* number of the conflicting object; 0: none */
  double similarity;       /* similarity to the conflicting object, 0 to 1; 0 if not applicable */
  bool unrecorded;         /* one of too many refusals of a caller: counted, but not recorded */
};

/* Each returns the error's code, so a function can end with `return error_fix(...)`.
 * error_set() starts a new error; error_step() and error_fix() add to it. Long text is truncated between characters. */
enum status error_set(struct error *e, enum status code, const char *fmt, ...) PRINTF_FMT(3, 4);
enum status error_step(struct error *e, const char *step);
enum status error_fix(struct error *e, const char *fmt, ...) PRINTF_FMT(2, 3);
/* From errno: picks NO_SPACE, READONLY, NOT_FOUND or IO, and adds the system's text. */
enum status error_errno(struct error *e, int errnum, const char *fmt, ...) PRINTF_FMT(3, 4);

/* Tells the compiler and the analysers that an error is never STATUS_OK. Otherwise they would report variables that a
 * failed call did not set as used uninitialised. */
static inline enum status error_never_ok(enum status s) { return s == STATUS_OK ? STATUS_INTERNAL : s; }
#define error_set(...) error_never_ok(error_set(__VA_ARGS__))
#define error_step(...) error_never_ok(error_step(__VA_ARGS__))
#define error_fix(...) error_never_ok(error_fix(__VA_ARGS__))
#define error_errno(...) error_never_ok(error_errno(__VA_ARGS__))
