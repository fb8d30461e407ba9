/* lists.c: tools/list, prompts/list, resources/list, resources/templates/list: the same bytes for the same store.
 *
 * A cursor names the last item of a page and is sealed: one that was not made for this list of this caller, or is too
 * old, is refused. */
#include "base/os/clock.h"
#include "mcp/protocol/prompts.h"
#include "mcp/protocol/resources.h"
#include "op/access/authenticate.h"

enum { PAGE_SIZE = 100, LIST_TTL_MS = 300 * 1000 };

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* For a day at least; until the end of one, so that a list has the same bytes all day. */
static int64_t cursor_ends(void) {
  struct clock clock = {0};
  return (clock_now(&clock) / DAY_MS + 2) * DAY_MS;
}

/* A cursor goes on with a list of one caller. */
static struct str purpose_of(const struct exchange *x, const char *list) {
  const struct principal *who = x->caller.principal;
  return arena_printf(x->arena, "%s\n%.*s\n%.*s\n%.*s", list, STR_ARG(x->caller.team),
                      STR_ARG(who ? who->name : STR("")), STR_ARG(who && who->token.p ? who->token : STR("")));
}

/* The name behind which the page begins; absent: at the beginning. False: refused, and answered. */
static bool read_cursor(struct exchange *x, const char *list, struct str *ret_after) {
  yyjson_val *cursor = yyjson_obj_get(x->in->params, "cursor");
  struct str text = json_val_str(cursor);
  struct clock clock = {0};
  *ret_after = STR_NONE;
  if (!cursor || (text.p && text.n == 0))
    return true;
  if (text.p &&
      state_open(x->server, x->arena, x->caller.team, purpose_of(x, list), text, clock_now(&clock), ret_after))
    return true;
  exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: this cursor is not one of this list; begin without one");
  return false;
}

static struct str name_of(yyjson_mut_val *item, const char *key) {
  yyjson_mut_val *name = yyjson_mut_obj_get(item, key);
  return (struct str){yyjson_mut_get_str(name), yyjson_mut_get_len(name)};
}

/* Behind the item of that name; where it has gone meanwhile, before the first that would have come behind it. */
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

/* Cuts the page out of the whole list. `key` is the member that tells items apart. */
static void answer_page(struct exchange *x, const char *list, const char *member, const char *key,
                        yyjson_mut_val *items, struct str after, int64_t ttl_ms) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc), *page = json_put_arr(x->doc, result, member);
  yyjson_mut_val *item;
  struct str last = STR_NONE;
  bool more = false;
  size_t i, n, taken = 0, from = place_after(items, key, after);
  yyjson_mut_arr_foreach(items, i, n, item) {
    if (i < from)
      continue;
    more = taken == PAGE_SIZE;
    if (more)
      break;
    yyjson_mut_arr_append(page, yyjson_mut_val_mut_copy(x->doc, item));
    last = name_of(item, key);
    taken++;
  }
  if (more)
    json_put(x->doc, result, "nextCursor",
             state_seal(x->server, x->arena, x->caller.team, purpose_of(x, list), last, cursor_ends()));
  exchange_cached(x, result, ttl_ms);
}

void list_tools(struct exchange *x) {
  struct str after;
  const struct principal *who;
  if (!read_cursor(x, "tools", &after) || !exchange_who(x, &who))
    return;
  yyjson_mut_val *list = yyjson_mut_arr(x->doc);
  for (const struct tool *t = x->profile->tools; t->name; t++) {
    const struct tool *offered = t->flags & TOOL_HIDDEN ? NULL : tool_offered(who, x->arena, t);
    if (offered)
      yyjson_mut_arr_append(list, tool_definition(x->doc, offered));
  }
  if (x->server->options.conformance)
    fixture_tools(x, list);
  answer_page(x, "tools", "tools", "name", list, after, LIST_TTL_MS);
}

void list_prompts(struct exchange *x) {
  struct str after;
  const struct principal *who;
  if (!read_cursor(x, "prompts", &after) || !exchange_who(x, &who))
    return;
  yyjson_mut_val *list = yyjson_mut_arr(x->doc);
  for (const struct prompt *p = prompts; p->name; p++)
    if (op_offered(who, p->op))
      yyjson_mut_arr_append(list, prompt_definition(x->doc, p));
  if (x->server->options.conformance)
    fixture_prompts(x, list);
  answer_page(x, "prompts", "prompts", "name", list, after, LIST_TTL_MS);
}

