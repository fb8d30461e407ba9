/* test_tls_keeper.c: the certificate of new connections when its files change. */
#include "http/tls/keeper.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/cli.h"

static struct error err;
static struct arena memory; /* lives as long as the test */

/* The certificate in a file, as DER. */
static struct str der_of(const char *path) {
  struct str pem = file_read(path);
  gnutls_datum_t in = {(unsigned char *)(uintptr_t)pem.p, (unsigned)pem.n}, out;
  CHECK(gnutls_pem_base64_decode2("CERTIFICATE", &in, &out) >= 0);
  struct str der = arena_dup(&memory, (struct str){(const char *)out.data, out.size});
  gnutls_free(out.data);
  return der;
}

/* The certificate of a session, from a handshake in memory. */
struct pipe {
  unsigned char bytes[1 << 16];
  size_t n, at;
  gnutls_session_t to;
};

static ssize_t pipe_push(gnutls_transport_ptr_t p, const void *data, size_t n) {
  struct pipe *out = p;
  CHECK(out->n + n <= sizeof(out->bytes));
  memcpy(out->bytes + out->n, data, n);
  out->n += n;
  return (ssize_t)n;
}

static ssize_t pipe_pull(gnutls_transport_ptr_t p, void *data, size_t n) {
  struct pipe *in = p;
  size_t left = in->n - in->at, take = left < n ? left : n;
  if (take == 0) {
    gnutls_transport_set_errno(in->to, EAGAIN);
    return -1;
  }
  memcpy(data, in->bytes + in->at, take);
  in->at += take;
  return (ssize_t)take;
}

static int always_ready(gnutls_transport_ptr_t p, unsigned ms UNUSED) {
  struct pipe *in = p;
  return in->n > in->at;
}

static gnutls_session_t session_new(unsigned side, struct pipe *in, struct pipe *out) {
  gnutls_session_t s;
  CHECK_INT(gnutls_init(&s, side | GNUTLS_NONBLOCK), 0);
  CHECK_INT(gnutls_set_default_priority(s), 0);
  in->to = s;
  gnutls_transport_set_ptr2(s, in, out);
  gnutls_transport_set_push_function(s, pipe_push);
  gnutls_transport_set_pull_function(s, pipe_pull);
  gnutls_transport_set_pull_timeout_function(s, always_ready);
  return s;
}

/* Acquires a pair for a session, performs a handshake and returns the certificate. The pair stays acquired. */
static struct str shown(struct tls_keeper *k, struct tls_pair **ret_pair) {
  static struct pipe up, down;
  up.n = up.at = down.n = down.at = 0;
  gnutls_session_t server = session_new(GNUTLS_SERVER, &up, &down), client = session_new(GNUTLS_CLIENT, &down, &up);
  gnutls_certificate_credentials_t trust;
  CHECK_INT(gnutls_certificate_allocate_credentials(&trust), 0);
  CHECK_INT(gnutls_credentials_set(client, GNUTLS_CRD_CERTIFICATE, trust), 0);
  *ret_pair = tls_keeper_acquire(k, server);
  CHECK(*ret_pair);
  int of_client = GNUTLS_E_AGAIN, of_server = GNUTLS_E_AGAIN;
  for (int i = 0; i < 20 && (of_client < 0 || of_server < 0); i++) {
    if (of_client < 0)
      of_client = gnutls_handshake(client);
    if (of_server < 0)
      of_server = gnutls_handshake(server);
  }
  CHECK_INT(of_client, 0);
  CHECK_INT(of_server, 0);
  unsigned n = 0;
  const gnutls_datum_t *list = gnutls_certificate_get_peers(client, &n);
  CHECK(list && n == 1);
  struct str der = arena_dup(&memory, (struct str){(const char *)list->data, list->size});
  gnutls_deinit(client);
  gnutls_deinit(server);
  gnutls_certificate_free_credentials(trust);
  return der;
}

static void check_shows(struct tls_keeper *k, struct str wanted) {
  struct tls_pair *pair;
  CHECK(str_eq(shown(k, &pair), wanted));
  tls_keeper_release(k, pair);
}

