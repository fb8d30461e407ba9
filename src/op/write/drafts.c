/* drafts.c: stores many drafts as one change, in parts. */
#include "core/memory/headline.h"
#include "op/write/write.h"

static bool is_refusal(enum status s) {
  return s == STATUS_REFUSED || s == STATUS_SECRET || s == STATUS_DUPLICATE || s == STATUS_CONFLICT ||
         s == STATUS_USAGE || s == STATUS_NOT_FOUND;
}

static enum status write_draft(struct op_call *call, struct txn *txn, struct draft *d, int64_t counts[WRITE_ACTIONS],
                               yyjson_mut_val *list) {
  struct error *outer = call->err;
  call->err = &d->err;
  if (d->err.code == STATUS_OK)
    d->err.code = write_try(call, txn, &d->w);
  call->err = outer;
  if (d->err.code == STATUS_OK) {
    counts[d->w.action]++;
    write_result(call, yyjson_mut_arr_add_obj(call->doc, list), &d->w);
    return STATUS_OK;
  }
  if (!is_refusal(d->err.code)) {
    *call->err = d->err;
    return d->err.code;
  }
  yyjson_mut_val *v = op_error_json(call->doc, &d->err);
  struct str headline = d->w.m.headline;
  if (!headline.p && d->w.m.body.p)
    headline = headline_derive(call->arena, d->w.m.body);
  json_put_opt(call->doc, v, "headline", headline);
  if (!str_empty(d->w.m.kind))
    json_put(call->doc, v, "kind", d->w.m.kind);
  yyjson_mut_arr_append(list, v);
  return STATUS_OK;
}

/* Drafts are stored in parts, so other writers wait no longer than one part takes: PART_DRAFTS, or fewer after PART_US.
 * At most ONE_PART_DRAFTS are one transaction, on a slow machine, too. */
enum { PART_DRAFTS = 16, ONE_PART_DRAFTS = 4, PART_US = 5000 };

struct parts {
  struct txn txn;
  int64_t first; /* id of the first part, which stands for all */
  int number;
  size_t drafts; /* of the current part */
  size_t kept;   /* drafts in committed parts */
  int64_t began; /* ticks */
};

static enum status begin_part(struct op_call *call, struct parts *p) {
  if (!p->first)
    TRY(call_begin(call, &p->txn));
  else
    TRY(txn_next_part(&p->txn, p->first, ++p->number, call->err));
  if (p->first)
    call->stored_txn = p->first;
  else
    p->first = p->txn.id;
  p->drafts = 0;
  p->began = clock_ticks_us();
  return STATUS_OK;
}

static bool is_part_full(const struct parts *p, size_t total) {
  return p->drafts == PART_DRAFTS || (total > ONE_PART_DRAFTS && clock_ticks_us() - p->began >= PART_US);
}

/* Earlier parts stay stored if a later one fails. */
static enum status explain_parts(struct op_call *call, const struct parts *p, size_t total) {
  struct error why = *call->err;
  if (p->number == 0)
    return why.code;
  error_set(call->err, why.code, "the first %zu of %zu texts were processed, then: %s", p->kept, total, why.message);
  return error_fix(call->err, "repeat the call, which skips what is stored; or 'cairn undo %lld' removes it",
                   (long long)p->first);
}

static enum status store_drafts(struct op_call *call, struct drafts *list, const char *what, struct parts *p,
                                int64_t counts[WRITE_ACTIONS], yyjson_mut_val *arr) {
  enum status s = list->n ? begin_part(call, p) : STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < list->n; i++) {
    s = write_draft(call, &p->txn, &list->v[i], counts, arr);
    p->drafts++;
    if (s == STATUS_OK && is_part_full(p, list->n) && i + 1 < list->n) {
      s = begin_part(call, p);
      p->kept = s == STATUS_OK ? i + 1 : p->kept;
      progress(call, what, (int64_t)(list->n + i) + 1, (int64_t)list->n * 2);
    }
  }
  return s == STATUS_OK ? s : explain_parts(call, p, list->n);
}

enum status write_drafts(struct op_call *call, struct drafts *list, const char *what) {
  struct error *outer = call->err;
  const struct write *last = NULL;
  for (size_t i = 0; i < list->n; i++) {
    struct draft *d = &list->v[i];
    d->w.after = last;
    d->w.in_parts = true;
    call->err = &d->err;
    if (d->err.code == STATUS_OK)
      d->err.code = write_prepare(call, &d->w);
    if (d->err.code == STATUS_OK)
      last = &d->w;
    progress(call, what, (int64_t)i + 1, (int64_t)list->n * 2);
  }
  call->err = outer;
  struct parts parts = {0};
  int64_t counts[WRITE_ACTIONS] = {0};
  yyjson_mut_val *arr = yyjson_mut_arr(call->doc);
  TRY(store_drafts(call, list, what, &parts, counts, arr));
  int64_t skipped = counts[WRITE_SKIPPED];
  int64_t stored = counts[WRITE_STORED] + counts[WRITE_SUPERSEDED] + counts[WRITE_UPDATED];
  json_put_int(call->doc, call->result, "stored", stored);
  json_put_int(call->doc, call->result, "skipped", skipped);
  json_put_int(call->doc, call->result, "refused", (int64_t)list->n - stored - skipped);
  yyjson_mut_obj_add_val(call->doc, call->result, "memories", arr);
  if (list->n == 0)
    return STATUS_OK;
  json_put_int(call->doc, call->result, "txn", parts.first);
  if (txn_commit(&parts.txn, call->err) != STATUS_OK)
    return explain_parts(call, &parts, list->n);
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].err.code == STATUS_OK)
      write_index_rest(call, &list->v[i].w);
  return STATUS_OK;
}
