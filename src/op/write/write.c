/* write.c: the write pipeline: from arguments to a stored memory. */
#include "op/write/write.h"

#include <assert.h>

#include "base/id.h"
#include "base/utf8.h"
#include "core/memory/chunk.h"
#include "core/memory/extract.h"
#include "core/memory/headline.h"
#include "core/trust/suspect.h"
#include "op/run/scrub.h"
#include "op/write/duplicates.h"
#include "op/write/near.h"
#include "op/write/replace.h"
#include "op/write/replay.h"
#include "op/write/restate.h"
#include "store/memories/lifecycle.h"
#include "store/search/lexical.h"
#include "store/tables/settings.h"
#include "store/vectors/vectors.h"
#include "transcript/store/neighbours.h"

/* ---- from arguments ---- */

static enum status read_times(struct op_call *call, yyjson_val *args, struct memory *m) {
  static const struct {
    const char *arg;
    size_t offset;
  } times[] = {{"ttl", offsetof(struct memory, expires_at)},
               {"valid_from", offsetof(struct memory, valid_from)},
               {"verified", offsetof(struct memory, verified_at)}};
  for (size_t i = 0; i < ARRAY_LEN(times); i++) {
    struct str s = json_str(args, times[i].arg);
    bool ttl = i == 0;
    int64_t *at = field_at(m, times[i].offset);
    if (!s.p)
      continue;
    bool ok = ttl ? time_or_duration_parse(s, call->now, 1, at) : time_parse(s, at);
    if (!ok) {
      error_set(call->err, STATUS_REFUSED, "%s '%.*s' is not a time", times[i].arg, STR_ARG(s));
      error_step(call->err, "fields");
      return error_fix(call->err, ttl ? "use a duration such as 24h, 7d or 720h, or a timestamp such as 2026-12-31"
                                      : "use a timestamp such as 2026-03-31 or 2026-03-31T12:00:00Z");
    }
    if (ttl && *at <= call->now) {
      error_set(call->err, STATUS_REFUSED, "ttl '%.*s' is in the past", STR_ARG(s));
      error_step(call->err, "fields");
      return error_fix(call->err, "use a duration such as 24h or 7d, or a timestamp in the future");
    }
  }
  return STATUS_OK;
}

static enum status read_weight(struct op_call *call, yyjson_val *args, struct memory *m) {
  yyjson_val *v = yyjson_obj_get(args, "weight");
  m->weight = v ? yyjson_get_num(v) : 1.0;
  if (m->weight >= 0.1 && m->weight <= 1.0)
    return STATUS_OK;
  error_set(call->err, STATUS_REFUSED, "weight %g is outside 0.1 to 1.0", m->weight);
  error_step(call->err, "fields");
  return error_fix(call->err, "use a weight from 0.1 (a guess) to 1.0 (certain)");
}

/* Arguments can lower the caller's trust (text that a tool returned), never raise it. */
struct str args_trust(const struct op_call *call, yyjson_val *args) {
  return str_is(json_str(args, "origin"), "tool") ? STR("tool") : call->caller.trust;
}

enum status write_from_args(struct op_call *call, yyjson_val *args, struct write *w) {
  struct arena *a = call->arena;
  struct memory *m = &w->m;

