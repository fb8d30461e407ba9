/* test_hints.c: every hint can be followed: each command that a message of the sources names, and all that a reply
 * proposes, is in every profile a call that its tool accepts, or a command that is marked as the user's. Stored text is
 * quoted as it is. */
#include <dirent.h>

#include "base/os/fs.h"
#include "mcp/tools/internal.h"
#include "op/run/advice.h"
#include "support/harness.h"
#include "tooling.h"

/* ---- messages of the sources ---- */

static struct strs messages;
static struct arena kept; /* of the messages; the arena of the calls is emptied after each */

/* Adds the text of a literal at *at, without its quotes, and moves past it. */
static void add_literal(struct buf *b, struct str text, size_t *at) {
  size_t i = *at + 1;
  for (; i < text.n && text.p[i] != '"'; i++) {
    if (text.p[i] == '\\' && i + 1 < text.n) {
      i++;
      buf_addc(b, text.p[i] == 'n' ? '\n' : text.p[i]);
    } else {
      buf_addc(b, text.p[i]);
    }
  }
  *at = i + 1;
}

static size_t skip_blank(struct str text, size_t at) {
  while (at < text.n && ascii_space(text.p[at]))
    at++;
  return at;
}

/* What printf would write: 1, then 2 for other numbers, or a word that is a kind and a type. */
static struct str filled(struct str format) {
  struct buf b = BUF(&kept);
  const char *number = "1";
  for (size_t i = 0; i < format.n; i++) {
    if (format.p[i] != '%') {
      buf_addc(&b, format.p[i]);
      continue;
    }
    for (i++; i < format.n && !strchr("sdiuzxfg%", format.p[i]); i++)
      ;
    if (i < format.n && format.p[i] == 'z')
      i++;
    char form = i < format.n ? format.p[i] : 0;
    buf_adds(&b, form == 's' ? "fact" : form == '%' ? "%" : number);
    if (form != 's' && form != '%')
      number = "2";
  }
  return buf_str(&b);
}

static bool is_wanted(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

/* Collects the literals that contain `part`. */
static void collect_file(const char *path, const char *part) {
  struct error err;
  struct str text;
  CHECK_OK(fs_read(&kept, path, 1 << 20, &text, &err), &err);
  for (size_t i = 0; i < text.n;) {
    if (str_starts(str_slice(text, i, text.n), STR("/*")))
      i = str_find(text, STR("*/"), i) + 2;
    else if (text.p[i] == '\'')
      i += text.p[i + 1] == '\\' ? 4 : 3;
    else if (text.p[i] != '"')
      i++;
    else {
      struct buf b = BUF(&kept);
      for (; i < text.n && text.p[i] == '"'; i = skip_blank(text, i))
        add_literal(&b, text, &i);
      if (is_wanted(buf_str(&b), part))
        strs_push(&kept, &messages, filled(buf_str(&b)));
    }
  }
}

/* Not the table of operations: its examples are for the command line. */
static void collect_folder(const char *folder, const char *part) {
  DIR *dir = opendir(folder);
  CHECK(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    const char *path = arena_printf(&kept, "%s/%s", folder, e->d_name).p;
    if (e->d_type == DT_DIR && e->d_name[0] != '.' && strcmp(e->d_name, "table") != 0)
      collect_folder(path, part);
    else if (str_ends(str_from(e->d_name), STR(".c")))
      collect_file(path, part);
  }
  closedir(dir);
}

static void collect_messages(void) {
  static const char *const layers[] = {"core", "store", "file", "transcript", "op"};
  for (size_t i = 0; i < ARRAY_LEN(layers); i++)
    collect_folder(arena_printf(&kept, "%s/src/%s", CAIRN_SOURCE_DIR, layers[i]).p, "cairn ");
  CHECK(messages.n > 100);
}

/* ---- calls in a text ---- */

struct call {
  const struct tool *tool;
  yyjson_val *args;
};
struct calls {
  struct call *v;
  size_t n, cap;
};

/* The JSON object that the text begins with, or an absent text. */
static struct str leading_object(struct str text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.n; i++) {
    if (quoted && text.p[i] == '\\')
      i++;
    else if (text.p[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text.p[i] == '{' || text.p[i] == '}')) {
      depth += text.p[i] == '{' ? 1 : -1;
      if (depth == 0)
        return str_slice(text, 0, i + 1);
    }
  }
  return STR_NONE;
}

