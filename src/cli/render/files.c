/* files.c: files, named values and the knowledge graph as text. */
#include "cli/render/render.h"

/* The content as the operation wrote it; behind it, unless it is to be raw, who does not vouch for it. */
static void render_text(struct page *page, yyjson_val *r) {
  struct str text = json_str(r, "text"), trust = json_str(r, "trust"), suspect = json_str(r, "suspect");
  page_text(page, text);
  if (text.n && text.p[text.n - 1] != '\n')
    buf_addc(&page->b, '\n');
  if (!json_bool(r, "untrusted", false) || json_bool(r, "raw", false))
    return;
  buf_addf(&page->b, "[untrusted%s%.*s%s%.*s]\n", trust.n ? "; trust: " : "", STR_ARG(trust),
           suspect.n ? "; suspect: " : "", STR_ARG(suspect));
}

static void render_change(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "text"));
  page_txn(page, r);
}

static void render_value(struct page *page, yyjson_val *r) {
  page_text(page, page_value(page, yyjson_obj_get(r, "value")));
  buf_addc(&page->b, '\n');
}

/* A secret is shown by its handle, unless it was to be revealed. */
static void render_got(struct page *page, yyjson_val *r) {
  yyjson_val *value = yyjson_obj_get(r, "value");
  page_text(page, page_value(page, value ? value : yyjson_obj_get(r, "handle")));
  buf_addc(&page->b, '\n');
}

static void render_set(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "key"));
  buf_adds(&page->b, ": ");
  page_text(page, json_str(r, "action"));
  page_txn(page, r);
}

static void render_deleted(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "key"));
  buf_adds(&page->b, ": deleted");
  page_txn(page, r);
}

static void render_entries(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 3};
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(yyjson_obj_get(r, "entries"), i, n, e) {
    const struct str cells[] = {json_str(e, "key"), term_age(page->b.a, json_str(e, "updated_at"), page->now),
                                json_bool(e, "is_secret", false) ? STR("(secret)") : json_str(e, "value")};
    table_add(&t, cells);
  }
  table_print(&t, page);
}

static struct str describe_grant(struct page *page, yyjson_val *g) {
  struct buf b = BUF(page->b.a);
  buf_adds(&b, json_bool(g, "live", false) ? "live" : "over");
  if (yyjson_obj_get(g, "uses_left"))
    buf_addf(&b, ", %lld uses left", (long long)json_int(g, "uses_left", 0));
  if (yyjson_obj_get(g, "expires_at"))
    buf_addf(&b, ", until %s", term_time(page->b.a, json_str(g, "expires_at")).p);
  return buf_str(&b);
}

static void render_grants(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 3};
  size_t i, n;
  yyjson_val *g;
  yyjson_arr_foreach(yyjson_obj_get(r, "grants"), i, n, g) {
    const struct str cells[] = {json_str(g, "key"), json_str(g, "to"), describe_grant(page, g)};
    table_add(&t, cells);
  }
  table_print(&t, page);
}

static void render_grant(struct page *page, yyjson_val *r) {
  page_text(page, json_str(r, "key"));
  buf_adds(&page->b, json_bool(r, "revoked", false) ? ": revoked from " : ": granted to ");
  page_text(page, json_str(r, "to"));
  page_txn(page, r);
}

static void render_rotated(struct page *page, yyjson_val *r) {
  buf_addf(&page->b, "%lld secrets are sealed with ", (long long)json_int(r, "secrets", 0));
  page_text(page, json_str(r, "way"));
  buf_addc(&page->b, ' ');
  page_text(page, json_str(r, "to"));
  page_txn(page, r);
}

static bool has_int(yyjson_val *list, size_t number) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(list, i, n, v) {
    if (yyjson_get_uint(v) == number)
      return true;
  }
  return false;
}

static void render_graph(struct page *page, yyjson_val *r) {
  size_t i, n, k, m;
  yyjson_val *v, *said;
  yyjson_arr_foreach(yyjson_obj_get(r, "entities"), i, n, v) {
    page_line(page, page->term.style.bold, json_str(v, "name"), 0);
    buf_adds(&page->b, " (");
    page_line(page, "", json_str(v, "entityType"), 0);
    buf_addf(&page->b, ")%s\n", json_bool(v, "untrusted", false) ? " [untrusted]" : "");
    yyjson_arr_foreach(yyjson_obj_get(v, "observations"), k, m, said) {
      bool doubted = has_int(yyjson_obj_get(v, "untrusted_observations"), k);
      buf_addf(&page->b, "  - %s", doubted ? "[untrusted] " : "");
      page_text(page, json_val_str(said));
      buf_addc(&page->b, '\n');
    }
  }
  yyjson_arr_foreach(yyjson_obj_get(r, "relations"), i, n, v) {
    page_line(page, "", json_str(v, "from"), 0);
    buf_adds(&page->b, " -> ");
    page_line(page, "", json_str(v, "relationType"), 0);
    buf_adds(&page->b, " -> ");
    page_line(page, "", json_str(v, "to"), 0);
    buf_adds(&page->b, json_bool(v, "untrusted", false) ? " [untrusted]\n" : "\n");
  }
}

static void render_graph_change(struct page *page, yyjson_val *r) {
  render_graph(page, r);
  page_txn(page, r);
}

const struct renderer file_renderers[] = {
    {"graph read", render_graph, NULL},     {"graph create", render_graph_change, NULL},
    {"file view", render_text, NULL},       {"file create", render_change, NULL},
    {"file insert", render_change, NULL},   {"file str_replace", render_change, NULL},
    {"file delete", render_change, NULL},   {"file rename", render_change, NULL},
    {"vault set", render_set, NULL},        {"vault get", render_got, NULL},
    {"vault add", render_value, NULL},      {"vault list", render_entries, NULL},
    {"vault delete", render_deleted, NULL}, {"vault grant", render_grant, NULL},
    {"vault grants", render_grants, NULL},  {"vault revoke", render_grant, NULL},
    {"vault rotate", render_rotated, NULL}, {0},
};
