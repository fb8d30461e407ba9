/* copy.c: copying all tables to another store in pages, and comparing checksums. */
#include "store/copy/copy.h"

#include <assert.h>
#include <sodium.h>

#include "store/engine.h"

enum {
  PAGE_ROWS = 250,              /* rows of a table's first page */
  PAGE_ROWS_MAX = 4000,         /* maximum rows of later pages, if texts are short */
  PAGE_BYTES = 4 * 1024 * 1024, /* target size of a page */
  STATEMENT_VALUES = 1500,      /* values of a multi-row INSERT */
  ARENA_KEEP = 16 * 1024 * 1024,
};

static bool on_sqlite(const struct store *st) { return db_engine(st->db) == DB_SQLITE; }

/* ---- reading ---- */

/* Index of the first key column: 1 skips the team, which some keys of SQLite do not contain. */
static size_t first_key(const struct store *st, const struct store_table *t) {
  return on_sqlite(st) && !t->by_team ? 1 : 0;
}

static size_t key_size(const struct store_table *t) {
  size_t n = 1;
  while (t->key[n - 1])
    n++;
  return n;
}

static const char *key_name(const struct store_table *t, size_t i) { return i == 0 ? "team" : t->key[i - 1]; }

static void add_value(struct sql *q, const struct db_value *v) {
  if (v->form == 's')
    sql_text(q, v->s);
  else
    sql_int(q, v->i);
}

static void add_keys(struct sql *q, const struct store *st, const struct store_table *t) {
  for (size_t i = first_key(st, t); i < key_size(t); i++)
    sql_addf(q, "%s%s", i > first_key(st, t) ? ", " : "", key_name(t, i));
}

static void add_columns(struct sql *q, const struct store_table *t) {
  for (const struct table_column *c = t->columns; c->name; c++)
    sql_addf(q, "%s%s", c > t->columns ? ", " : "", c->name);
}

static void page_sql(struct sql *q, const struct store *st, const struct copy_cursor *cursor) {
  const struct store_table *t = &store_tables[cursor->table];
  sql_add(q, "/* all teams: a copy */ SELECT ");
  add_columns(q, t);
  sql_addf(q, " FROM %s", t->name);
  if (cursor->begun) {
    sql_add(q, " WHERE (");
    add_keys(q, st, t);
    sql_add(q, ") > (");
    for (size_t i = first_key(st, t); i < key_size(t); i++) {
      sql_add(q, i > first_key(st, t) ? ", " : "");
      add_value(q, &cursor->key[i]);
    }
    sql_add(q, ")");
  }
  sql_add(q, " ORDER BY ");
  add_keys(q, st, t);
  sql_add(q, " LIMIT ");
  sql_int(q, (int64_t)cursor->rows);
}

/* A NULL keeps the type of its column, which PostgreSQL needs. */
static struct db_value value_of(const struct rows *r, int column, char form, struct arena *a) {
  bool null = rows_null(r, column);
  if (form == 'i')
    return (struct db_value){.form = null ? 't' : 'i', .i = null ? 0 : rows_int(r, column)};
  if (form == 'd')
    return (struct db_value){.form = 'd', .d = rows_real(r, column)};
  if (null)
    return (struct db_value){.form = form};
  struct str s = rows_text(r, column);
  return (struct db_value){.form = form, .s = arena_dup(a, s.p ? s : STR(""))};
}

typedef LIST(struct db_value) values;

/* Approximate size: the texts, and a share for each value. */
static size_t page_bytes(const struct copy_page *page) {
  size_t n = page->rows * page->columns, bytes = n * sizeof(struct db_value) / 8;
  for (size_t i = 0; i < n; i++)
    bytes += page->v[i].s.n;
  return bytes;
}

