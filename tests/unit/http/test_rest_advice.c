/* test_rest_advice.c: advice about the command line is rewritten as requests. */
#include "http/rest/rest.h"

#include "support/harness.h"

static struct arena a;

static struct str words(const char *text) { return rest_advice(&a, str_from(text)); }

TEST(commands_become_requests) {
  CHECK_STR(words("cairn supersede 12 --reason WHY TEXT"),
            "POST /api/v1/memories/12/supersede {\"reason\":\"WHY\",\"text\":\"TEXT\"}");
  CHECK_STR(words("'cairn task list' shows the tasks"), "GET /api/v1/tasks shows the tasks");
  CHECK_STR(words("to reopen it: cairn task status 7 open"),
            "to reopen it: POST /api/v1/tasks/7/status {\"status\":\"open\"}");
  CHECK_STR(words("name an id; 'cairn list' and 'cairn history 4' show them"),
            "name an id; GET /api/v1/memories and GET /api/v1/memories/4/history show them");
  CHECK_STR(words("more: cairn list --kind rule"), "more: GET /api/v1/memories?kind=rule");
  CHECK_STR(words("cairn annotate 3"), "GET /api/v1/memories/3/annotations");
  CHECK_STR(words("cairn remember TEXT"), "POST /api/v1/memories {\"text\":\"TEXT\"}");
  CHECK_STR(words("'cairn vault list' shows the keys there are"),
            "POST /api/v1/ops/vault-list shows the keys there are");
}

/* A DELETE request would be a trap for a user who pastes it. */
TEST(no_request_that_deletes_is_suggested) {
  CHECK_STR(words("or cairn forget 4 --reason WHY"), "or POST /api/v1/memories/4/forget {\"reason\":\"WHY\"}");
  CHECK_STR(words("'cairn purge 4 --confirm'"), "'cairn purge 4 --confirm' (on the machine of the store)");
  CHECK_STR(words("'cairn restore FILE' brings a backup back"),
            "'cairn restore FILE' (on the machine of the store) brings a backup back");
}

TEST(options_help_and_the_session) {
  CHECK_STR(words("repeat the call with --reason 'what changed'"), "repeat the call with reason 'what changed'");
  CHECK_STR(words("boot first (cairn boot --register), and give the session that it returns with each call "
                  "(--session, or CAIRN_SESSION)"),
            "boot first (POST /api/v1/boot {\"register\":true}), and give the session that it returns with each call "
            "(the header Cairn-Session)");
  CHECK_STR(words("run 'cairn doctor --repair'"), "run 'cairn doctor --repair' (on the machine of the store)");
  CHECK_STR(words("a cairn is a heap of stones"), "a cairn is a heap of stones");
}

TEST(path_variables_are_encoded) { CHECK_STR(words("cairn skill load 'a b/c'"), "GET /api/v1/skills/a%20b%2Fc"); }

/* The rest of an error is unchanged. */
TEST(an_error_keeps_its_machine_readable_fields) {
  struct error err;
  error_set(&err, STATUS_DUPLICATE, "it is stored already");
  error_step(&err, "supersede");
  err.about = 12;
  err.similarity = 0.5;
  error_fix(&err, "'cairn get 12' shows it");
  rest_advise_error(&a, &err);
  CHECK_STR(str_from(err.message), "it is stored already");
  CHECK_STR(str_from(err.fix), "GET /api/v1/memories/12 shows it");
  CHECK_STR(str_from(err.step), "supersede");
  CHECK(err.code == STATUS_DUPLICATE && err.about == 12 && err.similarity > 0.49 && err.similarity < 0.51);
}

TEST(advice_of_a_result_is_translated_and_stored_text_is_not) {
  struct error err;
  yyjson_val *read;
  const char *json = "{\"headline\":\"cairn list\",\"warnings\":[{\"code\":\"x\",\"message\":\"close to rule 3: cairn "
                     "list\",\"fix\":\"cairn get 3\"}]}";
  CHECK_OK(json_read(&a, str_from(json), &read, &err), &err);
  yyjson_mut_val *result = yyjson_val_mut_copy(json_new(&a), read);
  rest_advise_result(&a, "remember", result);
  CHECK_STR(json_write(&a, result, false),
            "{\"headline\":\"cairn list\",\"warnings\":[{\"code\":\"x\",\"message\":\"close to rule 3: cairn "
            "list\",\"fix\":\"GET /api/v1/memories/3\"}]}");
}

/* Banners quote memories and the reasons why they are not current; an agent's note is its owner's text. */
TEST(banners_and_agent_notes_are_unchanged) {
  struct error err;
  yyjson_val *read;
  const char *json =
      "{\"banner\":\"This memory has been superseded since then: now with --reason. The current version is 4: "
      "Never push with --force\",\"agents\":[{\"name\":\"ops\",\"note\":\"may say --reason\","
      "\"created_at\":\"2026-01-01T00:00:00Z\"}],\"note\":\"";
  struct str text = arena_printf(&a, "%s%s", json, "cairn list --kind rule\"}");
  CHECK_OK(json_read(&a, text, &read, &err), &err);
  yyjson_mut_val *result = yyjson_val_mut_copy(json_new(&a), read);
  rest_advise_result(&a, "config", result);
  CHECK_STR(json_write(&a, result, false), arena_printf(&a, "%s%s", json, "GET /api/v1/memories?kind=rule\"}").p);
}
