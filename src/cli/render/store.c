/* store.c: the store's own state as text: statistics, health, settings, events, imports. */
#include "cli/render/layout.h"

/* ---- statistics ---- */

/* "  by kind    rule 3, fact 12" */
static void add_counts(struct page *page, const char *name, yyjson_val *counts) {
  if (yyjson_obj_size(counts) == 0)
    return;
  struct buf b = BUF(page->b.a);
  size_t i, n;
  yyjson_val *key, *value;
  yyjson_obj_foreach(counts, i, n, key, value) {
    struct str label = json_val_str(key);
    buf_addf(&b, "%s%.*s %lld", i ? ", " : "", STR_ARG(label.n ? label : STR("global")),
             (long long)yyjson_get_sint(value));
  }
  buf_addf(&page->b, "%-12s ", name);
  page_line(page, "", buf_str(&b), 13);
  buf_addc(&page->b, '\n');
}

static void add_index(struct page *page, struct str label, yyjson_val *counts, struct str model) {
  buf_addf(&page->b, "%-12.*s %lld of %lld by ", STR_ARG(label), (long long)json_int(counts, "done", 0),
           (long long)json_int(counts, "total", 0));
  page_line(page, "", model, 0);
  buf_addc(&page->b, '\n');
}

/* The active index, one that is being built, and the one before. */
static void add_indexes(struct page *page, const char *label, yyjson_val *r) {
  size_t i, n;
  yyjson_val *index;
  add_index(page, str_from(label), yyjson_obj_get(r, "embedded"), json_str(r, "embedder"));
  yyjson_arr_foreach(yyjson_obj_get(r, "indexes"), i, n, index) {
    struct str state = json_str(index, "state");
    if (!str_is(state, "active"))
      add_index(page, state, index, json_str(index, "model"));
  }
}

static void render_reembed(struct page *page, yyjson_val *r) {
  static const char *const members[] = {"model",    "newly_embedded", "failed", "previous", "abandoned",
                                        "embedded", "dropped",        "note",   "txn",      NULL};
  static const char *const plain[] = {"model",   "newly_embedded", "failed", "previous", "abandoned",
                                      "dropped", "note",           "txn",    NULL};
  bool counted = yyjson_is_obj(yyjson_obj_get(r, "embedded"));
  page_members(page, r, counted ? plain : members);
  if (counted)
    add_indexes(page, "active", r);
}

static void render_stats(struct page *page, yyjson_val *r) {
  static const char *const groups[][2] = {{"kinds", "by_kind"},
                                          {"types", "by_type"},
                                          {"states", "by_state"},
                                          {"projects", "by_project"},
                                          {"delivery", "by_delivery"}};
  buf_adds(&page->b, "store        ");
  page_text(page, json_str(r, "db"));
  buf_addf(&page->b, " (%s)\n", term_bytes(page->b.a, json_int(r, "size_bytes", 0)).p);
  buf_addf(&page->b, "memories     %lld, of these %lld in 7 days and %lld in 30\n",
           (long long)json_int(r, "memories", 0), (long long)json_int(r, "last_7_days", 0),
           (long long)json_int(r, "last_30_days", 0));
  for (size_t i = 0; i < ARRAY_LEN(groups); i++)
    add_counts(page, groups[i][0], yyjson_obj_get(r, groups[i][1]));
  add_indexes(page, "embedded", r);
  buf_addf(&page->b, "last event   %lld\n", (long long)json_int(r, "last_seq", 0));
  struct str maintained = json_str(r, "maintained_at");
  buf_addf(&page->b, "maintained   %.*s\n", STR_ARG(maintained.n ? term_time(page->b.a, maintained) : STR("never")));
  size_t i, n;
  yyjson_val *c;
  yyjson_arr_foreach(yyjson_obj_get(r, "corrections"), i, n, c) {
    buf_adds(&page->b, i ? "             " : "corrections  ");
    page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(c, "id")));
    buf_addf(&page->b, "  %lld versions  ", (long long)json_int(c, "versions", 0));
    page_line(page, "", json_str(c, "headline"), 40);
    buf_addc(&page->b, '\n');
  }
}

/* ---- health and settings ---- */

static void render_doctor(struct page *page, yyjson_val *r) {
  const struct style *style = &page->term.style;
  size_t i, n;
  yyjson_val *c;
  yyjson_arr_foreach(yyjson_obj_get(r, "checks"), i, n, c) {
    bool ok = json_bool(c, "ok", false);
    buf_addf(&page->b, "%s%s%s ", ok ? style->green : style->red, ok ? "✓ ok  " : "✗ FAIL", style->reset);
    page_line(page, style->bold, json_str(c, "name"), 0);
    buf_adds(&page->b, ": ");
    page_text(page, json_str(c, "message"));
    buf_addc(&page->b, '\n');
    struct str fix = json_str(c, "fix");
    if (fix.n) {
      buf_adds(&page->b, "         try: ");
      page_text(page, fix);
      buf_addc(&page->b, '\n');
    }
  }
  bool ok = json_bool(r, "ok", false);
  page_text(page, json_str(r, "db"));
  page_styled(page, ok ? style->green : style->red, ok ? STR(": all is well\n") : STR(": problems were found\n"));
}

