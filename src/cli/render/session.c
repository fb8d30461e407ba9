/* session.c: boot, sessions, action items, checkpoints and scratch values as text. */
#include "cli/render/layout.h"

/* The text is for the agent; notes for a person follow it. */
static void render_boot(struct page *page, yyjson_val *r) {
  page_prose(page, json_str(r, "text"));
  layout_render(page, r, "~degraded\n~ended");
}

static void render_handoff(struct page *page, yyjson_val *r) {
  yyjson_val *h = yyjson_obj_get(r, "handoff");
  if (!h) {
    buf_addf(&page->b, "handoff %lld, %lld characters\n", (long long)json_int(r, "id", 0),
             (long long)json_int(r, "length", 0));
    return;
  }
  if (yyjson_is_null(h)) {
    buf_adds(&page->b, "no handoff here\n");
    return;
  }
  page_prose(page, json_str(h, "text"));
  static const char *const members[] = {"source", "session", "project", "created_at", NULL};
  page_members(page, h, members);
}

/* ---- checkpoints and scratch values ---- */

static void add_memories(struct page *page, const char *title, yyjson_val *list) {
  size_t i, n, bytes;
  yyjson_val *m;
  if (yyjson_arr_size(list) == 0)
    return;
  page_styled(page, page->term.style.bold, str_from(title));
  buf_addc(&page->b, '\n');
  yyjson_arr_foreach(list, i, n, m) {
    buf_adds(&page->b, "  ");
    struct str id = page_value(page, yyjson_obj_get(m, "id"));
    page_styled(page, page->term.style.dim, id);
    buf_adds(&page->b, "  ");
    struct str author = json_str(m, "author"), line = json_str(m, "headline"), text = json_str(m, "text");
    if (page_starts_with_headline(page->b.a, text, line, &bytes))
      line = text;
    else if (text.n)
      line = arena_printf(page->b.a, "%.*s: %.*s", STR_ARG(line), STR_ARG(text));
    if (author.p)
      line = arena_printf(page->b.a, "(written by %.*s, not by a person) %.*s", STR_ARG(author), STR_ARG(line));
    page_wrap(page, line, id.n + 4);
    buf_addc(&page->b, '\n');
  }
}

static void render_checkpoint(struct page *page, yyjson_val *r) {
  if (json_bool(r, "skipped", false)) {
    buf_addf(&page->b, "skipped: shown recently; shown again in %lld s\n", (long long)json_int(r, "cooldown_s", 0));
    return;
  }
  yyjson_val *rules = yyjson_obj_get(r, "guardrails"), *near = yyjson_obj_get(r, "relevant");
  add_memories(page, "Guardrails", rules);
  add_memories(page, "Relevant", near);
  if (yyjson_arr_size(rules) + yyjson_arr_size(near) == 0)
    buf_adds(&page->b, "no relevant memories\n");
  layout_render(page, r, "?[faded, but about the action: {faded}; {fetch}]\n~degraded");
}

static void render_scratch_get(struct page *page, yyjson_val *r) {
  if (json_bool(r, "found", false))
    page_prose(page, json_str(r, "value"));
  else
    buf_adds(&page->b, "no such value\n");
}

/* clang-format off */

const struct renderer session_renderers[] = {
  {.op = "boot", .result = render_boot},
  {.op = "session list", .layout = "@sessions {session} | {age booted_at} | {state}<self?, this one> | {source} | "
   "{project:global} | {task}\n!sessions no live session\n~ended"},
  {.op = "session task", .layout = "{dim session}  {task 16}"},
  {.op = "session handoff", .result = render_handoff},
  {.op = "session end", .layout = "{dim session} <already?had already ended: {reason 40}|ended>[, with handoff {handoff}]"},
  {.op = "action list", .layout = "@items >{id} | {choice status} | {age created_at} | {text}\n!items no pending action items\n"
   "@candidates candidate, not pending | memory {memory} | {text}"},
  {.op = "action add", .layout = "{dim id}  {status}<project?{scope}| · global>  {text 48}"},
  {.op = "action ack", .layout = "{dim id}  {choice status}  {text 30}\n?<#remaining?  {remaining} still pending>"},
  {.op = "checkpoint", .result = render_checkpoint},
  {.op = "scratch set", .layout = "{key}  {n bytes} byte{s bytes}"},
  {.op = "scratch get", .result = render_scratch_get},
  {.op = "scratch list", .layout = "@values {key} | {value}\n!values no values"},
  {0},
};
/* clang-format on */
