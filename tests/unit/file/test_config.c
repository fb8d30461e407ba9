/* test_config.c: keys and values of cairn.toml and --set assignments, and locations in errors. */
#include "file/config.h"

#include "base/os/fs.h"

#include "support/harness.h"
#include "support/proc.h"

static struct arena a;
static struct error err;

static const struct settings_given *parse(const char *text) {
  struct settings_given *given = arena_new(&a, struct settings_given);
  test_note("%s", text);
  CHECK_OK(config_parse(&a, str_from(text), STR("c.toml"), given, &err), &err);
  return given;
}

static struct str value_of(const char *text, enum setting_id id) { return parse(text)->file[id].value; }

static void refused(const char *text, const char *begin) {
  struct settings_given *given = arena_new(&a, struct settings_given);
  test_note("%s", text);
  CHECK_STATUS(config_parse(&a, str_from(text), STR("c.toml"), given, &err), STATUS_USAGE);
  if (!str_starts(str_from(err.message), str_from(begin)))
    FAIL("'%s' does not begin with '%s'", err.message, begin);
  CHECK(err.fix[0]);
}

TEST(every_setting_can_be_given_by_its_name) {
  for (int i = 0; i < SET_COUNT; i++) {
    const struct setting *t = &setting_table[i];
    bool quotes = !setting_is_number((enum setting_id)i);
    const char *text =
        arena_printf(&a, "\n\"%s\" = %s%s%s\n", t->name, quotes ? "\"" : "", t->fallback, quotes ? "\"" : "").p;
    const struct settings_given *given = parse(text);
    for (int k = 0; k < SET_COUNT; k++)
      CHECK((given->file[k].value.p != NULL) == (k == i));
    CHECK_STR(given->file[i].value, t->fallback);
    CHECK_INT(given->file[i].line, 2);
  }
}

/* Names and defaults of the interface MemoryConfig of the specification. */
TEST(every_key_of_the_specification_is_known) {
  const struct settings_given *given = parse("[memory]\n"
                                             "memoryPath = \"<agent>/MEMORY.md\"\n"
                                             "maxMemorySize = 50_000\n"
                                             "sessionsPath = \"<agent>/sessions/\"\n"
                                             "sessionRetentionDays = 30\n"
                                             "compactionThreshold = 100000\n"
                                             "compactionKeepRecent = 10\n"
                                             "flushEnabled = true\n"
                                             "flushThreshold = 80000\n"
                                             "searchProvider = \"fts5\"\n"
                                             "vectorModel = \"none\"\n"
                                             "toolResultRetention = 5\n");
  static const struct {
    enum setting_id id;
    const char *value;
    int line;
  } want[] = {{SET_MEMORY_PATH, "<agent>/MEMORY.md", 2},
              {SET_MEMORY_MAX_CHARS, "50000", 3},
              {SET_SESSIONS_PATH, "<agent>/sessions/", 4},
              {SET_SESSION_RETENTION_DAYS, "30", 5},
              {SET_COMPACTION_THRESHOLD, "100000", 6},
              {SET_COMPACTION_KEEP_RECENT, "10", 7},
              {SET_FLUSH_ENABLED, "on", 8},
              {SET_FLUSH_THRESHOLD, "80000", 9},
              {SET_SEARCH_PROVIDER, "fts5", 10},
              {SET_EMBEDDER, "none", 11},
              {SET_TOOL_RESULTS, "5", 12}};
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    CHECK_STR(given->file[want[i].id].value, want[i].value);
    CHECK_INT(given->file[want[i].id].line, want[i].line);
  }
}

