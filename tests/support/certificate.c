/* certificate.c: a certificate for localhost. */
#include "support/certificate.h"

#include <sys/stat.h>

#include "support/harness.h"
#include "support/proc.h"

struct certificate certificate_make(void) {
  struct certificate c = {.path = path_join(NULL, "cert.pem"), .key = path_join(NULL, "key.pem")};
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
