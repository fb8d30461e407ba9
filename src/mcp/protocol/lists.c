/* lists.c: tools/list, prompts/list, resources/list, resources/templates/list. Deterministic for a given store.
 *
 * A cursor is the sealed name of the last item of a page. It is valid only for its list and caller, and it expires. */
#include <assert.h>

#include "base/os/clock.h"
#include "mcp/protocol/prompts.h"
#include "mcp/protocol/resources.h"
#include "mcp/tools/internal.h"
#include "op/access/authenticate.h"
#include "op/access/roles.h"

enum { PAGE_SIZE = 100, LIST_TTL_MS = 300 * 1000 };

struct listing {
  const char *name;   /* purpose of its cursors */
  const char *member; /* of the result */
  const char *key;    /* member that identifies an item */
  int64_t ttl_ms;
  /* Adds what the caller may use. False: failed, and the error is sent. */
  bool (*add)(struct exchange *x, const struct principal *who, yyjson_mut_val *list);
};

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* In one to two days, at midnight, so a list has the same bytes all day. */
static int64_t cursor_expiry(void) {
  struct clock clock = {0};
  return (clock_now(&clock) / DAY_MS + 2) * DAY_MS;
}

static struct str purpose_of(const struct exchange *x, const struct listing *l) {
  const struct principal *who = x->caller.principal;
  return arena_printf(x->arena, "%s\n%.*s\n%.*s\n%.*s", l->name, STR_ARG(x->caller.team),
                      STR_ARG(who ? who->name : STR("")), STR_ARG(who && who->token.p ? who->token : STR("")));
}

/* The name after which the page starts; absent: the first page. False: refused, and the error is sent. */
static bool read_cursor(struct exchange *x, const struct listing *l, struct str *ret_after) {
  yyjson_val *cursor = yyjson_obj_get(x->in->params, "cursor");
  struct str text = json_val_str(cursor);
  struct clock clock = {0};
  *ret_after = STR_NONE;
  if (!cursor || (text.p && text.n == 0))
    return true;
  if (text.p && state_open(x->server, x->arena, x->caller.team, purpose_of(x, l), text, clock_now(&clock), ret_after))
    return true;
  exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: this cursor is not valid for this list; start without one");
  return false;
}

static struct str name_of(yyjson_mut_val *item, const char *key) {
  yyjson_mut_val *name = yyjson_mut_obj_get(item, key);
  assert(yyjson_mut_is_str(name));
  return (struct str){yyjson_mut_get_str(name), yyjson_mut_get_len(name)};
}

/* The index after the item of that name; if it is gone, the index of the first item that sorts after it. */
static size_t place_after(yyjson_mut_val *items, const char *key, struct str after) {
  size_t i, n, later = SIZE_MAX;
  yyjson_mut_val *item;
  if (!after.p)
    return 0;
  yyjson_mut_arr_foreach(items, i, n, item) {
    int order = str_cmp(name_of(item, key), after);
    if (order == 0)
      return i + 1;
    later = order > 0 && later == SIZE_MAX ? i : later;
  }
  return later;
}

/* Answers with the page that starts after the item `after`. */
static void answer_page(struct exchange *x, const struct listing *l, yyjson_mut_val *items, struct str after) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc), *page = json_put_arr(x->doc, result, l->member);
  yyjson_mut_val *item;
  struct str last = STR_NONE;
  bool more = false;
  size_t i, n, taken = 0, from = place_after(items, l->key, after);
  yyjson_mut_arr_foreach(items, i, n, item) {
    if (i < from)
      continue;
    more = taken == PAGE_SIZE;
    if (more)
      break;
    yyjson_mut_arr_append(page, yyjson_mut_val_mut_copy(x->doc, item));
    last = name_of(item, l->key);
    taken++;
  }
  assert(taken <= PAGE_SIZE && (last.p || taken == 0));
  if (more)
    json_put(x->doc, result, "nextCursor",
             state_seal(x->server, x->arena, x->caller.team, purpose_of(x, l), last, cursor_expiry()));
  exchange_cached(x, result, l->ttl_ms);
}

static void answer(struct exchange *x, const struct listing *l) {
  struct str after;
  const struct principal *who;
  if (!read_cursor(x, l, &after) || !exchange_principal(x, &who))
    return;
  yyjson_mut_val *list = yyjson_mut_arr(x->doc);
  if (l->add(x, who, list))
    answer_page(x, l, list, after);
}

