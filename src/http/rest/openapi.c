/* openapi.c: generates the OpenAPI 3.1 document of /api/v1 from the routes and the table of operations. */
#include <assert.h>

#include "http/rest/rest.h"
#include "op/run/results.h"

/* ---- schemas ---- */

/* Schemas not described by a table. */
static const char fixed_schemas[] =
    "{\"Problem\":{\"type\":\"object\",\"description\":\"RFC 9457\",\"required\":[\"type\",\"title\",\"status\"],"
    "\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},"
    "\"detail\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},\"step\":{\"type\":\"string\"},"
    "\"fix\":{\"type\":\"string\",\"description\":\"What to do next\"}}},"
    "\"MemorySearch\":{\"type\":\"object\",\"required\":[\"query\",\"searched\",\"empty_scopes\",\"results\"],"
    "\"properties\":{\"query\":{\"type\":\"string\"},"
    "\"searched\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"empty_scopes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"search_mode\":{\"type\":\"string\"},"
    "\"degraded\":{\"type\":\"string\"},"
    "\"results\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Hit\"}}}},"
    "\"Knowledge\":{\"type\":\"object\",\"required\":[\"project\",\"items\",\"groups\",\"count\"],\"properties\":{"
    "\"project\":{\"type\":\"string\"},"
    "\"items\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/KnowledgeItem\"}},"
    "\"groups\":{\"type\":\"object\",\"description\":\"Item ids by type\","
    "\"additionalProperties\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
    "\"count\":{\"type\":\"integer\"},\"next_cursor\":{\"type\":\"string\"}}},"
    "\"KnowledgeItem\":{\"type\":\"object\",\"required\":[\"id\",\"type\",\"title\",\"content\",\"citations\"],"
    "\"properties\":{\"id\":{\"type\":\"string\"},"
    "\"type\":{\"type\":\"string\",\"enum\":[\"entity\",\"claim\",\"task\",\"decision\",\"note\"]},"
    "\"title\":{\"type\":\"string\"},\"content\":{\"type\":\"string\"},\"sourceFile\":{\"type\":[\"string\",\"null\"]},"
    "\"lineNumber\":{\"type\":[\"integer\",\"null\"]},\"confidence\":{\"type\":[\"number\",\"null\"]},"
    "\"extractedAt\":{\"type\":\"string\",\"format\":\"date-time\"},\"status\":{\"type\":\"string\"},"
    "\"priority\":{\"type\":\"string\"},\"citations\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{\"memory\":{\"type\":\"integer\"},\"url\":{\"type\":\"string\"},\"source\":{\"type\":\"string\"},"
    "\"session\":{\"type\":\"string\"},\"at\":{\"type\":\"string\",\"format\":\"date-time\"}}}}}}}";

/* Headers shared by routes. */
static const char fixed_parameters[] =
    "{\"IfNoneMatch\":{\"name\":\"If-None-Match\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"An ETag: 304 if nothing has changed\"},"
    "\"IfMatch\":{\"name\":\"If-Match\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"The memory's ETag: 412 without effect if it has changed since\"},"
    "\"IdempotencyKey\":{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"The same call with this key returns the first result for 7 days; 422 with other arguments\"},"
    "\"Source\":{\"name\":\"X-Cairn-Source\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"Name of the writer (default: rest)\"},"
    "\"Project\":{\"name\":\"Cairn-Project\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"The project, unless an argument names one\"},"
    "\"Session\":{\"name\":\"Cairn-Session\",\"in\":\"header\",\"schema\":{\"type\":\"string\"},"
    "\"description\":\"Session id from boot\"}}";

struct writer {
  struct arena *a;
  yyjson_mut_doc *doc;
};

static yyjson_mut_val *parse(const struct writer *w, const char *json) {
  struct error err;
  yyjson_val *v = NULL;
  enum status s = json_read(w->a, str_from(json), &v, &err);
  assert(s == STATUS_OK); /* constants of this file */
  return s == STATUS_OK ? yyjson_val_mut_copy(w->doc, v) : NULL;
}

static void put_type(const struct writer *w, yyjson_mut_val *schema, const char *type) {
  json_put(w->doc, schema, "type", str_from(type));
}

static yyjson_mut_val *ref(const struct writer *w, const char *section, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj(w->doc);
  json_put(w->doc, v, "$ref", arena_printf(w->a, "#/components/%s/%s", section, name));
  return v;
}

/* Schema name of an operation's result. */
static const char *op_schema(const struct writer *w, const struct op *op) {
  return arena_printf(w->a, "%sResult", result_name(w->a, op->name).p).p;
}

