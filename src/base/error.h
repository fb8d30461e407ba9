/* error.h: what went wrong, in words for a person: one sentence, the step that failed, and what to do next. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

enum { ERROR_MESSAGE_MAX = 512, ERROR_FIX_MAX = 1024 };

struct error {
  enum status code;
  const char *step; /* static text: the step of the pipeline that refused ("headline"); NULL where there is none */
  char message[ERROR_MESSAGE_MAX];
  char fix[ERROR_FIX_MAX]; /* what to do next, often the exact call; "" where there is nothing to say */
  int64_t about;           /* number of what stands in the way, for programs; 0: none */
  double similarity;       /* to what stands in the way, 0 to 1; 0 where that means nothing */
};

/* Each returns the error's code, so that a function can end with `return error_fix(...)`.
 * error_set() starts a new error; the other two add to it. Text is cut at a character boundary. */
enum status error_set(struct error *e, enum status code, const char *fmt, ...) PRINTF_FMT(3, 4);
enum status error_step(struct error *e, const char *step);
enum status error_fix(struct error *e, const char *fmt, ...) PRINTF_FMT(2, 3);
/* From errno: picks NO_SPACE, READONLY, NOT_FOUND or IO, and adds the system's text. */
enum status error_errno(struct error *e, int errnum, const char *fmt, ...) PRINTF_FMT(3, 4);

/* An error is never OK. Said where the compiler and the analysers see it, they follow `if (s != STATUS_OK) return s`
 * and do not take what a failed call left untouched for used. */
static inline enum status error_never_ok(enum status s) { return s == STATUS_OK ? STATUS_INTERNAL : s; }
#define error_set(...) error_never_ok(error_set(__VA_ARGS__))
#define error_step(...) error_never_ok(error_step(__VA_ARGS__))
#define error_fix(...) error_never_ok(error_fix(__VA_ARGS__))
#define error_errno(...) error_never_ok(error_errno(__VA_ARGS__))