static enum status read_rows(struct store *st, const struct copy_cursor *cursor, struct arena *a,
                             struct copy_page *ret_page, struct error *err) {
  const struct store_table *t = &store_tables[cursor->table];
  struct sql q = SQL(a);
  struct rows r;
  values list = {0};
  size_t columns = table_columns(t);
  list.cap = cursor->rows * columns;
  list.v = arena_array(a, struct db_value, list.cap);
  page_sql(&q, st, cursor);
  db_query_sql(st->db, &r, err, &q);
  size_t rows = 0;
  for (; rows_next(&r); rows++)
    for (size_t i = 0; i < columns; i++)
      list_push(a, &list, value_of(&r, (int)i, t->columns[i].form, a));
  *ret_page = (struct copy_page){.v = list.v, .rows = rows, .columns = columns, .last = rows < cursor->rows};
  return rows_end(&r);
}

/* Like read_rows(), for vectors. Skips damaged ones, so a page that is not the last may be short or empty. */
static enum status read_vectors(struct store *st, struct copy_cursor *cursor, struct arena *a, struct arena *keys,
                                struct copy_page *ret_page, struct error *err) {
  struct vec_row after = {.team = cursor->key[0].s, .model = cursor->key[1].s, .chunk_id = cursor->key[2].i};
  struct vec_rows found = {0};
  values list = {0};
  if (!cursor->begun)
    after = (struct vec_row){.team = STR(""), .model = STR("")};
  TRY(vec_walk(st, &after, cursor->rows, a, &found, err));
  for (size_t i = 0; i < found.n; i++) {
    const struct vec_row *v = &found.v[i];
    list_push(a, &list, (struct db_value){.form = 's', .s = v->team});
    list_push(a, &list, (struct db_value){.form = 's', .s = v->model});
    list_push(a, &list, (struct db_value){.form = 'i', .i = v->chunk_id});
    list_push(a, &list, (struct db_value){.form = 'i', .i = v->dims});
    list_push(a, &list, (struct db_value){.form = 'b', .s = {(const char *)v->vector, (size_t)v->dims}});
  }
  *ret_page = (struct copy_page){.v = list.v, .rows = found.n, .columns = 5, .last = found.end};
  cursor->begun = true;
  cursor->key[0] = (struct db_value){.form = 's', .s = arena_dup(keys, after.team)};
  cursor->key[1] = (struct db_value){.form = 's', .s = arena_dup(keys, after.model)};
  cursor->key[2] = (struct db_value){.form = 'i', .i = after.chunk_id};
  return STATUS_OK;
}

static const struct db_value *key_of(const struct store_table *t, const struct copy_page *page, size_t row, size_t i) {
  return &page->v[row * page->columns + table_column(t, key_name(t, i))];
}

static void advance(struct copy_cursor *cursor, const struct store_table *t, const struct copy_page *page,
                    struct arena *keys) {
  if (page->rows == 0)
    return;
  for (size_t i = 0; i < key_size(t); i++) {
    assert(i < ARRAY_LEN(cursor->key));
    cursor->key[i] = *key_of(t, page, page->rows - 1, i);
    if (cursor->key[i].form == 's')
      cursor->key[i].s = arena_dup(keys, cursor->key[i].s);
  }
  cursor->begun = true;
}

static void next_table(struct copy_cursor *cursor) {
  assert(cursor->table < STORE_TABLES - 1);
  cursor->table++;
  cursor->begun = false;
  cursor->rows = 0;
}

static void adapt_page_size(struct copy_cursor *cursor, size_t bytes) {
  if (bytes > PAGE_BYTES && cursor->rows > 1)
    cursor->rows /= 2;
  else if (bytes < PAGE_BYTES / 4 && cursor->rows < PAGE_ROWS_MAX)
    cursor->rows *= 2;
}

enum status copy_read(struct store *st, struct copy_cursor *cursor, struct arena *a, struct arena *keys,
                      struct copy_page *ret_page, struct error *err) {
  assert(cursor->table < STORE_TABLES - 1);
  const struct store_table *t = &store_tables[cursor->table];
  if (cursor->rows == 0)
    cursor->rows = PAGE_ROWS;
  TRY(t->way == TABLE_VECTORS ? read_vectors(st, cursor, a, keys, ret_page, err)
                              : read_rows(st, cursor, a, ret_page, err));
  if (t->way != TABLE_VECTORS)
    advance(cursor, t, ret_page, keys);
  adapt_page_size(cursor, page_bytes(ret_page));
  if (ret_page->last)
    next_table(cursor);
  return STATUS_OK;
}

