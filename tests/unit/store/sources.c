/* sources.c: extracts SQL from C sources. Not a C parser: it relies on the code style to find where functions begin and
 * end. */
#include "sources.h"

#include <dirent.h>
#include <stdio.h>

#include "support/harness.h"
#include "support/proc.h"

enum { DEEPEST = 8 };

/* A function, or a macro that contains a string. */
struct piece {
  struct str file, name, signature, body;
};

struct sources {
  struct arena *a;
  LIST(struct piece) functions; /* may run statements */
  LIST(struct piece) adding;    /* append to a statement of their caller */
  LIST(struct piece) macros;
};

static bool in_name(char c) { return ascii_alnum(c) || c == '_'; }
static bool holds(struct str s, const char *part) { return str_find(s, str_from(part), 0) != SIZE_MAX; }

/* ---- reading ---- */

/* Replaces comments by blanks, but not inside strings. */
static struct str without_comments(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  for (size_t i = 0, end; i < text.n; i = end) {
    char c = text.p[i];
    end = i + 1;
    if (c == '"' || c == '\'') {
      while (end < text.n && text.p[end] != c)
        end += text.p[end] == '\\' ? 2 : 1;
      end = end < text.n ? end + 1 : text.n;
    } else if (c == '/' && end < text.n && text.p[end] == '*') {
      end = str_find(text, STR("*/"), end) + 2;
      buf_addc(&b, ' ');
      continue;
    }
    buf_add(&b, str_slice(text, i, end));
  }
  return buf_str(&b);
}

/* The name before the first parenthesis. */
static struct str name_of(struct str signature) {
  size_t end = str_find(signature, STR("("), 0), at;
  if (end == SIZE_MAX)
    return STR_NONE;
  for (at = end; at > 0 && in_name(signature.p[at - 1]); at--)
    continue;
  return str_slice(signature, at, end);
}

static bool adds_to_another(const struct piece *f) {
  return holds(f->signature, "struct sql ") || holds(f->signature, "struct statement ");
}

/* Adds the "#define NAME ..." at `at`; returns its end. */
static size_t add_macro(struct sources *s, struct str file, struct str text, size_t at) {
  size_t end = at, name = at + sizeof("#define ") - 1, name_end = name;
  while (end < text.n && (text.p[end] != '\n' || text.p[end - 1] == '\\'))
    end++;
  while (name_end < end && in_name(text.p[name_end]))
    name_end++;
  struct piece m = {file, str_slice(text, name, name_end), STR(""), str_slice(text, name_end, end)};
  if (holds(m.body, "\""))
    list_push(s->a, &s->macros, m);
  return end;
}

/* Reads a definition that begins in the first column; it is a function if '{' comes before ';'. Returns its end. */
static size_t add_function(struct sources *s, struct str file, struct str text, size_t at) {
  size_t brace = str_find(text, STR("{"), at), semicolon = str_find(text, STR(";"), at);
  if (brace == SIZE_MAX || semicolon < brace)
    return semicolon == SIZE_MAX ? text.n : semicolon + 1;
  size_t line_end = str_find(text, STR("\n"), brace);
  bool one_line = line_end != SIZE_MAX && text.p[line_end - 1] == '}';
  size_t end = one_line ? line_end : str_find(text, STR("\n}"), brace);
  end = end == SIZE_MAX ? text.n : end;
  struct piece f = {file, STR_NONE, str_slice(text, at, brace), str_slice(text, brace, end)};
  f.name = name_of(f.signature);
  if (f.name.n && !holds(f.signature, "=") && adds_to_another(&f))
    list_push(s->a, &s->adding, f);
  else if (f.name.n && !holds(f.signature, "="))
    list_push(s->a, &s->functions, f);
  return one_line ? end : end + 2;
}

void sources_add(struct sources *s, const char *file, const char *source) {
  struct str name = arena_dup(s->a, str_from(file)), text = without_comments(s->a, str_from(source));
  for (size_t at = 0; at < text.n;) {
    if (str_starts(str_slice(text, at, text.n), STR("#define ")))
      at = add_macro(s, name, text, at);
    else if (ascii_alpha(text.p[at]))
      at = add_function(s, name, text, at);
    size_t next = str_find(text, STR("\n"), at);
    at = next == SIZE_MAX ? text.n : next + 1;
  }
}

static void read_folder(struct sources *s, const char *folder) {
  DIR *dir = opendir(folder);
  CHECK(dir);
  for (struct dirent *e; (e = readdir(dir));) {
    struct str name = str_from(e->d_name), path = arena_printf(s->a, "%s/%s", folder, e->d_name);
    if (e->d_type == DT_DIR && e->d_name[0] != '.')
      read_folder(s, path.p);
    else if (str_ends(name, STR(".c")) || str_ends(name, STR(".h")))
      sources_add(s, path.p, file_read(path.p).p);
  }
  closedir(dir);
}

struct sources *sources_read(struct arena *a, const char *folder) {
  struct sources *s = arena_new(a, struct sources);
  s->a = a;
  read_folder(s, folder);
  return s;
}

/* ---- assembling statements ---- */

/* Prefers the definition in the same file to a visible one of another file. */
static const struct piece *find(const struct piece *list, size_t n, struct str name, struct str file) {
  const struct piece *found = NULL;
  for (size_t i = 0; i < n; i++) {
    if (!str_eq(list[i].name, name))
      continue;
    bool seen =
        list[i].signature.n ? !str_starts(list[i].signature, STR("static ")) : str_ends(list[i].file, STR(".h"));
    if (str_eq(list[i].file, file) || (seen && !found))
      found = &list[i];
  }
  return found;
}

