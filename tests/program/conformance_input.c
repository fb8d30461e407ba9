/* conformance_input.c: conformance fixtures that ask the client for input: with requests before 2026-07-28, with
 * results that require input since then. */
#include "conformance.h"

#define FORM(message, properties, required)                                                                            \
  "{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties                  \
  "},\"required\":[" required "]}}"
#define ELICIT(key, message, properties, required)                                                                     \
  "\"" key "\":{\"method\":\"elicitation/create\",\"params\":" FORM(message, properties, required) "}"
#define SAMPLE(key, text)                                                                                              \
  "\"" key "\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\",\"content\":{"      \
  "\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":100}}"
#define ROOTS(key) "\"" key "\":{\"method\":\"roots/list\",\"params\":{}}"

#define ASK_NAME ELICIT("user_name", "What is your name?", "\"name\":{\"type\":\"string\"}", "\"name\"")

void fixture_ask(struct exchange *x, const char *requests, struct str state) {
  input_required(x, fixture_json(x, requests), state);
}

/* ---- legacy: requests to the client ---- */

static bool need_legacy(struct exchange *x, const char *capability) {
  if (!x->modern && exchange_capability(x, capability))
    return true;
  exchange_error(x, 200, RPC_INTERNAL, NULL, "the client has no %s", capability);
  return false;
}

static struct str text_arg(const struct exchange *x, const char *name) {
  return json_str(yyjson_obj_get(x->in->params, "arguments"), name);
}

static void ask_and_tell(struct exchange *x, const char *method, yyjson_mut_val *params, const char *before) {
  struct error err;
  yyjson_val *answer = NULL;
  if (question_ask(x, method, params, QUESTION_PERSON_MS, &answer, &err) != STATUS_OK)
    exchange_failed(x, &err);
  else
    fixture_say(x, arena_printf(x->arena, "%s%s", before, answer ? json_write_val(x->arena, answer).p : "nothing"));
}

static void run_sampling(struct exchange *x) {
  if (!need_legacy(x, "sampling"))
    return;
  yyjson_mut_val *params = yyjson_mut_obj(x->doc);
  yyjson_mut_val *message = yyjson_mut_arr_add_obj(x->doc, json_put_arr(x->doc, params, "messages"));
  json_put(x->doc, message, "role", STR("user"));
  yyjson_mut_val *content = json_put_obj(x->doc, message, "content");
  json_put(x->doc, content, "type", STR("text"));
  json_put(x->doc, content, "text", text_arg(x, "prompt"));
  json_put_int(x->doc, params, "maxTokens", 100);
  struct error err;
  yyjson_val *answer = NULL;
  if (question_ask(x, "sampling/createMessage", params, QUESTION_PERSON_MS, &answer, &err) != STATUS_OK)
    exchange_failed(x, &err);
  else
    fixture_say(
        x, arena_printf(x->arena, "LLM response: %.*s", STR_ARG(json_str(yyjson_obj_get(answer, "content"), "text"))));
}

static void run_elicitation(struct exchange *x) {
  if (!need_legacy(x, "elicitation"))
    return;
  yyjson_mut_val *params =
      fixture_json(x, FORM("",
                           "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                           "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}",
                           "\"username\",\"email\""));
  yyjson_mut_obj_remove_key(params, "message");
  json_put(x->doc, params, "message", text_arg(x, "message"));
  ask_and_tell(x, "elicitation/create", params, "User response: ");
}

static void run_defaults(struct exchange *x) {
  if (need_legacy(x, "elicitation"))
    ask_and_tell(
        x, "elicitation/create",
        fixture_json(x,
                     FORM("Please review",
                          "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
                          "\"age\":{\"type\":\"integer\",\"default\":30},"
                          "\"score\":{\"type\":\"number\",\"default\":95.5},"
                          "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":"
                          "\"active\"},"
                          "\"verified\":{\"type\":\"boolean\",\"default\":true}",
                          "")),
        "Elicitation completed: ");
}

static void run_enums(struct exchange *x) {
  if (need_legacy(x, "elicitation"))
    ask_and_tell(
        x, "elicitation/create",
        fixture_json(
            x,
            FORM("Please choose",
                 "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
                 "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\",\"title\":\"First Option\"},"
                 "{\"const\":\"value2\",\"title\":\"Second Option\"},{\"const\":\"value3\",\"title\":\"Third "
                 "Option\"}]},"
                 "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],\"enumNames\":[\"Option "
                 "One\",\"Option Two\",\"Option Three\"]},"
                 "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"option1\","
                 "\"option2\",\"option3\"]}},"
                 "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"value1\",\"title\":\"First "
                 "Choice\"},{\"const\":\"value2\",\"title\":\"Second Choice\"},{\"const\":\"value3\",\"title\":\"Third "
                 "Choice\"}]}}",
                 "")),
        "Elicitation completed: ");
}

/* ---- modern: results that require input ---- */

/* -32021 with the missing capability. */
static bool need_capability(struct exchange *x, const char *name) {
  if (exchange_capability(x, name))
    return true;
  yyjson_mut_val *data = yyjson_mut_obj(x->doc);
  json_put_obj(x->doc, json_put_obj(x->doc, data, "requiredCapabilities"), name);
  exchange_error(x, 400, MCP_NO_CAPABILITY, data, "Missing required client capability: %s", name);
  return false;
}

