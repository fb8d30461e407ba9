/* knowledge.c: what is known of a project as typed, cited items, and the search by scope.
 *
 * Items come from memories. What a pipeline extracts from files of a project becomes memories as well, so that both
 * are read in one way; citations of files stand in sourceFile and lineNumber, which are null for what was remembered.
 */
#include "core/types.h"
#include "http/rest.h"

/* Memories that one request looks at: of a rare type a page may hold fewer items than asked for, and goes on. */
enum { ITEMS_USUAL = 50, ITEMS_MOST = 100, LOOKED_AT_MOST = 1000, SEARCH_MOST = 100 };

struct knowledge {
  struct rest_call *rc;
  struct str project, type;
  int64_t limit;
  yyjson_mut_val *items, *groups;
};

static struct str text_of(yyjson_mut_val *obj, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_str(v) ? (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)} : STR_NONE;
}

static struct str item_type(yyjson_mut_val *memory) {
  const struct mem_type *t = type_find(text_of(memory, "type"));
  return str_from(t && t->item ? t->item : "note");
}

static void put_or_null(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value) {
  if (value.p)
    json_put(doc, obj, name, value);
  else
    yyjson_mut_obj_add_null(doc, obj, name);
}

static void put_confidence(yyjson_mut_doc *doc, yyjson_mut_val *item, struct str word) {
  if (!word.p)
    yyjson_mut_obj_add_null(doc, item, "confidence");
  else
    json_put_num(doc, item, "confidence", str_is(word, "high") ? 0.9 : str_is(word, "medium") ? 0.7 : 0.5);
}

static void put_citation(struct rest_call *rc, yyjson_mut_val *item, yyjson_mut_val *memory) {
  yyjson_mut_doc *doc = rc->doc;
  int64_t id = yyjson_mut_get_sint(yyjson_mut_obj_get(memory, "id"));
  yyjson_mut_val *c = yyjson_mut_arr_add_obj(doc, json_put_arr(doc, item, "citations"));
  json_put_int(doc, c, "memory", id);
  json_put(doc, c, "url", arena_printf(rc->http->arena, REST_ROOT "/memories/%lld", (long long)id));
  json_put_opt(doc, c, "source", text_of(memory, "source"));
  json_put_opt(doc, c, "session", text_of(memory, "session"));
  json_put(doc, c, "at", text_of(memory, "created_at"));
}

static void put_item(struct knowledge *k, yyjson_mut_val *memory) {
  yyjson_mut_doc *doc = k->rc->doc;
  struct str type = item_type(memory), uid = text_of(memory, "uid");
  yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, k->items);
  json_put(doc, item, "id", uid);
  json_put(doc, item, "type", type);
  json_put(doc, item, "title", text_of(memory, "headline"));
  json_put(doc, item, "content", text_of(memory, "body"));
  put_or_null(doc, item, "sourceFile", STR_NONE);
  put_or_null(doc, item, "lineNumber", STR_NONE);
  put_confidence(doc, item, text_of(memory, "confidence"));
  json_put(doc, item, "extractedAt", text_of(memory, "created_at"));
  json_put_opt(doc, item, "status", text_of(memory, "status"));
  json_put_opt(doc, item, "priority", text_of(memory, "priority"));
  put_citation(k->rc, item, memory);
  json_add_str(doc, yyjson_mut_obj_getn(k->groups, type.p, type.n), uid);
}

static bool is_wanted(const struct knowledge *k, yyjson_mut_val *memory) {
  return str_eq(text_of(memory, "project"), k->project) && (!k->type.p || str_eq(k->type, item_type(memory)));
}

static void put_wanted(struct knowledge *k, yyjson_mut_val *memories) {
  size_t i, n;
  yyjson_mut_val *m;
  yyjson_mut_arr_foreach(memories, i, n, m) {
    if ((int64_t)yyjson_mut_arr_size(k->items) < k->limit && is_wanted(k, m))
      put_item(k, m);
  }
}

/* The type of memory that alone makes items of the wanted type; NULL when there are several. */
static const char *only_type(struct str item) {
  const char *found = NULL;
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (!str_is(item, t->item ? t->item : "note"))
      continue;
    if (found)
      return NULL;
    found = t->name;
  }
  return found;
}

/* Page by page, as many as are still missing each time, so that the last cursor stands behind the last item. */
static enum status list_items(struct knowledge *k, struct str cursor, struct str *ret_next) {
  struct rest_call *rc = k->rc;
  const char *type = k->type.p ? only_type(k->type) : NULL;
  for (int64_t looked_at = 0; looked_at < LOOKED_AT_MOST;) {
    yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *result;
    int64_t room = k->limit - (int64_t)yyjson_mut_arr_size(k->items);
    json_put(rc->doc, args, "project", k->project);
    json_put(rc->doc, args, "detail", STR("full"));
    json_put_bool(rc->doc, args, "own", true);
    json_put_int(rc->doc, args, "limit", room);
    json_put_opt(rc->doc, args, "type", str_from(type));
    json_put_opt(rc->doc, args, "cursor", cursor);
    enum status s = rest_op(rc, "list", args, &result);
    if (s != STATUS_OK)
      return s;
    put_wanted(k, yyjson_mut_obj_get(result, "memories"));
    looked_at += room;
    cursor = text_of(result, "next_cursor");
    if (!cursor.p || (int64_t)yyjson_mut_arr_size(k->items) == k->limit)
      break;
  }
  *ret_next = cursor;
  return STATUS_OK;
}