/* ---- writing ---- */

static struct sql insert_sql(const struct store_table *t, struct arena *a, size_t rows) {
  struct sql q = SQL(a);
  size_t columns = table_columns(t), n = 0;
  sql_addf(&q, "INSERT INTO %s (", t->name);
  add_columns(&q, t);
  sql_add(&q, ") VALUES ");
  for (size_t i = 0; i < rows; i++) {
    sql_add(&q, i ? ", (" : "(");
    for (size_t c = 0; c < columns; c++)
      sql_addf(&q, c ? ", ?%zu" : "?%zu", ++n);
    sql_add(&q, ")");
  }
  return q;
}

/* PostgreSQL gets multi-row statements of a fixed size, so one plan serves all; the remaining rows go singly. */
static enum status write_rows(struct store *st, const struct store_table *t, struct arena *a,
                              const struct copy_page *page, struct error *err) {
  size_t many = on_sqlite(st) ? 1 : STATEMENT_VALUES / page->columns;
  assert(many > 0);
  struct sql several = {0}, one = insert_sql(t, a, 1);
  if (page->rows >= many && many > 1)
    several = insert_sql(t, a, many);
  for (size_t i = 0; i < page->rows;) {
    size_t n = many > 1 && page->rows - i >= many ? many : 1;
    struct sql *q = n > 1 ? &several : &one;
    q->v = page->v + i * page->columns;
    q->n = n * page->columns;
    TRY(db_exec_sql(st->db, err, q));
    i += n;
  }
  return STATUS_OK;
}

static enum status write_chunks(struct store *st, const struct store_table *t, struct arena *a,
                                const struct copy_page *page, struct error *err) {
  struct txn txn = {.store = st};
  struct chunk_text *texts = arena_array(a, struct chunk_text, page->rows);
  assert(page->columns == 9);
  for (size_t i = 0; i < page->rows; i++) {
    const struct db_value *v = page->v + i * page->columns; /* in the order of tables.c */
    texts[i] = (struct chunk_text){.id = v[0].i,
                                   .team = v[1].s,
                                   .memory_id = v[2].i,
                                   .seq = v[3].i,
                                   .hash = v[4].s,
                                   .headline = v[5].s,
                                   .body = v[6].s,
                                   .extra = v[7].s,
                                   .terms = v[8].s};
  }
  TRY(lexical_hold(&txn, err));
  TRY(write_rows(st, t, a, page, err));
  TRY(lexical_fill(&txn, a, texts, page->rows, err));
  return lexical_release(&txn, err);
}

static enum status write_vectors(struct store *st, const struct copy_page *page, struct arena *a, struct error *err) {
  struct txn txn = {.store = st};
  struct vec_row *rows = arena_array(a, struct vec_row, page->rows);
  assert(page->columns == 5);
  for (size_t i = 0; i < page->rows; i++) {
    const struct db_value *v = page->v + i * page->columns;
    rows[i] = (struct vec_row){v[0].s, v[1].s, v[2].i, (int)v[3].i, (const int8_t *)v[4].s.p};
  }
  return vec_add_all(&txn, a, rows, page->rows, err);
}

enum status copy_write(struct store *st, const struct store_table *t, struct arena *a, const struct copy_page *page,
                       struct error *err) {
  if (page->rows == 0)
    return STATUS_OK;
  assert(page->columns == table_columns(t) && db_in_transaction(st->db));
  switch (t->way) {
  case TABLE_CHUNKS:
    return write_chunks(st, t, a, page, err);
  case TABLE_VECTORS:
    return write_vectors(st, page, a, err);
  default:
    return write_rows(st, t, a, page, err);
  }
}

/* ---- checksums ---- */

static void add_word(struct buf *b, uint64_t word) {
  char bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (char)(word >> 8 * i & 0xff);
  buf_add(b, (struct str){bytes, sizeof(bytes)});
}