/* As certificate renewal does: writes each file under another name, then renames it. */
static void replace(const struct certificate *c, const struct certificate *by) {
  const char *part = path_join(NULL, "part");
  file_write(part, file_read(by->path));
  CHECK_INT(rename(part, c->path), 0);
  file_write(part, file_read(by->key));
  CHECK_INT(chmod(part, 0600), 0);
  CHECK_INT(rename(part, c->key), 0);
}

static struct certificate other(const char *name) {
  return certificate_make_at(path_join(NULL, textf("%s.pem", name)), path_join(NULL, textf("%s.key", name)));
}

TEST(new_connections_get_the_renewed_certificate) {
  struct certificate c = certificate_make(), second = other("second"), third = other("third");
  struct str first_der = der_of(c.path), second_der = der_of(second.path), third_der = der_of(third.path);
  struct tls_keeper *k;
  struct tls_pair *lent, *later;
  CHECK_OK(tls_keeper_new(c.path, c.key, &k, &err), &err);
  CHECK(str_eq(shown(k, &lent), first_der));
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  replace(&c, &second);
  check_shows(k, first_der); /* before the first check */
  CHECK_INT(tls_keeper_check(k, &err), TLS_RENEWED);
  CHECK(str_eq(shown(k, &later), second_der));
  for (int i = 0; i < 3; i++)
    CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  replace(&c, &third);
  CHECK_INT(tls_keeper_check(k, &err), TLS_RENEWED);
  check_shows(k, third_der);
  /* Former pairs live as long as they are acquired and are freed afterwards, which the sanitizers check. */
  tls_keeper_release(k, lent);
  for (int i = 0; i < 3; i++)
    CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  tls_keeper_release(k, later);
  tls_keeper_free(&k);
}

TEST(an_invalid_pair_changes_nothing_and_is_reported_once) {
  struct certificate c = certificate_make(), second = other("second");
  struct str first_der = der_of(c.path), second_der = der_of(second.path);
  struct tls_keeper *k;
  CHECK_OK(tls_keeper_new(c.path, c.key, &k, &err), &err);
  /* The new certificate is in place before its key, which may still follow. */
  file_write(c.path, file_read(second.path));
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  CHECK_INT(tls_keeper_check(k, &err), TLS_BROKEN);
  CHECK(strstr(err.message, "cannot be used"));
  for (int i = 0; i < 3; i++)
    CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  check_shows(k, first_der);
  /* A different failure is reported again. */
  CHECK_INT(unlink(c.key), 0);
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  CHECK_INT(tls_keeper_check(k, &err), TLS_BROKEN);
  CHECK(strstr(err.message, "cannot open"));
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  check_shows(k, first_der);
  /* A key that others can read is refused; only its mode differs. */
  file_write(c.key, file_read(second.key));
  CHECK_INT(chmod(c.key, 0644), 0);
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  CHECK_INT(tls_keeper_check(k, &err), TLS_BROKEN);
  CHECK(strstr(err.message, "others can read"));
  check_shows(k, first_der);
  CHECK_INT(chmod(c.key, 0600), 0);
  CHECK_INT(tls_keeper_check(k, &err), TLS_RENEWED);
  check_shows(k, second_der);
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  tls_keeper_free(&k);
}

/* Checking between the two writes reports no failure. */
TEST(a_half_replaced_pair_is_not_reported) {
  struct certificate c = certificate_make(), second = other("second");
  struct tls_keeper *k;
  CHECK_OK(tls_keeper_new(c.path, c.key, &k, &err), &err);
  file_write(c.path, STR("-----BEGIN"));
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  file_write(c.path, file_read(second.path));
  CHECK_INT(tls_keeper_check(k, &err), TLS_UNCHANGED);
  file_write(c.key, file_read(second.key));
  CHECK_INT(tls_keeper_check(k, &err), TLS_RENEWED);
  check_shows(k, der_of(second.path));
  tls_keeper_free(&k);
}