static void put_choices(const struct writer *w, yyjson_mut_val *schema, const struct param *p) {
  if (!p->choices)
    return;
  /* If the operation validates the value itself, the choices are only examples. */
  yyjson_mut_val *list = json_put_arr(w->doc, schema, (p->flags & PARAM_OPEN) ? "examples" : "enum");
  for (const char *const *c = p->choices; *c; c++)
    json_add_str(w->doc, list, str_from(*c));
}

static void put_text_type(const struct writer *w, yyjson_mut_val *schema, const struct param *p, bool in_body) {
  if (in_body && rest_param_is_id(p)) {
    yyjson_mut_val *types = json_put_arr(w->doc, schema, "type");
    json_add_str(w->doc, types, STR("string"));
    json_add_str(w->doc, types, STR("integer"));
    return;
  }
  put_type(w, schema, "string");
  put_choices(w, schema, p);
}

static void put_schema(const struct writer *w, yyjson_mut_val *schema, const struct param *p, bool in_body) {
  static const char *const types[] = {"string", "integer", "number", "boolean", "array"};
  if (p->form == PARAM_TEXT) {
    put_text_type(w, schema, p, in_body);
    return;
  }
  assert(p->form < ARRAY_LEN(types));
  put_type(w, schema, types[p->form]);
  if (p->form == PARAM_LIST)
    put_text_type(w, json_put_obj(w->doc, schema, "items"), p, in_body);
}

/* Named shapes and the result of each operation, from the table of results. */
static void put_results(const struct writer *w, yyjson_mut_val *schemas) {
  static const struct result_style style = {.refs = "#/components/schemas/"};
  for (const struct shape *s = result_shapes; s->name; s++)
    yyjson_mut_obj_add_val(w->doc, schemas, result_name(w->a, s->name).p,
                           result_schema(w->a, w->doc, s->members, &style));
  EACH_OP(op)
    yyjson_mut_obj_add_val(w->doc, schemas, op_schema(w, op), result_schema(w->a, w->doc, op->result, &style));
}

/* ---- operations ---- */

static const struct op *op_of(const struct op_route *r) { return r->op ? op_find(str_from(r->op)) : NULL; }

static void put_variable(const struct writer *w, yyjson_mut_val *list, const struct op_route *r) {
  const char *open = strchr(r->path, '{'), *close = open ? strchr(open, '}') : NULL;
  if (!close)
    return;
  const struct op *op = op_of(r);
  const struct param *p = op && r->to ? op_param(op, str_from(r->to)) : NULL;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(w->doc, list);
  json_put(w->doc, v, "name", (struct str){open + 1, (size_t)(close - open - 1)});
  json_put(w->doc, v, "in", STR("path"));
  json_put_bool(w->doc, v, "required", true);
  json_put(w->doc, v, "description",
           !p                    ? STR("name of the project")
           : rest_param_is_id(p) ? STR("id, uid or key of the memory")
                                 : str_from(p->help));
  put_type(w, json_put_obj(w->doc, v, "schema"), p && p->form == PARAM_INT ? "integer" : "string");
}

static bool is_common(const struct param *p) { return p >= common_params && p < common_params + 3; }

static void put_queries(const struct writer *w, yyjson_mut_val *list, const struct op_route *r) {
  const struct param *p;
  for (size_t i = 0; (p = rest_param_at(r, i)) != NULL; i++) {
    if (rest_has_body(r) && !is_common(p))
      continue;
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(w->doc, list);
    json_put(w->doc, v, "name", str_from(p->name));
    json_put(w->doc, v, "in", STR("query"));
    if ((p->flags & PARAM_REQUIRED) && !rest_has_body(r))
      json_put_bool(w->doc, v, "required", true);
    json_put(w->doc, v, "description", str_from(p->help));
    put_schema(w, json_put_obj(w->doc, v, "schema"), p, false);
  }
}

static void put_parameters(const struct writer *w, yyjson_mut_val *operation, const struct op_route *r) {
  yyjson_mut_val *list = json_put_arr(w->doc, operation, "parameters");
  put_variable(w, list, r);
  put_queries(w, list, r);
  if (strcmp(r->method, "GET") == 0)
    yyjson_mut_arr_append(list, ref(w, "parameters", "IfNoneMatch"));
  if (r->flags & ROUTE_GUARDED)
    yyjson_mut_arr_append(list, ref(w, "parameters", "IfMatch"));
  if (rest_param(r, STR("idempotency_key")))
    yyjson_mut_arr_append(list, ref(w, "parameters", "IdempotencyKey"));
  if (op_of(r)) {
    yyjson_mut_arr_append(list, ref(w, "parameters", "Project"));
    yyjson_mut_arr_append(list, ref(w, "parameters", "Source"));
    yyjson_mut_arr_append(list, ref(w, "parameters", "Session"));
  }
}

