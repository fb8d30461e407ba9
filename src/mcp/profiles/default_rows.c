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

/* Rewrites "- 3 more: cairn list ...", which the operation adds and which names a command. */
static struct str rewrite_line(struct tool_run *run, struct str line) {
  static const char *const counts[] = {" more: cairn ", " faded: cairn ", " stale: cairn "};
  size_t i = 2;
  while (i < line.n && ascii_digit(line.p[i]))
    i++;
  if (!str_starts(line, STR("- ")) || i == 2)
    return line;
  for (size_t k = 0; k < ARRAY_LEN(counts); k++)
    if (str_starts(str_slice(line, i, line.n), str_from(counts[k])))
      return tool_rewrite_advice(run, line);
  return line;
}

/* Rewrites the commands that fetch dropped items before the reply is measured: calls are longer. */
static void rewrite_dropped(struct tool_run *run, yyjson_mut_val *dropped) {
  size_t i, n;
  yyjson_mut_val *e;
  yyjson_mut_arr_foreach(dropped, i, n, e) {
    yyjson_mut_val *fetch = yyjson_mut_obj_get(e, "fetch");
    if (yyjson_mut_is_str(fetch))
      mut_set_text(fetch, run->arena, tool_rewrite_advice(run, mut_text(fetch)));
  }
}

enum status default_boot_finish(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *text = yyjson_mut_obj_get(result, "text");
  if (!yyjson_mut_is_str(text))
    return STATUS_OK;
  struct str rest = {yyjson_mut_get_str(text), yyjson_mut_get_len(text)}, line;
  rest = present_neutral(run->arena, rest);
  struct buf b = BUF(run->arena);
  while (str_line(&rest, &line))
    buf_addf(&b, "%.*s\n", STR_ARG(rewrite_line(run, line)));
  struct str shown = buf_str(&b), degraded = mut_member(result, "degraded");
  yyjson_mut_set_strn(text, shown.p, shown.n);
  rewrite_dropped(run, yyjson_mut_obj_get(result, "dropped"));
  if (degraded.n)
    buf_addf(&b, "\ndegraded: %.*s\n", STR_ARG(tool_rewrite_advice(run, degraded)));
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
