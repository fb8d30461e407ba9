/* value.c: converts a client's value to the form of its argument.
 *
 * Clients and models send numbers as text, one text for a list of one, a list as JSON text: every unambiguous value is
 * accepted. */
#include <assert.h>

#include "mcp/tools/internal.h"

static const char *const form_names[] = {
    [TOOL_TEXT] = "a text",        [TOOL_INT] = "a whole number",        [TOOL_NUMBER] = "a number",
    [TOOL_BOOL] = "true or false", [TOOL_LIST] = "a list of texts",      [TOOL_INTS] = "a list of whole numbers",
    [TOOL_OBJECT] = "an object",   [TOOL_OBJECTS] = "a list of objects", [TOOL_ID] = "an id, uid or key",
};

const char *tool_form_name(enum tool_form form) {
  assert(form < ARRAY_LEN(form_names));
  return form_names[form];
}

/* Parses a list or an object that was sent as JSON text. */
static yyjson_val *unpack(struct tool_run *run, yyjson_val *v, char first) {
  struct str s = str_trim(json_val_str(v));
  struct error ignored;
  yyjson_val *inner = NULL;
  if (!s.n || s.p[0] != first || json_read(run->arena, s, &inner, &ignored) != STATUS_OK)
    return v;
  return inner;
}

static yyjson_mut_val *as_int(struct tool_run *run, yyjson_val *v) {
  int64_t i;
  if (yyjson_is_int(v))
    return yyjson_val_mut_copy(run->doc, v);
  if (yyjson_is_str(v) && str_int64(str_trim(json_val_str(v)), &i))
    return yyjson_mut_sint(run->doc, i);
  if (!yyjson_is_real(v))
    return NULL;
  double d = yyjson_get_real(v);
  if (!(d > -9e15 && d < 9e15) || (double)(int64_t)d < d || (double)(int64_t)d > d)
    return NULL;
  return yyjson_mut_sint(run->doc, (int64_t)d);
}

static yyjson_mut_val *as_text(struct tool_run *run, yyjson_val *v) {
  if (yyjson_is_str(v))
    return yyjson_val_mut_copy(run->doc, v);
  yyjson_mut_val *whole = yyjson_is_real(v) ? as_int(run, v) : NULL;
  if (whole)
    return yyjson_mut_strcpy(run->doc, arena_printf(run->arena, "%lld", (long long)yyjson_mut_get_sint(whole)).p);
  if (!yyjson_is_int(v))
    return NULL;
  struct str s = yyjson_is_uint(v) ? arena_printf(run->arena, "%llu", (unsigned long long)yyjson_get_uint(v))
                                   : arena_printf(run->arena, "%lld", (long long)yyjson_get_sint(v));
  return yyjson_mut_strncpy(run->doc, s.p, s.n);
}

static yyjson_mut_val *as_number(struct tool_run *run, yyjson_val *v) {
  double d;
  if (yyjson_is_num(v))
    return yyjson_val_mut_copy(run->doc, v);
  return yyjson_is_str(v) && str_double(str_trim(json_val_str(v)), &d) ? yyjson_mut_real(run->doc, d) : NULL;
}

static yyjson_mut_val *as_bool(struct tool_run *run, yyjson_val *v) {
  if (yyjson_is_bool(v))
    return yyjson_val_mut_copy(run->doc, v);
  struct str s = json_val_str(v);
  if (str_ieq(s, STR("true")) || str_ieq(s, STR("false")))
    return yyjson_mut_bool(run->doc, s.n == 4);
  return NULL;
}

static yyjson_mut_val *as_object(struct tool_run *run, yyjson_val *v) {
  v = unpack(run, v, '{');
  return yyjson_is_obj(v) ? yyjson_val_mut_copy(run->doc, v) : NULL;
}

static yyjson_mut_val *as_one(struct tool_run *run, enum tool_form form, yyjson_val *v) {
  switch (form) {
  case TOOL_INT:
  case TOOL_INTS:
    return as_int(run, v);
  case TOOL_NUMBER:
    return as_number(run, v);
  case TOOL_BOOL:
    return as_bool(run, v);
  case TOOL_OBJECT:
  case TOOL_OBJECTS:
    return as_object(run, v);
  case TOOL_TEXT:
  case TOOL_LIST:
  case TOOL_ID:
    break;
  }
  return as_text(run, v);
}

yyjson_mut_val *tool_value(struct tool_run *run, enum tool_form form, yyjson_val *v) {
  if (form != TOOL_LIST && form != TOOL_INTS && form != TOOL_OBJECTS)
    return as_one(run, form, v);
  v = unpack(run, v, '[');
  yyjson_mut_val *list = yyjson_mut_arr(run->doc);
  if (!yyjson_is_arr(v)) {
    yyjson_mut_val *one = as_one(run, form, v);
    return one && yyjson_mut_arr_append(list, one) ? list : NULL;
  }
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(v, i, n, e) {
    yyjson_mut_val *one = as_one(run, form, e);
    if (!one)
      return NULL;
    yyjson_mut_arr_append(list, one);
  }
  return list;
}