  static const char *const texts[] = {"kind",     "type",       "severity",   "headline", "key",
                                      "delivery", "skill_name", "confidence", "priority", "milestone",
                                      "due",      "root_cause", "resolution"};
  for (size_t i = 0; i < memory_field_count; i++)
    for (size_t k = 0; k < ARRAY_LEN(texts); k++)
      if (str_is(str_from(memory_fields[i].name), texts[k]))
        *(struct str *)field_at(m, memory_fields[i].offset) = json_str(args, texts[k]);
  memory_get_lists(a, args, m);
  labels_clean(call, m);
  m->body = json_str(args, "text");
  m->skill_always_on = json_bool(args, "skill_always_on", false);
  m->corroborated = (int64_t)m->domains.n;
  m->team = call->caller.team;
  m->project = call->caller.project;
  m->source = call->caller.source;
  m->session = call->caller.session;
  m->trust = args_trust(call, args);
  w->redacted = call->redacted;
  w->args_clean = args == call->args && !call->redacted;
  w->weight_given = yyjson_obj_get(args, "weight") != NULL;
  w->supersedes = json_str(args, "supersedes");
  w->reason = json_str(args, "reason");
  w->idempotency_key = json_str(args, "idempotency_key");
  if (w->idempotency_key.p)
    replay_hash_args(call, args, w);
  w->soft = json_bool(args, "soft", false);
  w->keep_both = json_bool(args, "keep_both", false);
  w->inherit_pin = json_bool(args, "inherit_pin", false);
  w->inherit_skill = json_bool(args, "inherit_skill", false);
  w->inherit_key = json_bool(args, "inherit_key", false);
  w->defer_embedding = json_bool(args, "defer_embedding", false);
  json_strs(a, args, "links", &w->links);
  json_strs(a, args, "distinct_from", &w->distinct_from);
  json_strs(a, args, "blocked_by", &w->blocked_by);
  w->keep_fields = json_bool(args, "keep_fields", false);
  restate_note_given(w, args);
  TRY(read_times(call, args, m));
  return read_weight(call, args, m);
}

/* ---- secrets, before anything is embedded, logged or stored ---- */

/* If op_run() found no secret in the arguments, only texts from elsewhere are searched: those that replace_defaults()
 * copied from the old memory, and the project. */
static enum status scrub_all(struct op_call *call, bool redact, struct write *w) {
  struct memory *m = &w->m;
  struct {
    struct str *text;
    const char *name;
    bool from_args;
  } texts[] = {{&m->body, "the text", true},
               {&m->headline, "the headline", true},
               {&m->key, "the key", true},
               {&m->root_cause, "the root cause", true},
               {&m->resolution, "resolution", true},
               {&m->milestone, "the milestone", false},
               {&m->due, "due", false},
               {&w->reason, "the reason", true},
               {&m->project, "the project", false},
               {&m->skill_name, "the skill name", true},
               {&w->idempotency_key, "the idempotency key", true}};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (!(w->args_clean && texts[i].from_args))
      TRY(scrub_text(call->secrets, call->arena, redact, texts[i].text, texts[i].name, &w->redacted, call->err));
  for (size_t i = 0; i < memory_list_count && !w->args_clean; i++)
    for (size_t k = 0; k < list_at(m, i)->n; k++)
      TRY(scrub_text(call->secrets, call->arena, redact, &list_at(m, i)->v[k], memory_lists[i].name, &w->redacted,
                     call->err));
  return STATUS_OK;
}

/* A derived headline has no markup, so a secret that the markup split is whole in it. */
static enum status scrub_derived(struct op_call *call, bool redact, struct write *w, struct str given) {
  if (str_eq(w->m.headline, given))
    return STATUS_OK;
  return scrub_text(call->secrets, call->arena, redact, &w->m.headline, "the headline", &w->redacted, call->err);
}

/* ---- metadata ---- */

void labels_clean(const struct op_call *call, struct memory *m) {
  bool keep_signs = call->caller.foreign;
  for (size_t i = 0; i < memory_list_count; i++) {
    struct strs *list = list_at(m, i);
    char sign = keep_signs ? 0 : list == &m->tags ? '#' : list == &m->people ? '@' : 0;
    for (size_t k = 0; k < list->n; k++)
      list->v[k] = label_plain(list->v[k], sign);
  }
}

/* Drops a label that was given twice. */
static void drop_repeated(struct arena *a, struct strs *list) {
  struct strs given = *list;
  *list = (struct strs){0};
  utf8_list_merge(a, list, &given);
}

static void add_metadata(struct arena *a, struct memory *m) {
  struct extracted found = {0};
  drop_repeated(a, &m->tags);
  drop_repeated(a, &m->people);
  extract_metadata(a, m->headline, m->body, &found);
  utf8_list_merge(a, &m->tags, &found.tags);
  utf8_list_merge(a, &m->people, &found.people);
  utf8_list_merge(a, &m->topics, &found.topics);
  /* "must" in a rule is not a pending action. */
  if (!str_is(m->kind, kind_names[KIND_RULE]))
    utf8_list_merge(a, &m->action_items, &found.action_items);
}