/* ---- access ---- */

/* Lists hide what a caller may not call, which saves a model useless attempts. Access is enforced at the call
 * (op/access/roles.h). */
static bool may_call(const struct principal *who, const char *name) {
  const struct op *op = name ? op_find(str_from(name)) : NULL;
  return op && principal_may(who, op);
}

static const struct tool_action *visible_actions(const struct principal *who, struct arena *a,
                                                 const struct tool_action *actions) {
  LIST(struct tool_action) list = {0};
  for (const struct tool_action *p = actions; p && p->name; p++)
    if (may_call(who, p->op))
      list_push(a, &list, *p);
  if (list.n)
    list_push(a, &list, (struct tool_action){0});
  return list.v;
}

/* The table does not say which operations a function calls, so the row's TOOL_READS flag decides. */
static bool may_call_function(const struct principal *who, const struct tool *tool) {
  return who->role != ROLE_SKILL && (!who->read_only || (tool->flags & TOOL_READS));
}

/* The tool without the actions that this caller may not call; NULL if it may call none. `who` is NULL for the local
 * user, who may call everything. */
static const struct tool *visible_tool(const struct principal *who, struct arena *a, const struct tool *tool) {
  if (!who)
    return tool;
  if (tool->run)
    return may_call_function(who, tool) ? tool : NULL;
  struct tool *part = arena_new(a, struct tool);
  *part = *tool;
  part->actions = visible_actions(who, a, tool->actions);
  part->op = may_call(who, tool->op) ? tool->op : NULL;
  if (who->read_only)
    part->flags = (tool_flags(tool) | TOOL_READS) & ~(unsigned)TOOL_DESTROYS;
  return part->op || part->actions ? part : NULL;
}

/* ---- tools and prompts ---- */

static bool add_tools(struct exchange *x, const struct principal *who, yyjson_mut_val *list) {
  for (const struct tool *t = x->profile->tools; t->name; t++) {
    const struct tool *shown = t->flags & TOOL_HIDDEN ? NULL : visible_tool(who, x->arena, t);
    if (shown)
      yyjson_mut_arr_append(list, tool_definition(x->doc, x->profile, shown));
  }
  if (x->server->options.conformance)
    mcp_fixtures->list_tools(x, list);
  return true;
}

static bool add_prompts(struct exchange *x, const struct principal *who, yyjson_mut_val *list) {
  for (const struct prompt *p = prompts; p->name; p++)
    if (may_call(who, p->op))
      yyjson_mut_arr_append(list, prompt_definition(x->doc, p));
  if (x->server->options.conformance)
    mcp_fixtures->list_prompts(x, list);
  return true;
}

/* ---- resources ---- */

struct description {
  struct str uri, name, title, text;
  const char *mime; /* NULL: Markdown */
  bool is_template;
};

static void add_description(struct exchange *x, yyjson_mut_val *list, const struct description *d) {
  yyjson_mut_val *r = yyjson_mut_arr_add_obj(x->doc, list);
  json_put(x->doc, r, d->is_template ? "uriTemplate" : "uri", d->uri);
  json_put(x->doc, r, "name", d->name);
  json_put(x->doc, r, "title", d->title);
  json_put(x->doc, r, "description", d->text);
  json_put(x->doc, r, "mimeType", str_from(d->mime ? d->mime : "text/markdown"));
}

static void add_project(struct exchange *x, const struct principal *who, yyjson_mut_val *list, struct str project) {
  struct str of = project.n ? project : STR("global memories");
  if (may_call(who, "boot"))
    add_description(x, list,
                    &(struct description){.uri = resource_uri(x->arena, "cairn://boot/", project),
                                          .name = arena_printf(x->arena, "boot: %.*s", STR_ARG(of)),
                                          .title = arena_printf(x->arena, "Boot payload: %.*s", STR_ARG(of)),
                                          .text = STR("What an agent should know at the start of a conversation.")});
  if (may_call(who, "page"))
    add_description(x, list,
                    &(struct description){.uri = resource_uri(x->arena, "cairn://memory.md/", project),
                                          .name = arena_printf(x->arena, "memory.md: %.*s", STR_ARG(of)),
                                          .title = arena_printf(x->arena, "Memory on one page: %.*s", STR_ARG(of)),
                                          .text = STR("The headlines of all active memories, by kind.")});
}

