/* statement_check.c: finds the tables of a statement and whether each is bound to one team. */
#include "statement_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/schema/tables.h"

const char *const engine_tables[] = {"chunk_count", "chunk_text", "term_count", "vec",
                                     "vec_block",   "vec_centre", "vec_count",  NULL};

/* A parenthesised query, or one side of a UNION: it has its own tables and sees those of the enclosing parts. */
struct part {
  size_t around;
  bool naming; /* in a table list, after FROM etc.: a comma leads to the next table */
};

enum { OUTSIDE = 0 }; /* the part that encloses the whole statement */

struct token {
  struct str text;
  size_t part;
};

/* A table with its alias in the statement. */
struct named {
  struct str name, table;
  size_t part;
  bool filled; /* INSERT INTO: the inserted rows must be bound, not the rows it reads */
  bool bound;
};

/* One side of a comparison: a bound value, or a column, qualified or not. */
struct side {
  struct str name, column;
  bool bound;
};

struct same {
  struct side left, right;
  size_t part;
};

struct reading {
  struct arena *a;
  enum db_engine engine;
  LIST(struct token) tokens;
  LIST(struct part) parts;
  LIST(struct named) tables;
  LIST(struct same) same;
};

/* ---- tokens ---- */

static bool begins_word(char c) { return ascii_alpha(c) || c == '_'; }

/* The end of the token that begins at `at`; comments are tokens, too. */
static size_t token_end(struct str s, size_t at) {
  char c = s.p[at];
  size_t end = SIZE_MAX, i = at + 1;
  if (c == '\'' || c == '"')
    end = str_find(s, c == '"' ? STR("\"") : STR("'"), at + 1);
  else if (c == '-' && i < s.n && s.p[i] == '-')
    end = str_find(s, STR("\n"), at);
  else if (c == '/' && i < s.n && s.p[i] == '*')
    end = str_find(s, STR("*/"), at + 2);
  else {
    bool word = begins_word(c) || c == '?' || c == '$' || ascii_digit(c);
    while (word && i < s.n && (begins_word(s.p[i]) || ascii_digit(s.p[i])))
      i++;
    return i;
  }
  if (end == SIZE_MAX)
    return s.n;
  return c == '/' ? end + 2 : end + 1;
}

static bool is_comment(struct str token) { return str_starts(token, STR("--")) || str_starts(token, STR("/*")); }
static bool is_word(struct str token, const char *word) {
  return ascii_lower(token.p[0]) == ascii_lower(word[0]) && str_ieq(token, str_from(word));
}

static bool is_one_of(struct str token, const char *const *words) {
  for (; *words; words++)
    if (is_word(token, *words))
      return true;
  return false;
}

static size_t part_new(struct reading *r, size_t around) {
  list_push(r->a, &r->parts, (struct part){.around = around});
  return r->parts.n - 1;
}

/* Splits into tokens. The two sides of a UNION become siblings. */
static void cut(struct reading *r, struct str sql) {
  static const char *const between[] = {"UNION", "EXCEPT", "INTERSECT", NULL};
  size_t part = part_new(r, part_new(r, OUTSIDE));
  for (size_t at = 0, end; at < sql.n; at = end) {
    end = ascii_space(sql.p[at]) ? at + 1 : token_end(sql, at);
    struct str text = str_slice(sql, at, end);
    if (ascii_space(text.p[0]) || is_comment(text))
      continue;
    if (text.p[0] == ')' && r->parts.v[part].around != OUTSIDE)
      part = r->parts.v[part].around;
    if (is_one_of(text, between) || text.p[0] == ';')
      part = part_new(r, r->parts.v[part].around);
    list_push(r->a, &r->tokens, (struct token){text, part});
    if (text.p[0] == '(')
      part = part_new(r, part);
  }
}

static struct str text_at(const struct reading *r, size_t i) { return i < r->tokens.n ? r->tokens.v[i].text : STR(""); }

static bool is_name(struct str token) { return token.n && begins_word(token.p[0]); }

/* ---- tables ---- */

