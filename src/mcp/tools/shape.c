/* shape.c: interprets the tables of shape.h. */
#include "mcp/tools/shape.h"

#include <assert.h>

#include "base/utf8.h"
#include "mcp/tools/internal.h"

struct str text_preview(struct str text, size_t characters) {
  size_t at = 0;
  for (size_t i = 0; i < characters && at < text.n; i++)
    utf8_next(text, &at);
  return (struct str){text.p, at};
}

static yyjson_mut_val *follow(yyjson_mut_val *from, struct str path) {
  struct str name;
  while (from && str_next(&path, '.', &name))
    from = yyjson_mut_obj_getn(from, name.p, name.n);
  return from;
}

/* The first alternative that exists; NULL if there is none. */
static yyjson_mut_val *find(yyjson_mut_val *from, struct str paths) {
  struct str path;
  yyjson_mut_val *v = NULL;
  while (!v && str_next(&paths, '|', &path))
    v = follow(from, path);
  return v;
}

static yyjson_mut_val *argument(struct tool_run *run, struct str names) {
  struct str name;
  yyjson_val *v = NULL;
  while (!v && str_next(&names, '|', &name))
    v = yyjson_obj_getn(run->args, name.p, name.n);
  return v ? yyjson_val_mut_copy(run->doc, v) : NULL;
}

static yyjson_mut_val *upper(yyjson_mut_doc *doc, struct str text) {
  yyjson_mut_val *v = yyjson_mut_strncpy(doc, text.p, text.n);
  char *p = (char *)(uintptr_t)yyjson_mut_get_str(v);
  for (size_t i = 0; p && i < text.n; i++)
    p[i] = p[i] >= 'a' && p[i] <= 'z' ? (char)(p[i] - 'a' + 'A') : p[i];
  return v;
}

static yyjson_mut_val *now(struct tool_run *run) {
  char text[TIME_TEXT_SIZE];
  assert(run->engine);
  struct str s = time_format(clock_now(&run->engine->clock), text);
  return yyjson_mut_strncpy(run->doc, s.p, s.n);
}

static bool is_set(yyjson_mut_val *v) {
  if (yyjson_mut_is_int(v))
    return yyjson_mut_get_sint(v) != 0;
  if (yyjson_mut_is_str(v))
    return yyjson_mut_get_len(v) > 0;
  return v && !yyjson_mut_is_false(v) && !yyjson_mut_is_null(v);
}

static bool applies(const struct shape *row, yyjson_mut_val *from) {
  assert(row->how == SHAPE_WHEN || row->how == SHAPE_UNLESS);
  struct str path = str_from(row->members);
  size_t eq = str_find(path, STR("="), 0);
  bool yes = eq == SIZE_MAX ? is_set(find(from, path))
                            : str_eq(mut_text(find(from, str_slice(path, 0, eq))), str_slice(path, eq + 1, path.n));
  return yes == (row->how == SHAPE_WHEN);
}

static yyjson_mut_val *format(struct tool_run *run, struct str template, yyjson_mut_val *from) {
  struct buf b = BUF(run->arena);
  struct str part, path;
  while (str_next(&template, '{', &part)) {
    buf_add(&b, part);
    if (!str_next(&template, '}', &path))
      continue;
    yyjson_mut_val *v = find(from, path);
    if (yyjson_mut_is_str(v))
      buf_add(&b, mut_text(v));
    else
      buf_addf(&b, "%lld",
               yyjson_mut_is_arr(v) ? (long long)yyjson_mut_arr_size(v) : (long long)yyjson_mut_get_sint(v));
  }
  return yyjson_mut_strncpy(run->doc, b.p, b.n);
}

static yyjson_mut_val *pluck(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name) {
  yyjson_mut_val *to = yyjson_mut_arr(doc), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, v) {
    yyjson_mut_val *member = yyjson_mut_obj_get(v, name);
    if (member)
      yyjson_mut_arr_append(to, yyjson_mut_val_mut_copy(doc, member));
  }
  return to;
}

