/* completion.c: completion/complete: values of arguments: projects, skills, memories. */
#include "mcp/protocol/prompts.h"
#include "mcp/protocol/resources.h"
#include "op/access/authenticate.h"
#include "op/handlers.h"

enum { VALUES_MAX = 100 };

struct values {
  struct strs list;
  bool is_filtered; /* matches the prefix and is ordered; else the list has all values, unordered */
  bool has_more;
};

/* Ignores ASCII case. */
static bool has_prefix(struct str s, struct str typed) {
  return s.n >= typed.n && str_ieq(str_slice(s, 0, typed.n), typed);
}

static int by_bytes(const void *a, const void *b) { return str_cmp(*(const struct str *)a, *(const struct str *)b); }

static enum status projects(struct exchange *x, struct strs *ret, struct error *err) {
  yyjson_val *stats, *key, *v;
  const struct principal *who = x->caller.principal;
  if (who && who->role == ROLE_PROJECT) { /* this role may not call stats */
    for (size_t i = 0; i < who->projects.n; i++)
      strs_push(x->arena, ret, who->projects.v[i]);
    return STATUS_OK;
  }
  TRY(exchange_op(x, "stats", STR("{}"), &stats, err));
  size_t i, n;
  yyjson_obj_foreach(yyjson_obj_get(stats, "by_project"), i, n, key, v) {
    if (yyjson_get_len(key))
      strs_push(x->arena, ret, json_val_str(key));
  }
  return STATUS_OK;
}

static enum status skills(struct exchange *x, struct strs *ret, struct error *err) {
  yyjson_val *found, *v;
  TRY(exchange_op(x, "skill list", STR("{}"), &found, err));
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(found, "skills"), i, n, v) {
    if (!json_bool(v, "untrusted", false)) /* completions are shown without a request of the user */
      strs_push(x->arena, ret, json_str(v, "name"));
  }
  return STATUS_OK;
}

/* Ids with the prefix, shortest first. */
static enum status memories(struct exchange *x, struct str typed, struct values *ret, struct error *err) {
  yyjson_val *found, *v;
  yyjson_mut_val *args = yyjson_mut_obj(x->doc);
  json_put(x->doc, args, "prefix", typed);
  json_put_int(x->doc, args, "limit", VALUES_MAX);
  TRY(exchange_call(x, &complete_ids, json_write(x->arena, args, false), &found, err));
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(found, "ids"), i, n, v) {
    strs_push(x->arena, &ret->list, arena_printf(x->arena, "%lld", (long long)yyjson_get_sint(v)));
  }
  ret->is_filtered = true;
  ret->has_more = json_bool(found, "more", false);
  return STATUS_OK;
}

/* Sorts the list and drops values without the prefix. */
static void filter(struct exchange *x, struct values *values, struct str typed) {
  struct strs kept = {0};
  if (values->list.n)
    qsort(values->list.v, values->list.n, sizeof(values->list.v[0]), by_bytes);
  for (size_t i = 0; i < values->list.n; i++)
    if (has_prefix(values->list.v[i], typed))
      strs_push(x->arena, &kept, values->list.v[i]);
  values->list = kept;
  values->has_more = kept.n > VALUES_MAX;
}

static void answer(struct exchange *x, struct values *found, struct str typed) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc), *completion = json_put_obj(x->doc, result, "completion");
  yyjson_mut_val *values = json_put_arr(x->doc, completion, "values");
  bool counted = !found->is_filtered;
  if (counted)
    filter(x, found, typed);
  for (size_t i = 0; i < found->list.n && i < VALUES_MAX; i++)
    json_add_str(x->doc, values, found->list.v[i]);
  if (counted || !found->has_more) /* counting all matches in a large store would take too long */
    json_put_int(x->doc, completion, "total", (int64_t)found->list.n);
  json_put_bool(x->doc, completion, "hasMore", found->has_more);
  exchange_result(x, result);
}

static enum status values_of(struct exchange *x, struct str argument, struct str typed, struct values *ret,
                             struct error *err) {
  if (str_is(argument, "project"))
    return projects(x, &ret->list, err);
  if (str_is(argument, "name"))
    return skills(x, &ret->list, err);
  return str_is(argument, "id") ? memories(x, typed, ret, err) : STATUS_OK;
}

static bool is_known_ref(struct exchange *x, yyjson_val *ref) {
  struct str type = json_str(ref, "type");
  if (str_is(type, "ref/prompt"))
    return prompt_find(json_str(ref, "name")) || x->server->options.conformance;
  struct str uri = json_str(ref, "uri"), variable;
  if (!str_is(type, "ref/resource") || !uri.p)
    return false;
  if (x->server->options.conformance || resource_of_template(uri) || resource_find(x->arena, uri, &variable))
    return true;
  for (const struct profile_resource *r = x->profile->resources; r && r->uri; r++)
    if (str_is(uri, r->uri))
      return true;
  return false;
}

void method_complete(struct exchange *x) {
  yyjson_val *ref = yyjson_obj_get(x->in->params, "ref"), *argument = yyjson_obj_get(x->in->params, "argument");
  struct str name = json_str(argument, "name"), typed = json_str(argument, "value");
  struct values found = {0};
  struct error err = {0};
  if (!name.p || !typed.p)
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: argument needs a name and a value");
  else if (!is_known_ref(x, ref))
    exchange_error(x, 200, RPC_PARAMS, NULL,
                   "Invalid params: ref must name a prompt or a resource template of this server");
  else if (values_of(x, name, typed, &found, &err) != STATUS_OK)
    exchange_failed(x, &err);
  else
    answer(x, &found, typed);
}
