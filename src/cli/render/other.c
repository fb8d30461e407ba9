/* other.c: agents, tokens, files, the vault, the knowledge graph, sources and MEMORY.md as text. */
#include "cli/render/layout.h"

/* ---- files and the knowledge graph ---- */

/* The content, followed by its trust label unless --raw was given. */
static void render_file(struct page *page, yyjson_val *r) {
  struct str text = json_str(r, "text"), trust = json_str(r, "trust"), suspect = json_str(r, "suspect");
  page_text(page, text);
  if (text.n && text.p[text.n - 1] != '\n')
    buf_addc(&page->b, '\n');
  if (!json_bool(r, "untrusted", false) || json_bool(r, "raw", false))
    return;
  buf_addf(&page->b, "[untrusted%s%.*s%s%.*s]\n", trust.n ? "; trust: " : "", STR_ARG(trust),
           suspect.n ? "; suspect: " : "", STR_ARG(suspect));
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
      bool untrusted = has_int(yyjson_obj_get(v, "untrusted_observations"), k);
      buf_addf(&page->b, "  - %s", untrusted ? "[untrusted] " : "");
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

static void render_graph_read(struct page *page, yyjson_val *r) {
  render_graph(page, r);
  if (page->term.tty &&
      yyjson_arr_size(yyjson_obj_get(r, "entities")) + yyjson_arr_size(yyjson_obj_get(r, "relations")) == 0)
    buf_adds(&page->b, "no entities or relations\n");
}

/* ---- sources ---- */

static void render_source_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 5, .right = {true, true}};
  bool closed = false;
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, "sources"), i, n, v) {
    struct str watch = json_str(v, "watch");
    closed |= str_is(watch, "closed");
    int64_t files = json_int(v, "files", 0);
    const struct str cells[] = {arena_printf(t.a, "%lld file%s", (long long)files, files == 1 ? "" : "s"),
                                arena_printf(t.a, "%lld kB", (long long)((json_int(v, "bytes", 0) + 999) / 1000)),
                                json_bool(v, "there", true) ? STR("") : STR("not there"),
                                str_is(watch, "off") ? STR("") : watch, json_str(v, "folder")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  if (closed)
    buf_adds(&page->b, "closed: the server cannot read the folder; restart it after adding a source\n");
  if (yyjson_arr_size(yyjson_obj_get(r, "sources")) == 0)
    buf_adds(&page->b, "no sources; 'cairn source add DIR' adds one\n");
}

#define SKIPPED "[, {skipped.binary} binary][, {skipped.huge} huge][, {skipped.unreadable} unreadable]"
#define EMBEDDED "?<waiting?embedded {n embedded}; the rest is found by keyword until 'cairn maintain' embeds it>"
#define READ_SOURCES                                                                                                   \
  "*sources {bold folder}: <problem?{yellow problem}|{n files} file{s files}[, {copies} of them copies]" SKIPPED       \
  "\n  chunks: added {n added}, changed {n changed}, removed {n removed}[; secrets replaced {redacted}]>\n" EMBEDDED   \
  "\n!sources no sources; 'cairn source add DIR' adds one"

/* ---- MEMORY.md ---- */

static void add_lines(struct page *page, yyjson_val *r, const char *list, const char *what) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, list), i, n, v) {
    struct str state = json_str(v, "state");
    buf_addf(&page->b, "%-9.*s ", STR_ARG(state.p ? state : str_from(what)));
    if (yyjson_obj_get(v, "line"))
      buf_addf(&page->b, "line %lld: ", (long long)json_int(v, "line", 0));
    struct str text = json_str(v, "headline");
    if (!text.p)
      text = json_str(v, "error");
    if (!text.p)
      text = json_str(v, "text");
    page_line(page, str_is(str_from(what), "refused") ? page->term.style.red : "", text, 20);
    if (yyjson_obj_get(v, "id"))
      buf_addf(&page->b, " [%lld]", (long long)json_int(v, "id", 0));
    buf_addc(&page->b, '\n');
  }
}

