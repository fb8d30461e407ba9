/* access.c: hosts, TLS, tokens, limits and issuer of `cairn serve`. */
#include "cli/serve/access.h"

#include <assert.h>

#include "http/access/check.h"
#include "http/tls/keeper.h"
#include "store/tables/settings.h"
#include "store/tables/tokens.h"

/* ---- options ---- */

static const char *path_of(struct arena *a, const struct cli_args *args, const char *name) {
  struct str path = args_text(args->args, name);
  return path.p ? arena_cstr(a, path) : NULL;
}

static enum status read_tls(struct arena *a, const struct cli_args *args, struct access *access,
                            struct http_options *options, struct error *err) {
  const char *certificate = path_of(a, args, "tls_cert"), *key = path_of(a, args, "tls_key");
  if (!certificate && !key)
    return STATUS_OK;
  if (!certificate || !key || options->socket) {
    error_set(err, STATUS_USAGE, "--tls-cert and --tls-key must be used together, and with a port");
    return error_fix(err, "--tls-cert FILE --tls-key FILE, without --socket");
  }
  TRY(tls_load(a, certificate, key, &options->tls, err));
  access->tls_cert = certificate;
  access->tls_key = key;
  return tls_keeper_new(certificate, key, &options->keeper, err);
}

static bool is_wildcard(struct str host) {
  return str_is(host, "0.0.0.0") || str_is(host, "::") || str_is(host, "[::]");
}

/* An address that other machines can reach. */
static bool is_foreign(const struct http_options *options) {
  return options->host && !check_loopback(str_from(options->host));
}

/* An address as it appears in a Host header. */
static struct str header_name(struct arena *a, struct str host) {
  assert(host.n > 0);
  bool bare = memchr(host.p, ':', host.n) && host.p[0] != '[';
  return bare ? arena_printf(a, "[%.*s]", STR_ARG(host)) : host;
}

/* Without an accepted name, all clients would be refused. */
static enum status read_hosts(struct arena *a, const struct cli_args *args, struct access *access,
                              struct http_options *options, struct error *err) {
  struct strs *hosts = &options->shared.hosts;
  struct str host = str_from(options->host);
  yyjson_mut_val *list = yyjson_mut_obj_get(args->args, "allow_host"), *one;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, one) {
    struct str name = {yyjson_mut_get_str(one), yyjson_mut_get_len(one)};
    if (!check_name(name)) {
      error_set(err, STATUS_USAGE, "'%.*s' is not a host name", STR_ARG(name));
      return error_fix(err, "--allow-host memory.example.org, without scheme and port");
    }
    strs_push(a, hosts, name);
  }
  access->name = hosts->n ? hosts->v[0] : STR_NONE;
  if (is_foreign(options) && !is_wildcard(host))
    strs_push(a, hosts, header_name(a, host));
  if (options->exposed && is_wildcard(host) && hosts->n == 0) {
    error_set(err, STATUS_USAGE, "listening on all addresses requires --allow-host");
    return error_fix(err, "--allow-host NAME, for each name or address that clients use");
  }
  return STATUS_OK;
}

enum status access_options(struct arena *a, const struct cli_args *args, struct access *access,
                           struct http_options *options, struct error *err) {
  access->require_token = args_flag(args->args, "require_token");
  access->behind_proxy = args_flag(args->args, "behind_proxy");
  TRY(read_tls(a, args, access, options, err));
  options->exposed = options->tls.key || access->behind_proxy;
  access->socket = options->socket != NULL;
  access->foreign = is_foreign(options);
  /* A local client that uses the public address connects from that address. */
  access->wildcard = is_wildcard(str_from(options->host));
  access->require_token |= access->foreign && !access->wildcard;
  TRY(http_check_host(options, err));
  return read_hosts(a, args, access, options, err);
}

/* ---- settings ---- */

#define FIRST SET_SERVE_REQUIRE_TOKEN
#define LAST SET_OAUTH_CLAIM_PREFIX

static const struct setting_value *of(const struct setting_value *v, enum setting_id id) {
  assert(id >= FIRST && id <= LAST);
  return &v[(int)id - (int)FIRST];
}

static enum status open_issuer(struct arena *a, const struct setting_value *v, struct access *access,
                               struct error *err) {
  struct oauth_options o = {.issuer = arena_cstr(a, of(v, SET_OAUTH_ISSUER)->value),
                            .audience = arena_cstr(a, of(v, SET_OAUTH_AUDIENCE)->value),
                            .jwks = arena_cstr(a, of(v, SET_OAUTH_JWKS)->value),
                            .claim_prefix = arena_cstr(a, of(v, SET_OAUTH_CLAIM_PREFIX)->value)};
  if (!o.issuer[0] && !o.audience[0] && !o.jwks[0])
    return STATUS_OK;
  if (!o.issuer[0] || !o.audience[0] || !o.jwks[0]) {
    error_set(err, STATUS_USAGE, "oauth.issuer, oauth.audience and oauth.jwks must be set together");
    return error_fix(err, "set all three or none");
  }
  access->issuer = o.issuer;
  return oauth_new(&o, &access->oauth, err);
}

