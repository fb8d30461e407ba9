/* import_graph.c: import of the JSONL graph of the official memory server.
 *
 * Each observation becomes a memory, so it can be corrected separately. A relation becomes a link between the
 * first memories of its two entities. */
#include "base/utf8.h"
#include "core/memory/headline.h"
#include "op/run/scrub.h"
#include "op/transfer/import.h"
#include "store/copy/transfer.h"

enum { LINES_PER_CHECK = 64 };

/* ---- lines ---- */

static enum status bad_line(struct error *err, const char *what) {
  error_set(err, STATUS_USAGE, "%s", what);
  return error_fix(err, "a line is {\"type\":\"entity\",\"name\":TEXT,\"entityType\":TEXT,\"observations\":[TEXT]} or "
                        "{\"type\":\"relation\",\"from\":NAME,\"to\":NAME,\"relationType\":TEXT}");
}

static bool has_nul(struct str s) { return s.n && memchr(s.p, 0, s.n); }

static enum status read_entity(struct arena *a, yyjson_val *root, struct graph_line *line, struct error *err) {
  yyjson_val *list = yyjson_obj_get(root, "observations"), *v;
  size_t i, n;
  line->name = json_str(root, "name");
  line->type = json_str(root, "entityType");
  if (str_empty(str_trim(line->name)))
    return bad_line(err, "the entity has no name");
  if (!line->type.p || !yyjson_is_arr(list))
    return bad_line(err, "the entity has no entityType or no list of observations");
  if (has_nul(line->name) || has_nul(line->type))
    return bad_line(err, "the entity's name or type holds a NUL character");
  yyjson_arr_foreach(list, i, n, v) {
    struct str text = json_val_str(v);
    if (!text.p || has_nul(text))
      return bad_line(err, "an observation is not a text");
    if (!str_empty(str_trim(text)))
      strs_push(a, &line->observations, text);
  }
  return STATUS_OK;
}

enum status graph_read(struct arena *a, struct str text, struct graph_line *ret_line, struct error *err) {
  yyjson_val *root;
  struct graph_line line = {0};
  if (json_read(a, text, &root, err) != STATUS_OK)
    return error_fix(err, "every line is one JSON object in UTF-8");
  struct str type = json_str(root, "type");
  line.relation = str_is(type, "relation");
  if (!line.relation && !str_is(type, "entity"))
    return bad_line(err, "the line is neither an entity nor a relation");
  if (line.relation) {
    line.from = json_str(root, "from");
    line.to = json_str(root, "to");
    line.type = json_str(root, "relationType");
    if (str_empty(line.from) || str_empty(line.to) || !line.type.p)
      return bad_line(err, "the relation has no from, to or relationType");
    if (has_nul(line.type))
      return bad_line(err, "the relation's type holds a NUL character");
  } else if (read_entity(a, root, &line, err) != STATUS_OK) {
    return err->code;
  }
  *ret_line = line;
  return STATUS_OK;
}

struct str graph_slug(struct arena *a, struct str type) {
  struct str folded = utf8_fold(a, type);
  struct buf b = BUF(a);
  bool gap = false;
  for (size_t pos = 0; pos < folded.n && b.n < LABEL_BYTES - 8;) {
    char out[4];
    uint32_t cp = utf8_next(folded, &pos);
    if (!utf8_is_alnum(cp)) {
      gap = true;
      continue;
    }
    if (gap && b.n)
      buf_addc(&b, '-');
    gap = false;
    buf_add(&b, (struct str){out, utf8_put(cp, out)});
  }
  return buf_str(&b);
}

/* ---- the import ---- */

struct entity {
  struct str name;
  int64_t first; /* id of its first memory; 0 if that was purged */
};

struct relation {
  struct str from, to, type;
  int64_t line, src, dst;
};

struct graph {
  struct import *im;
  struct arena *line; /* released after each line */
  LIST(struct entity) entities;
  LIST(struct relation) relations;
};

