/* oauth.c: loads an issuer's keys, verifies its tokens, and writes the resource metadata. */
#include "http/access/oauth.h"

#include <assert.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "http/access/jwt.h"

enum { JWKS_BYTES = 1 << 20 };

/* One version of the file. */
struct keys {
  struct arena arena;
  struct jwks set;
};

struct oauth {
  struct oauth_options options;
  pthread_rwlock_t lock; /* for the members below */
  struct stat seen;      /* state of the file when it was last read */
  struct keys *keys;
};

/* ---- keys ---- */

static void keys_free(struct keys *k) {
  if (k)
    arena_release(&k->arena);
  mem_free(k);
}

static enum status keys_load(const char *path, struct keys **ret_keys, struct error *err) {
  struct keys *k = mem_zalloc(sizeof(*k));
  if (!k)
    return error_set(err, STATUS_NOMEM, "out of memory");
  arena_init(&k->arena);
  jmp_buf oom;
  enum status s; /* set after each return of setjmp(): a jump would leave it undefined, or at what fs_read() returned */
  struct str text;
  if (ARENA_BOUNDARY(&k->arena, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    s = fs_read(&k->arena, path, JWKS_BYTES, &text, err);
    if (s == STATUS_OK)
      s = jwks_read(&k->arena, text, &k->set, err);
  }
  k->arena.oom = NULL;
  if (s == STATUS_OK)
    *ret_keys = k;
  else
    keys_free(k);
  return s;
}

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* If the file is missing or holds no keys, the previous keys stay in force: an editor that is saving it must not lock
 * everyone out. Without memory to read it, the next call tries again. */
static void refresh(struct oauth *o) {
  struct stat now;
  struct keys *keys = NULL;
  struct error ignored;
  pthread_rwlock_rdlock(&o->lock);
  bool same = stat(o->options.jwks, &now) != 0 || is_same(&now, &o->seen);
  pthread_rwlock_unlock(&o->lock);
  if (same)
    return;
  enum status s = keys_load(o->options.jwks, &keys, &ignored);
  pthread_rwlock_wrlock(&o->lock);
  if (s != STATUS_NOMEM)
    o->seen = now;
  if (s == STATUS_OK) {
    struct keys *old = o->keys;
    o->keys = keys;
    keys = old;
  }
  pthread_rwlock_unlock(&o->lock);
  keys_free(keys);
}

/* ---- life ---- */

enum status oauth_new(const struct oauth_options *options, struct oauth **ret_oauth, struct error *err) {
  assert(options->issuer && options->audience && options->jwks);
  struct oauth *o = mem_zalloc(sizeof(*o));
  if (!o)
    return error_set(err, STATUS_NOMEM, "out of memory");
  o->options = *options;
  pthread_rwlock_init(&o->lock, NULL);
  (void)!stat(options->jwks, &o->seen);
  if (keys_load(options->jwks, &o->keys, err) != STATUS_OK) {
    oauth_free(&o);
    return err->code;
  }
  *ret_oauth = o;
  return STATUS_OK;
}

void oauth_free(struct oauth **oauth) {
  struct oauth *o = *oauth;
  if (!o)
    return;
  keys_free(o->keys);
  pthread_rwlock_destroy(&o->lock);
  mem_free(o);
  *oauth = NULL;
}

/* ---- tokens ---- */

enum status oauth_identify(struct oauth *o, struct str token, int64_t now, struct arena *a,
                           struct principal *ret_principal, struct error *err) {
  struct jwt_rules rules = {
      .issuer = str_from(o->options.issuer), .audience = str_from(o->options.audience), .now = now};
  refresh(o);
  jmp_buf *outer = a->oom, oom;
  yyjson_val *volatile claims = NULL;
  volatile bool done = false;
  const char *why = NULL;
  pthread_rwlock_rdlock(&o->lock);
  assert(o->keys && o->keys->set.n > 0); /* a file without keys replaces nothing */
  if (!ARENA_BOUNDARY(a, oom)) {
    claims = jwt_read(a, &o->keys->set, &rules, token, &why);
    done = true;
  }
  a->oom = outer;
  pthread_rwlock_unlock(&o->lock);
  if (!done)
    return error_set(err, STATUS_NOMEM, "out of memory");
  if (!claims)
    return error_set(err, STATUS_UNKNOWN_CALLER, "%s", why);
  struct principal p;
  if (oauth_principal(a, claims, str_from(o->options.claim_prefix), &p, err) != STATUS_OK)
    return err->code;
  /* Includes the leeway: if a stream ended earlier, the client would reopen it at once. */
  p.expires_at = ((int64_t)json_num(claims, "exp", 0) + JWT_LEEWAY) * MS_PER_SECOND;
  *ret_principal = p;
  return STATUS_OK;
}

/* ---- metadata ---- */

/* Inserted between host and path of the resource (RFC 9728, section 3). */
struct str oauth_metadata_url(const struct oauth *o, struct arena *a) {
  const char *all = o->options.audience, *host = strstr(all, "//"), *path = host ? strchr(host + 2, '/') : NULL;
  size_t n = path ? (size_t)(path - all) : strlen(all);
  return arena_printf(a, "%.*s" OAUTH_METADATA "%s", (int)n, all, path && path[1] ? path : "");
}

struct str oauth_metadata(const struct oauth *o, struct arena *a) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put(doc, root, "resource", str_from(o->options.audience));
  json_add_str(doc, json_put_arr(doc, root, "authorization_servers"), str_from(o->options.issuer));
  yyjson_mut_val *scopes = json_put_arr(doc, root, "scopes_supported");
  struct str rest = STR(OAUTH_SCOPES), scope;
  while (str_next(&rest, ' ', &scope))
    json_add_str(doc, scopes, scope);
  json_add_str(doc, json_put_arr(doc, root, "bearer_methods_supported"), STR("header"));
  json_put(doc, root, "resource_name", STR("Cairn"));
  return json_write(a, root, false);
}
