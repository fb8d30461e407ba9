/* search.c: the search operation: arguments, skills triggered by the query, reply. */
#include <assert.h>

#include "base/utf8.h"
#include "core/secrets/redact.h"
#include "core/text/token_count.h"
#include "op/handlers.h"
#include "op/run/reply_cache.h"
#include "op/search/corpus.h"
#include "op/search/retrieve.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/search/complete.h"
#include "store/tables/settings.h"
#include "transcript/op/transcript.h"

enum { SKILL_HITS = 5, BUDGET_MIN = 50, BUDGET_MAX = 1000000, COMMAND_BYTES = 80 };

/* ---- skills ---- */

static bool has_keyword(struct arena *a, const struct memory *m, struct str folded) {
  for (size_t i = 0; i < m->skill_keywords.n; i++) {
    struct str keyword = utf8_fold(a, m->skill_keywords.v[i]);
    if (!str_empty(keyword) && str_find(folded, keyword, 0) != SIZE_MAX)
      return true;
  }
  return false;
}

static enum status skill_hits(struct query *q, struct hits *ret) {
  struct op_call *call = q->call;
  struct memories skills = {0};
  if (!asks_for_memories(q->scope.corpora))
    return STATUS_OK;
  TRY(skills_visible(call->engine->store, &q->scope, false, call->arena, &skills, call->err));
  struct str folded = utf8_fold(call->arena, q->text);
  for (size_t i = 0; i < skills.n && ret->n < SKILL_HITS; i++) {
    struct memory *m = &skills.v[i];
    if (!memory_is_trusted(m) || !has_keyword(call->arena, m, folded)) /* untrusted skills are never shown unasked */
      continue;
    TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
    struct hit h = {.m = *m, .snippet = m->body, .skill = m->skill_name, .score = 1};
    list_push(call->arena, ret, h);
  }
  return STATUS_OK;
}

/* ---- result ---- */

static double rounded(double x) { return json_round(x, 6); }

/* Uid of the memory that this one replaces. */
static enum status put_supersedes(struct op_call *call, yyjson_mut_val *v, const struct memory *m) {
  struct links links = {0};
  struct str uid = STR_NONE;
  TRY(links_of(call->engine->store, m->team, m->id, call->arena, &links, call->err));
  for (size_t i = 0; i < links.n; i++)
    if (links.v[i].src == m->id &&
        (str_is(links.v[i].rel, "supersedes") || (!uid.p && link_is_replacement(links.v[i].rel))))
      uid = links.v[i].dst_uid; /* a version of a shadow has a link of each kind */
  json_put_opt(call->doc, v, "supersedes", uid);
  return STATUS_OK;
}

static enum status put_text(struct query *q, yyjson_mut_val *v, struct hit *h) {
  struct str detail = json_str(q->call->args, "detail");
  if (str_is(detail, "headline"))
    return STATUS_OK;
  if (str_is(detail, "full")) {
    TRY(memory_load_body(q->call->engine->store, q->call->arena, &h->m, q->call->err));
    json_put(q->call->doc, v, "body", h->m.body);
    if (h->m.people.n)
      json_put_strs(q->call->doc, v, "people", &h->m.people);
    if (h->m.topics.n)
      json_put_strs(q->call->doc, v, "topics", &h->m.topics);
    if (h->m.action_items.n)
      json_put_strs(q->call->doc, v, "action_items", &h->m.action_items);
    TRY(put_supersedes(q->call, v, &h->m));
    return put_signals(q->call, v, &h->m);
  }
  bool whole = str_is(detail, "chunk");
  json_put(q->call->doc, v, "snippet", whole ? h->snippet : utf8_cut(h->snippet, SNIPPET_BYTES));
  return STATUS_OK;
}

static struct str source_of(const struct hit *h) {
  bool words = h->raw[LIST_LEXICAL] > 0 || h->raw[LIST_ENTITY] > 0 || h->match.lent > 0;
  if (h->skill.p)
    return STR("skill");
  if (h->match.part[LIST_VECTOR] > 0)
    return words ? STR("hybrid") : STR("vector");
  return STR("keyword");
}

