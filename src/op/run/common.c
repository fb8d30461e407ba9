/* common.c: helpers of the handlers: scope, transactions, arguments, and memories as JSON. */
#include "op/run/common.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/utf8.h"
#include "core/trust/suspect.h"
#include "op/run/paths.h"
#include "store/db/place.h"

struct scope call_scope(const struct op_call *call) {
  return (struct scope){.team = call->caller.team,
                        .project = call->caller.project,
                        .all_projects = call->caller.all_projects,
                        .reach = store_reach(call->engine->store),
                        .now = call->now};
}

struct txn call_author(const struct op_call *call) {
  return (struct txn){.store = call->engine->store,
                      .team = call->caller.team,
                      .project = call->caller.project,
                      .source = call->caller.source,
                      .session = call->caller.session,
                      .op = call->op->name,
                      .now = call->now,
                      .foreign = call->caller.foreign};
}

void call_set_author(const struct op_call *call, struct memory *m) {
  m->team = call->caller.team;
  m->project = call->caller.project;
  m->source = call->caller.source;
  m->session = call->caller.session;
  m->trust = call->caller.trust;
  m->weight = 1;
}

/* Checks hooks.expect: the memory has not changed since the caller read it. */
static enum status check_expected(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct str name = json_str(call->args, "id");
  struct memory m;
  if (!name.p)
    name = json_val_str(yyjson_arr_get_first(yyjson_obj_get(call->args, "ids")));
  TRY(memory_find(call->engine->store, &scope, name, call->arena, &m, call->err));
  yyjson_mut_val *full = yyjson_mut_obj(call->doc);
  show_expired(call, &m);
  TRY(put_full(call, full, &m));
  struct str hash = str_from(yyjson_mut_get_str(yyjson_mut_obj_get(full, "hash")));
  if (strs_has(call->hooks.expect, hash))
    return STATUS_OK;
  error_set(call->err, STATUS_STALE, "memory %lld has changed since it was read; nothing was done", (long long)m.id);
  return error_fix(call->err, "read it again and retry with its new hash");
}

enum status call_begin(struct op_call *call, struct txn *ret_txn) {
  struct txn who = call_author(call);
  TRY(txn_begin(call->engine->store, &who, 0, ret_txn, call->err));
  if (call->hooks.expect)
    return check_expected(call);
  return STATUS_OK;
}

enum status call_put_hash(struct op_call *call) {
  yyjson_mut_val *id = yyjson_mut_obj_get(call->result, "id");
  struct memory m;
  bool found;
  if (!call->hooks.return_hash || !yyjson_mut_is_int(id))
    return STATUS_OK;
  TRY(memory_by_id(call->engine->store, call->caller.team, yyjson_mut_get_sint(id), call->arena, &m, &found,
                   call->err));
  if (!found)
    return STATUS_OK;
  yyjson_mut_val *full = yyjson_mut_obj(call->doc);
  show_expired(call, &m);
  TRY(put_full(call, full, &m));
  json_put(call->doc, call->result, "hash", str_from(yyjson_mut_get_str(yyjson_mut_obj_get(full, "hash"))));
  return STATUS_OK;
}

enum status call_commit(struct op_call *call, struct txn *txn) {
  assert(txn->id && db_in_transaction(store_db(txn->store)));
  TRY(call_put_hash(call));
  /* Before the commit: allocating may fail, and then nothing may have been committed. */
  json_put_int(call->doc, call->result, "txn", txn->id);
  return txn_commit(txn, call->err);
}

bool is_from_network(const struct caller *c) { return c->origin && !str_empty(c->origin->connection); }

bool call_lacks_project(const struct op_call *call) {
  return !call->caller.project_given && is_from_network(&call->caller);
}

void put_no_project(struct op_call *call, struct str project) {
  if (!str_empty(project) || !call_lacks_project(call))
    return;
  yyjson_mut_val *warning = yyjson_mut_arr_add_obj(call->doc, json_put_arr(call->doc, call->result, "warnings"));
  json_put(call->doc, warning, "code", STR(NO_PROJECT_CODE));
  json_put(call->doc, warning, "message", STR(NO_PROJECT_MESSAGE));
  json_put(call->doc, warning, "fix", STR(NO_PROJECT_FIX));
}

