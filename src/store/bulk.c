/* bulk.c: storing many memories in one transaction. */
#include "store/bulk.h"

#include "base/id.h"
#include "core/chunk.h"
#include "store/events.h"
#include "store/store_internal.h"

enum { GROUP_CHUNKS = 64, GROUP_BYTES = 4 << 20, CHUNK_VALUES = 7 };

struct held_chunk {
  int64_t memory_id, seq;
  struct str hash, headline, body, extra;
};

struct bulk {
  struct txn *txn;
  struct sql row, group; /* statements that are built once; their values change */
  struct arena *held;    /* the texts of the chunks that wait */
  LIST(struct held_chunk) chunks;
};

/* ---- statements ---- */

static char form_of(const struct field *f) {
  switch (f->form) {
  case FIELD_TEXT:
    return 's';
  case FIELD_REAL:
    return 'd';
  default:
    return f->flags & FIELD_NULL ? 't' : 'i';
  }
}

static struct sql row_sql(struct arena *a) {
  struct sql q = SQL(a);
  sql_add(&q, "INSERT INTO memory (");
  /* The id, the first field, is the next free one. */
  for (size_t i = 1; i < memory_field_count; i++)
    sql_addf(&q, "%s%s", i > 1 ? ", " : "", memory_fields[i].name);
  sql_add(&q, ") VALUES (");
  for (size_t i = 1; i < memory_field_count; i++) {
    sql_add(&q, i > 1 ? ", " : "");
    sql_int(&q, 0);
    q.v[i - 1].form = form_of(&memory_fields[i]);
  }
  sql_add(&q, ")");
  return q;
}

#define CHUNK_INSERT "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra) VALUES "

static struct sql group_sql(struct arena *a) {
  static const char forms[CHUNK_VALUES] = {'s', 'i', 'i', 's', 's', 's', 's'};
  struct sql q = SQL(a);
  sql_add(&q, CHUNK_INSERT);
  for (size_t i = 0; i < GROUP_CHUNKS * CHUNK_VALUES; i++) {
    sql_add(&q, i % CHUNK_VALUES ? ", " : i ? ", (" : "(");
    sql_int(&q, 0);
    q.v[i].form = forms[i % CHUNK_VALUES];
    sql_add(&q, i % CHUNK_VALUES == CHUNK_VALUES - 1 ? ")" : "");
  }
  return q;
}

struct bulk *bulk_new(struct txn *txn, struct arena *a) {
  struct bulk *b = arena_new(a, struct bulk);
  b->txn = txn;
  b->row = row_sql(a);
  b->group = group_sql(a);
  b->held = arena_child(a);
  return b;
}

/* ---- rows ---- */

static enum status insert_row(struct bulk *b, struct memory *m, struct error *err) {
  struct db *db = b->txn->store->db;
  for (size_t i = 1; i < memory_field_count; i++) {
    struct db_value *v = &b->row.v[i - 1];
    const void *at = field_at(m, memory_fields[i].offset);
    if (v->form == 's')
      v->s = *(const struct str *)at;
    else if (v->form == 'd')
      v->d = *(const double *)at;
    else
      v->i = *(const int64_t *)at;
  }
  enum status s = db_exec_sql(db, err, &b->row);
  if (s == STATUS_OK)
    m->id = db_last_id(db);
  return s;
}

static enum status insert_lists(struct bulk *b, const struct memory *m, struct error *err) {
  enum status s = STATUS_OK;
  for (size_t i = 0; i < memory_list_count; i++)
    for (size_t k = 0; s == STATUS_OK && k < list_at(m, i)->n; k++)
      s = db_exec(b->txn->store->db, err,
                  "INSERT INTO label (team, memory_id, field, pos, value) VALUES (?1, ?2, ?3, ?4, ?5)", "sisis",
                  m->team, m->id, str_from(memory_lists[i].name), (int64_t)k, list_at(m, i)->v[k]);
  return s;
}

