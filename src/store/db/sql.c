/* sql.c: statements built from parts, with bound values. */
#include <assert.h>
#include <stdio.h>

#include "store/db/db.h"

void sql_add(struct sql *q, const char *text) { buf_adds(&q->text, text); }

void sql_addf(struct sql *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  struct str s = arena_vprintf(q->text.a, fmt, ap);
  va_end(ap);
  buf_add(&q->text, s);
}

/* Hand-written for speed: every stored memory builds a statement of fifty values. */
static void add_number(struct buf *b, size_t n) {
  char digits[20];
  size_t at = sizeof(digits);
  do
    digits[--at] = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  buf_add(b, (struct str){digits + at, sizeof(digits) - at});
}

static void bind(struct sql *q, struct db_value v) {
  list_push(q->text.a, q, v);
  buf_addc(&q->text, '?');
  add_number(&q->text, q->n);
}

void sql_text(struct sql *q, struct str value) { bind(q, (struct db_value){.form = 's', .s = value}); }
void sql_int(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 'i', .i = value}); }
void sql_real(struct sql *q, double value) { bind(q, (struct db_value){.form = 'd', .d = value}); }
void sql_time(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 't', .i = value}); }

void sql_ids(struct sql *q, const int64_t *ids, size_t n) {
  assert(n > 0 && n <= SQL_IDS);
  size_t size = n <= 8 ? 8 : n <= 32 ? 32 : SQL_IDS;
  for (size_t i = 0; i < size; i++) {
    sql_add(q, i ? ", " : "(");
    sql_int(q, ids[i < n ? i : n - 1]);
  }
  sql_add(q, ")");
}