TEST(tables_and_dotted_keys_are_the_same) {
  CHECK_STR(value_of("gate.mode = \"strict\"", SET_GATE_MODE), "strict");
  CHECK_STR(value_of("[gate]\nmode = 'strict'", SET_GATE_MODE), "strict");
  CHECK_STR(value_of("gate = { mode = 'strict' }", SET_GATE_MODE), "strict");
  CHECK_STR(value_of("embedder = 'none'", SET_EMBEDDER), "none");
  const struct settings_given *given = parse("[embedder]\nname = 'ollama'\nmodel = 'm'\ndims = 256");
  CHECK_STR(given->file[SET_EMBEDDER].value, "ollama");
  CHECK_STR(given->file[SET_EMBEDDER_MODEL].value, "m");
  CHECK_STR(given->file[SET_EMBEDDER_DIMS].value, "256");
  CHECK_STR(value_of("search.vector_weight = 2.5e-1", SET_VECTOR_WEIGHT), "2.5e-1");
  CHECK_STR(value_of("notify.errors = false", SET_NOTIFY_ERRORS), "off");
  CHECK_STR(value_of("notify.errors = 'on'", SET_NOTIFY_ERRORS), "on");
}

TEST(mistakes_name_their_line) {
  refused("\ngate.colour = 1", "c.toml:2:6: there is no setting 'gate.colour'");
  refused("[memory]\nmemorypath = 'x'", "c.toml:2:1: there is no setting 'memory.memorypath'");
  CHECK(strstr(err.fix, "memory.memoryPath"));
  refused("[colours]", "c.toml:1:2: there is no setting 'colours'");
  refused("[gate.mode]", "c.toml:1:7: gate.mode is a text in quotes, not a table");
  refused("[[gate]]\nmode = 'strict'", "c.toml:1:3: there is no setting 'gate'");
  refused("gate.mode = 'lenient'", "c.toml:1:6: 'lenient' is not a valid value of gate.mode");
  refused("[fact]\n\nhalf_life_days = -3", "c.toml:3:1: '-3' is not a valid value of fact.half_life_days");
  refused("fact.half_life_days = inf", "c.toml:1:6: 'inf' is not a valid value");
  refused("fact.half_life_days = '7'", "c.toml:1:6: fact.half_life_days is a number, without quotes, not a string");
  refused("gate.mode = true", "c.toml:1:6: gate.mode is a text in quotes, not a boolean");
  refused("[memory]\nflushEnabled = 1", "c.toml:2:1: flush.enabled is true or false, not a number");
  refused("files.root = ['a']", "c.toml:1:7: files.root is a text in quotes, not an array");
  refused("gate.mode = strict", "c.toml:1:13: not a valid value");
  refused("[memory]\nmemoryPath = 'a'\n[files]\nmemory_path = 'b'",
          "c.toml:4:1: files.memory_path is set already, in line 2");
}

TEST(errors_do_not_repeat_a_key_given_as_its_name) {
  refused("embedder.key_env = 'sk-live-abcdef'", "c.toml:1:10: not a valid value of embedder.key_env");
  CHECK(!strstr(err.message, "sk-live") && !strstr(err.fix, "sk-live"));
}

TEST(a_vector_model_is_an_embedder_or_the_model_of_one) {
  CHECK_STR(value_of("memory.vectorModel = 'hash-v1'", SET_EMBEDDER), "hash-v1");
  const struct settings_given *given = parse("memory.vectorModel = 'nomic'\n[embedder]\nname = 'ollama'");
  CHECK_STR(given->file[SET_EMBEDDER].value, "ollama");
  CHECK_STR(given->file[SET_EMBEDDER_MODEL].value, "nomic");
  refused("\nmemory.vectorModel = 'nomic'", "c.toml:2:8: vectorModel names a model");
  refused("memory.vectorModel = ''", "c.toml:1:8: vectorModel is empty");
  refused("memory.vectorModel = 'none'\nembedder = 'none'", "c.toml:2:1: embedder is set already, in line 1");
}

static struct settings_given assigned;

static enum status assign(const char *text) { return config_assign(&a, str_from(text), "--set", &assigned, &err); }

