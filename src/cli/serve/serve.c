/* serve.c: `cairn serve`, the HTTP server. */
#include <assert.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/serve/access.h"
#include "cli/serve/confine.h"
#include "cli/serve/startup.h"
#include "http/background/idle.h"
#include "http/background/mirror_watch.h"
#include "http/background/source_watch.h"
#include "http/mcp/channel.h"
#include "http/server/uri.h"
#include "http/tls/watch.h"
#include "store/db/place.h"

enum { PORT_MAX = 65535, DRAIN_MS = 10000 };

const struct param serve_params[] = {
    {"port", PARAM_INT, 0, NULL, "N", NULL, "port to listen on (default 7733; 0: any free port)"},
    {"host", PARAM_TEXT, 0, NULL, "ADDRESS", NULL,
     "address to listen on (default 127.0.0.1); others require TLS or a proxy, and tokens"},
    {"socket", PARAM_TEXT, PARAM_PATH, NULL, "PATH", NULL,
     "listen on this Unix socket instead, accessible only to this user"},
    {"profile", PARAM_TEXT, 0, NULL, "NAME", NULL,
     "tool profile at /mcp, others are at /mcp/NAME (default: CAIRN_PROFILE, else default)"},
    {"tls_cert", PARAM_TEXT, PARAM_PATH, NULL, "FILE", NULL, "TLS certificate (PEM)"},
    {"tls_key", PARAM_TEXT, PARAM_PATH, NULL, "FILE", NULL, "its private key (PEM), readable only by this user"},
    {"behind_proxy", PARAM_BOOL, 0, NULL, NULL, NULL,
     "a proxy terminates TLS: no client is local, and the last X-Forwarded-For address is the client"},
    {"allow_host", PARAM_LIST, 0, NULL, "NAME", NULL,
     "host name that clients may use, besides the address; may be repeated"},
    {"require_token", PARAM_BOOL, 0, NULL, NULL, NULL, "require a token from local clients too"},
    SANDBOX_PARAM,
    CONFORMANCE_PARAM,
    {0},
};

struct serving {
  struct arena *a;
  struct cli_args *args;
  struct output *out;
  struct context context;
  struct http_options options;
  struct access access;
  const struct profile *profile;
  struct str here; /* project of the working directory, or the one given */
  struct http_daemon *daemon;
  struct idle *idle;
  struct mirror_watch *mirror;
  struct tls_watch *tls;
  struct source_watch *sources;
  struct error err;
};

/* ---- options ---- */

/* The working directory of a server is unrelated to its callers' projects; only the printed address names it. */
static void set_caller(struct serving *s) {
  struct caller *c = &s->context.caller;
  s->here = c->project;
  const char *named = getenv("CAIRN_PROJECT");
  if (!c->project_given && !(named && named[0]))
    c->project = STR("");
  if (!args_text(s->args->globals, "source").p && !getenv("CAIRN_SOURCE"))
    c->source = STR_NONE; /* each interface sets its own */
  c->trust = STR("agent");
}

static enum status read_options(struct serving *s) {
  yyjson_mut_val *args = s->args->args, *port = yyjson_mut_obj_get(args, "port");
  struct str host = args_text(args, "host"), socket = args_text(args, "socket");
  int64_t number = port ? yyjson_mut_get_sint(port) : HTTP_PORT;
  if (number < 0 || number > PORT_MAX) {
    error_set(&s->err, STATUS_USAGE, "a port must be 0 to %d", (int)PORT_MAX);
    return error_fix(&s->err, "--port %d", (int)HTTP_PORT);
  }
  if (socket.p && (port || host.p)) {
    error_set(&s->err, STATUS_USAGE, "--socket cannot be combined with --host and --port");
    return error_fix(&s->err, "use one or the other");
  }
  s->options.port = (int)number;
  s->options.host = host.p ? arena_cstr(s->a, host) : NULL;
  s->options.socket = socket.p ? arena_cstr(s->a, socket) : NULL;
  TRY(context_load(s->a, s->args, &s->context, &s->err));
  set_caller(s);
  TRY(startup_profile(s->a, s->args, &s->profile, &s->err));
  return access_options(s->a, s->args, &s->access, &s->options, &s->err);
}

/* ---- parts ---- */

/* Opens the store once at start, so a wrong path fails now and not in the first call. */
static enum status open_store(struct serving *s) {
  struct engine_options *options = &s->context.engine;
  struct http_server *shared = &s->options.shared;
  struct engine *engine;
  TRY(startup_store(s->a, &s->context, &shared->telemetry, &s->err));
  TRY(pool_new(options, (struct fair_places){http_engines(), FAIR_RESERVED}, &shared->pool, &s->err));
  TRY(pool_acquire(shared->pool, &engine, &s->err));
  int64_t missing = store_missing(engine->store);
  pool_release(shared->pool, engine);
  output_loss(missing);
  startup_notify(s->a, &s->context, shared->pool, shared->telemetry);
  return feed_new(options, &shared->feed, &s->err);
}

static void print_on_stderr(const char *line) { fprintf(stderr, "cairn: %s\n", line); }

