/* sql.c: statements put together from parts, with bound values. */
#include <stdio.h>

#include "store/db.h"

void sql_add(struct sql *q, const char *text) { buf_adds(&q->text, text); }

void sql_addf(struct sql *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  struct str s = arena_vprintf(q->text.a, fmt, ap);
  va_end(ap);
  buf_add(&q->text, s);
}

static void bind(struct sql *q, struct db_value v) {
  list_push(q->text.a, q, v);
  buf_addf(&q->text, "?%zu", q->n);
}

void sql_text(struct sql *q, struct str value) { bind(q, (struct db_value){.form = 's', .s = value}); }
void sql_int(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 'i', .i = value}); }
void sql_real(struct sql *q, double value) { bind(q, (struct db_value){.form = 'd', .d = value}); }
void sql_time(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 't', .i = value}); }
