/* memory.c: memories, searches, corrections and tasks as text. */
#include "base/utf8.h"
#include "cli/render/layout.h"
#include "core/text/terms.h"
#include "core/text/text.h"
#include "op/run/common.h"

static void add_id(struct page *page, yyjson_val *obj) {
  page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(obj, "id")));
}

/* ---- texts ---- */

/* True if both are forms of one word, as the index takes them: "session" and "sessions". */
static bool is_form_of(struct str a, struct str b) {
  enum { STEM_MIN = 4, ENDING_MAX = 3 };
  size_t n = a.n < b.n ? a.n : b.n, longer = a.n < b.n ? b.n : a.n;
  return memcmp(a.p, b.p, n) == 0 && (longer == n || (n >= STEM_MIN && longer - n <= ENDING_MAX));
}

static bool is_asked_for(struct arena *a, struct str word, const struct strs *query) {
  word = utf8_fold(a, word);
  for (size_t i = 0; i < query->n; i++)
    if (is_form_of(word, query->v[i]))
      return true;
  return false;
}

static struct strs query_words(struct arena *a, struct str query) {
  struct strs words = {0};
  struct str word;
  for (size_t pos = 0; text_next_word(query, &pos, &word);) {
    word = utf8_fold(a, word);
    if (!terms_is_stop_word(word))
      strs_push(a, &words, word);
  }
  return words;
}

/* Prints text that is ready for the terminal, with the words of the query highlighted. Its first `bold` bytes, without
 * counting blanks, are bold: the headline. */
static void add_highlighted(struct page *page, struct str text, const struct strs *query, size_t bold) {
  const struct style *style = &page->term.style;
  size_t done = 0, end = 0, seen = 0;
  while (end < text.n && seen < bold)
    seen += !strchr(" \n", text.p[end++]);
  struct str word;
  bool is_bold = end > 0;
  buf_adds(&page->b, is_bold ? style->bold : "");
  for (size_t pos = 0; done < text.n;) {
    bool found = text_next_word(text, &pos, &word);
    size_t start = found ? (size_t)(word.p - text.p) : text.n, stop = found ? start + word.n : text.n;
    bool match = found && is_asked_for(page->b.a, word, query);
    if (is_bold && end <= start) {
      page_styled(page, style->bold, str_slice(text, done, end));
      done = end;
      is_bold = false;
    }
    buf_add(&page->b, str_slice(text, done, start));
    page_styled(page, match ? style->match : "", str_slice(text, start, stop));
    buf_adds(&page->b, is_bold && stop >= end ? style->reset : is_bold && match ? style->bold : "");
    is_bold = is_bold && stop < end;
    done = stop;
  }
}

bool page_starts_with_headline(struct arena *a, struct str text, struct str headline, size_t *ret_bytes) {
  struct str h = text_collapse(a, headline);
  static const char *const endings[] = {"…", "...", "."};
  for (size_t i = 0; i < ARRAY_LEN(endings); i++)
    if (str_ends(h, str_from(endings[i])))
      h = str_trim(str_slice(h, 0, h.n - strlen(endings[i])));
  *ret_bytes = 0;
  for (size_t i = 0; i < h.n; i++)
    *ret_bytes += h.p[i] != ' ';
  return str_starts(text_collapse(a, text), h);
}

/* ---- one memory ---- */

static void add_list(struct page *page, const char *name, yyjson_val *list) {
  size_t i, n;
  yyjson_val *v;
  if (yyjson_arr_size(list))
    buf_addf(&page->b, "  %s%s:%s\n", page->term.style.dim, name, page->term.style.reset);
  yyjson_arr_foreach(list, i, n, v) {
    struct str text = yyjson_is_obj(v) ? layout_line(page, v, "{text}  ({time at}, {by})") : page_value(page, v);
    buf_adds(&page->b, "    - ");
    page_wrap(page, text, 6);
    buf_addc(&page->b, '\n');
  }
}

static void add_links(struct page *page, yyjson_val *links) {
  enum { LINK_COLUMNS = 10 }; /* of the arrow and the blanks */
  size_t i, n;
  yyjson_val *l;
  if (yyjson_arr_size(links))
    buf_addf(&page->b, "  %slinks:%s\n", page->term.style.dim, page->term.style.reset);
  yyjson_arr_foreach(links, i, n, l) {
    struct str rel = page_label(page, json_str(l, "rel")), state = json_str(l, "state");
    struct str id = page_value(page, yyjson_obj_get(l, "id"));
    struct str end = state.n && !str_is(state, "active") ? arena_printf(page->b.a, " (%.*s)", STR_ARG(state)) : STR("");
    buf_addf(&page->b, "    %s %.*s ", str_is(json_str(l, "direction"), "in") ? "<-" : "->", STR_ARG(rel));
    add_id(page, l);
    buf_adds(&page->b, "  ");
    page_line(page, "", json_str(l, "headline"), LINK_COLUMNS + rel.n + id.n + end.n);
    buf_addf(&page->b, "%.*s\n", STR_ARG(end));
  }
}

