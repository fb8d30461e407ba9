/* test_scrub.c: no secret gets past op_run(), in any argument of any operation, nor in any result, line or error. */
#include "op/run/scrub.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "op/telemetry/telemetry.h"
#include "support/keys.h"
#include "support/store.h"

static struct arena a; /* of the running test */
static struct error err;
static struct engine *e;
static struct telemetry *telemetry;
static const char *store;
static const struct origin origin = {.cwd = STR_INIT("/work"), .client = STR_INIT("tester")};
static struct caller caller = {.team = STR_INIT("default"),
                               .project = STR_INIT("demo"),
                               .source = STR_INIT("claude-code"),
                               .trust = STR_INIT("agent"),
                               .origin = &origin};

static const char *in_dir(const char *name) { return arena_cstr(&a, arena_printf(&a, "%s/%s", test_dir(), name)); }

static void setup(void) {
  arena_init(&a);
  CHECK(chdir(test_dir()) == 0);
  store = test_store("scrub.db");
  CHECK_OK(telemetry_new(in_dir("log"), &telemetry, &err), &err);
  struct engine_options o = {.path = store, .telemetry = telemetry, .record_calls = true};
  CHECK_OK(engine_open(&o, &e, &err), &err);
}

static void done(void) {
  engine_close(&e);
  telemetry_close(&telemetry);
}

static struct str token(uint32_t seed) { return key_make(&a, "ghp_<a36>", seed); }

/* ---- calls ---- */

static LIST(struct str) emitted;

static enum status keep_line(void *arg, struct str line) {
  (void)arg;
  list_push(&a, &emitted, arena_dup(&a, line));
  return STATUS_OK;
}

static enum status try_args(const char *op, yyjson_mut_val *args, yyjson_mut_val **ret_result) {
  struct op_hooks hooks = {.emit = keep_line};
  yyjson_val *values;
  err = (struct error){0};
  CHECK_OK(json_read(&a, json_write(&a, args, false), &values, &err), &err);
  return op_run(e, op_find(str_from(op)), &caller, &hooks, &a, values, ret_result, &err);
}

static enum status try(const char *op, const char *json, yyjson_mut_val **ret_result) {
  yyjson_val *args;
  CHECK_OK(json_read(&a, str_from(json), &args, &err), &err);
  return try_args(op, yyjson_val_mut_copy(json_new(&a), args), ret_result);
}

static struct str run(const char *op, const char *json) {
  yyjson_mut_val *result;
  CHECK_OK(try(op, json, &result), &err);
  return json_write(&a, result, false);
}

/* Only a person may change it. */
static void set_redaction(void) {
  struct str trust = caller.trust;
  caller.trust = STR("user");
  run("config", "{\"name\": \"secrets.mode\", \"value\": \"redact\"}");
  caller.trust = trust;
}

static bool holds(struct str text, struct str part) { return str_find(text, part, 0) != SIZE_MAX; }

/* ---- arguments ---- */

/* A value that lets an operation run as far as possible. */
static const char *plausible(const struct param *p) {
  static const char *const values[][2] = {
      {"id", "1"},
      {"ids", "1"},
      {"to", "2"},
      {"by", "2"},
      {"key", "kettle"},
      {"name", "web"},
      {"from", "web"},
      {"path", "/memories/a.md"},
      {"old_path", "/memories/a.md"},
      {"new_path", "/memories/b.md"},
      {"role", "user"},
      {"session", "demo"},
      {"decision", "not_relevant"},
      {"memory", "1"},
      {"supersedes", "1"},
      {"old_str", "kettle"},
  };
  for (size_t i = 0; i < ARRAY_LEN(values); i++)
    if (strcmp(p->name, values[i][0]) == 0 && !p->choices)
      return values[i][1];
  if (p->choices)
    return p->choices[0];
  return p->flags & PARAM_PATH ? "nowhere" : "The kettle in the kitchen whistles";
}

static void put_arg(yyjson_mut_doc *doc, yyjson_mut_val *args, const struct param *p, struct str value) {
  if (p->form == PARAM_LIST)
    json_add_str(doc, json_put_arr(doc, args, p->name), value);
  else if (p->form == PARAM_INT)
    json_put_int(doc, args, p->name, 1);
  else
    json_put(doc, args, p->name, value);
}

