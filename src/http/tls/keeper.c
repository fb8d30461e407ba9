/* keeper.c: the current certificate, and former ones until their connections are closed. */
#include "http/tls/keeper.h"

#include <assert.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "http/tls/tls.h"

struct tls_pair {
  struct tls_pair *next; /* in the list of former ones */
  gnutls_certificate_credentials_t credentials;
  int refs;  /* connections */
  bool idle; /* unreferenced at the last check, so the library has released its sessions, too */
};

/* State of both files. */
struct files {
  struct stat certificate, key; /* zero: missing */
};

struct tls_keeper {
  const char *certificate, *key;
  pthread_mutex_t lock; /* guards pairs and reference counts */
  struct tls_pair *present, *former;
  /* Used only by tls_keeper_check(). */
  struct files loaded, tried;
  bool reported; /* the failure of `tried` was reported */
};

/* ---- pairs ---- */

static void pair_free(struct tls_pair *p) {
  assert(p->refs == 0);
  gnutls_certificate_free_credentials(p->credentials);
  mem_free(p);
}

static enum status pair_load(const struct tls_keeper *k, struct tls_pair **ret_pair, struct error *err) {
  struct tls_pair *p = mem_zalloc(sizeof(*p));
  struct tls text = {0};
  struct arena a;
  jmp_buf oom;
  if (!p)
    return error_set(err, STATUS_NOMEM, "out of memory");
  arena_init(&a);
  volatile enum status s = STATUS_NOMEM;
  if (ARENA_BOUNDARY(&a, oom))
    error_set(err, STATUS_NOMEM, "out of memory");
  else
    s = tls_read(&a, k->certificate, k->key, &text, &p->credentials, err);
  tls_forget(&text);
  arena_release(&a);
  assert(s != STATUS_OK || p->credentials);
  if (s == STATUS_OK)
    *ret_pair = p;
  else
    mem_free(p);
  return s;
}

/* ---- files ---- */

static bool is_same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mode == b->st_mode &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
         a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool is_same(const struct files *a, const struct files *b) {
  return is_same_file(&a->certificate, &b->certificate) && is_same_file(&a->key, &b->key);
}

static struct files stat_files(const struct tls_keeper *k) {
  struct files f = {0};
  if (stat(k->certificate, &f.certificate) != 0)
    f.certificate = (struct stat){0};
  if (stat(k->key, &f.key) != 0)
    f.key = (struct stat){0};
  return f;
}

/* ---- life ---- */

enum status tls_keeper_new(const char *certificate, const char *key, struct tls_keeper **ret_keeper,
                           struct error *err) {
  struct tls_keeper *k = mem_zalloc(sizeof(*k));
  if (!k)
    return error_set(err, STATUS_NOMEM, "out of memory");
  k->certificate = certificate;
  k->key = key;
  k->loaded = stat_files(k);
  enum status s = pair_load(k, &k->present, err);
  if (s != STATUS_OK) {
    mem_free(k);
    return s;
  }
  pthread_mutex_init(&k->lock, NULL);
  *ret_keeper = k;
  return STATUS_OK;
}

void tls_keeper_free(struct tls_keeper **keeper) {
  struct tls_keeper *k = *keeper;
  if (!k)
    return;
  pair_free(k->present);
  while (k->former) {
    struct tls_pair *p = k->former;
    k->former = p->next;
    pair_free(p);
  }
  pthread_mutex_destroy(&k->lock);
  mem_free(k);
  *keeper = NULL;
}

/* ---- connections ---- */

struct tls_pair *tls_keeper_acquire(struct tls_keeper *k, void *session) {
  pthread_mutex_lock(&k->lock);
  struct tls_pair *p = k->present;
  if (session && gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, p->credentials) >= 0)
    p->refs++;
  else
    p = NULL;
  pthread_mutex_unlock(&k->lock);
  return p;
}

void tls_keeper_release(struct tls_keeper *k, struct tls_pair *pair) {
  if (!pair)
    return;
  pthread_mutex_lock(&k->lock);
  assert(pair->refs > 0);
  pair->refs--;
  pthread_mutex_unlock(&k->lock);
}

/* ---- checking ---- */

static void replace(struct tls_keeper *k, struct tls_pair *p) {
  pthread_mutex_lock(&k->lock);
  assert(k->present && k->present != p && !p->next);
  k->present->next = k->former;
  k->former = k->present;
  k->present = p;
  pthread_mutex_unlock(&k->lock);
}

/* A session may outlive the notification that its connection closed, but not until the next check. */
static void free_unused(struct tls_keeper *k) {
  pthread_mutex_lock(&k->lock);
  for (struct tls_pair **at = &k->former; *at;) {
    struct tls_pair *p = *at;
    bool unused = p->refs == 0, gone = unused && p->idle;
    p->idle = unused;
    if (gone) {
      *at = p->next;
      pair_free(p);
    } else {
      at = &p->next;
    }
  }
  pthread_mutex_unlock(&k->lock);
}

enum tls_change tls_keeper_check(struct tls_keeper *k, struct error *err) {
  struct files now = stat_files(k);
  struct tls_pair *p;
  free_unused(k);
  if (is_same(&now, &k->loaded)) {
    k->tried = now;
    k->reported = false;
    return TLS_UNCHANGED;
  }
  bool settled = is_same(&now, &k->tried);
  if (settled && k->reported)
    return TLS_UNCHANGED;
  k->tried = now;
  if (pair_load(k, &p, err) == STATUS_OK) {
    replace(k, p);
    k->loaded = now;
    k->reported = false;
    return TLS_RENEWED;
  }
  k->reported = settled;
  return settled ? TLS_BROKEN : TLS_UNCHANGED;
}