/* ---- embedding ---- */

/* The end of the previous entry of the same session; absent if the draft is not an entry. That entry may be in the same
 * batch, and then it is not in the store yet. */
static enum status load_context(struct op_call *call, struct write *w, struct str *ret_before) {
  const struct memory *m = &w->m;
  *ret_before = STR_NONE;
  if (!memory_is_entry(m))
    return STATUS_OK;
  for (const struct write *p = w->after; p; p = p->after)
    if (memory_is_entry(&p->m) && str_eq(p->m.session, m->session) && str_eq(p->m.project, m->project)) {
      w->context = p;
      *ret_before = transcript_tail(call->arena, p->m.body);
      return STATUS_OK;
    }
  struct memory entry = {.team = m->team, .corpus = STR("memory"), .project = m->project, .session = m->session};
  return transcript_before(call->engine->store, &entry, call->arena, ret_before, call->err);
}

/* A chunk costs the built-in embedder up to 10 ms of processor time, so a call of a server's client embeds at most 0.3
 * s worth. Background work embeds the rest. */
enum { CLIENT_CHUNKS = 32 };

/* Number of the chunks that are embedded now. */
static size_t take_chunks(struct op_call *call, size_t n) {
  size_t left = CLIENT_CHUNKS - call->chunks_embedded;
  if (!is_from_network(&call->caller))
    return n;
  assert(call->chunks_embedded <= CLIENT_CHUNKS);
  if (n > left)
    n = left;
  call->chunks_embedded += n;
  return n;
}

/* If an embedder fails, the memory is stored without its vectors. */
static enum status embed_chunks(struct op_call *call, struct write *w) {
  struct arena *a = call->arena;
  const struct chunks *parts = &w->parts;
  TRY(embeddings_of(call, &w->set));
  if (w->set.off)
    return STATUS_OK;
  size_t n = take_chunks(call, parts->n);
  w->chunks_late = parts->n - n;
  if (n == 0 && parts->n > 0)
    return STATUS_OK;
  assert(w->set.n <= ARRAY_LEN(w->vectors));
  struct str before;
  TRY(load_context(call, w, &before));
  struct str *texts = arena_array(a, struct str, n + 1);
  for (size_t i = 0; i < n; i++)
    texts[i] = embed_text(a, i ? STR_NONE : before, w->m.headline,
                          (struct str){w->m.body.p + parts->v[i].start, parts->v[i].len});
  for (size_t i = 0; i < w->set.n; i++) {
    struct embedding *e = &w->set.v[i], uncached = *e;
    struct error why;
    uncached.costly &= !before.p; /* a purge of this text would miss a cache entry that includes another text */
    int8_t *vectors = arena_array(a, int8_t, arena_mul(a, n + 1, (size_t)e->model.dims));
    if (embed_texts(call, a, &uncached, texts, n, vectors, &why) == STATUS_OK)
      w->vectors[i] = vectors;
    else
      embeddings_degrade(call, &w->set, arena_printf(a, "embedder %.*s", STR_ARG(e->model.model)), &why);
  }
  /* Load the vector index before taking the lock; under the lock only the newest vectors are left to read. */
  const struct embedding *judge = write_duplicate_embedding(w, NULL);
  if (judge)
    TRY(vec_warm(call->engine->store, &judge->model, call->err));
  return w->exact ? STATUS_OK : near_prepare(call, w);
}

const struct embedding *write_duplicate_embedding(const struct write *w, const int8_t **ret_vector) {
  for (size_t i = 0; i < w->set.n; i++)
    if (w->vectors[i]) {
      if (ret_vector)
        *ret_vector = w->vectors[i];
      return &w->set.v[i];
    }
  return NULL;
}

static enum status refuse_idempotency_key(struct op_call *call) {
  error_set(call->err, STATUS_REFUSED, "an idempotency key is 1 to %d bytes long", KEY_BYTES);
  error_step(call->err, "fields");
  return error_fix(call->err, "use a short one, for example a uuid, or leave it out");
}

