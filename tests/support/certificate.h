/* certificate.h: a certificate for localhost and its key, made by openssl. */
#pragma once

struct certificate {
  const char *path, *key; /* PEM files in the test's folder; the key's mode is 0600 */
};

/* A new one at the same place each time; without openssl the test ends as one that cannot be run. */
struct certificate certificate_make(void);
/* One at these places. */
struct certificate certificate_make_at(const char *path, const char *key);
