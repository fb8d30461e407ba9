/* convert.c: conversion between the structures of cairn.h and the JSON of operations. */
#include "lib/convert.h"

#include <assert.h>

#include "base/os/clock.h"
#include "base/utf8.h"

/* ---- structures to arguments ---- */

struct args args_new(struct lib_call *call) {
  yyjson_mut_doc *doc = json_new(&call->arena);
  return (struct args){.call = call, .doc = doc, .root = yyjson_mut_obj(doc)};
}

/* json_put() would silently replace invalid UTF-8. */
static bool check_text(struct args *a, const char *name, struct str text) {
  if (utf8_check(text) != text.n)
    a->status = error_set(&a->call->err, STATUS_USAGE, "%s is not valid UTF-8", name);
  return a->status == STATUS_OK;
}

void args_string(struct args *a, const char *name, struct str text) {
  if (text.p && check_text(a, name, text))
    json_put(a->doc, a->root, name, text);
}

void args_list(struct args *a, const char *name, const char *const *list) {
  yyjson_mut_val *arr = list ? json_put_arr(a->doc, a->root, name) : NULL;
  for (; arr && *list; list++)
    if (check_text(a, name, str_from(*list)))
      json_add_str(a->doc, arr, str_from(*list));
}

void args_int(struct args *a, const char *name, int64_t value) { json_put_int(a->doc, a->root, name, value); }

static void add_member(struct args *a, const struct member *m, const void *at) {
  switch (m->form) {
  case FORM_TEXT:
    args_string(a, m->name, str_from(*(const char *const *)at));
    break;
  case FORM_LIST:
    args_list(a, m->name, *(const char *const *const *)at);
    break;
  case FORM_NUMBER:
    if (*(const double *)at != 0)
      json_put_num(a->doc, a->root, m->name, *(const double *)at);
    break;
  case FORM_INT:
    if (*(const int *)at != 0)
      json_put_int(a->doc, a->root, m->name, *(const int *)at);
    break;
  case FORM_BOOL:
    if (*(const bool *)at)
      json_put_bool(a->doc, a->root, m->name, true);
    break;
  }
}

void args_members(struct args *a, const struct member *list, size_t n, const void *structure) {
  for (size_t i = 0; i < n; i++)
    add_member(a, &list[i], (const char *)structure + list[i].offset);
}

static enum status add_more(struct args *a, const char *more, struct error *err) {
  yyjson_val *obj, *key, *value;
  size_t i, n;
  TRY(json_read(&a->call->arena, str_from(more), &obj, err));
  if (!yyjson_is_obj(obj))
    return error_set(err, STATUS_USAGE, "more must be a JSON object");
  yyjson_obj_foreach(obj, i, n, key, value) {
    struct str name = json_val_str(key);
    if (yyjson_mut_obj_getn(a->root, name.p, name.n))
      return error_set(err, STATUS_USAGE, "'%.*s' is given twice: as a member and in more", STR_ARG(name));
    yyjson_mut_obj_add(a->root, yyjson_mut_strncpy(a->doc, name.p, name.n), yyjson_val_mut_copy(a->doc, value));
  }
  return STATUS_OK;
}

void args_more(struct args *a, const char *more) {
  if (more && a->status == STATUS_OK)
    a->status = add_more(a, more, &a->call->err);
}

enum status newer_structure(struct lib_call *c, const char *name) {
  return error_set(&c->err, STATUS_USAGE, "%s has members that version %s does not know", name, CAIRN_VERSION);
}

enum status args_run(struct args *a, const char *operation, struct str *ret_json, yyjson_val **ret_root) {
  struct lib_call *c = a->call;
  struct str json;
  TRY(a->status);
  yyjson_doc *args = yyjson_mut_val_imut_copy(a->root, &a->doc->alc);
  assert(!c->head && !c->done); /* one operation for each call */
  TRY(lib_run(c, operation, yyjson_doc_get_root(args), &json));
  *ret_json = arena_dup(&c->result, json);
  return json_read(&c->result, *ret_json, ret_root, &c->err);
}

/* ---- JSON to structures ---- */

const char *text_of(yyjson_val *obj, const char *name) { return yyjson_get_str(yyjson_obj_get(obj, name)); }

int64_t time_of(yyjson_val *obj, const char *name) {
  int64_t ms = 0;
  struct str s = json_str(obj, name);
  return s.p && time_parse(s, &ms) ? ms : 0;
}

const char *const *list_of(struct lib_call *c, yyjson_val *obj, const char *name) {
  yyjson_val *arr = yyjson_obj_get(obj, name), *v;
  const char **list = arena_array(&c->result, const char *, yyjson_arr_size(arr) + 1);
  size_t i, n, used = 0;
  yyjson_arr_foreach(arr, i, n, v) {
    if (yyjson_is_str(v))
      list[used++] = yyjson_get_str(v);
  }
  assert(used <= yyjson_arr_size(arr) && !list[used]);
  return list;
}