static void put_parts(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct hit *h) {
  const struct {
    const char *name;
    double value;
  } parts[] = {{"fusion", h->fusion},
               {"words", h->match.part[LIST_LEXICAL]},
               {"lent", h->match.lent},
               {"similarity", h->match.part[LIST_VECTOR]},
               {"named", h->match.part[LIST_ENTITY]},
               {"bm25", h->raw[LIST_LEXICAL]},
               {"cosine", h->raw[LIST_VECTOR]},
               {"decay", h->parts.decay},
               {"weight", h->parts.weight},
               {"rating", h->parts.rating},
               {"access", h->parts.access},
               {"time", h->parts.time},
               {"type", h->parts.type},
               {"trust", h->parts.trust}};
  for (size_t i = 0; i < ARRAY_LEN(parts); i++)
    json_put_num(doc, obj, parts[i].name, rounded(parts[i].value));
}

static enum status put_hit(struct query *q, yyjson_mut_val *arr, struct hit *h, const struct document_place *place) {
  struct op_call *call = q->call;
  yyjson_mut_doc *doc = call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  put_brief(call, v, &h->m);
  put_place(call, v, place);
  if (h->m.tags.n)
    json_put_strs(doc, v, "tags", &h->m.tags);
  json_put_num(doc, v, "age_days", json_round((double)(call->now - h->m.created_at) / (double)MS_PER_DAY, 1));
  json_put_num(doc, v, "score", rounded(h->score));
  json_put(doc, v, "source", source_of(h));
  json_put_opt(doc, v, "via_skill_trigger", h->skill);
  if (str_is(h->m.state, "superseded")) {
    int64_t head;
    TRY(link_head(call->engine->store, h->m.team, h->m.id, &head, call->err));
    json_put_int(doc, v, "superseded_by", head);
  }
  if (json_bool(call->args, "explain", false) && !h->skill.p)
    put_parts(doc, json_put_obj(doc, v, "parts"), h);
  return put_text(q, v, h);
}

/* NULs in a query become spaces. */
static struct str query_text(struct op_call *call) {
  struct str given = json_str(call->args, "query");
  if (str_empty(given) || !memchr(given.p, 0, given.n))
    return given;
  struct str text = arena_dup(call->arena, given);
  char *bytes = (char *)(uintptr_t)text.p;
  for (size_t i = 0; i < text.n; i++)
    if (!bytes[i])
      bytes[i] = ' ';
  return text;
}

/* Logs the search, with secrets in the query redacted. Returns the logged detail. */
static struct str note_search(struct query *q, const struct hits *hits) {
  struct op_call *call = q->call;
  struct str query = redact_all(call->arena, query_text(call), call->secrets);
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "query", utf8_cut(query, 1000));
  yyjson_mut_val *results = json_put_arr(doc, detail, "results");
  for (size_t i = 0; i < hits->n; i++)
    yyjson_mut_arr_add_sint(doc, results, hits->v[i].m.id);
  struct txn who = call_author(call);
  struct str text = json_write(call->arena, detail, false);
  reads_queue(call->engine->store, &who, STR("memory:search"), 0, STR_NONE, text);
  return text;
}

static bool has_hit(const struct hits *list, int64_t id) {
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].m.id == id)
      return true;
  return false;
}

static void append_new(struct arena *a, struct hits *list, const struct hits *more, int64_t limit) {
  for (size_t i = 0; i < more->n && (int64_t)list->n < limit; i++)
    if (!has_hit(list, more->v[i].m.id))
      list_push(a, list, more->v[i]);
}

/* Completes the last word. Where one text stands for the query, such as its vector, the most frequent word is used. */
static enum status complete_query(struct query *q) {
  struct op_call *call = q->call;
  struct str word;
  struct chunk_query chunks = {.scope = &q->scope, .filter = &q->filter};
  if (!json_bool(call->args, "prefix", false) || !complete_split(q->text, &q->before, &word))
    return STATUS_OK;
  TRY(complete_word(call->engine->store, &chunks, word, call->arena, &q->completions, call->err));
  if (q->completions.n)
    q->text = arena_printf(call->arena, "%.*s%.*s", STR_ARG(q->before), STR_ARG(q->completions.v[0]));
  return STATUS_OK;
}

static enum status read_query(struct op_call *call, struct query *q) {
  *q = (struct query){.call = call, .text = query_text(call), .scope = call_scope(call)};
  q->scope.corpora = call_corpora(call);
  q->scope.own = json_bool(call->args, "own", false);
  TRY(retrieve_set_mode(q, json_str(call->args, "mode")));
  TRY(call_filter(call, &q->filter));
  TRY(call_int(call, "limit", 10, 1, 100, &q->limit));
  TRY(call_time(call, "as_of", -1, &q->scope.as_of));
  TRY(complete_query(q));
  return retrieve_prepare(q);
}

