/* foreign.c: helpers for profiles that imitate other systems. */
#include "mcp/profiles/foreign.h"

#include <assert.h>

#include "core/text/text.h"
#include "core/trust/present.h"

struct str result_text(yyjson_mut_val *obj, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_str(v) ? (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)} : STR_NONE;
}

int64_t result_int(yyjson_mut_val *obj, const char *name) { return yyjson_mut_get_sint(yyjson_mut_obj_get(obj, name)); }

void result_copy(struct tool_run *run, yyjson_mut_val *into, const char *as, yyjson_mut_val *from, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj_get(from, name);
  if (v)
    yyjson_mut_obj_add_val(run->doc, into, as, yyjson_mut_val_mut_copy(run->doc, v));
}

static yyjson_mut_val *find_warning(yyjson_mut_val *result, const char *code) {
  size_t i, n;
  yyjson_mut_val *w;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "warnings"), i, n, w) {
    if (str_is(result_text(w, "code"), code))
      return w;
  }
  return NULL;
}

yyjson_mut_val *near_warning(yyjson_mut_val *result) {
  yyjson_mut_val *w = find_warning(result, "contradiction");
  return w ? w : find_warning(result, "near"); /* a write has only one of them */
}

/* The text of a profile is not presented later: its structured result is. */
struct str pretty_json(struct tool_run *run, yyjson_mut_val *v) {
  return present_neutral(run->arena, json_write(run->arena, v, true));
}

void answer_json(struct tool_run *run, yyjson_mut_val *result, yyjson_mut_val *shown) {
  assert(yyjson_mut_is_obj(result) && shown);
  run->text = pretty_json(run, shown);
  run->result = result;
}

yyjson_mut_val *new_args(struct tool_run *run) { return yyjson_mut_obj(run->doc); }

void add_text(struct tool_run *run, yyjson_mut_val *args, const char *name, struct str value) {
  if (value.p)
    json_put(run->doc, args, name, value);
}

void add_bool(struct tool_run *run, yyjson_mut_val *args, const char *name, bool value) {
  json_put_bool(run->doc, args, name, value);
}

void add_int(struct tool_run *run, yyjson_mut_val *args, const char *name, int64_t value) {
  json_put_int(run->doc, args, name, value);
}

void add_headline(struct tool_run *run, yyjson_mut_val *args, struct str text, struct str label) {
  enum { SHOWN = 20 };
  struct str part = text_preview(text_collapse(run->arena, text), SHOWN);
  if (!str_empty(part) && !text_has_letter(text))
    add_text(run, args, "headline", arena_printf(run->arena, "%.*s %.*s", STR_ARG(label), STR_ARG(part)));
}

struct str ideas_warning(struct tool_run *run, yyjson_mut_val *stored) {
  yyjson_mut_val *w = find_warning(stored, "several_ideas");
  if (!w)
    return STR_NONE;
  return arena_printf(run->arena, "%.*s: %.*s", STR_ARG(result_text(w, "message")),
                      STR_ARG(tool_rewrite_advice(run, result_text(w, "fix"))));
}

enum status run_get(struct tool_run *run, struct str ref, yyjson_mut_val **ret_memory) {
  yyjson_mut_val *args = new_args(run);
  add_text(run, args, "id", ref);
  return tool_op(run, "get", args, ret_memory);
}

enum status run_list(struct tool_run *run, yyjson_mut_val *args, wanted_fn wanted, const void *arg, size_t limit,
                     yyjson_mut_val **ret_list) {
  enum { PAGE = 200 };
  yyjson_mut_val *all = yyjson_mut_arr(run->doc), *page, *m;
  int64_t offset = 0, total = 1;
  assert(limit > 0 && yyjson_mut_is_obj(args));
  add_int(run, args, "limit", PAGE);
  add_text(run, args, "detail", STR("full"));
  while (offset < total && yyjson_mut_arr_size(all) < limit) {
    yyjson_mut_obj_put(args, yyjson_mut_str(run->doc, "offset"), yyjson_mut_sint(run->doc, offset));
    TRY(tool_op(run, "list", args, &page));
    total = result_int(page, "total");
    offset += PAGE;
    size_t i, n;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(page, "memories"), i, n, m) {
      if (yyjson_mut_arr_size(all) < limit && (!wanted || wanted(m, arg)))
        yyjson_mut_arr_append(all, yyjson_mut_val_mut_copy(run->doc, m));
    }
  }
  *ret_list = all;
  return STATUS_OK;
}
