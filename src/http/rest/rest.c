/* rest.c: maps a REST request to an operation: route, arguments, caller. */
#include "http/rest/rest.h"

#include <assert.h>

#include "base/utf8.h"
#include "http/access/project.h"
#include "http/server/uri.h"

enum { NAME_MAX_BYTES = 200 };

/* ---- routes ---- */

static bool is_refused(const struct op *op) {
  if (op->local)
    return true;
  for (const struct param *p = op->params; p->name; p++)
    if ((p->flags & PARAM_REQUIRED) && (p->flags & PARAM_PATH))
      return true;
  return (op->flags & OP_NO_STORE) != 0;
}

bool rest_generic_route(struct arena *a, const struct op *op, struct op_route *ret_route) {
  if (is_refused(op))
    return false;
  for (const struct op_route *r = rest_routes(); r->method; r++)
    if (r->op && strcmp(r->op, op->name) == 0)
      return false;
  struct str path = arena_printf(a, "/ops/%s", op->name);
  char *text = (char *)(uintptr_t)path.p;
  for (size_t i = 0; i < path.n; i++)
    if (text[i] == ' ')
      text[i] = '-';
  *ret_route = (struct op_route){.method = "POST",
                                 .path = text,
                                 .op = op->name,
                                 .without = "follow",
                                 .lines = (op->flags & OP_STREAM) ? "lines" : NULL};
  return true;
}

/* True if a path with encoded segments matches a pattern. */
static bool matches(struct arena *a, const char *pattern, struct str path, struct str *ret_variable) {
  struct str rest = str_from(pattern), part, piece, text;
  while (str_next(&rest, '/', &part)) {
    if (!str_next(&path, '/', &piece) || !uri_decode(a, piece, false, &text))
      return false;
    if (part.n && part.p[0] == '{') {
      if (str_empty(text))
        return false;
      *ret_variable = text;
    } else if (!str_eq(part, text)) {
      return false;
    }
  }
  return str_empty(path);
}

static bool method_matches(const struct op_route *r, struct str method) {
  return str_is(method, r->method) || (str_is(method, "HEAD") && strcmp(r->method, "GET") == 0);
}

struct lookup {
  struct rest_call *rc;
  struct str path;
  struct buf allowed;
};

/* Selects the route if path and method match; if only the path matches, adds its method to Allow. */
static bool consider(struct lookup *f, const struct op_route *r) {
  struct str variable = STR_NONE;
  if (!matches(f->rc->http->arena, r->path, f->path, &variable))
    return false;
  if (method_matches(r, f->rc->http->method)) {
    f->rc->route = r;
    f->rc->variable = variable;
    return true;
  }
  if (str_find(buf_str(&f->allowed), str_from(r->method), 0) == SIZE_MAX)
    buf_addf(&f->allowed, "%s%s", f->allowed.n ? ", " : "", r->method);
  return false;
}

static bool find_route(struct lookup *f) {
  struct arena *a = f->rc->http->arena;
  for (const struct op_route *r = rest_routes(); r->method; r++)
    if (consider(f, r))
      return true;
  EACH_OP(op) {
    struct op_route *r = arena_new(a, struct op_route);
    if (rest_generic_route(a, op, r) && consider(f, r))
      return true;
  }
  return false;
}

static void no_route(struct lookup *f) {
  struct http_call *http = f->rc->http;
  if (f->allowed.n == 0) {
    http_reply_problem_status(http, 404, "Not Found", "no such path; " REST_ROOT "/openapi.json lists all paths");
    return;
  }
  bool get = str_find(buf_str(&f->allowed), STR("GET"), 0) != SIZE_MAX;
  http_add_header(http, "Allow",
                  arena_printf(http->arena, "%s%s, OPTIONS", buf_str(&f->allowed).p, get ? ", HEAD" : ""));
  if (str_is(http->method, "OPTIONS"))
    http_reply_text(http, 204, NULL, STR(""));
  else
    http_reply_problem_status(http, 405, "Method Not Allowed", "see the Allow header for the methods of this path");
}

/* ---- parameters ---- */

static bool has_word(const char *words, const char *word) {
  struct str rest = str_from(words), part;
  while (str_next(&rest, ' ', &part))
    if (str_is(part, word))
      return true;
  return false;
}

