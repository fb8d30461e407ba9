/* write.c: graph create, observe, delete.
 *
 * An observation is a memory: a write adds it, and forgetting it deletes it. Texts go through the write pipeline
 * unchanged (struct write.exact); entities with the same name are the same entity. */
#include "op/graph/graph.h"
#include "op/handlers.h"
#include "op/run/scrub.h"
#include "op/transfer/import.h"
#include "op/write/replace.h"
#include "store/search/lexical.h"

/* DEFER_FROM: with at least this many texts, maintenance embeds them, and the full-text index is updated at the end.
 * NAME_BYTES: limit of the lists and fields of a memory that hold names and types (core/gate/gate.c). */
enum { DEFER_FROM = 16, NAME_BYTES = 800 };

struct pending {
  struct write *v;
  size_t n, cap;
};

static enum status refuse_line(struct op_call *call, const char *expected) {
  error_set(call->err, STATUS_USAGE, "%s: a line is malformed", call->op->name);
  return error_fix(call->err, "a line is one JSON object: %s", expected);
}

static enum status refuse_unknown(struct op_call *call, struct str name) {
  error_set(call->err, STATUS_NOT_FOUND, "Entity with name %.*s not found", STR_ARG(name));
  return error_fix(call->err, "create the entity first");
}

static void lines_of(struct op_call *call, struct strs *ret_lines) {
  json_strs(call->arena, call->args, "lines", ret_lines);
}

/* ---- writes ---- */

static void add_write(struct op_call *call, struct pending *list, struct str name, struct str type, struct str text) {
  struct write w = {.exact = true};
  graph_draft(call->arena, name, type, text, &w.m);
  call_set_author(call, &w.m);
  if (!w.m.headline.n) /* a name without letters gives no headline */
    w.m.headline = STR("Entity of the knowledge graph");
  list_push(call->arena, list, w);
}

static enum status prepare_all(struct op_call *call, struct pending *list) {
  for (size_t i = 0; i < list->n; i++) {
    list->v[i].defer_embedding = list->n >= DEFER_FROM;
    TRY(write_prepare(call, &list->v[i]));
  }
  return STATUS_OK;
}

static enum status commit_all(struct op_call *call, struct txn *txn, struct pending *list) {
  bool hold = list->n >= DEFER_FROM;
  if (hold)
    TRY(lexical_hold(txn, call->err));
  for (size_t i = 0; i < list->n; i++)
    TRY(write_commit(call, txn, &list->v[i]));
  if (hold)
    return lexical_release(txn, call->err);
  return STATUS_OK;
}

static enum status forget_row(struct op_call *call, struct txn *txn, int64_t id) {
  struct memory m, now;
  bool found;
  TRY(memory_by_id(txn->store, txn->team, id, call->arena, &m, &found, call->err));
  if (!found || str_is(m.state, "forgotten"))
    return STATUS_OK;
  now = m;
  memory_retire(&now, "forgotten", STR("deleted from the graph"), txn->source, txn->now);
  return memory_change(txn, call->arena, &m, &now, "memory:forget", call->err);
}

/* ---- relations ---- */

static bool same_ends(const struct graph_edge *e, const struct relation *r) {
  return str_eq(e->from, r->from) && str_eq(e->to, r->to);
}

static bool same_relation(const struct relation *x, const struct relation *y) {
  return str_eq(x->from, y->from) && str_eq(x->to, y->to) && str_eq(x->type, y->type);
}

static struct str join_types(struct arena *a, const struct strs *types) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < types->n; i++) {
    buf_adds(&b, i ? "; " : "");
    buf_add(&b, types->v[i]);
  }
  return buf_str(&b);
}

/* Replaces the types of a link; without types the link is removed. */
static enum status relink(struct op_call *call, struct txn *txn, int64_t src, int64_t dst, const struct strs *types) {
  bool found;
  TRY(link_remove(txn, call->arena, src, STR("relates"), dst, &found, call->err));
  if (types->n == 0)
    return STATUS_OK;
  struct link link = {.src = src, .rel = STR("relates"), .dst = dst, .reason = join_types(call->arena, types)};
  return link_add(txn, call->arena, &link, call->err);
}

