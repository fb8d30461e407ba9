/* openhive.c: profile with the tools of openhive: memories by key, superseded with a reason, and the vault of a team.
 */
#include "core/memory/types.h"
#include "core/text/text.h"
#include "mcp/profiles/foreign.h"
#include "mcp/profiles/profiles.h"

/* ---- types ---- */

/* openhive's types, a subset of Cairn's. It has the same aliases, except that "note" means a decision. */
static const char *const type_names[] = {"identity", "lesson", "decision", "context", "reference", "historical"};

static const struct mem_type *find_type(struct str given) {
  struct str name = str_trim(given);
  return type_find(str_is(name, "note") ? STR("decision") : str_empty(name) ? STR("context") : name);
}

static enum status refuse_type(struct tool_run *run, struct str given) {
  error_set(run->err, STATUS_USAGE, "Unknown memory type: %.*s", STR_ARG(given));
  return error_fix(run->err, "use one of: identity, lesson, decision, context, reference, historical");
}

static enum status resolve_type(struct tool_run *run, struct str given, struct str *ret_type) {
  const struct mem_type *t = find_type(given);
  for (size_t i = 0; t && i < ARRAY_LEN(type_names); i++)
    if (strcmp(t->name, type_names[i]) == 0) {
      *ret_type = str_from(t->name);
      return STATUS_OK;
    }
  return refuse_type(run, given);
}

/* ---- entries ---- */

/* A memory without a key is named by its id, which is accepted wherever a key is. */
static void put_key(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *memory) {
  struct str key = result_text(memory, "key");
  add_text(run, into, "key", key.p ? key : arena_printf(run->arena, "%lld", (long long)result_int(memory, "id")));
}

static void put_team(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *memory UNUSED) {
  add_text(run, into, "team_name", run->caller.team);
}

static void put_superseded(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *memory) {
  static const struct shape rows[] = {NULLABLE("supersedes_id=id supersede_reason=reason"), {0}};
  yyjson_mut_val *l, *former = NULL;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "links"), i, n, l) {
    if (str_is(result_text(l, "rel"), "supersedes") && str_is(result_text(l, "direction"), "out"))
      former = l;
  }
  shape_add(run, into, former, rows);
}

static const struct shape entry_shape[] = {
    COPY("id"),
    CALL(put_team),
    CALL(put_key),
    COPY("content=body type untrusted"),
    IS("is_active=state", "active"),
    CALL(put_superseded),
    NULLABLE("updated_by=source"),
    COPY("created_at updated_at=created_at"), /* a text never changes after its creation */
    {0},
};
static const struct shape saved_shape[] = {SUCCESS, OBJECT_OF("entry", entry_shape), {0}};

static enum status done(struct tool_run *run, yyjson_mut_val *result) {
  answer_json(run, result, result);
  return STATUS_OK;
}

/* ---- memory_save ---- */

static enum status refuse_existing(struct tool_run *run, yyjson_mut_val *memory) {
  struct str key = result_text(memory, "key"), type = result_text(memory, "type"), body = result_text(memory, "body");
  error_set(run->err, STATUS_CONFLICT,
            "Active entry exists for key \"%.*s\", supersede_reason required. Current entry: [%.*s] %.*s", STR_ARG(key),
            STR_ARG(type), STR_ARG(body));
  return error_fix(run->err, "say in supersede_reason why the current entry was wrong or is outdated");
}

/* The active memory of the caller's project with this key; with `numbers`, also one without a key by its number. NULL
 * if there is none. */
static enum status active_entry(struct tool_run *run, struct str key, bool numbers, yyjson_mut_val **ret_memory) {
  struct error *outer = run->err, ignored;
  yyjson_mut_val *m = NULL;
  int64_t number;
  run->err = &ignored;
  enum status s = run_get(run, key, &m);
  run->err = outer;
  *ret_memory = NULL;
  if (s == STATUS_NOT_FOUND)
    return STATUS_OK;
  if (s != STATUS_OK) {
    *run->err = ignored;
    return s;
  }
  struct str own = result_text(m, "key");
  bool named = own.p ? str_eq(own, key) : numbers && str_int64(key, &number);
  if (named && str_is(result_text(m, "state"), "active") &&
      str_eq(result_text(m, "project"), run->caller.project.p ? run->caller.project : STR("")))
    *ret_memory = m;
  return STATUS_OK;
}

