/* mirror_store.c: memories for MEMORY.md, and lookup of the memories that it names. */
#include "base/utf8.h"
#include "core/files/memfile.h"
#include "op/files/mirror.h"

/* ---- shown memories ---- */

bool mirror_shows(const struct op_call *call, const struct memory *m) {
  return str_eq(m->project, call->caller.project) && str_is(m->state, "active") &&
         (!m->expires_at || m->expires_at > call->now) && memory_is_trusted(m) && !str_is(m->status, "done") &&
         !str_is(m->status, "stale") && !memfile_is_path(m->key);
}

static enum status add_entry(struct op_call *call, struct memory *m, struct mirror_entries *list, size_t *chars) {
  TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
  struct mirror_entry e = {.id = m->id,
                           .uid = m->uid,
                           .text = mirror_text(call->arena, m->headline, m->body),
                           .section = mirror_section_of(type_find(m->type)),
                           .task = str_is(m->kind, kind_names[KIND_TASK]),
                           .blocker = str_is(m->severity, "blocker")};
  if (e.blocker)
    e.author = memory_author(m);
  *chars += utf8_length(e.text);
  list_push(call->arena, list, e);
  return STATUS_OK;
}

/* Counts the trusted memories that maintenance has retired, and those whose time to live has ended. */
static enum status count_retired(struct op_call *call, const struct scope *scope, struct mirror_options *options) {
  const struct {
    struct filter which;
    int64_t *count;
  } rows[] = {{{.states = "'faded'"}, &options->faded},
              {{.states = "'archived'"}, &options->archived},
              {{.states = "'expired'"}, &options->expired},
              {{.status = STR("stale")}, &options->stale}};
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    struct filter f = rows[i].which;
    f.trusted = true;
    TRY(memory_count(call->engine->store, scope, &f, call->arena, rows[i].count, call->err));
  }
  return STATUS_OK;
}

enum status mirror_load_entries(struct op_call *call, bool own, size_t max_chars, struct mirror_entries *ret_entries,
                                struct mirror_options *ret_options) {
  enum { CHARS_EACH = 50 }; /* of a usual memory, for the number of rows to read at once */
  struct store *st = call->engine->store;
  struct scope scope = call_scope(call);
  struct filter f = {
      .trusted = true, .no_retired_tasks = true, .order = PAGE_ORDER, .limit = (int64_t)(max_chars / CHARS_EACH) + 1};
  int64_t every = 0, trusted = 0;
  size_t chars = 0, read = 0, more = 0, n;
  scope.all_projects = false;
  scope.own = own;
  do {
    struct memories list = {0};
    TRY(memory_list(st, &scope, &f, call->arena, &list, call->err));
    for (size_t i = 0; i < list.n; i++) {
      if (memfile_is_path(list.v[i].key))
        continue;
      if (chars > max_chars)
        more++;
      else
        TRY(add_entry(call, &list.v[i], ret_entries, &chars));
    }
    n = list.n;
    read += n;
    f.offset += f.limit;
  } while (chars <= max_chars && n == (size_t)f.limit);
  f.offset = 0;
  TRY(memory_count(st, &scope, &f, call->arena, &trusted, call->err));
  f.trusted = false;
  TRY(memory_count(st, &scope, &f, call->arena, &every, call->err));
  more += trusted > (int64_t)read ? (size_t)trusted - read : 0;
  *ret_options = (struct mirror_options){.project = call->caller.project,
                                         .max_chars = max_chars,
                                         .hidden = every > trusted ? every - trusted : 0,
                                         .more = more};
  return count_retired(call, &scope, ret_options);
}

/* ---- memories that the page names ---- */

static bool is_known(const struct mirror_knowns *known, struct str uid) {
  for (size_t i = 0; i < known->n; i++)
    if (str_eq(known->v[i].uid, uid))
      return true;
  return false;
}

static bool is_current(const struct op_call *call, const struct memory *m) {
  return str_is(m->state, "active") && (!m->expires_at || m->expires_at > call->now) && !str_is(m->status, "done") &&
         !str_is(m->status, "stale");
}