static void put_body(const struct writer *w, yyjson_mut_val *operation, const struct op_route *r) {
  if (!rest_has_body(r))
    return;
  yyjson_mut_val *body = json_put_obj(w->doc, operation, "requestBody"), *content, *schema, *properties, *required;
  const struct param *p;
  content = json_put_obj(w->doc, body, "content");
  schema = json_put_obj(w->doc, json_put_obj(w->doc, content, "application/json"), "schema");
  put_type(w, schema, "object");
  json_put_bool(w->doc, schema, "additionalProperties", false);
  properties = json_put_obj(w->doc, schema, "properties");
  required = yyjson_mut_arr(w->doc);
  for (size_t i = 0; (p = rest_param_at(r, i)) != NULL; i++) {
    yyjson_mut_val *v = json_put_obj(w->doc, properties, p->name);
    put_schema(w, v, p, true);
    json_put(w->doc, v, "description", str_from(p->help));
    if (p->flags & PARAM_REQUIRED)
      json_add_str(w->doc, required, str_from(p->name));
  }
  if (yyjson_mut_arr_size(required) == 0)
    return;
  json_put_bool(w->doc, body, "required", true);
  yyjson_mut_obj_add_val(w->doc, schema, "required", required);
}

/* ---- responses ---- */

static const struct {
  int status;
  const char *text;
} problems[] = {
    {400, "Bad request: an unknown, missing or malformed argument, cursor or body"},
    {401, "Missing or invalid token"},
    {403, "Forbidden: a foreign Host or Origin, or a read-only store"},
    {404, "No such memory, task, skill, transaction or path"},
    {409, "A duplicate, or the store is not in the required state"},
    {412, "The memory has changed since it was read; nothing was done"},
    {413, "The body or a text is larger than the limit"},
    {415, "The body is not application/json"},
    {422, "The write gate refused the text; 'step' names the check"},
    {428, "A destructive call without confirmation"},
    {429, "Too many requests"},
    {500, "The server failed"},
    {503, "The store is locked, or a service is unavailable: retry after Retry-After"},
    {507, "The disk is full"},
};

static bool can_fail_with(const struct op_route *r, int status) {
  const struct op *op = op_of(r);
  bool writes = op && (op->flags & OP_WRITE);
  switch (status) {
  case 404:
    return strchr(r->path, '{') || writes;
  case 409:
    return op != NULL;
  case 422:
  case 507:
    return writes && strcmp(r->method, "GET") != 0;
  case 412:
    return (r->flags & ROUTE_GUARDED) != 0;
  case 413:
  case 415:
    return rest_has_body(r);
  case 428:
    return op && (op->flags & OP_DESTRUCTIVE);
  default:
    return true;
  }
}

static void put_header(const struct writer *w, yyjson_mut_val *headers, const char *name, const char *text) {
  yyjson_mut_val *h = json_put_obj(w->doc, headers, name);
  json_put(w->doc, h, "description", str_from(text));
  put_type(w, json_put_obj(w->doc, h, "schema"), "string");
}

static void put_success(const struct writer *w, yyjson_mut_val *responses, const struct op_route *r, bool created) {
  yyjson_mut_val *v = json_put_obj(w->doc, responses, created ? "201" : "200");
  bool get = strcmp(r->method, "GET") == 0, creates = r->flags & ROUTE_CREATES;
  json_put(w->doc, v, "description",
           created   ? STR("Stored")
           : creates ? STR("A duplicate: id is the existing memory")
                     : STR("Done"));
  if (get || r->page || r->flags) {
    yyjson_mut_val *headers = json_put_obj(w->doc, v, "headers");
    if (get || r->flags)
      put_header(w, headers, "ETag", "Hash of the content");
    if (creates)
      put_header(w, headers, "Location", "The memory");
    if (r->page)
      put_header(w, headers, "Link", "rel=next: the next page, if any");
  }
  yyjson_mut_val *content = json_put_obj(w->doc, json_put_obj(w->doc, v, "content"), "application/json");
  const struct op *op = op_of(r);
  yyjson_mut_val *any = yyjson_mut_obj(w->doc);
  put_type(w, any, "object");
  yyjson_mut_obj_add_val(w->doc, content, "schema",
                         op          ? ref(w, "schemas", op_schema(w, op))
                         : r->result ? ref(w, "schemas", r->result)
                                     : any);
}

static void put_responses(const struct writer *w, yyjson_mut_val *operation, const struct op_route *r) {
  yyjson_mut_val *responses = json_put_obj(w->doc, operation, "responses");
  put_success(w, responses, r, false);
  if (r->flags & ROUTE_CREATES)
    put_success(w, responses, r, true);
  if (strcmp(r->method, "GET") == 0)
    yyjson_mut_obj_add_val(w->doc, responses, "304", ref(w, "responses", "NotModified"));
  for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
    if (!can_fail_with(r, problems[i].status))
      continue;
    struct str code = arena_printf(w->a, "%d", problems[i].status);
    yyjson_mut_obj_add_val(w->doc, responses, code.p, ref(w, "responses", arena_printf(w->a, "Problem%s", code.p).p));
  }
}