static bool has_team(struct str table) {
  for (const struct store_table *t = store_tables; t->name; t++)
    if (t->way != TABLE_VECTORS && str_is(table, t->name))
      return true;
  for (const char *const *name = engine_tables; *name; name++)
    if (str_is(table, *name))
      return true;
  return false;
}

/* In our SQL, names are lower case and keywords upper case. */
static bool is_alias(struct str token) { return is_name(token) && !ascii_upper(token.p[0]); }

static bool gives_team(const struct reading *r, size_t bracket) {
  if (!str_is(text_at(r, bracket), "("))
    return false;
  for (size_t i = bracket + 1; i < r->tokens.n && !str_is(text_at(r, i), ")"); i++)
    if (str_is(text_at(r, i), "team"))
      return true;
  return false;
}

static void add_table(struct reading *r, size_t at, bool into) {
  if (str_is(text_at(r, at + 1), ".")) /* cairn.memory */
    at += 2;
  struct named t = {.name = text_at(r, at), .table = text_at(r, at), .part = r->tokens.v[at].part, .filled = into};
  if (!has_team(t.table))
    return;
  size_t next = is_word(text_at(r, at + 1), "AS") ? at + 2 : at + 1;
  if (is_alias(text_at(r, next)))
    t.name = text_at(r, next++);
  t.bound = into && gives_team(r, next);
  list_push(r->a, &r->tables, t);
}

static void find_tables(struct reading *r) {
  static const char *const naming[] = {"FROM", "JOIN", "UPDATE", "INTO", "USING", "TRUNCATE", "TABLE", NULL};
  static const char *const other[] = {"WHERE", "SET", "SELECT", "VALUES", "GROUP", "ORDER", "RETURNING", NULL};
  for (size_t i = 0; i < r->tokens.n; i++) {
    struct str word = r->tokens.v[i].text;
    struct part *part = &r->parts.v[r->tokens.v[i].part];
    if (is_one_of(word, naming))
      part->naming = true;
    else if (is_one_of(word, other))
      part->naming = false;
    bool next = is_one_of(word, naming) || (part->naming && str_is(word, ","));
    if (next && is_name(text_at(r, i + 1)))
      add_table(r, i + 1, is_word(word, "INTO"));
  }
}

/* ---- comparisons ---- */

/* Reads the side that ends at token `last`, or begins at `first`; returns its number of tokens. */
static size_t side_before(const struct reading *r, size_t last, struct side *ret_side) {
  bool named = last >= 2 && str_is(text_at(r, last - 1), ".");
  *ret_side = (struct side){.name = named ? text_at(r, last - 2) : STR_NONE, .column = text_at(r, last)};
  ret_side->bound = str_starts(ret_side->column, STR("?"));
  return named ? 3 : 1;
}

static size_t side_after(const struct reading *r, size_t first, struct side *ret_side) {
  bool named = str_is(text_at(r, first + 1), ".");
  *ret_side =
      (struct side){.name = named ? text_at(r, first) : STR_NONE, .column = text_at(r, named ? first + 2 : first)};
  ret_side->bound = str_starts(ret_side->column, STR("?"));
  return named ? 3 : 1;
}

/* Only a condition that must hold counts: not an operand of OR, not part of an expression. */
static bool is_required(struct str before, struct str after) {
  static const char *const leading[] = {"WHERE", "AND", "ON", "(", NULL};
  bool ends = after.n == 0 || is_name(after) || strchr(");,", after.p[0]);
  return is_one_of(before, leading) && ends && !is_word(after, "OR") && !is_word(after, "COLLATE");
}

static void find_same(struct reading *r) {
  for (size_t i = 1; i + 1 < r->tokens.n; i++) {
    struct same s = {.part = r->tokens.v[i].part};
    if (!str_is(text_at(r, i), "="))
      continue;
    size_t before = side_before(r, i - 1, &s.left), after = side_after(r, i + 1, &s.right);
    if (i > before && is_required(text_at(r, i - before - 1), text_at(r, i + after + 1)))
      list_push(r->a, &r->same, s);
  }
}

/* ---- binding ---- */

