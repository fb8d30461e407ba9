/* auth.c: reads and verifies the token of a request, refuses requests, and logs wrong tokens. */
#include "http/access/auth.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/limit.h"
#include "core/secrets/access_token.h"
#include "http/access/bearer.h"
#include "http/access/budget.h"
#include "http/access/peer.h"
#include "op/run/paths.h"
#include "store/tables/events.h"

enum auth_result {
  AUTH_ACCEPTED,
  AUTH_REFUSED,
  AUTH_LOCKED,
  AUTH_LIMITED,
  AUTH_CONCURRENT,
  AUTH_BYTES,
  AUTH_CPU,
  AUTH_RESULTS
};

struct auth {
  struct auth_options options;
  pthread_mutex_t lock; /* guards all tables. They are separate so that entries of one cannot evict those of another. */
  struct limits callers, addresses;
  struct limits proven; /* access tokens that were verified before */
  struct limits tries;  /* verification attempts from locked-out addresses */
  struct budgets *budgets;
  _Atomic int64_t counts[AUTH_RESULTS];
  _Atomic int64_t cpu_us; /* processor time of calls with a token */
};

enum status auth_new(const struct auth_options *options, struct auth **ret_auth, struct error *err) {
  struct auth *auth = mem_zalloc(sizeof(*auth));
  struct budgets *budgets = budgets_new(options->kilobytes, options->cpu_percent);
  if (!auth || !budgets) {
    mem_free(auth);
    budgets_free(&budgets);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  auth->budgets = budgets;
  auth->options = *options;
  auth->options.require_token |= options->behind_proxy;
  pthread_mutex_init(&auth->lock, NULL);
  limits_init(&auth->callers);
  limits_init(&auth->addresses);
  limits_init(&auth->proven);
  limits_init(&auth->tries);
  *ret_auth = auth;
  return STATUS_OK;
}

void auth_free(struct auth **auth) {
  if (*auth) {
    budgets_free(&(*auth)->budgets);
    pthread_mutex_destroy(&(*auth)->lock);
  }
  mem_free(*auth);
  *auth = NULL;
}

/* ---- answers ---- */

/* RFC 6750; with an issuer, the response names the URL of its metadata. */
static void challenge(struct http_call *call, const char *error) {
  assert(call->server->auth);
  const struct oauth *oauth = call->server->auth->options.oauth;
  struct buf b = BUF(call->arena);
  buf_adds(&b, "Bearer realm=\"cairn\"");
  if (error)
    buf_addf(&b, ", error=\"%s\"", error);
  if (oauth)
    buf_addf(&b, ", resource_metadata=\"%.*s\", scope=\"" OAUTH_SCOPES "\"",
             STR_ARG(oauth_metadata_url(oauth, call->arena)));
  http_add_header(call, "WWW-Authenticate", buf_str(&b));
}

static void refuse(struct http_call *call, const char *error, const char *what) {
  struct error err;
  error_set(&err, STATUS_UNKNOWN_CALLER, "%s", what);
  error_fix(&err, "send 'Authorization: Bearer TOKEN'; 'cairn token add NAME' on the server's machine makes one");
  challenge(call, error);
  http_reply_problem(call, &err);
}

/* All wrong tokens get the same reply, so it reveals nothing. */
static void refuse_token(struct http_call *call) {
  refuse(call, "invalid_token", "the token is wrong, expired or revoked");
}

/* The token is not checked: every call of the process runs as its agent. */
static void refuse_bound(struct http_call *call) {
  struct error err;
  error_set(&err, STATUS_DENIED, "this server is bound to an agent and accepts no tokens");
  error_fix(&err, "omit the token, or use a server that is not bound to an agent");
  http_reply_problem(call, &err);
}

static void refuse_limited(struct http_call *call, int64_t wait_us, const char *what) {
  struct error err;
  int64_t seconds = (wait_us + 999999) / 1000000;
  assert(wait_us > 0);
  error_set(&err, STATUS_LIMITED, "%s", what);
  error_fix(&err, "retry after %lld s, as the Retry-After header says", (long long)seconds);
  http_add_header(call, "Retry-After", arena_printf(call->arena, "%lld", (long long)seconds));
  http_reply_problem(call, &err);
}

/* ---- the head of a request ---- */

static bool is_forwarded(const struct http_call *call) {
  return http_header(call, "forwarded").p || http_header(call, "x-forwarded-for").p || http_header(call, "x-real-ip").p;
}

/* A proxy appends the address it saw; a separate header line at the end counts as appended, too. */
static void find_network(struct http_call *call) {
  char network[PEER_NETWORK_SIZE];
  for (size_t i = call->field_count; i-- > 0;)
    if (str_ieq(call->fields[i].name, STR("x-forwarded-for"))) {
      if (peer_forwarded(call->fields[i].value, network))
        call->network = arena_dup(call->arena, str_from(network));
      return;
    }
}

/* Remaining lockout of the call's address in microseconds; 0: not locked out. */
static int64_t locked_for(struct http_call *call) {
  struct auth *auth = call->server->auth;
  pthread_mutex_lock(&auth->lock);
  int64_t wait = limit_locked(&auth->addresses, call->network, clock_ticks_us());
  pthread_mutex_unlock(&auth->lock);
  return wait;
}

static void refuse_locked(struct http_call *call, int64_t wait_us) {
  atomic_fetch_add(&call->server->auth->counts[AUTH_LOCKED], 1);
  refuse_limited(call, wait_us, "too many wrong tokens from this address");
}

bool auth_is_local_user(const struct http_call *call) {
  const struct auth *auth = call->server ? call->server->auth : NULL;
  return call->local && !(auth && auth->options.require_token) && !is_forwarded(call);
}

bool auth_read(struct http_call *call) {
  assert(!call->status && !call->token.p);
  struct auth *auth = call->server->auth;
  const struct http_route *route = http_route_find(http_routes_of(call), call->method, call->path);
  if (!auth || (route && (route->flags & HTTP_OPEN)))
    return true;
  if (auth->options.behind_proxy)
    find_network(call);
  if (bearer_is_misplaced(call)) {
    http_reply_problem_status(call, 400, "Bad Request",
                              "send the token in the Authorization header, never in the URL or a cookie");
    return false;
  }
  enum bearer bearer = bearer_read(call, &call->token);
  if (bearer == BEARER_TOKEN && call->server->bound) {
    refuse_bound(call);
    return false;
  }
  if (bearer == BEARER_TOKEN || (bearer == BEARER_NONE && auth_is_local_user(call)))
    return true;
  int64_t wait = locked_for(call);
  if (wait > 0)
    refuse_locked(call, wait);
  else if (bearer == BEARER_WRONG)
    refuse_token(call);
  else
    refuse(call, NULL, "this server requires a token");
  return false;
}

/* ---- tokens ---- */

static bool is_ours(struct str token) { return str_starts(token, STR("cairn_")); }

/* One client that guesses must not lock out others behind the same address, so a valid token always gets through.
 * Verifying one of our tokens costs a row lookup and a hash, and it has too many bits to guess. Verifying a signature
 * costs more: from a locked-out address we only verify tokens that were valid before, and a few others. */
enum { TRY_RATE = 1, TRY_BURST = 5 }; /* per second, and at once */

static bool may_try(struct http_call *call) {
  struct auth *auth = call->server->auth;
  int64_t now = clock_ticks_us();
  if (is_ours(call->token) || !auth->options.oauth)
    return true;
  pthread_mutex_lock(&auth->lock);
  bool may = limit_noted(&auth->proven, call->token, now) ||
             limit_take(&auth->tries, call->network, TRY_RATE, TRY_BURST, now) == 0;
  pthread_mutex_unlock(&auth->lock);
  return may;
}

static void note_proven(struct http_call *call, const struct principal *p) {
  struct auth *auth = call->server->auth;
  int64_t left = (p->expires_at - clock_now(&auth->options.clock)) * 1000, now = clock_ticks_us();
  if (is_ours(call->token) || left <= 0)
    return;
  pthread_mutex_lock(&auth->lock);
  limit_note(&auth->proven, call->token, now + (left < LIMIT_HOUR ? left : LIMIT_HOUR), now);
  pthread_mutex_unlock(&auth->lock);
}

static bool is_well_formed(struct str token) {
  struct token_text text;
  bool well = token_parse(token, &text);
  sodium_memzero(&text, sizeof(text));
  return well;
}

static enum status identify_token(struct http_call *call, struct principal *ret_principal, struct error *err) {
  const struct auth_options *o = &call->server->auth->options;
  struct arena *a = call->arena;
  if (!is_ours(call->token))
    return o->oauth ? oauth_identify(o->oauth, call->token, clock_now(&o->clock), a, ret_principal, err)
                    : error_set(err, STATUS_UNKNOWN_CALLER, "there is no such token");
  struct engine *engine;
  if (!is_well_formed(call->token)) /* do not queue for an engine */
    return error_set(err, STATUS_UNKNOWN_CALLER, "there is no such token");
  TRY(pool_acquire(call->server->pool, &engine, err));
  enum status s = authenticate_token(engine, call->token, a, ret_principal, err);
  pool_release(call->server->pool, engine);
  return s;
}

enum { LOG_RATE = 1, LOG_BURST = 60 }; /* events per second, and at once: guessing must not fill the disk */

/* The id that a token claims may be logged; the rest never. */
static struct str claimed_id(struct str token) {
  struct token_text text;
  bool ours = token_parse(token, &text);
  sodium_memzero(text.secret, sizeof(text.secret));
  return ours ? text.id : STR_NONE;
}

/* Logs a wrong token; `locked`: its address is now locked out; `reason`: of a token of the issuer. Never fails a call.
 */
static void log_wrong(struct http_call *call, bool locked, struct str reason) {
  struct auth *auth = call->server->auth;
  pthread_mutex_lock(&auth->lock);
  bool quiet = limit_take(&auth->callers, STR("the log"), LOG_RATE, LOG_BURST, clock_ticks_us()) > 0;
  pthread_mutex_unlock(&auth->lock);
  if (quiet)
    return;
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "peer", call->network);
  json_put_opt(doc, detail, "token", claimed_id(call->token));
  json_put_opt(doc, detail, "reason", reason);
  struct event e = {.action = locked ? STR("auth:locked") : STR("auth:failed"),
                    .detail = json_write(call->arena, detail, false)};
  server_event(call->server, &e);
}

