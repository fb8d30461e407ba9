/* graph.c: the graph read operation: the whole graph, entities by name, or search results. */
#include "op/graph/graph.h"

#include "op/handlers.h"
#include "op/search/retrieve.h"
#include "op/transfer/import.h"

/* MANY: for more names than this, reading the whole graph is cheaper than reading each entity. */
enum { MANY = 200, SEARCH_HITS = 10 };

/* ---- entities from memories ---- */

static int by_name(const void *x, const void *y) {
  const struct graph_row *a = x, *b = y;
  int c = str_cmp(a->name, b->name);
  return c ? c : a->id < b->id ? -1 : a->id > b->id;
}

static int by_first(const void *x, const void *y) {
  const struct node *a = x, *b = y;
  return a->first < b->first ? -1 : a->first > b->first;
}

void graph_group_by_entity(struct arena *a, const struct graph_rows *rows, struct nodes *ret_nodes) {
  struct graph_row *sorted = arena_array(a, struct graph_row, rows->n + 1);
  if (rows->n == 0)
    return;
  memcpy(sorted, rows->v, rows->n * sizeof(*sorted));
  qsort(sorted, rows->n, sizeof(*sorted), by_name);
  for (size_t i = 0; i < rows->n; i++) {
    const struct graph_row *r = &sorted[i];
    if (i == 0 || !str_eq(r->name, sorted[i - 1].name))
      list_push(a, ret_nodes, (struct node){.name = r->name, .type = r->type, .first = r->id});
    struct node *node = &ret_nodes->v[ret_nodes->n - 1];
    struct str text = graph_observation(a, r->name, r->type, r->body);
    bool new = text.p && !strs_has(&node->observations, text);
    if (new)
      strs_push(a, &node->observations, text);
    if (!r->untrusted)
      continue;
    list_push(a, &node->untrusted, r->id);
    if (new)
      list_push(a, &node->untrusted_at, (int64_t)node->observations.n - 1);
    if (!node->suspect.p)
      node->suspect = r->suspect;
  }
  qsort(ret_nodes->v, ret_nodes->n, sizeof(*ret_nodes->v), by_first);
}

void graph_split_types(struct arena *a, struct str joined, struct strs *ret_types) {
  if (!joined.p)
    joined = STR("relates");
  for (size_t from = 0; from <= joined.n;) {
    size_t to = str_find(joined, STR("; "), from);
    to = to == SIZE_MAX ? joined.n : to;
    if (to > from)
      strs_push(a, ret_types, str_slice(joined, from, to));
    from = to + 2;
  }
}

enum status graph_node(struct op_call *call, struct str name, struct node *ret_node, bool *ret_found) {
  struct scope scope = call_scope(call);
  struct graph_rows rows = {0};
  struct nodes nodes = {0};
  TRY(graph_entities(call->engine->store, &scope, name, call->arena, &rows, call->err));
  graph_group_by_entity(call->arena, &rows, &nodes);
  *ret_found = nodes.n > 0;
  if (nodes.n)
    *ret_node = nodes.v[0];
  return STATUS_OK;
}

/* ---- JSON ---- */

/* Indexes of untrusted observations, and ids of the memories that a person could promote. */
static void put_untrusted_parts(struct op_call *call, yyjson_mut_val *v, const struct node *n) {
  if (!n->untrusted.n)
    return;
  json_put_bool(call->doc, v, "untrusted", true);
  yyjson_mut_val *indexes = json_put_arr(call->doc, v, "untrusted_observations");
  for (size_t i = 0; i < n->untrusted_at.n; i++)
    yyjson_mut_arr_add_sint(call->doc, indexes, n->untrusted_at.v[i]);
  yyjson_mut_val *memories = json_put_arr(call->doc, v, "untrusted_memories");
  for (size_t i = 0; i < n->untrusted.n; i++)
    yyjson_mut_arr_add_sint(call->doc, memories, n->untrusted.v[i]);
  json_put_opt(call->doc, v, "suspect", n->suspect);
}

void put_nodes(struct op_call *call, const char *name, const struct nodes *nodes) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, name);
  for (size_t i = 0; i < nodes->n; i++) {
    const struct node *n = &nodes->v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "name", n->name);
    json_put(call->doc, v, "entityType", n->type);
    yyjson_mut_val *list = json_put_arr(call->doc, v, "observations");
    for (size_t k = 0; k < n->observations.n; k++)
      json_add_str(call->doc, list, n->observations.v[k]);
    put_untrusted_parts(call, v, n);
  }
}

