/* render_agent.c: agents and their messages as text. */
#include "cli/render.h"

static void render_agent(struct page *page, yyjson_val *r, const char *what) {
  page_text(page, json_str(r, "name"));
  buf_adds(&page->b, ": ");
  buf_adds(&page->b, what);
  if (!page->quiet) {
    buf_addf(&page->b, ", role %.*s", STR_ARG(json_str(r, "role")));
    if (json_str(r, "project").p) {
      buf_adds(&page->b, ", project ");
      page_text(page, json_str(r, "project"));
    }
  }
  buf_addc(&page->b, '\n');
}

static void render_added(struct page *page, yyjson_val *r) { render_agent(page, r, "declared"); }
static void render_removed(struct page *page, yyjson_val *r) { render_agent(page, r, "removed"); }

static void render_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 4};
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(yyjson_obj_get(r, "agents"), i, n, e) {
    struct str project = json_str(e, "project"), note = json_str(e, "note");
    const struct str cells[] = {json_str(e, "name"), json_str(e, "role"), project.p ? project : STR(""),
                                note.p ? note : STR("")};
    table_add(&t, cells);
  }
  table_print(&t, page);
}

/* It is for a program: as it is, on one line. */
static void render_message(struct page *page, yyjson_val *r) {
  buf_add(&page->b, json_write_val(page->b.a, yyjson_obj_get(r, "message")));
  buf_addc(&page->b, '\n');
}

const struct renderer agent_renderers[] = {
    {"agent add", render_added, NULL},
    {"agent remove", render_removed, NULL},
    {"agent list", render_list, NULL},
    {"agent message", render_message, NULL},
    {0},
};