static void count_wrong(struct http_call *call, struct str reason) {
  struct auth *auth = call->server->auth;
  pthread_mutex_lock(&auth->lock);
  bool locked = limit_wrong(&auth->addresses, call->network, clock_ticks_us());
  pthread_mutex_unlock(&auth->lock);
  atomic_fetch_add(&auth->counts[AUTH_REFUSED], 1);
  log_wrong(call, locked, reason);
}

/* Names of a principal and of its team in the tables. Token names are reused, their ids are not. */
static struct str table_name(struct http_call *call, const struct principal *p) {
  struct str name = p->token.p ? p->token : p->name;
  return arena_printf(call->arena, "%.*s/%.*s", STR_ARG(p->team), STR_ARG(name));
}

static bool is_limited(struct http_call *call) {
  struct auth *auth = call->server->auth;
  if (auth->options.rate == 0 || auth->options.burst == 0)
    return false;
  pthread_mutex_lock(&auth->lock);
  int64_t wait = limit_take(&auth->callers, call->account, auth->options.rate, auth->options.burst, clock_ticks_us());
  pthread_mutex_unlock(&auth->lock);
  if (wait == 0)
    return false;
  atomic_fetch_add(&auth->counts[AUTH_LIMITED], 1);
  refuse_limited(call, wait, "rate limit exceeded for this token");
  return true;
}

