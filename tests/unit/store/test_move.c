/* test_move.c: the table list matches the schema, and migrations survive interruptions and concurrent changes. */
#include "store/copy/move.h"

#include "fixture.h"
#include "support/store.h"

/* ---- table list and schema ---- */

static bool is_derived(struct str table) {
  for (const char *const *d = derived_tables; *d; d++) {
    struct str name = str_from(*d);
    bool open = name.p[name.n - 1] == '*';
    if (open ? str_starts(table, str_slice(name, 0, name.n - 1)) : str_eq(table, name))
      return true;
  }
  return false;
}

static const struct store_table *listed(struct str table) {
  for (const struct store_table *t = store_tables; t->name; t++)
    if (str_is(table, t->name))
      return t;
  return NULL;
}

static bool has_column(const struct store_table *t, struct str name) {
  for (const struct table_column *c = t->columns; c->name; c++)
    if (str_is(name, c->name))
      return true;
  return false;
}

static const char *columns_sql(void) {
  return on_postgres()
             ? "SELECT CAST(c.relname AS text), CAST(a.attname AS text) FROM pg_class c JOIN pg_attribute a ON"
               " a.attrelid = c.oid WHERE c.relnamespace = 'cairn'::regnamespace AND c.relkind IN ('r', 'p')"
               " AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped"
             : "SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c"
               " WHERE s.type = 'table'";
}

TEST(every_table_and_column_is_in_the_list) {
  struct fixture f = fixture_new();
  struct rows r;
  size_t columns = 0, expected = 0;
  db_query(store_db(f.store), &r, &f.err, columns_sql(), NULL);
  while (rows_next(&r)) {
    struct str table = rows_text(&r, 0), column = rows_text(&r, 1);
    const struct store_table *t = listed(table);
    if (is_derived(table))
      continue;
    if (!t)
      FAIL("table %.*s is not in store_tables", STR_ARG(table));
    if (!has_column(t, column))
      FAIL("column %.*s.%.*s is not in store_tables", STR_ARG(table), STR_ARG(column));
    columns++;
  }
  CHECK_OK(rows_end(&r), &f.err);
  /* Nothing in the list is missing from the schema. */
  for (const struct store_table *t = store_tables; t->name; t++)
    expected += t->way == TABLE_VECTORS ? 0 : table_columns(t);
  CHECK_INT(columns, expected);
  fixture_close(&f);
}

TEST(keys_are_columns) {
  for (const struct store_table *t = store_tables; t->name; t++) {
    CHECK(has_column(t, STR("team")));
    CHECK(t->key[0] != NULL);
    for (size_t i = 0; t->key[i]; i++)
      CHECK(has_column(t, str_from(t->key[i])));
    CHECK(!t->number || has_column(t, str_from(t->number)));
  }
}

/* ---- checksums ---- */

static struct table_sum sum_of(struct arena *a, struct db_value *v, size_t rows) {
  struct table_sum sum = {0};
  struct copy_page page = {.v = v, .rows = rows, .columns = 3};
  copy_sum(listed(STR("setting")), a, &page, &sum);
  return sum;
}

#define ROW(x, y, z)                                                                                                   \
  {.form = 's', .s = STR(x)}, {.form = 's', .s = STR(y)}, { .form = 's', .s = STR(z) }

TEST(a_checksum_depends_on_every_byte_but_not_on_order) {
  struct arena a;
  arena_init(&a);
  struct db_value one[] = {ROW("t", "a", "1"), ROW("t", "b", "2")}, two[] = {ROW("t", "b", "2"), ROW("t", "a", "1")};
  struct db_value crossed[] = {ROW("t", "a", "2"), ROW("t", "b", "1")},
                  shifted[] = {ROW("ta", "", "1"), ROW("t", "b", "2")};
  struct table_sum x = sum_of(&a, one, 2), y = sum_of(&a, two, 2), z = sum_of(&a, crossed, 2),
                   w = sum_of(&a, shifted, 2), half = sum_of(&a, one, 1);
  CHECK(sum_same(&x, &y));
  CHECK(!sum_same(&x, &z));
  CHECK(!sum_same(&x, &w));
  CHECK(!sum_same(&x, &half));
  one[2].s = STR_NONE; /* NULL is not "" */
  two[5].s = STR("");
  x = sum_of(&a, one, 2);
  y = sum_of(&a, two, 2);
  CHECK(!sum_same(&x, &y));
  char text[HASH_TEXT_SIZE];
  sum_text(&x, text);
  CHECK_INT(strlen(text), 64);
  arena_release(&a);
}

/* ---- between the steps ---- */

static struct store *open_target(const char *path) {
  struct store_options o = {.path = path, .unfinished = true, .now = 1763208000000};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  return st;
}

static void fill(struct fixture *f, int n) {
  struct txn txn = fixture_begin(f);
  for (int i = 0; i < n; i++)
    fixture_fact(f, &txn, STR(""), arena_printf(&f->arena, "Crane %d lifts %d tons", i, i * 3), NULL);
  fixture_commit(f, &txn);
}

static struct move move_of(struct fixture *f, struct store *to) {
  return (struct move){.copy = {.from = f->store, .to = to, .arena = &f->arena}, .now = f->now};
}