enum status call_find(struct op_call *call, const char *name, struct memory *ret_memory) {
  assert(op_param(call->op, str_from(name)));
  struct scope scope = call_scope(call);
  return memory_find(call->engine->store, &scope, json_str(call->args, name), call->arena, ret_memory, call->err);
}

enum status call_time(struct op_call *call, const char *name, int sign, int64_t *ret_ms) {
  assert(sign == 1 || sign == -1);
  struct str s = json_str(call->args, name);
  *ret_ms = 0;
  if (!s.p || time_or_duration_parse(s, call->now, sign, ret_ms))
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "%s '%.*s' is not a time", name, STR_ARG(s));
  return error_fix(call->err, "use a duration such as 24h, 7d or 30d, or a timestamp such as 2026-03-31T12:00:00Z");
}

enum status call_int(struct op_call *call, const char *name, int64_t missing, int64_t low, int64_t high,
                     int64_t *ret_value) {
  assert(op_param(call->op, str_from(name)) && low <= high);
  int64_t value = json_int(call->args, name, missing);
  if (value < low || value > high) {
    error_set(call->err, STATUS_USAGE, "%s %lld is outside %lld to %lld", name, (long long)value, (long long)low,
              (long long)high);
    return error_fix(call->err, "%s: %s", name, op_param(call->op, str_from(name))->help);
  }
  *ret_value = value;
  return STATUS_OK;
}

enum status call_filter(struct op_call *call, struct filter *ret_filter) {
  struct filter f = {.kind = json_str(call->args, "kind"),
                     .delivery = json_str(call->args, "delivery"),
                     .status = json_str(call->args, "status"),
                     .milestone = json_str(call->args, "milestone"),
                     .trusted = json_bool(call->args, "trusted", false),
                     .untrusted = json_bool(call->args, "untrusted", false)};
  struct str type = json_str(call->args, "type");
  struct strs people = {0};
  if (!str_empty(type)) {
    const struct mem_type *t;
    TRY(type_resolve(f.kind, type, &t, call->err));
    f.type = str_from(t->stored_as ? t->stored_as : t->name);
    f.severity = str_from(t->severity);
    if (t->delivery)
      f.delivery = str_from(t->delivery);
  }
  json_strs(call->arena, call->args, "tags", &f.tags);
  for (size_t i = 0; i < f.tags.n; i++)
    f.tags.v[i] = label_plain(f.tags.v[i], '#');
  json_strs(call->arena, call->args, "people", &people);
  for (size_t i = 0; i < people.n; i++) {
    struct strs names = {0};
    TRY(people_spellings(call->engine->store, call->caller.team, people.v[i], call->arena, &names, call->err));
    list_push(call->arena, &f.people, names);
  }
  TRY(call_time(call, "since", -1, &f.since));
  TRY(call_time(call, "until", -1, &f.until));
  *ret_filter = f;
  return STATUS_OK;
}

enum status call_cursor(struct op_call *call, struct position *ret_position) {
  struct str rest = json_str(call->args, "cursor"), part;
  struct position p = {0};
  if (!rest.p)
    return STATUS_OK;
  bool ok = str_next(&rest, '.', &part) && str_int64(part, &p.rank) && str_next(&rest, '.', &part) &&
            str_int64(part, &p.at) && str_int64(rest, &p.id);
  if (ok && p.rank >= 0 && p.rank <= 2 && p.id > 0) {
    *ret_position = p;
    return STATUS_OK;
  }
  error_set(call->err, STATUS_USAGE, "%s: invalid cursor", call->op->name);
  return error_fix(call->err, "pass next_cursor of the previous page unchanged, or omit it to start over");
}

void put_cursor(struct op_call *call, struct memories *list, int64_t limit, bool by_priority) {
  assert(limit > 0 && (int64_t)list->n <= limit + 1);
  if ((int64_t)list->n <= limit)
    return;
  list->n = (size_t)limit;
  const struct memory *m = &list->v[list->n - 1];
  int rank = !by_priority || str_is(m->priority, "high") ? 0 : str_is(m->priority, "medium") ? 1 : 2;
  json_put(call->doc, call->result, "next_cursor",
           arena_printf(call->arena, "%d.%lld.%lld", rank, (long long)m->created_at, (long long)m->id));
}

enum status call_no_folder(struct op_call *call, struct str dir) {
  error_set(call->err, STATUS_NOT_FOUND, "there is no folder '%.*s'", STR_ARG(dir));
  return error_fix(call->err, "name a folder, for example: cairn %s docs", call->op->name);
}

