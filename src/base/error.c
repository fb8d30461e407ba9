/* error.c: formatting of error messages. */
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Formats into out[size] as one line, truncated between characters. The arguments may point into out, because errors
 * quote earlier errors. */
PRINTF_FMT(3, 0)
static void format(char *out, size_t size, const char *fmt, va_list ap) {
  char text[ERROR_FIX_MAX + 1]; /* utf8_cut() needs the byte after the last one that fits */
  assert(size > 0 && size < sizeof(text));
  vsnprintf(text, size + 1, fmt, ap);
  struct str fits = utf8_cut((struct str){text, strlen(text)}, size - 1);
  for (size_t i = 0; i < fits.n; i++)
    out[i] = ascii_space(fits.p[i]) ? ' ' : fits.p[i];
  out[fits.n] = 0;
}

enum status(error_set)(struct error *e, enum status code, const char *fmt, ...) {
  assert(code != STATUS_OK && (unsigned)code < STATUS_COUNT);
  va_list ap;
  va_start(ap, fmt);
  format(e->message, sizeof(e->message), fmt, ap);
  va_end(ap);
  e->code = code;
  e->step = NULL;
  e->fix[0] = 0;
  e->about = 0;
  e->similarity = 0;
  e->unrecorded = false;
  return code;
}

enum status(error_step)(struct error *e, const char *step) {
  assert(e->code != STATUS_OK);
  e->step = step;
  return e->code;
}

enum status(error_fix)(struct error *e, const char *fmt, ...) {
  assert(e->code != STATUS_OK);
  va_list ap;
  va_start(ap, fmt);
  format(e->fix, sizeof(e->fix), fmt, ap);
  va_end(ap);
  return e->code;
}

static enum status code_of_errno(int errnum) {
  switch (errnum) {
  case ENOENT:
  case ENOTDIR:
    return STATUS_NOT_FOUND;
  case EACCES:
  case EPERM:
  case EROFS:
    return STATUS_READONLY;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return STATUS_NO_SPACE;
  default:
    return STATUS_IO;
  }
}

enum status(error_errno)(struct error *e, int errnum, const char *fmt, ...) {
  char what[ERROR_MESSAGE_MAX];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  char text[128];
  return error_set(e, code_of_errno(errnum), "%s: %s", what, strerror_r(errnum, text, sizeof(text)));
}