static void render_sync(struct page *page, yyjson_val *r) {
  add_lines(page, r, "added", "stored");
  add_lines(page, r, "changed", "changed");
  add_lines(page, r, "removed", "forgotten");
  add_lines(page, r, "finished", "done");
  add_lines(page, r, "conflicts", "conflict");
  add_lines(page, r, "refused", "refused");
  page_text(page, json_str(r, "file"));
  const char *did = json_bool(r, "dry_run", false)   ? "not touched"
                    : json_bool(r, "created", false) ? "created"
                    : json_bool(r, "written", false) ? "written"
                                                     : "up to date";
  buf_addf(&page->b, ": %s, %lld shown", did, (long long)json_int(r, "shown", 0));
  int64_t left = json_int(r, "left_out", 0) + json_int(r, "hidden", 0);
  if (left)
    buf_addf(&page->b, ", %lld left out", (long long)left);
  layout_render(page, r, "[, {faded} faded][, {archived} archived][, {expired} expired][, {stale} stale]");
  if (json_str(r, "offer").p) {
    buf_adds(&page->b, "to keep the page in the repository: cairn sync --path ");
    page_text(page, json_str(r, "offer"));
    buf_addc(&page->b, '\n');
  }
}

static void render_page(struct page *page, yyjson_val *r) { page_text(page, json_str(r, "text")); }

/* ---- the table ---- */

/* clang-format off */
#define FILE_CHANGE "{text text}"

const struct renderer other_renderers[] = {
  {.op = "agent add", .layout = "{text name}: declared, role {role}[, project {text project}]"},
  {.op = "agent remove", .layout = "{text name}: removed, role {role}[, project {text project}]"},
  {.op = "agent list", .layout = "@agents {name} | {role} | {project} | {note}"},
  {.op = "agent message", .layout = "{json message}"},
  {.op = "token add", .layout = "{text token}\n+role projects access profile expires_at\n"
   "  The token is shown only once. It authenticates as {text name}: Authorization: Bearer TOKEN"},
  {.op = "token list", .layout = "@tokens {name} | {state} | {role} | {access} | until {day expires_at:revoked} | "
   "used {day used_at:never} | {projects}"},
  {.op = "token revoke", .layout = "{text name}: {state}\n~also_revoked"},
  {.op = "token delete", .layout = "{text name}: deleted"},

  {.op = "file view", .result = render_file},
  {.op = "file create", .layout = FILE_CHANGE},
  {.op = "file insert", .layout = FILE_CHANGE},
  {.op = "file str_replace", .layout = FILE_CHANGE},
  {.op = "file delete", .layout = FILE_CHANGE},
  {.op = "file rename", .layout = FILE_CHANGE},
  {.op = "graph read", .result = render_graph_read},
  {.op = "graph create", .result = render_graph},
  {.op = "graph observe", .layout = "*results {bold entityName}: {addedObservations:nothing new}"},
  {.op = "graph delete", .layout = "{n memories} memories forgotten"},

  {.op = "vault set", .layout = "{text key}: {text action}"},
  {.op = "vault get", .layout = "{text value|handle}"},
  {.op = "vault add", .layout = "{text value}"},
  {.op = "vault list", .layout = "@entries {key} | {age updated_at} | <is_secret?(secret)|{value}>"},
  {.op = "vault delete", .layout = "{text key}: deleted"},
  {.op = "vault grant", .layout = "{text key}: granted to {text to}"},
  {.op = "vault revoke", .layout = "{text key}: revoked from {text to}"},
  {.op = "vault grants", .layout = "@grants {key} | {to} | <live?live|inactive><#uses_left?, {uses_left} uses left>"
   "[, until {time expires_at}]"},
  {.op = "vault rotate", .layout = "{n secrets} secret<secrets=1? is|s are> encrypted with {text way} {text to}"},

  {.op = "source add", .layout = READ_SOURCES},
  {.op = "source refresh", .layout = READ_SOURCES},
  {.op = "source list", .result = render_source_list},
  {.op = "source remove", .layout = "{bold folder}: removed; {n files} file{s files}, {n removed} chunk{s removed}"},
  {.op = "extract", .layout = "{n items} item{s items}[ ({types})] from {n files} file{s files}" SKIPPED "\n"
   "added {n added}, changed {n changed}, removed {n removed}[, secrets replaced {redacted}]\n"
   "{text file}<written?|: unchanged>\n" EMBEDDED},
  {.op = "sync", .result = render_sync},
  {.op = "page", .result = render_page},
  {0},
};
/* clang-format on */