/* The table that a name refers to in this part. Without a name: the only table of the nearest part that has tables. */
static struct named *table_of(struct reading *r, struct str name, size_t part) {
  for (; part != OUTSIDE; part = r->parts.v[part].around) {
    struct named *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->tables.n; i++) {
      struct named *t = &r->tables.v[i];
      if (t->part != part || (name.p ? !str_eq(t->name, name) : t->filled))
        continue;
      found = t;
      n++;
    }
    if (n > 0)
      return n == 1 ? found : NULL;
  }
  return NULL;
}

/* The kind of id in a column: 'm' for a memory, 'c' for a chunk; 0: neither. */
static char kind_of(const struct named *t, struct str column) {
  bool id = str_is(column, "id");
  if (str_is(column, "memory_id") || (id && str_is(t->table, "memory")) ||
      (str_is(t->table, "link") && (str_is(column, "src") || str_is(column, "dst"))))
    return 'm';
  return str_is(column, "chunk_id") || (id && str_is(t->table, "chunk")) ? 'c' : 0;
}

static bool binds(struct reading *r, const struct same *s, const struct side *this, const struct side *other) {
  struct named *t = this->bound ? NULL : table_of(r, this->name, s->part);
  if (!t || t->bound)
    return false;
  struct named *with = other->bound ? NULL : table_of(r, other->name, s->part);
  bool team = str_is(this->column, "team");
  if (team && other->bound)
    return t->bound = true;
  if (!with || with == t || !with->bound)
    return false;
  char kind = r->engine == DB_SQLITE ? kind_of(t, this->column) : 0;
  return t->bound = (team && str_is(other->column, "team")) || (kind && kind == kind_of(with, other->column));
}

static void bind_all(struct reading *r) {
  bool more = true;
  while (more) {
    more = false;
    for (size_t i = 0; i < r->same.n; i++) {
      const struct same *s = &r->same.v[i];
      more |= binds(r, s, &s->left, &s->right) || binds(r, s, &s->right, &s->left);
    }
  }
}

static struct reading read_tables(struct arena *a, struct str sql, enum db_engine engine) {
  struct reading r = {.a = a, .engine = engine};
  part_new(&r, OUTSIDE);
  cut(&r, sql);
  find_tables(&r);
  return r;
}

void statement_tables(struct arena *a, struct str sql, struct strs *ret_names) {
  struct reading r = read_tables(a, sql, DB_SQLITE);
  for (size_t i = 0; i < r.tables.n; i++)
    strs_push(a, ret_names, r.tables.v[i].table);
}

struct str statement_fault(struct arena *a, struct str sql, enum db_engine engine) {
  bool marked = str_starts(sql, STR("/* all teams: "));
  if (str_starts(sql, STR("CREATE TRIGGER "))) /* creating a trigger reads and writes no rows */
    return STR_NONE;
  if (str_starts(sql, STR("/* all teams: the schema */"))) /* a migration, even if it names no table */
    return STR_NONE;
  struct reading r = read_tables(a, sql, engine);
  find_same(&r);
  bind_all(&r);
  const struct named *loose = NULL;
  for (size_t i = 0; !loose && i < r.tables.n; i++)
    loose = r.tables.v[i].bound ? NULL : &r.tables.v[i];
  if (marked)
    return loose ? STR_NONE : STR("it is marked as one about all teams, and is not");
  return loose
             ? arena_printf(a, "table %.*s (%.*s) is not bound to a team", STR_ARG(loose->table), STR_ARG(loose->name))
             : STR_NONE;
}

static void check(const char *sql, enum db_engine engine) {
  static _Atomic uint64_t passed[1024]; /* hashes */
  struct arena a;
  if (!getenv("CAIRN_CHECK_STATEMENTS"))
    return;
  uint64_t hash = str_hash(STR_HASH, str_from(sql)) + engine;
  if (passed[hash % ARRAY_LEN(passed)] == hash)
    return;
  arena_init(&a);
  struct str why = statement_fault(&a, str_from(sql), engine);
  if (why.p) {
    fprintf(stderr, "cairn: %.*s: %s\n", STR_ARG(why), sql);
    abort();
  }
  arena_release(&a);
  passed[hash % ARRAY_LEN(passed)] = hash;
}

__attribute__((constructor)) static void install(void) { db_statement_check = check; }