static void run_missing_capability(struct exchange *x) {
  if (need_capability(x, "sampling"))
    fixture_say(x, STR("The client can sample."));
}

static void run_streaming(struct exchange *x) { fixture_say(x, STR("Nothing was asked.")); }

static void ask_elicitation(struct exchange *x) {
  struct str state;
  yyjson_val *answer = input_response(x, "user_name");
  struct str name = json_str(yyjson_obj_get(answer, "content"), "name");
  if (!input_check(x, &state))
    return;
  if (name.p)
    fixture_say(x, arena_printf(x->arena, "Hello, %.*s!", STR_ARG(name)));
  else if (need_capability(x, "elicitation"))
    fixture_ask(x, "{" ASK_NAME "}", STR_NONE);
}

static void ask_sampling(struct exchange *x) {
  struct str state;
  yyjson_val *answer = input_response(x, "capital_question");
  if (!input_check(x, &state))
    return;
  if (answer)
    fixture_say(x, arena_printf(x->arena, "Answer: %s", json_write_val(x->arena, answer).p));
  else if (need_capability(x, "sampling"))
    fixture_ask(x, "{" SAMPLE("capital_question", "What is the capital of France?") "}", STR_NONE);
}

static void ask_roots(struct exchange *x) {
  struct str state;
  yyjson_val *answer = input_response(x, "client_roots");
  if (!input_check(x, &state))
    return;
  if (answer)
    fixture_say(x, arena_printf(x->arena, "Roots: %s", json_write_val(x->arena, answer).p));
  else if (need_capability(x, "roots"))
    fixture_ask(x, "{" ROOTS("client_roots") "}", STR_NONE);
}

/* Also tests tampered states: input_check() refuses them. */
static void ask_state(struct exchange *x) {
  struct str state;
  if (!input_check(x, &state))
    return;
  if (input_response(x, "confirm") && str_is(state, "asked"))
    fixture_say(x, STR("state-ok"));
  else
    fixture_ask(x, "{" ELICIT("confirm", "Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"") "}",
                STR("asked"));
}

static void ask_several(struct exchange *x) {
  struct str state;
  if (!input_check(x, &state))
    return;
  if (input_response(x, "user_name") && input_response(x, "greeting") && input_response(x, "client_roots"))
    fixture_say(x, STR("All answers are here."));
  else
    fixture_ask(x, "{" ASK_NAME "," SAMPLE("greeting", "Generate a greeting") "," ROOTS("client_roots") "}",
                STR("asked"));
}

static void ask_rounds(struct exchange *x) {
  struct str state;
  if (!input_check(x, &state))
    return;
  if (str_is(state, "second") && input_response(x, "step2"))
    fixture_say(x, STR("Both steps are done."));
  else if (str_is(state, "first") && input_response(x, "step1"))
    fixture_ask(
        x,
        "{" ELICIT("step2", "Step 2: what is your favorite color?", "\"color\":{\"type\":\"string\"}", "\"color\"") "}",
        STR("second"));
  else
    fixture_ask(x, "{" ELICIT("step1", "Step 1: what is your name?", "\"name\":{\"type\":\"string\"}", "\"name\"") "}",
                STR("first"));
}

/* Asks only for what the client supports. */
static void ask_capable(struct exchange *x) {
  if (exchange_capability(x, "elicitation"))
    ask_elicitation(x);
  else
    ask_sampling(x);
}

void fixture_prompt_input(struct exchange *x) {
  if (!input_response(x, "user_context")) {
    fixture_ask(x,
                "{" ELICIT("user_context", "What context should the prompt use?", "\"context\":{\"type\":\"string\"}",
                           "\"context\"") "}",
                STR_NONE);
    return;
  }
  fixture_answer(x, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"With context.\"}}]}");
}

#define TEXT_INPUT(name)                                                                                               \
  "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"
#define MRTR "test_input_required_result_"

const struct fixture_tool fixture_input_tools[] = {
    {"test_sampling", "Asks the client's model", TEXT_INPUT("prompt"), NULL, run_sampling},
    {"test_elicitation", "Asks the user", TEXT_INPUT("message"), NULL, run_elicitation},
    {"test_elicitation_sep1034_defaults", "Asks with defaults", NULL, NULL, run_defaults},
    {"test_elicitation_sep1330_enums", "Asks with choices", NULL, NULL, run_enums},
    {"test_missing_capability", "Needs sampling", NULL, NULL, run_missing_capability},
    {"test_streaming_elicitation", "Sends no requests on its stream", NULL, NULL, run_streaming},
    {MRTR "elicitation", "Requires a name", NULL, NULL, ask_elicitation},
    {MRTR "sampling", "Requires a capital", NULL, NULL, ask_sampling},
    {MRTR "list_roots", "Requires the roots", NULL, NULL, ask_roots},
    {MRTR "request_state", "Requires its state", NULL, NULL, ask_state},
    {MRTR "multiple_inputs", "Requires three things", NULL, NULL, ask_several},
    {MRTR "multi_round", "Requires two rounds", NULL, NULL, ask_rounds},
    {MRTR "tampered_state", "Refuses a changed state", NULL, NULL, ask_state},
    {MRTR "capabilities", "Requires what the client can do", NULL, NULL, ask_capable},
    {0},
};
