/* statement.c: prepared statements of a connection; values are sent in binary, with their types. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store/postgres/internal.h"

enum { INT8_OID = 20, TEXT_OID = 25, FLOAT8_OID = 701, BYTEA_OID = 17 };
enum {
  VALUES_FEW = 64, /* values that need no allocation */
  VALUES_MOST = 65535,
  SQL_KEPT = 1 << 14, /* longer statements are built for one call, and parsed each time */
  WAYS = 8,           /* slots where a statement may be cached */
};

/* ---- text ---- */

/* Returns the position after the quoted text or comment that begins at `at`, or `at` if there is none. */
static size_t skip_quoted(const char *sql, size_t at) {
  char c = sql[at];
  const char *end = NULL;
  if (c == '\'' || c == '"')
    end = strchr(sql + at + 1, c);
  else if (c == '-' && sql[at + 1] == '-')
    end = strchr(sql + at, '\n');
  else if (c == '/' && sql[at + 1] == '*')
    end = strstr(sql + at + 2, "*/");
  else
    return at;
  return end ? (size_t)(end - sql) + 1 : at + strlen(sql + at);
}

void pg_translate(const char *sql, char *out) {
  size_t i = 0;
  while (sql[i]) {
    size_t behind = skip_quoted(sql, i);
    if (behind > i) {
      memcpy(out + i, sql + i, behind - i);
      i = behind;
      continue;
    }
    out[i] = sql[i] == '?' && ascii_digit(sql[i + 1]) ? '$' : sql[i];
    i++;
  }
  out[i] = 0;
}

static size_t word_at(const char *sql, size_t at) {
  size_t n = 0;
  while (ascii_alnum(sql[at + n]) || sql[at + n] == '_')
    n++;
  return n;
}

/* May it be run twice? True if it begins as a query and no word in it writes. */
bool pg_only_reads(const char *sql) {
  static const char *const changing[] = {"insert", "update", "delete", "merge", "into", "call", "nextval", "setval"};
  static const char *const reading[] = {"select", "with", "values", "show", "table"};
  bool first = true;
  for (size_t i = 0; sql[i];) {
    size_t behind = skip_quoted(sql, i), n = word_at(sql, i);
    struct str word = {sql + i, n};
    bool found = false;
    for (size_t k = 0; first && n > 0 && k < ARRAY_LEN(reading); k++)
      found |= str_ieq(word, str_from(reading[k]));
    if (first && n > 0 && !found)
      return false;
    for (size_t k = 0; n > 0 && k < ARRAY_LEN(changing); k++)
      if (str_ieq(word, str_from(changing[k])))
        return false;
    first = first && n == 0;
    i = behind > i ? behind : i + (n > 0 ? n : 1);
  }
  return !first;
}

/* ---- values ---- */

struct params {
  int n;
  Oid *types;
  const char **values;
  int *lengths, *formats;
  uint64_t *words; /* numbers in network byte order */
  size_t bytes;
  void *memory; /* NULL: stored in `few` */
  struct {
    Oid types[VALUES_FEW];
    const char *values[VALUES_FEW];
    int lengths[VALUES_FEW], formats[VALUES_FEW];
    uint64_t words[VALUES_FEW];
  } few;
};

static uint64_t network_order(uint64_t v) {
  unsigned char b[8];
  for (int i = 0; i < 8; i++)
    b[i] = (unsigned char)(v >> (56 - 8 * i));
  memcpy(&v, b, sizeof(v));
  return v;
}

static Oid type_of(char form) {
  return form == 'd' ? FLOAT8_OID : form == 's' ? TEXT_OID : form == 'b' ? BYTEA_OID : INT8_OID;
}

static void set_param(struct params *p, int i, const struct db_value *v) {
  assert(v->form && strchr("idsbt", v->form));
  uint64_t word = (uint64_t)v->i;
  p->types[i] = type_of(v->form);
  p->formats[i] = 1;
  if (v->form == 's' || v->form == 'b') {
    p->values[i] = v->s.p;
    p->lengths[i] = (int)v->s.n;
    p->bytes += v->s.n;
    return;
  }
  if (v->form == 'd')
    memcpy(&word, &v->d, sizeof(word));
  p->words[i] = network_order(word);
  p->values[i] = v->form == 't' && v->i == 0 ? NULL : (const char *)&p->words[i];
  p->lengths[i] = sizeof(word);
}

