/* list.c: lists of memories: by filter, by prefix of the id, skills, ready tasks, files of a folder. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/memory/types.h"
#include "store/memories/documents.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/store_internal.h"

/* ---- filters ---- */

static void where_text(struct sql *q, const char *condition, struct str value) {
  if (str_empty(value))
    return;
  sql_add(q, condition);
  sql_text(q, value);
}

static void add_values(struct sql *q, const struct strs *any) {
  sql_add(q, " IN (");
  for (size_t i = 0; i < any->n; i++) {
    if (i)
      sql_add(q, ", ");
    sql_text(q, any->v[i]);
  }
  sql_add(q, ")");
}

static void where_label(struct sql *q, const char *field, const struct strs *any) {
  sql_addf(q,
           " AND EXISTS (SELECT 1 FROM label l WHERE l.team = m.team AND l.memory_id = m.id AND l.field = '%s' AND "
           "l.value",
           field);
  add_values(q, any);
  sql_add(q, ")");
}

/* Other systems' tools may have stored the tag with its sign. */
static struct strs tag_spellings(struct sql *q, struct str tag) {
  struct strs spellings = {0};
  strs_push(q->text.a, &spellings, tag);
  strs_push(q->text.a, &spellings, arena_printf(q->text.a, "#%.*s", STR_ARG(tag)));
  return spellings;
}

void filter_where(struct sql *q, const struct filter *f) {
  where_text(q, " AND m.kind = ", f->kind);
  where_text(q, " AND m.type = ", f->type);
  where_text(q, " AND m.severity = ", f->severity);
  where_text(q, " AND m.delivery = ", f->delivery);
  where_text(q, " AND m.status = ", f->status);
  where_text(q, " AND m.milestone = ", f->milestone);
  where_text(q, " AND m.skill_name = ", f->skill_name);
  for (size_t i = 0; i < f->tags.n; i++) {
    struct strs spellings = tag_spellings(q, f->tags.v[i]);
    where_label(q, "tags", &spellings);
  }
  for (size_t i = 0; i < f->people.n; i++)
    where_label(q, "people", &f->people.v[i]);
  if (f->no_retired_tasks)
    sql_add(q, " AND (m.status IS NULL OR m.status IN ('open', 'blocked'))");
  if (f->no_blockers)
    sql_add(q, " AND (m.severity IS NULL OR m.severity <> 'blocker')");
  if (f->trusted)
    sql_add(q, " AND " SQL_TRUSTED);
  if (f->untrusted)
    sql_add(q, " AND NOT " SQL_TRUSTED);
  if (f->by_person)
    sql_add(q, " AND m.trust = 'user'");
  if (f->since) {
    sql_add(q, " AND m.created_at >= ");
    sql_int(q, f->since);
  }
  if (f->until) {
    sql_add(q, " AND m.created_at <= ");
    sql_int(q, f->until);
  }
}

void filter_by_label(struct sql *q, struct str team, const char *field, const struct strs *any) {
  if (!any || any->n == 0)
    return;
  sql_addf(q, " AND m.id IN (SELECT lv.memory_id FROM label lv WHERE lv.field = '%s' AND lv.team = ", field);
  sql_text(q, team);
  sql_add(q, " AND lv.value");
  add_values(q, any);
  sql_add(q, ")");
}

void filter_by_tag(struct sql *q, struct str team, const struct filter *f) {
  if (f->tags.n == 0)
    return;
  struct strs spellings = tag_spellings(q, f->tags.v[0]);
  filter_by_label(q, team, "tags", &spellings);
}

enum status people_spellings(struct store *st, struct str team, struct str name, struct arena *a,
                             struct strs *ret_spellings, struct error *err) {
  struct rows r;
  name = label_plain(name, '@');
  struct str folded = utf8_fold(a, name);
  db_query(st->db, &r, err, "SELECT DISTINCT value FROM label WHERE team = ?1 AND field = 'people'", "s", team);
  while (rows_next(&r)) {
    struct str value = rows_text(&r, 0);
    if (str_eq(utf8_fold(a, label_plain(value, '@')), folded))
      strs_push(a, ret_spellings, arena_dup(a, value));
  }
  if (!ret_spellings->n)
    strs_push(a, ret_spellings, name);
  return rows_end(&r);
}

