/* rows.c: result rows: fetched as a whole, in binary, decoded by column type. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store/postgres/internal.h"

enum {
  BOOL_OID = 16,
  INT8_OID = 20,
  INT2_OID = 21,
  INT4_OID = 23,
  OID_OID = 26,
  FLOAT4_OID = 700,
  FLOAT8_OID = 701,
  NUMERIC_OID = 1700,
  JSONB_OID = 3802,
  XID8_OID = 5069,
};

enum { TEXTS = 16, TEXT_SIZE = 40 };

/* Open results of a connection are listed for rollback, because an out-of-memory jump leaves them open. */
struct pg_rows {
  PGresult *result;
  struct postgres *db;
  struct pg_rows *next, *former;
  int64_t query; /* query number; see struct db_scope */
  int64_t count;
  char texts[TEXTS][TEXT_SIZE]; /* numbers requested as text, by column */
};

enum status pg_rows_open(struct rows *r, PGresult *result) {
  struct postgres *db = pg_own(r->db);
  struct pg_rows *own = mem_zalloc(sizeof(*own));
  if (!own) {
    db->pq->clear(result);
    return pg_nomem(r->err);
  }
  own->result = result;
  own->db = db;
  own->query = db->base.queries;
  own->count = db->pq->ntuples(result);
  own->next = db->rows;
  if (own->next)
    own->next->former = own;
  db->rows = own;
  r->statement = own;
  return STATUS_OK;
}

static void free_rows(struct pg_rows *own) {
  assert(own->former ? own->former->next == own : own->db->rows == own);
  own->db->pq->clear(own->result);
  *(own->former ? &own->former->next : &own->db->rows) = own->next;
  if (own->next)
    own->next->former = own->former;
  mem_free(own);
}

void pg_rows_end(struct rows *r) {
  struct pg_rows *own = r->statement;
  r->statement = NULL;
  if (own)
    free_rows(own);
}

void pg_rows_clear(struct postgres *db) {
  for (struct pg_rows *own = db->rows; own; own = own->next) {
    db->pq->clear(own->result);
    own->result = NULL;
    own->count = 0;
  }
}

void pg_rows_free_after(struct postgres *db, int64_t after) {
  for (struct pg_rows *own = db->rows, *next; own; own = next) {
    next = own->next;
    if (own->query > after)
      free_rows(own);
  }
}

bool pg_rows_next(struct rows *r) {
  const struct pg_rows *own = r->statement;
  if (r->at < own->count) {
    r->at++;
    return true;
  }
  pg_rows_end(r);
  return false;
}

/* ---- fields ---- */

struct field {
  Oid type;
  const unsigned char *p; /* NULL: SQL NULL */
  size_t n;
};

static struct field field_at(const struct rows *r, int column) {
  const struct pg_rows *own = r->statement;
  int row = (int)r->at - 1;
  assert(!own || !own->result || (column >= 0 && column < own->db->pq->nfields(own->result)));
  if (!own || !own->result || row < 0 || column < 0 || column >= own->db->pq->nfields(own->result) ||
      own->db->pq->getisnull(own->result, row, column))
    return (struct field){0};
  return (struct field){
      .type = own->db->pq->ftype(own->result, column),
      .p = (const unsigned char *)own->db->pq->getvalue(own->result, row, column),
      .n = (size_t)own->db->pq->getlength(own->result, row, column),
  };
}

static uint64_t bits(const unsigned char *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n && i < 8; i++)
    v = v << 8 | p[i];
  return v;
}

static double float_of(const struct field *f) {
  uint64_t v = bits(f->p, f->n);
  double d = 0;
  if (f->type == FLOAT4_OID) {
    uint32_t w = (uint32_t)v;
    float x;
    memcpy(&x, &w, sizeof(x));
    return (double)x;
  }
  memcpy(&d, &v, sizeof(d));
  return d;
}

/* numeric: number of base-10000 digits, weight of the first, sign, decimals, digits. */
static double numeric_of(const struct field *f) {
  double v = 0;
  if (f->n < 8)
    return 0;
  int digits = (int16_t)bits(f->p, 2), weight = (int16_t)bits(f->p + 2, 2);
  uint64_t sign = bits(f->p + 4, 2);
  if (sign == 0xC000)
    return (double)NAN;
  for (int i = 0; i < digits && 8 + 2 * (size_t)i + 2 <= f->n; i++)
    v += (double)bits(f->p + 8 + 2 * (size_t)i, 2) * pow(10000, weight - i);
  return sign == 0x4000 ? -v : v;
}

static bool is_int(Oid type) {
  return type == INT8_OID || type == INT4_OID || type == INT2_OID || type == BOOL_OID || type == OID_OID ||
         type == XID8_OID;
}

static bool is_real(Oid type) { return type == FLOAT8_OID || type == FLOAT4_OID || type == NUMERIC_OID; }

static int64_t int_of(const struct field *f) {
  uint64_t v = bits(f->p, f->n);
  switch (f->type) {
  case INT2_OID:
    return (int16_t)v;
  case INT4_OID:
    return (int32_t)v;
  default:
    return (int64_t)v;
  }
}

static double real_of(const struct field *f) { return f->type == NUMERIC_OID ? numeric_of(f) : float_of(f); }

/* ---- accessors; conversions match SQLite ---- */

bool pg_rows_null(const struct rows *r, int column) { return field_at(r, column).p == NULL; }

static int64_t truncated(double d) {
  if (isnan(d))
    return 0;
  return d >= 9223372036854775807.0 ? INT64_MAX : d <= -9223372036854775808.0 ? INT64_MIN : (int64_t)d;
}

int64_t pg_rows_int(const struct rows *r, int column) {
  struct field f = field_at(r, column);
  int64_t i = 0;
  double d = 0;
  if (!f.p)
    return 0;
  if (is_int(f.type))
    return int_of(&f);
  if (is_real(f.type))
    return truncated(real_of(&f));
  struct str text = {(const char *)f.p, f.n};
  if (str_int64(text, &i))
    return i;
  return str_double(text, &d) ? truncated(d) : 0;
}

double pg_rows_real(const struct rows *r, int column) {
  struct field f = field_at(r, column);
  double d = 0;
  if (!f.p)
    return 0;
  if (is_int(f.type))
    return (double)int_of(&f);
  if (is_real(f.type))
    return real_of(&f);
  return str_double((struct str){(const char *)f.p, f.n}, &d) ? d : 0;
}

static struct str number_text(struct pg_rows *own, int column, const struct field *f) {
  char *out = own->texts[column % TEXTS];
  double d = is_int(f->type) ? 0 : real_of(f);
  int n;
  if (is_int(f->type))
    n = snprintf(out, TEXT_SIZE, "%" PRId64, int_of(f));
  else if (d == floor(d) && fabs(d) < 1e15)
    n = snprintf(out, TEXT_SIZE, f->type == NUMERIC_OID ? "%.0f" : "%.1f", d);
  else
    n = snprintf(out, TEXT_SIZE, "%.15g", d);
  return (struct str){out, (size_t)n};
}

struct str pg_rows_text(const struct rows *r, int column) {
  struct field f = field_at(r, column);
  if (!f.p)
    return STR_NONE;
  if (is_int(f.type) || is_real(f.type))
    return number_text(r->statement, column, &f);
  if (f.type == JSONB_OID && f.n > 0) /* the first byte is the format version */
    return (struct str){(const char *)f.p + 1, f.n - 1};
  return (struct str){(const char *)f.p, f.n};
}