static enum status run_save(struct tool_run *run) {
  struct str key = json_str(run->args, "key"), content = json_str(run->args, "content"), type;
  struct str reason = str_trim(json_str(run->args, "supersede_reason"));
  yyjson_mut_val *held, *args = new_args(run), *stored, *memory;
  TRY(resolve_type(run, json_str(run->args, "type"), &type));
  TRY(active_entry(run, key, false, &held));
  if (held && str_empty(reason))
    return refuse_existing(run, held);
  add_text(run, args, "text", content);
  add_headline(run, args, content, text_has_letter(key) ? key : type);
  add_text(run, args, "key", key);
  add_text(run, args, "type", type);
  add_bool(run, args, "keep_both", true); /* similar text under another key is another entry */
  if (held)
    add_text(run, args, "supersedes", result_text(held, "uid")); /* a new entry even if only the type differs */
  if (reason.n)
    add_text(run, args, "reason", reason);
  TRY(tool_op(run, "remember", args, &stored));
  TRY(run_get(run, result_text(stored, "uid"), &memory));
  yyjson_mut_val *r = shape_object(run, memory, saved_shape);
  add_text(run, r, "warning", ideas_warning(run, stored));
  return done(run, r);
}

/* ---- the other memory tools ---- */

static enum status run_delete(struct tool_run *run) {
  yyjson_mut_val *held, *args = new_args(run), *result;
  TRY(active_entry(run, json_str(run->args, "key"), true, &held));
  if (held) {
    yyjson_mut_val *ids = json_put_arr(run->doc, args, "ids");
    json_add_str(run->doc, ids, result_text(held, "uid"));
    add_text(run, args, "reason", STR("deleted by memory_delete"));
    TRY(tool_op(run, "forget", args, &result));
  }
  yyjson_mut_val *r = yyjson_mut_obj(run->doc);
  add_bool(run, r, "success", true);
  add_bool(run, r, "deleted", held != NULL);
  return done(run, r);
}

static enum status prepare_search(struct tool_run *run, yyjson_mut_val *args) {
  enum { MAX_RESULTS = 100, DEFAULT_RESULTS = 5 };
  int64_t n = json_int(run->args, "max_results", DEFAULT_RESULTS);
  yyjson_mut_obj_remove_key(args, "limit");
  add_bool(run, args, "include_superseded", true);
  add_text(run, args, "detail", STR("chunk"));
  add_int(run, args, "limit", n < 1 ? DEFAULT_RESULTS : n > MAX_RESULTS ? MAX_RESULTS : n);
  return STATUS_OK;
}

static struct str mode_of(yyjson_mut_val *from, const char *name) {
  return str_is(result_text(from, name), "keyword") ? STR("keyword") : STR("hybrid");
}

static void put_hit_state(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *memory) {
  add_bool(run, into, "is_active", !str_is(result_text(memory, "state"), "superseded"));
  add_text(run, into, "source", mode_of(memory, "source"));
}

static void put_search_mode(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *result) {
  add_text(run, into, "search_mode", mode_of(result, "search_mode"));
}

static const struct shape search_shape[] = {
    EACH("results", CALL(put_key), COPY("snippet untrusted score type"), CALL(put_hit_state)),
    CALL(put_search_mode),
    COPY("degraded"),
    {0}};

static enum status run_memories(struct tool_run *run) {
  struct str type = json_str(run->args, "type");
  yyjson_mut_val *args = new_args(run), *list, *r = yyjson_mut_obj(run->doc), *entries;
  const struct mem_type *t = find_type(type); /* any of Cairn's: other interfaces store more types */
  if (!t)
    return refuse_type(run, type);
  if (!str_empty(type))
    add_text(run, args, "type", str_from(t->name));
  TRY(run_list(run, args, NULL, NULL, SIZE_MAX, &list));
  entries = shape_list(run, list, entry_shape);
  yyjson_mut_obj_add_val(run->doc, r, "entries", entries);
  answer_json(run, r, entries);
  return STATUS_OK;
}

/* ---- the vault ---- */

static const struct shape value_shape[] = {COPY("key value handle isSecret=is_secret updated_at"), {0}};
static const struct shape vault_set_shape[] = {SUCCESS, OBJECT_OF("entry", value_shape), {0}};
static const struct shape vault_get_shape[] = {SUCCESS, COPY("value"), {0}};
static const struct shape vault_list_shape[] = {EACH_OF("entries", value_shape), {0}};

static enum status run_vault_delete(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run), *ignored, *r = yyjson_mut_obj(run->doc);
  add_text(run, args, "key", json_str(run->args, "key"));
  enum status s = tool_op(run, "vault delete", args, &ignored);
  if (s != STATUS_OK && s != STATUS_NOT_FOUND)
    return s;
  add_bool(run, r, "success", true);
  add_bool(run, r, "deleted", s == STATUS_OK);
  return done(run, r);
}

