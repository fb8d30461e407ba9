/* skill.c: skill list, skill load. */
#include "op/handlers.h"
#include "op/run/common.h"
#include "store/memories/memories.h"

enum status op_skill_list(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct memories list = {0};
  TRY(skills_visible(call->engine->store, &scope, true, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "skills");
  for (size_t i = 0; i < list.n; i++) {
    const struct memory *m = &list.v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "name", m->skill_name);
    json_put_int(call->doc, v, "id", m->id);
    json_put(call->doc, v, "headline", m->headline);
    json_put_strs(call->doc, v, "keywords", &m->skill_keywords);
    json_put_strs(call->doc, v, "projects", &m->skill_projects);
    json_put_bool(call->doc, v, "always_on", m->skill_always_on);
    json_put_opt(call->doc, v, "suspect", m->suspect);
    put_untrusted(call, v, m);
  }
  return STATUS_OK;
}

enum status op_skill_load(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct memories list = {0};
  struct str name = json_str(call->args, "name");
  TRY(skills_visible(call->engine->store, &scope, true, call->arena, &list, call->err));
  for (size_t i = 0; i < list.n; i++)
    if (str_eq(list.v[i].skill_name, name)) {
      TRY(put_full(call, call->result, &list.v[i]));
      note_read(call, &list.v[i]);
      return STATUS_OK;
    }
  error_set(call->err, STATUS_NOT_FOUND, "no skill '%.*s' here", STR_ARG(name));
  return error_fix(call->err, "'cairn skill list' shows the skills of this project");
}
