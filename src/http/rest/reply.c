/* reply.c: runs an operation for a REST request and turns its result into a reply: status, ETag, links. */
#include <assert.h>

#include "base/id.h"
#include "http/rest/rest.h"
#include "http/server/uri.h"
#include "op/run/scrub.h"

/* ---- running ---- */

static enum status take_line(void *arg, struct str line) {
  struct rest_call *rc = arg;
  assert(rc->lines);
  yyjson_mut_arr_append(rc->lines, yyjson_mut_rawncpy(rc->doc, line.p, line.n));
  return STATUS_OK;
}

static bool is_gone(void *arg) { return http_client_gone(((struct rest_call *)arg)->http); }

enum status rest_op(struct rest_call *rc, const char *op, yyjson_mut_val *args, yyjson_mut_val **ret_result) {
  struct arena *a = rc->http->arena;
  struct pool *pool = rc->http->server->pool;
  struct engine *engine;
  yyjson_val *checked;
  assert(op_find(str_from(op)) && yyjson_mut_is_obj(args));
  struct op_hooks hooks = {.arg = rc,
                           .emit = take_line,
                           .cancelled = is_gone,
                           .expect = rc->expect,
                           .safe = strcmp(rc->route->method, "GET") == 0,
                           .return_hash = (rc->route->flags & (ROUTE_CREATES | ROUTE_GUARDED)) != 0};
  rc->lines = yyjson_mut_arr(rc->doc);
  rc->ran = true;
  TRY(json_read(a, json_write(a, args, false), &checked, &rc->err));
  TRY(pool_acquire_for(pool, &rc->caller, &engine, &rc->err));
  rc->http->recorded = !rc->caller.part;
  /* Only the operation, which has its own boundary, may allocate between here and pool_release(). */
  enum status s = op_run(engine, op_find(str_from(op)), &rc->caller, &hooks, a, checked, ret_result, &rc->err);
  pool_release(pool, engine);
  return s;
}

/* ---- replying ---- */

/* The name of the call in the records: its operation, or the path of a route that runs several. */
static struct str recorded_name(const struct rest_call *rc) {
  return str_from(rc->route->op ? rc->route->op : rc->route->path);
}

void rest_record(struct rest_call *rc) {
  const struct error *err = rc->err.code == STATUS_OK ? NULL : &rc->err;
  if (rc->http->recorded || !rc->http->server->pool)
    return;
  rc->http->recorded = true;
  pool_note(rc->http->server->pool, &rc->caller, recorded_name(rc), rc->http->began, err, true);
}

/* An error of the route itself may quote the client's input. */
static void clean_error(struct rest_call *rc) {
  struct pool *pool = rc->http->server->pool;
  struct engine *engine = NULL;
  struct error ignored;
  if (pool && pool_acquire(pool, &engine, &ignored) != STATUS_OK)
    engine = NULL;
  scrub_interface_error(engine, rc->http->caller.team, &rc->err);
  if (engine)
    pool_release(pool, engine);
}

void rest_fail(struct rest_call *rc) {
  assert(rc->err.code != STATUS_OK);
  if (!rc->ran)
    clean_error(rc);
  rest_advise_error(rc->http->arena, &rc->err);
  if (status_http(rc->err.code) == 503)
    http_add_header(rc->http, "Retry-After", STR("1"));
  http_reply_problem(rc->http, &rc->err);
}

/* If-None-Match compares weakly: W/ is ignored. */
static bool client_has(const struct rest_call *rc, struct str tag) {
  struct str rest = http_header(rc->http, "If-None-Match"), part;
  if (str_is(rest, "*"))
    return true;
  while (str_next(&rest, ',', &part)) {
    part = str_trim(part);
    if (str_starts(part, STR("W/")))
      part = str_slice(part, 2, part.n);
    if (str_eq(part, tag))
      return true;
  }
  return false;
}

/* A memory has its own hash, which reading does not change; anything else is hashed as bytes. */
static struct str tag_of(struct rest_call *rc, yyjson_mut_val *result, struct str json) {
  char hash[HASH_TEXT_SIZE];
  const char *own = yyjson_mut_get_str(yyjson_mut_obj_get(result, "hash"));
  if (own)
    return arena_printf(rc->http->arena, "\"%s\"", own);
  if (strcmp(rc->route->method, "GET") != 0)
    return STR_NONE;
  hash_text(json, hash);
  return arena_printf(rc->http->arena, "\"%s\"", hash);
}

