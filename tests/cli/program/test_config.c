/* test_config.c: settings from flags, environment, file, store and defaults: precedence and reported origin. */
#include "support/cli.h"

static const char *config_file(const char *text) {
  const char *path = path_join(NULL, "cairn.toml");
  file_write(path, str_from(text));
  return path;
}

static void check(const char *name, const char *value, const char *origin) {
  yyjson_val *r = OK("config", name);
  CHECK_STR(jstr(r, "value"), value);
  CHECK_STR(jstr(r, "origin"), origin);
  CHECK((jget(r, "line") != NULL) == (strcmp(origin, "file") == 0));
}

TEST(flag_environment_file_store_default_in_this_order) {
  check("gate.mode", "assist", "default");
  OK("config", "gate.mode", "strict");
  check("gate.mode", "strict", "store");
  const char *path = config_file("# mine\n\n[gate]\nmode = \"assist\"\n");
  cli_set(textf("CAIRN_CONFIG=%s", path));
  check("gate.mode", "assist", "file");
  yyjson_val *r = OK("config", "gate.mode");
  CHECK_STR(jstr(r, "file"), path);
  CHECK_INT(jint(r, "line"), 4);
  cli_set("CAIRN_GATE_MODE=strict");
  check("gate.mode", "strict", "environment");
  r = OK("config", "gate.mode", "--set", "gate.mode=assist");
  CHECK_STR(jstr(r, "value"), "assist");
  CHECK_STR(jstr(r, "origin"), "flag");
  check("gate.mode", "strict", "environment");
  cli_set("CAIRN_GATE_MODE");
  cli_set("CAIRN_CONFIG");
  check("gate.mode", "strict", "store");
}

TEST(the_effective_value_is_used) {
  const char *path = config_file("secrets.mode = \"redact\"\n");
  const char *token = "ghp_"
                      "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  STORE("Parsley grows in pots");
  REFUSED("secret", "remember", textf("The deploy key is %s", token));
  OK("--config", path, "remember", textf("The deploy key is %s", token));
  OK("--set", "secrets.mode=redact", "remember", textf("Mirrors are pulled with %s", token));
  CHECK(!store_holds(token));
}

TEST(the_list_names_the_file_and_the_lines) {
  const char *path = config_file("boot.budget_tokens = 3_000\n[memory]\nflushEnabled = false\n");
  yyjson_val *r = OK("config", "--config", path), *s;
  size_t i, n, from_file = 0;
  CHECK_STR(jstr(r, "file"), path);
  yyjson_arr_foreach(jget(r, "settings"), i, n, s) {
    if (!str_is(jstr(s, "origin"), "file"))
      continue;
    from_file++;
    bool budget = str_is(jstr(s, "name"), "boot.budget_tokens");
    CHECK_STR(jstr(s, "name"), budget ? "boot.budget_tokens" : "flush.enabled");
    CHECK_STR(jstr(s, "value"), budget ? "3000" : "off");
    CHECK_INT(jint(s, "line"), budget ? 1 : 3);
    CHECK_STR(jstr(s, "file"), path);
  }
  CHECK_INT(from_file, 2);
  struct run shown = CAIRN("config", "--config", path);
  CHECK_INT(shown.exit_code, 0);
  CHECK(has(shown.out, "file:3") && has(shown.out, path));
  CHECK(!jget(OK("config"), "file"));
}

TEST(a_mistake_in_the_file_names_its_line_and_nothing_runs) {
  STORE("Parsley grows in pots");
  struct {
    const char *text, *place;
  } bad[] = {{"gate.mode = \"strict\"\ngate.colour = \"red\"\n", "cairn.toml:2:6: "},
             {"[gate]\nmode = \"lenient\"\n", "cairn.toml:2:1: "},
             {"[memory]\n\nmaxMemorySize = \"much\"\n", "cairn.toml:3:1: "},
             {"[memory]\nmaxmemorysize = 5\n", "cairn.toml:2:1: "},
             {"gate.mode = \"strict\n", "cairn.toml:1:13: "},
             {"gate.mode = \"strict\"\ngate.mode = \"assist\"\n", "cairn.toml:2:6: "}};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    const char *path = config_file(bad[i].text);
    test_note("%s", bad[i].text);
    yyjson_val *r = REFUSED("usage", "--config", path, "remember", "Nothing of this is stored");
    CHECK(has(jstr(r, "message"), bad[i].place));
    REFUSED("usage", "--config", path, "config");
    REFUSED("usage", "--config", path, "model", "show");
    CHECK_INT(CAIRN("mcp", "--config", path).exit_code, 2);
    CHECK_INT(CAIRN("serve", "--port", "0", "--config", path).exit_code, 2);
  }
}