static void render_setting(struct page *page, yyjson_val *r) {
  static const char *const members[] = {"value", "default",       "origin", "file", "line",
                                        "help",  "overridden_by", "note",   "txn",  NULL};
  page_line(page, page->term.style.bold, json_str(r, "name"), 0);
  buf_addc(&page->b, '\n');
  page_members(page, r, members);
}

static void render_config(struct page *page, yyjson_val *r) {
  yyjson_val *settings = yyjson_obj_get(r, "settings"), *s;
  if (!settings) {
    render_setting(page, r);
    return;
  }
  struct table t = {.a = page->b.a, .columns = 4};
  size_t i, n;
  yyjson_arr_foreach(settings, i, n, s) {
    struct str origin = json_str(s, "origin");
    int64_t line = json_int(s, "line", 0);
    if (line)
      origin = arena_printf(page->b.a, "file:%lld", (long long)line);
    const struct str cells[] = {json_str(s, "name"), page_value(page, yyjson_obj_get(s, "value")),
                                str_is(origin, "default") ? STR("") : origin, json_str(s, "help")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  if (json_str(r, "file").p) {
    buf_adds(&page->b, "\nfile: ");
    page_line(page, "", json_str(r, "file"), 0);
    buf_addc(&page->b, '\n');
  }
}

/* ---- events ---- */

static void render_event(struct page *page, yyjson_val *e) {
  struct buf *b = &page->b;
  buf_addf(b, "%s%6lld%s  %s  ", page->term.style.dim, (long long)json_int(e, "seq", 0), page->term.style.reset,
           term_time(b->a, json_str(e, "at")).p);
  struct str action = json_str(e, "action");
  page_line(page, "", action, 0);
  term_pad(b, term_columns(action), 18);
  if (yyjson_obj_get(e, "id")) {
    buf_addc(b, ' ');
    page_line(page, "", page_value(page, yyjson_obj_get(e, "id")), 0);
  }
  static const char *const members[] = {"change", "txn", "project", "source", NULL};
  for (size_t i = 0; members[i]; i++) {
    struct str value = page_value(page, yyjson_obj_get(e, members[i]));
    if (value.n == 0)
      continue;
    buf_addf(b, "  %s ", members[i]);
    page_line(page, "", value, 0);
  }
  buf_addc(b, '\n');
}

/* The lines are the whole output. */
static void render_nothing(struct page *page UNUSED, yyjson_val *r UNUSED) {}

/* ---- moving and removing ---- */

static void render_import(struct page *page, yyjson_val *r) {
  yyjson_val *refused = yyjson_obj_get(r, "refused"), *row;
  size_t i, n;
  yyjson_arr_foreach(refused, i, n, row) {
    struct str line = page_value(page, yyjson_obj_get(row, "line"));
    buf_addf(&page->b, yyjson_is_int(yyjson_obj_get(row, "line")) ? "line %.*s: " : "%.*s: ", STR_ARG(line));
    yyjson_val *error = yyjson_obj_get(row, "error");
    page_line(page, page->term.style.red, yyjson_is_obj(error) ? json_str(error, "message") : json_val_str(error), 0);
    buf_addc(&page->b, '\n');
  }
  int64_t bad = json_int(r, "refused_count", (int64_t)n);
  if (bad > (int64_t)n)
    buf_addf(&page->b, "and %lld more\n", (long long)bad - (long long)n);
  if (json_str(r, "message").p) {
    page_line(page, page->term.style.red, json_str(r, "message"), 0);
    buf_addc(&page->b, '\n');
  }
  buf_addf(&page->b, "%s %lld, already there %lld, purged before %lld, refused %lld, links %lld",
           json_bool(r, "dry_run", false) ? "would import" : "imported", (long long)json_int(r, "imported", 0),
           (long long)json_int(r, "already", 0), (long long)json_int(r, "tombstoned", 0), (long long)bad,
           (long long)json_int(r, "links", 0));
  page_txn(page, r);
  if (json_int(r, "untrusted", 0))
    buf_addf(&page->b, "untrusted %lld: %.*s\n", (long long)json_int(r, "untrusted", 0),
             STR_ARG(json_str(r, "promote")));
}

static void render_transcript_import(struct page *page, yyjson_val *r) {
  yyjson_val *row;
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(r, "failed"), i, n, row) {
    page_line(page, page->term.style.red, json_str(row, "error"), 0);
    buf_addc(&page->b, '\n');
  }
  if (json_int(r, "failed_count", 0) > (int64_t)n)
    buf_addf(&page->b, "and %lld more files that could not be read\n",
             (long long)json_int(r, "failed_count", 0) - (long long)n);
  int64_t messages = json_int(r, "messages", 0), sessions = json_int(r, "sessions", 0);
  buf_addf(&page->b, "imported %lld message%s of %lld session%s, already there %lld, secrets redacted %lld\n",
           (long long)messages, messages == 1 ? "" : "s", (long long)sessions, sessions == 1 ? "" : "s",
           (long long)json_int(r, "already", 0), (long long)json_int(r, "redacted", 0));
  buf_addf(&page->b, "%-12s %lld, unchanged %lld, unknown format %lld, incomplete last line %lld\n", "files",
           (long long)json_int(r, "files", 0), (long long)json_int(r, "unchanged", 0),
           (long long)json_int(r, "unknown", 0), (long long)json_int(r, "torn", 0));
  add_counts(page, "projects", yyjson_obj_get(r, "projects"));
  add_counts(page, "left out", yyjson_obj_get(r, "skipped"));
  if (json_int(r, "files", 0) == 0 && yyjson_obj_get(r, "looked_in"))
    buf_addf(&page->b, "no transcripts in %.*s\n", STR_ARG(page_value(page, yyjson_obj_get(r, "looked_in"))));
}

/* ---- the table ---- */

/* clang-format off */

/* Outcome for the transcripts of a backup or of a migrated store. */
#define TRANSCRIPTS \
  "?<transcripts.restored|transcripts.extended|transcripts.kept?transcripts: {n transcripts.restored} restored, " \
  "{n transcripts.extended} extended, {n transcripts.kept} unchanged>\n" \
  "*transcripts.diverged session {text session} has diverged; the copy from the backup is {text kept_as}"
#define PRUNED ">{id} | {kind} | {state} | {headline}\n"

const struct renderer store_renderers[] = {
  {.op = "stats", .result = render_stats},
  {.op = "doctor", .result = render_doctor},
  {.op = "config", .result = render_config},
  {.op = "events", .result = render_nothing, .line = render_event},
  {.op = "export", .layout = "?<file?{n memories} <memories=1?memory|memories>, {n links} link{s links} and {n events} event{s events} "
   "written to {text file}>"},
  {.op = "import", .result = render_import},
  {.op = "transcript import", .result = render_transcript_import},
  {.op = "backup", .layout = "{text file} ({bytes bytes})\n?<transcripts.file?{text transcripts.file} "
   "({bytes transcripts.bytes}, transcripts of {n transcripts.sessions} session{s transcripts.sessions})>"},
  {.op = "restore", .layout = "{n memories} <memories=1?memory|memories> restored from {text file}\n"
   "the previous content is in {text safety_backup}\n"
   "?[live tokens: {tokens_live}; 'cairn token list' shows them]\n"
   "?[tokens revoked because the store did not have them, or had revoked them: {tokens_revoked}]\n"
   "?[vault grants not restored, for the same reason: {grants_revoked}]\n"
   "?<transcripts.left_out?transcripts were not restored"
   "|<transcripts.in_backup=no?the backup has no transcripts: existing ones are unchanged>>\n" TRANSCRIPTS},
  {.op = "purge", .layout = "*receipt.purged purged {id}  {uid}\n?<receipt.remains?{text receipt.remains}"
   "|<receipt.log_emptied=no?another process is reading: the log is emptied when it is done, or by 'cairn maintain' later>>\n"
   "*receipt.backups still in the backup {text .}"},
  {.op = "prune", .layout = "@would_prune " PRUNED "@pruned " PRUNED
   "<dry_run=no?{n pruned} of {n total} pruned|{n would_prune} of {n total} would be pruned; --apply prunes them>{txn}"},
  {.op = "reembed", .result = render_reembed},
  {.op = "migrate", .layout = "?<start=resumed?resumed an earlier run>\n"
   "?<start=source_changed?the source has changed since the earlier run: started over>\n"
   "?<start=already_done?already done: nothing has changed>\n"
   "?<start=copy_differs?the copy of the earlier run has changed: started over>\n"
   "@tables {name} | >{n rows} | {hash hash}\n"
   "{n rows} row{s rows}, identical in {text from} and {text to} ({seconds ms})\n"
   "?[{missing_transactions} transaction<missing_transactions=1? was|s were> written to the source meanwhile and "
   "<missing_transactions=1?is|are> not in the target]\n" TRANSCRIPTS},
  {.op = "team list", .layout = "@removed {team} | {at} | {rows}\n@teams {team} | {changed_at} | {memories} <memories=1?memory|memories>"},
  {0},
};
/* clang-format on */
