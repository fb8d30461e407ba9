/* show.c: renders a result as text for the model: stored text in fenced blocks, one line for each other member. */
#include <assert.h>

#include "base/utf8.h"
#include "core/trust/present.h"
#include "mcp/tools/internal.h"

/* LIST_BYTES: size of a list of LIST_HITS memories, so that the whole message has at most 3 KB; longer lists have as
 * much for each memory. LINE_MARKS: line breaks as JSON, and the indentation. TEXT_LEAST: minimum of a cut text.
 * WORD_MOST: a cut falls before a word of at most this size. */
enum { LIST_BYTES = 2500, LIST_HITS = 10, LINE_MARKS = 6, TEXT_LEAST = 80, WORD_MOST = 20 };

bool tool_is_memory(yyjson_mut_val *v) {
  if (!yyjson_mut_is_obj(v) || !yyjson_mut_obj_get(v, "id"))
    return false;
  bool has_text = yyjson_mut_obj_get(v, "text") || yyjson_mut_obj_get(v, "snippet");
  return yyjson_mut_obj_get(v, "created_at") ? has_text || yyjson_mut_obj_get(v, "headline")
                                             : has_text && yyjson_mut_obj_get(v, "headline");
}

static void head_part(struct buf *b, const char *label, struct str value) {
  if (value.n)
    buf_addf(b, " | %s%.*s", label, STR_ARG(tool_as_part(b->a, value)));
}

/* The age that a search reports, else the date. */
static struct str when_of(struct arena *a, yyjson_mut_val *m) {
  struct str date = mut_member(m, "created_at");
  yyjson_mut_val *age = yyjson_mut_obj_get(m, "age_days");
  int64_t days = yyjson_mut_is_num(age) ? (int64_t)yyjson_mut_get_num(age) : -1;
  if (days >= 0)
    return days ? arena_printf(a, "%lldd", (long long)days) : STR("today");
  return (struct str){date.p, date.n > 10 ? 10 : date.n};
}

static void show_head(struct buf *b, yyjson_mut_val *m) {
  struct str state = mut_member(m, "state"), by = mut_member(m, "written_by");
  buf_addf(b, "%s %lld", yyjson_mut_obj_get(m, "headline") ? "memory" : "note",
           (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(m, "id")));
  head_part(b, "", mut_member(m, "type"));
  head_part(b, "", mut_member(m, "severity"));
  head_part(b, "", when_of(b->a, m));
  head_part(b, "project ", mut_member(m, "project"));
  head_part(b, "key ", mut_member(m, "key"));
  head_part(b, "source ", by.p ? by : mut_member(m, "source"));
  head_part(b, "trust ", mut_member(m, "trust"));
  head_part(b, "", yyjson_mut_is_true(yyjson_mut_obj_get(m, "untrusted")) ? STR("untrusted") : STR_NONE);
  head_part(b, "suspect: ", mut_member(m, "suspect"));
  if (!str_is(state, "active"))
    head_part(b, "", state);
  head_part(b, "", mut_member(m, "status"));
  head_part(b, "", mut_member(m, "priority"));
}

/* Shown in the first line, or useless to a model: no tool takes a hash, and an id names a memory. */
static bool is_in_head(struct str name) {
  static const char *const names[] = {
      "id",      "uid",        "headline",   "kind",         "type",     "severity",  "created_at",
      "project", "key",        "source",     "trust",        "state",    "status",    "priority",
      "body",    "text",       "snippet",    "weight",       "delivery", "age_days",  "score",
      "session", "valid_from", "updated_at", "access_count", "upvotes",  "downvotes", "last_accessed",
      "topics",  "written_by", "untrusted",  "suspect",      "hash",     NULL};
  for (const char *const *p = names; *p; p++)
    if (str_is(name, *p))
      return true;
  return false;
}

static bool is_letter(char c) { return ascii_alnum(c) || (unsigned char)c >= 0x80; }

/* True if the text begins with the headline, apart from punctuation: a headline is often derived from the text. */
static bool headline_repeats(struct str headline, struct str text) {
  static const struct str ellipsis = STR_INIT("\xE2\x80\xA6");
  size_t i = 0, k = 0, end = headline.n - (str_ends(headline, ellipsis) ? ellipsis.n : 0);
  for (; i < end; i++) {
    if (!is_letter(headline.p[i]))
      continue;
    while (k < text.n && !is_letter(text.p[k]))
      k++;
    if (k == text.n || headline.p[i] != text.p[k++])
      return false;
  }
  return true;
}

static struct str text_of(yyjson_mut_val *m) {
  struct str text = mut_member(m, "body");
  if (!text.p)
    text = mut_member(m, "snippet");
  return text.p ? text : mut_member(m, "text");
}