TEST(flags_are_checked) {
  OK("stats");
  yyjson_val *r = REFUSED("usage", "config", "files.memory_max_chars", "5");
  CHECK_STR(jstr(r, "fix"), "a number from 1000 to 10000000");
  REFUSED("usage", "--set", "gate.mode", "list");
  REFUSED("usage", "--set", "gate.colour=red", "list");
  REFUSED("usage", "--set", "gate.mode=lenient", "list");
  REFUSED("usage", "--config", "", "list");
  REFUSED("not_found", "--config", path_join(NULL, "nothing.toml"), "list");
  OK("--setting", "gate.mode=strict", "--set", "fact.half_life_days=9", "list");
}

TEST(changing_an_overridden_setting_reports_the_override) {
  const char *path = config_file("\ngate.mode = \"assist\"\n");
  yyjson_val *r = OK("--config", path, "config", "gate.mode", "strict");
  CHECK_STR(jstr(r, "value"), "assist");
  CHECK_STR(jstr(r, "overridden_by"), textf("%s:2", path));
  check("gate.mode", "strict", "store");
  r = OK("--set", "gate.mode=strict", "config", "gate.mode", "--unset");
  CHECK_STR(jstr(r, "overridden_by"), "--set");
  cli_set("CAIRN_GATE_MODE=strict");
  r = OK("config", "gate.mode", "assist");
  CHECK_STR(jstr(r, "overridden_by"), "CAIRN_GATE_MODE");
  cli_set("CAIRN_GATE_MODE");
  CHECK(!jget(OK("config", "gate.mode", "strict"), "overridden_by"));
}

TEST(the_default_file_is_found) {
  const char *folder = path_join(NULL, "config/cairn");
  CHECK_INT(proc_run(.argv = ARGS("mkdir", "-p", folder)).exit_code, 0);
  file_write(path_join(folder, "cairn.toml"), STR("[fact]\nhalf_life_days = 12\n"));
  check("fact.half_life_days", "12", "file");
  cli_set("CAIRN_CONFIG=/dev/null");
  check("fact.half_life_days", "7", "default");
}

TEST(the_provider_sets_the_default_search_mode) {
  STORE("Parsley grows in pots");
  CHECK_STR(jstr(OK("search", "parsley"), "search_mode"), "hybrid");
  CHECK_STR(jstr(OK("search", "parsley", "--set", "search.provider=fts5"), "search_mode"), "keyword");
  const char *path = config_file("[memory]\nsearchProvider = \"fts5\"\n");
  cli_set(textf("CAIRN_CONFIG=%s", path));
  yyjson_val *r = OK("search", "parsley");
  CHECK_STR(jstr(r, "search_mode"), "keyword");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_STR(jstr(OK("search", "parsley", "--mode", "hybrid"), "search_mode"), "hybrid");
  CHECK_STR(jstr(OK("search", "parsley", "--mode", "vector"), "search_mode"), "vector");
}

/* Applies to every engine of a server's pool. */
TEST(servers_use_the_file_and_the_flags) {
  const char *path = config_file("boot.budget_tokens = 4321\n");
  static const char talk[] =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","
      "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_config\","
      "\"arguments\":{\"name\":\"boot.budget_tokens\"}}}\n"
      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_config\","
      "\"arguments\":{\"name\":\"gate.mode\"}}}\n";
  struct run r = CAIRN_FED(str_from(talk), "mcp", "--profile", "full", "--config", path, "--set", "gate.mode=strict");
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "4321") && has(r.out, "cairn.toml") && has(r.out, "flag") && has(r.out, "strict"));
}
