/* era.c: determines the protocol revision of a message and checks that headers and body agree.
 *
 * Requests of 2026-07-28 are self-contained: each has its version and the client's capabilities in _meta, over HTTP
 * also in headers. All others belong to a client that has sent initialize. */
#include <assert.h>
#include <sodium.h>

#include "mcp/protocol/server.h"
#include "op/run/scrub.h"

static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

bool era_is_legacy(struct str version) {
  for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
    if (str_is(version, legacy_versions[i]))
      return true;
  return false;
}

/* ---- caller ---- */

static void set_caller(struct exchange *x, struct str client, struct str version) {
  x->caller = x->sender->caller;
  if (x->caller.origin)
    x->origin = *x->caller.origin;
  x->origin.client = client;
  x->origin.client_version = version;
  if (x->session && x->head->http)
    x->origin.connection = str_from(x->session->id);
  x->caller.origin = &x->origin;
  if (str_empty(x->caller.source))
    x->caller.source = client_source(x->arena, client);
  if (str_empty(x->caller.source))
    x->caller.source = STR("mcp");
  if (str_empty(x->caller.trust))
    x->caller.trust = STR("agent");
}

/* ---- modern ---- */

static bool refuse_params(struct exchange *x, const char *what) {
  exchange_error(x, 400, RPC_PARAMS, NULL, "Invalid params: %s", what);
  return false;
}

static bool refuse_header(struct exchange *x, const char *header) {
  exchange_error(x, 400, MCP_HEADER_MISMATCH, NULL, "Header mismatch: %s is missing or differs from the body", header);
  return false;
}

static bool refuse_version(struct exchange *x, struct str requested) {
  yyjson_mut_val *data = yyjson_mut_obj(x->doc);
  json_add_str(x->doc, json_put_arr(x->doc, data, "supported"), STR(MCP_MODERN));
  json_put(x->doc, data, "requested", requested);
  exchange_error(x, 400, MCP_NO_VERSION, data, "Unsupported protocol version");
  return false;
}

static bool decode_name(struct arena *a, struct str header, struct str *ret_name) {
  static const struct str before = STR_INIT("=?base64?"), after = STR_INIT("?=");
  if (!str_starts(header, before) || !str_ends(header, after) || header.n < before.n + after.n) {
    *ret_name = header;
    return true;
  }
  struct str code = str_slice(header, before.n, header.n - after.n);
  uint8_t *bytes = arena_alloc(a, code.n + 1);
  size_t n = 0;
  const char *end = NULL;
  if (sodium_base642bin(bytes, code.n + 1, code.p, code.n, NULL, &n, &end, sodium_base64_VARIANT_ORIGINAL) != 0 ||
      end != code.p + code.n)
    return false;
  *ret_name = (struct str){(const char *)bytes, n};
  return true;
}

bool era_name_matches(struct arena *a, struct str header, struct str value) {
  struct str name;
  return decode_name(a, str_trim(header), &name) && str_eq(name, value);
}

/* Checks Mcp-Name, for methods that require it. */
static bool check_name(struct exchange *x) {
  static const struct {
    const char *method, *member;
  } named[] = {{"tools/call", "name"}, {"prompts/get", "name"}, {"resources/read", "uri"}};
  for (size_t i = 0; i < ARRAY_LEN(named); i++) {
    if (!str_is(x->in->method, named[i].method))
      continue;
    struct str value = json_str(x->in->params, named[i].member);
    if (!x->head->name.p || !era_name_matches(x->arena, x->head->name, value))
      return refuse_header(x, "Mcp-Name");
  }
  return true;
}

static bool check_headers(struct exchange *x) {
  if (!str_eq(str_trim(x->head->method), x->in->method))
    return refuse_header(x, "Mcp-Method");
  return check_name(x);
}