enum status call_folder(struct op_call *call, struct str *ret_path) {
  struct str dir = json_str(call->args, "dir");
  char real[PATH_MAX];
  struct stat st;
  if (str_empty(dir) || !realpath(arena_cstr(call->arena, dir), real) || stat(real, &st) != 0)
    return call_no_folder(call, dir);
  if (!S_ISDIR(st.st_mode)) {
    error_set(call->err, STATUS_USAGE, "%.*s is a file", STR_ARG(dir));
    return error_fix(call->err, "name the folder that it is in");
  }
  struct str path = arena_dup(call->arena, str_from(real));
  if (utf8_check(path) != path.n) {
    error_set(call->err, STATUS_USAGE, "the path of this folder is not UTF-8 and cannot be stored");
    return error_fix(call->err, "rename it, or the folder above it whose name is in another encoding");
  }
  *ret_path = path;
  return STATUS_OK;
}

enum status call_refuse_store_path(struct op_call *call, struct str path) {
  struct stat given;
  if (!str_empty(path) && db_is_url(arena_cstr(call->arena, path))) {
    /* Not repeated in the message: it may hold a password. */
    error_set(call->err, STATUS_USAGE, "this is a server URL, not a file");
    return error_fix(call->err,
                     "name a file; --db selects the store, and 'cairn migrate --to URL' copies it to a server");
  }
  if (str_empty(path) || stat(arena_cstr(call->arena, path), &given) != 0 ||
      !store_is_file(call->engine->store, &given))
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "%.*s is the store itself", STR_ARG(path));
  return error_fix(call->err, "name another file; 'cairn backup FILE' copies the store");
}

bool call_is_by_person(const struct op_call *call) {
  return str_is(call->caller.trust, "user") && !call->caller.principal && !call->engine->agent[0];
}

enum status call_check_setting(struct op_call *call, enum setting_id id) {
  const struct setting *setting = &setting_table[id];
  if (setting->agents || !str_is(call->caller.trust, "agent"))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "agents may not change %s: only a person may", setting->name);
  return error_fix(call->err, "ask the user to run: cairn config %s VALUE", setting->name);
}

struct str call_path(const struct op_call *call, struct str path) {
  size_t start = path.n;
  while (call->caller.principal && start > 0 && path.p[start - 1] != '/')
    start--;
  return call->caller.principal ? str_slice(path, start, path.n) : path;
}

void call_shorten_paths(const struct op_call *call, struct error *err) {
  struct store *st = call->engine->store;
  if (call->caller.principal)
    paths_shorten(st ? db_path(store_db(st)) : NULL, call->args, err);
}

struct str call_message(const struct op_call *call, const char *message) {
  struct error shown;
  error_set(&shown, STATUS_INTERNAL, "%s", message);
  call_shorten_paths(call, &shown);
  return arena_dup(call->arena, str_from(shown.message));
}

enum status call_check_shown(struct op_call *call) {
  for (const struct param *p = call->op->params; p->name; p++) {
    struct str text = p->flags & PARAM_SHOWN ? json_str(call->args, p->name) : STR_NONE;
    struct str why = str_empty(text) || call_is_by_person(call) ? STR_NONE : suspect_text(call->arena, text);
    if (!why.p)
      continue;
    error_set(call->err, STATUS_REFUSED, "'%s' reads like instructions to the model that will be shown it (%.*s)",
              p->name, STR_ARG(why));
    error_step(call->err, "trust");
    return error_fix(call->err, "state plainly what was done and what is open; a person can store it unchanged");
  }
  return STATUS_OK;
}

void put_untrusted(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  if (!memory_is_trusted(m))
    json_put_bool(call->doc, obj, "untrusted", true);
}

void put_trust(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  json_put(call->doc, obj, "trust", m->trust);
  json_put_opt(call->doc, obj, "suspect", m->suspect);
  put_untrusted(call, obj, m);
}

struct str quote_headline(struct arena *a, const struct memory *m) {
  return memory_is_trusted(m) ? m->headline : arena_printf(a, "%.*s (untrusted)", STR_ARG(m->headline));
}