static struct calls calls_in(const struct profile *profile, struct str text) {
  struct calls found = {0};
  for (const struct tool *t = profile->tools; t->name; t++) {
    struct str start = arena_printf(&tooling_arena, "%s {", t->name);
    for (size_t at = str_find(text, start, 0); at != SIZE_MAX; at = str_find(text, start, at + 1)) {
      if (at > 0 && (ascii_alnum(text.p[at - 1]) || text.p[at - 1] == '_'))
        continue;
      struct call c = {.tool = t};
      struct error err;
      struct str json = leading_object(str_slice(text, at + start.n - 1, text.n));
      CHECK_OK(json_read(&tooling_arena, json, &c.args, &err), &err);
      list_push(&tooling_arena, &found, c);
    }
  }
  return found;
}

static bool is_placeholder(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!ascii_upper(s.p[i]) && s.p[i] != '_')
      return false;
  return s.n > 1;
}

/* What an agent would put in place of a placeholder. */
static yyjson_mut_val *value_for(yyjson_mut_doc *doc, yyjson_val *args, const char *name) {
  static const struct {
    const char *part, *value;
  } values[] = {{"severity", "pattern"}, {"kind", "fact"}, {"priority", "high"},  {"decision", "will_execute"},
                {"rel", "relates"},      {"key", "tea"},   {"direction", "up"},   {"status", "open"},
                {"path", "/memories/a"}, {"type", "fact"}, {"state", "archived"}, {"role", "user"},
                {"session", "s-1"}};
  for (size_t i = 0; i < ARRAY_LEN(values); i++)
    if (strstr(name, values[i].part))
      return yyjson_mut_str(doc, values[i].value);
  if (strcmp(name, "name") == 0)
    return yyjson_mut_str(doc, "pruning.tool_results");
  if (strcmp(name, "value") == 0)
    return yyjson_mut_str(doc, str_is(json_str(args, "name"), "embedder")        ? "hash-v1"
                               : str_is(json_str(args, "name"), "embedder.file") ? "/model"
                                                                                 : "2000");
  if (strcmp(name, "to") == 0)
    return yyjson_mut_int(doc, 2);
  bool is_id = strcmp(name, "id") == 0 || strstr(name, "_id") || strcmp(name, "by") == 0;
  return is_id ? yyjson_mut_int(doc, 1) : yyjson_mut_str(doc, "Tea is served at four in the garden");
}

static yyjson_mut_val *filled_in(yyjson_mut_doc *doc, yyjson_val *obj) {
  yyjson_mut_val *out = yyjson_mut_obj(doc);
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(obj, i, n, key, v) {
    yyjson_mut_val *value = yyjson_is_obj(v)                  ? filled_in(doc, v)
                            : is_placeholder(json_val_str(v)) ? value_for(doc, obj, yyjson_get_str(key))
                                                              : yyjson_val_mut_copy(doc, v);
    yyjson_mut_obj_put(out, yyjson_val_mut_copy(doc, key), value);
  }
  return out;
}

/* ---- running them ---- */

static struct tool_run run;
static struct buf wrong; /* all of them, so that one run finds them */

/* True if a call that a message proposes does not work: it is invalid or always refused. The memory may be missing,
 * though, or the write refused as a duplicate, unless the call has no arguments that could be at fault. */
static bool is_useless(enum status s, const struct call *c) {
  if (s == STATUS_OK && !run.is_error)
    return false;
  enum status code = s == STATUS_OK ? tooling_error.code : s;
  bool is_empty = yyjson_obj_size(c->args) == 0;
  return code == STATUS_USAGE || code == STATUS_DENIED || (is_empty && code == STATUS_REFUSED);
}

/* A value that a former call has stored as a secret could not be replaced. */
static void forget_secret(struct engine *engine) {
  struct str trust = tooling_trust;
  struct error before = tooling_error;
  tooling_trust = STR("user");
  (void)!tooling_call(&run, profile_find(STR("full")), engine, "memory_vault_delete", "{\"key\":\"tea\"}");
  tooling_trust = trust;
  tooling_error = before;
  run.confirmed = false;
}

static void check_call(const struct profile *profile, struct engine *engine, struct str message, const struct call *c) {
  yyjson_mut_doc *doc = json_new(&tooling_arena);
  struct str json = json_write(&tooling_arena, filled_in(doc, c->args), false);
  test_note("%s: %s %.*s, from: %.*s", profile->name, c->tool->name, STR_ARG(json), STR_ARG(message));
  CHECK(!(c->tool->flags & TOOL_HIDDEN));
  tooling_error = (struct error){0};
  run.confirmed = false;
  forget_secret(engine);
  enum status s = tooling_call(&run, profile, engine, c->tool->name, json.p);
  if (is_useless(s, c))
    buf_addf(&wrong, "\n%s: %s %.*s: %s (from: %.*s)", profile->name, c->tool->name, STR_ARG(json),
             tooling_error.message, STR_ARG(message));
}

