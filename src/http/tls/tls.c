/* tls.c: reads and validates PEM files. */
#include "http/tls/tls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"

enum { PEM_MAX = 1 << 20 };

static enum status check_key_file(int fd, const char *path, struct error *err) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return error_errno(err, errno, "cannot stat the key '%s'", path);
  if (!S_ISREG(st.st_mode)) {
    error_set(err, STATUS_USAGE, "the key '%s' is not a regular file", path);
    return error_fix(err, "--tls-key must name a PEM file");
  }
  if (st.st_mode & (S_IRWXO | S_IWGRP | S_IXGRP)) {
    error_set(err, STATUS_REFUSED, "others can read or change the key '%s' (mode %03o)", path,
              (unsigned)(st.st_mode & 0777));
    return error_fix(err, "chmod 600 '%s'", path);
  }
  return STATUS_OK;
}

static enum status load_key(struct arena *a, const char *path, char **ret_text, struct error *err) {
  struct str text;
  int *fd = fs_descriptor(a);
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (*fd < 0)
    return error_errno(err, errno, "cannot open the key '%s'", path);
  enum status s = check_key_file(*fd, path, err);
  if (s == STATUS_OK)
    s = fs_read_fd(a, *fd, path, PEM_MAX, &text, err);
  fs_close(fd);
  if (s == STATUS_OK) {
    *ret_text = arena_cstr(a, text);
    sodium_memzero((char *)(uintptr_t)text.p, text.n);
  }
  return s;
}

/* GnuTLS validates the pair when it loads it. */
static enum status join_pair(const struct tls *tls, const char *certificate, const char *key,
                             gnutls_certificate_credentials_t *ret_both, struct error *err) {
  gnutls_datum_t cert = {(unsigned char *)tls->certificate, (unsigned)strlen(tls->certificate)};
  gnutls_datum_t secret = {(unsigned char *)tls->key, (unsigned)strlen(tls->key)};
  gnutls_certificate_credentials_t both;
  int result = gnutls_certificate_allocate_credentials(&both);
  if (result < 0)
    return error_set(err, STATUS_NOMEM, "out of memory");
  result = gnutls_certificate_set_x509_key_mem2(both, &cert, &secret, GNUTLS_X509_FMT_PEM, NULL, 0);
  if (result >= 0) {
    *ret_both = both;
    return STATUS_OK;
  }
  gnutls_certificate_free_credentials(both);
  error_set(err, STATUS_USAGE, "the certificate '%s' and the key '%s' cannot be used: %s", certificate, key,
            gnutls_strerror(result));
  return error_fix(err, "both must be PEM, the key without a passphrase, the server's certificate first");
}

enum status tls_read(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                     struct gnutls_certificate_credentials_st **ret_credentials, struct error *err) {
  struct str text;
  struct tls tls = {0};
  if (fs_read(a, certificate, PEM_MAX, &text, err) != STATUS_OK || load_key(a, key, &tls.key, err) != STATUS_OK)
    return err->code;
  tls.certificate = arena_cstr(a, text);
  if (join_pair(&tls, certificate, key, ret_credentials, err) != STATUS_OK) {
    tls_forget(&tls);
    return err->code;
  }
  assert(*ret_credentials && tls.certificate && tls.key);
  *ret_tls = tls;
  return STATUS_OK;
}

enum status tls_load(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                     struct error *err) {
  gnutls_certificate_credentials_t both = NULL;
  enum status s = tls_read(a, certificate, key, ret_tls, &both, err);
  if (both)
    gnutls_certificate_free_credentials(both);
  return s;
}

void tls_forget(struct tls *tls) {
  if (tls->key)
    sodium_memzero(tls->key, strlen(tls->key));
  *tls = (struct tls){0};
}
