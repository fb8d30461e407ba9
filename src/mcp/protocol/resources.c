/* resources.c: resources/read. */
#include "mcp/protocol/resources.h"

#include <assert.h>

#include "core/memory/memory.h"
#include "core/trust/present.h"
#include "mcp/tools/internal.h"

/* ---- URIs ---- */

static int hex(char c) {
  if (ascii_digit(c))
    return c - '0';
  char l = ascii_lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

static struct str decode(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++) {
    int high = s.p[i] == '%' && i + 2 < s.n ? hex(s.p[i + 1]) : -1;
    int low = high >= 0 ? hex(s.p[i + 2]) : -1;
    if (low >= 0)
      i += 2;
    buf_addc(&b, low >= 0 ? (char)(high * 16 + low) : s.p[i]);
  }
  return buf_str(&b);
}

struct str resource_uri(struct arena *a, const char *prefix, struct str name) {
  struct buf b = BUF(a);
  buf_adds(&b, prefix);
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    if (ascii_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
      buf_addc(&b, c);
    else
      buf_addf(&b, "%%%02X", (unsigned)(uint8_t)c);
  }
  return buf_str(&b);
}

bool resource_fits(struct arena *a, const char *uri_template, struct str uri, struct str *ret_variable) {
  struct str t = str_from(uri_template);
  size_t brace = str_find(t, STR("{"), 0);
  if (brace == SIZE_MAX) {
    *ret_variable = STR_NONE;
    return str_eq(t, uri);
  }
  if (!str_starts(uri, str_slice(t, 0, brace)))
    return false;
  *ret_variable = decode(a, str_slice(uri, brace, uri.n));
  return true;
}

const struct resource *resource_find(struct arena *a, struct str uri, struct str *ret_variable) {
  for (const struct resource *r = resources; r->uri; r++)
    if (resource_fits(a, r->uri, uri, ret_variable))
      return r;
  return NULL;
}

const struct resource *resource_of_template(struct str uri) {
  for (const struct resource *r = resources; r->uri; r++)
    if (str_is(uri, r->uri))
      return r;
  return NULL;
}

/* ---- reading ---- */

static struct str one_arg(struct exchange *x, const char *name, struct str value) {
  yyjson_mut_doc *doc = json_new(x->arena);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  json_put(doc, args, name, value);
  return json_write(x->arena, args, false);
}

/* The text of a result, whose advice names the tools of the profile. */
static enum status advised_text(struct exchange *x, const char *op, yyjson_val *result, struct str *ret_text,
                                struct error *err) {
  struct tool_run run = {.profile = x->profile, .caller = x->caller, .arena = x->arena, .doc = x->doc};
  yyjson_mut_val *copy = yyjson_val_mut_copy(x->doc, result);
  if (!exchange_principal(x, &run.caller.principal))
    return error_set(err, STATUS_DENIED, "the caller is no longer known");
  tool_advise(&run, op_find(str_from(op)), copy);
  *ret_text = present_neutral(x->arena, mut_member(copy, "text"));
  return STATUS_OK;
}

/* Reading the payload does not start a conversation: the call carries no client and no session, so boot registers
 * none. */
static enum status read_boot(struct exchange *x, struct str project, struct str *ret_text, struct error *err) {
  struct caller caller = x->caller;
  yyjson_val *result;
  x->caller.origin = NULL;
  x->caller.session = STR_NONE;
  enum status s = exchange_op(x, "boot", one_arg(x, "project", project), &result, err);
  x->caller = caller;
  return s == STATUS_OK ? advised_text(x, "boot", result, ret_text, err) : s;
}

static enum status read_memory(struct exchange *x, struct str id, struct str *ret_text, struct error *err) {
  yyjson_val *result;
  TRY(exchange_op(x, "get", one_arg(x, "id", id), &result, err));
  struct buf b = BUF(x->arena);
  buf_adds(&b, TOOL_NOTICE "\n");
  tool_show_memory(&b, yyjson_val_mut_copy(x->doc, result));
  *ret_text = buf_str(&b);
  return STATUS_OK;
}