/* Runs after the socket is open and before any thread. */
static enum status enter_sandbox(void *arg, struct error *err) {
  struct serving *s = arg;
  struct confine fence = {.a = s->a,
                          .args = s->args,
                          .context = &s->context,
                          .telemetry = s->options.shared.telemetry,
                          .socket = s->options.socket,
                          .tls_cert = s->access.tls_cert,
                          .tls_key = s->access.tls_key};
  return confine(&fence, err);
}

static enum status start(struct serving *s) {
  struct http_server *shared = &s->options.shared;
  assert(s->profile && !s->daemon);
  TRY(open_store(s));
  TRY(access_open(s->a, &s->context, &s->access, &s->options, &s->err));
  struct mcp_options mcp = {.pool = shared->pool,
                            .feed = shared->feed,
                            .profile = s->profile,
                            .conformance = args_flag(s->args->args, "conformance")};
  TRY(mcp_new(&mcp, &shared->mcp, &s->err));
  TRY(mcp_hub_new(shared->mcp, &shared->hub, &s->err));
  shared->caller = s->context.caller;
  shared->bound = s->context.engine.agent[0] != 0;
  shared->started = clock_now(&s->context.engine.clock);
  s->options.listening = enter_sandbox;
  s->options.arg = s;
  enum status started = http_start(&s->options, &s->daemon, &s->err);
  tls_forget(&s->options.tls);
  if (started != STATUS_OK)
    return started;
  if (s->options.keeper)
    TRY(tls_watch_start(shared, s->options.keeper, print_on_stderr, &s->tls, &s->err));
  /* Pages and sources belong to the administrator: a server bound to an agent does not touch them. */
  if (!shared->bound) {
    TRY(mirror_watch_start(shared, &s->mirror, &s->err));
    TRY(source_watch_start(shared, &s->sources, &s->err));
  }
  return s->context.no_maintain ? STATUS_OK : idle_start(s->daemon, &s->idle, &s->err);
}

/* Stops calls first, then event streams, then the store. */
static void stop(struct serving *s) {
  struct http_server *shared = &s->options.shared;
  tls_watch_stop(&s->tls);
  mirror_watch_stop(&s->mirror);
  source_watch_stop(&s->sources);
  idle_stop(&s->idle);
  if (s->daemon)
    http_drain(s->daemon, DRAIN_MS);
  if (shared->mcp)
    mcp_stop(shared->mcp);
  http_stop(&s->daemon);
  mcp_close(&shared->mcp);
  mcp_hub_free(&shared->hub);
  feed_close(&shared->feed);
  access_close(&s->access, &s->options);
  pool_close(&shared->pool);
  telemetry_close(&shared->telemetry);
}

/* ---- output ---- */

/* URL of MCP as a client would use it: with an allowed name if the server listens on all addresses or behind a proxy,
 * and with the project. */
static struct str client_url(struct serving *s) {
  struct buf b = BUF(s->a);
  buf_add(&b, access_url(s->a, &s->access, http_address(s->daemon)));
  buf_adds(&b, "/mcp");
  if (!str_empty(s->here)) {
    buf_adds(&b, "?project=");
    uri_encode(&b, s->here);
  }
  return buf_str(&b);
}

static void print_address(struct serving *s) {
  const char *address = http_address(s->daemon);
  char store[PLACE_MAX];
  place_public(pool_path(s->options.shared.pool), store);
  struct buf b = BUF(s->a);
  if (s->out->json) {
    yyjson_mut_doc *doc = json_new(s->a);
    yyjson_mut_val *obj = yyjson_mut_obj(doc);
    json_put(doc, obj, s->options.socket ? "socket" : "address", str_from(address));
    json_put(doc, obj, "store", str_from(store));
    if (!s->options.socket)
      json_put(doc, obj, "mcp", client_url(s));
    struct strs accepts = access_kinds(s->a, &s->access);
    json_put_strs(doc, obj, "accepts", &accepts);
    json_put(doc, obj, "sandbox", str_from(telemetry_sandbox(s->options.shared.telemetry)));
    output_json_text(s->out, s->a, json_write(s->a, obj, false));
  } else if (s->options.socket) {
    buf_addf(&b, "listening on %s\ntry: curl --unix-socket %s http://localhost/readyz\n", address, address);
  } else {
    const char *token = s->access.require_token || s->access.foreign ? " --header \"Authorization: Bearer TOKEN\"" : "";
    buf_addf(&b, "listening on %s\nconnect: claude mcp add --transport http cairn '%.*s'%s\n", address,
             STR_ARG(client_url(s)), token);
  }
  if (!s->out->json)
    buf_addf(&b, "auth: %.*s\nsandbox: %s\n", STR_ARG(access_summary(s->a, &s->access)),
             telemetry_sandbox(s->options.shared.telemetry));
  output_text(s->out, buf_str(&b));
  output_flush(s->out);
}

static void wait_for_signal(const sigset_t *signals) {
  int number;
  while (sigwait(signals, &number) != 0)
    continue;
}

int run_serve(struct arena *a, struct cli_args *args, struct output *out) {
  struct serving s = {.a = a, .args = args, .out = out};
  sigset_t signals, old;
  startup_block_signals(&signals, &old); /* only this thread receives them */
  int code = 0;
  if (read_options(&s) == STATUS_OK && start(&s) == STATUS_OK) {
    print_address(&s);
    wait_for_signal(&signals);
  } else {
    code = output_error(out, a, &s.err);
  }
  stop(&s);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return code;
}
