/* startup.c: signals, profile, store folder, log location and desktop notifications of a server. */
#include "cli/serve/startup.h"

#include <stdlib.h>

#include "base/os/fs.h"
#include "store/db/place.h"
#include "store/tables/settings.h"

enum { SHOWN_NAME_BYTES = 60 };

void startup_block_signals(sigset_t *ret_signals, sigset_t *ret_former) {
  sigemptyset(ret_signals);
  sigaddset(ret_signals, SIGINT);
  sigaddset(ret_signals, SIGTERM);
  sigaddset(ret_signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, ret_signals, ret_former);
}

enum status startup_profile(struct arena *a, const struct cli_args *args, const struct profile **ret_profile,
                            struct error *err) {
  struct str name = args_text(args->args, "profile");
  if (!name.p)
    name = str_from(getenv("CAIRN_PROFILE"));
  *ret_profile = str_empty(name) ? profiles[0] : profile_find(name);
  if (*ret_profile)
    return STATUS_OK;
  struct buf names = BUF(a);
  for (const struct profile *const *p = profiles; *p; p++)
    buf_addf(&names, "%s%s", names.n ? ", " : "", (*p)->name);
  name.n = name.n > SHOWN_NAME_BYTES ? SHOWN_NAME_BYTES : name.n;
  error_set(err, STATUS_USAGE, "there is no profile '%.*s'", STR_ARG(name));
  return error_fix(err, "one of: %s", buf_str(&names).p);
}

enum status startup_store(struct arena *a, struct context *context, struct telemetry **ret_telemetry,
                          struct error *err) {
  struct str folder;
  struct error ignored;
  char beside[PLACE_MAX];
  if (context->default_store && fs_mkdirs(arena_cstr(a, fs_dirname(str_from(context->engine.path))), err) != STATUS_OK)
    return error_fix(err, "set another store with --db FILE or CAIRN_DB");
  place_side(context->engine.path, ".log", beside);
  if (!context->default_store)
    folder = beside[0] ? arena_dup(a, str_from(beside)) : STR_NONE;
  else if (fs_xdg(a, XDG_STATE, "cairn/log", &folder, &ignored) != STATUS_OK)
    folder = STR_NONE;
  TRY(telemetry_new(folder.p, ret_telemetry, err));
  context->engine.telemetry = *ret_telemetry;
  return STATUS_OK;
}

void startup_notify(struct arena *a, const struct context *context, struct pool *pool, struct telemetry *telemetry) {
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