void graph_draft(struct arena *a, struct str name, struct str type, struct str observation, struct memory *m) {
  bool note = str_empty(observation);
  struct str tag = graph_slug(a, type);
  m->type = str_from(note ? type_of_prose()->name : type_of_kind(KIND_FACT)->name);
  m->body = arena_printf(a, "%.*s: %.*s", STR_ARG(name), STR_ARG(note ? type : observation));
  m->headline = headline_derive(a, m->body);
  strs_push(a, &m->topics, str_trim(name));
  if (tag.n)
    strs_push(a, &m->tags, tag);
  strs_push(a, &m->entity, name);
  if (!str_empty(str_trim(type)))
    strs_push(a, &m->entity_type, type);
}

struct str graph_observation(struct arena *a, struct str name, struct str type, struct str body) {
  struct str head = arena_printf(a, "%.*s: ", STR_ARG(name));
  if (!str_starts(body, head))
    return body;
  struct str rest = str_slice(body, head.n, body.n);
  return str_eq(rest, type) ? STR_NONE : rest;
}

static enum status store_observation(struct graph *g, const struct graph_line *e, struct str observation,
                                     int64_t *ret_id, struct error *err) {
  struct arena *a = g->line;
  const struct str identity[] = {STR("cairn import graph 1"), e->name, observation};
  struct memory m = {.uid = import_uid(a, identity, ARRAY_LEN(identity)), .project = g->im->call->caller.project};
  graph_draft(a, e->name, e->type, observation, &m);
  return import_store(g->im, a, &m, ret_id, err);
}

static enum status refuse_row(struct graph *g, int64_t line, enum status s, const struct error *err) {
  if (import_is_row_error(s)) {
    import_refuse_line(g->im, line, err);
    return STATUS_OK;
  }
  *g->im->call->err = *err;
  return s;
}

/* A refused observation does not affect the others. */
static enum status store_entity(struct graph *g, const struct graph_line *e, int64_t line) {
  struct arena *keep = g->im->call->arena;
  int64_t first = 0;
  size_t count = e->observations.n ? e->observations.n : 1;
  for (size_t i = 0; i < count; i++) {
    struct error err;
    int64_t id = 0;
    enum status s = store_observation(g, e, e->observations.n ? e->observations.v[i] : STR(""), &id, &err);
    if (s != STATUS_OK)
      TRY(refuse_row(g, line, s, &err));
    first = first ? first : id;
  }
  list_push(keep, &g->entities, (struct entity){arena_dup(keep, e->name), first});
  return STATUS_OK;
}

static void add_relation(struct graph *g, const struct graph_line *r, int64_t line) {
  struct arena *keep = g->im->call->arena;
  list_push(keep, &g->relations,
            (struct relation){.from = arena_dup(keep, r->from),
                              .to = arena_dup(keep, r->to),
                              .type = arena_dup(keep, r->type),
                              .line = line});
}

static enum status import_line(struct graph *g, const struct lines *lines, struct str text) {
  struct graph_line line;
  struct error err;
  enum status s;
  if (lines->too_long) {
    error_set(&err, STATUS_TOO_LARGE, "the line is longer than %d MiB", IMPORT_LINE_MAX >> 20);
    s = error_fix(&err, "split the entity's observations over several lines");
  } else {
    s = graph_read(g->line, text, &line, &err);
  }
  if (s != STATUS_OK)
    return refuse_row(g, lines->number, s, &err);
  if (!line.relation)
    return store_entity(g, &line, lines->number);
  add_relation(g, &line, lines->number);
  return STATUS_OK;
}

static enum status import_lines(struct graph *g, const struct source *source) {
  struct import *im = g->im;
  struct lines lines;
  struct str text;
  bool more = true;
  lines_open(&lines, source, im->call->arena, 0, 1);
  while (more) {
    arena_release(g->line);
    TRY(lines_next(&lines, &text, &more, im->call->err));
    if (more && (lines.too_long || !str_empty(str_trim(text))))
      TRY(import_line(g, &lines, text));
    if (lines.number % LINES_PER_CHECK)
      continue;
    progress(im->call, "import", lines.at, source->st.st_size);
    TRY(import_check_cancelled(im));
  }
  return STATUS_OK;
}