static enum status find_items(struct knowledge *k, struct str query) {
  struct rest_call *rc = k->rc;
  yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *result;
  json_put(rc->doc, args, "query", query);
  json_put(rc->doc, args, "project", k->project);
  json_put(rc->doc, args, "detail", STR("full"));
  json_put_int(rc->doc, args, "limit", SEARCH_MOST);
  enum status s = rest_op(rc, "search", args, &result);
  if (s == STATUS_OK)
    put_wanted(k, yyjson_mut_obj_get(result, "results"));
  return s;
}

static enum status read_limit(struct rest_call *rc, int64_t *ret_limit) {
  yyjson_mut_val *v = yyjson_mut_obj_get(rc->args, "limit");
  int64_t limit = v ? yyjson_mut_get_sint(v) : ITEMS_USUAL;
  if (limit < 1 || limit > ITEMS_MOST) {
    error_set(&rc->err, STATUS_USAGE, "limit %lld is outside 1 to %d", (long long)limit, ITEMS_MOST);
    return error_fix(&rc->err, "read page by page, with next_cursor of the page before");
  }
  *ret_limit = limit;
  return STATUS_OK;
}

void rest_knowledge(struct rest_call *rc) {
  static const char *const types[] = {"entity", "claim", "task", "decision", "note"};
  struct str query = text_of(rc->args, "q"), cursor = text_of(rc->args, "cursor"), next = STR_NONE;
  struct knowledge k = {.rc = rc, .project = rc->variable, .type = text_of(rc->args, "type")};
  yyjson_mut_val *result = yyjson_mut_obj(rc->doc);
  enum status s = read_limit(rc, &k.limit);
  if (s == STATUS_OK && query.p && cursor.p) {
    error_set(&rc->err, STATUS_USAGE, "q and cursor contradict each other: what a search finds has one page");
    s = error_fix(&rc->err, "give one of the two");
  }
  json_put(rc->doc, result, "project", k.project);
  k.items = json_put_arr(rc->doc, result, "items");
  k.groups = json_put_obj(rc->doc, result, "groups");
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    json_put_arr(rc->doc, k.groups, types[i]);
  if (s == STATUS_OK)
    s = query.p ? find_items(&k, query) : list_items(&k, cursor, &next);
  if (s != STATUS_OK) {
    rest_fail(rc);
    return;
  }
  json_put_int(rc->doc, result, "count", (int64_t)yyjson_mut_arr_size(k.items));
  json_put_opt(rc->doc, result, "next_cursor", next);
  rest_answer(rc, result);
}

/* ---- search by scope ---- */

/* Memories are what can be searched; the other scopes are empty until something is read into them. */
static bool scope_asked(const struct rest_call *rc, const char *scope) {
  yyjson_mut_val *list = yyjson_mut_obj_get(rc->args, "scope"), *v;
  size_t i, n;
  if (!list)
    return strcmp(scope, "memory") == 0;
  yyjson_mut_arr_foreach(list, i, n, v) {
    if (yyjson_mut_equals_str(v, scope))
      return true;
  }
  return false;
}

void rest_memory_search(struct rest_call *rc) {
  static const char *const empty[] = {"items", "sessions", "sources"};
  yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *answer = yyjson_mut_obj(rc->doc), *found = NULL;
  yyjson_mut_val *limit = yyjson_mut_obj_get(rc->args, "limit");
  struct str query = text_of(rc->args, "q");
  json_put(rc->doc, args, "query", query);
  json_put_opt(rc->doc, args, "project", text_of(rc->args, "project"));
  if (limit)
    json_put_int(rc->doc, args, "limit", yyjson_mut_get_sint(limit));
  if (rest_op(rc, "search", args, &found) != STATUS_OK) {
    rest_fail(rc);
    return;
  }
  json_put(rc->doc, answer, "query", query);
  yyjson_mut_val *searched = json_put_arr(rc->doc, answer, "searched");
  yyjson_mut_val *nothing = json_put_arr(rc->doc, answer, "empty_scopes");
  if (scope_asked(rc, "memory"))
    json_add_str(rc->doc, searched, STR("memory"));
  for (size_t i = 0; i < ARRAY_LEN(empty); i++)
    if (scope_asked(rc, empty[i]))
      json_add_str(rc->doc, nothing, str_from(empty[i]));
  json_put_opt(rc->doc, answer, "search_mode", text_of(found, "search_mode"));
  json_put_opt(rc->doc, answer, "degraded", text_of(found, "degraded"));
  yyjson_mut_val *results = yyjson_mut_obj_get(found, "results");
  if (!scope_asked(rc, "memory"))
    results = yyjson_mut_arr(rc->doc);
  yyjson_mut_obj_add_val(rc->doc, answer, "results", results);
  rest_answer(rc, answer);
}
