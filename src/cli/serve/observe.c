/* observe.c: log location and desktop notifications of a server. */
#include "cli/serve/observe.h"

#include "base/os/fs.h"
#include "store/db/place.h"
#include "store/tables/settings.h"

enum status observe_begin(struct arena *a, struct context *context, struct telemetry **ret_telemetry,
                          struct error *err) {
  struct str folder;
  struct error ignored;
  char beside[PLACE_MAX];
  place_side(context->engine.path, ".log", beside);
  if (!context->default_store)
    folder = beside[0] ? arena_dup(a, str_from(beside)) : STR_NONE;
  else if (fs_xdg(a, XDG_STATE, "cairn/log", &folder, &ignored) != STATUS_OK)
    folder = STR_NONE;
  TRY(telemetry_new(folder.p, ret_telemetry, err));
  context->engine.telemetry = *ret_telemetry;
  return STATUS_OK;
}

void observe_notify(struct arena *a, const struct context *context, struct pool *pool, struct telemetry *telemetry) {
  struct engine *engine;
  struct setting_value value;
  struct error ignored;
  if (pool_acquire(pool, &engine, &ignored) != STATUS_OK)
    return;
  if (setting_get(engine->store, context->caller.team, SET_NOTIFY_ERRORS, a, &value, &ignored) == STATUS_OK &&
      str_is(value.value, "on"))
    telemetry_notify(telemetry);
  pool_release(pool, engine);
}
