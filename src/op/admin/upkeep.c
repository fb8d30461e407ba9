/* upkeep.c: runs maintenance, embedding, sync and source refresh in the background, with an engine of the pool. */
#include "op/admin/upkeep.h"

#include "file/place.h"

static bool run(struct engine *engine, const struct caller *caller, const struct op_hooks *hooks, const char *name,
                struct str text, struct arena *a, bool *ret_ok) {
  struct error err;
  yyjson_val *args;
  yyjson_mut_val *result = NULL;
  if (json_read(a, text, &args, &err) != STATUS_OK ||
      op_run(engine, op_find(str_from(name)), caller, hooks, a, args, &result, &err) != STATUS_OK)
    return false;
  *ret_ok = true;
  return yyjson_mut_is_false(yyjson_mut_obj_get(result, "complete")) &&
         yyjson_mut_get_sint(yyjson_mut_obj_get(result, "newly_embedded")) > 0;
}

static bool step(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, const char *name,
                 struct str text, bool *ret_ok) {
  struct engine *engine;
  struct error err;
  struct arena a;
  if (pool_acquire(pool, &engine, &err) != STATUS_OK)
    return false;
  if (engine->agent[0]) { /* agents do not maintain the store */
    pool_release(pool, engine);
    return false;
  }
  jmp_buf oom;
  volatile bool more = false;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom))
    more = run(engine, caller, hooks, name, text, &a, ret_ok);
  arena_release(&a);
  pool_release(pool, engine);
  return more;
}

void upkeep_maintain(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks) {
  bool ignored;
  (void)step(pool, caller, hooks, "maintain", STR("{\"if_due\":true}"), &ignored);
}

bool upkeep_embed(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks) {
  bool ignored;
  return step(pool, caller, hooks, "reembed", STR("{\"max_ms\":200}"), &ignored);
}

bool upkeep_sync(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project) {
  struct caller of_page = *caller;
  bool ok = false;
  of_page.project = project;
  of_page.project_given = true;
  of_page.all_projects = false;
  of_page.source = STR("memory.md");
  (void)step(pool, &of_page, hooks, "sync", STR("{}"), &ok);
  return ok;
}

bool upkeep_source(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project,
                   struct str folder) {
  struct caller of_source = *caller;
  struct arena a;
  jmp_buf oom;
  volatile bool ok = false;
  of_source.project = project;
  of_source.project_given = true;
  of_source.all_projects = false;
  of_source.source = STR("sources");
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    bool done = false;
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    json_put(doc, args, "dir", folder);
    (void)step(pool, &of_source, hooks, "source refresh", json_write(&a, args, false), &done);
    ok = done;
  }
  arena_release(&a);
  return ok;
}

enum status upkeep_root(struct pool *pool, struct str team, struct arena *a, struct str *ret_root, struct error *err) {
  struct engine *engine;
  struct store_boundary oom;
  jmp_buf *outer = a->oom;
  TRY(pool_acquire(pool, &engine, err)); /* not TRY: this function sets a jump target */
  volatile enum status found = STATUS_NOMEM;
  pthread_mutex_lock(&engine->lock);
  if (!STORE_BOUNDARY(engine->store, a, oom))
    found = mirror_place_parent(engine->store, team, a, ret_root, err);
  a->oom = outer;
  pthread_mutex_unlock(&engine->lock);
  pool_release(pool, engine);
  return found == STATUS_NOMEM ? error_set(err, STATUS_NOMEM, "out of memory") : found;
}