static enum status find_ends(struct op_call *call, const struct relation *r, struct node *from, struct node *to) {
  bool found;
  TRY(graph_node(call, r->from, from, &found));
  if (!found)
    return refuse_unknown(call, r->from);
  TRY(graph_node(call, r->to, to, &found));
  if (!found)
    return refuse_unknown(call, r->to);
  if (from->first == to->first) {
    error_set(call->err, STATUS_REFUSED, "entity '%.*s' cannot have a relation to itself", STR_ARG(r->from));
    return error_fix(call->err, "store it as an observation of the entity");
  }
  return STATUS_OK;
}

static enum status add_relation(struct op_call *call, struct txn *txn, const struct relation *r, bool *ret_new) {
  struct scope scope = call_scope(call);
  struct node from, to;
  struct graph_edges edges = {0};
  struct strs types = {0};
  *ret_new = false;
  TRY(find_ends(call, r, &from, &to));
  TRY(graph_relations(txn->store, &scope, r->from, call->arena, &edges, call->err));
  for (size_t i = 0; i < edges.n; i++) {
    struct strs known = {0};
    if (!same_ends(&edges.v[i], r))
      continue;
    graph_split_types(call->arena, edges.v[i].types, &known);
    if (strs_has(&known, r->type))
      return STATUS_OK;
    if (edges.v[i].src == from.first && edges.v[i].dst == to.first)
      types = known;
  }
  strs_push(call->arena, &types, r->type);
  *ret_new = true;
  return relink(call, txn, from.first, to.first, &types);
}

static enum status drop_relation(struct op_call *call, struct txn *txn, const struct relation *r) {
  struct scope scope = call_scope(call);
  struct graph_edges edges = {0};
  TRY(graph_relations(txn->store, &scope, r->from, call->arena, &edges, call->err));
  for (size_t i = 0; i < edges.n; i++) {
    struct strs known = {0}, left = {0};
    if (!same_ends(&edges.v[i], r))
      continue;
    graph_split_types(call->arena, edges.v[i].types, &known);
    for (size_t k = 0; k < known.n; k++)
      if (!str_eq(known.v[k], r->type))
        strs_push(call->arena, &left, known.v[k]);
    if (left.n < known.n)
      TRY(relink(call, txn, edges.v[i].src, edges.v[i].dst, &left));
  }
  return STATUS_OK;
}

/* ---- create ---- */

struct creation {
  struct nodes nodes;         /* new ones only */
  struct relations relations; /* requested */
  struct relations added;     /* new ones only */
  struct pending writes;
};

static bool has_node(const struct nodes *nodes, struct str name) {
  for (size_t i = 0; i < nodes->n; i++)
    if (str_eq(nodes->v[i].name, name))
      return true;
  return false;
}

static enum status check_length(struct op_call *call, const char *member, struct str value) {
  if (value.n <= NAME_BYTES)
    return STATUS_OK;
  error_set(call->err, STATUS_TOO_LARGE, "the %s of an entity has %zu bytes; at most %d are allowed", member, value.n,
            (int)NAME_BYTES);
  return error_fix(call->err, "shorten the %s, and store the rest as an observation", member);
}

static enum status plan_entity(struct op_call *call, const struct graph_line *line, struct creation *c) {
  struct node known, node = {.name = line->name, .type = line->type};
  bool found;
  TRY(check_length(call, "name", line->name));
  TRY(check_length(call, "entityType", line->type));
  if (has_node(&c->nodes, line->name))
    return STATUS_OK;
  TRY(graph_node(call, line->name, &known, &found));
  if (found)
    return STATUS_OK;
  for (size_t i = 0; i < line->observations.n; i++)
    if (!strs_has(&node.observations, line->observations.v[i]))
      strs_push(call->arena, &node.observations, line->observations.v[i]);
  for (size_t i = 0; i < node.observations.n; i++)
    add_write(call, &c->writes, node.name, node.type, node.observations.v[i]);
  if (!node.observations.n)
    add_write(call, &c->writes, node.name, node.type, STR_NONE);
  list_push(call->arena, &c->nodes, node);
  return STATUS_OK;
}