/* The secret in every form that the operations read: a text, a line of JSON. */
static struct str dressed(const struct param *p, struct str secret) {
  if (strcmp(p->name, "lines") == 0 || strcmp(p->name, "input") == 0)
    return arena_printf(
        &a,
        "{\"type\":\"entity\",\"name\":\"%.*s\",\"entityType\":\"%.*s\",\"observations\":[\"use %.*s\"],"
        "\"entityName\":\"x\",\"contents\":[\"see %.*s\"],\"role\":\"user\",\"content\":\"say %.*s\"}",
        STR_ARG(secret), STR_ARG(secret), STR_ARG(secret), STR_ARG(secret), STR_ARG(secret));
  if (strcmp(p->name, "memories") == 0)
    return arena_printf(&a, "[{\"text\": \"Deploys use %.*s\", \"tags\": [\"%.*s\"]}]", STR_ARG(secret),
                        STR_ARG(secret));
  return str_is(str_from(plausible(p)), "/memories/a.md") ? arena_printf(&a, "/memories/%.*s.md", STR_ARG(secret))
                                                          : secret;
}

static void send(const struct op *op, const struct param *hot, struct str secret) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *args = yyjson_mut_obj(doc), *result = NULL;
  for (const struct param *p = op->params; p->name; p++)
    if (p != hot && (p->flags & PARAM_REQUIRED))
      put_arg(doc, args, p, str_from(plausible(p)));
  put_arg(doc, args, hot, dressed(hot, secret));
  if (strcmp(op->name, "transcript append") == 0 && !yyjson_mut_obj_get(args, "session"))
    json_put(doc, args, "session", STR("demo"));
  test_note("%s %s", op->name, hot->name);
  enum status s = try_args(op->name, args, &result);
  struct str reply = s == STATUS_OK ? json_write(&a, result, false) : STR_NONE;
  CHECK(!holds(reply, secret) && !holds(str_from(err.message), secret) && !holds(str_from(err.fix), secret));
}

/* Common part of all secrets of a run, so one search is enough. */
#define MARK "qZ7wKd3RtY9b"

static bool split; /* the secrets of this run are split before the mark */

/* Characters and sequences that presentation removes, or that nothing shows: the parts around them look like one word.
 */
static const char *const invisible[] = {
    "\xE2\x80\x8B" /* zero-width space */,
    "\xC2\xAD" /* soft hyphen */,
    "\xEF\xBB\xBF" /* byte order mark */,
    "\xE2\x80\xAE" /* right to left */,
    "\xE2\x81\xA0" /* word joiner */,
    "\xE2\x80\x8C" /* non-joiner */,
    "\xE2\x80\x8D" /* joiner */,
    "\xE2\x80\x8E" /* left to right */,
    "\xF3\xA0\x81\x81" /* tag */,
    "\xCD\x8F" /* grapheme joiner */,
    "\x1B[0m" /* terminal escape */,
    "\x01" /* control character */,
    "\xEF\xB8\x8F" /* variation selector */,
    "**" /* markup */,
    "`",
    "~~",
};

static struct str secret_number(size_t i) {
  const char *between = split ? invisible[i % ARRAY_LEN(invisible)] : "";
  return arena_printf(&a, "gh%s_aB3dE5%s" MARK "%012zuAbCd4X2k", "p", between, i);
}

/* Paths that are only read or written are not checked. */
static bool is_sent(const struct op *op, const struct param *p) {
  bool text = p->form == PARAM_TEXT || p->form == PARAM_LIST, choice = p->choices && !(p->flags & PARAM_OPEN);
  return text && !choice && ((op->flags & OP_WRITE) || !(p->flags & PARAM_PATH));
}

static size_t send_everywhere(void) {
  size_t sent = 0;
  EACH_OP(op) {
    for (const struct param *p = op->params; p->name; p++)
      if (is_sent(op, p))
        send(op, p, secret_number(sent++));
    send(op, &common_params[0], secret_number(sent++));
  }
  return sent;
}

