/* render.c: chooses the renderer of a result, and helpers for renderers. */
#include "cli/render/render.h"

#include <assert.h>

#include "cli/render/layout.h"
#include "core/memory/types.h"

/* ---- text ---- */

void page_text(struct page *page, struct str text) {
  if (page->term.tty)
    term_safe(&page->b, text, false);
  else
    buf_add(&page->b, text);
}

void page_prose(struct page *page, struct str text) {
  if (page->term.tty) {
    struct buf safe = BUF(page->b.a);
    term_safe(&safe, text, false);
    term_prose(&page->b, buf_str(&safe), page->term.width);
    return;
  }
  buf_add(&page->b, text);
  if (text.n && text.p[text.n - 1] != '\n')
    buf_addc(&page->b, '\n');
}

struct str page_one_line(struct page *page, struct str text) {
  struct buf b = BUF(page->b.a);
  if (page->term.tty) {
    term_safe(&b, text, true);
    return buf_str(&b);
  }
  if (!text.n || (!memchr(text.p, '\n', text.n) && !memchr(text.p, '\r', text.n)))
    return text;
  buf_add(&b, text);
  for (size_t i = 0; i < b.n; i++)
    if (b.p[i] == '\n' || b.p[i] == '\r')
      b.p[i] = ' ';
  return buf_str(&b);
}

void page_styled(struct page *page, const char *style, struct str text) {
  assert(style);
  buf_adds(&page->b, style);
  buf_add(&page->b, text);
  if (style[0])
    buf_adds(&page->b, page->term.style.reset);
}

void page_line(struct page *page, const char *style, struct str text, size_t columns_used) {
  text = page_one_line(page, text);
  if (page->term.tty && page->term.width > columns_used)
    text = term_fit(page->b.a, text, page->term.width - columns_used);
  page_styled(page, style, text);
}

void page_wrap(struct page *page, struct str text, size_t at) {
  text = page_one_line(page, text);
  if (page->term.tty && page->term.width > at)
    term_wrap(&page->b, text, at, at, page->term.width);
  else
    buf_add(&page->b, text);
}

void page_wrap_styled(struct page *page, const char *style, struct str text, size_t at) {
  buf_adds(&page->b, style);
  page_wrap(page, text, at);
  buf_adds(&page->b, style[0] ? page->term.style.reset : "");
}

static void add_value(struct page *page, struct buf *out, yyjson_val *v) {
  size_t i, n;
  yyjson_val *key, *item;
  if (yyjson_is_arr(v)) {
    yyjson_arr_foreach(v, i, n, item) {
      buf_adds(out, i ? ", " : "");
      add_value(page, out, item);
    }
  } else if (yyjson_is_obj(v)) {
    yyjson_obj_foreach(v, i, n, key, item) {
      struct str label = page_label(page, json_val_str(key)); /* counts by project have "" for global memories */
      buf_addf(out, "%s%.*s ", i ? ", " : "", STR_ARG(label.n ? label : STR("global")));
      add_value(page, out, item);
    }
  } else if (yyjson_is_str(v)) {
    buf_add(out, json_val_str(v));
  } else if (yyjson_is_bool(v)) {
    buf_adds(out, yyjson_get_bool(v) ? "yes" : "no");
  } else if (yyjson_is_int(v)) {
    buf_addf(out, "%lld", (long long)yyjson_get_sint(v));
  } else if (yyjson_is_num(v)) {
    buf_addf(out, "%.4g", yyjson_get_num(v));
  }
}

struct str page_value(struct page *page, yyjson_val *value) {
  struct buf b = BUF(page->b.a);
  add_value(page, &b, value);
  return buf_str(&b);
}

struct str page_choice(struct page *page, struct str value) {
  if (!page->term.tty)
    return value;
  struct buf b = BUF(page->b.a);
  for (size_t i = 0; i < value.n; i++)
    buf_addc(&b, value.p[i] == '_' ? ' ' : value.p[i]);
  return buf_str(&b);
}