/* Default values are not shown. */
static bool is_default(yyjson_val *m, const char *name) {
  static const char *const usual[][2] = {{"delivery", "on_demand"}, {"trust", "user"}};
  for (size_t i = 0; i < ARRAY_LEN(usual); i++)
    if (strcmp(name, usual[i][0]) == 0)
      return str_is(json_str(m, name), usual[i][1]);
  if (strcmp(name, "valid_from") == 0)
    return str_eq(json_str(m, name), json_str(m, "created_at"));
  if (strcmp(name, "weight") == 0)
    return json_num(m, name, 1.0) == 1.0;
  return yyjson_is_int(yyjson_obj_get(m, name)) && json_int(m, name, 0) == 0;
}

static void add_metadata(struct page *page, yyjson_val *m) {
  static const char *const members[] = {"corpus",
                                        "origin",
                                        "key",
                                        "uid",
                                        "delivery",
                                        "state_reason",
                                        "state_by",
                                        "status",
                                        "priority",
                                        "milestone",
                                        "due",
                                        "claimed_by",
                                        "root_cause",
                                        "resolution",
                                        "confidence",
                                        "domains",
                                        "corroborated",
                                        "verified_at",
                                        "weight",
                                        "auto_captured",
                                        "skill_name",
                                        "skill_always_on",
                                        "skill_keywords",
                                        "skill_projects",
                                        "tags",
                                        "people",
                                        "topics",
                                        "created_at",
                                        "valid_from",
                                        "expires_at",
                                        "last_accessed",
                                        "access_count",
                                        "upvotes",
                                        "downvotes",
                                        "source",
                                        "session",
                                        "trust",
                                        "untrusted",
                                        "suspect",
                                        NULL};
  for (size_t i = 0; members[i]; i++)
    if (!is_default(m, members[i]))
      page_members(page, m, (const char *const[]){members[i], NULL});
}

/* What the reader must know first. A terminal shows its time like others. */
static void add_banner(struct page *page, yyjson_val *m) {
  struct str banner = json_str(m, "banner");
  static const char *const times[] = {"state_at", "expires_at"};
  for (size_t i = 0; page->term.tty && i < ARRAY_LEN(times); i++) {
    struct str time = json_str(m, times[i]);
    size_t at = time.n ? str_find(banner, time, 0) : SIZE_MAX;
    if (at != SIZE_MAX)
      banner = arena_printf(page->b.a, "%.*s%s%.*s", (int)at, banner.p, term_time(page->b.a, time).p,
                            STR_ARG(str_slice(banner, at + time.n, banner.n)));
  }
  if (banner.n == 0)
    return;
  page_wrap_styled(page, page->term.style.yellow, banner, 0);
  buf_adds(&page->b, "\n\n");
}

/* Text that is ready for the terminal, with this many bytes of it in bold. */
static void add_bold_start(struct page *page, struct str text, size_t bold) {
  static const struct strs no_words = {0};
  add_highlighted(page, text, &no_words, bold);
}

/* The headline; or the whole text if it is one paragraph that starts with it, so that nothing is shown twice. */
static void add_headline(struct page *page, struct str headline, struct str paragraph, size_t bold, size_t at) {
  struct buf wrapped = BUF(page->b.a);
  if (paragraph.n == 0) {
    page_wrap_styled(page, page->term.style.bold, headline, at);
  } else {
    term_wrap(&wrapped, page_one_line(page, paragraph), at, at, page->term.width);
    add_bold_start(page, buf_str(&wrapped), bold);
  }
  buf_adds(&page->b, "\n  ");
}

static void add_body(struct page *page, struct str body, size_t bold) {
  struct page text = {.b = BUF(page->b.a), .term = page->term};
  page_prose(&text, body);
  add_bold_start(page, buf_str(&text.b), bold);
}

