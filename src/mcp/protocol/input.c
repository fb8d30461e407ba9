/* input.c: asks the user: by a result that the client answers with a second request (2026-07-28), or by a request to
 * the client (before). */
#include <assert.h>

#include "base/id.h"
#include "mcp/protocol/server.h"
#include "op/access/authenticate.h"

enum { STATE_VALID_MS = 10 * 60 * 1000 };

/* Binds the state to one caller and one request with its arguments. */
static struct str purpose_of(const struct exchange *x) {
  char digest[HASH_TEXT_SIZE];
  yyjson_val *args = yyjson_obj_get(x->in->params, "arguments");
  hash_text(args ? json_write_val(x->arena, args) : STR("{}"), digest);
  struct str name = json_str(x->in->params, "name"), uri = json_str(x->in->params, "uri");
  const struct principal *who = x->caller.principal;
  return arena_printf(x->arena, "input\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%s", STR_ARG(x->caller.team),
                      STR_ARG(who ? who->name : STR("")), STR_ARG(who && who->token.p ? who->token : STR("")),
                      STR_ARG(x->in->method), STR_ARG(name.p ? name : uri), digest);
}

static bool refuse(struct exchange *x, const char *what) {
  exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: %s", what);
  return false;
}

bool input_check(struct exchange *x, struct str *ret_state) {
  yyjson_val *answers = yyjson_obj_get(x->in->params, "inputResponses");
  yyjson_val *state = yyjson_obj_get(x->in->params, "requestState");
  size_t i, n;
  yyjson_val *key, *v;
  *ret_state = STR_NONE;
  if (!x->modern)
    return true;
  if (answers && !yyjson_is_obj(answers))
    return refuse(x, "inputResponses must be an object");
  yyjson_obj_foreach(answers, i, n, key, v) {
    if (!yyjson_is_obj(v))
      return refuse(x, "each of inputResponses must be an object");
  }
  if (!state)
    return true;
  struct clock clock = {0};
  if (!yyjson_is_str(state) || !state_open(x->server, x->arena, x->caller.team, purpose_of(x), json_val_str(state),
                                           clock_now(&clock), ret_state))
    return refuse(x,
                  "requestState was not made by this server for this request, or is too old; start again without it");
  return true;
}

yyjson_val *input_response(const struct exchange *x, const char *key) {
  return x->modern ? yyjson_obj_get(yyjson_obj_get(x->in->params, "inputResponses"), key) : NULL;
}

void input_required(struct exchange *x, yyjson_mut_val *requests, struct str state) {
  assert(yyjson_mut_is_obj(requests));
  struct clock clock = {0};
  yyjson_mut_val *result = yyjson_mut_obj(x->doc);
  json_put(x->doc, result, "resultType", STR("input_required"));
  yyjson_mut_obj_add_val(x->doc, result, "inputRequests", requests);
  if (state.p)
    json_put(x->doc, result, "requestState",
             state_seal(x->server, x->arena, x->caller.team, purpose_of(x), state, clock_now(&clock) + STATE_VALID_MS));
  exchange_result(x, result);
}

/* ---- yes or no ---- */

static yyjson_mut_val *confirm_params(struct exchange *x, struct str message) {
  yyjson_mut_doc *doc = x->doc;
  yyjson_mut_val *params = yyjson_mut_obj(doc);
  if (x->modern || str_is(x->version, "2025-11-25"))
    json_put(doc, params, "mode", STR("form"));
  json_put(doc, params, "message", message);
  yyjson_mut_val *schema = json_put_obj(doc, params, "requestedSchema");
  json_put(doc, schema, "type", STR("object"));
  yyjson_mut_val *confirm = json_put_obj(doc, json_put_obj(doc, schema, "properties"), "confirm");
  json_put(doc, confirm, "type", STR("boolean"));
  json_put(doc, confirm, "title", STR("Go ahead"));
  json_put(doc, confirm, "description", STR("This cannot be undone."));
  json_put_bool(doc, confirm, "default", false);
  json_add_str(doc, json_put_arr(doc, schema, "required"), STR("confirm"));
  return params;
}

static enum input_answer answer_of(yyjson_val *result) {
  yyjson_val *content = yyjson_obj_get(result, "content");
  bool accepted = str_is(json_str(result, "action"), "accept");
  return accepted && json_bool(content, "confirm", false) ? INPUT_YES : INPUT_NO;
}

static enum input_answer confirm_modern(struct exchange *x, struct str message) {
  struct str state;
  if (!input_check(x, &state))
    return INPUT_PENDING;
  yyjson_val *answer = input_response(x, "confirm");
  /* Without the state it is not an answer to this question. */
  if (answer && str_is(state, "confirm"))
    return answer_of(answer);
  yyjson_mut_val *requests = yyjson_mut_obj(x->doc);
  yyjson_mut_val *request = json_put_obj(x->doc, requests, "confirm");
  json_put(x->doc, request, "method", STR("elicitation/create"));
  yyjson_mut_obj_add_val(x->doc, request, "params", confirm_params(x, message));
  input_required(x, requests, STR("confirm"));
  return INPUT_PENDING;
}

enum input_answer input_confirm(struct exchange *x, struct str message) {
  if (!exchange_can_elicit(x))
    return INPUT_IMPOSSIBLE;
  if (x->modern)
    return confirm_modern(x, message);
  struct error err;
  yyjson_val *result = NULL;
  enum status s = question_ask(x, "elicitation/create", confirm_params(x, message), QUESTION_PERSON_MS, &result, &err);
  if (s == STATUS_INTERRUPTED && exchange_cancelled(x))
    return INPUT_PENDING;
  if (s != STATUS_OK || !result)
    return INPUT_NO;
  return answer_of(result);
}