/* A person's own text stays trusted and only gets the label. */
static void warn_suspect(struct op_call *call, struct write *w) {
  bool untrusted = !memory_is_trusted(&w->m);
  list_push(call->arena, &w->warnings,
            (struct warning){.code = "suspect",
                             .message = arena_printf(call->arena, "reads like instructions to its reader (%.*s)%s",
                                                     STR_ARG(w->m.suspect),
                                                     untrusted ? ": untrusted, shown only in search results" : ""),
                             .fix = untrusted ? STR("after reading it, a person can trust it: cairn promote ID")
                                              : STR("if you did not write this: cairn forget ID --reason WHY")});
}

static enum status check_gate(struct op_call *call, struct write *w, bool strict) {
  struct memory *m = &w->m;
  if (w->exact)
    return gate_check_exact(call->arena, m, call->err);
  if (strict && call->caller.foreign &&
      str_empty(m->headline)) /* most tools of other systems have no argument for it */
    m->headline = headline_derive(call->arena, m->body);
  TRY(gate_check(call->arena, strict, m, &w->warnings, call->err));
  bool is_task = str_is(m->kind, kind_names[KIND_TASK]);
  return call->caller.no_updates && !is_task ? gate_check_updates(call->arena, m, call->err) : STATUS_OK;
}

enum status write_prepare(struct op_call *call, struct write *w) {
  struct store *st = call->engine->store;
  struct setting_value gate, secrets;
  if (w->idempotency_key.p && (w->idempotency_key.n == 0 || w->idempotency_key.n > KEY_BYTES))
    return refuse_idempotency_key(call);
  TRY(replace_defaults(call, w));
  TRY(restate_defaults(call, w));
  TRY(setting_get(st, call->caller.team, SET_GATE_MODE, call->arena, &gate, call->err));
  TRY(setting_get(st, call->caller.team, SET_SECRETS_MODE, call->arena, &secrets, call->err));
  bool redact = str_is(secrets.value, "redact") && !w->exact;
  TRY(scrub_all(call, redact, w));
  struct str given = w->m.headline;
  TRY(check_gate(call, w, str_is(gate.value, "strict")));
  TRY(scrub_derived(call, redact, w, given));
  if (w->redacted)
    list_push(call->arena, &w->warnings,
              (struct warning){.code = "redacted",
                               .message = arena_printf(call->arena, "%lld %s redacted", (long long)w->redacted,
                                                       w->redacted == 1 ? "secret was" : "secrets were")});
  if (!w->exact)
    add_metadata(call->arena, &w->m);
  w->m.suspect = suspect_memory(call->arena, &w->m);
  if (w->m.suspect.p)
    warn_suspect(call, w);
  assert(w->parts.n == 0);
  w->m.body_hash = memory_body_hash(call->arena, &w->m);
  chunk_split(call->arena, w->m.body, &w->parts);
  return w->defer_embedding ? STATUS_OK : embed_chunks(call, w);
}

/* ---- storing ---- */

static void init_new(struct op_call *call, struct memory *m) {
  char *uid = arena_alloc(call->arena, UUID_SIZE);
  uuid7_new(call->now, uid);
  m->uid = str_from(uid);
  m->state = STR("active");
  m->created_at = m->updated_at = call->now;
  if (!m->valid_from)
    m->valid_from = call->now;
}

static void warn_late(struct op_call *call, struct write *w) {
  struct arena *a = call->arena;
  size_t total = w->parts.n;
  struct str message =
      w->embedded ? arena_printf(a, "%zu of %zu chunks get their vectors later: keyword search finds them already",
                                 w->chunks_late, total)
                  : STR("its vectors follow later: until then only keyword search finds it, and only exact duplicates "
                        "were checked");
  list_push(a, &w->warnings,
            (struct warning){.code = "embedding_deferred",
                             .message = message,
                             .fix = STR("nothing to do: the server embeds it in the background")});
}

static void warn_deferred(struct op_call *call, struct write *w) {
  struct arena *a = call->arena;
  const char *what = w->embedded ? "one of two embedders failed"
                                 : "stored without a vector: only keyword search finds it, and only exact duplicates "
                                   "were checked";
  list_push(a, &w->warnings,
            (struct warning){.code = "embedding_deferred",
                             .message = arena_printf(a, "%s; %.*s", what, STR_ARG(w->set.degraded)),
                             .fix = STR("nothing is lost: 'cairn reembed' or the next maintenance embeds it")});
}

