/* knowledge.c: a project's knowledge as typed items with citations, and the search by scope.
 *
 * Items are memories and items extracted from the project's files (store/memories/documents.h), read the same way.
 * sourceFile and lineNumber cite files; they are null for memories. */
#include <assert.h>

#include "core/memory/types.h"
#include "http/rest/rest.h"

/* LOOKED_AT_MOST: memories read per request. For a rare type, a page may hold fewer items than requested and have a
 * next_cursor. */
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

/* Extracted items have their own number. */
static void put_confidence(yyjson_mut_doc *doc, yyjson_mut_val *item, yyjson_mut_val *memory) {
  struct str word = text_of(memory, "confidence");
  yyjson_mut_val *number = yyjson_mut_obj_get(memory, "confidence");
  if (yyjson_mut_is_num(number))
    json_put_num(doc, item, "confidence", yyjson_mut_get_num(number));
  else if (!word.p)
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
  struct str by = text_of(memory, "written_by"); /* "source" of a search hit is the index that found it */
  json_put_opt(doc, c, "source", by.p ? by : text_of(memory, "source"));
  json_put_opt(doc, c, "session", text_of(memory, "session"));
  json_put(doc, c, "at", text_of(memory, "created_at"));
}

static void put_item(struct knowledge *k, yyjson_mut_val *memory) {
  yyjson_mut_doc *doc = k->rc->doc;
  struct str type = item_type(memory), ref = text_of(memory, "ref"), file = text_of(memory, "file");
  struct str id = ref.p ? ref : text_of(memory, "uid");
  yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, k->items), *line = yyjson_mut_obj_get(memory, "line");
  json_put(doc, item, "id", id);
  json_put(doc, item, "type", type);
  json_put(doc, item, "title", text_of(memory, "headline"));
  json_put(doc, item, "content", text_of(memory, "body"));
  put_or_null(doc, item, "sourceFile", file);
  if (line)
    json_put_int(doc, item, "lineNumber", yyjson_mut_get_sint(line));
  else
    yyjson_mut_obj_add_null(doc, item, "lineNumber");
  put_confidence(doc, item, memory);
  json_put(doc, item, "extractedAt", text_of(memory, "created_at"));
  json_put_opt(doc, item, "status", text_of(memory, "status"));
  json_put_opt(doc, item, "priority", text_of(memory, "priority"));
  json_put_opt(doc, item, "trust", text_of(memory, "trust"));
  json_put_opt(doc, item, "suspect", text_of(memory, "suspect"));
  if (yyjson_mut_is_true(yyjson_mut_obj_get(memory, "untrusted")))
    json_put_bool(doc, item, "untrusted", true);
  put_citation(k->rc, item, memory);
  yyjson_mut_val *group = yyjson_mut_obj_getn(k->groups, type.p, type.n);
  assert(group); /* one for each type of an item */
  json_add_str(doc, group, id);
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

/* The only memory type that maps to this item type; NULL if there are several. */
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

static void put_corpora(yyjson_mut_doc *doc, yyjson_mut_val *args) {
  yyjson_mut_val *in = json_put_arr(doc, args, "in");
  json_add_str(doc, in, STR("memory"));
  json_add_str(doc, in, STR("items"));
}

