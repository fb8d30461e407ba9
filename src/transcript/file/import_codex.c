/* import_codex.c: converting lines of Codex rollouts to messages.
 *
 * A line is {timestamp, type, payload}. The first is of type session_meta; a forked session also contains the header of
 * its parent. Lines of type response_item are API items: messages, function calls and their outputs, joined by call_id.
 * Lines of type event_msg repeat them for display. Before September 2025 lines were bare items, and the first line a
 * header without a type. */
#include "base/os/fs.h"
#include "transcript/file/import_line.h"

/* Parts of a user message that Codex inserts. */
static const struct str injections[] = {STR_INIT("<environment_context>"),
                                        STR_INIT("<user_instructions>"),
                                        STR_INIT("# AGENTS.md instructions"),
                                        STR_INIT("<INSTRUCTIONS>"),
                                        STR_INIT("<permissions"),
                                        STR_INIT("<turn_aborted>"),
                                        STR_INIT("<skill>"),
                                        STR_INIT("<skills_"),
                                        STR_INIT("<collaboration_mode>"),
                                        STR_INIT("<subagent_notification>"),
                                        STR_INIT("<model_switch>"),
                                        STR_INIT("<personality_spec>"),
                                        STR_INIT("<apps_instructions>"),
                                        STR_INIT("<plugins_"),
                                        STR_INIT("<hook_prompt>"),
                                        {NULL, 0}};

static bool is_injected(struct str text) { return import_has_prefix(str_trim(text), injections); }

static bool is_one_of(struct str text, const char *const *names) {
  for (; *names; names++)
    if (str_is(text, *names))
      return true;
  return false;
}

static const char *const wrapped_types[] = {"session_meta", "response_item", "event_msg",
                                            "turn_context", "compacted",     NULL};
static const char *const bare_types[] = {
    "message",          "reasoning",        "function_call",           "function_call_output",
    "local_shell_call", "custom_tool_call", "custom_tool_call_output", NULL};

/* The header of the old format, which has no type. */
static bool is_old_header(yyjson_val *root) {
  return !json_str(root, "type").p && json_str(root, "id").p && json_str(root, "timestamp").p &&
         (yyjson_obj_get(root, "instructions") || yyjson_obj_get(root, "git"));
}

bool import_is_codex(yyjson_val *root) {
  struct str type = json_str(root, "type");
  if (yyjson_is_obj(yyjson_obj_get(root, "payload")))
    return is_one_of(type, wrapped_types);
  if (is_old_header(root) || json_str(root, "record_type").p)
    return true;
  return is_one_of(type, bare_types) && !yyjson_obj_get(root, "sessionId");
}

struct item {
  struct arena *a;
  struct import_file *file;
  struct import_line *out;
  struct str base;
  int64_t at;
};

static void add(struct item *it, struct message m, bool failed) {
  m.at = it->at;
  m.extra = failed ? STR("{\"from\":\"codex\",\"error\":true}") : STR("{\"from\":\"codex\"}");
  import_add(it->a, it->file, it->out, m);
}

/* ---- the session ---- */

/* "git@github.com:team/parser.git" is "parser". */
static struct str repository_name(struct str url) {
  while (str_ends(url, STR("/")))
    url.n--;
  struct str name = fs_basename(url);
  for (size_t i = name.n; i > 0; i--)
    if (name.p[i - 1] == ':') {
      name = str_slice(name, i, name.n);
      break;
    }
  if (str_ends(name, STR(".git")))
    name.n -= 4;
  return str_is(name, ".") || str_is(name, "..") ? STR_NONE : name;
}

static void read_header(struct import_file *file, yyjson_val *header) {
  yyjson_val *git = yyjson_obj_get(header, "git");
  struct str id = json_str(header, "id"), name = repository_name(json_str(git, "repository_url"));
  if (file->header)
    return;
  file->header = true;
  id = id.n ? id : json_str(header, "session_id");
  if (id.n)
    file->session = arena_dup(file->arena, id);
  if (name.n)
    file->repository = arena_dup(file->arena, name);
  file->versioned |= json_str(git, "commit_hash").n || json_str(git, "branch").n || name.n;
  import_note_cwd(file, json_str(header, "cwd"));
}