static bool is_offered(const struct op_route *r, const struct param *p) {
  return !(p->flags & PARAM_PATH) && !has_word(r->without, p->name) && !(r->to && strcmp(r->to, p->name) == 0);
}

static const struct param *own_params(const struct op_route *r) {
  assert(r->params || (r->op && op_find(str_from(r->op))));
  return r->params ? r->params : op_find(str_from(r->op))->params;
}

const struct param *rest_param_at(const struct op_route *r, size_t i) {
  size_t n = 0;
  for (const struct param *p = own_params(r); p->name; p++)
    if (is_offered(r, p) && n++ == i)
      return p;
  for (const struct param *p = common_params; !r->params && p->name; p++)
    if (n++ == i)
      return p;
  return NULL;
}

const struct param *rest_param(const struct op_route *r, struct str name) {
  const struct param *p;
  for (size_t i = 0; (p = rest_param_at(r, i)) != NULL; i++)
    if (str_is(name, p->name))
      return p;
  return NULL;
}

bool rest_param_is_id(const struct param *p) {
  return p->value && strcmp(p->value, "ID") == 0 && (p->form == PARAM_TEXT || p->form == PARAM_LIST);
}

static struct str param_names(struct arena *a, const struct op_route *r) {
  struct buf b = BUF(a);
  const struct param *p;
  for (size_t i = 0; (p = rest_param_at(r, i)) != NULL; i++)
    buf_addf(&b, "%s%s", i ? ", " : "", p->name);
  return b.n ? buf_str(&b) : STR("none");
}

static enum status refuse_unknown(struct rest_call *rc, const char *what, struct str name) {
  error_set(&rc->err, STATUS_USAGE, "unknown %s '%.*s'", what, STR_ARG(name));
  return error_fix(&rc->err, "known here: %.*s", STR_ARG(param_names(rc->http->arena, rc->route)));
}

static enum status refuse_duplicate(struct rest_call *rc, struct str name) {
  error_set(&rc->err, STATUS_USAGE, "'%.*s' is given twice", STR_ARG(name));
  return error_fix(&rc->err, "give it once, in the path, the query or the body");
}

static enum status refuse_value(struct rest_call *rc, const struct param *p, struct str value, const char *form) {
  error_set(&rc->err, STATUS_USAGE, "%s: '%.*s' is not %s", p->name, STR_ARG(utf8_cut(value, 80)), form);
  return error_fix(&rc->err, "%s", p->help);
}

/* Converts a text from the path or the query to the argument's type; lists collect repeated values. */
static enum status put_text(struct rest_call *rc, const struct param *p, struct str value) {
  yyjson_mut_val *list = yyjson_mut_obj_get(rc->args, p->name);
  int64_t number;
  double real;
  if (list && p->form != PARAM_LIST)
    return refuse_duplicate(rc, str_from(p->name));
  switch (p->form) {
  case PARAM_TEXT:
    json_put(rc->doc, rc->args, p->name, value);
    break;
  case PARAM_INT:
    if (!str_int64(value, &number))
      return refuse_value(rc, p, value, "a whole number");
    json_put_int(rc->doc, rc->args, p->name, number);
    break;
  case PARAM_NUMBER:
    if (!str_double(value, &real))
      return refuse_value(rc, p, value, "a number");
    json_put_num(rc->doc, rc->args, p->name, real);
    break;
  case PARAM_BOOL:
    if (!str_empty(value) && !str_is(value, "true") && !str_is(value, "false"))
      return refuse_value(rc, p, value, "true or false");
    json_put_bool(rc->doc, rc->args, p->name, !str_is(value, "false"));
    break;
  case PARAM_LIST:
    json_add_str(rc->doc, list ? list : json_put_arr(rc->doc, rc->args, p->name), value);
    break;
  }
  return STATUS_OK;
}

bool rest_has_body(const struct op_route *r) { return strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0; }

static bool is_common(struct str name) {
  for (const struct param *p = common_params; p->name; p++)
    if (str_is(name, p->name))
      return true;
  return false;
}

/* A request with a body may still give the common parameters in the query: project, scope, all_projects. */
static enum status read_queries(struct rest_call *rc) {
  for (size_t i = 0; i < rc->http->query_count; i++) {
    const struct http_pair *q = &rc->http->queries[i];
    const struct param *p = rest_param(rc->route, q->name);
    if (!p || (rest_has_body(rc->route) && !is_common(q->name)))
      return refuse_unknown(
          rc, rest_has_body(rc->route) && p ? "query parameter (send it in the body)" : "query parameter", q->name);
    TRY(put_text(rc, p, q->value));
  }
  return STATUS_OK;
}