/* The projects of a caller with the project role, else the caller's current project; and the global memories. */
static void add_projects(struct exchange *x, const struct principal *who, yyjson_mut_val *list) {
  bool limited = who && who->role == ROLE_PROJECT;
  for (size_t i = 0; limited && i < who->projects.n; i++)
    add_project(x, who, list, who->projects.v[i]);
  if (!limited && x->caller.project.n)
    add_project(x, who, list, x->caller.project);
  add_project(x, who, list, STR(""));
}

static int by_name(const void *a, const void *b) {
  return str_cmp(json_str(*(yyjson_val *const *)a, "name"), json_str(*(yyjson_val *const *)b, "name"));
}

/* Clients show the list without a request of the user, so untrusted skills are left out. */
static enum status add_skills(struct exchange *x, yyjson_mut_val *list, struct error *err) {
  yyjson_val *result, *skill;
  TRY(exchange_op(x, "skill list", STR("{}"), &result, err));
  yyjson_val *skills = yyjson_obj_get(result, "skills");
  size_t i, n, count = 0;
  yyjson_val **sorted = arena_array(x->arena, yyjson_val *, yyjson_arr_size(skills) + 1);
  yyjson_arr_foreach(skills, i, n, skill) {
    if (!json_bool(skill, "untrusted", false))
      sorted[count++] = skill;
  }
  qsort(sorted, count, sizeof(sorted[0]), by_name);
  for (i = 0; i < count; i++) {
    struct str name = json_str(sorted[i], "name");
    add_description(x, list,
                    &(struct description){.uri = resource_uri(x->arena, "cairn://skill/", name),
                                          .name = arena_printf(x->arena, "skill: %.*s", STR_ARG(name)),
                                          .title = name,
                                          .text = json_str(sorted[i], "headline")});
  }
  return STATUS_OK;
}

static void add_profile_resources(struct exchange *x, const struct principal *who, yyjson_mut_val *list,
                                  bool templates) {
  for (const struct profile_resource *r = x->profile->resources; r->uri && may_call(who, "get"); r++)
    if ((strchr(r->uri, '{') != NULL) == templates)
      add_description(x, list,
                      &(struct description){.uri = str_from(r->uri),
                                            .name = str_from(r->name),
                                            .title = str_from(r->title),
                                            .text = str_from(r->description),
                                            .mime = r->mime,
                                            .is_template = templates});
}

/* Clients with the list are notified of changes. If that fails, the list is still correct. */
static void follow(struct exchange *x) {
  struct error err;
  if (!x->modern && x->server->options.feed && !x->caller.principal &&
      subscriptions_follow(x->server, x->caller.team, &err) != STATUS_OK)
    return;
}

static bool add_resources(struct exchange *x, const struct principal *who, yyjson_mut_val *list) {
  struct error err = {0};
  if (x->profile->resources) {
    add_profile_resources(x, who, list, false);
  } else {
    add_projects(x, who, list);
    if (may_call(who, "skill list") && add_skills(x, list, &err) != STATUS_OK) {
      exchange_failed(x, &err);
      return false;
    }
  }
  if (x->server->options.conformance)
    mcp_fixtures->list_resources(x, list);
  follow(x);
  return true;
}

static bool add_templates(struct exchange *x, const struct principal *who, yyjson_mut_val *list) {
  if (x->profile->resources)
    add_profile_resources(x, who, list, true);
  for (const struct resource *r = resources; r->uri && !x->profile->resources; r++)
    if (may_call(who, r->op))
      add_description(x, list,
                      &(struct description){.uri = str_from(r->uri),
                                            .name = str_from(r->name),
                                            .title = str_from(r->title),
                                            .text = str_from(r->description),
                                            .mime = r->mime,
                                            .is_template = true});
  if (x->server->options.conformance)
    mcp_fixtures->list_templates(x, list);
  return true;
}

/* ---- methods ---- */

void list_tools(struct exchange *x) { answer(x, &(struct listing){"tools", "tools", "name", LIST_TTL_MS, add_tools}); }

void list_prompts(struct exchange *x) {
  answer(x, &(struct listing){"prompts", "prompts", "name", LIST_TTL_MS, add_prompts});
}

void list_resources(struct exchange *x) {
  answer(x, &(struct listing){"resources", "resources", "uri", 0, add_resources});
}

void list_templates(struct exchange *x) {
  answer(x, &(struct listing){"templates", "resourceTemplates", "uriTemplate", LIST_TTL_MS, add_templates});
}