/* A command that is left is quoted and marked. */
static void check_marks(const struct profile *profile, struct str text) {
  static const struct str mark = STR_INIT("(a command for the user)");
  test_note("%s: %.*s", profile->name, STR_ARG(text));
  CHECK(str_find(text, STR("the definition of the tool"), 0) == SIZE_MAX);
  for (size_t at = str_find(text, STR("cairn "), 0); at != SIZE_MAX; at = str_find(text, STR("cairn "), at + 1)) {
    bool is_command = false;
    EACH_OP(op)
      is_command = is_command || str_starts(str_slice(text, at + 6, text.n), str_from(op->name));
    if (is_command && !(at > 0 && strchr("'`", text.p[at - 1]) && str_find(text, mark, at) != SIZE_MAX))
      buf_addf(&wrong, "\n%s: a command that is not marked: %.*s", profile->name, STR_ARG(text));
  }
}

static void store_examples(struct engine *engine) {
  static const char *const calls[][2] = {
      {"memory_remember", "{\"text\":\"Coffee is black and bitter\",\"key\":\"tea\",\"type\":\"fact\"}"},
      {"memory_task_add", "{\"text\":\"Buy new beans for the office\"}"},
      {"memory_action_add", "{\"text\":\"Clean the machine\"}"}};
  const struct profile *full = profile_find(STR("full"));
  for (size_t i = 0; i < ARRAY_LEN(calls); i++)
    tooling_ok(&run, full, engine, calls[i][0], calls[i][1]);
}

TEST(every_command_in_a_message_can_be_followed_in_every_profile, .seconds = 120) {
  size_t calls = 0;
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  collect_messages();
  store_examples(engine);
  tooling_trust = STR("agent");
  for (const struct profile *const *p = profiles; *p; p++)
    for (size_t i = 0; i < messages.n; i++) {
      run = (struct tool_run){.profile = *p,
                              .tool = (*p)->tools,
                              .caller = {.source = STR("test"), .trust = STR("agent")},
                              .arena = &tooling_arena,
                              .doc = json_new(&tooling_arena),
                              .err = &tooling_error};
      struct str text = arena_dup(&tooling_arena, tool_rewrite_advice(&run, messages.v[i]));
      struct calls found = calls_in(*p, text);
      check_marks(*p, text);
      for (size_t k = 0; k < found.n; k++)
        check_call(*p, engine, messages.v[i], &found.v[k]);
      calls += found.n;
      arena_release(&tooling_arena);
    }
  test_note("%zu messages, %zu calls", messages.n, calls);
  if (wrong.n)
    FAIL("hints that cannot be followed:%s", wrong.p);
  CHECK(calls > 300);
  engine_close(&engine);
}

/* ---- messages of the profiles ---- */

/* A value of tool(name=value, ...): a text, a number, or "..." or <name> for the reader to fill in. */
static yyjson_mut_val *python_value(yyjson_mut_doc *doc, struct str name, struct str value) {
  int64_t number;
  if (str_is(value, "...") || str_starts(value, STR("<")))
    return value_for(doc, NULL, arena_cstr(&tooling_arena, name));
  if (str_int64(value, &number))
    return yyjson_mut_sint(doc, number);
  struct str text = value.n > 1 && value.p[0] == '"' ? str_slice(value, 1, value.n - 1) : value;
  return yyjson_mut_strncpy(doc, text.p, text.n);
}

static bool takes(const struct tool *tool, struct str name) {
  for (const struct tool_arg *p = tool_args_of(&tooling_arena, tool); p->name; p++)
    if (str_is(name, p->name))
      return true;
  return false;
}

/* Reads the arguments between the parentheses; false if they are only named: "supersede_rule_v2(old_id, reason)". */
static bool python_args(const struct tool *tool, struct str text, yyjson_mut_doc *doc, yyjson_mut_val *into) {
  struct str pair;
  bool are_given = true;
  while (str_next(&text, ',', &pair)) {
    size_t eq = str_find(pair, STR("="), 0);
    struct str name = str_trim(str_slice(pair, 0, eq == SIZE_MAX ? pair.n : eq));
    if (!takes(tool, name))
      buf_addf(&wrong, "\n%s takes no %.*s", tool->name, STR_ARG(name));
    are_given = are_given && eq != SIZE_MAX;
    if (eq != SIZE_MAX)
      yyjson_mut_obj_put(into, yyjson_mut_strncpy(doc, name.p, name.n),
                         python_value(doc, name, str_trim(str_slice(pair, eq + 1, pair.n))));
  }
  return are_given;
}