/* The new value; NULL if the member is to be left out. */
static yyjson_mut_val *convert(struct tool_run *run, const struct shape *row, yyjson_mut_val *v) {
  yyjson_mut_doc *doc = run->doc;
  struct str text = mut_text(v);
  switch (row->how) {
  case SHAPE_COPY:
    return v ? yyjson_mut_val_mut_copy(doc, v) : NULL;
  case SHAPE_NULLABLE:
    return v ? yyjson_mut_val_mut_copy(doc, v) : yyjson_mut_null(doc);
  case SHAPE_LIST:
    return yyjson_mut_is_arr(v) ? yyjson_mut_val_mut_copy(doc, v) : yyjson_mut_arr(doc);
  case SHAPE_EACH:
    return shape_list(run, v, row->rows);
  case SHAPE_PLUCK:
    return pluck(doc, v, row->name);
  case SHAPE_COUNT:
    return yyjson_mut_sint(doc, (int64_t)yyjson_mut_arr_size(v));
  case SHAPE_TEXT:
    return text.p ? yyjson_mut_val_mut_copy(doc, v) : yyjson_mut_str(doc, "");
  case SHAPE_UPPER:
    return text.p ? upper(doc, text) : yyjson_mut_null(doc);
  case SHAPE_PREVIEW:
    text = text_preview(text.p ? text : STR(""), row->characters);
    return yyjson_mut_strncpy(doc, text.p, text.n);
  case SHAPE_INT:
    return yyjson_mut_sint(doc, yyjson_mut_is_int(v) ? yyjson_mut_get_sint(v) : 0);
  case SHAPE_REAL:
    return yyjson_mut_real(doc, yyjson_mut_is_num(v) ? yyjson_mut_get_num(v) : 0);
  case SHAPE_ROUND:
    return yyjson_mut_real(doc, json_round(yyjson_mut_is_num(v) ? yyjson_mut_get_num(v) : 0, 4));
  case SHAPE_BOOL:
    return yyjson_mut_bool(doc, yyjson_mut_is_true(v));
  case SHAPE_NOT:
    return yyjson_mut_bool(doc, !is_set(v));
  case SHAPE_IS:
    return yyjson_mut_bool(doc, str_is(text, row->is));
  default:
    assert(false); /* add_row() handles the other rows */
    return NULL;
  }
}

static void add(yyjson_mut_doc *doc, yyjson_mut_val *to, struct str name, yyjson_mut_val *v) {
  if (v)
    yyjson_mut_obj_add(to, yyjson_mut_strn(doc, name.p, name.n), v);
}

static void add_members(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *from, const struct shape *row) {
  struct str rest = str_from(row->members), name;
  while (str_next(&rest, ' ', &name)) {
    struct str source = name;
    size_t eq = str_find(name, STR("="), 0);
    if (eq != SIZE_MAX) {
      source = str_slice(name, eq + 1, name.n);
      name = str_slice(name, 0, eq);
    }
    add(run->doc, to, name, row->how == SHAPE_ARG ? argument(run, source) : convert(run, row, find(from, source)));
  }
}

static void add_fixed(struct tool_run *run, yyjson_mut_val *to, const char *members) {
  yyjson_val *object = NULL, *key, *v;
  struct error err;
  size_t i, n;
  enum status s = json_read(run->arena, arena_printf(run->arena, "{%s}", members), &object, &err);
  assert(s == STATUS_OK);
  (void)s;
  yyjson_obj_foreach(object, i, n, key, v) {
    yyjson_mut_obj_add(to, yyjson_val_mut_copy(run->doc, key), yyjson_val_mut_copy(run->doc, v));
  }
}

static void add_row(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *from, const struct shape *row) {
  struct str name = str_from(row->members);
  assert(row->how == SHAPE_CALL ? row->call != NULL : name.n > 0);
  switch (row->how) {
  case SHAPE_CALL:
    row->call(run, to, from);
    break;
  case SHAPE_WHEN:
  case SHAPE_UNLESS:
    if (applies(row, from))
      shape_add(run, to, from, row->rows);
    break;
  case SHAPE_FIXED:
    add_fixed(run, to, row->members);
    break;
  case SHAPE_NOW:
    add(run->doc, to, name, now(run));
    break;
  case SHAPE_FORMAT:
    add(run->doc, to, name, format(run, str_from(row->format), from));
    break;
  case SHAPE_OBJECT:
    add(run->doc, to, name, shape_object(run, from, row->rows));
    break;
  default:
    add_members(run, to, from, row);
  }
}

void shape_add(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *from, const struct shape *rows) {
  assert(rows && yyjson_mut_is_obj(to));
  for (const struct shape *row = rows; row->how != SHAPE_END; row++)
    add_row(run, to, from, row);
}

yyjson_mut_val *shape_object(struct tool_run *run, yyjson_mut_val *from, const struct shape *rows) {
  yyjson_mut_val *to = yyjson_mut_obj(run->doc);
  shape_add(run, to, from, rows);
  return to;
}

yyjson_mut_val *shape_list(struct tool_run *run, yyjson_mut_val *list, const struct shape *rows) {
  yyjson_mut_val *to = yyjson_mut_arr(run->doc), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, v) {
    yyjson_mut_arr_append(to, shape_object(run, v, rows));
  }
  return to;
}