static void check_no_file_holds(const char *folder, const char *bytes) {
  DIR *d = opendir(folder);
  CHECK(d != NULL);
  for (struct dirent *entry; (entry = readdir(d));) {
    struct stat st;
    const char *path = arena_cstr(&a, arena_printf(&a, "%s/%s", folder, entry->d_name));
    struct str text;
    if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.'))
      continue;
    if (strstr(entry->d_name, bytes))
      FAIL("the name %s", path);
    CHECK(lstat(path, &st) == 0);
    if (S_ISDIR(st.st_mode))
      check_no_file_holds(path, bytes);
    else if (S_ISREG(st.st_mode)) {
      CHECK_OK(fs_read(&a, path, 1 << 28, &text, &err), &err);
      if (holds(text, str_from(bytes)))
        FAIL("%s holds a secret", path);
    }
  }
  closedir(d);
}

static void prepare(void) {
  setup();
  run("remember", "{\"text\": \"The kettle in the office kitchen whistles\", \"key\": \"kettle\"}");
  run("remember", "{\"text\": \"Parsley grows in pots\"}");
  run("task add", "{\"text\": \"Water the parsley\"}");
  run("task add", "{\"text\": \"Buy a new kettle\"}");
  run("agent add", "{\"name\": \"web\", \"role\": \"project\", \"project\": \"demo\"}");
  run("file create", "{\"path\": \"/memories/a.md\", \"file_text\": \"the kettle\"}");
  yyjson_mut_val *booted;
  CHECK_OK(try("boot", "{\"register\": true}", &booted), &err);
  caller.session = str_from(yyjson_mut_get_str(yyjson_mut_obj_get(booted, "session")));
}

static void check_nothing_stored(void) {
  CHECK(send_everywhere() > 150);
  done();
  CHECK(!store_has(store, STR(MARK)));
  check_no_file_holds(test_dir(), MARK);
}

TEST(no_argument_of_any_operation_gets_a_secret_into_the_store, .seconds = 60) {
  prepare();
  check_nothing_stored();
  arena_release(&a);
}

TEST(no_argument_gets_a_secret_into_the_store_with_redaction, .seconds = 60) {
  prepare();
  set_redaction();
  check_nothing_stored();
  CHECK(store_has(store, STR("[REDACTED:github_token]")));
  arena_release(&a);
}

TEST(no_secret_split_by_invisible_characters_gets_into_the_store, .seconds = 60) {
  split = true;
  prepare();
  check_nothing_stored();
  arena_release(&a);
}

TEST(no_secret_split_by_invisible_characters_gets_into_the_store_with_redaction, .seconds = 60) {
  split = true;
  prepare();
  set_redaction();
  check_nothing_stored();
  CHECK(store_has(store, STR("[REDACTED:github_token]")));
  arena_release(&a);
}

TEST(caller_fields_are_checked_for_secrets) {
  setup();
  struct str t = token(3);
  struct origin strange = {.cwd = t, .client = t, .client_version = t};
  struct caller was = caller;
  caller.source = caller.session = caller.project = t;
  caller.origin = &strange;
  run("boot", "{\"register\": true}");
  run("remember", "{\"text\": \"Parsley grows in pots\"}");
  CHECK_STATUS(try("get", "{\"id\": \"999\"}", NULL), STATUS_NOT_FOUND);
  caller = was;
  done();
  CHECK(!store_has(store, t));
  check_no_file_holds(test_dir(), arena_cstr(&a, t));
  arena_release(&a);
}

TEST(a_refused_write_says_what_to_do) {
  setup();
  struct str t = token(4);
  yyjson_mut_val *result;
  const char *json = arena_cstr(&a, arena_printf(&a, "{\"id\": \"1\", \"note\": \"see %.*s\"}", STR_ARG(t)));
  run("remember", "{\"text\": \"Parsley grows in pots\"}");
  CHECK_STATUS(try("annotate", json, &result), STATUS_SECRET);
  CHECK(strncmp(err.message, "the note contains what looks like a secret (github_token, line 1: ghp_", 67) == 0);
  CHECK_STR(str_from(err.step), "secrets");
  CHECK(strstr(err.fix, "secrets.mode redact") != NULL);
  done();
  arena_release(&a);
}