/* Lines of a front matter that label an untrusted memory. */
static struct str trust_lines(struct arena *a, yyjson_val *memory) {
  struct str suspect = json_str(memory, "suspect");
  if (!json_bool(memory, "untrusted", false))
    return STR("");
  return arena_printf(a, "untrusted: true\ntrust: %.*s\n%s%.*s%s", STR_ARG(json_str(memory, "trust")),
                      suspect.p ? "suspect: " : "", STR_ARG(suspect), suspect.p ? "\n" : "");
}

/* Agents follow the text of a skill, so its trust comes first. */
static enum status read_skill(struct exchange *x, struct str name, struct str *ret_text, struct error *err) {
  yyjson_val *result;
  TRY(exchange_op(x, "skill load", one_arg(x, "name", name), &result, err));
  *ret_text = arena_printf(x->arena, "---\nname: %.*s\ndescription: %.*s\n%.*s---\n\n%.*s\n", STR_ARG(name),
                           STR_ARG(present_line(x->arena, json_str(result, "headline"))),
                           STR_ARG(trust_lines(x->arena, result)),
                           STR_ARG(present_neutral(x->arena, json_str(result, "body"))));
  return STATUS_OK;
}

/* The page that 'cairn sync' writes, without its anchors. */
static enum status read_page(struct exchange *x, struct str project, struct str *ret_text, struct error *err) {
  yyjson_val *result;
  TRY(exchange_op(x, "page", one_arg(x, "project", project), &result, err));
  return advised_text(x, "page", result, ret_text, err);
}

/* ---- changes ---- */

/* Global memories belong to every project. */
static bool concerns_project(struct str project, const struct event *e, yyjson_val *before UNUSED,
                             yyjson_val *after UNUSED) {
  return e->memory_id > 0 && (str_empty(e->project) || str_eq(e->project, project));
}

static bool concerns_memory(struct str id, const struct event *e, yyjson_val *before, yyjson_val *after) {
  int64_t number;
  if (str_int64(id, &number))
    return number == e->memory_id;
  return (e->uid.n && str_eq(id, e->uid)) || (id.n && str_eq(id, json_str(before, "key"))) ||
         (id.n && str_eq(id, json_str(after, "key")));
}

static bool concerns_skill(struct str name, const struct event *e UNUSED, yyjson_val *before, yyjson_val *after) {
  return name.n && (str_eq(name, json_str(before, "skill_name")) || str_eq(name, json_str(after, "skill_name")));
}

const struct resource resources[] = {
    {"cairn://boot/{project}", "boot", "Boot payload of a project",
     "What an agent should know at the start of a conversation: blockers, patterns, identity, decisions, tasks. "
     "An empty project means only global memories.",
     "text/markdown", read_boot, concerns_project, "boot"},
    {"cairn://memory.md/{project}", "memory.md", "Memory of a project as one page",
     "MEMORY.md of a project: its memories and the global ones by section, most important and newest first, each with "
     "its id.",
     "text/markdown", read_page, concerns_project, "page"},
    {"cairn://memory/{id}", "memory", "One memory", "A memory in full, by id, uid or key.", "text/markdown",
     read_memory, concerns_memory, "get"},
    {"cairn://skill/{name}", "skill", "One skill", "The text of a skill, with its name and headline in front.",
     "text/markdown", read_skill, concerns_skill, "skill load"},
    {0},
};

static const struct profile_resource *profile_resource_find(struct exchange *x, struct str uri,
                                                            struct str *ret_variable) {
  for (const struct profile_resource *r = x->profile->resources; r->uri; r++)
    if (resource_fits(x->arena, r->uri, uri, ret_variable))
      return r;
  return NULL;
}

const struct resource *resource_watched(struct exchange *x, struct str uri, struct str *ret_variable) {
  static const struct resource of_profile = {.op = "list", .concerns = concerns_project};
  if (!x->profile->resources)
    return resource_find(x->arena, uri, ret_variable);
  if (!profile_resource_find(x, uri, ret_variable))
    return NULL;
  if (!ret_variable->p) /* without a variable it shows the project of the server */
    *ret_variable = x->caller.project.p ? x->caller.project : STR("");
  return &of_profile;
}