/* Old headers do not have the folder; the first message does: "<cwd>/home/x</cwd>". */
static void read_environment(struct import_file *file, struct str text) {
  static const struct str tags[][2] = {{STR_INIT("<cwd>"), STR_INIT("</cwd>")},
                                       {STR_INIT("Current working directory: "), STR_INIT("\n")}};
  for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
    size_t from = str_find(text, tags[i][0], 0);
    size_t to = from == SIZE_MAX ? SIZE_MAX : str_find(text, tags[i][1], from + tags[i][0].n);
    if (to != SIZE_MAX)
      import_note_cwd(file, str_trim(str_slice(text, from + tags[i][0].n, to)));
  }
}

static void note_environment(struct import_file *file, yyjson_val *content) {
  yyjson_val *part;
  yyjson_arr_iter it = yyjson_arr_iter_with(content);
  while (!file->cwd.p && (part = yyjson_arr_iter_next(&it)))
    if (str_starts(str_trim(json_str(part, "text")), STR("<environment_context>")))
      read_environment(file, json_str(part, "text"));
}

/* ---- messages ---- */

static void add_message(struct item *it, yyjson_val *item) {
  struct str role = json_str(item, "role"), id = json_str(item, "id");
  yyjson_val *content = yyjson_obj_get(item, "content");
  bool user = str_is(role, "user");
  note_environment(it->file, content);
  if (!user && !str_is(role, "assistant")) {
    import_skipped(it->file, IMPORT_CONTEXT); /* "developer", "system" */
    return;
  }
  int64_t context = it->file->skipped[IMPORT_CONTEXT];
  struct str text = import_content(it->a, it->file, content, user ? is_injected : NULL);
  if (str_empty(str_trim(text)) && it->file->skipped[IMPORT_CONTEXT] > context)
    return; /* already counted */
  add(it,
      (struct message){.id = id.n ? id : it->base, .role = user ? SPEAKER_USER : SPEAKER_ASSISTANT, .content = text},
      false);
}

/* Arguments are a JSON value, or a string that contains one. */
static struct str arguments_json(struct arena *a, yyjson_val *value) {
  yyjson_val *inner;
  struct error ignored;
  if (!value)
    return STR("{}");
  if (yyjson_is_str(value) && json_read(a, json_val_str(value), &inner, &ignored) == STATUS_OK &&
      (yyjson_is_obj(inner) || yyjson_is_arr(inner)))
    return json_write_val(a, inner);
  return json_write_val(a, value);
}

static void add_call(struct item *it, yyjson_val *item, struct str name, yyjson_val *input) {
  struct str id = json_str(item, "call_id"), space = json_str(item, "namespace");
  id = id.n ? id : json_str(item, "id");
  id = id.n ? id : it->base;
  name = name.n ? name : STR("tool");
  if (space.n) /* MCP server: "mcp__github" */
    name = arena_printf(it->a, "%.*s%s%.*s", STR_ARG(space), str_ends(space, STR("__")) ? "" : "__", STR_ARG(name));
  import_note_call(it->file, id, name);
  add(it, (struct message){.id = id, .role = SPEAKER_TOOL_CALL, .name = name, .input = arguments_json(it->a, input)},
      false);
}

/* Outputs of commands are often a string with {"output": ..., "metadata": {"exit_code": ...}}. */
static struct str unwrap(struct arena *a, struct str text, bool *failed) {
  yyjson_val *inner;
  struct error ignored;
  if (!str_starts(text, STR("{\"output\":")) || json_read(a, text, &inner, &ignored) != STATUS_OK ||
      !json_str(inner, "output").p)
    return text;
  *failed |= json_int(yyjson_obj_get(inner, "metadata"), "exit_code", 0) != 0;
  return json_str(inner, "output");
}