/* ---- resources ---- */

static yyjson_mut_val *describe(struct exchange *x, yyjson_mut_val *list, const char *member, struct str uri,
                                struct str name, struct str title, struct str description, const char *mime) {
  yyjson_mut_val *r = yyjson_mut_arr_add_obj(x->doc, list);
  json_put(x->doc, r, member, uri);
  json_put(x->doc, r, "name", name);
  json_put(x->doc, r, "title", title);
  json_put(x->doc, r, "description", description);
  json_put(x->doc, r, "mimeType", str_from(mime));
  return r;
}

static void add_project(struct exchange *x, const struct principal *who, yyjson_mut_val *list, struct str project) {
  struct str of = project.n ? project : STR("global memories");
  if (op_offered(who, "boot"))
    describe(x, list, "uri", resource_uri(x->arena, "cairn://boot/", project),
             arena_printf(x->arena, "boot: %.*s", STR_ARG(of)),
             arena_printf(x->arena, "Boot payload: %.*s", STR_ARG(of)),
             STR("What an agent should know at the start of a conversation."), "text/markdown");
  if (op_offered(who, "page"))
    describe(x, list, "uri", resource_uri(x->arena, "cairn://memory.md/", project),
             arena_printf(x->arena, "memory.md: %.*s", STR_ARG(of)),
             arena_printf(x->arena, "Memory on one page: %.*s", STR_ARG(of)),
             STR("The headlines of all active memories, by kind."), "text/markdown");
}

/* Of who works in certain projects, these; of others, the one that they are in. */
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

/* Names and headlines are stored text: they say what a skill is, and are cut to a line. The list is read unasked, so
 * that what nobody vouches for is not on it. */
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
    describe(x, list, "uri", resource_uri(x->arena, "cairn://skill/", name),
             arena_printf(x->arena, "skill: %.*s", STR_ARG(name)), name, json_str(sorted[i], "headline"),
             "text/markdown");
  }
  return STATUS_OK;
}

static void add_of_profile(struct exchange *x, const struct principal *who, yyjson_mut_val *list, bool templates) {
  for (const struct profile_resource *r = x->profile->resources; r->uri && op_offered(who, "get"); r++)
    if ((strchr(r->uri, '{') != NULL) == templates)
      describe(x, list, templates ? "uriTemplate" : "uri", str_from(r->uri), str_from(r->name), str_from(r->title),
               str_from(r->description), r->mime);
}

/* Whoever has the list wants to know when it changes; where that is not possible, the list is still right. */
static void follow(struct exchange *x) {
  struct error err;
  if (!x->modern && x->server->options.feed && !x->caller.principal &&
      subscriptions_follow(x->server, x->caller.team, &err) != STATUS_OK)
    return;
}

void list_resources(struct exchange *x) {
  struct str after;
  struct error err = {0};
  const struct principal *who;
  if (!read_cursor(x, "resources", &after) || !exchange_who(x, &who))
    return;
  yyjson_mut_val *list = yyjson_mut_arr(x->doc);
  if (x->profile->resources) {
    add_of_profile(x, who, list, false);
  } else {
    add_projects(x, who, list);
    if (op_offered(who, "skill list") && add_skills(x, list, &err) != STATUS_OK) {
      exchange_failed(x, &err);
      return;
    }
  }
  if (x->server->options.conformance)
    fixture_resources(x, list);
  follow(x);
  answer_page(x, "resources", "resources", "uri", list, after, 0);
}

void list_templates(struct exchange *x) {
  struct str after;
  const struct principal *who;
  if (!read_cursor(x, "templates", &after) || !exchange_who(x, &who))
    return;
  yyjson_mut_val *list = yyjson_mut_arr(x->doc);
  if (x->profile->resources)
    add_of_profile(x, who, list, true);
  for (const struct resource *r = resources; r->uri && !x->profile->resources; r++)
    if (op_offered(who, r->op))
      describe(x, list, "uriTemplate", str_from(r->uri), str_from(r->name), str_from(r->title),
               str_from(r->description), r->mime);
  if (x->server->options.conformance)
    fixture_templates(x, list);
  answer_page(x, "templates", "resourceTemplates", "uriTemplate", list, after, LIST_TTL_MS);
}
