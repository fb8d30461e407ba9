/* boot.c: the boot operation: registers the session and returns its starting context. */
#include "op/boot/boot.h"

#include "core/boot/render.h"
#include "op/handlers.h"
#include "store/tables/settings.h"

static struct str join(struct arena *a, struct str x, struct str y) {
  if (!x.p || !y.p)
    return x.p ? x : y;
  return arena_printf(a, "%.*s; %.*s", STR_ARG(x), STR_ARG(y));
}

static void put_working_context(struct op_call *call, yyjson_mut_val *obj) {
  struct str task = str_trim(json_str(call->args, "task"));
  if (str_empty(task))
    return;
  yyjson_mut_val *v = json_put_obj(call->doc, obj, "working_context");
  json_put(call->doc, v, "task", task);
  json_put(call->doc, v, "project", call->caller.project);
  json_put(call->doc, v, "source", call->caller.source);
  json_put(call->doc, v, "note", STR("from the task argument; not stored"));
}

/* True if action_gate() would refuse a write of this session now. */
static bool writes_blocked(const struct boot *b) {
  return b->booted.registered && b->booted.pending > 0 && str_is(b->call->caller.trust, "agent");
}

/* Members of every format. */
static void put_head(struct boot *b, struct str format, yyjson_mut_val *obj) {
  struct op_call *call = b->call;
  json_put(call->doc, obj, "format", format);
  json_put(call->doc, obj, "project", call->caller.project);
  if (b->booted.registered) {
    json_put(call->doc, obj, "session", b->booted.session.handle);
    json_put_int(call->doc, obj, "session_id", b->booted.session.id);
  }
  json_put_bool(call->doc, obj, "writes_blocked", writes_blocked(b));
  json_put_strs(call->doc, obj, "ended", &b->booted.ended);
  put_working_context(call, obj);
  if (b->untrusted)
    json_put_int(call->doc, obj, "untrusted", b->untrusted);
  json_put_opt(call->doc, obj, "degraded", join(call->arena, b->booted.degraded, b->degraded));
}

static enum status boot_as_brief(struct boot *b, int64_t budget) {
  struct op_call *call = b->call;
  struct arena *a = call->arena;
  struct str project = call->caller.project, only = json_str(call->args, "only"), handle = b->booted.session.handle;
  struct boot_payload p = {.groups = b->groups,
                           .n = BOOT_GROUPS,
                           .budget = (size_t)budget,
                           .no_text = str_is(only, "sections"),
                           .no_sections = str_is(only, "text")};
  p.title = str_empty(project) ? STR("Memory") : arena_printf(a, "Memory of %.*s", STR_ARG(project));
  if (b->booted.registered)
    p.note = arena_printf(a, "Session %.*s: pass it with each call.", STR_ARG(handle));
  if (b->untrusted)
    p.note = arena_printf(a, "%.*s%s%.*s.", STR_ARG(p.note), p.note.p ? " " : "",
                          STR_ARG(boot_untrusted_note(a, b->untrusted)));
  size_t tokens;
  call->result = boot_fit_budget(a, call->doc, call->result, &p, &tokens);
  for (size_t g = 0; g < BOOT_GROUPS; g++)
    for (size_t i = 0; !b->groups[g].member && i < b->groups[g].n; i++)
      if (!b->groups[g].v[i].dropped)
        list_push(a, &b->delivered, b->groups[g].v[i].id);
  return STATUS_OK;
}

enum status op_boot(struct op_call *call) {
  struct boot b = {.call = call, .scope = call_scope(call)};
  struct str format = json_str(call->args, "format");
  double fallback;
  int64_t budget;
  TRY(setting_number(call->engine->store, call->caller.team, SET_BOOT_BUDGET, call->arena, &fallback, call->err));
  TRY(call_int(call, "budget", (int64_t)fallback, 100, 100000, &budget));
  if (!format.p)
    format = STR("brief");
  session_boot(call, &b.booted);
  TRY(boot_select(&b));
  TRY(memory_count(call->engine->store, &b.scope, &(struct filter){.untrusted = true}, call->arena, &b.untrusted,
                   call->err));
  put_head(&b, format, call->result);
  TRY(str_is(format, "full")     ? boot_as_full(&b)
      : str_is(format, "blocks") ? boot_as_blocks(&b)
                                 : boot_as_brief(&b, budget));
  if (b.booted.registered)
    call->caller.session = b.booted.session.handle;
  note_result_read(call, "boot", arena_printf(call->arena, "cairn://boot/%.*s", STR_ARG(call->caller.project)),
                   &b.delivered, true);
  return STATUS_OK;
}