/* ---- the table ---- */

static void format_error(struct tool_run *run, const struct error *err) {
  yyjson_mut_val *r = yyjson_mut_obj(run->doc);
  struct str fix = tool_rewrite_advice(run, str_from(err->fix));
  add_bool(run, r, "success", false);
  add_text(run, r, "error", str_from(err->message));
  if (fix.n)
    add_text(run, r, "fix", fix);
  answer_json(run, r, r);
}

#define KEY(help_) {.name = "key", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .help = help_}
static const struct tool_arg save_args[] = {
    KEY("short identifier, such as auth-approach"),
    {.name = "content", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .to = "text", .help = "what to remember"},
    {.name = "type",
     .form = TOOL_TEXT,
     .missing = "\"context\"",
     .help = "identity, lesson, decision, context, reference, historical, or an alias"},
    {.name = "supersede_reason",
     .form = TOOL_TEXT,
     .help = "why the current entry was wrong or is outdated; required when the key is in use"},
    {0},
};
static const struct tool_arg key_args[] = {KEY("key of the entry"), {0}};
static const struct tool_arg search_args[] = {
    {.name = "query", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .help = "any words or question"},
    {.name = "max_results", .form = TOOL_INT, .to = "limit", .missing = "5"},
    {0},
};
static const struct tool_arg list_args[] = {{.name = "type", .form = TOOL_TEXT, .help = "only this type"}, {0}};
static const struct tool_arg vault_set_args[] = {
    KEY("name of the value"),
    {.name = "value", .form = TOOL_TEXT, .flags = ARG_REQUIRED},
    {.name = "is_secret", .form = TOOL_BOOL, .to = "secret", .help = "encrypt it; agents see only its handle"},
    {0},
};
static const struct tool_arg vault_list_args[] = {
    {.name = "prefix", .form = TOOL_TEXT, .help = "only keys with this prefix"}, {0}};

static const struct tool tools[] = {
    {.name = "memory_save",
     .title = "Save a memory",
     .description = "Save a memory under a key. A key in use needs supersede_reason; the former entry stays in the "
                    "history.",
     .op = "remember",
     .flags = TOOL_ALWAYS,
     .args = save_args,
     .run = run_save},
    {.name = "memory_delete",
     .title = "Delete a memory",
     .description = "Forget a memory: search no longer finds it.",
     .flags = TOOL_DESTROYS | TOOL_IDEMPOTENT,
     .args = key_args,
     .run = run_delete},
    {.name = "memory_search",
     .title = "Search memories",
     .description = "Search by meaning and words. Superseded entries are found too, with is_active false.",
     .op = "search",
     .flags = TOOL_READS | TOOL_ALWAYS,
     .args = search_args,
     .prepare = prepare_search,
     .shape = search_shape,
     .shown = ""},
    {.name = "memory_list",
     .title = "List memories",
     .description = "List all active entries, newest first.",
     .op = "list",
     .flags = TOOL_READS,
     .args = list_args,
     .run = run_memories},
    {.name = "vault_set",
     .title = "Set a value",
     .description =
         "Store a named value: counters, flags, progress, caches; with is_secret an encrypted one. Never searched.",
     .op = "vault set",
     .args = vault_set_args,
     .shape = vault_set_shape,
     .shown = ""},
    {.name = "vault_get",
     .title = "Get a value",
     .description = "Read a named value; a secret only when a person has granted it.",
     .op = "vault get",
     .flags = TOOL_READS | TOOL_EXACT,
     .args = key_args,
     .fixed = "\"reveal\":true",
     .shape = vault_get_shape,
     .shown = ""},
    {.name = "vault_list",
     .title = "List values",
     .description = "List the named values of the team.",
     .op = "vault list",
     .flags = TOOL_READS | TOOL_EXACT,
     .args = vault_list_args,
     .shape = vault_list_shape,
     .shown = "entries"},
    {.name = "vault_delete",
     .title = "Delete a value",
     .description = "Remove a named value.",
     .op = "vault delete",
     .flags = TOOL_DESTROYS,
     .args = key_args,
     .run = run_vault_delete},
    {0},
};

const struct profile profile_openhive = {
    .name = "openhive",
    .title = "Cairn with the tools of openhive",
    .instructions =
        "Memory of the team. Search before you decide; save what was learned under a key, one idea each. To "
        "change an entry, save its key again with supersede_reason. Counters, progress and caches belong in "
        "the vault, not in memory; so do secrets, with is_secret. Refer to a secret by its handle, vault:KEY.",
    .tools = tools,
    .foreign = true,
    .budget = -1,
    .error = format_error,
};