static void render_memory(struct page *page, yyjson_val *m) {
  struct str headline = json_str(m, "headline"), state = json_str(m, "state"), body = json_str(m, "body");
  size_t bold = 0;
  bool starts = page->term.tty && body.n && page_starts_with_headline(page->b.a, body, headline, &bold);
  bool paragraph = starts && !memchr(str_trim(body).p, '\n', str_trim(body).n);
  add_banner(page, m);
  add_id(page, m);
  buf_adds(&page->b, "  ");
  if (!starts || paragraph)
    add_headline(page, headline, paragraph ? body : STR(""), bold, page_value(page, yyjson_obj_get(m, "id")).n + 2);
  layout_render(page, m, "{kind}{scope} · ");
  page->b.n--; /* the state is on the same line */
  page_line(page, str_is(state, "active") ? "" : page->term.style.yellow, state, 0);
  buf_addc(&page->b, '\n');
  add_metadata(page, m);
  add_list(page, "acceptance", yyjson_obj_get(m, "acceptance"));
  add_list(page, "action items", yyjson_obj_get(m, "action_items"));
  add_list(page, "notes", yyjson_obj_get(m, "annotations"));
  add_links(page, yyjson_obj_get(m, "links"));
  if (body.n == 0 || paragraph)
    return;
  buf_addc(&page->b, '\n');
  if (starts)
    add_body(page, body, bold);
  else
    page_prose(page, body);
}

static void render_annotations(struct page *page, yyjson_val *r) {
  yyjson_val *notes = yyjson_obj_get(r, "annotations");
  add_id(page, r);
  buf_addf(&page->b, "  %zu note%s\n", yyjson_arr_size(notes), yyjson_arr_size(notes) == 1 ? "" : "s");
  add_list(page, "notes", notes);
}

/* On a terminal the date is below the headline, which has the whole width. */
static void render_history(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *m;
  yyjson_arr_foreach(yyjson_obj_get(r, "chain"), i, n, m) {
    struct str reason = json_str(m, "reason"), id = page_value(page, yyjson_obj_get(m, "id"));
    bool current = json_bool(m, "current", false);
    buf_adds(&page->b, i ? "  └ " : "");
    add_id(page, m);
    buf_adds(&page->b, "  ");
    page_wrap_styled(page, current ? page->term.style.bold : "", json_str(m, "headline"), (i ? 4 : 0) + id.n + 2);
    buf_addf(&page->b, "%s%s%s, ", page->term.tty ? "\n      " : "  ", page->term.style.dim,
             term_time(page->b.a, json_str(m, "created_at")).p);
    page_line(page, "", current ? STR("current") : json_str(m, "state"), 0);
    buf_addf(&page->b, "%s\n", page->term.style.reset);
    if (reason.n) {
      buf_adds(&page->b, "      because: ");
      page_wrap(page, reason, 15);
      buf_addc(&page->b, '\n');
    }
  }
}

/* ---- many memories ---- */

#define DOUBT "<suspect?suspect|<untrusted?untrusted>>" /* a warning against relying on it */

static void render_list(struct page *page, yyjson_val *r) {
  layout_render(page, r,
                "@memories >{id} | {age created_at} | {kind} | <state=active?" DOUBT "|{state}> | {headline}\n"
                "!memories no memories");
  long long n = (long long)yyjson_arr_size(yyjson_obj_get(r, "memories")), offset = json_int(r, "offset", 0);
  struct str range = page->term.tty && n == 1 ? arena_printf(page->b.a, "%lld", offset + 1)
                                              : arena_printf(page->b.a, "%lld to %lld", offset + 1, offset + n);
  if (n && n < json_int(r, "total", 0))
    buf_addf(&page->b, "%s%.*s of %lld%s\n", page->term.style.dim, STR_ARG(range), (long long)json_int(r, "total", 0),
             page->term.style.reset);
  layout_render(page, r,
                "?[{faded} faded: cairn list --state faded]\n"
                "?[{archived} archived: cairn list --state archived]\n"
                "?[{expired} expired: cairn list --state expired]\n");
}

/* ---- search results ---- */

enum { TEXT_INDENT = 2 };

/* A whole text keeps its line breaks on a terminal. */
static void add_paragraphs(struct page *page, struct str text, const struct strs *query, size_t bold) {
  struct buf safe = BUF(page->b.a), wrapped = BUF(page->b.a);
  if (!page->term.tty) {
    buf_adds(&page->b, "  ");
    page_line(page, "", text, 0);
    buf_addc(&page->b, '\n');
    return;
  }
  term_safe(&safe, text, false);
  term_wrap(&wrapped, buf_str(&safe), 0, TEXT_INDENT, page->term.width);
  add_highlighted(page, buf_str(&wrapped), query, bold);
  buf_addc(&page->b, '\n');
}