void put_brief(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  yyjson_mut_doc *doc = call->doc;
  char time[TIME_TEXT_SIZE];
  json_put_int(doc, obj, "id", m->id);
  json_put(doc, obj, "uid", m->uid);
  json_put(doc, obj, "headline", m->headline);
  json_put(doc, obj, "kind", m->kind);
  json_put(doc, obj, "type", m->type);
  json_put_opt(doc, obj, "severity", m->severity);
  json_put(doc, obj, "project", m->project);
  json_put_opt(doc, obj, "key", m->key);
  json_put(doc, obj, "state", m->state);
  json_put_opt(doc, obj, "state_reason", m->state_reason);
  json_put(doc, obj, "delivery", m->delivery);
  json_put_num(doc, obj, "weight", m->weight);
  json_put_opt(doc, obj, "skill_name", m->skill_name);
  if (m->skill_always_on)
    json_put_bool(doc, obj, "skill_always_on", true);
  put_trust(call, obj, m);
  json_put(doc, obj, "written_by", m->source);
  json_put_opt(doc, obj, "status", m->status);
  json_put_opt(doc, obj, "priority", m->priority);
  json_put_opt(doc, obj, "milestone", m->milestone);
  json_put_opt(doc, obj, "due", m->due);
  json_put_opt(doc, obj, "claimed_by", m->claimed_by);
  json_put(doc, obj, "created_at", time_format(m->created_at, time));
  if (m->expires_at)
    json_put(doc, obj, "expires_at", time_format(m->expires_at, time));
}

void show_expired(const struct op_call *call, struct memory *m) {
  bool may_expire = str_is(m->state, "active") || str_is(m->state, "archived") || str_is(m->state, "faded");
  if (!may_expire || !m->expires_at || m->expires_at > call->now)
    return;
  m->state = STR("expired");
  m->state_reason = STR("its time to live ended");
  m->state_at = m->expires_at;
}

/* State of an inactive memory, and its current version. */
static enum status put_banner(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  struct arena *a = call->arena;
  char time[TIME_TEXT_SIZE];
  if (str_is(m->state, "active")) {
    if (m->expires_at && m->expires_at <= call->now)
      json_put(call->doc, obj, "banner",
               arena_printf(a, "This memory expired at %s.", time_format(m->expires_at, time).p));
    return STATUS_OK;
  }
  int64_t head;
  struct memory current;
  bool found = false;
  TRY(link_head(call->engine->store, m->team, m->id, &head, call->err));
  if (head != m->id)
    TRY(memory_by_id(call->engine->store, m->team, head, a, &current, &found, call->err));
  time_format(m->state_at, time);
  struct buf b = BUF(a);
  buf_addf(&b, "This memory has been %.*s since %s: %.*s.", STR_ARG(m->state), time, STR_ARG(m->state_reason));
  if (found) {
    if (str_is(current.state, "active"))
      buf_addf(&b, " The current version is %lld: ", (long long)head);
    else
      buf_addf(&b, " The last version, %lld, is %.*s: ", (long long)head, STR_ARG(current.state));
    buf_add(&b, quote_headline(a, &current));
    json_put_int(call->doc, obj, "head", head);
  }
  json_put(call->doc, obj, "banner", buf_str(&b));
  return STATUS_OK;
}

/* Memory of the caller's project that replaces this global one there. */
static enum status put_shadow(struct op_call *call, yyjson_mut_val *obj, const struct memory *m,
                              const struct links *links) {
  for (size_t i = 0; i < links->n; i++) {
    const struct link *l = &links->v[i];
    struct memory mine;
    bool found = false;
    if (!str_is(l->rel, "shadows") || l->dst != m->id)
      continue;
    TRY(memory_by_id(call->engine->store, m->team, l->src, call->arena, &mine, &found, call->err));
    if (!found || !str_is(mine.state, "active") || !str_eq(mine.project, call->caller.project) ||
        (mine.expires_at && mine.expires_at <= call->now))
      continue;
    json_put_int(call->doc, obj, "head", mine.id);
    json_put(call->doc, obj, "banner",
             arena_printf(call->arena, "In project '%.*s' this memory is replaced by %lld: %.*s", STR_ARG(mine.project),
                          (long long)mine.id, STR_ARG(quote_headline(call->arena, &mine))));
    break;
  }
  return STATUS_OK;
}