void put_relations(struct op_call *call, const char *name, const struct relations *relations) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, name);
  for (size_t i = 0; i < relations->n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "from", relations->v[i].from);
    json_put(call->doc, v, "to", relations->v[i].to);
    json_put(call->doc, v, "relationType", relations->v[i].type);
    if (relations->v[i].untrusted)
      json_put_bool(call->doc, v, "untrusted", true);
  }
}

/* ---- reading ---- */

struct reading {
  struct op_call *call;
  struct scope scope;
  struct nodes nodes;
  struct graph_edges edges;
  struct strs names; /* sorted names of existing entities: the shown ones, and the other ends of their relations */
};

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

static bool has_name(const struct strs *sorted, struct str name) {
  return sorted->n && bsearch(&name, sorted->v, sorted->n, sizeof(*sorted->v), by_text);
}

static void sort_unique(struct strs *list) {
  size_t n = 0;
  if (list->n)
    qsort(list->v, list->n, sizeof(*list->v), by_text);
  for (size_t i = 0; i < list->n; i++)
    if (n == 0 || !str_eq(list->v[i], list->v[n - 1]))
      list->v[n++] = list->v[i];
  list->n = n;
}

static int by_time(const void *x, const void *y) {
  const struct graph_edge *a = x, *b = y;
  if (a->at != b->at)
    return a->at < b->at ? -1 : 1;
  if (a->src != b->src)
    return a->src < b->src ? -1 : 1;
  return a->dst < b->dst ? -1 : a->dst > b->dst;
}

static void name_nodes(struct reading *r) {
  for (size_t i = 0; i < r->nodes.n; i++)
    strs_push(r->call->arena, &r->names, r->nodes.v[i].name);
  sort_unique(&r->names);
}

static enum status read_all(struct reading *r) {
  struct op_call *call = r->call;
  struct graph_rows rows = {0};
  TRY(graph_all(call->engine->store, &r->scope, call->arena, &rows, &r->edges, call->err));
  graph_group_by_entity(call->arena, &rows, &r->nodes);
  name_nodes(r);
  return STATUS_OK;
}

/* A relation may lead to an entity that is not shown, but not to a deleted one. */
static enum status name_others(struct reading *r) {
  struct arena *a = r->call->arena;
  struct strs others = {0};
  for (size_t i = 0; i < r->edges.n; i++) {
    const struct str ends[] = {r->edges.v[i].from, r->edges.v[i].to};
    for (int k = 0; k < 2; k++)
      if (!has_name(&r->names, ends[k]))
        strs_push(a, &others, ends[k]);
  }
  sort_unique(&others);
  for (size_t i = 0; i < others.n; i++) {
    struct node node;
    bool found;
    TRY(graph_node(r->call, others.v[i], &node, &found));
    if (found)
      strs_push(a, &r->names, others.v[i]);
  }
  sort_unique(&r->names);
  return STATUS_OK;
}

static enum status read_each(struct reading *r, const struct strs *names) {
  struct op_call *call = r->call;
  for (size_t i = 0; i < names->n; i++) {
    struct node node;
    bool found;
    TRY(graph_node(call, names->v[i], &node, &found));
    if (!found)
      continue;
    list_push(call->arena, &r->nodes, node);
    TRY(graph_relations(call->engine->store, &r->scope, node.name, call->arena, &r->edges, call->err));
  }
  if (r->nodes.n)
    qsort(r->nodes.v, r->nodes.n, sizeof(*r->nodes.v), by_first);
  name_nodes(r);
  if (r->edges.n)
    qsort(r->edges.v, r->edges.n, sizeof(*r->edges.v), by_time);
  return name_others(r);
}

/* Drops the entities that are not named; the order stays. */
static void keep_named(struct reading *r, const struct strs *names) {
  struct strs sorted = {0};
  struct nodes kept = {0};
  for (size_t i = 0; i < names->n; i++)
    strs_push(r->call->arena, &sorted, names->v[i]);
  sort_unique(&sorted);
  for (size_t i = 0; i < r->nodes.n; i++)
    if (has_name(&sorted, r->nodes.v[i].name))
      list_push(r->call->arena, &kept, r->nodes.v[i]);
  r->nodes = kept;
}

