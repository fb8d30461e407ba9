/* rows.c: values of a result as text for the model, and lists with a line for each element. */
#include "core/trust/present.h"
#include "mcp/tools/internal.h"

struct str tool_as_part(struct arena *a, struct str value) {
  struct str line = present_line(a, value);
  if (!line.n || !memchr(line.p, '|', line.n))
    return line;
  struct buf b = BUF(a);
  for (size_t i = 0; i < line.n; i++)
    buf_addc(&b, line.p[i] == '|' ? '/' : line.p[i]);
  return buf_str(&b);
}

/* An id names a memory as well, and is shorter. */
static void drop_uids(yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_arr(v))
    yyjson_mut_arr_foreach(v, i, n, e) {
      drop_uids(e);
    }
  if (!yyjson_mut_is_obj(v))
    return;
  if (yyjson_mut_obj_get(v, "id"))
    yyjson_mut_obj_remove_key(v, "uid");
  yyjson_mut_obj_foreach(v, i, n, key, e) {
    drop_uids(e);
  }
}

void tool_show_value(struct buf *b, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *e;
  bool plain = yyjson_mut_is_arr(v);
  if (plain)
    yyjson_mut_arr_foreach(v, i, n, e) {
      plain = plain && !yyjson_mut_is_ctn(e);
    }
  if (yyjson_mut_is_str(v)) {
    buf_add(b, present_neutral(b->a, mut_text(v)));
  } else if (plain) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      buf_adds(b, i ? ", " : "");
      tool_show_value(b, e);
    }
  } else {
    yyjson_mut_val *copy = yyjson_mut_val_mut_copy(json_new(b->a), v);
    drop_uids(copy);
    buf_add(b, present_neutral(b->a, json_write(b->a, copy, false)));
  }
}

struct str tool_message_text(struct arena *a, yyjson_mut_val *v) {
  struct str fix = present_neutral(a, mut_member(v, "fix")), message = present_neutral(a, mut_member(v, "message"));
  return fix.n ? arena_printf(a, "%.*s (%.*s)", STR_ARG(message), STR_ARG(fix)) : message;
}

struct str tool_value_part(struct arena *a, yyjson_mut_val *v) {
  struct buf b = BUF(a);
  if (yyjson_mut_is_str(v) && memchr(mut_text(v).p, '\n', mut_text(v).n))
    return present_neutral(a, json_write(a, v, false)); /* in quotes, with its line breaks as \n */
  if (yyjson_mut_is_obj(v) && mut_member(v, "message").p)
    return tool_as_part(a, tool_message_text(a, v));
  tool_show_value(&b, v);
  return tool_as_part(a, buf_str(&b));
}

bool tool_is_empty(yyjson_mut_val *v) {
  return (yyjson_mut_is_str(v) && yyjson_mut_get_len(v) == 0) ||
         (yyjson_mut_is_ctn(v) && yyjson_mut_arr_size(v) == 0 && yyjson_mut_obj_size(v) == 0);
}

bool tool_is_one_of(struct str name, const char *const *names) {
  for (; *names; names++)
    if (str_is(name, *names))
      return true;
  return false;
}

bool tool_is_false(yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (!yyjson_mut_is_obj(v))
    return yyjson_mut_is_false(v) || yyjson_mut_is_null(v);
  yyjson_mut_obj_foreach(v, i, n, key, e) {
    if (!tool_is_false(e))
      return false;
  }
  return true;
}

/* Members of an element that tell a model nothing: identity of machines, and values that are the default. */
static bool is_row_noise(yyjson_mut_val *row, struct str name, yyjson_mut_val *v) {
  static const char *const useless[] = {"uid",       "kind",        "pid",         "host", "client_version",
                                        "booted_at", "environment", "duration_ms", NULL};
  bool is_default = str_is(mut_member(row, "origin"), "default");
  return tool_is_one_of(name, useless) || tool_is_empty(v) || (tool_is_false(v) && !str_is(name, "ok")) ||
         (str_is(name, "embedded") && yyjson_mut_is_true(v)) ||
         (str_is(name, "state") && str_is(mut_text(v), "active")) ||
         (is_default && (str_is(name, "default") || str_is(name, "origin")));
}

static void show_row(struct buf *b, yyjson_mut_val *row) {
  size_t i, n, k, count;
  yyjson_mut_val *key, *v, *w;
  const char *before = "- ";
  yyjson_mut_obj_foreach(row, i, n, key, v) {
    struct str name = mut_text(key);
    if (is_row_noise(row, name, v))
      continue;
    if (str_is(name, "warnings")) {
      yyjson_mut_arr_foreach(v, k, count, w) {
        buf_addf(b, "%swarning: %.*s", before, STR_ARG(tool_value_part(b->a, w)));
        before = " | ";
      }
      continue;
    }
    buf_addf(b, "%s%.*s: %.*s", before, STR_ARG(name), STR_ARG(tool_value_part(b->a, v)));
    before = " | ";
  }
  buf_addc(b, '\n');
}

void tool_show_rows(struct buf *b, yyjson_mut_val *list) {
  size_t i, n;
  yyjson_mut_val *e;
  yyjson_mut_arr_foreach(list, i, n, e) {
    show_row(b, e);
  }
}

bool tool_has_rows(yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *e;
  bool all = yyjson_mut_is_arr(v) && yyjson_mut_arr_size(v) > 0;
  yyjson_mut_arr_foreach(v, i, n, e) {
    all = all && yyjson_mut_is_obj(e);
  }
  return all;
}
