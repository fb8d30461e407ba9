/* store.c: the store's own state as text: statistics, health, settings, events, imports. */
#include "cli/render/render.h"

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

/* An index that is being built, and the one before. */
static void add_other_indexes(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *index;
  yyjson_arr_foreach(yyjson_obj_get(r, "indexes"), i, n, index) {
    struct str state = json_str(index, "state");
    if (str_is(state, "active"))
      continue;
    buf_addf(&page->b, "%-12.*s %lld of %lld by ", STR_ARG(state), (long long)json_int(index, "done", 0),
             (long long)json_int(index, "total", 0));
    page_line(page, "", json_str(index, "model"), 0);
    buf_addc(&page->b, '\n');
  }
}

static void render_reembed(struct page *page, yyjson_val *r) {
  static const char *const members[] = {"model",    "newly_embedded", "failed", "previous", "abandoned",
                                        "embedded", "dropped",        "note",   "txn",      NULL};
  static const char *const plain[] = {"model",   "newly_embedded", "failed", "previous", "abandoned",
                                      "dropped", "note",           "txn",    NULL};
  yyjson_val *embedded = yyjson_obj_get(r, "embedded");
  page_members(page, r, yyjson_is_obj(embedded) ? plain : members);
  if (!yyjson_is_obj(embedded))
    return;
  buf_addf(&page->b, "active       %lld of %lld by ", (long long)json_int(embedded, "done", 0),
           (long long)json_int(embedded, "total", 0));
  page_line(page, "", json_str(r, "embedder"), 0);
  buf_addc(&page->b, '\n');
  add_other_indexes(page, r);
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
  yyjson_val *embedded = yyjson_obj_get(r, "embedded");
  buf_addf(&page->b, "embedded     %lld of %lld by ", (long long)json_int(embedded, "done", 0),
           (long long)json_int(embedded, "total", 0));
  page_line(page, "", json_str(r, "embedder"), 0);
  buf_addc(&page->b, '\n');
  add_other_indexes(page, r);
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

/* The lines were all there is to say. */
static void render_nothing(struct page *page UNUSED, yyjson_val *r UNUSED) {}

static void render_export(struct page *page, yyjson_val *r) {
  struct str file = json_str(r, "file");
  if (file.n == 0)
    return;
  buf_addf(&page->b, "%lld memories, %lld links and %lld events written to ", (long long)json_int(r, "memories", 0),
           (long long)json_int(r, "links", 0), (long long)json_int(r, "events", 0));
  page_text(page, file);
  buf_addc(&page->b, '\n');
}

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
  buf_addf(&page->b, "imported %lld messages of %lld sessions, already there %lld, secrets taken out %lld\n",
           (long long)json_int(r, "messages", 0), (long long)json_int(r, "sessions", 0),
           (long long)json_int(r, "already", 0), (long long)json_int(r, "redacted", 0));
  buf_addf(&page->b, "%-12s %lld, unchanged %lld, of another kind %lld, with a line not yet whole %lld\n", "files",
           (long long)json_int(r, "files", 0), (long long)json_int(r, "unchanged", 0),
           (long long)json_int(r, "unknown", 0), (long long)json_int(r, "torn", 0));
  add_counts(page, "projects", yyjson_obj_get(r, "projects"));
  add_counts(page, "left out", yyjson_obj_get(r, "skipped"));
  if (json_int(r, "files", 0) == 0 && yyjson_obj_get(r, "looked_in"))
    buf_addf(&page->b, "nothing is in %.*s\n", STR_ARG(page_value(page, yyjson_obj_get(r, "looked_in"))));
}

static void render_backup(struct page *page, yyjson_val *r) {
  yyjson_val *t = yyjson_obj_get(r, "transcripts");
  int64_t sessions = json_int(t, "sessions", 0);
  page_text(page, json_str(r, "file"));
  buf_addf(&page->b, " (%s)\n", term_bytes(page->b.a, json_int(r, "bytes", 0)).p);
  if (!json_str(t, "file").p)
    return;
  page_text(page, json_str(t, "file"));
  buf_addf(&page->b, " (%s, transcripts of %lld session%s)\n", term_bytes(page->b.a, json_int(t, "bytes", 0)).p,
           (long long)sessions, sessions == 1 ? "" : "s");
}

/* What became of the transcripts of a backup, or of a store that was moved. */
static void render_transcripts(struct page *page, yyjson_val *t, bool backup) {
  yyjson_val *diverged = yyjson_obj_get(t, "diverged"), *v;
  int64_t came = json_int(t, "restored", 0), more = json_int(t, "extended", 0), kept = json_int(t, "kept", 0);
  size_t i, n;
  if (backup && json_bool(t, "left_out", false))
    buf_adds(&page->b, "transcripts were left as they are\n");
  else if (backup && !json_bool(t, "in_backup", true))
    buf_adds(&page->b, "the backup holds no transcripts: those that are here stay as they are\n");
  if (came + more + kept)
    buf_addf(&page->b, "transcripts: %lld brought back, %lld continued, %lld were here already\n", (long long)came,
             (long long)more, (long long)kept);
  yyjson_arr_foreach(diverged, i, n, v) {
    buf_adds(&page->b, "session ");
    page_text(page, json_str(v, "session"));
    buf_adds(&page->b, " is another one here; the one that came is ");
    page_text(page, json_str(v, "kept_as"));
    buf_addc(&page->b, '\n');
  }
}