/* Matches the order of the list: newest first, or TASK_ORDER. */
static void where_after(struct sql *q, const struct filter *f) {
  if (!f->after.id)
    return;
  sql_add(q, f->order ? " AND (" TASK_RANK ", m.created_at, m.id) > (" : " AND (m.created_at, m.id) < (");
  if (f->order) {
    sql_int(q, f->after.rank);
    sql_add(q, ", ");
  }
  sql_int(q, f->after.at);
  sql_add(q, ", ");
  sql_int(q, f->after.id);
  sql_add(q, ")");
}

/* ---- lists ---- */

/* A list of several corpora, or of all kinds of a project's own memories, is split into queries that an index can
 * answer. As one query it would read and sort all rows of the team for each page. */
struct part {
  unsigned corpora;
  const char *kind; /* NULL for all */
};
enum { PARTS_MOST = (int)CORPUS_COUNT + (int)KIND_COUNT, PART_ROWS = 2000 };
struct parts {
  struct part v[PARTS_MOST];
  size_t n;
};

static struct parts split_list(const struct scope *scope, const struct filter *f) {
  unsigned corpora = scope->corpora ? scope->corpora : 1U << CORPUS_MEMORY;
  bool by_kind = scope->own && !scope->all_projects && str_empty(f->kind) && !f->states && !scope->as_of;
  struct parts parts = {0};
  for (unsigned c = 0; c < CORPUS_COUNT; c++) {
    if (!(corpora & (1U << c)))
      continue;
    if (c != CORPUS_MEMORY || !by_kind)
      parts.v[parts.n++] = (struct part){1U << c, NULL};
    for (int k = 0; c == CORPUS_MEMORY && by_kind && k < KIND_COUNT; k++)
      parts.v[parts.n++] = (struct part){1U << c, kind_names[k]};
  }
  assert(parts.n <= PARTS_MOST);
  return parts;
}

static int by_newest(const void *x, const void *y) {
  const struct memory *p = x, *q = y;
  if (p->created_at != q->created_at)
    return p->created_at < q->created_at ? 1 : -1;
  return p->id < q->id ? 1 : -(p->id > q->id);
}

static enum status list_part(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                             struct memories *ret_list, struct error *err) {
  struct sql q = memory_select(a);
  visible(&q, scope, f->states ? f->states : STATES_LIVE);
  assert(f->offset >= 0);
  filter_where(&q, f);
  where_after(&q, f);
  sql_addf(&q, " ORDER BY %s LIMIT ", f->order ? f->order : "m.created_at DESC, m.id DESC");
  sql_int(&q, f->limit > 0 ? f->limit : INT64_MAX);
  sql_add(&q, " OFFSET ");
  sql_int(&q, f->offset);
  return memory_collect(st, &q, a, ret_list, err);
}

static enum status list_parts(struct store *st, const struct scope *scope, const struct filter *f,
                              const struct parts *parts, struct arena *a, struct memories *list, struct error *err) {
  for (size_t i = 0; i < parts->n; i++) {
    struct scope of_part = *scope;
    struct filter rows = *f;
    of_part.corpora = parts->v[i].corpora;
    rows.limit += rows.offset;
    rows.offset = 0;
    if (parts->v[i].kind)
      rows.kind = str_from(parts->v[i].kind);
    TRY(list_part(st, &of_part, &rows, a, list, err));
  }
  return STATUS_OK;
}