static bool read_modern(struct exchange *x) {
  yyjson_val *meta = x->in->meta;
  if (!meta)
    return refuse_params(x, "_meta is missing; it carries " MCP_META "protocolVersion and clientCapabilities");
  x->version = json_str(meta, MCP_META "protocolVersion");
  x->capabilities = yyjson_obj_get(meta, MCP_META "clientCapabilities");
  if (!x->version.p)
    return refuse_params(x, "_meta lacks " MCP_META "protocolVersion");
  if (!yyjson_is_obj(x->capabilities))
    return refuse_params(x, "_meta lacks " MCP_META "clientCapabilities");
  if (x->head->http && !str_eq(str_trim(x->head->version), x->version))
    return refuse_header(x, "MCP-Protocol-Version");
  if (!str_is(x->version, MCP_MODERN))
    return refuse_version(x, x->version);
  if (x->head->http && !check_headers(x))
    return false;
  yyjson_val *info = yyjson_obj_get(meta, MCP_META "clientInfo");
  set_caller(x, json_str(info, "name"), json_str(info, "version"));
  if (!str_empty(json_str(meta, MCP_META_SESSION)))
    x->caller.session = json_str(meta, MCP_META_SESSION);
  return true;
}

/* ---- legacy ---- */

static bool refuse_legacy(struct exchange *x, int http, const char *what) {
  exchange_error(x, http, RPC_INVALID, NULL, "%s", what);
  return false;
}

static bool find_session(struct exchange *x) {
  struct mcp_server *server = x->server;
  if (server->options.one_connection) {
    x->session = mcp_session_only(server);
    return x->session || refuse_legacy(x, 503, "out of memory");
  }
  if (str_empty(x->head->session))
    return refuse_legacy(x, 400, "Bad request: no session; begin with initialize and send its Mcp-Session-Id");
  x->session = mcp_session_find(server, x->head->session, &x->sender->caller);
  return x->session || refuse_legacy(x, 404, "Session not found: begin again with initialize");
}

static bool read_legacy(struct exchange *x) {
  bool is_initialize = x->in->kind == RPC_REQUEST && str_is(x->in->method, "initialize");
  struct str header = str_trim(x->head->version);
  if (x->head->http && !is_initialize && header.n && !era_is_legacy(header))
    return refuse_legacy(x, 400, "Bad request: unsupported MCP-Protocol-Version");
  struct error err;
  if (is_initialize) {
    yyjson_val *info = yyjson_obj_get(x->in->params, "clientInfo");
    x->capabilities = yyjson_obj_get(x->in->params, "capabilities");
    set_caller(x, json_str(info, "name"), json_str(info, "version"));
    return true;
  }
  if (!find_session(x))
    return false;
  struct mcp_session *s = x->session;
  assert(s);
  x->version = str_empty(s->version) ? str_from(legacy_versions[0]) : s->version;
  if (s->capabilities.n && json_read(x->arena, s->capabilities, &x->capabilities, &err) != STATUS_OK)
    x->capabilities = NULL;
  set_caller(x, s->client, s->client_version);
  char handle[sizeof(s->handle)];
  pthread_mutex_lock(&x->server->lock);
  memcpy(handle, s->handle, sizeof(handle));
  pthread_mutex_unlock(&x->server->lock);
  if (str_empty(x->caller.session) && handle[0]) /* without the lock: an out-of-memory jump would keep it */
    x->caller.session = arena_dup(x->arena, str_from(handle));
  return true;
}

/* ---- revision ---- */

/* Methods that only modern servers have: before an initialize they mark a modern client. */
static bool is_modern_method(struct str method) {
  return str_is(method, "server/discover") || str_is(method, "subscriptions/listen");
}

static bool has_initialized(const struct exchange *x) {
  if (!x->server->options.one_connection)
    return x->head->session.n > 0;
  pthread_mutex_lock(&x->server->lock);
  bool yes = x->server->sessions && x->server->sessions->version.n > 0;
  pthread_mutex_unlock(&x->server->lock);
  return yes;
}

bool era_determine(struct exchange *x) {
  assert(x->in->kind != RPC_BAD && !x->session);
  struct str header = str_trim(x->head->version);
  bool request = x->in->kind == RPC_REQUEST;
  x->modern = (x->in->meta && yyjson_obj_get(x->in->meta, MCP_META "protocolVersion")) ||
              (request && x->head->http && header.n && !era_is_legacy(header)) ||
              (request && is_modern_method(x->in->method) && !has_initialized(x));
  if (x->in->kind == RPC_REQUEST && x->in->meta)
    x->progress_token = yyjson_obj_get(x->in->meta, "progressToken");
  if (x->progress_token && !yyjson_is_str(x->progress_token) && !yyjson_is_num(x->progress_token))
    x->progress_token = NULL;
  return x->modern ? read_modern(x) : read_legacy(x);
}