static yyjson_mut_val *all_responses(const struct writer *w) {
  yyjson_mut_val *all = yyjson_mut_obj(w->doc);
  json_put(w->doc, json_put_obj(w->doc, all, "NotModified"), "description", STR("Not modified"));
  for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
    yyjson_mut_val *v = json_put_obj(w->doc, all, arena_printf(w->a, "Problem%d", problems[i].status).p);
    json_put(w->doc, v, "description", str_from(problems[i].text));
    if (problems[i].status == 503 || problems[i].status == 429)
      put_header(w, json_put_obj(w->doc, v, "headers"), "Retry-After", "Seconds to wait");
    yyjson_mut_val *content = json_put_obj(w->doc, json_put_obj(w->doc, v, "content"), "application/problem+json");
    yyjson_mut_obj_add_val(w->doc, content, "schema", ref(w, "schemas", "Problem"));
  }
  return all;
}

/* ---- the document ---- */

/* "getMemoriesIdHistory": unique, because method and path are. */
static struct str operation_id(const struct writer *w, const struct op_route *r) {
  struct buf b = BUF(w->a);
  bool upper = true;
  for (const char *c = r->method; *c; c++)
    buf_addc(&b, ascii_lower(*c));
  for (const char *c = r->path[0] ? r->path : "/index"; *c; c++) {
    if (ascii_alnum(*c))
      buf_addc(&b, upper && !ascii_upper(*c) && ascii_alpha(*c) ? (char)(*c - 32) : *c);
    upper = !ascii_alnum(*c);
  }
  return buf_str(&b);
}

static void put_operation(const struct writer *w, yyjson_mut_val *paths, const struct op_route *r) {
  const struct op *op = op_of(r);
  const char *path = arena_printf(w->a, REST_ROOT "%s", r->path).p;
  struct str method = arena_lower(w->a, str_from(r->method));
  yyjson_mut_val *item = yyjson_mut_obj_get(paths, path);
  if (!item)
    item = json_put_obj(w->doc, paths, path);
  assert(!yyjson_mut_obj_get(item, method.p));
  yyjson_mut_val *v = json_put_obj(w->doc, item, method.p);
  json_put(w->doc, v, "operationId", operation_id(w, r));
  json_put(w->doc, v, "summary", str_from(r->summary ? r->summary : op ? op->summary : ""));
  const char *help = r->help ? r->help : op ? op->help : "";
  if (help[0])
    json_put(w->doc, v, "description", str_from(help));
  json_add_str(w->doc, json_put_arr(w->doc, v, "tags"), str_from(op ? op->group : "Overview"));
  put_parameters(w, v, r);
  put_body(w, v, r);
  put_responses(w, v, r);
}

static yyjson_mut_val *all_paths(const struct writer *w) {
  yyjson_mut_val *paths = yyjson_mut_obj(w->doc);
  for (const struct op_route *r = rest_routes(); r->method; r++)
    put_operation(w, paths, r);
  EACH_OP(op) {
    struct op_route r;
    if (rest_generic_route(w->a, op, &r))
      put_operation(w, paths, &r);
  }
  return paths;
}

struct str openapi_document(struct arena *a) {
  struct writer w = {.a = a, .doc = json_new(a)};
  yyjson_mut_val *root = yyjson_mut_obj(w.doc);
  json_put(w.doc, root, "openapi", STR("3.1.0"));
  yyjson_mut_val *info = json_put_obj(w.doc, root, "info");
  json_put(w.doc, info, "title", STR("Cairn"));
  json_put(w.doc, info, "summary", STR("Durable memory for AI agents"));
  json_put(w.doc, info, "version", STR(CAIRN_VERSION));
  yyjson_mut_obj_add_val(w.doc, root, "paths", all_paths(&w));
  yyjson_mut_val *components = json_put_obj(w.doc, root, "components");
  yyjson_mut_val *schemas = parse(&w, fixed_schemas);
  put_results(&w, schemas);
  yyjson_mut_obj_add_val(w.doc, components, "schemas", schemas);
  yyjson_mut_obj_add_val(w.doc, components, "parameters", parse(&w, fixed_parameters));
  yyjson_mut_obj_add_val(w.doc, components, "responses", all_responses(&w));
  /* Local clients need no token unless the server requires one; remote clients do. */
  yyjson_mut_obj_add_val(w.doc, components, "securitySchemes",
                         parse(&w, "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
  yyjson_mut_obj_add_val(w.doc, root, "security", parse(&w, "[{},{\"token\":[]}]"));
  return json_write(a, root, false);
}