/* A snippet has a fixed size. A terminal shows where it was cut, and no part of a word. */
static struct str end_with_word(struct page *page, struct str snippet) {
  enum { CUT_BYTES = 3 }; /* a character of up to four bytes that has no room */
  struct str text = str_trim(snippet);
  if (!page->term.tty || snippet.n + CUT_BYTES < SNIPPET_BYTES || snippet.n > SNIPPET_BYTES || !text.n ||
      memchr(".!?", text.p[text.n - 1], 3))
    return text;
  size_t end = text.n;
  while (text.n == snippet.n && end > 0 && text.p[end - 1] != ' ' && text.p[end - 1] != '\n')
    end--;
  text = end ? str_trim(str_slice(text, 0, end)) : text;
  return arena_printf(page->b.a, "%.*s…", STR_ARG(text));
}

/* The headline and the text, or the text alone if it begins with the headline. */
static void add_hit_text(struct page *page, yyjson_val *hit, const struct strs *query) {
  struct str headline = json_str(hit, "headline"), body = json_str(hit, "body");
  size_t bold;
  struct str text = body.n ? str_trim(body) : text_collapse(page->b.a, end_with_word(page, json_str(hit, "snippet")));
  if (text.n && page_starts_with_headline(page->b.a, text, headline, &bold)) {
    add_paragraphs(page, text, query, bold);
    return;
  }
  add_paragraphs(page, headline, query, headline.n);
  if (text.n)
    add_paragraphs(page, text, query, 0);
}

#define HIT                                                                                                            \
  "{kind}[ · {age created_at}]{scope}<state=active?|[ · {state}]>[ · from {origin}]"                                   \
  "<suspect? · suspect|<untrusted? · untrusted>>"

/* One line of metadata, aligned over all hits by `columns`. */
static void add_hit_meta(struct page *page, yyjson_val *hit, struct str meta, size_t id_columns, size_t columns) {
  const struct style *style = &page->term.style;
  struct str id = arena_printf(page->b.a, "#%lld", (long long)json_int(hit, "id", 0)), kind = page_kind(hit);
  term_pad(&page->b, id.n, id_columns);
  page_styled(page, style->dim, id);
  buf_adds(&page->b, "  ");
  meta = term_fit(page->b.a, meta, columns);
  if (str_starts(meta, kind)) {
    page_styled(page, page_kind_style(page, kind), kind);
    page_styled(page, style->dim, str_slice(meta, kind.n, meta.n));
  } else {
    page_styled(page, style->dim, meta);
  }
  term_pad(&page->b, term_columns(meta), columns);
  buf_addf(&page->b, "  %.2f\n", json_num(hit, "score", 0));
}

static void add_hits(struct page *page, yyjson_val *results, const struct strs *query) {
  size_t i, n = yyjson_arr_size(results), id_columns = 0, columns = 0;
  struct str *meta = arena_array(page->b.a, struct str, n + 1);
  yyjson_val *hit;
  yyjson_arr_foreach(results, i, n, hit) {
    meta[i] = layout_line(page, hit, HIT);
    size_t id = page_value(page, yyjson_obj_get(hit, "id")).n + 1;
    id_columns = id > id_columns ? id : id_columns;
    columns = term_columns(meta[i]) > columns ? term_columns(meta[i]) : columns;
  }
  size_t room = page->term.width - id_columns - 8; /* blanks and the score */
  columns = page->term.tty && columns > room ? room : columns;
  yyjson_arr_foreach(results, i, n, hit) {
    add_hit_meta(page, hit, meta[i], id_columns, columns);
    add_hit_text(page, hit, query);
    struct str parts = page_value(page, yyjson_obj_get(hit, "parts"));
    if (parts.n == 0)
      continue;
    buf_adds(&page->b, "  ");
    page_wrap_styled(page, page->term.style.dim, parts, TEXT_INDENT);
    buf_addc(&page->b, '\n');
  }
}

static void render_search(struct page *page, yyjson_val *r) {
  struct strs query = query_words(page->b.a, json_str(r, "query"));
  add_hits(page, yyjson_obj_get(r, "results"), &query);
  layout_render(page, r,
                "!results nothing found\n"
                "?[in other projects: {elsewhere}; --all-projects shows them]\n"
                "?[faded, but better matches than the last: {faded}; {fetch}]\n"
                "?[{not_indexed}; 'cairn config sessions.indexed on' and 'cairn transcript index' index them]\n"
                "?[{yellow degraded}]\n?[{omitted} more omitted by the budget]");
}

/* ---- the table ---- */

/* clang-format off */

