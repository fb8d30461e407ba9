/* certificate.c: makes a certificate for localhost. */
#include "support/certificate.h"

#include <sys/stat.h>

#include "support/harness.h"
#include "support/proc.h"

struct certificate certificate_make(void) {
  return certificate_make_at(path_join(NULL, "cert.pem"), path_join(NULL, "key.pem"));
}

struct certificate certificate_make_at(const char *path, const char *key) {
  struct certificate c = {.path = path, .key = key};
  struct run r =
      proc_run(.argv = ARGS("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", "-subj", "/CN=localhost", "-addext",
                            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", c.key, "-out", c.path),
               .timeout_ms = 20000);
  if (r.exit_code != 0)
    test_unable("openssl, to make a certificate");
  CHECK_INT(chmod(c.key, 0600), 0);
  return c;
}