TEST(assignments_are_checked_and_the_last_one_wins) {
  CHECK_OK(assign("gate.mode=strict"), &err);
  CHECK_OK(assign("gate.mode=assist"), &err);
  CHECK_OK(assign("embedder.query_prefix=a=b"), &err);
  CHECK_OK(assign("embedder.url="), &err);
  CHECK_STR(assigned.flag[SET_GATE_MODE].value, "assist");
  CHECK_STR(assigned.flag[SET_EMBEDDER_QUERY_PREFIX].value, "a=b");
  CHECK(assigned.flag[SET_EMBEDDER_URL].value.p && assigned.flag[SET_EMBEDDER_URL].value.n == 0);
  CHECK(!assigned.flag[SET_EMBEDDER].value.p && !assigned.file[SET_GATE_MODE].value.p);
  CHECK_STATUS(assign("gate.mode"), STATUS_USAGE);
  CHECK_STATUS(assign("=strict"), STATUS_USAGE);
  CHECK_STATUS(assign("gate.mod=strict"), STATUS_USAGE);
  CHECK(strstr(err.fix, "gate.mode"));
  CHECK_STATUS(assign("gate.mode=lenient"), STATUS_USAGE);
  CHECK(strstr(err.message, "lenient") && strstr(err.fix, "strict"));
}

static enum status load(const char *file, const struct settings_given **ret) {
  struct config_source source = {.file = str_from(file), .option = "--set"};
  return config_load(&a, &source, ret, &err);
}

TEST(the_right_configuration_file_is_read) {
  const struct settings_given *given = NULL;
  const char *home = path_join(NULL, "home"), *folder = path_join(home, "cairn");
  const char *usual = path_join(folder, "cairn.toml"), *other = path_join(NULL, "other.toml");
  setenv("XDG_CONFIG_HOME", home, 1);
  CHECK_OK(load(NULL, &given), &err);
  CHECK(!given->path.p);
  CHECK_OK(fs_mkdirs(folder, &err), &err);
  file_write(usual, STR("gate.mode = 'strict'"));
  file_write(other, STR("gate.mode = 'assist'"));
  CHECK_OK(load(NULL, &given), &err);
  CHECK_STR(given->path, usual);
  CHECK_STR(given->file[SET_GATE_MODE].value, "strict");
  setenv("CAIRN_CONFIG", other, 1);
  CHECK_OK(load(NULL, &given), &err);
  CHECK_STR(given->file[SET_GATE_MODE].value, "assist");
  CHECK_OK(load(usual, &given), &err);
  CHECK_STR(given->file[SET_GATE_MODE].value, "strict");
  CHECK_OK(load("/dev/null", &given), &err);
  CHECK(!given->file[SET_GATE_MODE].value.p);
}

TEST(a_named_file_must_exist) {
  const struct settings_given *given = NULL;
  CHECK_STATUS(load(path_join(NULL, "missing.toml"), &given), STATUS_NOT_FOUND);
  CHECK_STATUS(load("", &given), STATUS_USAGE);
  CHECK(load(test_dir(), &given) != STATUS_OK);
  setenv("CAIRN_CONFIG", path_join(NULL, "missing.toml"), 1);
  CHECK_STATUS(load(NULL, &given), STATUS_NOT_FOUND);
  struct buf b = BUF(&a);
  while (b.n <= CONFIG_BYTES)
    buf_adds(&b, "# long\n");
  file_write(path_join(NULL, "large.toml"), buf_str(&b));
  CHECK_STATUS(load(path_join(NULL, "large.toml"), &given), STATUS_TOO_LARGE);
  CHECK(!given);
}

TEST(a_home_folder_is_not_required) {
  const struct settings_given *given = NULL;
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  CHECK_OK(load(NULL, &given), &err);
  CHECK(!given->path.p);
  setenv("XDG_CONFIG_HOME", "/dev/null", 1);
  CHECK_OK(load(NULL, &given), &err);
  CHECK(!given->path.p);
}