/* Adds the vectors of rows that hold the chunks from number `from` on. */
static enum status add_vectors(struct op_call *call, struct txn *txn, const struct write *w,
                               const struct chunk_rows *chunks, size_t from) {
  for (size_t k = 0; k < w->set.n; k++) {
    const struct vec_model *model = &w->set.v[k].model;
    for (size_t i = 0; w->vectors[k] && i < chunks->n && from + i + w->chunks_late < w->parts.n; i++)
      TRY(vec_add(txn, model, chunks->v[i].id, w->vectors[k] + (from + i) * (size_t)model->dims, call->err));
  }
  return STATUS_OK;
}

static bool has_vectors(const struct write *w) {
  /* The entry it was embedded with was not stored: leave it to maintenance, which uses the entry that precedes it. */
  bool stale = w->context && (!w->context->id || w->context->action == WRITE_SKIPPED);
  return !w->defer_embedding && !w->set.off && !stale;
}

static enum status store_vectors(struct op_call *call, struct txn *txn, struct write *w,
                                 const struct chunk_rows *chunks) {
  if (!has_vectors(w))
    return STATUS_OK;
  TRY(embeddings_note(call, txn, &w->set));
  TRY(add_vectors(call, txn, w, chunks, 0));
  for (size_t k = 0; k < w->set.n; k++)
    w->embedded |= w->vectors[k] != NULL;
  if (w->set.degraded.p)
    warn_deferred(call, w);
  else if (w->chunks_late)
    warn_late(call, w);
  return STATUS_OK;
}

static enum status store_link(struct op_call *call, struct txn *txn, const struct write *w, struct str rel,
                              struct str ref) {
  struct scope scope = call_scope(call);
  struct memory other;
  TRY(memory_find(txn->store, &scope, ref, call->arena, &other, call->err));
  if (other.id == w->id) { /* the number that it has just got */
    error_set(call->err, STATUS_NOT_FOUND, "no memory '%.*s'", STR_ARG(ref));
    return error_fix(call->err, "name a memory that is stored already; 'cairn list' shows them");
  }
  if (str_is(rel, "blocked_by") && !str_is(other.kind, kind_names[KIND_TASK])) {
    error_set(call->err, STATUS_CONFLICT, "memory %lld is a %.*s, and only a task can block a task",
              (long long)other.id, STR_ARG(other.kind));
    return error_fix(call->err, "'cairn task list' shows the tasks");
  }
  struct link link = {.src = w->id, .rel = rel, .dst = other.id};
  return link_add(txn, call->arena, &link, call->err);
}

static enum status store_links(struct op_call *call, struct txn *txn, const struct write *w) {
  for (size_t i = 0; i < w->links.n; i++)
    TRY(store_link(call, txn, w, STR("relates"), w->links.v[i]));
  for (size_t i = 0; i < w->blocked_by.n; i++)
    TRY(store_link(call, txn, w, STR("blocked_by"), w->blocked_by.v[i]));
  return STATUS_OK;
}

/* A skill is shown in the projects that it names: whoever stores it must be allowed to write there. */
static enum status check_skill(struct op_call *call, struct txn *txn, const struct memory *m) {
  if (!m->skill_name.p)
    return STATUS_OK;
  struct memory held;
  bool found;
  for (size_t i = 0; i < m->skill_projects.n; i++) {
    struct str name = m->skill_projects.v[i];
    TRY(reach_check_write(txn->store, str_is(name, "*") ? STR("") : name, "a skill for", call->err));
  }
  TRY(memory_by_skill(txn->store, m->team, m->skill_name, call->arena, &held, &found, call->err));
  if (!found)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "skill name '%.*s' is taken by memory %lld", STR_ARG(m->skill_name),
            (long long)held.id);
  error_step(call->err, "fields");
  return error_fix(call->err, "cairn supersede %lld --inherit-skill --reason WHY TEXT", (long long)held.id);
}

