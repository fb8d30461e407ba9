/* engine.c: opening and closing an engine. */
#include "op/run/engine.h"

#include <sodium.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "op/access/roles.h"
#include "op/embedding/embedding.h"
#include "op/run/reply_cache.h"
#include "op/run/scrub.h"
#include "op/run/vault_values.h"
#include "op/telemetry/telemetry.h"
#include "op/vault/key.h"

enum status engine_default_path(struct arena *a, struct str *ret_path, struct error *err) {
  return fs_xdg(a, XDG_DATA, "cairn/cairn.db", ret_path, err);
}

enum status engine_open(const struct engine_options *o, struct engine **ret_engine, struct error *err) {
  struct engine *e = mem_zalloc(sizeof(*e));
  if (!e)
    return error_set(err, STATUS_NOMEM, "out of memory");
  if (sodium_init() < 0) { /* for random ids; thread-safe and idempotent */
    mem_free(e);
    return error_set(err, STATUS_INTERNAL, "the system's random number generator is not available");
  }
  e->clock = o->clock;
  e->telemetry = o->telemetry;
  e->settings = o->settings;
  e->writes = o->writes ? o->writes : &e->own_writes;
  e->refusals = o->refusals;
  memcpy(e->agent, o->agent, sizeof(e->agent));
  e->agent[sizeof(e->agent) - 1] = 0;
  e->record_calls = o->record_calls || o->telemetry;
  pthread_mutex_init(&e->lock, NULL);
  struct store_options so = {.path = o->path,
                             .busy_ms = o->busy_ms,
                             .must_exist = o->must_exist,
                             .now = clock_now(&o->clock),
                             .settings = o->settings};
  enum status s = o->path ? store_open(&so, &e->store, err) : STATUS_OK;
  if (s != STATUS_OK) {
    engine_close(&e);
    return s;
  }
  roles_reset(e);
  telemetry_watch(e->telemetry, e);
  *ret_engine = e;
  return STATUS_OK;
}

void engine_close(struct engine **engine) {
  struct engine *e = *engine;
  if (!e)
    return;
  telemetry_unwatch(e->telemetry, e);
  store_close(&e->store);
  pooled_free(&e->embedders);
  reply_cache_free(&e->replies);
  scrubber_free(&e->scrubber);
  secrets_free(&e->secrets);
  key_ring_free(&e->keys);
  refusal_limit_free(&e->own_refusals);
  pthread_mutex_destroy(&e->lock);
  mem_free(e);
  *engine = NULL;
}

enum status engine_lock_team(struct engine *engine, struct str team, struct error *err) {
  pthread_mutex_lock(&engine->lock);
  if (!engine->store)
    return error_set(err, STATUS_DENIED, "no store is open, so the caller cannot be looked up");
  return db_team(store_db(engine->store), team, err);
}

enum status engine_unlock_team(struct engine *engine, enum status s, struct error *err) {
  struct error last;
  if (engine->store && db_team(store_db(engine->store), STR_NONE, &last) != STATUS_OK && s == STATUS_OK) {
    *err = last;
    s = last.code;
  }
  pthread_mutex_unlock(&engine->lock);
  return s;
}