/* Adds the members that have no place in the first line, each on a line of its own. */
static void show_others(struct buf *b, yyjson_mut_val *m) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(m, i, n, key, v) {
    if (is_in_head(mut_text(key)))
      continue;
    buf_addf(b, "%.*s:%s", STR_ARG(mut_text(key)), tool_has_rows(v) ? "\n" : " ");
    if (tool_has_rows(v)) {
      tool_show_rows(b, v);
      continue;
    }
    tool_show_value(b, v);
    buf_addc(b, '\n');
  }
}

/* The same as parts of the first line. Action items repeat sentences of the text. */
static void add_others(struct buf *b, yyjson_mut_val *m) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(m, i, n, key, v) {
    struct str name = mut_text(key);
    if (!is_in_head(name) && !str_is(name, "action_items"))
      buf_addf(b, " | %.*s: %.*s", STR_ARG(name), STR_ARG(tool_value_part(b->a, v)));
  }
}

void tool_show_memory(struct buf *b, yyjson_mut_val *m) {
  struct str headline = present_line(b->a, mut_member(m, "headline")), text = present_neutral(b->a, text_of(m));
  buf_adds(b, "```");
  show_head(b, m);
  buf_addc(b, '\n');
  if (!headline_repeats(headline, text))
    buf_addf(b, "%.*s\n", STR_ARG(headline));
  if (text.n)
    buf_addf(b, "%.*s\n", STR_ARG(text));
  show_others(b, m);
  buf_adds(b, "```\n");
}

/* ---- lists ---- */

/* One line for its head with its other members, and one for its text. The text is indented and has no line break, so it
 * cannot pass for a head. */
struct line {
  struct str head, others, text;
};

static struct line line_of(struct arena *a, yyjson_mut_val *m) {
  struct buf head = BUF(a), others = BUF(a);
  struct str headline = present_line(a, mut_member(m, "headline")), text = present_line(a, text_of(m));
  show_head(&head, m);
  add_others(&others, m);
  if (!text.n)
    text = headline;
  else if (!headline_repeats(headline, text))
    text = arena_printf(a, "%.*s: %.*s", STR_ARG(headline), STR_ARG(text));
  return (struct line){buf_str(&head), buf_str(&others), text};
}

/* The size to which parts are cut such that all fit: short ones leave their share to longer ones. */
static size_t share_of(const size_t *sizes, size_t n, size_t room) {
  size_t share = 0;
  for (int round = 0; round < 3; round++) {
    size_t used = 0, longer = 0;
    for (size_t i = 0; i < n; i++) {
      used += sizes[i] <= share ? sizes[i] : 0;
      longer += sizes[i] > share;
    }
    share = longer ? (room - used) / longer : share;
  }
  return share;
}

static struct str cut_words(struct arena *a, struct str s, size_t most) {
  if (s.n <= most)
    return s;
  struct str kept = utf8_cut(s, most > 3 ? most - 3 : 0);
  size_t end = kept.n;
  while (end > 0 && kept.n - end < WORD_MOST && kept.p[end - 1] != ' ')
    end--;
  kept = end > 0 && kept.p[end - 1] == ' ' ? str_slice(kept, 0, end - 1) : kept;
  return arena_printf(a, "%.*s...", STR_ARG(kept));
}

/* Cuts texts and other members such that all lines together have about `bytes`. Heads are never cut: they say whom to
 * trust. */
static void fit_lines(struct arena *a, struct line *lines, size_t n, size_t bytes) {
  size_t heads = n * (LINE_MARKS + TEXT_LEAST), others = 0;
  size_t *sizes = arena_array(a, size_t, n);
  for (size_t i = 0; i < n; i++) {
    heads += lines[i].head.n;
    sizes[i] = lines[i].others.n;
  }
  size_t room = bytes > heads ? bytes - heads : 0, share = share_of(sizes, n, room);
  for (size_t i = 0; i < n; i++) {
    lines[i].others = cut_words(a, lines[i].others, share);
    others += lines[i].others.n;
    sizes[i] = lines[i].text.n;
  }
  share = share_of(sizes, n, n * TEXT_LEAST + (room > others ? room - others : 0));
  for (size_t i = 0; i < n; i++)
    lines[i].text = cut_words(a, lines[i].text, share);
}

static void show_lines(struct buf *b, yyjson_mut_val *list, int budget) {
  size_t i, n, count = yyjson_mut_arr_size(list);
  yyjson_mut_val *e;
  struct line *lines = arena_array(b->a, struct line, count);
  yyjson_mut_arr_foreach(list, i, n, e) {
    lines[i] = line_of(b->a, e);
  }
  size_t bytes = LIST_BYTES * (count > LIST_HITS ? count : LIST_HITS) / LIST_HITS;
  if (budget > TOOL_BUDGET)
    bytes = bytes * (size_t)budget / TOOL_BUDGET;
  fit_lines(b->a, lines, count, bytes);
  for (i = 0; i < count; i++)
    buf_addf(b, "%.*s%.*s\n  %.*s\n", STR_ARG(lines[i].head), STR_ARG(lines[i].others), STR_ARG(lines[i].text));
}

