/* fuzz_store.c: a damaged store, or any bytes as a store: it is rejected with a message or read, without a crash.
 *
 * An input is a list of changes, five bytes each: an offset (four bytes, little endian) and the new byte. An input
 * that begins with "SQLite format 3" is the whole file. */
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "op/op.h"
#include "support/fuzz.h"

enum { WOUND = 5, FILE_MAX_BYTES = 4 << 20 };

static const struct engine_options *options_of(struct engine_options *o, const char *path) {
  *o = (struct engine_options){.path = path, .clock = {.fixed = 1763208000000}, .busy_ms = 1};
  return o;
}

static void call(struct engine *e, struct arena *a, const char *name, const char *args) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("fuzz"), .trust = STR("user")};
  struct error err = {0};
  yyjson_val *v = NULL;
  yyjson_mut_val *result;
  FUZZ_CHECK(json_read(a, str_from(args), &v, &err) == STATUS_OK);
  enum status s = op_run(e, op_find(str_from(name)), &caller, NULL, a, v, &result, &err);
  FUZZ_CHECK(s == STATUS_OK || err.message[0]);
}

static void remove_store(struct arena *a, const char *path) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < ARRAY_LEN(tails); i++)
    unlink(arena_printf(a, "%s%s", path, tails[i]).p);
}

/* The bytes of a small store that uses most tables, made once. */
static struct str whole_store(const char *path) {
  static struct arena kept;
  static struct str bytes;
  struct arena own, *a = &own;
  struct engine_options o;
  struct engine *e;
  struct error err;
  if (bytes.p)
    return bytes;
  arena_init(a);
  remove_store(a, path);
  FUZZ_CHECK(engine_open(options_of(&o, path), &e, &err) == STATUS_OK);
  call(e, a, "remember", "{\"text\":\"The build machine has 64 cores\",\"tags\":[\"build\"]}");
  call(e, a, "remember", "{\"text\":\"Never deploy on a Friday\",\"kind\":\"rule\",\"severity\":\"blocker\"}");
  call(e, a, "task add", "{\"text\":\"Renew the certificate of the mail server\"}");
  call(e, a, "vault set", "{\"key\":\"runs\",\"value\":\"7\"}");
  engine_close(&e);
  arena_release(a); /* the vault's locked memory is invisible to the leak checker */
  FUZZ_CHECK(fs_read(&kept, path, FILE_MAX_BYTES, &bytes, &err) == STATUS_OK);
  return bytes;
}

static struct str wounded(struct arena *a, struct str whole, const uint8_t *data, size_t size) {
  struct str given = {(const char *)data, size}, copy = arena_dup(a, whole);
  char *bytes = (char *)(uintptr_t)copy.p;
  if (str_starts(given, STR("SQLite format 3")))
    return given;
  for (size_t i = 0; i + WOUND <= size; i += WOUND) {
    size_t at = data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16 | (size_t)data[i + 3] << 24;
    bytes[at % copy.n] = (char)data[i + 4];
  }
  return copy;
}

static void use(struct arena *a, const char *path) {
  struct engine_options o;
  struct engine *e;
  struct error err = {0};
  if (engine_open(options_of(&o, path), &e, &err) != STATUS_OK) {
    FUZZ_CHECK(err.message[0]);
    return;
  }
  call(e, a, "boot", "{}");
  call(e, a, "list", "{\"detail\":\"full\"}");
  call(e, a, "search", "{\"query\":\"build machine\"}");
  call(e, a, "get", "{\"id\":\"1\"}");
  call(e, a, "history", "{\"id\":\"2\"}");
  call(e, a, "task ready", "{}");
  call(e, a, "vault list", "{}");
  call(e, a, "doctor", "{}");
  call(e, a, "remember", "{\"text\":\"The office has a garden\"}");
  engine_close(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct error err;
  arena_init(&a);
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  const char *path = arena_printf(&a, "/tmp/cairn-fuzz-store-%d.db", (int)getpid()).p;
  struct str bytes = wounded(&a, whole_store(path), data, size);
  remove_store(&a, path);
  FUZZ_CHECK(fs_write(path, bytes, 0600, &err) == STATUS_OK);
  use(&a, path);
  remove_store(&a, path);
  arena_release(&a);
  return 0;
}