static enum status log_insert(struct bulk *b, struct arena *a, const struct memory *m, const char *hash,
                              struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *after = yyjson_mut_obj(doc);
  memory_put_fields(doc, after, m, 0, FIELD_LOCAL);
  memory_put_lists(doc, after, m);
  json_put_int(doc, after, "body_bytes", (int64_t)m->body.n);
  json_put(doc, after, "body_hash", str_from(hash));
  struct event e = {.action = STR("memory:write"),
                    .change = "insert",
                    .memory_id = m->id,
                    .uid = m->uid,
                    .project = m->project,
                    .after = json_write(a, after, false)};
  return event_add(b->txn, &e, err);
}

/* ---- chunks ---- */

static struct str extra_text(struct arena *a, const struct memory *m) {
  struct buf b = BUF(a);
  buf_add(&b, m->key);
  for (size_t i = 0; i < m->tags.n; i++)
    buf_addf(&b, " %.*s", STR_ARG(m->tags.v[i]));
  return buf_str(&b);
}

static void hold_chunks(struct bulk *b, struct arena *scratch, const struct memory *m) {
  struct chunks parts = {0};
  chunk_split(scratch, m->body, &parts);
  struct str body = arena_dup(b->held, m->body), headline = arena_dup(b->held, m->headline);
  for (size_t i = 0; i < parts.n; i++) {
    struct held_chunk c = {.memory_id = m->id,
                           .seq = (int64_t)i,
                           .headline = headline,
                           .body = {body.p + parts.v[i].start, parts.v[i].len},
                           .extra = i == 0 ? extra_text(b->held, m) : STR("")};
    char *hash = arena_alloc(b->held, HASH_TEXT_SIZE);
    hash_text(c.body, hash);
    c.hash = str_from(hash);
    list_push(b->held, &b->chunks, c);
  }
}

static enum status insert_group(struct bulk *b, const struct held_chunk *chunks, struct error *err) {
  for (size_t i = 0; i < GROUP_CHUNKS; i++) {
    const struct held_chunk *c = &chunks[i];
    struct db_value *v = &b->group.v[i * CHUNK_VALUES];
    v[0].s = b->txn->team;
    v[1].i = c->memory_id;
    v[2].i = c->seq;
    v[3].s = c->hash;
    v[4].s = c->headline;
    v[5].s = c->body;
    v[6].s = c->extra;
  }
  return db_exec_sql(b->txn->store->db, err, &b->group);
}

enum status bulk_flush(struct bulk *b, struct error *err) {
  size_t done = 0;
  enum status s = STATUS_OK;
  for (; s == STATUS_OK && b->chunks.n - done >= GROUP_CHUNKS; done += GROUP_CHUNKS)
    s = insert_group(b, &b->chunks.v[done], err);
  for (; s == STATUS_OK && done < b->chunks.n; done++) {
    const struct held_chunk *c = &b->chunks.v[done];
    s = db_exec(b->txn->store->db, err, CHUNK_INSERT "(?1, ?2, ?3, ?4, ?5, ?6, ?7)", "siissss", b->txn->team,
                c->memory_id, c->seq, c->hash, c->headline, c->body, c->extra);
  }
  arena_release(b->held);
  memset(&b->chunks, 0, sizeof(b->chunks));
  return s;
}

enum status bulk_insert(struct bulk *b, struct arena *scratch, struct memory *m, struct error *err) {
  char hash[HASH_TEXT_SIZE];
  body_hash(scratch, m->body, hash);
  enum status s = insert_row(b, m, err);
  if (s == STATUS_OK)
    s = db_exec(b->txn->store->db, err, "INSERT INTO body (memory_id, team, text, hash) VALUES (?1, ?2, ?3, ?4)",
                "isss", m->id, m->team, m->body, str_from(hash));
  if (s == STATUS_OK)
    s = insert_lists(b, m, err);
  if (s == STATUS_OK)
    s = log_insert(b, scratch, m, hash, err);
  if (s != STATUS_OK)
    return s;
  hold_chunks(b, scratch, m);
  return b->chunks.n >= GROUP_CHUNKS || b->held->used >= GROUP_BYTES ? bulk_flush(b, err) : STATUS_OK;
}
