/* session.c: boot, sessions, action items, checkpoints and scratch values as text. */
#include "cli/render/render.h"

static void add_text(struct page *page, struct str text) {
  page_text(page, text);
  if (text.n && text.p[text.n - 1] != '\n')
    buf_addc(&page->b, '\n');
}

static void add_dim(struct page *page, const char *name, struct str value) {
  if (value.n == 0)
    return;
  buf_addf(&page->b, "%s%s%s ", page->term.style.dim, name, page->term.style.reset);
  page_line(page, "", value, 0);
  buf_addc(&page->b, '\n');
}

/* The text is for the agent; what a person must know besides comes behind it. */
static void render_boot(struct page *page, yyjson_val *r) {
  add_text(page, json_str(r, "text"));
  add_dim(page, "degraded:", json_str(r, "degraded"));
  add_dim(page, "warning:", json_str(r, "warning"));
  add_dim(page, "ended:", page_value(page, yyjson_obj_get(r, "ended")));
}

static void render_sessions(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 6};
  size_t i, n;
  yyjson_val *s;
  yyjson_arr_foreach(yyjson_obj_get(r, "sessions"), i, n, s) {
    struct str state = json_str(s, "state"), project = json_str(s, "project");
    if (json_bool(s, "self", false))
      state = arena_printf(t.a, "%.*s, this one", STR_ARG(state));
    const struct str cells[] = {json_str(s, "session"),
                                term_age(t.a, json_str(s, "booted_at"), page->now),
                                state,
                                json_str(s, "source"),
                                project.n ? project : STR("global"),
                                json_str(s, "task")};
    table_add(&t, cells);
  }
  if (t.rows.n)
    table_print(&t, page);
  else
    buf_adds(&page->b, "no live session\n");
  add_dim(page, "ended:", page_value(page, yyjson_obj_get(r, "ended")));
}

static void render_session_task(struct page *page, yyjson_val *r) {
  page_styled(page, page->term.style.dim, json_str(r, "session"));
  buf_adds(&page->b, "  ");
  page_line(page, "", json_str(r, "task"), 16);
  buf_addc(&page->b, '\n');
}

static void render_session_end(struct page *page, yyjson_val *r) {
  page_styled(page, page->term.style.dim, json_str(r, "session"));
  if (json_bool(r, "already", false)) {
    buf_adds(&page->b, " had ended already: ");
    page_line(page, "", json_str(r, "reason"), 40);
  } else {
    buf_adds(&page->b, " ended");
  }
  if (json_int(r, "handoff", 0))
    buf_addf(&page->b, ", with handoff %lld", (long long)json_int(r, "handoff", 0));
  buf_addc(&page->b, '\n');
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
  add_text(page, json_str(h, "text"));
  static const char *const members[] = {"source", "session", "project", "created_at", NULL};
  page_members(page, h, members);
}

/* ---- action items ---- */

static void render_items(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 4, .right = {true}};
  size_t i, n;
  yyjson_val *item;
  yyjson_arr_foreach(yyjson_obj_get(r, "items"), i, n, item) {
    const struct str cells[] = {page_value(page, yyjson_obj_get(item, "id")), json_str(item, "status"),
                                term_age(t.a, json_str(item, "created_at"), page->now), json_str(item, "text")};
    table_add(&t, cells);
  }
  if (t.rows.n)
    table_print(&t, page);
  else
    buf_adds(&page->b, "nothing is pending\n");
}

static void render_item(struct page *page, yyjson_val *r) {
  page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(r, "id")));
  buf_adds(&page->b, "  ");
  page_line(page, "", json_str(r, "status"), 0);
  buf_adds(&page->b, "  ");
  page_line(page, "", json_str(r, "text"), 30);
  buf_addc(&page->b, '\n');
  if (yyjson_obj_get(r, "remaining"))
    buf_addf(&page->b, "  %lld still pending\n", (long long)json_int(r, "remaining", 0));
}

/* ---- checkpoints and scratch values ---- */

static void add_memories(struct page *page, const char *title, yyjson_val *list, const char *text) {
  size_t i, n;
  yyjson_val *m;
  if (yyjson_arr_size(list) == 0)
    return;
  page_styled(page, page->term.style.bold, str_from(title));
  buf_addc(&page->b, '\n');
  yyjson_arr_foreach(list, i, n, m) {
    buf_adds(&page->b, "  ");
    page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(m, "id")));
    buf_adds(&page->b, "  ");
    page_line(page, "", json_str(m, text), 10);
    buf_addc(&page->b, '\n');
  }
}

static void render_checkpoint(struct page *page, yyjson_val *r) {
  if (json_bool(r, "skipped", false)) {
    buf_addf(&page->b, "shown a moment ago; again in %lld s\n", (long long)json_int(r, "cooldown_s", 0));
    return;
  }
  yyjson_val *rules = yyjson_obj_get(r, "guardrails"), *near = yyjson_obj_get(r, "relevant");
  add_memories(page, "Guardrails", rules, "text");
  add_memories(page, "Relevant", near, "headline");
  if (yyjson_arr_size(rules) + yyjson_arr_size(near) == 0)
    buf_adds(&page->b, "nothing is known about this\n");
  add_dim(page, "degraded:", json_str(r, "degraded"));
}

static void render_scratch_get(struct page *page, yyjson_val *r) {
  if (json_bool(r, "found", false))
    add_text(page, json_str(r, "value"));
  else
    buf_adds(&page->b, "no such value\n");
}

static void render_scratch_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 2};
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, "values"), i, n, v) {
    const struct str cells[] = {json_str(v, "key"), json_str(v, "value")};
    table_add(&t, cells);
  }
  if (t.rows.n)
    table_print(&t, page);
  else
    buf_adds(&page->b, "no values\n");
}

static void render_scratch_set(struct page *page, yyjson_val *r) {
  page_line(page, "", json_str(r, "key"), 0);
  buf_addf(&page->b, "  %lld bytes\n", (long long)json_int(r, "bytes", 0));
}

const struct renderer session_renderers[] = {
    {"boot", render_boot, NULL},
    {"session list", render_sessions, NULL},
    {"session task", render_session_task, NULL},
    {"session handoff", render_handoff, NULL},
    {"session end", render_session_end, NULL},
    {"action list", render_items, NULL},
    {"action add", render_item, NULL},
    {"action ack", render_item, NULL},
    {"checkpoint", render_checkpoint, NULL},
    {"scratch set", render_scratch_set, NULL},
    {"scratch get", render_scratch_get, NULL},
    {"scratch list", render_scratch_list, NULL},
    {0},
};
