/* certificate.h: a certificate for localhost and its key, made by openssl. */
#pragma once

struct certificate {
  const char *path, *key; /* PEM files in the test's folder; the key's mode is 0600 */
};

/* Makes a new one at the same path each time. Without openssl the test ends as "not run". */
struct certificate certificate_make(void);
/* Makes one at these paths. */
struct certificate certificate_make_at(const char *path, const char *key);
