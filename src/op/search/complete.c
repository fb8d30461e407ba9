/* complete.c: completion of memory ids. */
#include "op/search/complete.h"

#include "op/run/common.h"
#include "store/memories/memories.h"

static enum status run(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct memory_ids ids = {0};
  int64_t limit;
  TRY(call_int(call, "limit", 100, 1, 1000, &limit));
  TRY(memory_ids(call->engine->store, &scope, json_str(call->args, "prefix"), limit + 1, call->arena, &ids, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "ids");
  for (size_t i = 0; i < ids.n && (int64_t)i < limit; i++)
    yyjson_mut_arr_add_sint(call->doc, arr, ids.v[i]);
  json_put_bool(call->doc, call->result, "more", (int64_t)ids.n > limit);
  return STATUS_OK;
}

static const struct param params[] = {
    {"prefix", PARAM_TEXT, PARAM_REQUIRED | PARAM_NOISE, NULL, NULL, NULL, "beginning of an id"},
    {"limit", PARAM_INT, 0, NULL, NULL, NULL, "maximum number of ids"},
    {0},
};

/* Named "list" because it needs the same rights as that operation. */
const struct op complete_ids = {.name = "list", .params = params, .run = run};