/* A memory that replaced another has the action "superseded", but "superseded 12" would read as if 12 were the old one. */
#define ACTION "<action=superseded?stored|{action}>"
#define STORED \
  ACTION " {dim id}  {bold headline 16}\n" \
  "  {kind}<project?{scope}| · global>[ · replaces {old_id|supersedes}]" \
  "<mode=shadow? in this project only>[ · {redacted} secret{s redacted} redacted]"
/* One memory of many: a batch, a capture. */
#define STORED_LINE "<error?[line {line}: ]{red error.message}|" ACTION " {dim id}  {headline 24}>"
#define REL "<rel=derived_from?derived from|{rel}>"
#define TASK "{dim id}  {choice status}: {bold headline 40}"
#define TASKS \
  "@tasks >{id} | {priority} | {choice status} | " \
  "<blocked_by?blocked by {blocked_by}|<claimed_by?claimed by {claimed_by}|<due?due {due}>>> | {headline}\n" \
  "!tasks no tasks"

static void render_stored_line(struct page *page, yyjson_val *line) { layout_render(page, line, STORED_LINE); }

/* "type: context -> lesson" */
static void add_changed(struct page *page, yyjson_val *changed) {
  yyjson_val *was = yyjson_obj_get(changed, "was"), *is = yyjson_obj_get(changed, "is"), *key, *value;
  size_t i, n;
  yyjson_obj_foreach(is, i, n, key, value) {
    yyjson_val *old = yyjson_obj_get(was, yyjson_get_str(key));
    struct str label = page_label(page, json_val_str(key));
    bool none = !old || (yyjson_is_arr(old) && yyjson_arr_size(old) == 0);
    struct str before = none ? STR("none") : page_value(page, old), after = page_value(page, value);
    buf_addf(&page->b, "  %.*s: %.*s -> %.*s\n", STR_ARG(label), STR_ARG(before), STR_ARG(after));
  }
}

/* A single memory, or the counts of a batch. */
static void render_remember(struct page *page, yyjson_val *r) {
  layout_render(page, r, yyjson_obj_get(r, "action") ? STORED : "{counts stored skipped superseded updated failed}");
  add_changed(page, yyjson_obj_get(r, "changed"));
}

const struct renderer memory_renderers[] = {
  {.op = "remember", .result = render_remember, .line = render_stored_line},
  {.op = "supersede", .layout = STORED},
  {.op = "task add", .result = render_remember},
  {.op = "capture", .layout = "*memories " STORED_LINE "\n"
   "*dropped_texts dropped, too short: {. 20}\n{counts stored skipped refused dropped}"},
  {.op = "get", .result = render_memory},
  {.op = "skill load", .result = render_memory},
  {.op = "annotate", .result = render_annotations},
  {.op = "history", .result = render_history},
  {.op = "repeats", .layout = "*pairs <#similarity?similarity {2 similarity}\n  {dim a.id}  {a.headline 12}\n"
   "  {dim b.id}  {b.headline 12}>\n{n repeated} of {n rules} rules nearly duplicate another one"},
  {.op = "list", .result = render_list},
  {.op = "search", .result = render_search},
  {.op = "link", .layout = "{dim id}: " REL " {to}"},
  {.op = "unlink", .layout = "{dim id}: no longer " REL " {to}"},
  {.op = "unsupersede", .layout = "{dim id} is {state} again[; retired: {retired}]"},
  {.op = "undo", .layout = "transaction {undone} was undone: {n changes} change{s changes}"},
  {.op = "forget", .layout = "forgotten: {forgotten:none}[; already before: {already}]"},
  {.op = "task claim", .layout = "{dim id}  <claimed_by?claimed by {claimed_by}|released>: {bold headline 40}"},
  {.op = "task status", .layout = TASK},
  {.op = "task block", .layout = "{dim id}  blocked by {by}: {bold headline 40}"},
  {.op = "task unblock", .layout = "{dim id}  no longer blocked by {by}: {bold headline 40}"},
  {.op = "task list", .layout = TASKS "\n?[{stale} stale: cairn task list --status stale]"},
  {.op = "task ready", .layout = TASKS},
  {.op = "task sync", .layout = "{bold file}: {n tasks} task{s tasks}<dry_run?; this would change:>\n"
   "  in the store: {changes store}\n  in the file: {changes in_file}\n"
   "*conflicts   both sides changed {id} ({members}): the file wins; cairn history {memory}\n"
   "*cycles   {yellow id} would block itself: stored without blocked_by {blocked_by}; correct it in the file\n"
   "*refused   not changed: {yellow id|description 60}: {reason}"},
  {.op = "skill list", .layout = "@skills >{id} | {name} | <always_on?always on|{keywords}> | {headline}\n!skills no skills"},
  {0},
};
/* clang-format on */
