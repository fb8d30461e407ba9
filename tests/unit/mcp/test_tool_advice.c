/* test_tool_advice.c: CLI commands in messages become calls of tools. */
#include "mcp/tools/tool.h"
#include "support/harness.h"
#include "tooling.h"

static struct tool_run run;

static struct str words(const char *profile, const char *text) {
  run = (struct tool_run){.profile = profile_find(str_from(profile)),
                          .arena = &tooling_arena,
                          .doc = json_new(&tooling_arena),
                          .err = &tooling_error};
  run.tool = run.profile->tools;
  return tool_rewrite_advice(&run, str_from(text));
}

TEST(commands_become_calls) {
  CHECK_STR(words("default", "cairn supersede 12 --reason WHY TEXT"),
            "memory_correct {\"action\":\"supersede\",\"id\":12,\"reason\":\"WHY\",\"text\":\"TEXT\"}");
  CHECK_STR(words("default", "'cairn task list' shows the tasks"), "memory_task {\"action\":\"list\"} shows the tasks");
  CHECK_STR(words("default", "to reopen it: cairn task status 7 open"),
            "to reopen it: memory_task {\"action\":\"status\",\"id\":7,\"status\":\"open\"}");
  CHECK_STR(words("default", "name an id; 'cairn list' and 'cairn search' show them"),
            "name an id; memory_list {} and memory_search {\"query\":\"QUERY\"} show them");
  CHECK_STR(words("full", "'cairn history 4' shows the chain"), "memory_history {\"id\":4} shows the chain");
  CHECK_STR(words("default", "'cairn history 4' shows the chain"),
            "memory_get {\"action\":\"history\",\"id\":4} shows the chain");
}

TEST(commands_in_a_sentence) {
  CHECK_STR(words("default", "boot first (cairn boot --register), and go on"),
            "boot first (memory_boot {}), and go on");
  CHECK_STR(words("default", "cairn action ack 3 will_execute   (or: already_done --reason WHY); reads stay open"),
            "memory_session {\"action\":\"ack\",\"id\":3,\"fields\":{\"decision\":\"will_execute\"}}   (or: "
            "already_done reason "
            "WHY); reads stay open");
  CHECK_STR(words("default", "cairn supersede 4 --inherit-skill --reason WHY TEXT"),
            "memory_correct {\"action\":\"supersede\",\"id\":4,\"reason\":\"WHY\",\"text\":\"TEXT\",\"fields\":{"
            "\"inherit_skill\":true}}");
  CHECK_STR(words("default", "keep it, or 'cairn config secrets.mode redact' to have secrets replaced"),
            "keep it, or 'cairn config secrets.mode redact' (a command for the user) to have secrets replaced");
  CHECK_STR(words("default", "more: cairn list --kind rule"), "more: memory_list {\"fields\":{\"kind\":\"rule\"}}");
  CHECK_STR(words("readonly", "store it with 'cairn remember'"),
            "store it with 'cairn remember' (a command for the user)");
}

TEST(options_become_arguments) {
  CHECK_STR(words("default", "repeat the call with --reason 'what changed'"),
            "repeat the call with reason 'what changed'");
  CHECK_STR(words("default", "leave --keep-corrector out"), "leave keep_corrector out");
  CHECK_STR(words("default", "a -- b, x--y"), "a -- b, x--y");
}

TEST(commands_without_a_tool_are_for_the_user) {
  CHECK_STR(words("default", "run 'cairn doctor --repair'"), "run 'cairn doctor --repair' (a command for the user)");
}

TEST(other_text_is_unchanged) {
  CHECK_STR(words("default", "take it out and say where it is kept"), "take it out and say where it is kept");
  CHECK_STR(words("default", ""), "");
  CHECK_STR(words("default", "a cairn is a heap of stones"), "a cairn is a heap of stones");
}