/* ---- resources/read ---- */

static yyjson_mut_val *add_content(struct exchange *x, yyjson_mut_val *contents, struct str uri, const char *mime,
                                   struct str text) {
  yyjson_mut_val *content = yyjson_mut_arr_add_obj(x->doc, contents);
  json_put(x->doc, content, "uri", uri);
  json_put(x->doc, content, "mimeType", str_from(mime));
  json_put(x->doc, content, "text", text);
  return content;
}

/* `run` has the untrusted parts of a profile's resource; it is empty for the server's own, which label theirs. */
static void answer_text(struct exchange *x, struct str uri, const char *mime, struct str text,
                        const struct tool_run *run) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc), *contents = json_put_arr(x->doc, result, "contents");
  yyjson_mut_val *first = add_content(x, contents, uri, mime, text);
  if (run->notice.p) {
    assert(run->untrusted);
    yyjson_mut_obj_add_val(x->doc, json_put_obj(x->doc, first, "_meta"), TOOL_UNTRUSTED, run->untrusted);
    add_content(x, contents, uri, "text/plain", run->notice);
  }
  exchange_cached(x, result, 0);
}

static void not_found(struct exchange *x, struct str uri) {
  yyjson_mut_val *data = yyjson_mut_obj(x->doc);
  json_put(x->doc, data, "uri", uri);
  exchange_error(x, 200, x->modern ? RPC_PARAMS : MCP_NO_RESOURCE, data, "Resource not found: %.*s",
                 STR_ARG(uri.n > 300 ? str_slice(uri, 0, 300) : uri));
}

static void read_failed(struct exchange *x, struct str uri, const struct error *err) {
  if (err->code == STATUS_NOT_FOUND)
    not_found(x, uri);
  else if (err->code == STATUS_USAGE)
    exchange_error(x, 200, RPC_PARAMS, NULL, "%s", err->message);
  else
    exchange_failed(x, err);
}

static enum status read_profile_resource(struct exchange *x, const struct profile_resource *r, struct str variable,
                                         struct tool_run *run, struct error *err) {
  static const struct tool none = {.name = "resources/read"};
  *run = (struct tool_run){
      .profile = x->profile, .tool = &none, .caller = x->caller, .arena = x->arena, .doc = x->doc, .err = err};
  run->caller.foreign = x->profile->foreign;
  TRY(exchange_borrow(x, err));
  run->engine = x->engine;
  enum status s = r->read(run, variable, &run->text);
  run->engine = NULL;
  exchange_give_back(x);
  if (s == STATUS_OK)
    tool_report_untrusted(run, false);
  return s;
}

/* False if there is no such resource. */
static bool read_any(struct exchange *x, struct str uri) {
  struct error err = {0};
  struct str variable, text = STR_NONE;
  enum status s;
  const char *mime;
  struct tool_run run = {0};
  if (x->profile->resources) {
    const struct profile_resource *r = profile_resource_find(x, uri, &variable);
    if (!r)
      return false;
    s = read_profile_resource(x, r, variable, &run, &err);
    text = run.text;
    mime = r->mime;
  } else {
    const struct resource *r = resource_find(x->arena, uri, &variable);
    if (!r)
      return false;
    s = r->read(x, variable, &text, &err);
    mime = r->mime;
  }
  if (s == STATUS_OK)
    answer_text(x, uri, mime, text, &run);
  else
    read_failed(x, uri, &err);
  return true;
}

void method_resources_read(struct exchange *x) {
  struct str uri = json_str(x->in->params, "uri");
  struct str state;
  if (!uri.p)
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: uri is missing");
  else if (!input_check(x, &state))
    return;
  else if (!read_any(x, uri) && !(x->server->options.conformance && mcp_fixtures->read(x, uri)))
    not_found(x, uri);
}