/* A network client has no folder that would name its project. */
static void warn_no_project(struct op_call *call, struct write *w) {
  if (str_empty(w->m.project) && call_lacks_project(call))
    list_push(
        call->arena, &w->warnings,
        (struct warning){.code = NO_PROJECT_CODE, .message = STR(NO_PROJECT_MESSAGE), .fix = STR(NO_PROJECT_FIX)});
}

/* A long text is indexed in several transactions, so other writers wait for a part of it at most. The first stores the
 * memory and FIRST_CHUNKS chunks, the others PART_CHUNKS each. */
enum { FIRST_CHUNKS = 8, PART_CHUNKS = 16 };

static enum status insert(struct op_call *call, struct txn *txn, struct write *w) {
  assert(w->id == 0 && w->action != WRITE_SKIPPED);
  struct chunk_rows chunks = {0};
  init_new(call, &w->m);
  TRY(check_skill(call, txn, &w->m));
  size_t first = w->in_parts ? FIRST_CHUNKS : w->parts.n;
  TRY(memory_insert_split(txn, call->arena, &w->m, &w->parts, first, &chunks, call->err));
  w->id = w->m.id;
  w->uid = w->m.uid;
  w->headline = w->m.headline;
  warn_no_project(call, w);
  TRY(store_vectors(call, txn, w, &chunks));
  return store_links(call, txn, w);
}

/* ---- the rest of a long text ---- */

/* One short transaction for the chunks from number `from` on. Not logged, and committed without waiting for the disk:
 * the note of memory_insert_split() goes with the last chunk, so lost chunks are added again. */
static enum status index_part(struct op_call *call, const struct write *w, size_t from, bool *ret_missing) {
  struct db *db = store_db(call->engine->store);
  struct txn txn = call_author(call);
  struct arena *a = arena_child(call->arena);
  struct chunk_rows rows = {0};
  struct chunk_text texts[PART_CHUNKS];
  size_t n = w->parts.n - from < PART_CHUNKS ? w->parts.n - from : PART_CHUNKS;
  for (size_t i = 0; i < n; i++)
    texts[i] = memory_chunk_text(a, &w->m, &w->parts, from + i);
  TRY(db_begin(db, call->caller.team, true, call->err));
  TRY(memory_add_chunks(&txn, a, &w->m, texts, n, from + n == w->parts.n, &rows, ret_missing, call->err));
  if (has_vectors(w))
    TRY(add_vectors(call, &txn, w, &rows, from + n - rows.n));
  TRY(db_commit(db, call->err));
  arena_release(a);
  return STATUS_OK;
}

static enum status index_rest(struct op_call *call, const struct write *w) {
  bool missing = true;
  for (size_t i = FIRST_CHUNKS; missing && i < w->parts.n && !cancelled(call); i += PART_CHUNKS) {
    store_let_others_write(call->engine->store);
    TRY(index_part(call, w, i, &missing));
  }
  return STATUS_OK;
}

void write_index_rest(struct op_call *call, const struct write *w) {
  struct error *outer = call->err, ignored;
  if (!w->in_parts || !w->m.id || w->parts.n <= FIRST_CHUNKS)
    return;
  call->err = &ignored;
  if (index_rest(call, w) != STATUS_OK)
    store_rollback(call->engine->store);
  call->err = outer;
}

enum status write_index_pending(struct op_call *call) {
  struct store *st = call->engine->store;
  struct memory_ids ids = {0};
  TRY(memories_unindexed(st, call->caller.team, call->arena, &ids, call->err));
  for (size_t i = 0; i < ids.n; i++) {
    struct write w = {.defer_embedding = true};
    bool found;
    TRY(memory_by_id(st, call->caller.team, ids.v[i], call->arena, &w.m, &found, call->err));
    if (!found)
      continue;
    TRY(memory_load_body(st, call->arena, &w.m, call->err));
    chunk_split(call->arena, w.m.body, &w.parts);
    TRY(index_rest(call, &w));
  }
  return STATUS_OK;
}

/* The log keeps skipped writes, too: they show demand for the memory. What a person or another system's tool states
 * stays, even if an agent said it first. */