/* ---- relations ---- */

static int by_name(const void *x, const void *y) {
  const struct entity *a = x, *b = y;
  int c = str_cmp(a->name, b->name);
  return c ? c : a->first < b->first ? -1 : a->first > b->first;
}

static int by_ends(const void *x, const void *y) {
  const struct relation *a = x, *b = y;
  if (a->src != b->src)
    return a->src < b->src ? -1 : 1;
  if (a->dst != b->dst)
    return a->dst < b->dst ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* NULL if the file has no entity of this name. */
static const struct entity *find_entity(const struct graph *g, struct str name) {
  size_t low = 0, high = g->entities.n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (str_cmp(g->entities.v[mid].name, name) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low < g->entities.n && str_eq(g->entities.v[low].name, name) ? &g->entities.v[low] : NULL;
}

/* Finds both ends. Relations to missing entities are common in such files: they only cause a warning. */
static void resolve(struct graph *g, struct relation *r) {
  const struct entity *from = find_entity(g, r->from), *to = find_entity(g, r->to);
  struct arena *a = g->line;
  if (from && to && from != to) {
    r->src = from->first;
    r->dst = to->first;
    return;
  }
  struct str why = from == to && from ? STR("joins an entity with itself")
                                      : arena_printf(a, "names the entity '%.*s', which is not in the file",
                                                     STR_ARG(from ? r->to : r->from));
  import_warn(g->im, "relation_left_out",
              arena_printf(a, "line %lld: the relation %.*s", (long long)r->line, STR_ARG(why)),
              STR("add the entity to the file, or link the memories with 'cairn link'"));
}

/* Several relations between the same two entities become one link, whose reason lists their types. */
static enum status store_relations(struct graph *g, size_t from, size_t to) {
  struct op_call call = *g->im->call;
  struct txn *txn = &g->im->txn;
  struct relation *r = &g->relations.v[from];
  struct buf reason = BUF(g->line);
  bool exists;
  call.arena = g->line;
  if (!r->src || !r->dst || r->src == r->dst)
    return STATUS_OK;
  for (size_t i = from; i < to; i++) {
    buf_adds(&reason, i > from ? "; " : "");
    buf_add(&reason, g->relations.v[i].type);
  }
  struct link link = {.src = r->src, .rel = STR("relates"), .dst = r->dst, .reason = buf_str(&reason)};
  TRY(transfer_has_link(txn->store, txn->team, link.src, link.rel, link.dst, &exists, call.err));
  if (exists)
    return STATUS_OK;
  enum status s = call_scrub(&call, &link.reason, "the relation's type");
  if (s == STATUS_SECRET) {
    import_refuse_line(g->im, r->line, call.err);
    return STATUS_OK;
  }
  TRY(s);
  TRY(link_add(txn, g->line, &link, call.err));
  g->im->links++;
  return STATUS_OK;
}

static enum status link_all(struct graph *g) {
  if (g->entities.n)
    qsort(g->entities.v, g->entities.n, sizeof(*g->entities.v), by_name);
  for (size_t i = 0; i < g->relations.n; i++) {
    arena_release(g->line);
    resolve(g, &g->relations.v[i]);
  }
  if (g->relations.n)
    qsort(g->relations.v, g->relations.n, sizeof(*g->relations.v), by_ends);
  for (size_t i = 0, end; i < g->relations.n; i = end) {
    const struct relation *r = &g->relations.v[i];
    for (end = i + 1; end < g->relations.n; end++)
      if (g->relations.v[end].src != r->src || g->relations.v[end].dst != r->dst)
        break;
    arena_release(g->line);
    TRY(store_relations(g, i, end));
  }
  return STATUS_OK;
}

enum status import_graph(struct import *im, const struct source *source) {
  struct graph g = {.im = im, .line = arena_child(im->call->arena)};
  TRY(call_begin(im->call, &im->txn));
  TRY(import_lines(&g, source));
  return link_all(&g);
}