/* Hash of the object so far, without the members that reading changes. */
static void put_hash(struct op_call *call, yyjson_mut_val *obj) {
  char hash[HASH_TEXT_SIZE];
  yyjson_mut_val *copy = yyjson_mut_val_mut_copy(call->doc, obj);
  yyjson_mut_obj_remove_key(copy, "access_count");
  yyjson_mut_obj_remove_key(copy, "last_accessed");
  hash_text(json_write(call->arena, copy, false), hash);
  json_put(call->doc, obj, "hash", str_from(hash));
}

enum status put_full(struct op_call *call, yyjson_mut_val *obj, struct memory *m) {
  struct store *st = call->engine->store;
  struct notes notes = {0};
  struct links links = {0};
  TRY(memory_load_body(st, call->arena, m, call->err));
  TRY(memory_load_lists(st, call->arena, m, call->err));
  TRY(notes_load(st, call->arena, m, &notes, call->err));
  TRY(links_of(st, m->team, m->id, call->arena, &links, call->err));
  json_put_int(call->doc, obj, "id", m->id);
  memory_put_fields(call->doc, obj, m, 0, FIELD_LOCAL);
  json_put(call->doc, obj, "body", m->body);
  memory_put_lists(call->doc, obj, m);
  notes_put(call->doc, obj, &notes);
  links_put(call->doc, obj, m->id, &links);
  put_hash(call, obj);
  put_untrusted(call, obj, m);
  TRY(put_banner(call, obj, m));
  return yyjson_mut_obj_get(obj, "banner") ? STATUS_OK : put_shadow(call, obj, m, &links);
}

enum status put_signals(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  struct notes notes = {0};
  TRY(notes_load(call->engine->store, call->arena, m, &notes, call->err));
  json_put_int(call->doc, obj, "upvotes", m->upvotes);
  json_put_int(call->doc, obj, "downvotes", m->downvotes);
  if (notes.n)
    notes_put(call->doc, obj, &notes);
  return STATUS_OK;
}

void note_read(struct op_call *call, const struct memory *m) {
  struct txn who = call_author(call);
  who.project = m->project;
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  /* The result of a document has its origin already. Others are named by uid: after an export, the id may be another
   * memory's. */
  yyjson_mut_val *origin = memory_is_document(m) ? yyjson_mut_obj_get(call->result, "origin") : NULL;
  json_put(doc, obj, "type", m->type);
  json_put(doc, obj, "path",
           origin ? (struct str){yyjson_mut_get_str(origin), yyjson_mut_get_len(origin)}
                  : arena_printf(call->arena, "cairn://memory/%.*s", STR_ARG(m->uid)));
  json_put_int(doc, obj, "size", (int64_t)m->body.n);
  struct str detail = json_write(call->arena, obj, false);
  reads_queue(call->engine->store, &who, STR("memory:read"), m->id, m->uid, detail);
}

void note_result_read(struct op_call *call, const char *type, struct str path, const struct memory_ids *ids,
                      bool used) {
  struct txn who = call_author(call);
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "type", str_from(type));
  json_put(doc, obj, "path", path);
  if (!(call->op->flags & OP_SECRET)) /* not the length of a secret */
    json_put_int(doc, obj, "size", (int64_t)json_text_size(call->result));
  yyjson_mut_val *results = ids ? json_put_arr(doc, obj, used ? "results" : "ids") : NULL;
  for (size_t i = 0; ids && i < ids->n; i++)
    yyjson_mut_arr_add_sint(doc, results, ids->v[i]);
  reads_queue(call->engine->store, &who, STR("memory:read"), 0, STR_NONE, json_write(call->arena, obj, false));
}

enum status call_confirm_many(struct op_call *call, const char *what, size_t count) {
  enum { MANY = 10 };
  assert(op_param(call->op, STR("confirm")));
  if (count <= MANY || !str_is(call->caller.trust, "agent") || json_bool(call->args, "confirm", false))
    return STATUS_OK;
  error_set(call->err, STATUS_CONFIRM, "%s %zu memories at once", what, count);
  return error_fix(call->err, "repeat the call with --confirm, or do it for at most %d at a time", (int)MANY);
}

void progress(struct op_call *call, const char *what, int64_t done, int64_t total) {
  if (call->hooks.progress)
    call->hooks.progress(call->hooks.arg, what, done, total);
}

bool cancelled(struct op_call *call) { return call->hooks.cancelled && call->hooks.cancelled(call->hooks.arg); }