static enum status add_head(struct op_call *call, const struct memory *m, struct mirror_known *k) {
  struct store *st = call->engine->store;
  struct memory head = {0};
  bool found = false;
  int64_t id;
  TRY(link_head(st, m->team, m->id, &id, call->err));
  if (id != m->id)
    TRY(memory_by_id(st, m->team, id, call->arena, &head, &found, call->err));
  if (!found || !str_eq(head.project, call->caller.project) || !is_current(call, &head))
    return STATUS_OK;
  TRY(memory_load_body(st, call->arena, &head, call->err));
  k->head = head.id;
  k->head_uid = head.uid;
  k->head_text = mirror_text(call->arena, head.headline, head.body);
  k->head_section = mirror_section_of(type_find(head.type));
  return STATUS_OK;
}

/* Ignores memories of other projects: their bullets were copied from another page. */
static enum status add_known(struct op_call *call, struct memory *m, struct mirror_knowns *known) {
  if (!str_eq(m->project, call->caller.project) || memfile_is_path(m->key) || is_known(known, m->uid))
    return STATUS_OK;
  TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
  struct mirror_known k = {.id = m->id,
                           .uid = m->uid,
                           .active = is_current(call, m),
                           .text = mirror_text(call->arena, m->headline, m->body),
                           .section = mirror_section_of(type_find(m->type))};
  if (!str_is(m->state, "active"))
    TRY(add_head(call, m, &k));
  list_push(call->arena, known, k);
  return STATUS_OK;
}

/* Purged and pruned memories have no text, but they are known. */
static enum status add_deleted(struct op_call *call, struct str uid, int64_t id, struct mirror_knowns *known) {
  struct store *st = call->engine->store;
  struct memory m = {.id = id};
  bool purged = false, pruned = false;
  TRY(tombstone_exists(st, call->caller.team, uid, &purged, call->err));
  if (!purged)
    TRY(memory_pruned(st, call->caller.team, uid, call->arena, &m, &pruned, call->err));
  if (purged || pruned)
    list_push(call->arena, known,
              (struct mirror_known){.id = m.id, .uid = uid, .text = STR(""), .section = MIRROR_SECTION_NONE});
  return STATUS_OK;
}

static enum status add_anchored(struct op_call *call, const struct mirror_block *b, struct mirror_knowns *known) {
  struct store *st = call->engine->store;
  struct str team = call->caller.team, uid = b->uid;
  struct memory m;
  bool found;
  if (b->anchor_id)
    TRY(memory_by_id(st, team, b->anchor_id, call->arena, &m, &found, call->err));
  else
    TRY(memory_by_uid(st, team, uid, call->arena, &m, &found, call->err));
  if (found)
    return add_known(call, &m, known);
  if (b->anchor_id)
    TRY(memory_uid_of_deleted(st, team, b->anchor_id, call->arena, &uid, call->err));
  return uid.p && !is_known(known, uid) ? add_deleted(call, uid, b->anchor_id, known) : STATUS_OK;
}

enum status mirror_load_known(struct op_call *call, const struct mirror_page *page, struct mirror_knowns *ret_known) {
  struct store *st = call->engine->store;
  struct str team = call->caller.team;
  for (size_t i = 0; i < page->blocks.n; i++) {
    const struct mirror_block *b = &page->blocks.v[i];
    if (b->kind == MIRROR_BULLET && (b->anchor_id || (b->uid.p && !is_known(ret_known, b->uid))))
      TRY(add_anchored(call, b, ret_known));
  }
  for (size_t i = 0; i < page->listed.n; i++) {
    struct memory m;
    bool found, known = false;
    for (size_t k = 0; k < ret_known->n && !known; k++)
      known = ret_known->v[k].id == page->listed.v[i].id;
    if (known)
      continue;
    TRY(memory_by_id(st, team, page->listed.v[i].id, call->arena, &m, &found, call->err));
    if (found && str_eq(mirror_tag(call->arena, m.uid), page->listed.v[i].tag))
      TRY(add_known(call, &m, ret_known));
  }
  return STATUS_OK;
}
