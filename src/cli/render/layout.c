/* layout.c: interpreter of layouts. */
#include "cli/render/layout.h"

#include <assert.h>

enum { HASH_SHOWN = 16, DAY_BYTES = 10, LABEL_COLUMNS = 12 };

struct target {
  struct page *page;
  yyjson_val *obj;
  bool cell; /* the table makes cells safe, and has no styles */
};

/* ---- members ---- */

static yyjson_val *find_one(yyjson_val *obj, struct str path) {
  struct str name;
  if (str_is(path, "."))
    return obj;
  while (str_next(&path, '.', &name))
    obj = yyjson_obj_getn(obj, name.p, name.n);
  return obj;
}

static bool is_filled(struct page *page, yyjson_val *v) {
  if (yyjson_is_bool(v) || yyjson_is_int(v))
    return yyjson_is_bool(v) ? yyjson_get_bool(v) : yyjson_get_sint(v) != 0;
  return page_value(page, v).n > 0;
}

/* The first of the alternatives that is not empty, else the last. */
static yyjson_val *find(const struct target *s, struct str paths) {
  yyjson_val *v = NULL;
  for (struct str path; str_next(&paths, '|', &path);) {
    v = find_one(s->obj, path);
    if (is_filled(s->page, v))
      break;
  }
  return v;
}

/* ---- formats ---- */

static int64_t count_of(yyjson_val *v) { return yyjson_is_arr(v) ? (int64_t)yyjson_arr_size(v) : yyjson_get_sint(v); }

/* "stored 3, skipped 1" or "3 stored, 1 skipped", without what did not happen. */
static struct str counts(struct page *page, yyjson_val *obj, struct str names, bool number_first) {
  struct buf b = BUF(page->b.a);
  for (struct str name; str_next(&names, ' ', &name);) {
    int64_t n = yyjson_get_sint(yyjson_obj_getn(obj, name.p, name.n));
    if (n == 0)
      continue;
    struct str label = page_label(page, name);
    buf_adds(&b, b.n ? ", " : "");
    if (number_first)
      buf_addf(&b, "%lld %.*s", (long long)n, STR_ARG(label));
    else
      buf_addf(&b, "%.*s %lld", STR_ARG(label), (long long)n);
  }
  return b.n ? buf_str(&b) : STR("no changes");
}

