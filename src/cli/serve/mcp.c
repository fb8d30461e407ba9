/* mcp.c: `cairn mcp`, the MCP server on standard input and output. */
#include <stdlib.h>
#include <unistd.h>

#include "base/os/process.h"
#include "cli/commands.h"
#include "cli/serve/confine.h"
#include "cli/serve/startup.h"

/* Concurrent calls of a client; each may open its own store handle. */
enum { ENGINES = 4 };

const struct param mcp_params[] = {
    {"profile", PARAM_TEXT, 0, NULL, "NAME", NULL, "tool profile (default: CAIRN_PROFILE, else default)"},
    SANDBOX_PARAM,
    CONFORMANCE_PARAM,
    {0},
};

struct serving {
  struct arena *a;
  struct cli_args *args;
  struct context context;
  struct mcp_options options;
  struct mcp_server *server;
  struct telemetry *telemetry;
  struct origin origin;
  struct error err;
};

/* The server's own process, not its parent: one client may start several servers, and each has its own session. */
static void find_origin(struct serving *s) {
  char cwd[4096];
  s->origin.host = process_host(s->a);
  s->origin.pid = getpid();
  if (!process_started(s->origin.pid, &s->origin.started))
    s->origin.started = 0;
  if (getcwd(cwd, sizeof(cwd)))
    s->origin.cwd = arena_dup(s->a, str_from(cwd));
}

static enum status start(struct serving *s) {
  struct mcp_options *o = &s->options;
  TRY(context_load(s->a, s->args, &s->context, &s->err));
  TRY(startup_profile(s->a, s->args, &o->profile, &s->err));
  TRY(startup_store(s->a, &s->context, &s->telemetry, &s->err));
  TRY(pool_new(&s->context.engine, (struct fair_places){.shared = ENGINES}, &o->pool, &s->err));
  TRY(feed_new(&s->context.engine, &o->feed, &s->err));
  o->conformance = args_flag(s->args->args, "conformance");
  o->one_connection = true;
  o->no_maintain = s->context.no_maintain;
  find_origin(s);
  struct confine fence = {
      .a = s->a, .args = s->args, .context = &s->context, .telemetry = s->telemetry, .at_once = true};
  TRY(confine(&fence, &s->err));
  return mcp_new(o, &s->server, &s->err);
}

int run_mcp(struct arena *a, struct cli_args *args, struct output *out) {
  struct serving s = {.a = a, .args = args};
  sigset_t signals, former;
  startup_block_signals(&signals, &former); /* the transport handles them */
  int code;
  if (start(&s) == STATUS_OK) {
    struct mcp_sender sender = {.caller = s.context.caller};
    sender.caller.origin = &s.origin;
    sender.caller.trust = STR("agent");
    if (!args_text(args->globals, "source").p && str_empty(str_from(getenv("CAIRN_SOURCE"))))
      sender.caller.source = STR_NONE; /* set to the client's name when it is known */
    code = mcp_stdio(s.server, &sender);
  } else {
    code = output_error(out, a, &s.err);
  }
  mcp_close(&s.server);
  feed_close(&s.options.feed);
  pool_close(&s.options.pool);
  telemetry_close(&s.telemetry);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  return code;
}
