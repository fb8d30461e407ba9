/* graph.c: profile with the nine tools of the official memory server, on the knowledge graph in the memories. */
#include "mcp/profiles/foreign.h"
#include "mcp/profiles/profiles.h"

/* ---- calls ---- */

/* The objects of an argument as lines of JSON; `type` is added to each unless it is NULL. */
static yyjson_mut_val *lines_from(struct tool_run *run, const char *name, const char *type) {
  yyjson_mut_val *args = new_args(run), *list = json_put_arr(run->doc, args, "lines");
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(run->args, name), i, n, v) {
    yyjson_mut_val *line = yyjson_val_mut_copy(run->doc, v);
    if (type)
      yyjson_mut_obj_put(line, yyjson_mut_str(run->doc, "type"), yyjson_mut_str(run->doc, type));
    json_add_str(run->doc, list, json_write(run->arena, line, false));
  }
  return args;
}

/* Answers with one member of the operation's result. */
static enum status run_lines(struct tool_run *run, const char *op, yyjson_mut_val *args, const char *member) {
  yyjson_mut_val *result, *answer = yyjson_mut_obj(run->doc);
  TRY(tool_op(run, op, args, &result));
  result_copy(run, answer, member, result, member);
  answer_json(run, answer, yyjson_mut_obj_get(answer, member));
  return STATUS_OK;
}

static enum status create_entities(struct tool_run *run) {
  return run_lines(run, "graph create", lines_from(run, "entities", "entity"), "entities");
}

static enum status create_relations(struct tool_run *run) {
  return run_lines(run, "graph create", lines_from(run, "relations", "relation"), "relations");
}

static enum status add_observations(struct tool_run *run) {
  return run_lines(run, "graph observe", lines_from(run, "observations", NULL), "results");
}

/* Like the official server, reports success even if nothing was there. */
static enum status run_delete(struct tool_run *run, yyjson_mut_val *args, const char *what) {
  yyjson_mut_val *result;
  TRY(tool_op(run, "graph delete", args, &result));
  run->text = arena_printf(run->arena, "%s deleted successfully", what);
  run->result = yyjson_mut_obj(run->doc);
  add_bool(run, run->result, "success", true);
  add_text(run, run->result, "message", run->text);
  return STATUS_OK;
}

static enum status delete_entities(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run);
  yyjson_mut_obj_add_val(run->doc, args, "entities",
                         yyjson_val_mut_copy(run->doc, yyjson_obj_get(run->args, "entityNames")));
  return run_delete(run, args, "Entities");
}

static enum status delete_observations(struct tool_run *run) {
  return run_delete(run, lines_from(run, "deletions", NULL), "Observations");
}

static enum status delete_relations(struct tool_run *run) {
  return run_delete(run, lines_from(run, "relations", NULL), "Relations");
}

/* Only the members of the official server, so a client which stores the answer again stores the same graph. */
static const struct shape graph_shape[] = {
    EACH("entities", COPY("name entityType observations")), EACH("relations", COPY("from to relationType")), {0}};

static enum status read_resource(struct tool_run *run, struct str variable, struct str *ret_text) {
  yyjson_mut_val *result;
  (void)variable;
  TRY(tool_op(run, "graph read", new_args(run), &result));
  *ret_text = pretty_json(run, shape_object(run, result, graph_shape));
  return STATUS_OK;
}

/* ---- the table ---- */

/* The official server has its own text, without advice, for an entity that does not exist. */
static void format_error(struct tool_run *run, const struct error *err) {
  struct error said = *err;
  struct str fix = tool_rewrite_advice(run, str_from(err->fix));
  error_fix(&said, "%.*s", STR_ARG(fix));
  run->text = arena_printf(run->arena, "%s", err->message);
  if (err->code != STATUS_NOT_FOUND && fix.n)
    run->text = arena_printf(run->arena, "%s\n%.*s", err->message, STR_ARG(fix));
  run->result = op_error_json(run->doc, &said);
}

#define TEXT_LIST "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define ENTITY                                                                                                         \
  "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"entityType\":{\"type\":\"string\"},"          \
  "\"observations\":" TEXT_LIST "},\"required\":[\"name\",\"entityType\",\"observations\"]}"
#define RELATION                                                                                                       \
  "{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"},\"to\":{\"type\":\"string\"},"                  \
  "\"relationType\":{\"type\":\"string\"}},\"required\":[\"from\",\"to\",\"relationType\"]}"
#define OBSERVED(list)                                                                                                 \
  "{\"type\":\"object\",\"properties\":{\"entityName\":{\"type\":\"string\"},\"" list "\":" TEXT_LIST                  \
  "},\"required\":[\"entityName\",\"" list "\"]}"
#define OUT(name, of)                                                                                                  \
  "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"array\",\"items\":" of "}},\"required\":[\"" name     \
  "\"]}"