TEST(verification_detects_a_changed_row) {
  static const struct {
    const char *table, *sql;
  } changes[] = {
      {"memory", "UPDATE memory SET access_count = access_count + 1 WHERE id = 3"},
      {"body", "DELETE FROM body WHERE memory_id = 4"},
      {"label", "INSERT INTO label (team, memory_id, field, pos, value) VALUES ('default', 5, 'tags', 0, 'new')"},
      {"link", "INSERT INTO link (team, src, rel, dst, at) VALUES ('default', 2, 'relates', 1, 1)"},
  };
  struct fixture f = fixture_new();
  fill(&f, 20);
  for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
    char name[32];
    test_note("%s", changes[i].sql);
    snprintf(name, sizeof(name), "to%zu.db", i);
    const char *path = test_store(name);
    struct store *to = open_target(path);
    struct move m = move_of(&f, to);
    CHECK_OK(move_begin(&m, &f.err), &f.err);
    CHECK_OK(move_rows(&m, &f.err), &f.err);
    struct direct *d = direct_open(path);
    direct_do(d, changes[i].sql);
    direct_close(d);
    CHECK_STATUS(move_verify(&m, &f.err), STATUS_CORRUPT);
    CHECK(strstr(f.err.message, changes[i].table));
    store_close(&to);
    /* The target cannot be opened, and the next run repairs it. */
    struct store_options o = {.path = path, .now = f.now};
    CHECK_STATUS(store_open(&o, &to, &f.err), STATUS_CONFLICT);
    to = open_target(path);
    m = move_of(&f, to);
    CHECK_OK(store_move(&m, &f.err), &f.err);
    CHECK_INT(m.report.start, MOVE_DIFFERS);
    store_close(&to);
    CHECK_OK(store_open(&o, &to, &f.err), &f.err);
    store_close(&to);
  }
  fixture_close(&f);
}

/* As if the migration was killed right after it had created its target. */
TEST(a_target_that_was_just_created_is_not_an_empty_store) {
  struct fixture f = fixture_new();
  fill(&f, 3);
  const char *path = test_store_new("created.db");
  struct store *to = open_target(path);
  store_close(&to);
  struct store_options o = {.path = path, .now = f.now};
  CHECK_STATUS(store_open(&o, &to, &f.err), STATUS_CONFLICT);
  to = open_target(path);
  struct move m = move_of(&f, to);
  CHECK_OK(store_move(&m, &f.err), &f.err);
  CHECK_INT(m.report.start, MOVE_FRESH);
  store_close(&to);
  CHECK_OK(store_open(&o, &to, &f.err), &f.err);
  store_close(&to);
  fixture_close(&f);
}

struct writer {
  struct fixture *f;
  bool done;
};

/* Another process writes to the source while it is copied. */
static void write_once(void *arg, const char *what UNUSED, int64_t done UNUSED, int64_t total UNUSED) {
  struct writer *w = arg;
  if (w->done)
    return;
  w->done = true;
  struct fixture other = {.store = fixture_open("store.db"), .now = w->f->now};
  arena_init(&other.arena);
  fill(&other, 1);
  fill(&other, 1);
  fixture_close(&other);
}

TEST(concurrent_writes_are_counted) {
  struct fixture f = fixture_new();
  struct writer w = {.f = &f};
  struct store *to = open_target(test_store("to.db"));
  int64_t n;
  fill(&f, 20);
  struct move m = move_of(&f, to);
  m.copy.hooks = (struct copy_hooks){.arg = &w, .progress = write_once};
  CHECK_OK(store_move(&m, &f.err), &f.err);
  CHECK_INT(m.report.missing, 2);
  CHECK_OK(db_int(store_db(to), &n, NULL, &f.err, "/* all teams: a count */ SELECT count(*) FROM memory", NULL),
           &f.err);
  CHECK_INT(n, 20);
  store_close(&to);
  fixture_close(&f);
}

static bool at_once(void *arg) {
  int *left = arg;
  return (*left)-- <= 0;
}

TEST(a_cancelled_migration_can_be_resumed) {
  struct fixture f = fixture_new();
  const char *path = test_store("to.db");
  int runs = 0;
  fill(&f, 600);
  for (;;) {
    struct store *to = open_target(path);
    struct move m = move_of(&f, to);
    int left = 80; /* enough to compare and to make progress */
    m.copy.hooks = (struct copy_hooks){.arg = &left, .cancelled = at_once};
    enum status s = store_move(&m, &f.err);
    CHECK(runs == 0 || m.report.start == MOVE_RESUMED);
    store_close(&to);
    runs++;
    if (s == STATUS_OK)
      break;
    CHECK_STATUS(s, STATUS_INTERRUPTED);
    CHECK(runs < 50);
  }
  fixture_close(&f);
}

TEST(two_concurrent_migrations_do_not_interfere) {
  struct fixture f = fixture_new();
  const char *path = test_store("to.db");
  fill(&f, 20);
  struct store *one = open_target(path), *two = open_target(path);
  struct move a = move_of(&f, one), b = move_of(&f, two);
  CHECK_OK(move_begin(&a, &f.err), &f.err);
  CHECK_OK(move_begin(&b, &f.err), &f.err);
  CHECK_OK(move_rows(&a, &f.err), &f.err);
  CHECK_STATUS(move_rows(&b, &f.err), STATUS_CONFLICT);
  CHECK_OK(move_verify(&a, &f.err), &f.err);
  CHECK_OK(move_end(&a, &f.err), &f.err);
  store_close(&one);
  store_close(&two);
  fixture_close(&f);
}