static bool make_room(struct params *p, size_t n) {
  p->types = p->few.types;
  p->values = p->few.values;
  p->lengths = p->few.lengths;
  p->formats = p->few.formats;
  p->words = p->few.words;
  p->memory = NULL;
  if (n <= VALUES_FEW)
    return true;
  size_t each = sizeof(*p->words) + sizeof(*p->values) + sizeof(*p->types) + 2 * sizeof(int);
  p->memory = mem_alloc(n * each);
  if (!p->memory)
    return false;
  p->words = p->memory;
  p->values = (const char **)(p->words + n);
  p->types = (Oid *)(p->values + n);
  p->lengths = (int *)(p->types + n);
  p->formats = p->lengths + n;
  return true;
}

static enum status set_params(struct params *p, struct db_values values, struct error *err) {
  if (values.n > VALUES_MOST)
    return error_set(err, STATUS_TOO_LARGE, "a statement has %zu values; the maximum is %d", values.n, VALUES_MOST);
  if (!make_room(p, values.n))
    return pg_nomem(err);
  p->n = (int)values.n;
  p->bytes = 0;
  for (int i = 0; i < p->n; i++) {
    if (values.v[i].s.n > INT32_MAX / 2 && (values.v[i].form == 's' || values.v[i].form == 'b')) {
      mem_free(p->memory);
      return error_set(err, STATUS_TOO_LARGE, "a value has %zu bytes; the maximum is 1 GB", values.v[i].s.n);
    }
    set_param(p, i, &values.v[i]);
  }
  return STATUS_OK;
}

/* ---- prepared statements ---- */

static void name_of(uint64_t number, char out[32]) { snprintf(out, 32, "c%" PRIu64, number); }

static void release(struct pg_statement *s) {
  mem_free(s->sql);
  mem_free(s->types);
  *s = (struct pg_statement){0};
}

void pg_statement_drop(struct postgres *db, uint64_t number) {
  for (size_t i = 0; i < STATEMENTS_MAX; i++)
    if (db->statements[i].sql && db->statements[i].number == number)
      release(&db->statements[i]);
}

void pg_statements_clear(struct postgres *db) {
  for (size_t i = 0; i < STATEMENTS_MAX; i++)
    release(&db->statements[i]);
}

static bool same_types(const char *types, struct db_values values) {
  size_t n = 0;
  for (; n < values.n; n++)
    if (types[n] == 0 || type_of(types[n]) != type_of(values.v[n].form))
      return false;
  return types[n] == 0;
}

static uint64_t hash_of(const char *sql, struct db_values values) {
  uint64_t h = str_hash(STR_HASH, str_from(sql));
  for (size_t i = 0; i < values.n; i++)
    h = (h ^ type_of(values.v[i].form)) * UINT64_C(1099511628211);
  return h;
}

/* Slot of this statement: where it is, or where it should go. */
static struct pg_statement *slot_of(struct postgres *db, uint64_t hash, const char *sql, struct db_values values) {
  struct pg_statement *oldest = NULL;
  for (size_t i = 0; i < WAYS; i++) {
    struct pg_statement *s = &db->statements[(hash + i) % STATEMENTS_MAX];
    if (s->sql && s->hash == hash && strcmp(s->sql, sql) == 0 && same_types(s->types, values))
      return s;
    if (!oldest || (oldest->sql && (!s->sql || s->used < oldest->used)))
      oldest = s;
  }
  assert(oldest);
  return oldest;
}

static bool fill(struct postgres *db, struct pg_statement *s, uint64_t hash, const char *sql, struct db_values values) {
  assert(!s->sql && !s->types);
  struct str text = str_from(sql);
  s->sql = NULL;
  s->types = mem_alloc(values.n + 1);
  if (!s->types || !pg_set_text(&s->sql, text)) {
    release(s);
    return false;
  }
  for (size_t i = 0; i < values.n; i++)
    s->types[i] = values.v[i].form;
  s->types[values.n] = 0;
  s->hash = hash;
  s->number = ++db->statement_count;
  return true;
}

