/* match.c: route lookup. */
#include <assert.h>

#include "http/server/uri.h"

struct walk {
  struct str pattern, path;
};

static void walk_init(struct walk *w, const char *pattern, struct str path) {
  assert(pattern[0] == '/' && path.n > 0 && path.p[0] == '/');
  w->pattern = str_from(pattern);
  w->path = path.n > 1 && path.p[path.n - 1] == '/' ? str_slice(path, 0, path.n - 1) : path;
  w->pattern = str_slice(w->pattern, 1, w->pattern.n);
  w->path = str_slice(w->path, 1, w->path.n);
}

static bool is_variable(struct str part) { return part.n > 2 && part.p[0] == '{' && part.p[part.n - 1] == '}'; }

/* The next segment of both; false at the end of the pattern. The path's segment is absent if the path is shorter. */
static bool walk_next(struct walk *w, struct str *ret_part, struct str *ret_piece) {
  if (str_is(w->pattern, "*")) {
    *ret_part = w->pattern;
    *ret_piece = w->path.p ? w->path : STR("");
    w->pattern = w->path = STR_NONE;
    return true;
  }
  if (!str_next(&w->pattern, '/', ret_part))
    return false;
  if (!str_next(&w->path, '/', ret_piece))
    *ret_piece = STR_NONE;
  return true;
}

static bool matches(const char *pattern, struct str path) {
  if (str_empty(path) || path.p[0] != '/' || str_ends(path, STR("//")))
    return false;
  struct walk w;
  walk_init(&w, pattern, path);
  struct str part, piece;
  while (walk_next(&w, &part, &piece)) {
    if (str_is(part, "*"))
      return true;
    if (is_variable(part) ? str_empty(piece) : !str_eq(part, piece))
      return false;
  }
  return str_empty(w.path);
}

static bool method_matches(const char *method, struct str given) {
  return !method || str_is(given, method) || (str_is(given, "HEAD") && strcmp(method, "GET") == 0);
}

const struct http_route *http_route_find(const struct http_route *routes, struct str method, struct str path) {
  for (const struct http_route *r = routes; r->path; r++)
    if (method_matches(r->method, method) && matches(r->path, path))
      return r;
  return NULL;
}

const struct http_route *http_routes_of(const struct http_call *call) {
  return call->server && call->server->routes ? call->server->routes : http_routes;
}

struct str http_path_part(const struct http_call *call, const char *name) {
  assert(call->route);
  struct walk w;
  walk_init(&w, call->route->path, call->path);
  struct str part, piece, text;
  while (walk_next(&w, &part, &piece)) {
    bool wanted =
        is_variable(part) ? str_is(str_slice(part, 1, part.n - 1), name) : str_is(part, "*") && strcmp(name, "*") == 0;
    if (wanted)
      return uri_decode(call->arena, piece, false, &text) ? text : STR_NONE;
  }
  return STR_NONE;
}

/* The methods of the path: "GET, HEAD, POST". */
static struct str allowed_methods(const struct http_call *call) {
  struct buf b = BUF(call->arena);
  for (const struct http_route *r = http_routes_of(call); r->path; r++) {
    if (!r->method || !matches(r->path, call->path) || str_find(buf_str(&b), str_from(r->method), 0) != SIZE_MAX)
      continue;
    buf_addf(&b, "%s%s", b.n ? ", " : "", r->method);
    if (strcmp(r->method, "GET") == 0)
      buf_adds(&b, ", HEAD");
  }
  return buf_str(&b);
}

static void no_route(struct http_call *call) {
  struct str methods = allowed_methods(call);
  if (str_empty(methods)) {
    http_reply_problem_status(call, 404, "Not Found", "no such path");
    return;
  }
  http_add_header(call, "Allow", arena_printf(call->arena, "%.*s, OPTIONS", STR_ARG(methods)));
  if (str_is(call->method, "OPTIONS"))
    http_reply_text(call, 204, NULL, STR(""));
  else
    http_reply_problem_status(call, 405, "Method Not Allowed", "see the Allow header for the methods of this path");
}

/* Every segment must decode before a route reads one. */
static bool is_decodable(struct http_call *call) {
  struct str text;
  return uri_decode(call->arena, call->path, false, &text);
}

void http_dispatch(struct http_call *call) {
  if (!is_decodable(call)) {
    http_reply_problem_status(call, 400, "Bad Request", "the path has a broken escape, a NUL or invalid UTF-8");
    return;
  }
  call->route = http_route_find(http_routes_of(call), call->method, call->path);
  if (call->route)
    call->route->run(call);
  else
    no_route(call);
  assert(call->status); /* every route replies */
}
