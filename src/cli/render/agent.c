/* agent.c: agents, their messages, and tokens as text. */
#include "cli/render/render.h"

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

/* ---- tokens ---- */

/* The token stands alone on its line, so that a script can take it. */
static void render_token_added(struct page *page, yyjson_val *r) {
  static const char *const members[] = {"role", "projects", "access", "profile", "expires_at", NULL};
  page_text(page, json_str(r, "token"));
  buf_addc(&page->b, '\n');
  page_members(page, r, members);
  buf_adds(&page->b, "  It is shown this once. Whoever has it is let in as ");
  page_text(page, json_str(r, "name"));
  buf_adds(&page->b, ": Authorization: Bearer TOKEN\n");
}

static void render_token_state(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "name"));
  buf_addf(&page->b, ": %.*s\n", STR_ARG(json_str(r, "state")));
}

static void render_token_deleted(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "name"));
  buf_adds(&page->b, ": deleted\n");
}

static struct str day_or(yyjson_val *token, const char *member, struct str otherwise) {
  struct str time = json_str(token, member);
  return time.n >= 10 ? str_slice(time, 0, 10) : otherwise;
}

static void render_tokens(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 7};
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(yyjson_obj_get(r, "tokens"), i, n, e) {
    yyjson_val *projects = yyjson_obj_get(e, "projects");
    const struct str cells[] = {
        json_str(e, "name"),
        json_str(e, "state"),
        json_str(e, "role"),
        json_str(e, "access"),
        arena_printf(page->b.a, "until %.*s", STR_ARG(day_or(e, "expires_at", STR("revoked")))),
        arena_printf(page->b.a, "used %.*s", STR_ARG(day_or(e, "used_at", STR("never")))),
        projects ? page_value(page, projects) : STR(""),
    };
    table_add(&t, cells);
  }
  table_print(&t, page);
}

const struct renderer agent_renderers[] = {
    {"token add", render_token_added, NULL},
    {"token list", render_tokens, NULL},
    {"token revoke", render_token_state, NULL},
    {"token delete", render_token_deleted, NULL},
    {"agent add", render_added, NULL},
    {"agent remove", render_removed, NULL},
    {"agent list", render_list, NULL},
    {"agent message", render_message, NULL},
    {0},
};