struct str page_kind(yyjson_val *memory) {
  const struct mem_type *t = type_find(json_str(memory, "type"));
  if (str_is(json_str(memory, "corpus"), "items")) /* named as in items.json */
    return str_from(t && t->item ? t->item : "note");
  struct str kind = json_str(memory, "kind"), type = json_str(memory, "type");
  struct str severity = json_str(memory, "severity");
  if (type.n && !str_eq(kind, type))
    return type;
  return severity.n ? severity : kind;
}

const char *page_kind_style(const struct page *page, struct str kind) {
  const struct style *style = &page->term.style;
  return str_is(kind, "blocker") ? style->red : str_is(kind, "task") ? style->yellow : "";
}

struct str page_scope(struct page *page, yyjson_val *memory) {
  struct str project = json_str(memory, "project");
  if (str_eq(project, page->project))
    return STR("");
  return project.n ? arena_printf(page->b.a, " · project %.*s", STR_ARG(project)) : STR(" · global");
}

/* Members that hold a time, by name. */
static bool is_time(struct str name) {
  return str_ends(name, STR("_at")) || str_is(name, "valid_from") || str_is(name, "last_accessed");
}

/* Members that hold one of a fixed set of values. */
static bool is_choice(struct str name) { return str_is(name, "delivery") || str_is(name, "status"); }

static struct str member_text(struct page *page, struct str name, yyjson_val *value) {
  struct str text = page_value(page, value);
  return is_choice(name) ? page_choice(page, text) : text;
}

struct str page_label(struct page *page, struct str name) {
  static const struct {
    const char *name, *label;
  } labels[] = {
      {"rel", "relation"},
      {"uid", "UID"},
      {"state_by", "changed by"},
      {"state_reason", "reason"},
      {"skill_name", "skill"},
      {"skill_always_on", "always on"},
      {"skill_keywords", "keywords"},
      {"skill_projects", "skill projects"},
      {"access_count", "reads"},
      {"judged", "checked for injection"},
      {"suspect_txns", "written by transactions"},
  };
  for (size_t i = 0; i < ARRAY_LEN(labels); i++)
    if (str_is(name, labels[i].name))
      return str_from(labels[i].label);
  if (str_ends(name, STR("_at")))
    name = str_slice(name, 0, name.n - 3);
  struct buf label = BUF(page->b.a);
  for (size_t i = 0; i < name.n; i++)
    buf_addc(&label, name.p[i] == '_' ? ' ' : name.p[i]);
  return buf_str(&label);
}

static void add_member(struct page *page, struct str name, yyjson_val *value) {
  struct str text = member_text(page, name, value);
  if (text.n == 0)
    return;
  struct str label = page_label(page, name);
  buf_addf(&page->b, "  %s%.*s:%s ", page->term.style.dim, STR_ARG(label), page->term.style.reset);
  if (yyjson_is_str(value) && is_time(name)) {
    struct str time = term_time(page->b.a, text), age = term_age(page->b.a, text, page->now);
    page_wrap(page, age.n ? arena_printf(page->b.a, "%.*s (%.*s)", STR_ARG(time), STR_ARG(age)) : time,
              term_columns(label) + 4);
  } else if (memchr(text.p, '\n', text.n)) {
    page_text(page, text);
  } else {
    page_wrap(page, text, term_columns(label) + 4);
  }
  buf_addc(&page->b, '\n');
}

void page_members(struct page *page, yyjson_val *obj, const char *const *names) {
  for (; *names; names++)
    add_member(page, str_from(*names), yyjson_obj_get(obj, *names));
}

/* ---- tables ---- */

void table_add(struct table *t, const struct str cells[]) {
  assert(t->a && t->columns > 0 && t->columns <= TABLE_COLUMNS);
  struct str *row = arena_array(t->a, struct str, t->columns);
  memcpy(row, cells, t->columns * sizeof(*row));
  list_push(t->a, &t->rows, row);
}

static void print_cell(struct page *page, const char *style, struct str text, size_t width, bool right) {
  size_t columns = term_columns(text);
  if (right)
    term_pad(&page->b, columns, width);
  page_styled(page, style, text);
  if (!right)
    term_pad(&page->b, columns, width);
}