/* Reads pages of the size that is still missing, so the last cursor is right after the last item. */
static enum status list_items(struct knowledge *k, struct str cursor, struct str *ret_next) {
  struct rest_call *rc = k->rc;
  const char *type = k->type.p ? only_type(k->type) : NULL;
  for (int64_t looked_at = 0; looked_at < LOOKED_AT_MOST;) {
    yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *result;
    int64_t room = k->limit - (int64_t)yyjson_mut_arr_size(k->items);
    assert(room > 0);
    json_put(rc->doc, args, "project", k->project);
    json_put(rc->doc, args, "detail", STR("full"));
    json_put_bool(rc->doc, args, "own", true);
    put_corpora(rc->doc, args);
    json_put_int(rc->doc, args, "limit", room);
    json_put_opt(rc->doc, args, "type", str_from(type));
    json_put_opt(rc->doc, args, "cursor", cursor);
    TRY(rest_op(rc, "list", args, &result));
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
  put_corpora(rc->doc, args);
  json_put_int(rc->doc, args, "limit", SEARCH_MOST);
  TRY(rest_op(rc, "search", args, &result));
  put_wanted(k, yyjson_mut_obj_get(result, "results"));
  return STATUS_OK;
}

static enum status read_limit(struct rest_call *rc, int64_t *ret_limit) {
  yyjson_mut_val *v = yyjson_mut_obj_get(rc->args, "limit");
  int64_t limit = v ? yyjson_mut_get_sint(v) : ITEMS_USUAL;
  if (limit < 1 || limit > ITEMS_MOST) {
    error_set(&rc->err, STATUS_USAGE, "limit %lld is outside 1 to %d", (long long)limit, ITEMS_MOST);
    return error_fix(&rc->err, "read page by page: pass next_cursor of the previous page");
  }
  *ret_limit = limit;
  return STATUS_OK;
}

static enum status read_items(struct knowledge *k, struct str *ret_next) {
  struct rest_call *rc = k->rc;
  struct str query = text_of(rc->args, "q"), cursor = text_of(rc->args, "cursor");
  TRY(read_limit(rc, &k->limit));
  if (query.p && cursor.p) {
    error_set(&rc->err, STATUS_USAGE, "q and cursor cannot be combined: search results have one page");
    return error_fix(&rc->err, "use only one of them");
  }
  return query.p ? find_items(k, query) : list_items(k, cursor, ret_next);
}

void rest_knowledge(struct rest_call *rc) {
  static const char *const types[] = {"entity", "claim", "task", "decision", "note"};
  struct str next = STR_NONE;
  struct knowledge k = {.rc = rc, .project = rc->variable, .type = text_of(rc->args, "type")};
  yyjson_mut_val *result = yyjson_mut_obj(rc->doc);
  json_put(rc->doc, result, "project", k.project);
  k.items = json_put_arr(rc->doc, result, "items");
  k.groups = json_put_obj(rc->doc, result, "groups");
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    json_put_arr(rc->doc, k.groups, types[i]);
  if (read_items(&k, &next) != STATUS_OK) {
    rest_fail(rc);
    return;
  }
  json_put_int(rc->doc, result, "count", (int64_t)yyjson_mut_arr_size(k.items));
  json_put_opt(rc->doc, result, "next_cursor", next);
  rest_answer(rc, result);
}

/* ---- search by scope ---- */

/* The requested scopes, by default only memories, as the argument `in` of the search. */
static yyjson_mut_val *requested_scopes(struct rest_call *rc, yyjson_mut_val *args) {
  yyjson_mut_val *list = yyjson_mut_obj_get(rc->args, "scope"), *in = json_put_arr(rc->doc, args, "in"), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, v) {
    json_add_str(rc->doc, in, (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)});
  }
  if (yyjson_mut_arr_size(in) == 0)
    json_add_str(rc->doc, in, STR("memory"));
  return in;
}

/* Also names scopes that are empty in this project: no results from them means no content, not no match. */
static enum status put_scopes(struct rest_call *rc, yyjson_mut_val *asked, yyjson_mut_val *answer) {
  yyjson_mut_val *searched = json_put_arr(rc->doc, answer, "searched"), *v;
  yyjson_mut_val *nothing = json_put_arr(rc->doc, answer, "empty_scopes");
  size_t i, n;
  yyjson_mut_arr_foreach(asked, i, n, v) {
    struct str scope = {yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
    yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *found = NULL;
    bool some = str_is(scope, "memory");
    if (!some) {
      json_add_str(rc->doc, json_put_arr(rc->doc, args, "in"), scope);
      json_put_opt(rc->doc, args, "project", text_of(rc->args, "project"));
      json_put_int(rc->doc, args, "limit", 1);
      TRY(rest_op(rc, "list", args, &found));
      some = yyjson_mut_get_sint(yyjson_mut_obj_get(found, "count")) > 0;
    }
    json_add_str(rc->doc, some ? searched : nothing, scope);
  }
  return STATUS_OK;
}

void rest_memory_search(struct rest_call *rc) {
  yyjson_mut_val *args = yyjson_mut_obj(rc->doc), *answer = yyjson_mut_obj(rc->doc), *found = NULL;
  yyjson_mut_val *limit = yyjson_mut_obj_get(rc->args, "limit"), *asked = requested_scopes(rc, args);
  struct str query = text_of(rc->args, "q");
  json_put(rc->doc, args, "query", query);
  json_put_opt(rc->doc, args, "project", text_of(rc->args, "project"));
  if (limit)
    json_put_int(rc->doc, args, "limit", yyjson_mut_get_sint(limit));
  json_put(rc->doc, answer, "query", query);
  if (rest_op(rc, "search", args, &found) != STATUS_OK || put_scopes(rc, asked, answer) != STATUS_OK) {
    rest_fail(rc);
    return;
  }
  json_put_opt(rc->doc, answer, "search_mode", text_of(found, "search_mode"));
  json_put_opt(rc->doc, answer, "degraded", text_of(found, "degraded"));
  yyjson_mut_obj_add_val(rc->doc, answer, "results", yyjson_mut_obj_get(found, "results"));
  rest_answer(rc, answer);
}