static struct str format_n(struct page *page, yyjson_val *v) {
  return arena_printf(page->b.a, "%lld", (long long)count_of(v));
}
static struct str format_s(struct page *page UNUSED, yyjson_val *v) { return count_of(v) == 1 ? STR("") : STR("s"); }
static struct str format_2(struct page *page, yyjson_val *v) {
  return arena_printf(page->b.a, "%.2f", yyjson_get_num(v));
}
static struct str format_seconds(struct page *page, yyjson_val *v) {
  int64_t ms = yyjson_get_sint(v);
  return arena_printf(page->b.a, "%lld.%lld s", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
}
/* "0.56 ms", "12.3 ms", "14.5 s" */
static struct str format_ms(struct page *page, yyjson_val *v) {
  double ms = yyjson_get_num(v);
  if (ms >= 10000)
    return arena_printf(page->b.a, "%.1f s", ms / 1000);
  return arena_printf(page->b.a, ms < 10 ? "%.2f ms" : ms < 100 ? "%.1f ms" : "%.0f ms", ms);
}
static struct str format_span(struct page *page, yyjson_val *v) {
  long long s = (long long)yyjson_get_num(v);
  if (s >= 86400)
    return arena_printf(page->b.a, "%lld d %lld h", s / 86400, s / 3600 % 24);
  if (s >= 3600)
    return arena_printf(page->b.a, "%lld h %lld min", s / 3600, s / 60 % 60);
  return arena_printf(page->b.a, "%lld min %lld s", s / 60, s % 60);
}
static struct str format_label(struct page *page, yyjson_val *v) {
  return arena_printf(page->b.a, "%-*.*s", (int)LABEL_COLUMNS, STR_ARG(json_val_str(v)));
}
static struct str format_bytes(struct page *page, yyjson_val *v) { return term_bytes(page->b.a, yyjson_get_sint(v)); }
static struct str format_time(struct page *page, yyjson_val *v) { return term_time(page->b.a, json_val_str(v)); }
static struct str format_age(struct page *page, yyjson_val *v) {
  return term_age(page->b.a, json_val_str(v), page->now);
}
static struct str format_day(struct page *page UNUSED, yyjson_val *v) {
  struct str time = json_val_str(v);
  return time.n >= DAY_BYTES ? str_slice(time, 0, DAY_BYTES) : STR("");
}
static struct str format_hash(struct page *page UNUSED, yyjson_val *v) {
  return str_slice(json_val_str(v), 0, HASH_SHOWN);
}
static struct str format_json(struct page *page, yyjson_val *v) { return v ? json_write_val(page->b.a, v) : STR(""); }
static struct str format_choice(struct page *page, yyjson_val *v) { return page_choice(page, page_value(page, v)); }
/* One word for a shell: in quotes if it needs them. */
static struct str format_shell(struct page *page, yyjson_val *v) {
  struct str text = json_val_str(v);
  struct buf b = BUF(page->b.a);
  bool is_plain = text.n > 0;
  for (size_t i = 0; i < text.n; i++) {
    is_plain = is_plain && (ascii_alpha(text.p[i]) || ascii_digit(text.p[i]) || strchr("/._-+:@%", text.p[i]));
    if (text.p[i] == '\'')
      buf_adds(&b, "'\\''");
    else
      buf_addc(&b, text.p[i]);
  }
  return is_plain ? text : arena_printf(page->b.a, "'%.*s'", STR_ARG(buf_str(&b)));
}
static struct str format_changes(struct page *page, yyjson_val *v) {
  return counts(page, v, STR("added changed removed"), true);
}

static const struct {
  const char *name;
  struct str (*format)(struct page *page, yyjson_val *v); /* NULL: a style */
} formats[] = {
    {"text", NULL}, /* unchanged, with line ends */
    {"bold", NULL}, /* and other styles, on one line */
    {"dim", NULL},
    {"red", NULL},
    {"yellow", NULL},
    {"green", NULL},
    {"n", format_n},             /* a number, or the number of elements; 0 if missing */
    {"s", format_s},             /* the s of a plural, by the same number */
    {"2", format_2},             /* with two decimals */
    {"seconds", format_seconds}, /* from milliseconds */
    {"ms", format_ms},           /* milliseconds */
    {"span", format_span},       /* "3 h 12 min", from seconds */
    {"label", format_label},     /* as wide as the labels of '=' lines */
    {"bytes", format_bytes},
    {"time", format_time},
    {"age", format_age},
    {"day", format_day},
    {"hash", format_hash}, /* the beginning of it */
    {"json", format_json},
    {"choice", format_choice},   /* a value from a fixed set, without underscores on a terminal */
    {"shell", format_shell},     /* quoted for a shell */
    {"changes", format_changes}, /* "2 added, 1 changed" of an object with these counts */
};

static const char *style_of(const struct page *page, struct str name) {
  const struct style *style = &page->term.style;
  return str_is(name, "bold")     ? style->bold
         : str_is(name, "dim")    ? style->dim
         : str_is(name, "red")    ? style->red
         : str_is(name, "yellow") ? style->yellow
         : str_is(name, "green")  ? style->green
                                  : "";
}

static size_t find_format(struct str name) {
  size_t i = 0;
  while (i < ARRAY_LEN(formats) && !str_is(name, formats[i].name))
    i++;
  return i;
}

/* ---- templates ---- */

/* The end of the group that starts at `i`. */
static size_t group_end(struct str t, size_t i) {
  size_t depth = 0;
  for (; i < t.n; i++) {
    depth += t.p[i] == '{' || t.p[i] == '[' || t.p[i] == '<';
    depth -= t.p[i] == '}' || t.p[i] == ']' || t.p[i] == '>';
    if (depth == 0)
      return i;
  }
  assert(false); /* layouts are constants with matching brackets */
  return t.n;
}

/* Cuts the text up to a separator outside of groups from the start of *rest; all of it if there is none. */
static struct str cut(struct str *rest, struct str separator) {
  size_t i = 0;
  while (i < rest->n && !str_starts(str_slice(*rest, i, rest->n), separator))
    i = (memchr("{[<", rest->p[i], 3) ? group_end(*rest, i) : i) + 1;
  struct str head = str_slice(*rest, 0, i);
  *rest = i < rest->n ? str_slice(*rest, i + separator.n, rest->n) : (struct str){rest->p + rest->n, 0};
  return head;
}

/* A placeholder in its parts: {FORMAT name COLUMNS:DEFAULT}. */
struct placeholder {
  struct str format, name, otherwise;
  int64_t columns;
};

static struct placeholder parse(struct str t) {
  struct placeholder p = {0};
  struct str word;
  size_t colon = str_find(t, STR(":"), 0);
  if (colon != SIZE_MAX) {
    p.otherwise = str_slice(t, colon + 1, t.n);
    t = str_slice(t, 0, colon);
  }
  str_next(&t, ' ', &p.name);
  while (str_next(&t, ' ', &word))
    if (!str_int64(word, &p.columns)) {
      p.format = p.name;
      p.name = word;
    }
  return p;
}

static void put(const struct target *s, const struct placeholder *p, struct str text) {
  struct page *page = s->page;
  if (s->cell)
    buf_add(&page->b, text);
  else if (str_is(p->format, "text"))
    page_text(page, text);
  else
    page_line(page, style_of(page, p->format), text, (size_t)p->columns);
}

static void add_placeholder(const struct target *s, struct str t) {
  struct page *page = s->page;
  struct placeholder p = parse(t);
  if (str_starts(t, STR("counts "))) {
    /* "stored 1" would look like memory 1 */
    put(s, &p, counts(page, s->obj, str_slice(t, 7, t.n), page->term.tty));
    return;
  }
  if (str_is(t, "kind") || str_is(t, "scope")) {
    struct str text = str_is(t, "kind") ? page_kind(s->obj) : page_scope(page, s->obj);
    if (s->cell)
      buf_add(&page->b, text);
    else
      page_line(page, page_kind_style(page, text), text, 0);
    return;
  }
  size_t format = find_format(p.format);
  assert((format < ARRAY_LEN(formats) || !p.format.p) && p.name.n > 0 && p.columns >= 0);
  yyjson_val *v = find(s, p.name);
  struct str text = p.format.p && formats[format].format ? formats[format].format(page, v) : page_value(page, v);
  put(s, &p, text.n ? text : p.otherwise.p ? p.otherwise : text);
}

static bool is_true(const struct target *s, struct str condition) {
  size_t equals = str_find(condition, STR("="), 0);
  if (str_is(condition, "@terminal"))
    return s->page->term.tty;
  if (str_starts(condition, STR("#")))
    return find(s, str_slice(condition, 1, condition.n)) != NULL;
  if (equals == SIZE_MAX)
    return is_filled(s->page, find(s, condition));
  struct str value = page_value(s->page, find(s, str_slice(condition, 0, equals)));
  return str_eq(value, str_slice(condition, equals + 1, condition.n));
}

/* True if every member that is directly in this text is filled. */
static bool all_filled(const struct target *s, struct str t) {
  for (size_t i = 0; i < t.n; i++) {
    if (!memchr("{[<", t.p[i], 3))
      continue;
    size_t end = group_end(t, i);
    if (t.p[i] == '{' && !is_filled(s->page, find(s, parse(str_slice(t, i + 1, end)).name)))
      return false;
    i = end;
  }
  return true;
}

static void add_template(const struct target *s, struct str t);

static void add_group(const struct target *s, char kind, struct str inner) {
  if (kind == '{') {
    add_placeholder(s, inner);
  } else if (kind == '[') {
    if (all_filled(s, inner))
      add_template(s, inner);
  } else {
    struct str condition = cut(&inner, STR("?")), then = cut(&inner, STR("|"));
    add_template(s, is_true(s, condition) ? then : inner);
  }
}

static void add_template(const struct target *s, struct str t) {
  for (size_t i = 0; i < t.n;) {
    size_t end = i;
    if (memchr("{[<", t.p[i], 3)) {
      end = group_end(t, i);
      add_group(s, t.p[i], str_slice(t, i + 1, end));
      i = end + 1;
      continue;
    }
    while (end < t.n && !memchr("{[<", t.p[end], 3))
      end++;
    buf_add(&s->page->b, str_slice(t, i, end));
    i = end;
  }
}

/* ---- lines ---- */

static struct str render_cell(struct page *page, yyjson_val *obj, struct str template) {
  struct page cell = {.b = BUF(page->b.a), .term = page->term, .now = page->now, .project = page->project};
  struct target s = {.page = &cell, .obj = obj, .cell = true};
  add_template(&s, template);
  return buf_str(&cell.b);
}

/* Reads a cell's template: its alignment and the name of its column go into the table. */
static struct str read_column(struct table *t, struct str column, struct str *ret_name) {
  bool right = str_starts(column, STR(">")), wrap = str_starts(column, STR("~"));
  column = str_slice(column, right || wrap ? 1 : 0, column.n);
  struct str rest = column, name = cut(&rest, STR("="));
  bool named = rest.n && !memchr(name.p, '{', name.n);
  *ret_name = named ? name : STR("");
  column = named ? rest : column;
  t->right[t->columns] = right;
  t->kind[t->columns] = str_is(column, "{kind}");
  t->heading |= named;
  t->wrap |= wrap;
  return column;
}

static void add_table(struct page *page, yyjson_val *list, struct str templates) {
  struct table t = {.a = page->b.a};
  struct str columns[TABLE_COLUMNS], names[TABLE_COLUMNS];
  size_t i, n;
  yyjson_val *v;
  for (; templates.n; t.columns++) {
    assert(t.columns < TABLE_COLUMNS);
    columns[t.columns] = read_column(&t, cut(&templates, STR(" | ")), &names[t.columns]);
  }
  if (t.heading && yyjson_arr_size(list))
    table_add(&t, names);
  yyjson_arr_foreach(list, i, n, v) {
    struct str cells[TABLE_COLUMNS];
    for (size_t c = 0; c < t.columns; c++)
      cells[c] = render_cell(page, v, columns[c]);
    table_add(&t, cells);
  }
  table_print(&t, page);
}

static void add_lines(struct page *page, yyjson_val *list, struct str template) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(list, i, n, v) {
    struct target s = {.page = page, .obj = v};
    size_t before = page->b.n;
    add_template(&s, template);
    if (page->b.n > before)
      buf_addc(&page->b, '\n');
  }
}