/* A type letter, then eight bytes, little-endian: the number, or the length of the bytes that follow. NULL is '-'. */
static void add_canonical(struct buf *b, char form, const struct db_value *v) {
  uint64_t word;
  if (v->form == 't' || ((form == 's' || form == 'b') && !v->s.p)) {
    buf_addc(b, '-');
    return;
  }
  buf_addc(b, form);
  if (form == 'i') {
    add_word(b, (uint64_t)v->i);
  } else if (form == 'd') {
    memcpy(&word, &v->d, sizeof(word));
    add_word(b, word);
  } else {
    add_word(b, v->s.n);
    buf_add(b, v->s);
  }
}

static void sum_add(struct table_sum *sum, const unsigned char hash[32]) {
  unsigned carry = 0;
  for (int w = 0; w < 4; w++) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
      word = word << 8 | hash[w * 8 + i];
    uint64_t half = sum->word[w] + word, whole = half + carry;
    carry = (half < word) | (whole < half);
    sum->word[w] = whole;
  }
  sum->rows++;
}

void copy_sum(const struct store_table *t, struct arena *a, const struct copy_page *page, struct table_sum *sum) {
  assert(page->rows == 0 || page->columns == table_columns(t));
  struct buf b = BUF(a);
  for (size_t i = 0; i < page->rows; i++) {
    unsigned char hash[32];
    b.n = 0;
    buf_adds(&b, t->name);
    buf_addc(&b, 0);
    for (size_t c = 0; c < page->columns; c++)
      add_canonical(&b, t->columns[c].form, &page->v[i * page->columns + c]);
    crypto_generichash(hash, sizeof(hash), (const unsigned char *)b.p, b.n, NULL, 0);
    sum_add(sum, hash);
  }
}

bool sum_same(const struct table_sum *a, const struct table_sum *b) {
  return a->rows == b->rows && memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

void sum_text(const struct table_sum *sum, char out[HASH_TEXT_SIZE]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < HASH_TEXT_SIZE - 1; i++)
    out[i] = digits[sum->word[3 - i / 16] >> 4 * (15 - i % 16) & 15];
  out[HASH_TEXT_SIZE - 1] = 0;
}

/* ---- whole stores ---- */

static bool at_end(const struct copy_cursor *cursor) { return !store_tables[cursor->table].name; }

static void report_progress(struct copy *c, const char *what) {
  if (c->hooks.progress)
    c->hooks.progress(c->hooks.arg, what, c->done < c->total ? c->done : c->total, c->total);
}

static enum status check_cancelled(const struct copy *c, struct error *err) {
  if (!c->hooks.cancelled || !c->hooks.cancelled(c->hooks.arg))
    return STATUS_OK;
  error_set(err, STATUS_INTERRUPTED, "interrupted before everything was copied");
  return error_fix(err, "run the same command again to continue");
}

enum status copy_count(struct copy *c, struct error *err) {
  c->total = 0;
  for (const struct store_table *t = store_tables; t->name; t++) {
    struct sql q = SQL(c->arena);
    int64_t n = 0;
    /* Counting chunks is cheaper, and a chunk usually has one vector. */
    sql_addf(&q, "/* all teams: a copy */ SELECT count(*) FROM %s", t->way == TABLE_VECTORS ? "chunk" : t->name);
    TRY(db_int_sql(c->from->db, &n, NULL, err, &q));
    c->total += n;
  }
  return STATUS_OK;
}

static enum status write_page(struct copy *c, const struct store_table *t, struct arena *a,
                              const struct copy_page *page, const struct copy_cursor *at, struct error *err) {
  assert(!c->begin == !c->commit);
  enum status s = c->begin ? c->begin(c, err) : STATUS_OK;
  if (s == STATUS_OK)
    s = copy_write(c->to, t, a, page, err);
  if (s == STATUS_OK && c->commit)
    s = c->commit(c, at, err);
  if (s != STATUS_OK && c->begin)
    store_rollback(c->to);
  return s;
}