/* All parts are read from one snapshot, so a memory that moves between them appears exactly once. */
enum status memory_list(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct parts parts = split_list(scope, f);
  struct memories all = {0};
  bool snapshot = false;
  if (parts.n < 2 || f->order || f->limit <= 0 || f->limit > PART_ROWS || f->offset > PART_ROWS - f->limit)
    return list_part(st, scope, f, a, ret_list, err);
  TRY(db_snapshot(st->db, &snapshot, err));
  TRY(db_snapshot_end(st->db, snapshot, list_parts(st, scope, f, &parts, a, &all, err), err));
  if (all.n)
    qsort(all.v, all.n, sizeof(*all.v), by_newest);
  for (size_t i = (size_t)f->offset; i < all.n && i < (size_t)(f->offset + f->limit); i++)
    list_push(a, ret_list, all.v[i]);
  return STATUS_OK;
}

static enum status count_part(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                              int64_t *ret_count, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT count(*) FROM memory m WHERE ");
  visible(&q, scope, f->states ? f->states : STATES_LIVE);
  filter_where(&q, f);
  struct rows r;
  db_query_sql(st->db, &r, err, &q);
  if (rows_next(&r))
    *ret_count = rows_int(&r, 0);
  return rows_end(&r);
}

static enum status count_parts(struct store *st, const struct scope *scope, const struct filter *f, unsigned corpora,
                               struct arena *a, int64_t *ret_count, struct error *err) {
  int64_t count = 0;
  for (unsigned c = 0; c < CORPUS_COUNT; c++) {
    struct scope of_part = *scope;
    int64_t some = 0;
    of_part.corpora = 1U << c;
    if (corpora & of_part.corpora)
      TRY(count_part(st, &of_part, f, a, &some, err));
    count += some;
  }
  *ret_count = count;
  return STATUS_OK;
}

enum status memory_count(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                         int64_t *ret_count, struct error *err) {
  unsigned corpora = scope->corpora ? scope->corpora : 1U << CORPUS_MEMORY;
  bool snapshot = false;
  int64_t count = 0;
  if ((corpora & (corpora - 1)) == 0) /* a single query needs no snapshot */
    return count_parts(st, scope, f, corpora, a, ret_count, err);
  TRY(db_snapshot(st->db, &snapshot, err));
  TRY(db_snapshot_end(st->db, snapshot, count_parts(st, scope, f, corpora, a, &count, err), err));
  *ret_count = count;
  return STATUS_OK;
}

/* ---- ids by their first digits ---- */

enum { DIGITS_MOST = 18 }; /* fits into int64_t; no store has longer ids */

static enum status collect_ids(struct store *st, struct sql *q, struct arena *a, struct memory_ids *list,
                               struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r))
    list_push(a, list, rows_int(&r, 0));
  return rows_end(&r);
}

static struct sql newest_ids(struct arena *a, const struct scope *scope, int64_t limit) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM memory m WHERE ");
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " ORDER BY m.created_at DESC, m.id DESC LIMIT ");
  sql_int(&q, limit);
  return q;
}

static struct sql ids_between(struct arena *a, const struct scope *scope, int64_t low, int64_t high, int64_t limit) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM memory m WHERE ");
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.id BETWEEN ");
  sql_int(&q, low);
  sql_add(&q, " AND ");
  sql_int(&q, high);
  sql_add(&q, " ORDER BY m.id LIMIT ");
  sql_int(&q, limit);
  return q;
}

/* Largest id of the store: the search stops there. */
static enum status max_id(struct store *st, int64_t *ret_id, struct error *err) {
  return db_int(st->db, ret_id, NULL, err,
                "/* all teams: the upper bound of ids */ SELECT coalesce(max(id), 0) FROM memory", NULL);
}