/* Number of embedded chunks, unless all are embedded. */
static enum status put_embedded(struct query *q) {
  struct op_call *call = q->call;
  int64_t done, total;
  if (q->set.n == 0)
    return STATUS_OK;
  TRY(vec_count(call->engine->store, &q->set.v[0].model, &done, &total, call->err));
  if (done >= total)
    return STATUS_OK;
  yyjson_mut_val *obj = json_put_obj(call->doc, call->result, "embedded");
  json_put_int(call->doc, obj, "done", done);
  json_put_int(call->doc, obj, "total", total);
  return STATUS_OK;
}

static enum status put_mode(struct query *q) {
  struct op_call *call = q->call;
  bool words = q->fusion.words && !q->damaged;
  json_put(call->doc, call->result, "search_mode",
           !q->by_vectors ? STR("keyword")
           : words        ? STR("hybrid")
                          : STR("vector"));
  if (q->damaged) {
    struct error why;
    error_set(&why, STATUS_CORRUPT, "it is damaged; keywords were not searched");
    error_fix(&why, "run 'cairn doctor --repair'");
    embeddings_degrade(call, &q->set, STR("the full-text index"), &why);
  }
  json_put_opt(call->doc, call->result, "degraded", q->set.degraded);
  return put_embedded(q);
}

static enum status load_lists(struct query *q, struct hits *hits) {
  struct op_call *call = q->call;
  struct memory **list = arena_array(call->arena, struct memory *, hits->n + 1);
  for (size_t i = 0; i < hits->n; i++)
    list[i] = &hits->v[i].m;
  return memories_load_lists(call->engine->store, q->scope.team, call->arena, list, hits->n, call->err);
}

/* Files and lines of the documents among the hits; ret_places[hits->n]. */
static enum status load_places(struct query *q, const struct hits *hits, struct document_place *ret_places) {
  struct op_call *call = q->call;
  int64_t *ids = arena_array(call->arena, int64_t, hits->n + 1);
  bool some = false;
  for (size_t i = 0; i < hits->n; i++) {
    ids[i] = hits->v[i].m.id;
    ret_places[i] = (struct document_place){.corpus = CORPUS_MEMORY};
    some |= memory_is_document(&hits->v[i].m);
  }
  if (!some)
    return STATUS_OK;
  return documents_places(call->engine->store, q->scope.team, ids, hits->n, call->arena, ret_places, call->err);
}

/* Writes results up to the token budget, but at least one; `omitted` counts the rest. */
static enum status put_results(struct query *q, struct hits *hits, int64_t budget) {
  struct op_call *call = q->call;
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "results");
  int64_t used = 0;
  size_t shown = 0;
  struct document_place *places = arena_array(call->arena, struct document_place, hits->n + 1);
  TRY(load_lists(q, hits));
  TRY(load_places(q, hits, places));
  for (; shown < hits->n; shown++) {
    TRY(put_hit(q, arr, &hits->v[shown], &places[shown]));
    if (!budget)
      continue;
    used += (int64_t)tokens_estimate(json_write(call->arena, yyjson_mut_arr_get_last(arr), false));
    if (used > budget && shown > 0) {
      yyjson_mut_arr_remove_last(arr);
      break;
    }
  }
  if (shown < hits->n)
    json_put_int(call->doc, call->result, "omitted", (int64_t)(hits->n - shown));
  hits->n = shown;
  return STATUS_OK;
}

/* Faded memories that match better than the last hit, but have no room in the reply. */
static enum status count_faded(struct query *q, const struct hits *shown) {
  int64_t better;
  TRY(retrieve_faded(q, q->limit, shown->v[shown->n - 1].score, &better));
  put_faded(q->call, better);
  return STATUS_OK;
}

/* Skills first, which do not count against the limit; then the best matches; then faded memories, up to the limit. */
static enum status find(struct query *q, struct hits *ret_hits) {
  struct arena *a = q->call->arena;
  struct hits found = {0}, faded = {0};
  bool superseded = json_bool(q->call->args, "include_superseded", false);
  TRY(skill_hits(q, ret_hits));
  int64_t max = q->limit + (int64_t)ret_hits->n;
  TRY(retrieve(q, superseded ? STATES_SEARCHED ", 'superseded'" : STATES_SEARCHED, q->limit, &found));
  append_new(a, ret_hits, &found, max);
  assert((int64_t)ret_hits->n <= max);
  if ((int64_t)ret_hits->n == max)
    return count_faded(q, ret_hits);
  TRY(retrieve(q, "'faded'", max - (int64_t)ret_hits->n, &faded));
  append_new(a, ret_hits, &faded, max);
  return STATUS_OK;
}

