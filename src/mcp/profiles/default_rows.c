/* default_rows.c: functions of the default profile: boot, and reading part of a body. */
#include "core/trust/present.h"
#include "mcp/profiles/default.h"
#include "mcp/tools/internal.h"

/* The operation fits its reply into the budget. The text contains everything, so the sections are left out. The share
 * leaves room for tool calls, which are longer than the commands that they replace. */
enum { BOOT_SHARE = 94 };

enum status default_boot_prepare(struct tool_run *run, yyjson_mut_val *args) {
  if (run->budget > 0 && !yyjson_mut_obj_get(args, "budget"))
    yyjson_mut_obj_put(args, yyjson_mut_str(run->doc, "budget"),
                       yyjson_mut_sint(run->doc, (int64_t)run->budget * BOOT_SHARE / 100));
  if (!yyjson_mut_obj_get(args, "only"))
    yyjson_mut_obj_put(args, yyjson_mut_str(run->doc, "only"), yyjson_mut_str(run->doc, "text"));
  return STATUS_OK;
}

/* What the other formats have only next to their text. */
static void add_members(struct buf *b, yyjson_mut_val *result) {
  struct str session = mut_member(result, "session"), warning = mut_member(result, "warning");
  size_t i, n;
  yyjson_mut_val *d;
  if (session.n)
    buf_addf(b, "session: %.*s\n", STR_ARG(session));
  if (yyjson_mut_get_bool(yyjson_mut_obj_get(result, "writes_blocked")))
    buf_adds(b, "action items block writes until they are answered\n");
  if (warning.n)
    buf_addf(b, "warning: %.*s\n", STR_ARG(warning));
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "dropped"), i, n, d) {
    struct str state = mut_member(d, "state");
    buf_addf(b, "%lld %.*s: %.*s\n", (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(d, "count")),
             STR_ARG(state.n ? state : STR("more")), STR_ARG(mut_member(d, "fetch")));
  }
}

enum status default_boot_finish(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *text = yyjson_mut_obj_get(result, "text");
  if (!yyjson_mut_is_str(text))
    return STATUS_OK;
  struct buf b = BUF(run->arena);
  struct str shown = present_neutral(run->arena, mut_text(text)), degraded = mut_member(result, "degraded");
  if (!str_is(mut_member(result, "format"), "brief"))
    add_members(&b, result);
  mut_set_text(text, run->arena, shown);
  if (b.n && shown.n)
    buf_addc(&b, '\n');
  buf_add(&b, shown);
  if (!b.n)
    buf_adds(&b, "there are no memories to show yet\n");
  if (degraded.n)
    buf_addf(&b, "\ndegraded: %.*s\n", STR_ARG(degraded));
  run->text = buf_str(&b);
  return STATUS_OK;
}

/* Offsets count bytes of the escaped text, so parts join without gaps. */
enum status default_get_finish(struct tool_run *run, yyjson_mut_val *result) {
  int64_t from = json_int(run->args, "from", 0);
  yyjson_mut_val *body = yyjson_mut_obj_get(result, "body");
  if (from <= 0 || !yyjson_mut_is_str(body))
    return STATUS_OK;
  struct str s = {yyjson_mut_get_str(body), yyjson_mut_get_len(body)};
  s = present_neutral(run->arena, s);
  size_t at = (uint64_t)from < s.n ? (size_t)from : s.n;
  while (at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80)
    at++;
  s = arena_dup(run->arena, str_slice(s, at, s.n));
  yyjson_mut_set_strn(body, s.p, s.n);
  json_put_int(run->doc, result, "from", (int64_t)at);
  return STATUS_OK;
}