/* A redacted path would be another path. */
TEST(a_path_with_a_secret_is_refused_even_with_redaction) {
  setup();
  set_redaction();
  yyjson_mut_val *result;
  const char *json = arena_cstr(&a, arena_printf(&a, "{\"dir\": \"/tmp/%.*s\"}", STR_ARG(token(5))));
  CHECK_STATUS(try("source add", json, &result), STATUS_SECRET);
  done();
  arena_release(&a);
}

/* ---- results ---- */

/* A note that was written to the store directly, not by the program. */
static void plant(struct str secret) {
  run("remember", "{\"text\": \"Parsley grows in pots\"}");
  done();
  struct direct *d = direct_open(store);
  direct_do(d, arena_cstr(&a, arena_printf(&a,
                                           "INSERT INTO annotation (team, memory_id, at, by, text) "
                                           "VALUES ('default', 1, 1763208000000, 'x', 'parsley %.*s')",
                                           STR_ARG(secret))));
  direct_close(d);
  struct engine_options o = {.path = store};
  CHECK_OK(engine_open(&o, &e, &err), &err);
}

TEST(results_and_lines_contain_no_secrets) {
  setup();
  struct str t = token(6), clean = STR("parsley [REDACTED:github_token]");
  plant(t);
  struct str reply = run("get", "{\"id\": \"1\"}");
  CHECK(!holds(reply, t) && holds(reply, clean));
  run("export", "{}");
  bool shown = false;
  for (size_t i = 0; i < emitted.n; i++) {
    CHECK(!holds(emitted.v[i], t));
    shown |= holds(emitted.v[i], clean);
  }
  CHECK(shown);
  run("export", arena_cstr(&a, arena_printf(&a, "{\"file\": \"%s\"}", in_dir("out.jsonl"))));
  struct str file;
  CHECK_OK(fs_read(&a, in_dir("out.jsonl"), 1 << 20, &file, &err), &err);
  CHECK(!holds(file, t) && holds(file, clean));
  done();
  arena_release(&a);
}

/* Presentation would show the parts as one word. */
TEST(results_contain_no_secrets_split_by_invisible_characters) {
  setup();
  struct str value = STR("Parsley-Kettle-" MARK);
  run("vault set", "{\"key\": \"door\", \"value\": \"Parsley-Kettle-" MARK "\", \"secret\": true}");
  struct buf both = BUF(&a);
  for (size_t i = 0; i < ARRAY_LEN(invisible); i++) {
    split = true;
    buf_addf(&both, " %.*s and %.*s%s%s,", STR_ARG(secret_number(i)), 10, value.p, invisible[i], value.p + 10);
  }
  plant(buf_str(&both));
  struct str reply = run("get", "{\"id\": \"1\"}");
  CHECK(holds(reply, STR("[REDACTED:github_token] and [REDACTED:vault_secret]")));
  CHECK(!holds(reply, STR(MARK)));
  done();
  arena_release(&a);
}

TEST(errors_contain_no_secrets) {
  setup();
  struct str t = token(7);
  yyjson_mut_val *result;
  static const char *const calls[][3] = {{"get", "{\"id\": \"%s\"}"},
                                         {"skill load", "{\"name\": \"%s\"}"},
                                         {"search", "{\"query\": \"x\", \"since\": \"%s\"}"},
                                         {"list", "{\"%s\": 1}"},
                                         {"list", "{\"kind\": \"%s\"}"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct str left, right = str_from(calls[i][1]);
    CHECK(str_next(&right, '%', &left));
    const char *json = arena_cstr(&a, arena_printf(&a, "%.*s%.*s%s", STR_ARG(left), STR_ARG(t), right.p + 1));
    test_note("%s %s", calls[i][0], json);
    CHECK(try(calls[i][0], json, &result) != STATUS_OK);
    CHECK(!strstr(err.message, arena_cstr(&a, t)) && !strstr(err.fix, arena_cstr(&a, t)));
  }
  done();
  check_no_file_holds(test_dir(), arena_cstr(&a, t));
  arena_release(&a);
}