const char *search_command(struct arena *a, struct str query) {
  struct str text = arena_dup(a, utf8_cut(query, COMMAND_BYTES));
  char *bytes = (char *)(uintptr_t)text.p;
  for (size_t i = 0; i < text.n; i++)
    if (bytes[i] == '\'' || bytes[i] == '"' || bytes[i] == '\\' || (unsigned char)bytes[i] < ' ')
      bytes[i] = ' ';
  return arena_printf(a, "cairn search '%.*s'", STR_ARG(text)).p;
}

/* Counts the hits in other projects that the caller may read, if it did not name where to search. Outside a project,
 * few memories are visible: those of other projects count, too, if they match better than a weak hit. */
static enum status put_elsewhere(struct op_call *call, const struct hits *shown) {
  struct query q;
  struct hits found = {0};
  double best = shown->n ? shown->v[0].score : 0;
  int64_t elsewhere = 0;
  if (call->caller.all_projects || call->caller.project_given || json_str(call->args, "scope").p ||
      (shown->n && (best >= RELEVANT_SCORE || !str_empty(call->caller.project))))
    return STATUS_OK;
  call->caller.all_projects = true;
  enum status s = read_query(call, &q);
  call->caller.all_projects = false;
  TRY(s);
  TRY(retrieve(&q, STATES_SEARCHED, q.limit, &found));
  for (size_t i = 0; i < found.n; i++)
    elsewhere += found.v[i].score > best;
  if (!elsewhere)
    return STATUS_OK;
  json_put_int(call->doc, call->result, "elsewhere", elsewhere);
  json_put(call->doc, call->result, "fetch",
           arena_printf(call->arena, "%s --all-projects", search_command(call->arena, query_text(call))));
  return STATUS_OK;
}

/* Says if transcripts, although asked for, are not searched. */
static enum status put_not_indexed(struct query *q, size_t found) {
  struct op_call *call = q->call;
  bool indexed = true;
  int64_t messages = 1;
  if (q->scope.corpora & (1U << CORPUS_SESSIONS)) {
    struct scope scope = q->scope;
    struct filter none = {0};
    scope.corpora = 1U << CORPUS_SESSIONS;
    TRY(transcript_is_indexed(call, &indexed));
    if (found == 0)
      TRY(memory_count(call->engine->store, &scope, &none, call->arena, &messages, call->err));
  }
  if (!indexed)
    json_put(call->doc, call->result, "not_indexed",
             STR("transcripts are not searched: sessions.indexed is off; "
                 "'cairn config sessions.indexed on' switches it on"));
  else if (messages == 0) /* switched on after they were written or imported */
    json_put(call->doc, call->result, "not_indexed",
             STR("no transcript is indexed yet; 'cairn transcript index' indexes them"));
  return STATUS_OK;
}

/* Runs inside one snapshot of the store. */
static enum status answer(struct query *q, int64_t budget, struct hits *ret_hits, struct generation *ret_generation) {
  TRY(store_generation(q->call->engine->store, q->call->caller.team, ret_generation, q->call->err));
  TRY(find(q, ret_hits));
  TRY(put_mode(q));
  TRY(put_results(q, ret_hits, budget));
  TRY(put_not_indexed(q, ret_hits->n));
  return put_elsewhere(q->call, ret_hits);
}

enum status op_search(struct op_call *call) {
  struct query q;
  struct hits hits = {0};
  struct generation generation;
  int64_t budget = 0;
  bool own_snapshot = false;
  struct str key = reply_cache_key(call);
  if (reply_cache_find(call, key))
    return STATUS_OK;
  TRY(read_query(call, &q));
  if (yyjson_obj_get(call->args, "budget"))
    TRY(call_int(call, "budget", 0, BUDGET_MIN, BUDGET_MAX, &budget));
  json_put(call->doc, call->result, "query", query_text(call));
  if (q.completions.n)
    json_put_strs(call->doc, call->result, "completions", &q.completions);
  struct db *db = store_db(call->engine->store);
  TRY(db_snapshot(db, &own_snapshot, call->err));
  TRY(db_snapshot_end(db, own_snapshot, answer(&q, budget, &hits, &generation), call->err));
  reply_cache_store(call, key, &generation, note_search(&q, &hits));
  return STATUS_OK;
}