/* Lines, unless a memory is complete: a body keeps its line breaks. */
static void show_memories(struct buf *b, yyjson_mut_val *list, int budget) {
  size_t i, n;
  yyjson_mut_val *e;
  if (!yyjson_mut_obj_get(yyjson_mut_arr_get_first(list), "body")) {
    show_lines(b, list, budget);
    return;
  }
  yyjson_mut_arr_foreach(list, i, n, e) {
    tool_show_memory(b, e);
  }
}

static bool lists_memories(yyjson_mut_val *v) {
  return tool_is_memory(v) || (yyjson_mut_is_arr(v) && tool_is_memory(yyjson_mut_arr_get_first(v)));
}

static bool has_memories(yyjson_mut_val *result) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  bool found = tool_is_memory(result);
  yyjson_mut_obj_foreach(result, i, n, key, v) {
    found = found || lists_memories(v);
  }
  return found;
}

/* True if a list of the result has this many elements: the model sees that. */
static bool is_size_of_list(yyjson_mut_val *result, yyjson_mut_val *number) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(result, i, n, key, v) {
    if (yyjson_mut_is_arr(v) && yyjson_mut_is_int(number) &&
        (int64_t)yyjson_mut_arr_size(v) == yyjson_mut_get_sint(number))
      return true;
  }
  return false;
}

/* Members that tell a model nothing: what it sent itself, a second name of a memory, what its type implies, what is
 * always so, what did not happen. */
static bool is_noise(yyjson_mut_val *of, struct str name, yyjson_mut_val *v) {
  static const char *const useless[] = {"query", "uid", "kind", "search_mode", "offset", "process", NULL};
  static const char *const usually_none[] = {"already", "ended",   "corrections", "dropped",   "skipped",
                                             "refused", "upvotes", "downvotes",   "inherited", NULL};
  static const char *const sizes[] = {"count", "total", NULL};
  if (tool_is_one_of(name, useless) || (str_is(name, "embedded") && yyjson_mut_is_true(v)))
    return true;
  if (tool_is_one_of(name, usually_none))
    return tool_is_empty(v) || tool_is_false(v) || (yyjson_mut_is_int(v) && yyjson_mut_get_sint(v) == 0);
  if (tool_is_one_of(name, sizes))
    return is_size_of_list(of, v);
  if (str_is(name, "headline")) /* of the text that the call stored */
    return yyjson_mut_obj_get(of, "action");
  return str_is(name, "old_id") && yyjson_mut_obj_get(of, "supersedes");
}

static void show_member(struct buf *b, yyjson_mut_val *of, struct str name, yyjson_mut_val *v, int budget) {
  size_t i, n;
  yyjson_mut_val *e;
  if (is_noise(of, name, v))
    return;
  if (str_is(name, "project") && yyjson_mut_is_str(v) && yyjson_mut_get_len(v) == 0) {
    buf_adds(b, "scope: global\n"); /* of a write: it says where it went */
    return;
  }
  if (str_is(name, "warnings")) {
    if (yyjson_mut_is_obj(yyjson_mut_arr_get_first(v)))
      yyjson_mut_arr_foreach(v, i, n, e) {
        buf_addf(b, "warning: %.*s\n", STR_ARG(tool_message_text(b->a, e)));
      }
    return;
  }
  if (tool_is_empty(v)) {
    /* An empty list is an answer. */
    if (yyjson_mut_is_arr(v))
      buf_addf(b, "%.*s: none\n", STR_ARG(name));
    return;
  }
  if (lists_memories(v)) {
    buf_addf(b, "%.*s:\n", STR_ARG(name));
    if (tool_is_memory(v))
      tool_show_memory(b, v);
    else
      show_memories(b, v, budget);
    return;
  }
  if (tool_has_rows(v)) {
    buf_addf(b, "%.*s:\n", STR_ARG(name));
    tool_show_rows(b, v);
    return;
  }
  bool lines = yyjson_mut_is_str(v) && str_find(mut_text(v), STR("\n"), 0) != SIZE_MAX;
  buf_addf(b, "%.*s:%s", STR_ARG(name), lines ? "\n" : " ");
  tool_show_value(b, v);
  buf_addc(b, '\n');
}

struct str tool_render(struct tool_run *run) {
  assert(yyjson_mut_is_obj(run->result));
  struct buf b = BUF(run->arena);
  if (has_memories(run->result))
    buf_adds(&b, TOOL_NOTICE "\n");
  size_t i, n;
  yyjson_mut_val *key, *v;
  if (tool_is_memory(run->result)) {
    tool_show_memory(&b, run->result);
    return buf_str(&b);
  }
  yyjson_mut_obj_foreach(run->result, i, n, key, v) {
    show_member(&b, run->result, mut_text(key), v, run->budget);
  }
  if (!b.n) /* all members are empty: an answer without text looks like a failure */
    buf_adds(&b, "done; there is nothing to show\n");
  return buf_str(&b);
}