/* A memory may be given as a number; operations take ids as text. */
static yyjson_mut_val *body_value(struct rest_call *rc, const struct param *p, yyjson_val *value) {
  yyjson_mut_val *copy = yyjson_val_mut_copy(rc->doc, value);
  if (!rest_param_is_id(p))
    return copy;
  yyjson_mut_val *list = yyjson_mut_is_arr(copy) ? copy : yyjson_mut_arr(rc->doc), *one;
  if (list != copy)
    yyjson_mut_arr_append(list, copy);
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, one) {
    if (!yyjson_mut_is_int(one))
      continue;
    struct str text = arena_printf(rc->http->arena, "%lld", (long long)yyjson_mut_get_sint(one));
    yyjson_mut_set_strn(one, text.p, text.n);
  }
  return copy;
}

static enum status read_body(struct rest_call *rc) {
  struct http_call *http = rc->http;
  yyjson_val *root, *key, *value;
  size_t i, n;
  if (!rest_has_body(rc->route) || str_empty(str_trim(http->body)))
    return STATUS_OK;
  enum status s = json_read(http->arena, http->body, &root, &rc->err);
  if (s != STATUS_OK)
    return error_fix(&rc->err, "send one JSON object as the body");
  if (!yyjson_is_obj(root)) {
    error_set(&rc->err, STATUS_USAGE, "the body is not a JSON object");
    return error_fix(&rc->err, "its members are arguments: %.*s", STR_ARG(param_names(http->arena, rc->route)));
  }
  yyjson_obj_foreach(root, i, n, key, value) {
    struct str name = json_val_str(key);
    const struct param *p = rest_param(rc->route, name);
    if (!p)
      return refuse_unknown(rc, "member", name);
    if (yyjson_mut_obj_get(rc->args, p->name))
      return refuse_duplicate(rc, name);
    yyjson_mut_obj_add_val(rc->doc, rc->args, p->name, body_value(rc, p, value));
  }
  return STATUS_OK;
}

static enum status read_variable(struct rest_call *rc) {
  if (!rc->variable.p || !rc->route->to)
    return STATUS_OK;
  const struct param *p = op_param(op_find(str_from(rc->route->op)), str_from(rc->route->to));
  assert(p);
  return put_text(rc, p, rc->variable);
}

/* Idempotency-Key makes a repeated write happen once. */
static enum status read_idempotency(struct rest_call *rc) {
  struct str key = http_header(rc->http, "Idempotency-Key");
  const struct param *p = rest_param(rc->route, STR("idempotency_key"));
  return key.p && p ? put_text(rc, p, key) : STATUS_OK;
}

/* Routes with their own parameters have no operation to check them. */
static enum status check_own(struct rest_call *rc) {
  struct arena *a = rc->http->arena;
  yyjson_val *args;
  if (!rc->route->params)
    return STATUS_OK;
  const struct op as = {.name = rc->route->path + (rc->route->path[0] == '/'), .params = rc->route->params};
  TRY(json_read(a, json_write(a, rc->args, false), &args, &rc->err));
  return op_check_args(&as, args, &rc->err);
}

/* ---- the caller ---- */

static enum status read_name(struct rest_call *rc, const char *header, struct str *value) {
  struct str given = http_header(rc->http, header);
  if (str_empty(given))
    return STATUS_OK;
  bool plain = given.n <= NAME_MAX_BYTES;
  for (size_t i = 0; i < given.n; i++)
    plain = plain && given.p[i] >= ' ' && given.p[i] < 127;
  if (!plain) {
    error_set(&rc->err, STATUS_USAGE, "the header %s is not a name", header);
    return error_fix(&rc->err, "at most %d printable ASCII characters", NAME_MAX_BYTES);
  }
  *value = given;
  return STATUS_OK;
}

static enum status read_caller(struct rest_call *rc) {
  rc->caller = rc->http->caller;
  rc->caller.source = STR("rest");
  rc->caller.trust = STR("agent");
  bool named;
  TRY(project_of_request(rc->http, &rc->caller, &named, &rc->err));
  TRY(read_name(rc, "X-Cairn-Source", &rc->caller.source));
  return read_name(rc, "Cairn-Session", &rc->caller.session);
}