static void add_output(struct item *it, yyjson_val *item) {
  struct str id = json_str(item, "call_id");
  yyjson_val *output = yyjson_obj_get(item, "output");
  bool failed = yyjson_is_obj(output) && !json_bool(output, "success", true);
  if (!output)
    output = yyjson_obj_get(item, "tools"); /* result of a tool search */
  struct str text = unwrap(it->a, import_content(it->a, it->file, output, NULL), &failed);
  id = id.n ? id : it->base;
  add(it,
      (struct message){.id = id, .role = SPEAKER_TOOL_RESULT, .name = import_call_name(it->file, id), .content = text},
      failed);
}

/* Calls identified by their type. */
static bool add_named_call(struct item *it, struct str type, yyjson_val *item) {
  static const struct {
    const char *type, *name, *input;
  } calls[] = {{"local_shell_call", "local_shell", "action"},
               {"web_search_call", "web_search", "action"},
               {"tool_search_call", "tool_search", "arguments"},
               {"image_generation_call", "image_generation", "revised_prompt"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++)
    if (str_is(type, calls[i].type)) {
      add_call(it, item, str_from(calls[i].name), yyjson_obj_get(item, calls[i].input));
      return true;
    }
  return false;
}

static void add_item(struct item *it, yyjson_val *item) {
  struct str type = json_str(item, "type");
  if (str_is(type, "message"))
    add_message(it, item);
  else if (str_is(type, "function_call"))
    add_call(it, item, json_str(item, "name"), yyjson_obj_get(item, "arguments"));
  else if (str_is(type, "custom_tool_call"))
    add_call(it, item, json_str(item, "name"), yyjson_obj_get(item, "input"));
  else if (str_ends(type, STR("_output")))
    add_output(it, item);
  else if (str_is(type, "reasoning"))
    import_skipped(it->file, IMPORT_THINKING);
  else if (str_is(type, "ghost_snapshot") || str_starts(type, STR("compaction")) || str_is(type, "context_compaction"))
    import_skipped(it->file, IMPORT_BOOKKEEPING);
  else if (!add_named_call(it, type, item))
    import_skipped(it->file, IMPORT_STRANGE);
}

static void skip_event(struct import_file *file, struct str type) {
  if (str_is(type, "user_message") || str_is(type, "agent_message"))
    import_skipped(file, IMPORT_REPEATED);
  else
    import_skipped(file, str_starts(type, STR("agent_reasoning")) ? IMPORT_THINKING : IMPORT_BOOKKEEPING);
}

/* Encrypted summaries have no message. */
static void add_summary(struct item *it, yyjson_val *payload) {
  struct str text = json_str(payload, "message");
  if (str_empty(text))
    import_skipped(it->file, IMPORT_BOOKKEEPING);
  else
    add(it, (struct message){.id = it->base, .role = SPEAKER_SUMMARY, .content = text}, false);
}

static void read_wrapped(struct item *it, struct str type, yyjson_val *payload) {
  if (str_is(type, "response_item")) {
    add_item(it, payload);
  } else if (str_is(type, "compacted")) {
    add_summary(it, payload);
  } else if (str_is(type, "event_msg")) {
    skip_event(it->file, json_str(payload, "type"));
  } else {
    if (str_is(type, "session_meta"))
      read_header(it->file, payload);
    if (str_is(type, "turn_context"))
      import_note_cwd(it->file, json_str(payload, "cwd"));
    import_skipped(it->file, is_one_of(type, wrapped_types) ? IMPORT_BOOKKEEPING : IMPORT_STRANGE);
  }
}

void import_codex(struct arena *a, struct import_file *file, yyjson_val *root, struct str base,
                  struct import_line *out) {
  struct item it = {.a = a, .file = file, .out = out, .base = base};
  yyjson_val *payload = yyjson_obj_get(root, "payload");
  it.at = import_time(file, root);
  if (yyjson_is_obj(payload)) {
    read_wrapped(&it, json_str(root, "type"), payload);
  } else if (is_old_header(root)) {
    read_header(file, root);
    import_skipped(file, IMPORT_BOOKKEEPING);
  } else if (json_str(root, "record_type").p) {
    import_skipped(file, IMPORT_BOOKKEEPING);
  } else {
    add_item(&it, root);
  }
  out->session = file->session;
  out->cwd = file->cwd;
}