static void add_labelled(struct page *page, struct str name, yyjson_val *v) {
  struct str value = page_value(page, v), label = page_label(page, name);
  if (value.n == 0)
    return;
  buf_addf(&page->b, "%s%.*s:%s ", page->term.style.dim, STR_ARG(label), page->term.style.reset);
  page_wrap(page, value, label.n + 2);
  buf_addc(&page->b, '\n');
}

static void add_beside(struct page *page, yyjson_val *obj, struct str label, struct str template) {
  struct str value = render_cell(page, obj, template);
  if (value.n == 0)
    return;
  buf_addf(&page->b, "%s%-*.*s%s ", page->term.style.dim, (int)LABEL_COLUMNS, STR_ARG(label), page->term.style.reset);
  page_wrap(page, value, LABEL_COLUMNS + 1);
  buf_addc(&page->b, '\n');
}

static void add_members(struct page *page, yyjson_val *obj, struct str names) {
  for (struct str name; str_next(&names, ' ', &name);)
    page_members(page, obj, (const char *const[]){arena_cstr(page->b.a, name), NULL});
}

static void add_line(struct page *page, yyjson_val *result, struct str line) {
  struct target s = {.page = page, .obj = result};
  size_t before = page->b.n;
  assert(line.n > 0);
  struct str rest = str_slice(line, 1, line.n), name;
  switch (line.p[0]) {
  case '@':
    name = cut(&rest, STR(" "));
    add_table(page, find(&s, name), rest);
    break;
  case '*':
    name = cut(&rest, STR(" "));
    add_lines(page, find(&s, name), rest);
    break;
  case '!':
    name = cut(&rest, STR(" "));
    if (yyjson_arr_size(find(&s, name)) == 0)
      buf_addf(&page->b, "%.*s\n", STR_ARG(rest));
    break;
  case '=':
    name = cut(&rest, STR(": "));
    add_beside(page, result, name, rest);
    break;
  case '+':
    add_members(page, result, rest);
    break;
  case '~':
    add_labelled(page, rest, find(&s, rest));
    break;
  case '?':
    add_template(&s, rest);
    if (page->b.n > before)
      buf_addc(&page->b, '\n');
    break;
  default:
    add_template(&s, line);
    buf_addc(&page->b, '\n');
  }
}

struct str layout_line(struct page *page, yyjson_val *obj, const char *template) {
  return page_one_line(page, render_cell(page, obj, str_from(template)));
}

void layout_render(struct page *page, yyjson_val *result, const char *layout) {
  struct str rest = str_from(layout);
  while (rest.n)
    add_line(page, result, cut(&rest, STR("\n")));
}