static bool begins_statement(struct str text) {
  static const char *const verbs[] = {"SELECT", "INSERT ", "UPDATE ", "DELETE", "WITH ", "TRUNCATE "};
  for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
    if (str_starts(text, str_from(verbs[i])))
      return true;
  return str_starts(text, STR("/* all teams: ")) && holds(text, "*/");
}

/* Replaces each conversion of printf() by a number or a name; after FROM and INTO, by a table that has teams. */
static void add_text(struct buf *out, struct str text) {
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '\\') {
      i++;
    } else if (text.p[i] == '%' && i + 1 < text.n && text.p[i + 1] != ' ') {
      size_t end = i + 1;
      while (end < text.n && strchr(".*zl", text.p[end]))
        end++;
      bool table = str_ends(buf_str(out), STR("FROM ")) || str_ends(buf_str(out), STR("INTO "));
      buf_adds(out, text.p[end] != 's' ? "1" : table ? "memory" : "x");
      i = end;
    } else {
      buf_addc(out, text.p[i]);
    }
  }
}

static size_t bracket_end(struct str body, size_t open) {
  int depth = 0;
  for (size_t i = open; i < body.n; i++) {
    if (body.p[i] == '"')
      for (i++; i < body.n && body.p[i] != '"'; i++)
        i += body.p[i] == '\\';
    else if (body.p[i] == '(')
      depth++;
    else if (body.p[i] == ')' && --depth == 0)
      return i + 1;
  }
  return body.n;
}

static void render(struct sources *s, struct str file, struct str body, bool names_too, int depth, struct buf *out);

/* Adds the strings in the arguments, then those of the called function. Only the format string of a printf-like call
 * counts. */
static void render_call(struct sources *s, struct str file, struct str name, struct str args, int depth,
                        struct buf *out) {
  static const char *const binding[] = {"sql_text", "sql_int", "sql_real", "sql_time", "sql_ids"};
  const struct piece *f = find(s->adding.v, s->adding.n, name, file);
  bool format = str_is(name, "sql_addf"), adds = f && !str_starts(name, STR("sql_"));
  if (format) {
    size_t quote = str_find(args, STR("\""), 0), comma = quote == SIZE_MAX ? quote : str_find(args, STR("\","), quote);
    args = comma == SIZE_MAX ? args : str_slice(args, 0, comma + 1);
  }
  render(s, file, args, !adds, depth, out);
  for (size_t i = 0; i < ARRAY_LEN(binding); i++)
    if (str_is(name, binding[i]))
      buf_adds(out, "?");
  if (adds && depth < DEEPEST)
    render(s, f->file, f->body, true, depth + 1, out);
}

/* The last character before a string: '"' if it continues another string, ':' if it is the second of two alternatives.
 */
static char before(struct str body, size_t at) {
  while (at > 0 && ascii_space(body.p[at - 1]))
    at--;
  return at > 0 ? body.p[at - 1] : 0;
}

/* True inside parentheses, where a subquery may follow, or after the leading comment of a statement. */
static bool is_open(const struct buf *out) {
  int depth = 0;
  size_t i = out->n;
  for (; i > 0 && out->p[i - 1] != '\n'; i--)
    depth += (out->p[i - 1] == '(') - (out->p[i - 1] == ')');
  return depth > 0 || str_ends(str_trim(buf_str(out)), STR("*/"));
}

static void render_text(struct str body, size_t at, struct str text, bool names_too, struct buf *out) {
  bool goes_on = before(body, at) == '"' || is_open(out), other = before(body, at) == ':';
  if (begins_statement(text) && !goes_on)
    buf_addc(out, '\n');
  else if (other || (!names_too && (!holds(text, " ") || text.p[0] == '\'')))
    return;
  add_text(out, text);
}

/* Adds the strings of a body in order; without names_too it skips single words, which are usually arguments. */
static void render(struct sources *s, struct str file, struct str body, bool names_too, int depth, struct buf *out) {
  for (size_t i = 0, end; i < body.n; i = end) {
    end = i + 1;
    if (body.p[i] == '"') {
      while (end < body.n && body.p[end] != '"')
        end += body.p[end] == '\\' ? 2 : 1;
      render_text(body, i, str_slice(body, i + 1, end), names_too, out);
      end++;
    } else if (body.p[i] == '\'') {
      end += body.p[end] == '\\' ? 3 : 2;
    } else if (in_name(body.p[i])) {
      while (end < body.n && in_name(body.p[end]))
        end++;
      struct str name = str_slice(body, i, end);
      const struct piece *m = ascii_upper(name.p[0]) ? find(s->macros.v, s->macros.n, name, file) : NULL;
      if (end < body.n && body.p[end] == '(' && !m) {
        size_t close = bracket_end(body, end);
        render_call(s, file, name, str_slice(body, end + 1, close - 1), depth, out);
        end = close;
      } else if (m && depth < DEEPEST) {
        render(s, m->file, m->body, names_too, depth + 1, out);
      }
    }
  }
}

void sources_statements(struct sources *s, struct source_statements *ret_list) {
  for (size_t i = 0; i < s->functions.n; i++) {
    const struct piece *f = &s->functions.v[i];
    struct buf b = BUF(s->a);
    render(s, f->file, f->body, true, 0, &b);
    struct str rest = buf_str(&b), line;
    while (str_line(&rest, &line))
      if (begins_statement(line))
        list_push(s->a, ret_list, (struct source_statement){f->file, f->name, line});
  }
}