/* These functions return 0 if libpq lacks memory or a connection. */
static int send_control(struct postgres *db, const char *sql) {
  return db->pq->sendQueryParams(db->conn, sql, 0, NULL, NULL, NULL, NULL, 1);
}

static int evict(struct postgres *db, struct pg_statement *s) {
  char name[32], sql[64];
  if (!s->sql)
    return 1;
  name_of(s->number, name);
  snprintf(sql, sizeof(sql), "DEALLOCATE %s", name);
  release(s);
  if (!send_control(db, sql))
    return 0;
  pg_push(db, PG_CONTROL, 0, false, 0);
  return 1;
}

static int prepare(struct postgres *db, struct pg_statement *s, const struct params *p) {
  char name[32];
  size_t n = strlen(s->sql) + 1;
  char *text = mem_alloc(n);
  if (!text)
    return 0;
  pg_translate(s->sql, text);
  name_of(s->number, name);
  int sent = db->pq->sendPrepare(db->conn, name, text, p->n, p->types);
  mem_free(text);
  if (sent)
    pg_push(db, PG_PREPARE, s->number, false, n);
  return sent;
}

static int send_prepared(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                         const struct params *p) {
  char name[32];
  uint64_t hash = hash_of(sql, values);
  struct pg_statement *s = slot_of(db, hash, sql, values);
  bool reused = s->sql && s->hash == hash && strcmp(s->sql, sql) == 0 && same_types(s->types, values);
  if (!reused) {
    if (!evict(db, s) || !fill(db, s, hash, sql, values))
      return 0;
    if (!prepare(db, s, p)) {
      release(s);
      return 0;
    }
  }
  s->used = ++db->uses;
  name_of(s->number, name);
  int sent = db->pq->sendQueryPrepared(db->conn, name, p->n, p->values, p->lengths, p->formats, 1);
  if (sent)
    pg_push(db, kind, s->number, reused, p->bytes);
  return sent;
}

static int send_unprepared(struct postgres *db, enum pg_kind kind, const char *sql, const struct params *p) {
  size_t n = strlen(sql) + 1;
  char *text = mem_alloc(n);
  if (!text)
    return 0;
  pg_translate(sql, text);
  int sent = db->pq->sendQueryParams(db->conn, text, p->n, p->types, p->values, p->lengths, p->formats, 1);
  mem_free(text);
  if (sent)
    pg_push(db, kind, 0, false, n + p->bytes);
  return sent;
}

static enum status not_sent(struct postgres *db, struct error *err) {
  assert(db->conn);
  bool lost = db->pq->status(db->conn) != CONNECTION_OK;
  return lost ? (pg_drop(db), pg_lost(err)) : pg_nomem(err);
}

/* Bounds the queue of callers that never ask for a result. */
static enum status drain_if_full(struct postgres *db, struct error *err) {
  if (!db->conn)
    return pg_lost(err);
  if (db->pending_count < PENDING_MAX || pg_drain(db, NULL, err) == PG_FINE)
    return STATUS_OK;
  return error_never_ok(err->code);
}

enum status pg_queue(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                     struct error *err) {
  struct params p;
  TRY(drain_if_full(db, err));
  TRY(set_params(&p, values, err));
  bool once = db->pooled || strlen(sql) > SQL_KEPT; /* a prepared statement would be left in another client's session */
  int sent = once ? send_unprepared(db, kind, sql, &p) : send_prepared(db, kind, sql, values, &p);
  mem_free(p.memory);
  return sent ? STATUS_OK : not_sent(db, err);
}

enum status pg_queue_control(struct postgres *db, enum pg_kind kind, const char *sql, struct error *err) {
  TRY(drain_if_full(db, err));
  if (!send_control(db, sql))
    return not_sent(db, err);
  pg_push(db, kind, 0, false, 0);
  return STATUS_OK;
}