static enum status log_skip(struct op_call *call, struct txn *txn, struct write *w) {
  bool lasts = txn->foreign || str_is(w->m.trust, "user");
  assert(w->id && w->uid.n);
  if (w->action == WRITE_UPDATED && !lasts)
    return STATUS_OK;
  struct event e = {.action = STR("memory:skip"),
                    .memory_id = w->id,
                    .uid = w->uid,
                    .project = w->m.project,
                    .detail = lasts ? STR("{" EVENT_LASTS "}") : STR_NONE};
  return event_add(txn, &e, call->err);
}

/* An untrusted text never supersedes a trusted memory, even if it is more detailed: it is stored next to it. */
static void cancel_untrusted_replacement(struct op_call *call, struct write *w, struct replacement *rep) {
  int64_t id = rep->old.id;
  if (!id || replace_allowed(w, &rep->old))
    return;
  list_push(
      call->arena, &w->warnings,
      (struct warning){.code = "not_superseded",
                       .message = arena_printf(call->arena, "more detailed than memory %lld, which was kept: %.*s",
                                               (long long)id, STR_ARG(rep->old.headline)),
                       .fix = arena_printf(call->arena,
                                           "after reading both, a person can replace it: cairn supersede %lld "
                                           "--reason WHY TEXT",
                                           (long long)id)});
  *rep = (struct replacement){0};
}

/* A stored memory gets no links: its owner may not want them, and a task could block itself. */
static enum status warn_links(struct op_call *call, struct txn *txn, struct write *w, struct str rel,
                              const struct strs *refs) {
  struct arena *a = call->arena;
  struct scope scope = call_scope(call);
  struct links links = {0};
  if (refs->n)
    TRY(links_of(txn->store, txn->team, w->id, a, &links, call->err));
  for (size_t i = 0; i < refs->n; i++) {
    struct memory other;
    bool linked = false;
    TRY(memory_find(txn->store, &scope, refs->v[i], a, &other, call->err));
    for (size_t k = 0; k < links.n; k++)
      linked |= links.v[k].src == w->id && links.v[k].dst == other.id && str_eq(links.v[k].rel, rel);
    if (linked || other.id == w->id)
      continue;
    long long from = w->id, to = other.id;
    list_push(a, &w->warnings,
              (struct warning){
                  .code = "not_changed",
                  .message = arena_printf(a, "memory %lld is stored already and was not linked to %lld", from, to),
                  .fix = str_is(rel, "blocked_by") ? arena_printf(a, "cairn task block %lld %lld", from, to)
                                                   : arena_printf(a, "cairn link %lld relates %lld", from, to)});
  }
  return STATUS_OK;
}

enum status write_commit(struct op_call *call, struct txn *txn, struct write *w) {
  assert(txn->id && db_in_transaction(store_db(txn->store)));
  TRY(replay_find(call, txn, w));
  if (w->replay.p)
    return STATUS_OK;
  struct replacement rep = {0};
  TRY(replace_resolve(call, txn, w, &rep));
  if (w->action != WRITE_SKIPPED && !w->exact)
    TRY(duplicates_decide(call, w, &rep));
  if (w->action == WRITE_SKIPPED)
    TRY(restate_apply(call, txn, w, &rep));
  if (w->action == WRITE_SKIPPED)
    duplicates_warn(call, w);
  if (w->action == WRITE_SKIPPED || w->action == WRITE_UPDATED) {
    TRY(warn_links(call, txn, w, STR("relates"), &w->links));
    TRY(warn_links(call, txn, w, STR("blocked_by"), &w->blocked_by));
    return log_skip(call, txn, w);
  }
  cancel_untrusted_replacement(call, w, &rep);
  if (rep.old.id) {
    TRY(replace_retire(call, txn, w, &rep));
    w->action = WRITE_SUPERSEDED;
  }
  TRY(insert(call, txn, w));
  if (rep.old.id)
    TRY(replace_link(call, txn, w, &rep));
  TRY(restate_keep_notes(call, txn, w, &rep.old));
  return duplicates_link(call, txn, w);
}

