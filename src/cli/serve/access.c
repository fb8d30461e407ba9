/* access.c: hosts, TLS, tokens, limits and issuer of `cairn serve`. */
#include "cli/serve/access.h"

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
    error_set(err, STATUS_USAGE, "--tls-cert and --tls-key go together, and with a port");
    return error_fix(err, "--tls-cert FILE --tls-key FILE, and no --socket");
  }
  if (tls_load(a, certificate, key, &options->tls, err) != STATUS_OK)
    return err->code;
  access->tls_cert = certificate;
  access->tls_key = key;
  return tls_keeper_new(certificate, key, &options->keeper, err);
}

static bool is_wildcard(struct str host) {
  return str_is(host, "0.0.0.0") || str_is(host, "::") || str_is(host, "[::]");
}

/* An address that other machines reach. */
static bool is_foreign(const struct http_options *options) {
  return options->host && !check_loopback(str_from(options->host));
}

/* What an address is called in a Host header. */
static struct str header_name(struct arena *a, struct str host) {
  bool bare = memchr(host.p, ':', host.n) && host.p[0] != '[';
  return bare ? arena_printf(a, "[%.*s]", STR_ARG(host)) : host;
}

/* Without a name that clients may call it by, all of them would be refused. */
static enum status read_hosts(struct arena *a, const struct cli_args *args, struct http_options *options,
                              struct error *err) {
  struct strs *hosts = &options->shared.hosts;
  struct str host = str_from(options->host);
  yyjson_mut_val *list = yyjson_mut_obj_get(args->args, "allow_host"), *one;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, one) {
    struct str name = {yyjson_mut_get_str(one), yyjson_mut_get_len(one)};
    if (!check_name(name)) {
      error_set(err, STATUS_USAGE, "'%.*s' is not the name of a host", STR_ARG(name));
      return error_fix(err, "--allow-host memory.example.org, without a scheme and without a port");
    }
    strs_push(a, hosts, name);
  }
  if (is_foreign(options) && !is_wildcard(host))
    strs_push(a, hosts, header_name(a, host));
  if (options->exposed && is_wildcard(host) && hosts->n == 0) {
    error_set(err, STATUS_USAGE, "nobody knows what clients call this server");
    return error_fix(err, "--allow-host NAME, once for every name or address by which it is reached");
  }
  return STATUS_OK;
}

enum status access_options(struct arena *a, const struct cli_args *args, struct access *access,
                           struct http_options *options, struct error *err) {
  access->require_token = args_flag(args->args, "require_token");
  access->behind_proxy = args_flag(args->args, "behind_proxy");
  if (read_tls(a, args, access, options, err) != STATUS_OK)
    return err->code;
  options->exposed = options->tls.key || access->behind_proxy;
  access->socket = options->socket != NULL;
  access->foreign = is_foreign(options);
  /* Who is on the machine and calls it by the address that others use comes from that address. */
  access->require_token |= access->foreign && !is_wildcard(str_from(options->host));
  return http_check_host(options, err) == STATUS_OK ? read_hosts(a, args, options, err) : err->code;
}

/* ---- settings ---- */

#define FIRST SET_SERVE_REQUIRE_TOKEN
#define LAST SET_OAUTH_CLAIM_PREFIX

static const struct setting_value *of(const struct setting_value *v, enum setting_id id) {
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
    error_set(err, STATUS_USAGE, "of oauth.issuer, oauth.audience and oauth.jwks one is missing");
    return error_fix(err, "set all three, or none");
  }
  access->issuer = o.issuer;
  return oauth_new(&o, &access->oauth, err);
}

/* Who listens to others and has given nobody a token has forgotten something. */
static enum status check_tokens(struct engine *engine, struct str team, struct error *err) {
  bool any = false;
  TRY(tokens_any(engine->store, clock_now(&engine->clock), &any, err));
  TRY(db_team(store_db(engine->store), team, err));
  if (any)
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "the store has no token, so nobody else could use the server");
  return error_fix(err, "cairn token add NAME");
}

/* A process that is bound to an agent takes no tokens, so that only callers who need none can use it. */
static enum status check_bound(const struct access *access, struct error *err) {
  if (!access->agent || (!access->foreign && !access->require_token))
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "a server that is bound to agent '%s' takes no tokens, so nobody could use this one",
            access->agent);
  return error_fix(err, "leave the agent's name out, and give it a token: cairn token add NAME --project PROJECT; or "
                        "listen on this machine alone, without --require-token");
}

static enum status configure(struct arena *a, const struct context *context, struct engine *engine,
                             struct access *access, struct http_options *options, struct error *err) {
  struct setting_value v[LAST - FIRST + 1];
  struct str team = context->caller.team;
  if (settings_get(engine->store, team, FIRST, LAST, a, v, err) != STATUS_OK)
    return err->code;
  access->agent = context->engine.agent[0] ? context->engine.agent : NULL;
  access->require_token |= access->behind_proxy || str_is(of(v, SET_SERVE_REQUIRE_TOKEN)->value, "on");
  if (check_bound(access, err) != STATUS_OK || (!access->agent && open_issuer(a, v, access, err) != STATUS_OK))
    return err->code;
  if ((access->foreign || access->require_token) && !access->oauth && check_tokens(engine, team, err) != STATUS_OK)
    return err->code;
  struct auth_options o = {.require_token = access->require_token,
                           .behind_proxy = access->behind_proxy,
                           .rate = (int64_t)of(v, SET_SERVE_RATE)->number,
                           .burst = (int64_t)of(v, SET_SERVE_BURST)->number,
                           .oauth = access->oauth,
                           .clock = context->engine.clock};
  return auth_new(&o, &options->shared.auth, err);
}

enum status access_open(struct arena *a, const struct context *context, struct access *access,
                        struct http_options *options, struct error *err) {
  struct engine *engine;
  if (pool_take(options->shared.pool, &engine, err) != STATUS_OK)
    return err->code;
  enum status s = engine_hold(engine, context->caller.team, err);
  if (s == STATUS_OK)
    s = configure(a, context, engine, access, options, err);
  s = engine_let_go(engine, s, err);
  pool_give(options->shared.pool, engine);
  return s;
}

void access_close(struct access *access, struct http_options *options) {
  tls_forget(&options->tls);
  tls_keeper_free(&options->keeper);
  auth_free(&options->shared.auth);
  oauth_free(&access->oauth);
}

/* ---- talking ---- */

struct strs access_words(struct arena *a, const struct access *access) {
  struct strs words = {0};
  if (!access->require_token)
    strs_push(a, &words, STR("local"));
  if (access->agent)
    return words;
  strs_push(a, &words, STR("token"));
  if (access->oauth)
    strs_push(a, &words, STR("oauth"));
  return words;
}

struct str access_sentence(struct arena *a, const struct access *access) {
  struct buf b = BUF(a);
  const char *near = access->socket ? "whoever can open the socket" : "callers on this machine";
  if (access->agent)
    return arena_printf(a, "%s, as agent '%s'; no tokens", near, access->agent);
  if (!access->require_token)
    buf_addf(&b, "%s without a token; %s", near, access->foreign ? "from anywhere " : "");
  buf_adds(&b, "bearers of tokens ('cairn token list')");
  if (access->oauth)
    buf_addf(&b, " and of access tokens that %s has signed", access->issuer);
  return buf_str(&b);
}