/* Adds a Link header: the same request for the next page. */
static void add_next(struct rest_call *rc, struct str next) {
  assert(rc->route->page);
  struct http_call *http = rc->http;
  struct buf b = BUF(http->arena);
  buf_addf(&b, "<%.*s?", STR_ARG(http->path));
  for (size_t i = 0; i < http->query_count; i++) {
    if (str_is(http->queries[i].name, rc->route->page))
      continue;
    uri_encode(&b, http->queries[i].name);
    buf_addc(&b, '=');
    uri_encode(&b, http->queries[i].value);
    buf_addc(&b, '&');
  }
  buf_addf(&b, "%s=", rc->route->page);
  uri_encode(&b, next);
  buf_adds(&b, ">; rel=\"next\"");
  http_add_header(http, "Link", buf_str(&b));
}

static void add_page_link(struct rest_call *rc, yyjson_mut_val *result) {
  const char *cursor = yyjson_mut_get_str(yyjson_mut_obj_get(result, "next_cursor"));
  if (cursor && rc->route->page)
    add_next(rc, str_from(cursor));
}

static int status_of(struct rest_call *rc, yyjson_mut_val *result) {
  const char *action = yyjson_mut_get_str(yyjson_mut_obj_get(result, "action"));
  yyjson_mut_val *id = yyjson_mut_obj_get(result, "id");
  if (!(rc->route->flags & ROUTE_CREATES) || !id)
    return 200;
  http_add_header(rc->http, "Location",
                  arena_printf(rc->http->arena, REST_ROOT "/memories/%lld", (long long)yyjson_mut_get_sint(id)));
  return action && strcmp(action, "skipped") == 0 ? 200 : 201;
}

static bool is_full_page(const struct rest_call *rc, yyjson_mut_val *result) {
  return yyjson_mut_get_sint(yyjson_mut_obj_get(result, "count")) ==
         yyjson_mut_get_sint(yyjson_mut_obj_get(rc->args, "limit"));
}

void rest_answer(struct rest_call *rc, yyjson_mut_val *result) {
  struct http_call *http = rc->http;
  bool get = strcmp(rc->route->method, "GET") == 0;
  assert(yyjson_mut_is_obj(result));
  if (rc->route->lines) {
    yyjson_mut_obj_add_val(rc->doc, result, rc->route->lines, rc->lines);
    if (is_full_page(rc, result))
      json_put(
          rc->doc, result, "next_cursor",
          arena_printf(http->arena, "%lld", (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(result, "last_seq"))));
  }
  rest_advise_result(http->arena, rc->route->op, result);
  struct str json = json_write(http->arena, result, false);
  struct str tag = tag_of(rc, result, json);
  assert(tag.p || !get);
  if (tag.p)
    http_add_header(http, "ETag", tag);
  if (get)
    http_add_header(http, "Cache-Control", STR("private, no-cache"));
  add_page_link(rc, result);
  if (get && client_has(rc, tag))
    http_reply_text(http, 304, NULL, STR(""));
  else
    http_reply_json(http, status_of(rc, result), json);
}

/* ---- small routes ---- */

/* Always paged: only the command line returns the whole log at once. */
void rest_index(struct rest_call *rc) {
  yyjson_mut_val *v = yyjson_mut_obj(rc->doc);
  json_put(rc->doc, v, "name", STR("cairn"));
  json_put(rc->doc, v, "version", STR(CAIRN_VERSION));
  json_put(rc->doc, v, "openapi", STR(REST_ROOT "/openapi.json"));
  rest_answer(rc, v);
}

void rest_openapi(struct rest_call *rc) {
  struct str json = openapi_document(rc->http->arena);
  char hash[HASH_TEXT_SIZE];
  hash_text(json, hash);
  struct str tag = arena_printf(rc->http->arena, "\"%s\"", hash);
  http_add_header(rc->http, "ETag", tag);
  http_add_header(rc->http, "Cache-Control", STR("private, no-cache"));
  if (client_has(rc, tag))
    http_reply_text(rc->http, 304, NULL, STR(""));
  else
    http_reply_json(rc->http, 200, json);
}
