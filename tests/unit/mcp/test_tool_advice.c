/* test_tool_advice.c: CLI commands in messages become calls of tools. */
#include "mcp/tools/tool.h"

#include "op/access/authenticate.h"
#include "support/harness.h"
#include "tooling.h"

static struct tool_run run;

static const struct principal *principal;

/* The tool that answers a call of the operation, or the first one. */
static void set_tool(const char *op) {
  run.tool = run.profile->tools;
  for (const struct tool *t = run.profile->tools; op && t->name; t++) {
    if (t->op && strcmp(t->op, op) == 0)
      run.tool = t;
    for (const struct tool_action *p = t->actions; p && p->name; p++)
      if (strcmp(p->op, op) == 0) {
        run.tool = t;
        run.action = p;
      }
  }
}

/* In an answer to a call of the operation; NULL: of any. */
static struct str words_after(const char *profile, const char *op, const char *text) {
  run = (struct tool_run){.profile = profile_find(str_from(profile)),
                          .caller = {.trust = STR("agent"), .principal = principal},
                          .arena = &tooling_arena,
                          .doc = json_new(&tooling_arena),
                          .err = &tooling_error};
  set_tool(op);
  return tool_rewrite_advice(&run, str_from(text));
}

static struct str words(const char *profile, const char *text) { return words_after(profile, NULL, text); }

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
  CHECK_STR(words_after("default", "supersede", "repeat the call with --reason 'what changed'"),
            "repeat the call with reason 'what changed'");
  CHECK_STR(words_after("default", "unsupersede", "leave --keep-corrector out"), "leave keep_corrector out");
  CHECK_STR(words_after("default", "remember", "repeat the call with --project 'web'"),
            "repeat the call with project 'web'");
  CHECK_STR(words("default", "a -- b, x--y"), "a -- b, x--y");
}

TEST(commands_without_a_tool_are_for_the_user) {
  CHECK_STR(words("default", "run 'cairn doctor --repair'"), "run 'cairn doctor --repair' (a command for the user)");
}

TEST(options_that_the_tool_lacks_are_for_the_user) {
  CHECK_STR(words_after("full", "sync", "with --adopt it becomes the page; or name another file with --path"),
            "with adopt it becomes the page; or name another file with --path (an option of the command line, for the "
            "user)");
  CHECK_STR(words_after("openbrain", "remember", "repeat the call with --inherit-skill"),
            "repeat the call with --inherit-skill (an option of the command line, for the user)");
}

/* Agents may not change these. */
TEST(protected_settings_are_for_the_user) {
  CHECK_STR(words("full", "or 'cairn config secrets.mode redact' to have secrets redacted"),
            "or 'cairn config secrets.mode redact' (a command for the user) to have secrets redacted");
  CHECK_STR(words("full", "cairn config embedder.file FILE"),
            "'cairn config embedder.file FILE' (a command for the user)");
  CHECK_STR(words("full", "'cairn config embedder --unset' restores the default"),
            "'cairn config embedder --unset' (a command for the user) restores the default");
  CHECK_STR(words("full", "'cairn config embedder' shows the setting"),
            "memory_config {\"name\":\"embedder\"} shows the setting");
}

/* tools/list leaves them out for this caller. */
TEST(operations_that_the_role_may_not_call_are_for_the_user) {
  static const struct principal project = {.name = STR_INIT("seo"), .role = ROLE_PROJECT},
                                reader = {.name = STR_INIT("eye"), .role = ROLE_ADMIN, .read_only = true};
  principal = &project;
  CHECK_STR(words("full", "'cairn config' lists all"), "'cairn config' (a command for the user) lists all");
  CHECK_STR(words("full", "'cairn list' lists all"), "memory_list {} lists all");
  principal = &reader;
  CHECK_STR(words("full", "'cairn list' lists all"), "memory_list {} lists all");
  CHECK_STR(words("full", "store it with 'cairn remember TEXT'"),
            "store it with 'cairn remember TEXT' (a command for the user)");
}

TEST(other_text_is_unchanged) {
  CHECK_STR(words("default", "take it out and say where it is kept"), "take it out and say where it is kept");
  CHECK_STR(words("default", ""), "");
  CHECK_STR(words("default", "a cairn is a heap of stones"), "a cairn is a heap of stones");
}
