/* store.c: the store's own state as text: statistics, health, settings, events, imports. */
#include "cli/render/layout.h"

/* ---- health and settings ---- */

static void render_doctor(struct page *page, yyjson_val *r) {
  enum { CHECK_INDENT = 7, FIX_INDENT = 14 };
  const struct style *style = &page->term.style;
  size_t i, n;
  yyjson_val *c;
  yyjson_arr_foreach(yyjson_obj_get(r, "checks"), i, n, c) {
    bool ok = json_bool(c, "ok", false), pending = ok && json_int(c, "left", 0) > 0;
    buf_addf(&page->b, "%s%s%s ",
             !ok       ? style->red
             : pending ? style->yellow
                       : style->green,
             !ok       ? "✗ FAIL"
             : pending ? "• todo"
                       : "✓ ok  ",
             style->reset);
    struct str name = page_label(page, json_str(c, "name")), fix = json_str(c, "fix");
    page_styled(page, style->bold, name);
    buf_adds(&page->b, ": ");
    page_wrap(page, json_str(c, "message"), CHECK_INDENT + name.n + 2);
    buf_addc(&page->b, '\n');
    if (fix.n) {
      buf_adds(&page->b, "         try: ");
      page_wrap(page, fix, FIX_INDENT);
      buf_addc(&page->b, '\n');
    }
  }
  bool ok = json_bool(r, "ok", false);
  page_text(page, json_str(r, "db"));
  page_styled(page, ok ? style->green : style->red, ok ? STR(": all is well\n") : STR(": problems were found\n"));
}

/* One setting, or all. */
static void render_config(struct page *page, yyjson_val *r) {
  layout_render(page, r,
                yyjson_obj_get(r, "settings")
                    ? "@settings {name} | {value} | <origin=default?|<line?file:{line}|{origin}>> | "
                      "~{help}\n?<file?\nfile: {text file}>"
                    : "{bold name}\n+value default origin file line help overridden_by note");
}

/* ---- events ---- */

/* The columns of an event: time, action, memory. */
static struct str event_columns(struct page *page, yyjson_val *e) {
  enum { ACTION_COLUMNS = 18, ID_COLUMNS = 6 };
  struct buf b = BUF(page->b.a);
  struct str action = page_one_line(page, json_str(e, "action")), id = page_value(page, yyjson_obj_get(e, "id"));
  buf_addf(&b, "%s  %.*s", term_time(b.a, json_str(e, "at")).p, STR_ARG(action));
  term_pad(&b, term_columns(action), ACTION_COLUMNS);
  term_pad(&b, id.n, ID_COLUMNS);
  buf_add(&b, id);
  return buf_str(&b);
}

/* What follows them. */
static struct str event_rest(struct page *page, yyjson_val *e) {
  static const char *const members[][2] = {
      {"op", ""}, {"change", ""}, {"txn", "transaction "}, {"project", "in "}, {"source", "by "}};
  struct buf b = BUF(page->b.a);
  for (size_t i = str_is(json_str(e, "action"), "memory:read") ? 0 : 1; i < ARRAY_LEN(members); i++) {
    struct str value = page_one_line(page, page_value(page, yyjson_obj_get(e, members[i][0])));
    if (value.n || i == 0)
      buf_addf(&b, "  %s%.*s", members[i][1], STR_ARG(value));
  }
  return buf_str(&b);
}

/* If the terminal is too narrow, the rest is below the columns. */
static void render_event(struct page *page, yyjson_val *e) {
  enum { INDENT = 8 }; /* columns of the number */
  struct str columns = event_columns(page, e), rest = event_rest(page, e);
  size_t used = INDENT + term_columns(columns);
  bool fits = !page->term.tty || used + term_columns(rest) <= page->term.width;
  buf_addf(&page->b, "%s%6lld%s  ", page->term.style.dim, (long long)json_int(e, "seq", 0), page->term.style.reset);
  if (fits) {
    buf_add(&page->b, columns);
    buf_add(&page->b, rest);
  } else if (used <= page->term.width) {
    buf_addf(&page->b, "%.*s\n%*s", STR_ARG(str_trim(columns)), INDENT, "");
    page_wrap(page, rest, INDENT);
  } else {
    page_wrap(page, arena_printf(page->b.a, "%.*s%.*s", STR_ARG(columns), STR_ARG(rest)), INDENT);
  }
  buf_addc(&page->b, '\n');
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
  buf_addf(&page->b, "%s %lld, already there %lld, purged before %lld, refused %lld, links %lld\n",
           json_bool(r, "dry_run", false) ? "would import" : "imported", (long long)json_int(r, "imported", 0),
           (long long)json_int(r, "already", 0), (long long)json_int(r, "tombstoned", 0), (long long)bad,
           (long long)json_int(r, "links", 0));
  if (json_int(r, "untrusted", 0))
    buf_addf(&page->b, "untrusted %lld: %.*s\n", (long long)json_int(r, "untrusted", 0),
             STR_ARG(json_str(r, "promote")));
}