static const char *cell_style(const struct table *t, const struct page *page, size_t r, size_t c) {
  if (t->heading && r == 0)
    return page->term.style.bold;
  return t->kind[c] ? page_kind_style(page, t->rows.v[r][c]) : c == 0 ? page->term.style.dim : "";
}

/* One row of a table that is too wide: the first cells on a line, the last one below them. With column names, the first
 * cell on a line, and the others with their names below it. */
static void print_stacked(const struct table *t, struct page *page, size_t r) {
  enum { INDENT = 4 };
  struct str *cells = t->rows.v[r];
  struct buf first = BUF(page->b.a), rest = BUF(page->b.a);
  size_t last = t->columns - 1;
  for (size_t c = 0; c < t->columns; c++) {
    bool below = t->heading ? c > 0 : c == last;
    struct buf *b = below ? &rest : &first;
    if (cells[c].n == 0)
      continue;
    buf_adds(b, b->n ? (t->heading ? ", " : "  ") : "");
    if (below && t->heading)
      buf_addf(b, "%.*s ", STR_ARG(t->rows.v[0][c]));
    buf_add(b, cells[c]);
  }
  page_line(page, t->heading ? "" : page->term.style.dim, buf_str(&first), 0);
  buf_addc(&page->b, '\n');
  if (rest.n == 0)
    return;
  term_pad(&page->b, 0, INDENT);
  page_wrap(page, buf_str(&rest), INDENT);
  buf_addc(&page->b, '\n');
}

static void print_row(const struct table *t, struct page *page, size_t r, const size_t *width, size_t used) {
  size_t last = t->columns - 1;
  for (size_t c = 0; c < last; c++) {
    if (width[c] == 0)
      continue;
    print_cell(page, cell_style(t, page, r, c), t->rows.v[r][c], width[c], t->right[c]);
    buf_adds(&page->b, "  ");
  }
  if (t->right[last])
    print_cell(page, cell_style(t, page, r, last), t->rows.v[r][last], width[last], true);
  else if (t->wrap)
    page_wrap(page, t->rows.v[r][last], used);
  else
    page_line(page, last ? cell_style(t, page, r, last) : "", t->rows.v[r][last], used);
  while (page->b.n && page->b.p[page->b.n - 1] == ' ')
    page->b.n--;
  buf_addc(&page->b, '\n');
}

void table_print(struct table *t, struct page *page) {
  enum { LAST_MIN = 20 }; /* columns that a text needs to be readable */
  assert(t->columns > 0 && t->columns <= TABLE_COLUMNS);
  size_t width[TABLE_COLUMNS] = {0}, last = t->columns - 1, used = 0;
  for (size_t r = 0; r < t->rows.n; r++)
    for (size_t c = 0; c < t->columns; c++) {
      t->rows.v[r][c] = page_one_line(page, t->rows.v[r][c]);
      size_t columns = term_columns(t->rows.v[r][c]);
      width[c] = columns > width[c] ? columns : width[c];
    }
  for (size_t c = 0; c < last; c++)
    used += width[c] ? width[c] + 2 : 0;
  size_t needed = t->right[last] || width[last] < LAST_MIN ? width[last] : LAST_MIN;
  bool stacked = page->term.tty && used + needed > page->term.width;
  for (size_t r = 0; r < t->rows.n; r++)
    if (!stacked)
      print_row(t, page, r, width, used);
    else if (r > 0 || !t->heading)
      print_stacked(t, page, r);
}

/* ---- choosing ---- */

static const struct renderer *renderer_of(const struct op *op) {
  const struct renderer *const tables[] = {memory_renderers,  store_renderers,      eval_renderers, session_renderers,
                                           observe_renderers, transcript_renderers, other_renderers};
  for (size_t i = 0; i < ARRAY_LEN(tables); i++)
    for (const struct renderer *r = tables[i]; r->op; r++)
      if (strcmp(r->op, op->name) == 0) {
        assert(!r->layout != !r->result);
        return r;
      }
  return NULL;
}

static void render_any(struct page *page, yyjson_val *result) {
  size_t i, n;
  yyjson_val *key, *value;
  yyjson_obj_foreach(result, i, n, key, value) {
    if (!str_is(json_val_str(key), "txn"))
      add_member(page, json_val_str(key), value);
  }
}