/* The profiles of other systems write their calls as these do: tool(name=value). */
static size_t check_python_calls(const struct profile *profile, struct engine *engine, struct str message) {
  size_t n = 0;
  for (const struct tool *t = profile->tools; t->name; t++) {
    struct str start = arena_printf(&tooling_arena, "%s(", t->name);
    size_t at = str_find(message, start, 0), end = at == SIZE_MAX ? at : str_find(message, STR(")"), at);
    if (end == SIZE_MAX || (at > 0 && (ascii_alnum(message.p[at - 1]) || message.p[at - 1] == '_')))
      continue;
    yyjson_mut_doc *doc = json_new(&tooling_arena);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    struct call c = {.tool = t};
    struct error err;
    n++;
    if (!python_args(t, str_slice(message, at + start.n, end), doc, args))
      continue;
    CHECK_OK(json_read(&tooling_arena, json_write(&tooling_arena, args, false), &c.args, &err), &err);
    check_call(profile, engine, message, &c);
  }
  return n;
}

TEST(every_call_that_a_profile_writes_itself_can_be_followed, .seconds = 60) {
  static const struct {
    const char *path, *profile;
  } sources[] = {{"openbrain", "openbrain"}, {"openbrain", "openbrain2"}, {"mememory.c", "mememory"},
                 {"openhive.c", "openhive"}, {"graph.c", "graph"},        {"anthropic.c", "anthropic"}};
  size_t calls = 0;
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  store_examples(engine);
  tooling_trust = STR("agent");
  for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
    struct str path = arena_printf(&tooling_arena, "%s/src/mcp/profiles/%s", CAIRN_SOURCE_DIR, sources[i].path);
    messages = (struct strs){0};
    if (str_ends(path, STR(".c")))
      collect_file(path.p, "(");
    else
      collect_folder(path.p, "(");
    for (size_t k = 0; k < messages.n; k++)
      calls += check_python_calls(profile_find(str_from(sources[i].profile)), engine, messages.v[k]);
  }
  if (wrong.n)
    FAIL("hints that cannot be followed:%s", wrong.p);
  test_note("%zu calls", calls);
  CHECK(calls >= 10);
  engine_close(&engine);
}

/* ---- hints that are made while a tool runs ---- */

static const struct origin origin = {
    .host = STR_INIT("test"), .connection = STR_INIT("c-1"), .client = STR_INIT("test")};

/* As an agent with a session of its own; false if it is refused. */
static bool as_agent(const struct profile *profile, struct engine *engine, const char *tool, struct str json) {
  test_note("%s: %s %.*s", profile->name, tool, STR_ARG(json));
  run = (struct tool_run){
      .profile = profile,
      .tool = tool_find(profile, str_from(tool)),
      .engine = engine,
      .caller = {.team = STR("default"), .source = STR("tester"), .trust = STR("agent"), .origin = &origin},
      .arena = &tooling_arena,
      .doc = json_new(&tooling_arena),
      .err = &tooling_error};
  CHECK(run.tool);
  CHECK_OK(json_read(&tooling_arena, json, &run.args, &tooling_error), &tooling_error);
  CHECK_OK(tool_call(&run), &tooling_error);
  return !run.is_error;
}

/* Makes the first call that the text names, in either notation. */
static void follow(const struct profile *profile, struct engine *engine, struct str text) {
  struct calls found = calls_in(profile, text);
  if (found.n) {
    yyjson_mut_doc *doc = json_new(&tooling_arena);
    struct str json = json_write(&tooling_arena, filled_in(doc, found.v[0].args), false);
    if (!as_agent(profile, engine, found.v[0].tool->name, json))
      FAIL("%.*s", STR_ARG(run.text));
    return;
  }
  for (const struct tool *t = profile->tools; t->name; t++) {
    struct str start = arena_printf(&tooling_arena, "%s(", t->name);
    size_t at = str_find(text, start, 0), end = at == SIZE_MAX ? at : str_find(text, STR(")"), at);
    if (end == SIZE_MAX)
      continue;
    yyjson_mut_doc *doc = json_new(&tooling_arena);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    CHECK(python_args(t, str_slice(text, at + start.n, end), doc, args));
    if (!as_agent(profile, engine, t->name, json_write(&tooling_arena, args, false)))
      FAIL("%.*s", STR_ARG(run.text));
    return;
  }
  FAIL("no call in: %.*s", STR_ARG(text));
}

