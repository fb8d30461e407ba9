/* test_protected.c: local agents cannot change settings that protect the user, nor push out a person's backup. */
#include <glob.h>
#include <unistd.h>

#include "support/cli.h"

#define TALK(params)                                                                                                   \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","            \
  "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"                                          \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"                                                   \
  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{" params "}}\n"

/* A call of a local agent with the profile `full`. */
static struct str agent_says(const char *params) {
  struct run r = CAIRN_FED(str_from(params), "mcp", "--profile", "full", "--project", "p");
  CHECK_INT(r.exit_code, 0);
  return r.out;
}

static struct str agent_sets(const char *name, const char *value) {
  return agent_says(
      textf(TALK("\"name\":\"memory_config\",\"arguments\":{\"name\":\"%s\",\"value\":\"%s\"}"), name, value));
}

/* The only ones of all settings: docs/configuration.md. */
static bool only_tunes_search(const char *name) {
  static const char *const names[] = {"search.vector_weight", "search.provider", "decay.half_life_days",
                                      "pruning.tool_results", "sources.watch"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

TEST(an_agent_cannot_change_settings_that_protect, .seconds = 180) {
  enum { OPEN = 5 };
  yyjson_val *settings = jget(OK("config"), "settings"), *setting;
  size_t i, n, open = 0;
  CHECK(yyjson_arr_size(settings) > 40);
  yyjson_arr_foreach(settings, i, n, setting) {
    const char *name = cstr(jstr(setting, "name")), *value = cstr(jstr(setting, "default"));
    bool may = only_tunes_search(name);
    struct str out = agent_sets(name, value[0] ? value : "x");
    test_note("%s: %.*s", name, STR_ARG(out));
    CHECK(has(out, "agents may not change") == !may);
    CHECK_INT(sql_number(textf("SELECT count(*) FROM setting WHERE name = '%s'", name)), may);
    open += may;
  }
  CHECK_INT((int64_t)open, OPEN);
  OK("config", "gate.mode", "strict"); /* a person may */
}

TEST(an_agent_cannot_undo_a_setting_of_a_person) {
  int64_t txn = jint(OK("config", "gate.mode", "strict"), "txn");
  struct str out = agent_says(textf(TALK("\"name\":\"memory_undo\",\"arguments\":{\"txn\":%lld}"), (long long)txn));
  CHECK(has(out, "agents may not change gate.mode"));
  CHECK_STR(jstr(OK("config", "gate.mode"), "value"), "strict");
  OK("undo", textf("%lld", (long long)txn)); /* the person may */
  CHECK_STR(jstr(OK("config", "gate.mode"), "value"), "assist");
}

TEST(an_agent_cannot_restore_a_former_embedder) {
  STORE("The gate is painted green", "--project", "");
  cli_set("CAIRN_EMBEDDER");
  OK("config", "embedder", "hash-v1");
  struct str out = agent_says(TALK("\"name\":\"memory_reembed\",\"arguments\":{\"rollback\":true}"));
  CHECK(has(out, "agents may not change embedder"));
}

static size_t count_backups(const char *label) {
  glob_t g;
  size_t n = glob(cli_side(textf(".backup-%s*", label)), 0, NULL, &g) == 0 ? g.gl_pathc : 0;
  globfree(&g);
  return n;
}

TEST(backups_of_agents_do_not_push_out_those_of_a_person, .only = TEST_ON_SQLITE, .seconds = 60) {
  STORE("The gate is painted green", "--project", "");
  const char *mine = cstr(jstr(OK("backup"), "file"));
  for (int i = 0; i < 9; i++)
    agent_says(TALK("\"name\":\"memory_backup\",\"arguments\":{}"));
  CHECK_INT(access(mine, F_OK), 0);
  CHECK_INT((int64_t)count_backups("agent"), 7);
  for (int i = 0; i < 9; i++)
    OK("backup");
  CHECK_INT((int64_t)count_backups("manual"), 7); /* a person's own rotation */
  CHECK_INT((int64_t)count_backups("agent"), 7);
}