static enum status plan_creation(struct op_call *call, struct creation *c) {
  struct strs lines = {0};
  lines_of(call, &lines);
  for (size_t i = 0; i < lines.n; i++) {
    struct graph_line line;
    TRY(graph_read(call->arena, lines.v[i], &line, call->err));
    if (!line.relation) {
      TRY(plan_entity(call, &line, c));
      continue;
    }
    struct relation r = {.from = line.from, .to = line.to, .type = line.type};
    TRY(call_scrub(call, &r.type, "the relation's type"));
    list_push(call->arena, &c->relations, r);
  }
  return STATUS_OK;
}

enum status op_graph_create(struct op_call *call) {
  struct creation c = {0};
  struct txn txn;
  TRY(plan_creation(call, &c));
  TRY(prepare_all(call, &c.writes));
  TRY(call_begin(call, &txn));
  TRY(commit_all(call, &txn, &c.writes));
  for (size_t i = 0; i < c.relations.n; i++) {
    bool new = false;
    TRY(add_relation(call, &txn, &c.relations.v[i], &new));
    if (new)
      list_push(call->arena, &c.added, c.relations.v[i]);
  }
  put_nodes(call, "entities", &c.nodes);
  put_relations(call, "relations", &c.added);
  if (c.writes.n || c.added.n) {
    put_no_project(call, call->caller.project);
    return call_commit(call, &txn);
  }
  store_rollback(txn.store);
  return STATUS_OK;
}

/* ---- observe ---- */

static enum status plan_observations(struct op_call *call, struct str text, struct pending *writes,
                                     yyjson_mut_val *results) {
  yyjson_val *line;
  struct strs contents = {0}, new = {0};
  struct node node;
  bool found;
  TRY(json_read(call->arena, text, &line, call->err));
  struct str name = json_str(line, "entityName");
  if (str_empty(name) || !yyjson_is_arr(yyjson_obj_get(line, "contents")))
    return refuse_line(call, "{\"entityName\":NAME,\"contents\":[TEXT]}");
  json_strs(call->arena, line, "contents", &contents);
  TRY(graph_node(call, name, &node, &found));
  if (!found)
    return refuse_unknown(call, name);
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, results);
  json_put(call->doc, v, "entityName", name);
  for (size_t i = 0; i < contents.n; i++) {
    struct str said = contents.v[i];
    if (str_empty(str_trim(said)) || strs_has(&node.observations, said) || strs_has(&new, said))
      continue;
    strs_push(call->arena, &new, said);
    add_write(call, writes, name, node.type, said);
  }
  yyjson_mut_val *added = json_put_arr(call->doc, v, "addedObservations");
  for (size_t i = 0; i < new.n; i++)
    json_add_str(call->doc, added, new.v[i]);
  return STATUS_OK;
}

enum status op_graph_observe(struct op_call *call) {
  struct strs lines = {0};
  struct pending writes = {0};
  struct txn txn;
  yyjson_mut_val *results = json_put_arr(call->doc, call->result, "results");
  lines_of(call, &lines);
  for (size_t i = 0; i < lines.n; i++)
    TRY(plan_observations(call, lines.v[i], &writes, results));
  TRY(prepare_all(call, &writes));
  if (writes.n == 0)
    return STATUS_OK;
  TRY(call_begin(call, &txn));
  TRY(commit_all(call, &txn, &writes));
  put_no_project(call, call->caller.project);
  return call_commit(call, &txn);
}

/* ---- delete ---- */

struct deletion {
  struct pending notes;       /* for entities that lose their last observation: they stay */
  LIST(int64_t) rows;         /* ids of memories to forget */
  struct relations relations; /* named in the call */
  struct graph_edges edges;   /* of deleted entities */
};