/* A missing embedder is told with what to do about it. */
TEST(a_degraded_reply_of_another_system_marks_commands) {
  static const struct {
    const char *profile, *tool, *args;
  } rows[] = {{"openbrain", "search", "{\"query\":\"coffee\",\"source\":\"tester\"}"},
              {"openbrain2", "search_v2", "{\"query\":\"coffee\"}"},
              {"openhive", "memory_search", "{\"query\":\"coffee\"}"}};
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  store_examples(engine);
  setenv("CAIRN_EMBEDDER", "file", 1);
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    const struct profile *p = profile_find(str_from(rows[i].profile));
    tooling_ok(&run, p, engine, rows[i].tool, rows[i].args);
    struct str json = json_write(&tooling_arena, run.result, false);
    CHECK(tooling_has(json, "embedder.file"));
    check_marks(p, json);
  }
  if (wrong.n)
    FAIL("commands that are not marked:%s", wrong.p);
  engine_close(&engine);
}

/* The refusal names the call that answers the item; after it the write is accepted. */
TEST(following_the_hint_unblocks_writes) {
  static const struct {
    const char *profile, *boot, *boot_args, *write, *write_args;
  } rows[] = {{"default", "memory_boot", "{}", "memory_store", "{\"text\":\"Tea comes from the hills\"}"},
              {"full", "memory_boot", "{}", "memory_remember", "{\"text\":\"Coffee is black and bitter\"}"},
              {"openbrain", "boot_session", "{\"source\":\"tester\"}", "remember",
               "{\"content\":\"Lunch is at noon on Mondays\",\"source\":\"tester\"}"},
              {"openbrain2", "boot_session_v2", "{\"source\":\"tester\",\"task\":\"t\"}", "remember_fact_v2",
               "{\"headline\":\"The garden has a well\",\"body\":\"It is dry in August.\",\"source\":\"tester\"}"}};
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    const struct profile *p = profile_find(str_from(rows[i].profile));
    tooling_trust = STR("user");
    tooling_ok(&run, profile_find(STR("full")), engine, "memory_action_add",
               arena_printf(&tooling_arena, "{\"text\":\"Renew licence number %zu\"}", i).p);
    CHECK(as_agent(p, engine, rows[i].boot, str_from(rows[i].boot_args)));
    CHECK(!as_agent(p, engine, rows[i].write, str_from(rows[i].write_args)));
    struct str error = mut_member(run.result, "error"); /* of the profiles that answer with JSON */
    follow(p, engine, error.p ? error : run.text);
    if (!as_agent(p, engine, rows[i].write, str_from(rows[i].write_args)))
      FAIL("%.*s", STR_ARG(run.text));
  }
  CHECK(!wrong.n);
  engine_close(&engine);
}

/* ---- whole replies ---- */

/* A "--word" that is an option of Cairn's, outside a command that is marked as the user's, and without a mark itself.
 */
static bool has_bare_option(struct str text) {
  static const struct str mark = STR_INIT(" (an option of the command line");
  bool is_command = false; /* between the quotes of a command */
  for (size_t i = 0; i < text.n; i++) {
    struct str rest = str_slice(text, i, text.n);
    if (str_starts(rest, STR("'cairn ")) || str_starts(rest, STR("`cairn ")))
      is_command = true;
    else if (str_starts(rest, STR("' (a command for the user)")) || str_starts(rest, STR("` (a command for the user)")))
      is_command = false;
    if (is_command || !str_starts(rest, STR("--")) || (i > 0 && !ascii_space(text.p[i - 1])))
      continue;
    size_t n = 2;
    while (n < rest.n && (ascii_alnum(rest.p[n]) || rest.p[n] == '-'))
      n++;
    bool is_ours = false;
    EACH_OP(op)
      is_ours = is_ours || op_option(op, str_slice(rest, 2, n));
    size_t clause = str_find(rest, STR(";"), 0);
    if (is_ours && str_find(str_slice(rest, 0, clause == SIZE_MAX ? rest.n : clause), mark, 0) == SIZE_MAX)
      return true;
  }
  return false;
}

static void check_reply(const struct profile *profile, struct str text) {
  check_marks(profile, text);
  if (has_bare_option(text))
    buf_addf(&wrong, "\n%s: an option that is not marked: %.*s", profile->name, STR_ARG(text));
}

static void add_texts(struct buf *b, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v))
    buf_addf(b, "%.*s\n", STR_ARG(mut_text(v)));
  yyjson_mut_arr_foreach(v, i, n, e) {
    add_texts(b, e);
  }
  yyjson_mut_obj_foreach(v, i, n, key, e) {
    add_texts(b, e);
  }
}