/* A small change of one memory: "12: delivery pinned". */
static void render_change(struct page *page, yyjson_val *result) {
  size_t i, n, shown = 0;
  yyjson_val *key, *value;
  page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(result, "id")));
  yyjson_obj_foreach(result, i, n, key, value) {
    struct str name = json_val_str(key);
    if (str_is(name, "id") || str_is(name, "uid") || str_is(name, "txn") || str_is(name, "warnings"))
      continue;
    struct str label = page_label(page, name);
    buf_addf(&page->b, "%s%.*s ", shown++ ? ", " : ": ", STR_ARG(label));
    page_line(page, "", member_text(page, name, value), 0);
  }
  buf_addc(&page->b, '\n');
}

static bool is_none(yyjson_val *list) { return yyjson_is_arr(list) && yyjson_arr_size(list) == 0; }

/* Duplicates, memories that were forgotten before, an undo of nothing. */
static bool changed_nothing(yyjson_val *result) {
  yyjson_val *changes = yyjson_obj_get(result, "changes");
  if (yyjson_is_int(yyjson_obj_get(result, "stored")) &&
      json_int(result, "stored", 0) + json_int(result, "superseded", 0) + json_int(result, "updated", 0) == 0)
    return true;
  return str_is(json_str(result, "action"), "skipped") || is_none(yyjson_obj_get(result, "forgotten")) ||
         is_none(yyjson_obj_get(result, "pruned")) || is_none(changes) ||
         (yyjson_is_int(changes) && yyjson_get_sint(changes) == 0);
}

/* Values of the vault, items and purged texts are not in the log. */
static bool has_undo(const struct op *op, yyjson_val *result) {
  return json_int(result, "txn", 0) && (op->flags & OP_WRITE) && !(op->flags & OP_NO_TXN) && !changed_nothing(result) &&
         !str_starts(str_from(op->name), STR("vault ")) && strcmp(op->name, "extract") != 0 &&
         strcmp(op->name, "purge") != 0;
}

/* False for the folder of an existing source, which 'source add' reads again. */
static bool is_new_source(yyjson_val *folder) {
  return json_int(folder, "read", 0) == json_int(folder, "files", -1) && json_int(folder, "added", 0) > 0 &&
         json_int(folder, "changed", 0) + json_int(folder, "removed", 0) == 0;
}

/* The command that reverses a change which has no transaction of the log, or "". */
static struct str reversing_command(struct page *page, const struct op *op, yyjson_val *result) {
  yyjson_val *folder = yyjson_arr_get_first(yyjson_obj_get(result, "sources"));
  if (strcmp(op->name, "agent add") == 0)
    return layout_line(page, result, "cairn agent remove {name}");
  if (strcmp(op->name, "source remove") == 0)
    return layout_line(page, result, "cairn source add {shell folder}");
  if (strcmp(op->name, "source add") == 0 && is_new_source(folder))
    return layout_line(page, folder, "cairn source remove {shell folder}");
  return STR("");
}

/* How to revert a change. */
static void add_undo(struct page *page, const struct op *op, yyjson_val *result) {
  struct str command =
      has_undo(op, result) ? layout_line(page, result, "cairn undo {txn}") : reversing_command(page, op, result);
  if (command.n)
    buf_addf(&page->b, "%sundo: %.*s%s\n", page->term.style.dim, STR_ARG(command), page->term.style.reset);
}

void render_result(struct page *page, const struct op *op, yyjson_val *result) {
  yyjson_val *id = yyjson_obj_get(result, "id");
  if (page->quiet && (op->flags & OP_WRITE)) {
    struct str token = json_str(result, "token"); /* shown only once: must not be lost */
    if (token.p)
      buf_addf(&page->b, "%.*s\n", STR_ARG(token));
    else if (yyjson_is_int(id))
      buf_addf(&page->b, "%lld\n", (long long)yyjson_get_sint(id));
    return;
  }
  const struct renderer *r = renderer_of(op);
  if (r && r->layout)
    layout_render(page, result, r->layout);
  else if (r && r->result)
    r->result(page, result);
  else if (yyjson_is_int(id) && json_int(result, "txn", 0))
    render_change(page, result);
  else
    render_any(page, result);
  add_undo(page, op, result);
}