enum status copy_rows(struct copy *c, struct copy_cursor *cursor, struct error *err) {
  struct arena *a = arena_child(c->arena);
  while (!at_end(cursor)) {
    size_t table = cursor->table;
    struct copy_page page;
    TRY(check_cancelled(c, err));
    arena_recycle(a, ARENA_KEEP);
    TRY(copy_read(c->from, cursor, a, c->arena, &page, err));
    TRY(write_page(c, &store_tables[table], a, &page, cursor, err));
    copy_sum(&store_tables[table], a, &page, &c->sums[table]);
    c->done += (int64_t)page.rows;
    report_progress(c, "copy");
  }
  return STATUS_OK;
}

static bool same_value(const struct db_value *a, const struct db_value *b) {
  return a->form == b->form && (a->form == 's' ? str_eq(a->s, b->s) : a->i == b->i);
}

/* Truncates the page after the row of `until`; false if the page does not contain it. */
static bool cut_page(struct copy_page *page, const struct store_table *t, const struct copy_cursor *until) {
  for (size_t row = 0; row < page->rows; row++) {
    size_t same = 0;
    while (same < key_size(t) && same_value(key_of(t, page, row, same), &until->key[same]))
      same++;
    if (same == key_size(t)) {
      page->rows = row + 1;
      return true;
    }
  }
  return false;
}

enum status copy_sums(struct copy *c, struct store *st, const struct copy_cursor *until, const char *what,
                      struct table_sum ret_sums[STORE_TABLES], struct error *err) {
  struct arena *a = arena_child(c->arena);
  struct copy_cursor cursor = {0};
  memset(ret_sums, 0, STORE_TABLES * sizeof(*ret_sums));
  c->done = 0;
  while (!at_end(&cursor)) {
    size_t table = cursor.table;
    struct copy_page page;
    if (until && (table > until->table || (table == until->table && !until->begun)))
      break;
    TRY(check_cancelled(c, err));
    arena_recycle(a, ARENA_KEEP);
    TRY(copy_read(st, &cursor, a, c->arena, &page, err));
    bool cut = until && table == until->table && cut_page(&page, &store_tables[table], until);
    copy_sum(&store_tables[table], a, &page, &ret_sums[table]);
    c->done += (int64_t)page.rows;
    report_progress(c, what);
    if (cut)
      break;
  }
  return STATUS_OK;
}

enum status copy_verify(struct copy *c, struct error *err) {
  struct table_sum *there = arena_array(c->arena, struct table_sum, STORE_TABLES);
  TRY(copy_sums(c, c->to, NULL, "verify", there, err));
  for (size_t i = 0; store_tables[i].name; i++)
    if (!sum_same(&c->sums[i], &there[i])) {
      error_set(err, STATUS_CORRUPT, "the copy differs: table %s has %lld rows in %s and %lld in %s%s",
                store_tables[i].name, (long long)c->sums[i].rows, db_path(c->from->db), (long long)there[i].rows,
                db_path(c->to->db), c->sums[i].rows == there[i].rows ? ", with different content" : "");
      return error_fix(err, "the source is unchanged; run it again, and make sure nobody else writes to the target");
    }
  return STATUS_OK;
}

static enum status copy_facts(struct copy *c, struct error *err) {
  for (const char *const *name = content_facts; *name; name++) {
    struct str value;
    TRY(store_meta(c->from, *name, c->arena, &value, err));
    if (value.p)
      TRY(store_set_meta(c->to, *name, value, err));
  }
  return STATUS_OK;
}

enum status copy_finish(struct copy *c, struct error *err) {
  for (const struct store_table *t = store_tables; t->name; t++) {
    struct sql q = SQL(c->arena);
    int64_t last = 0, highest = 0;
    if (!t->number)
      continue;
    TRY(copy_number(c->from, t, &last, err));
    sql_addf(&q, "/* all teams: a copy */ SELECT coalesce(max(%s), 0) FROM %s", t->number, t->name);
    TRY(db_int_sql(c->to->db, &highest, NULL, err, &q));
    TRY(copy_set_number(c->to, t, last > highest ? last : highest, err));
  }
  return copy_facts(c, err);
}