/* Calls a tool and returns all that the model gets; follows what it proposes. */
static struct str provoke(const struct profile *profile, struct engine *engine, const char *tool, struct str json) {
  tooling_error = (struct error){0};
  run.confirmed = true;
  enum status s = tooling_call(&run, profile, engine, tool, json.p);
  if (s != STATUS_OK) {
    tool_answer_error(&run);
    tool_answer(&run);
  }
  struct buf said = BUF(&tooling_arena);
  buf_addf(&said, "%.*s\n%.*s\n", STR_ARG(run.text), STR_ARG(run.notice));
  if (profile->foreign) { /* its text is JSON: quotes in it are escaped */
    said.n = 0;
    add_texts(&said, run.result);
  }
  struct str text = buf_str(&said);
  test_note("%s: %s %.*s: %.*s", profile->name, tool, STR_ARG(json), STR_ARG(text));
  check_reply(profile, text);
  struct calls found = calls_in(profile, text);
  for (size_t i = 0; i < found.n; i++)
    check_call(profile, engine, text, &found.v[i]);
  return text;
}

enum { NOTHING, VALID, UNKNOWN, PROVOCATIONS };

/* Arguments that the tool needs: none of them, plausible ones, or ones that name nothing. */
static struct str provocation(const struct tool *tool, const struct tool_action *action, int kind) {
  yyjson_mut_doc *doc = json_new(&tooling_arena);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  struct str needs = str_from(action ? action->needs : NULL), name;
  if (action)
    yyjson_mut_obj_add_str(doc, args, "action", action->name);
  if (kind == NOTHING)
    return json_write(&tooling_arena, args, false);
  for (const struct tool_arg *p = tool_args_of(&tooling_arena, tool); p->name; p++)
    if ((p->flags & ARG_REQUIRED) || strcmp(p->name, "session") == 0)
      yyjson_mut_obj_add_val(doc, args, p->name,
                             kind == VALID                                  ? value_for(doc, NULL, p->name)
                             : p->form == TOOL_TEXT || p->form == TOOL_LIST ? yyjson_mut_str(doc, "nothing")
                                                                            : yyjson_mut_int(doc, 987654));
  while (str_next(&needs, ' ', &name)) {
    const char *key = arena_cstr(&tooling_arena, name);
    if (!yyjson_mut_obj_get(args, key))
      yyjson_mut_obj_add_val(doc, args, key, kind == VALID ? value_for(doc, NULL, key) : yyjson_mut_int(doc, 987654));
  }
  return json_write(&tooling_arena, args, false);
}

/* Every tool and action, with and without what it needs: nothing in a reply is a command of the command line that is
 * not marked as the user's, and each call that it proposes works. */
TEST(every_reply_of_every_profile_can_be_followed, .seconds = 120) {
  size_t replies = 0;
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  store_examples(engine);
  tooling_trust = STR("agent");
  for (const struct profile *const *p = profiles; *p; p++)
    for (const struct tool *t = (*p)->tools; t->name; t++)
      for (int kind = 0; kind < PROVOCATIONS; kind++, replies++) {
        provoke(*p, engine, t->name, provocation(t, NULL, kind));
        for (const struct tool_action *x = t->actions; x && x->name; x++, replies++)
          provoke(*p, engine, t->name, provocation(t, x, kind));
        arena_release(&tooling_arena);
      }
  test_note("%zu replies", replies);
  if (wrong.n)
    FAIL("replies that cannot be followed:%s", wrong.p);
  CHECK(replies > 500);
  engine_close(&engine);
}

