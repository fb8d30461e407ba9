/* advice.c: rewrites advice about the command line as REST requests, using the table of routes. */
#include "op/run/advice.h"

#include <assert.h>

#include "http/rest/rest.h"
#include "http/server/uri.h"

static bool accepts(const struct op_route *r, struct str name) {
  return (r->to && str_is(name, r->to)) || rest_param(r, name);
}

/* True if the route accepts all of these arguments, and they include what its path needs. */
static bool accepts_all(const struct op_route *r, yyjson_mut_val *args) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  if (r->to && !yyjson_mut_obj_get(args, r->to))
    return false;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    if (!accepts(r, (struct str){yyjson_mut_get_str(key), yyjson_mut_get_len(key)}))
      return false;
  }
  return true;
}

/* Score of a route: a path that names the memory is preferred, then a body if there are arguments. DELETE routes are
 * never suggested: each has an alternative with a name. */
static int fitness(const struct op_route *r, const struct op *op, yyjson_mut_val *args) {
  if (!r->op || strcmp(r->op, op->name) != 0 || strcmp(r->method, "DELETE") == 0 || !accepts_all(r, args))
    return 0;
  bool has_args = yyjson_mut_obj_size(args) > (r->to ? 1 : 0);
  return 1 + (r->to ? 2 : 0) + (rest_has_body(r) == has_args ? 1 : 0);
}

static bool find_route(struct arena *a, const struct op *op, yyjson_mut_val *args, struct op_route *ret) {
  int best = 0;
  for (const struct op_route *r = rest_routes(); r->method; r++) {
    int n = fitness(r, op, args);
    if (n > best)
      *ret = *r;
    best = n > best ? n : best;
  }
  return best || (rest_generic_route(a, op, ret) && accepts_all(ret, args));
}

static struct str text_of(struct arena *a, yyjson_mut_val *v) {
  if (yyjson_mut_is_str(v))
    return (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
  return json_write(a, v, false);
}

static void add_path(struct buf *b, struct arena *a, const struct op_route *r, yyjson_mut_val *args) {
  const char *open = strchr(r->path, '{'), *close = open ? strchr(open, '}') : NULL;
  if (!close) {
    buf_adds(b, r->path);
    return;
  }
  assert(r->to && yyjson_mut_obj_get(args, r->to));
  buf_add(b, (struct str){r->path, (size_t)(open - r->path)});
  uri_encode(b, text_of(a, yyjson_mut_obj_get(args, r->to)));
  buf_adds(b, close + 1);
  yyjson_mut_obj_remove_key(args, r->to);
}

static void add_query(struct buf *b, struct arena *a, yyjson_mut_val *args) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    buf_addf(b, "%c%s=", i ? '&' : '?', yyjson_mut_get_str(key));
    uri_encode(b, text_of(a, v));
  }
}

static struct str format_request(const struct advice_interface *advisor, const struct op *op, yyjson_mut_val *args) {
  struct op_route r;
  if (!find_route(advisor->arena, op, args, &r))
    return STR_NONE;
  struct buf b = BUF(advisor->arena);
  buf_addf(&b, "%s " REST_ROOT, r.method);
  add_path(&b, advisor->arena, &r, args);
  if (!rest_has_body(&r))
    add_query(&b, advisor->arena, args);
  else if (yyjson_mut_obj_size(args))
    buf_addf(&b, " %s", json_write(advisor->arena, args, false).p);
  return buf_str(&b);
}

struct str rest_advice(struct arena *a, struct str text) {
  struct advice_interface advisor = {.arena = a,
                                     .doc = json_new(a),
                                     .call = format_request,
                                     .session = "the header Cairn-Session",
                                     .elsewhere = "on the machine of the store"};
  return advice_translate(&advisor, text);
}

void rest_advise_error(struct arena *a, struct error *err) {
  struct error rewritten = *err;
  if (err->fix[0])
    error_fix(&rewritten, "%.*s", STR_ARG(rest_advice(a, str_from(err->fix))));
  *err = rewritten;
}

static struct str rewrite(void *arg, struct str text) { return rest_advice(arg, text); }

void rest_advise_result(struct arena *a, const char *op, yyjson_mut_val *result) {
  if (op && op_find(str_from(op)))
    advice_rewrite_result(a, op_find(str_from(op)), result, rewrite, a);
}
