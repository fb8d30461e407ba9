/* place.c: server URLs without passwords, files beside a store, and its size. */
#include "store/db/place.h"

#include <assert.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/os/fs.h"

/* ---- URLs ---- */

/* Does the name of a parameter, possibly percent-encoded, equal this one? */
static bool is_named(struct str name, const char *want) {
  for (; name.n; want++) {
    size_t n = 1;
    char c = name.p[0];
    if (c == '%' && name.n > 2 && ascii_hex(name.p[1]) >= 0 && ascii_hex(name.p[2]) >= 0) {
      c = (char)(ascii_hex(name.p[1]) * 16 + ascii_hex(name.p[2]));
      n = 3;
    }
    if (c != *want || !*want)
      return false;
    name = str_slice(name, n, name.n);
  }
  return *want == 0;
}

static bool is_secret(struct str parameter) {
  struct str name = parameter;
  size_t eq = str_find(parameter, STR("="), 0);
  if (eq != SIZE_MAX)
    name.n = eq;
  return is_named(name, "password") || is_named(name, "sslpassword");
}

struct text {
  char *p;
  size_t n;
};

static void add(struct text *t, struct str s) {
  assert(t->n < PLACE_MAX);
  size_t room = PLACE_MAX - 1 - t->n, n = s.n < room ? s.n : room;
  if (n)
    memcpy(t->p + t->n, s.p, n);
  t->n += n;
  t->p[t->n] = 0;
}

/* Removes everything between the user name and the last '@': in a malformed URL, a '/' or '@' may be part of the
 * password. */
static void add_server(struct text *t, struct str s) {
  if (!s.p)
    return;
  size_t at = s.n;
  while (at > 0 && s.p[at - 1] != '@')
    at--;
  size_t colon = str_find(s, STR(":"), 0);
  if (at == 0 || colon == SIZE_MAX || colon >= at) {
    add(t, s);
    return;
  }
  add(t, str_slice(s, 0, colon));
  add(t, str_slice(s, at - 1, s.n));
}

static void add_parameters(struct text *t, struct str s) {
  struct str one;
  const char *before = "?";
  while (str_next(&s, '&', &one)) {
    if (is_secret(one))
      continue;
    add(t, str_from(before));
    add(t, one);
    before = "&";
  }
}

void place_public(const char *store, char ret_text[PLACE_MAX]) {
  struct text t = {.p = ret_text};
  struct str s = str_from(store);
  ret_text[0] = 0;
  if (!db_is_url(store)) {
    add(&t, s);
    return;
  }
  s = str_slice(s, str_find(s, STR("://"), 0) + 3, s.n);
  if (!s.p)
    return;
  /* Parameters begin after the last '@': a '?' before it can only be part of a password. */
  size_t at = s.n;
  while (at > 0 && s.p[at - 1] != '@')
    at--;
  size_t question = str_find(s, STR("?"), 0), from = str_find(s, STR("?"), at);
  if (question != SIZE_MAX && question < at && str_find(str_slice(s, 0, question), STR(":"), 0) == SIZE_MAX)
    from = question; /* there is no password before it, so the '@' is in a parameter */
  add(&t, STR("postgresql://"));
  add_server(&t, from == SIZE_MAX ? s : str_slice(s, 0, from));
  if (from != SIZE_MAX)
    add_parameters(&t, str_slice(s, from + 1, s.n));
}

/* The part of "host:port" after the colon; absent if there is none. */
static struct str port_of(struct str host) {
  size_t colon = host.n && host.p[0] == '[' ? SIZE_MAX : str_find(host, STR(":"), 0);
  return colon == SIZE_MAX ? STR_NONE : str_slice(host, colon + 1, host.n);
}

bool place_is_broken(const char *store) {
  if (!db_is_url(store))
    return false;
  const char *from = strstr(store, "://") + 3, *end = from + strcspn(from, "/?");
  struct str servers = {from, (size_t)(end - from)}, one;
  if (memchr(servers.p, '@', servers.n))
    return false;
  while (str_next(&servers, ',', &one)) {
    struct str port = port_of(one);
    if (port.p && !port.n && strchr(end, '@'))
      return true;
    for (size_t i = 0; i < port.n; i++)
      if (!ascii_digit(port.p[i]))
        return true;
  }
  return false;
}

/* ---- side files ---- */

static void state_folder(char ret_path[PLACE_MAX]) {
  struct arena a;
  jmp_buf oom;
  struct str path;
  struct error ignored;
  ret_path[0] = 0;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom) && fs_xdg(&a, XDG_STATE, "cairn/servers", &path, &ignored) == STATUS_OK &&
      fs_mkdirs(path.p, &ignored) == STATUS_OK)
    snprintf(ret_path, PLACE_MAX, "%s", path.p);
  arena_release(&a);
}

void place_side(const char *store, const char *tail, char ret_path[PLACE_MAX]) {
  enum { NAME = 16, TAIL_MAX = 64 };
  assert(strlen(tail) <= TAIL_MAX);
  if (!db_is_url(store)) {
    snprintf(ret_path, PLACE_MAX, "%.*s%.*s", PLACE_MAX - TAIL_MAX - 1, store, (int)TAIL_MAX, tail);
    return;
  }
  char address[PLACE_MAX], hash[HASH_TEXT_SIZE], folder[PLACE_MAX];
  place_public(store, address);
  hash_text(str_from(address), hash);
  state_folder(folder);
  if (!folder[0])
    ret_path[0] = 0;
  else
    snprintf(ret_path, PLACE_MAX, "%.*s/%.*s%.*s", PLACE_MAX - TAIL_MAX - NAME - 2, folder, (int)NAME, hash,
             (int)TAIL_MAX, tail);
}

/* ---- size ---- */

static int64_t size_of(const char *store, const char *tail) {
  struct stat sb;
  char path[PLACE_MAX];
  place_side(store, tail, path);
  return stat(path, &sb) == 0 ? (int64_t)sb.st_size : 0;
}

static enum status size_on_server(struct store *st, struct store_room *ret_room, struct error *err) {
  int64_t bytes;
  TRY(db_int(store_db(st), &bytes, NULL, err,
             "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) FROM pg_class c"
             " JOIN pg_namespace n ON n.oid = c.relnamespace"
             " WHERE n.nspname = current_schema() AND c.relkind = 'r'",
             NULL));
  *ret_room = (struct store_room){.bytes = bytes, .free = -1};
  return STATUS_OK;
}

enum status store_room(struct store *st, struct store_room *ret_room, struct error *err) {
  const char *path = db_path(store_db(st));
  struct statvfs fs;
  if (db_engine(store_db(st)) != DB_SQLITE)
    return size_on_server(st, ret_room, err);
  *ret_room = (struct store_room){.bytes = size_of(path, ""), .log_bytes = size_of(path, "-wal"), .free = -1};
  if (statvfs(path, &fs) == 0)
    ret_room->free = (int64_t)((uint64_t)fs.f_bavail * fs.f_frsize);
  return STATUS_OK;
}

bool store_is_file(const struct store *st, const struct stat *given) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; db_engine(store_db(st)) == DB_SQLITE && i < ARRAY_LEN(tails); i++) {
    char path[PLACE_MAX];
    struct stat own;
    place_side(db_path(store_db(st)), tails[i], path);
    if (stat(path, &own) == 0 && own.st_dev == given->st_dev && own.st_ino == given->st_ino)
      return true;
  }
  return false;
}