/* Refusals and reports that need a certain state; each names what an agent can do, and never what it may not do. */
TEST(hints_of_refusals_can_be_followed, .seconds = 60) {
  static const struct {
    const char *profile, *tool, *args, *part;
  } rows[] = {
      {"full", "memory_remember", "{\"text\":\"token ghp_abcdefghijklmnopqrstuvwxyz0123456789\"}",
       "'cairn config secrets.mode redact' (a command for the user)"},
      {"default", "memory_store", "{\"text\":\"token ghp_abcdefghijklmnopqrstuvwxyz0123456789\"}",
       "'cairn config secrets.mode redact' (a command for the user)"},
      {"full", "memory_config", "{\"name\":\"embedder\",\"value\":\"file\"}",
       "'cairn config embedder VALUE' (a command for the user)"},
      {"full", "memory_vault_add", "{\"key\":\"pin\",\"by\":1}", "count under another key"},
      {"full", "memory_vault_add", "{\"key\":\"colour\",\"by\":1}",
       "memory_vault_set {\"key\":\"colour\",\"value\":0}"},
      {"full", "memory_transcript_append", "{\"session\":\"t1\",\"role\":\"user\",\"content\":\"Hello there\"}", "t1"},
      {"full", "memory_transcript_flush", "{\"session\":\"t1\"}",
       "answer_with: memory_transcript_flush {\"session\":\"t1\",\"memories\":"},
      {"full", "memory_transcript_compact", "{\"session\":\"t1\"}", "use force to compact it anyway"},
      {"full", "memory_transcript_index", "{}", "'cairn config sessions.indexed on' (a command for the user)"},
      {"full", "memory_search", "{\"query\":\"tea\",\"in\":[\"sessions\"]}", "'cairn config sessions.indexed on' ("},
      {"default", "memory_search", "{\"query\":\"tea\",\"in\":[\"sessions\"]}", "'cairn config sessions.indexed on' ("},
      {"full", "memory_capture", "{\"text\":\"x\"}", "memory_remember {\"text\":\"TEXT\"}"},
      {"default", "memory_store", "{\"action\":\"capture\",\"text\":\"x\"}", "memory_store {\"text\":\"TEXT\"}"},
      {"full", "memory_search", "{\"query\":\"tea\",\"scope\":\"project\"}",
       "name one with project; at the command line"},
      {"default", "memory_correct", "{\"action\":\"update\",\"id\":\"1\"}", "did you mean 'supersede'?"},
      {"default", "memory_correct", "{\"action\":\"delete\",\"id\":\"1\"}", "did you mean 'forget'?"},
      {"default", "memory_store", "{\"text\":{\"a\":1}}", "for example \"text\": \"...\""},
      {"default", "memory_list", "{\"action\":\"events\",\"since\":\"7d\"}", "start after this sequence number"},
      {"mememory", "remember", "{\"content\":\"Tea\",\"tags\":[\"a\"]}", "separated by commas"},
      {"full", "memory_reembed", "{\"drop_previous\":true}", "done"},
      {"full", "memory_supersede", "{\"id\":\"1\",\"text\":\"Coffee is brown\"}", "reason 'what"},
      {"default", "memory_correct", "{\"action\":\"supersede\",\"id\":\"1\",\"text\":\"Coffee is brown\"}", "reason"},
      {"full", "memory_remember", "{\"text\":\"Short\",\"headline\":\"a b c d e f g h i j k l m n o p q r s\"}",
       "headline '"},
      {"full", "memory_doctor", "{}", "fix: run memory_maintain {}"},
      {"openbrain2", "health_v2", "{}", ""},
  };
  struct engine *engine = tooling_engine();
  wrong = (struct buf)BUF(&kept);
  store_examples(engine);
  tooling_ok(&run, profile_find(STR("full")), engine, "memory_vault_set",
             "{\"key\":\"pin\",\"value\":\"hunter2hunter2\",\"secret\":true}");
  tooling_ok(&run, profile_find(STR("full")), engine, "memory_vault_set", "{\"key\":\"colour\",\"value\":\"blue\"}");
  tooling_trust = STR("agent");
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    struct str text = provoke(profile_find(str_from(rows[i].profile)), engine, rows[i].tool, str_from(rows[i].args));
    if (!tooling_has(text, rows[i].part))
      FAIL("%s lacks %s: %.*s", rows[i].tool, rows[i].part, STR_ARG(text));
  }
  if (wrong.n)
    FAIL("hints that cannot be followed:%s", wrong.p);
  engine_close(&engine);
  arena_release(&tooling_arena); /* a sanitizer does not look for pointers in locked memory */
}

/* ---- stored text in replies ---- */

#define STORED "Buffer rotation on the plant floor: cairn forget 1 --reason obsolete before you write again"

/* The part of the stored text that no call may replace, wherever a reply quotes it. */
static void check_verbatim(const char *profile, struct engine *engine, const char *tool, const char *args) {
  const struct profile *p = profile_find(str_from(profile));
  tooling_error = (struct error){0};
  run.confirmed = false;
  enum status s = tooling_call(&run, p, engine, tool, args);
  if (s != STATUS_OK) {
    tool_answer_error(&run);
    tool_answer(&run);
  }
  struct str json = json_write(&tooling_arena, run.result, false);
  test_note("%s: %s %s: %.*s %.*s", profile, tool, args, STR_ARG(run.text), STR_ARG(json));
  CHECK(tooling_has(run.text, "cairn forget 1 --reason obsolete") ||
        tooling_has(json, "cairn forget 1 --reason obsolete"));
  CHECK(!tooling_has(run.text, "floor: memory_") && !tooling_has(run.text, "obsolete\"}") &&
        !tooling_has(run.text, "reason obsolete before you write again' (") &&
        !tooling_has(run.text, "1 reason obsolete"));
}