/* ---- bytes and processor time ---- */

static bool is_over_budget(struct http_call *call, const struct principal *p) {
  struct auth *auth = call->server->auth;
  struct budget_refusal why;
  if (!budgets_refuse(auth->budgets, call->account, p->team, (int64_t)call->body.n, &why))
    return false;
  atomic_fetch_add(&auth->counts[why.cpu ? AUTH_CPU : AUTH_BYTES], 1);
  refuse_limited(call, why.wait_us, why.what);
  return true;
}

/* Allocates nothing: the call has its reply. */
void auth_charge(struct http_call *call, int64_t cpu_us) {
  const struct principal *p = call->caller.principal;
  if (!p || !call->server->auth)
    return;
  atomic_fetch_add(&call->server->auth->cpu_us, cpu_us);
  budgets_charge_cpu(call->server->auth->budgets, call->account, p->team, cpu_us);
}

size_t auth_concurrency(const struct auth *auth) { return auth ? (size_t)auth->options.concurrency : 0; }

void auth_count_refused(struct auth *auth) {
  if (auth)
    atomic_fetch_add(&auth->counts[AUTH_CONCURRENT], 1);
}

/* The server's own project and session belong to the local user; a token brings its own. */
static void set_principal(struct http_call *call, const struct principal *p) {
  struct caller *c = &call->caller;
  call->principal = *p;
  c->principal = &call->principal;
  c->team = p->team;
  c->project = STR("");
  c->project_given = c->all_projects = false;
  c->session = STR_NONE;
}