bool render_line(struct page *page, const struct op *op, yyjson_val *line) {
  const struct renderer *r = renderer_of(op);
  if (!r || !r->line)
    return false;
  r->line(page, line);
  return true;
}

/* MESSAGE_INDENT: below "cairn: " and "  try: ". WARNED_INDENT: below a headline. */
enum { MESSAGE_INDENT = 7, WARNED_INDENT = 12 };

/* A text of ours that may quote stored text; it starts at column `at`. A command stays in one piece, to be copied. */
static void add_message(struct page *page, struct str text, size_t at, size_t indent) {
  struct buf safe = BUF(page->b.a);
  term_safe(&safe, text, true);
  if (page->term.tty && !str_starts(text, STR("cairn ")))
    term_wrap(&page->b, buf_str(&safe), at, indent, page->term.width);
  else
    buf_add(&page->b, buf_str(&safe));
  buf_addc(&page->b, '\n');
}

static void add_fix(struct page *page, struct str fix) {
  if (fix.n == 0)
    return;
  buf_adds(&page->b, "  try: ");
  add_message(page, fix, MESSAGE_INDENT, MESSAGE_INDENT);
}

void render_error(struct page *page, const char *message, const char *fix) {
  const struct style *style = &page->term.style;
  buf_addf(&page->b, "cairn: %s", style->red);
  add_message(page, str_from(message), MESSAGE_INDENT, MESSAGE_INDENT);
  page->b.n--; /* the style ends before the line end */
  buf_addf(&page->b, "%s\n", style->reset);
  add_fix(page, str_from(fix));
}

static void add_warning(struct page *page, struct str message) {
  static const struct str label = STR_INIT("warning:");
  buf_addf(&page->b, "cairn: %s%.*s%s ", page->term.style.yellow, STR_ARG(label), page->term.style.reset);
  add_message(page, message, MESSAGE_INDENT + label.n + 1, MESSAGE_INDENT);
}

/* The message of a warning. On a terminal without the headline of a duplicate, which is shown above it. */
static struct str warning_message(const struct page *page, yyjson_val *warning, struct str shown) {
  struct str message = json_str(warning, "message");
  size_t at = shown.n ? str_find(message, shown, 0) : SIZE_MAX;
  if (!page->term.tty || !str_is(json_str(warning, "code"), "duplicate") || at == SIZE_MAX ||
      !str_ends(str_slice(message, 0, at), STR(": ")))
    return message;
  return arena_printf(page->b.a, "%.*s%.*s", (int)at - 2, message.p,
                      STR_ARG(str_slice(message, at + shown.n, message.n)));
}

static void render_warning(struct page *page, yyjson_val *warning, struct str shown) {
  size_t i, n;
  yyjson_val *m;
  struct str message = warning_message(page, warning, shown);
  bool is_quoted = false; /* the message quotes one of the memories */
  add_warning(page, message);
  yyjson_arr_foreach(yyjson_obj_get(warning, "memories"), i, n, m) {
    if (page->term.tty && !is_quoted && str_find(message, json_str(m, "headline"), 0) != SIZE_MAX) {
      is_quoted = true;
      continue;
    }
    buf_addf(&page->b, "  %lld  ", (long long)json_int(m, "id", 0));
    if (yyjson_is_num(yyjson_obj_get(m, "similarity")))
      buf_addf(&page->b, "%.2f  ", json_num(m, "similarity", 0));
    add_message(page, json_str(m, "headline"), WARNED_INDENT, WARNED_INDENT);
  }
  add_fix(page, json_str(warning, "fix"));
}

void render_warnings(struct page *page, yyjson_val *result) {
  size_t i, n;
  yyjson_val *w;
  yyjson_arr_foreach(yyjson_obj_get(result, "warnings"), i, n, w) {
    render_warning(page, w, json_str(result, "headline"));
  }
  /* Not in the payload of boot, which an agent reads. */
  if (json_str(result, "warning").n)
    add_warning(page, json_str(result, "warning"));
}