static void render_restore(struct page *page, yyjson_val *r) {
  buf_addf(&page->b, "%lld memories restored from ", (long long)json_int(r, "memories", 0));
  page_text(page, json_str(r, "file"));
  buf_adds(&page->b, "\nwhat was there before is in ");
  page_text(page, json_str(r, "safety_backup"));
  buf_addc(&page->b, '\n');
  int64_t live = json_int(r, "tokens_live", 0), revoked = json_int(r, "tokens_revoked", 0);
  int64_t grants = json_int(r, "grants_revoked", 0);
  if (live)
    buf_addf(&page->b, "live tokens: %lld; 'cairn token list' shows them\n", (long long)live);
  if (revoked)
    buf_addf(&page->b,
             "tokens that came back revoked, because the store did not have them, or had revoked them: %lld\n",
             (long long)revoked);
  if (grants)
    buf_addf(&page->b, "grants of the vault that did not come back, for the same reason: %lld\n", (long long)grants);
  render_transcripts(page, yyjson_obj_get(r, "transcripts"), true);
}

static void render_migrate(struct page *page, yyjson_val *r) {
  static const char *const starts[][2] = {
      {"resumed", "went on where an earlier run had stopped\n"},
      {"source_changed", "the source was changed since the earlier run: began anew\n"},
      {"already_done", "was done already: nothing is new\n"},
      {"copy_differs", "what the earlier run had copied is no longer the same: began anew\n"},
  };
  struct table t = {.a = page->b.a, .columns = 3, .right = {false, true}};
  int64_t missing = json_int(r, "missing_transactions", 0), ms = json_int(r, "ms", 0);
  yyjson_val *v;
  size_t i, n;
  for (i = 0; i < ARRAY_LEN(starts); i++)
    if (str_is(json_str(r, "start"), starts[i][0]))
      buf_adds(&page->b, starts[i][1]);
  yyjson_arr_foreach(yyjson_obj_get(r, "tables"), i, n, v) {
    const struct str cells[] = {json_str(v, "name"), page_value(page, yyjson_obj_get(v, "rows")),
                                str_slice(json_str(v, "hash"), 0, 16)};
    table_add(&t, cells);
  }
  table_print(&t, page);
  buf_addf(&page->b, "%lld rows, each the same in ", (long long)json_int(r, "rows", 0));
  page_text(page, json_str(r, "from"));
  buf_adds(&page->b, " and ");
  page_text(page, json_str(r, "to"));
  buf_addf(&page->b, " (%lld.%lld s)\n", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
  if (missing)
    buf_addf(&page->b, "%lld transaction%s written to the source meanwhile and %s not in the target\n",
             (long long)missing, missing == 1 ? " was" : "s were", missing == 1 ? "is" : "are");
  render_transcripts(page, yyjson_obj_get(r, "transcripts"), false);
}

/* Teams, or the receipts of deleted ones. */
static void render_teams(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 3};
  yyjson_val *removed = yyjson_obj_get(r, "removed"), *v;
  size_t i, n;
  yyjson_arr_foreach(removed ? removed : yyjson_obj_get(r, "teams"), i, n, v) {
    struct str rows = page_value(page, yyjson_obj_get(v, "rows")),
               memories = page_value(page, yyjson_obj_get(v, "memories"));
    struct str when = json_str(v, removed ? "at" : "changed_at");
    const struct str cells[] = {json_str(v, "team"), when.p ? when : STR(""),
                                removed ? rows : arena_printf(page->b.a, "%.*s memories", STR_ARG(memories))};
    table_add(&t, cells);
  }
  table_print(&t, page);
}

static void render_purge(struct page *page, yyjson_val *r) {
  yyjson_val *receipt = yyjson_obj_get(r, "receipt"), *v;
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(receipt, "purged"), i, n, v) {
    struct str id = page_value(page, yyjson_obj_get(v, "id")), uid = json_str(v, "uid");
    buf_addf(&page->b, "purged %.*s  %.*s\n", STR_ARG(id), STR_ARG(uid));
  }
  struct str remains = json_str(receipt, "remains");
  if (remains.p) {
    page_text(page, remains);
    buf_addc(&page->b, '\n');
  } else if (!json_bool(receipt, "log_emptied", true))
    buf_adds(&page->b,
             "another process is reading: its log is emptied when it is done, or by 'cairn maintain' later\n");
  yyjson_arr_foreach(yyjson_obj_get(receipt, "backups"), i, n, v) {
    buf_adds(&page->b, "still in the backup ");
    page_text(page, json_val_str(v));
    buf_addc(&page->b, '\n');
  }
}

static void render_prune(struct page *page, yyjson_val *r) {
  bool dry = json_bool(r, "dry_run", true);
  yyjson_val *list = yyjson_obj_get(r, dry ? "would_prune" : "pruned"), *m;
  struct table t = {.a = page->b.a, .columns = 4, .right = {true}};
  size_t i, n;
  yyjson_arr_foreach(list, i, n, m) {
    const struct str cells[] = {page_value(page, yyjson_obj_get(m, "id")), json_str(m, "kind"), json_str(m, "state"),
                                json_str(m, "headline")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  buf_addf(&page->b, "%zu of %lld %s", yyjson_arr_size(list), (long long)json_int(r, "total", 0),
           dry ? "would be pruned; --apply does it" : "pruned");
  page_txn(page, r);
}

const struct renderer store_renderers[] = {
    {"stats", render_stats, NULL},
    {"doctor", render_doctor, NULL},
    {"config", render_config, NULL},
    {"events", render_nothing, render_event},
    {"export", render_export, NULL},
    {"import", render_import, NULL},
    {"transcript import", render_transcript_import, NULL},
    {"backup", render_backup, NULL},
    {"restore", render_restore, NULL},
    {"purge", render_purge, NULL},
    {"prune", render_prune, NULL},
    {"reembed", render_reembed, NULL},
    {"migrate", render_migrate, NULL},
    {"team list", render_teams, NULL},
    {0},
};