static enum status plan_entity_deletion(struct op_call *call, struct str name, struct deletion *d) {
  struct scope scope = call_scope(call);
  struct graph_rows rows = {0};
  struct store *st = call->engine->store;
  TRY(graph_entities(st, &scope, name, call->arena, &rows, call->err));
  for (size_t i = 0; i < rows.n; i++)
    list_push(call->arena, &d->rows, rows.v[i].id);
  return rows.n ? graph_relations(st, &scope, name, call->arena, &d->edges, call->err) : STATUS_OK;
}

static enum status plan_observation_deletion(struct op_call *call, struct str name, const struct strs *texts,
                                             struct deletion *d) {
  struct scope scope = call_scope(call);
  struct graph_rows rows = {0};
  size_t gone = 0;
  TRY(graph_entities(call->engine->store, &scope, name, call->arena, &rows, call->err));
  for (size_t i = 0; i < rows.n; i++) {
    const struct graph_row *r = &rows.v[i];
    struct str text = graph_observation(call->arena, r->name, r->type, r->body);
    if (!text.p || !strs_has(texts, text))
      continue;
    list_push(call->arena, &d->rows, r->id);
    gone++;
  }
  if (gone && gone == rows.n)
    add_write(call, &d->notes, name, rows.v[0].type, STR_NONE);
  return STATUS_OK;
}

static enum status plan_line_deletion(struct op_call *call, struct str text, struct deletion *d) {
  yyjson_val *line;
  struct strs texts = {0};
  TRY(json_read(call->arena, text, &line, call->err));
  struct relation r = {
      .from = json_str(line, "from"), .to = json_str(line, "to"), .type = json_str(line, "relationType")};
  struct str name = json_str(line, "entityName");
  if (r.from.p && r.to.p && r.type.p) {
    list_push(call->arena, &d->relations, r);
    return STATUS_OK;
  }
  if (str_empty(name) || !yyjson_is_arr(yyjson_obj_get(line, "observations")))
    return refuse_line(call, "{\"entityName\":NAME,\"observations\":[TEXT]} or "
                             "{\"from\":NAME,\"to\":NAME,\"relationType\":TEXT}");
  json_strs(call->arena, line, "observations", &texts);
  return plan_observation_deletion(call, name, &texts, d);
}

static enum status plan_deletion(struct op_call *call, struct deletion *d) {
  struct strs names = {0}, lines = {0};
  json_strs(call->arena, call->args, "entities", &names);
  lines_of(call, &lines);
  for (size_t i = 0; i < names.n; i++)
    TRY(plan_entity_deletion(call, names.v[i], d));
  for (size_t i = 0; i < lines.n; i++)
    TRY(plan_line_deletion(call, lines.v[i], d));
  return STATUS_OK;
}

static enum status delete_all(struct op_call *call, struct txn *txn, struct deletion *d) {
  struct strs none = {0};
  for (size_t i = 0; i < d->edges.n; i++)
    TRY(relink(call, txn, d->edges.v[i].src, d->edges.v[i].dst, &none));
  for (size_t i = 0; i < d->relations.n; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= same_relation(&d->relations.v[k], &d->relations.v[i]);
    if (!again)
      TRY(drop_relation(call, txn, &d->relations.v[i]));
  }
  for (size_t i = 0; i < d->rows.n; i++)
    TRY(forget_row(call, txn, d->rows.v[i]));
  return commit_all(call, txn, &d->notes);
}

/* Deleting what does not exist is not an error. */
enum status op_graph_delete(struct op_call *call) {
  struct deletion d = {0};
  struct txn txn;
  TRY(plan_deletion(call, &d));
  TRY(prepare_all(call, &d.notes));
  json_put_int(call->doc, call->result, "memories", (int64_t)d.rows.n);
  if (d.rows.n + d.relations.n + d.edges.n == 0)
    return STATUS_OK;
  TRY(call_begin(call, &txn));
  TRY(delete_all(call, &txn, &d));
  return call_commit(call, &txn);
}