/* If-Match: the memory must have one of these hashes. Weak tags never match. */
static enum status read_expected(struct rest_call *rc) {
  struct str rest = http_header(rc->http, "If-Match"), part;
  if (!rest.p)
    return STATUS_OK;
  if (!(rc->route->flags & ROUTE_GUARDED)) {
    error_set(&rc->err, STATUS_USAGE, "If-Match is not supported here");
    return error_fix(&rc->err, "use it for changes of one memory, with the memory's last known ETag");
  }
  if (str_is(rest, "*"))
    return STATUS_OK;
  rc->expect = arena_new(rc->http->arena, struct strs);
  while (str_next(&rest, ',', &part)) {
    part = str_trim(part);
    if (part.n >= 2 && part.p[0] == '"' && part.p[part.n - 1] == '"')
      strs_push(rc->http->arena, rc->expect, str_slice(part, 1, part.n - 1));
  }
  return STATUS_OK;
}

/* ---- the whole ---- */

static bool is_json(struct str type) {
  struct str kind;
  return str_next(&type, ';', &kind) && str_ieq(str_trim(kind), STR("application/json"));
}

/* Sets the route's default of `limit`, and checks its maximum. */
static enum status settle_limit(struct rest_call *rc) {
  yyjson_mut_val *limit = yyjson_mut_obj_get(rc->args, "limit");
  assert(rc->route->page);
  if (!limit)
    json_put_int(rc->doc, rc->args, "limit", rc->route->limit);
  int64_t n = limit ? yyjson_mut_get_sint(limit) : rc->route->limit;
  if (n >= 1 && n <= rc->route->limit_max)
    return STATUS_OK;
  error_set(&rc->err, STATUS_USAGE, "limit %lld is outside 1 to %d", (long long)n, rc->route->limit_max);
  return error_fix(&rc->err, "read page by page: set %s to continue after the previous page", rc->route->page);
}

static enum status read_call(struct rest_call *rc) {
  rc->doc = json_new(rc->http->arena);
  rc->args = yyjson_mut_obj(rc->doc);
  TRY(read_caller(rc));
  TRY(read_expected(rc));
  TRY(read_variable(rc));
  TRY(read_queries(rc));
  TRY(read_body(rc));
  TRY(read_idempotency(rc));
  TRY(check_own(rc));
  if (rc->route->with)
    json_put_bool(rc->doc, rc->args, rc->route->with, true);
  const struct param *page = rc->route->page ? rest_param(rc->route, str_from(rc->route->page)) : NULL;
  if (page && page->form == PARAM_INT && !yyjson_mut_obj_get(rc->args, page->name))
    json_put_int(rc->doc, rc->args, page->name, 0); /* pages start at the beginning */
  if (rc->route->limit_max)
    return settle_limit(rc);
  return STATUS_OK;
}

void rest_run(struct http_call *call) {
  assert(str_starts(call->path, STR(REST_ROOT)));
  struct rest_call *rc = arena_new(call->arena, struct rest_call);
  struct str below = str_slice(call->path, sizeof(REST_ROOT) - 1, call->path.n);
  if (str_ends(below, STR("/")))
    below.n--;
  rc->http = call;
  struct lookup f = {.rc = rc, .path = below, .allowed = BUF(call->arena)};
  if (!find_route(&f)) {
    no_route(&f);
    return;
  }
  if (rest_has_body(rc->route) && !str_empty(call->body) && !is_json(http_header(call, "Content-Type"))) {
    http_reply_problem_status(call, 415, "Unsupported Media Type",
                              "send the body as JSON, with Content-Type: application/json");
    return;
  }
  if (rc->route->op && (op_find(str_from(rc->route->op))->flags & OP_SECRET))
    arena_guard(call->arena); /* before a value is read */
  assert(!rc->route->op == (rc->route->run != NULL));
  if (read_call(rc) != STATUS_OK) {
    rest_fail(rc);
    rest_record(rc);
    return;
  }
  if (rc->route->run) {
    rc->caller.part = true;
    rc->route->run(rc);
    if (rc->ran)
      rest_record(rc);
    return;
  }
  yyjson_mut_val *result;
  if (rest_op(rc, rc->route->op, rc->args, &result) == STATUS_OK)
    rest_answer(rc, result);
  else
    rest_fail(rc);
  rest_record(rc);
}