enum status memory_ids(struct store *st, const struct scope *scope, struct str digits, int64_t limit, struct arena *a,
                       struct memory_ids *ret_ids, struct error *err) {
  assert(limit >= 0);
  int64_t low, width = 1, last = 0;
  *ret_ids = (struct memory_ids){0};
  if (digits.n == 0) {
    struct sql q = newest_ids(a, scope, limit);
    return collect_ids(st, &q, a, ret_ids, err);
  }
  if (digits.n > DIGITS_MOST || !ascii_digit(digits.p[0]) || digits.p[0] == '0' || !str_int64(digits, &low))
    return STATUS_OK;
  TRY(max_id(st, &last, err));
  /* 12, then 120 to 129, then 1200 to 1299: each is a range of the index. */
  for (; low <= last && (int64_t)ret_ids->n < limit; low *= 10, width *= 10) {
    int64_t high = low > INT64_MAX - (width - 1) ? INT64_MAX : low + (width - 1);
    struct sql q = ids_between(a, scope, low, high, limit - (int64_t)ret_ids->n);
    TRY(collect_ids(st, &q, a, ret_ids, err));
    if (low > INT64_MAX / 10)
      break;
  }
  return STATUS_OK;
}

/* ---- skills, tasks, files ---- */

bool skill_is_for(const struct memory *m, const struct scope *scope, bool any) {
  bool here = str_empty(m->project) || str_eq(m->project, scope->project) || scope->all_projects;
  if (m->skill_projects.n == 0)
    return here;
  return strs_has(&m->skill_projects, STR("*")) || strs_has(&m->skill_projects, scope->project) || (any && here);
}

/* Skills of other projects. */
static enum status skills_elsewhere(struct store *st, const struct scope *scope, struct arena *a, struct memories *list,
                                    struct error *err) {
  struct scope wide = *scope;
  struct sql q = memory_select(a);
  wide.all_projects = true;
  visible(&q, &wide, STATES_LIVE);
  sql_add(&q, " AND m.skill_name IS NOT NULL AND m.project NOT IN ('', ");
  sql_text(&q, scope->project);
  sql_add(&q, ") ORDER BY m.skill_name");
  return memory_collect(st, &q, a, list, err);
}

enum status skills_visible(struct store *st, const struct scope *scope, bool any, struct arena *a,
                           struct memories *ret_list, struct error *err) {
  struct memories all = {0};
  struct sql q = memory_select(a);
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.skill_name IS NOT NULL ORDER BY m.skill_name");
  TRY(memory_collect(st, &q, a, &all, err));
  if (!scope->all_projects && !scope->own)
    TRY(skills_elsewhere(st, scope, a, &all, err));
  for (size_t i = 0; i < all.n; i++) {
    struct memory *m = &all.v[i];
    TRY(memory_load_lists(st, a, m, err));
    if (skill_is_for(m, scope, any && scope->all_projects))
      list_push(a, ret_list, *m);
  }
  return STATUS_OK;
}

enum status tasks_ready(struct store *st, const struct scope *scope, int64_t limit, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct sql q = memory_select(a);
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.kind = 'task' AND m.status = 'open' AND m.claimed_by IS NULL"
              " AND NOT EXISTS (SELECT 1 FROM link l JOIN memory b ON b.team = l.team AND b.id = l.dst"
              " WHERE l.team = m.team AND l.src = m.id AND l.rel = 'blocked_by' AND " OPEN_BLOCKER
              ") ORDER BY " TASK_ORDER " LIMIT ");
  sql_int(&q, limit);
  return memory_collect(st, &q, a, ret_list, err);
}

enum status files_under(struct store *st, const struct scope *scope, struct str dir, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct scope own = *scope;
  own.all_projects = false;
  own.own = true;
  struct sql q = memory_select(a);
  visible(&q, &own, STATES_LIVE);
  /* '0' follows '/' in ASCII, and keys are compared bytewise. */
  sql_add(&q, " AND m.key IS NOT NULL AND m.key > ");
  sql_text(&q, arena_printf(a, "%.*s/", STR_ARG(dir)));
  sql_add(&q, " AND m.key < ");
  sql_text(&q, arena_printf(a, "%.*s0", STR_ARG(dir)));
  sql_add(&q, " ORDER BY m.key");
  return memory_collect(st, &q, a, ret_list, err);
}