enum status write_try(struct op_call *call, struct txn *txn, struct write *w) {
  struct error other;
  TRY(txn_savepoint(txn, call->err));
  enum status s = write_commit(call, txn, w);
  enum status end = txn_savepoint_end(txn, s == STATUS_OK, &other);
  if (end == STATUS_OK)
    return s;
  /* If the error ended the whole transaction (a full disk, for example), the savepoint is gone: keep the first error.
   */
  if (s == STATUS_OK || db_in_transaction(store_db(txn->store)))
    *call->err = other;
  return call->err->code;
}

/* ---- result ---- */

static void put_warnings(struct op_call *call, yyjson_mut_val *obj, const struct warnings *warnings) {
  yyjson_mut_val *arr = json_put_arr(call->doc, obj, "warnings");
  for (size_t i = 0; i < warnings->n; i++) {
    const struct warning *w = &warnings->v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "code", str_from(w->code));
    json_put(call->doc, v, "message", w->message);
    json_put_opt(call->doc, v, "fix", w->fix);
    if (w->memories.p)
      yyjson_mut_obj_add_val(call->doc, v, "memories", yyjson_mut_rawncpy(call->doc, w->memories.p, w->memories.n));
  }
}

void write_result(struct op_call *call, yyjson_mut_val *obj, const struct write *w) {
  static const char *const actions[] = {"stored", "skipped", "superseded", "updated"};
  yyjson_mut_doc *doc = call->doc;
  bool kept = w->action == WRITE_SKIPPED || w->action == WRITE_UPDATED;
  const struct memory *m = kept ? w->met : &w->m;
  assert(w->id && w->uid.n && (size_t)w->action < ARRAY_LEN(actions));
  json_put_int(doc, obj, "id", w->id);
  json_put(doc, obj, "uid", w->uid);
  json_put(doc, obj, "action", str_from(actions[w->action]));
  json_put(doc, obj, "kind", m->kind);
  json_put(doc, obj, "type", m->type);
  json_put_opt(doc, obj, "severity", m->severity);
  json_put(doc, obj, "project", m->project);
  json_put(doc, obj, "headline", w->headline);
  if (w->old_id) {
    json_put_int(doc, obj, "supersedes", w->old_id);
    json_put(doc, obj, "mode", w->shadow ? STR("shadow") : w->soft ? STR("soft") : STR("hard"));
    yyjson_mut_val *inherited = json_put_obj(doc, obj, "inherited");
    json_put_bool(doc, inherited, "pin", w->got_pin);
    json_put_bool(doc, inherited, "skill", w->got_skill);
    json_put_bool(doc, inherited, "key", w->got_key);
  }
  if (w->changed)
    yyjson_mut_obj_add_val(doc, obj, "changed", yyjson_mut_val_mut_copy(doc, w->changed));
  if (w->similarity > 0)
    json_put_num(doc, obj, "similarity", json_round(w->similarity, 4));
  if (w->redacted)
    json_put_int(doc, obj, "redacted", w->redacted);
  json_put_opt(doc, obj, "suspect", m->suspect);
  put_untrusted(call, obj, m);
  json_put_bool(doc, obj, "embedded", w->embedded || kept);
  put_warnings(call, obj, &w->warnings);
}

/* Repeats the result stored under the idempotency key. */
static enum status replay(struct op_call *call, const struct write *w) {
  yyjson_val *first;
  TRY(json_read(call->arena, w->replay, &first, call->err));
  call->result = yyjson_val_mut_copy(call->doc, first);
  return STATUS_OK;
}

enum status write_run(struct op_call *call, struct write *w) {
  struct txn txn;
  w->in_parts = true;
  TRY(write_prepare(call, w));
  TRY(call_begin(call, &txn));
  TRY(write_commit(call, &txn, w));
  if (w->replay.p) {
    store_rollback(txn.store);
    return replay(call, w);
  }
  write_result(call, call->result, w);
  json_put_int(call->doc, call->result, "txn", txn.id);
  TRY(replay_save(call, &txn, w, call->result));
  TRY(call_put_hash(call));
  TRY(txn_commit(&txn, call->err));
  write_index_rest(call, w);
  return STATUS_OK;
}
