/* upkeep.c: runs maintenance and embedding with an engine of the pool and memory of its own. */
#include "op/upkeep.h"

static bool run(struct engine *engine, const struct caller *caller, const struct op_hooks *hooks, const char *name,
                struct str text, struct arena *a) {
  struct error err;
  yyjson_val *args;
  yyjson_mut_val *result = NULL;
  if (json_read(a, text, &args, &err) != STATUS_OK ||
      op_run(engine, op_find(str_from(name)), caller, hooks, a, args, &result, &err) != STATUS_OK)
    return false;
  return yyjson_mut_is_false(yyjson_mut_obj_get(result, "complete")) &&
         yyjson_mut_get_sint(yyjson_mut_obj_get(result, "newly_embedded")) > 0;
}

static bool step(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, const char *name,
                 struct str text) {
  struct engine *engine;
  struct error err;
  struct arena a;
  if (pool_take(pool, &engine, &err) != STATUS_OK)
    return false;
  jmp_buf oom;
  volatile bool more = false;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom))
    more = run(engine, caller, hooks, name, text, &a);
  arena_release(&a);
  pool_give(pool, engine);
  return more;
}

void upkeep_maintain(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks) {
  (void)step(pool, caller, hooks, "maintain", STR("{\"if_due\":true}"));
}

bool upkeep_embed(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks) {
  return step(pool, caller, hooks, "reembed", STR("{\"max_ms\":200}"));
}