static void put_reading(struct reading *r) {
  struct arena *a = r->call->arena;
  struct relations list = {0};
  struct strs shown = {0};
  for (size_t i = 0; i < r->nodes.n; i++)
    strs_push(a, &shown, r->nodes.v[i].name);
  sort_unique(&shown);
  for (size_t i = 0; i < r->edges.n; i++) {
    const struct graph_edge *e = &r->edges.v[i];
    bool again = i && e->src == e[-1].src && e->dst == e[-1].dst;
    if (again || !has_name(&r->names, e->from) || !has_name(&r->names, e->to) ||
        (!has_name(&shown, e->from) && !has_name(&shown, e->to)))
      continue;
    struct strs types = {0};
    graph_split_types(a, e->types, &types);
    for (size_t k = 0; k < types.n; k++)
      list_push(a, &list, (struct relation){e->from, e->to, types.v[k], e->untrusted});
  }
  put_nodes(r->call, "entities", &r->nodes);
  put_relations(r->call, "relations", &list);
}

/* ---- search ---- */

static int by_id(const void *x, const void *y) {
  const struct graph_row *a = x, *b = y;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* Adds entities that a hybrid search finds with a strong match: half of the words, or a high similarity. */
static enum status find_similar(struct op_call *call, struct str text, struct strs *names) {
  static const double min_words = 0.5, min_similarity = 0.6;
  struct query q = {.call = call, .text = text, .scope = call_scope(call), .limit = SEARCH_HITS};
  struct hits hits = {0};
  q.fusion.words = q.fusion.means = true;
  TRY(retrieve_prepare(&q));
  TRY(retrieve(&q, STATES_GRAPH, SEARCH_HITS, &hits));
  for (size_t i = 0; i < hits.n; i++) {
    struct hit *h = &hits.v[i];
    if (h->match.part[LIST_LEXICAL] < min_words && h->match.part[LIST_VECTOR] < min_similarity)
      continue;
    TRY(memory_load_lists(call->engine->store, call->arena, &h->m, call->err));
    if (h->m.entity.n && !strs_has(names, h->m.entity.v[0]))
      strs_push(call->arena, names, h->m.entity.v[0]);
  }
  return STATUS_OK;
}

static enum status find_names(struct op_call *call, struct str text, struct strs *ret_names) {
  struct scope scope = call_scope(call);
  struct graph_rows rows = {0};
  struct strs seen = {0};
  TRY(graph_matches(call->engine->store, &scope, text, call->arena, &rows, call->err));
  if (rows.n)
    qsort(rows.v, rows.n, sizeof(*rows.v), by_id);
  for (size_t i = 0; i < rows.n; i++)
    strs_push(call->arena, rows.n > MANY ? ret_names : &seen, rows.v[i].name);
  for (size_t i = 0; i < seen.n; i++)
    if (!strs_has(ret_names, seen.v[i]))
      strs_push(call->arena, ret_names, seen.v[i]);
  return str_empty(str_trim(text)) ? STATUS_OK : find_similar(call, text, ret_names);
}

static enum status read_some(struct reading *r, const struct strs *names) {
  if (names->n <= MANY)
    return read_each(r, names);
  TRY(read_all(r));
  keep_named(r, names);
  return STATUS_OK;
}

static enum status read_graph(struct reading *r) {
  struct op_call *call = r->call;
  struct str text = json_str(call->args, "query");
  struct strs names = {0}, asked = {0};
  json_strs(call->arena, call->args, "names", &asked);
  if (!text.p && !yyjson_obj_get(call->args, "names"))
    return read_all(r);
  for (size_t i = 0; i < asked.n; i++)
    if (!strs_has(&names, asked.v[i]))
      strs_push(call->arena, &names, asked.v[i]);
  if (text.p)
    TRY(find_names(call, text, &names));
  return read_some(r, &names);
}

enum status op_graph_read(struct op_call *call) {
  struct reading r = {.call = call, .scope = call_scope(call)};
  struct db *db = store_db(call->engine->store);
  bool own_snapshot = false;
  TRY(db_snapshot(db, &own_snapshot, call->err));
  TRY(db_snapshot_end(db, own_snapshot, read_graph(&r), call->err));
  put_reading(&r);
  return STATUS_OK;
}