#define OUT_GRAPH                                                                                                      \
  "{\"type\":\"object\",\"properties\":{\"entities\":{\"type\":\"array\",\"items\":" ENTITY                            \
  "},\"relations\":{\"type\":\"array\",\"items\":" RELATION "}},\"required\":[\"entities\",\"relations\"]}"
#define OUT_DONE                                                                                                       \
  "{\"type\":\"object\",\"properties\":{\"success\":{\"type\":\"boolean\"},\"message\":{\"type\":\"string\"}},"        \
  "\"required\":[\"success\",\"message\"]}"
#define OBJECTS(name_, schema_) {.name = name_, .form = TOOL_OBJECTS, .flags = ARG_REQUIRED, .schema = schema_}

static const struct tool_arg entities_args[] = {OBJECTS("entities", ENTITY), {0}};
static const struct tool_arg relations_args[] = {OBJECTS("relations", RELATION), {0}};
static const struct tool_arg observe_args[] = {OBJECTS("observations", OBSERVED("contents")), {0}};
static const struct tool_arg names_args[] = {
    {.name = "entityNames", .form = TOOL_LIST, .flags = ARG_REQUIRED, .help = "entities to delete"}, {0}};
static const struct tool_arg deletions_args[] = {OBJECTS("deletions", OBSERVED("observations")), {0}};
static const struct tool_arg no_args[] = {{0}};
static const struct tool_arg search_args[] = {
    {.name = "query",
     .form = TOOL_TEXT,
     .flags = ARG_REQUIRED,
     .help = "text to find in names, types and observations, by words or meaning"},
    {0}};
static const struct tool_arg open_args[] = {
    {.name = "names", .form = TOOL_LIST, .flags = ARG_REQUIRED, .help = "entities to show"}, {0}};

static const struct tool tools[] = {
    {.name = "create_entities",
     .title = "Create Entities",
     .description = "Add entities with their observations to the knowledge graph; existing names are not changed.",
     .args = entities_args,
     .output = OUT("entities", ENTITY),
     .run = create_entities},
    {.name = "create_relations",
     .title = "Create Relations",
     .description = "Add relations between entities, in active voice; existing ones are skipped.",
     .args = relations_args,
     .output = OUT("relations", RELATION),
     .run = create_relations},
    {.name = "add_observations",
     .title = "Add Observations",
     .description = "Add observations to entities; returns those that are new.",
     .args = observe_args,
     .output = OUT("results", OBSERVED("addedObservations")),
     .run = add_observations},
    {.name = "delete_entities",
     .title = "Delete Entities",
     .description = "Remove entities with their observations and relations.",
     .flags = TOOL_DESTROYS | TOOL_IDEMPOTENT,
     .args = names_args,
     .output = OUT_DONE,
     .run = delete_entities},
    {.name = "delete_observations",
     .title = "Delete Observations",
     .description = "Remove observations from entities.",
     .flags = TOOL_DESTROYS | TOOL_IDEMPOTENT,
     .args = deletions_args,
     .output = OUT_DONE,
     .run = delete_observations},
    {.name = "delete_relations",
     .title = "Delete Relations",
     .description = "Remove relations.",
     .flags = TOOL_DESTROYS | TOOL_IDEMPOTENT,
     .args = relations_args,
     .output = OUT_DONE,
     .run = delete_relations},
    {.name = "read_graph",
     .title = "Read Graph",
     .description = "Read the whole knowledge graph.",
     .op = "graph read",
     .flags = TOOL_READS | TOOL_IDEMPOTENT | TOOL_EXACT,
     .args = no_args,
     .output = OUT_GRAPH,
     .shape = graph_shape,
     .shown = ""},
    {.name = "search_nodes",
     .title = "Search Nodes",
     .description = "Find entities by text and by meaning.",
     .op = "graph read",
     .flags = TOOL_READS | TOOL_IDEMPOTENT | TOOL_EXACT,
     .args = search_args,
     .output = OUT_GRAPH,
     .shape = graph_shape,
     .shown = ""},
    {.name = "open_nodes",
     .title = "Open Nodes",
     .description = "Show entities by name, with their relations.",
     .op = "graph read",
     .flags = TOOL_READS | TOOL_IDEMPOTENT | TOOL_EXACT,
     .args = open_args,
     .output = OUT_GRAPH,
     .shape = graph_shape,
     .shown = ""},
    {0},
};

static const struct profile_resource resources[] = {
    {"memory://knowledge-graph", "knowledge-graph", "Knowledge Graph", "All entities and relations", "application/json",
     read_resource},
    {0},
};

const struct profile profile_graph = {
    .name = "graph",
    .title = "Cairn with the tools of the official memory server",
    .tools = tools,
    .resources = resources,
    .foreign = true,
    .budget = -1,
    .error = format_error,
};