/* ---- the table ---- */

/* clang-format off */

/* Outcome for the transcripts of a backup or of a migrated store. */
#define TRANSCRIPTS \
  "?<transcripts.restored|transcripts.extended|transcripts.kept?transcripts: {n transcripts.restored} restored, " \
  "{n transcripts.extended} extended, {n transcripts.kept} unchanged>\n" \
  "*transcripts.diverged session {text session} has diverged; the copy from the backup is {text kept_as}"
#define INDEXES \
  "=embedded: <#embedded.total?{n embedded.done} of {n embedded.total} by {embedder}|{embedded}>\n" \
  "*indexes <state=active?|{label state} {n done} of {n total} by {model}>"
#define PRUNED ">{id} | {kind} | {state} | {headline}\n"

const struct renderer store_renderers[] = {
  {.op = "stats", .layout =
   "=store: {db} ({bytes size_bytes})\n"
   "=memories: {n memories}, of these {n last_7_days} in 7 days and {n last_30_days} in 30\n"
   "=kinds: {by_kind}\n=types: {by_type}\n=states: {by_state}\n=projects: {by_project}\n=delivery: {by_delivery}\n"
   INDEXES "\n=last event: {n last_seq}\n=maintained: {time maintained_at:never}\n"
   "?<corrections?corrected most:>\n*corrections   {dim id}  {n versions} versions  {headline 30}"},
  {.op = "doctor", .result = render_doctor},
  {.op = "config", .result = render_config},
  {.op = "events", .result = render_nothing, .line = render_event},
  {.op = "export", .layout = "?<file?{n memories} <memories=1?memory|memories>, {n links} link{s links} and {n events} event{s events} "
   "written to {text file}>"},
  {.op = "import", .result = render_import},
  {.op = "transcript import", .layout = "*failed {red error}\n?[{red failed_count} files could not be read]\n"
   "imported {n messages} message{s messages} of {n sessions} session{s sessions}, already there {n already}, secrets redacted {n redacted}\n"
   "=files: {n files}, unchanged {n unchanged}, unknown format {n unknown}, incomplete last line {n torn}\n"
   "=projects: {projects}\n=left out: {skipped}\n?<files?|[no transcripts in {looked_in}]>\n~not_indexed"},
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
   "<dry_run=no?{n pruned} of {n total} pruned|{n would_prune} of {n total} would be pruned; --apply prunes them>"},
  {.op = "maintain", .layout = "<skipped?skipped: {text reason}"
   "|{counts expired faded archived stale transcripts embedded judged suspect dropped_vectors}[ ({duration_ms} ms)]>\n"
   "?[changed: {ids}]\n?[index now active: {now_active}]\n?[suspect ones were labelled by transaction {suspect_txns}]\n"
   "?[transcripts that failed: {red transcripts_failed}]\n~degraded"},
  {.op = "reembed", .layout = "+model newly_embedded failed previous abandoned dropped note\n" INDEXES},
  {.op = "migrate", .layout = "?<start=resumed?resumed an earlier run>\n"
   "?<start=source_changed?the source has changed since the earlier run: started over>\n"
   "?<start=already_done?already done: nothing has changed>\n"
   "?<start=copy_differs?the copy of the earlier run has changed: started over>\n"
   "@tables {name} | >{n rows} | {hash hash}\n"
   "{n rows} row{s rows}, identical in {text from} and {text to} ({seconds ms})\n"
   "?[{missing_transactions} transaction<missing_transactions=1? was|s were> written to the source meanwhile and "
   "<missing_transactions=1?is|are> not in the target]\n" TRANSCRIPTS},
  {.op = "team list", .layout = "@removed {team} | <@terminal?{time at}|{at}> | {rows}<@terminal? row{s rows}>\n"
   "@teams {team} | <@terminal?{time changed_at}|{changed_at}> | {memories} <memories=1?memory|memories>"},
  {0},
};
/* clang-format on */