bool auth_verify(struct http_call *call) {
  struct principal p;
  struct error err;
  if (!call->token.p)
    return true;
  assert(call->server->auth && !call->server->bound); /* auth_read() took the token */
  int64_t wait = locked_for(call);
  enum status s = wait == 0 || may_try(call) ? identify_token(call, &p, &err) : STATUS_UNKNOWN_CALLER;
  if (s == STATUS_OK) {
    note_proven(call, &p);
    call->account = table_name(call, &p);
    if (is_limited(call) || is_over_budget(call, &p)) {
      call->caller.source = p.name; /* for the log */
      return false;
    }
    atomic_fetch_add(&call->server->auth->counts[AUTH_ACCEPTED], 1);
    set_principal(call, &p);
    return true;
  }
  if (s == STATUS_UNKNOWN_CALLER && wait > 0) {
    refuse_locked(call, wait);
    return false;
  }
  if (s == STATUS_UNKNOWN_CALLER) {
    count_wrong(call, is_ours(call->token) ? STR_NONE : str_from(err.message));
    refuse_token(call);
    return false;
  }
  if (s == STATUS_DENIED)
    challenge(call, "insufficient_scope");
  paths_shorten(pool_path(call->server->pool), NULL, &err);
  http_reply_problem(call, &err);
  return false;
}

/* ---- metadata ---- */

void auth_metadata(struct http_call *call) {
  const struct oauth *oauth = call->server->auth ? call->server->auth->options.oauth : NULL;
  if (oauth)
    http_reply_json(call, 200, oauth_metadata(oauth, call->arena));
  else
    http_reply_problem_status(call, 404, "Not Found", "this server issues its own tokens and has no OAuth issuer");
}

/* ---- metrics ---- */

struct str auth_metrics(struct arena *a, struct auth *auth) {
  static const char *const names[AUTH_RESULTS] = {[AUTH_ACCEPTED] = "accepted",
                                                  [AUTH_REFUSED] = "refused",
                                                  [AUTH_LOCKED] = "locked",
                                                  [AUTH_LIMITED] = "limited",
                                                  [AUTH_CONCURRENT] = "concurrency",
                                                  [AUTH_BYTES] = "bytes",
                                                  [AUTH_CPU] = "cpu"};
  struct buf b = BUF(a);
  if (!auth)
    return STR("");
  buf_adds(&b, "# HELP cairn_tokens_total Requests with a token, by result.\n"
               "# TYPE cairn_tokens_total counter\n");
  for (int i = 0; i < AUTH_RESULTS; i++)
    buf_addf(&b, "cairn_tokens_total{result=\"%s\"} %lld\n", names[i], (long long)atomic_load(&auth->counts[i]));
  buf_addf(&b,
           "# HELP cairn_tokens_cpu_seconds_total Processor time of requests with a token.\n"
           "# TYPE cairn_tokens_cpu_seconds_total counter\n"
           "cairn_tokens_cpu_seconds_total %.6f\n",
           (double)atomic_load(&auth->cpu_us) / 1e6);
  return buf_str(&b);
}