/* A server for remote clients without any token is a mistake. */
static enum status check_tokens(struct engine *engine, struct str team, struct error *err) {
  bool any = false;
  TRY(tokens_exist(engine->store, clock_now(&engine->clock), &any, err));
  TRY(db_team(store_db(engine->store), team, err));
  if (any)
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "the store has no token, so remote clients could not use the server");
  return error_fix(err, "cairn token add NAME");
}

/* A process bound to an agent accepts no tokens, so clients that need one cannot use it. */
static enum status check_bound(const struct access *access, struct error *err) {
  if (!access->agent || (!access->foreign && !access->require_token))
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "a server bound to agent '%s' accepts no tokens, so nobody could use this one",
            access->agent);
  return error_fix(err, "omit the agent and give it a token instead: cairn token add NAME --project PROJECT; or listen "
                        "only on this machine, without --require-token");
}

static enum status configure(struct arena *a, const struct context *context, struct engine *engine,
                             struct access *access, struct http_options *options, struct error *err) {
  struct setting_value v[LAST - FIRST + 1];
  struct str team = context->caller.team;
  TRY(settings_get(engine->store, team, FIRST, LAST, a, v, err));
  access->agent = context->engine.agent[0] ? context->engine.agent : NULL;
  access->require_token |= access->behind_proxy || str_is(of(v, SET_SERVE_REQUIRE_TOKEN)->value, "on");
  TRY(check_bound(access, err));
  if (!access->agent)
    TRY(open_issuer(a, v, access, err));
  if ((access->foreign || access->require_token) && !access->oauth)
    TRY(check_tokens(engine, team, err));
  struct auth_options o = {.require_token = access->require_token,
                           .behind_proxy = access->behind_proxy,
                           .rate = (int64_t)of(v, SET_SERVE_RATE)->number,
                           .burst = (int64_t)of(v, SET_SERVE_BURST)->number,
                           .concurrency = (int64_t)of(v, SET_SERVE_CONCURRENCY)->number,
                           .kilobytes = (int64_t)of(v, SET_SERVE_KILOBYTES)->number,
                           .cpu_percent = (int64_t)of(v, SET_SERVE_CPU)->number,
                           .oauth = access->oauth,
                           .clock = context->engine.clock};
  return auth_new(&o, &options->shared.auth, err);
}

enum status access_open(struct arena *a, const struct context *context, struct access *access,
                        struct http_options *options, struct error *err) {
  struct engine *engine;
  assert(options->shared.pool && !options->shared.auth);
  TRY(pool_acquire(options->shared.pool, &engine, err));
  enum status s = engine_lock_team(engine, context->caller.team, err);
  if (s == STATUS_OK)
    s = configure(a, context, engine, access, options, err);
  s = engine_unlock_team(engine, s, err);
  pool_release(options->shared.pool, engine);
  return s;
}

void access_close(struct access *access, struct http_options *options) {
  tls_forget(&options->tls);
  tls_keeper_free(&options->keeper);
  auth_free(&options->shared.auth);
  oauth_free(&access->oauth);
}

/* ---- output ---- */

struct strs access_kinds(struct arena *a, const struct access *access) {
  struct strs kinds = {0};
  if (!access->require_token)
    strs_push(a, &kinds, STR("local"));
  if (access->agent)
    return kinds;
  strs_push(a, &kinds, STR("token"));
  if (access->oauth)
    strs_push(a, &kinds, STR("oauth"));
  return kinds;
}

struct str access_url(struct arena *a, const struct access *access, const char *address) {
  const char *port = strrchr(address, ':');
  assert(port && !access->socket);
  if (access->behind_proxy && access->name.p)
    return arena_printf(a, "https://%.*s", STR_ARG(access->name));
  if (!access->wildcard && !(access->foreign && access->name.p))
    return str_from(address);
  struct str name = access->name.p ? access->name : STR("localhost");
  return arena_printf(a, "%s://%.*s%s", access->tls_cert ? "https" : "http", STR_ARG(name), port);
}

struct str access_summary(struct arena *a, const struct access *access) {
  struct buf b = BUF(a);
  const char *local = access->socket ? "users of the socket" : "local clients";
  if (access->agent)
    return arena_printf(a, "none for %s, which act as agent '%s'; no tokens", local, access->agent);
  if (!access->require_token)
    buf_addf(&b, "none for %s; ", local);
  buf_adds(&b, "bearer token");
  if (access->oauth)
    buf_addf(&b, " or access token of %s", access->issuer);
  if (!access->require_token)
    buf_adds(&b, access->foreign ? " for remote clients" : " otherwise");
  return buf_str(&b);
}