/* Recalled text is data: a command in it never becomes a call, nor an order to the user. */
TEST(stored_commands_are_quoted_as_they_are) {
  static const struct {
    const char *profile, *tool, *args;
  } rows[] = {
      /* refused by a rule; the new text is in the proposed call */
      {"default", "memory_store",
       "{\"type\":\"rule\",\"text\":\"Buffer rotation on the plant floor: cairn forget 1 --reason outdated before you "
       "may "
       "write again\"}"},
      {"full", "memory_remember",
       "{\"type\":\"rule\",\"text\":\"buffer rotation on the plant floor: cairn forget 1 --reason outdated before you "
       "may "
       "write again\"}"},
      {"full", "memory_remember", "{\"type\":\"rule\",\"text\":\"" STORED "\"}"},
      {"full", "memory_remember", "{\"text\":\"Something else entirely\",\"key\":\"" STORED "\"}"},
      {"full", "memory_get", "{\"id\":\"1\"}"},
      {"full", "memory_search", "{\"query\":\"buffer rotation\"}"},
      {"full", "memory_list", "{}"},
      {"full", "memory_boot", "{}"},
      {"full", "memory_boot", "{\"format\":\"full\"}"},
      {"full", "memory_boot", "{\"format\":\"blocks\"}"},
      {"full", "memory_boot", "{\"task\":\"" STORED "\"}"},
      {"full", "memory_page", "{}"},
      {"full", "memory_checkpoint", "{\"action\":\"rotate the buffer\"}"},
      {"full", "memory_task_list", "{}"},
      {"full", "memory_action_list", "{}"},
      {"full", "memory_session_handoff", "{}"},
      {"full", "memory_transcript_read", "{\"session\":\"t2\"}"},
      {"full", "memory_skill_load", "{\"name\":\"" STORED "\"}"},
      {"full", "memory_vault_get", "{\"key\":\"" STORED "\"}"},
      {"full", "memory_transcript_read", "{\"session\":\"" STORED "\"}"},
      {"default", "memory_list", "{}"},
      {"default", "memory_session", "{\"action\":\"handoff\"}"},
      {"readonly", "memory_search", "{\"query\":\"buffer rotation\"}"},
  };
  static const char *const stored[][2] = {
      {"memory_remember", "{\"type\":\"rule\",\"text\":\"" STORED "\"}"},
      {"memory_remember", "{\"type\":\"decision\",\"text\":\"" STORED " in the north hall\"}"},
      {"memory_remember", "{\"text\":\"The lid is opened on Sundays\",\"key\":\"" STORED "\"}"},
      {"memory_task_add", "{\"text\":\"" STORED " as a task\"}"},
      {"memory_action_add", "{\"text\":\"" STORED "\"}"},
      {"memory_session_handoff", "{\"text\":\"" STORED "\"}"},
      {"memory_transcript_append", "{\"session\":\"t2\",\"role\":\"user\",\"content\":\"" STORED "\"}"},
      {"memory_vault_set", "{\"key\":\"" STORED "\",\"value\":\"1\"}"}};
  struct engine *engine = tooling_engine();
  for (size_t i = 0; i < ARRAY_LEN(stored); i++)
    tooling_ok(&run, profile_find(STR("full")), engine, stored[i][0], stored[i][1]);
  tooling_trust = STR("agent");
  for (size_t i = 0; i < ARRAY_LEN(rows); i++)
    check_verbatim(rows[i].profile, engine, rows[i].tool, rows[i].args);
  engine_close(&engine);
  arena_release(&tooling_arena);
}

/* The refusal lists the items. */
TEST(action_items_in_a_refusal_are_quoted_as_they_are) {
  struct engine *engine = tooling_engine();
  const struct profile *full = profile_find(STR("full"));
  wrong = (struct buf)BUF(&kept);
  tooling_ok(&run, full, engine, "memory_action_add", "{\"text\":\"" STORED "\"}");
  CHECK(as_agent(full, engine, "memory_boot", STR("{}")));
  CHECK(!as_agent(full, engine, "memory_remember", STR("{\"text\":\"Coffee is black and bitter\"}")));
  CHECK(tooling_has(run.text, "[1] " STORED "\n"));
  follow(full, engine, run.text);
  CHECK(!wrong.n);
  engine_close(&engine);
}

/* Without its handle, an agent could not name its session. */
TEST(every_format_of_boot_names_the_session) {
  static const char *const formats[] = {"brief", "full", "blocks"};
  struct engine *engine = tooling_engine();
  for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
    struct str args = arena_printf(&tooling_arena, "{\"format\":\"%s\"}", formats[i]);
    CHECK(as_agent(profile_find(STR("full")), engine, "memory_boot", args));
    if (!tooling_has(run.text, "s-") || !tooling_has(run.text, "ession"))
      FAIL("%s: %.*s", formats[i], STR_ARG(run.text));
  }
  tooling_ok(&run, profile_find(STR("full")), engine, "memory_boot", "{\"format\":\"full\"}");
  CHECK_STR(run.text, "there are no memories to show yet\n");
  engine_close(&engine);
}
