/* advice.c: what operations say about the command line, said again for somebody who has only routes: the same call
 * as a request is found in the table of routes. */
#include "op/run/advice.h"
#include "http/rest/rest.h"

static bool offers(const struct rest_route *r, struct str name) {
  return (r->to && str_is(name, r->to)) || rest_param(r, name);
}

/* Does the route take all of these, and everything that its path needs? */
static bool takes(const struct rest_route *r, yyjson_mut_val *args) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  if (r->to && !yyjson_mut_obj_get(args, r->to))
    return false;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    if (!offers(r, (struct str){yyjson_mut_get_str(key), yyjson_mut_get_len(key)}))
      return false;
  }
  return true;
}

/* How well a route fits: a path that names the thing before one that does not; a body for what has arguments, where
 * there is a choice. Deleting by its method is never suggested: such routes have a second one with a name. */
static int fitness(const struct rest_route *r, const struct op *op, yyjson_mut_val *args) {
  if (!r->op || strcmp(r->op, op->name) != 0 || strcmp(r->method, "DELETE") == 0 || !takes(r, args))
    return 0;
  bool has_args = yyjson_mut_obj_size(args) > (r->to ? 1 : 0);
  return 1 + (r->to ? 2 : 0) + (rest_has_body(r) == has_args ? 1 : 0);
}

static bool find_route(struct arena *a, const struct op *op, yyjson_mut_val *args, struct rest_route *ret) {
  int best = 0;
  for (const struct rest_route *r = rest_routes; r->method; r++) {
    int n = fitness(r, op, args);
    if (n > best)
      *ret = *r;
    best = n > best ? n : best;
  }
  return best || (rest_other(a, op, ret) && takes(ret, args));
}

static struct str text_of(struct arena *a, yyjson_mut_val *v) {
  if (yyjson_mut_is_str(v))
    return (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
  return json_write(a, v, false);
}

static void add_path(struct buf *b, struct arena *a, const struct rest_route *r, yyjson_mut_val *args) {
  const char *open = strchr(r->path, '{'), *close = open ? strchr(open, '}') : NULL;
  if (!close) {
    buf_adds(b, r->path);
    return;
  }
  buf_add(b, (struct str){r->path, (size_t)(open - r->path)});
  rest_add_encoded(b, text_of(a, yyjson_mut_obj_get(args, r->to)));
  buf_adds(b, close + 1);
  yyjson_mut_obj_remove_key(args, r->to);
}

static void add_query(struct buf *b, struct arena *a, yyjson_mut_val *args) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    buf_addf(b, "%c%s=", i ? '&' : '?', yyjson_mut_get_str(key));
    rest_add_encoded(b, text_of(a, v));
  }
}

static struct str call_at(const struct words_door *door, const struct op *op, yyjson_mut_val *args) {
  struct rest_route r;
  if (!find_route(door->arena, op, args, &r))
    return STR_NONE;
  struct buf b = BUF(door->arena);
  buf_addf(&b, "%s " REST_ROOT, r.method);
  add_path(&b, door->arena, &r, args);
  if (!rest_has_body(&r))
    add_query(&b, door->arena, args);
  else if (yyjson_mut_obj_size(args))
    buf_addf(&b, " %s", json_write(door->arena, args, false).p);
  return buf_str(&b);
}

struct str rest_words(struct arena *a, struct str text) {
  struct words_door door = {.arena = a,
                            .doc = json_new(a),
                            .call = call_at,
                            .help = REST_ROOT "/openapi.json",
                            .session = "the header Cairn-Session",
                            .elsewhere = "on the machine of the store"};
  return words_at(&door, text);
}

void rest_error_words(struct arena *a, struct error *err) {
  struct error said = *err;
  error_set(&said, err->code, "%.*s", STR_ARG(rest_words(a, str_from(err->message))));
  said.step = err->step;
  said.about = err->about;
  said.similarity = err->similarity;
  if (err->fix[0])
    error_fix(&said, "%.*s", STR_ARG(rest_words(a, str_from(err->fix))));
  *err = said;
}

static void say(struct arena *a, yyjson_mut_val *of, struct str name, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v) && words_are_advice(of, name)) {
    struct str said = rest_words(a, (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)});
    yyjson_mut_set_strn(v, said.p, said.n);
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      say(a, of, name, e);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      say(a, v, (struct str){yyjson_mut_get_str(key), yyjson_mut_get_len(key)}, e);
    }
  }
}

void rest_result_words(struct arena *a, yyjson_mut_val *result) { say(a, NULL, STR(""), result); }
