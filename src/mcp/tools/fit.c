/* fit.c: fits an answer into its token budget.
 *
 * Where text and structured content repeat the same facts, a client may show either to the model, so each must fit.
 * Lists lose whole items at their end, long texts are cut between characters, and the answer says what was left out and
 * which call shows it. */
#include <assert.h>

#include "core/text/token_count.h"
#include "mcp/tools/internal.h"

/* CUT_MIN: minimum tokens left of a cut text. CALL_LONGEST: longer calls are not repeated in the answer. HUGE_BYTES: a
 * text with more bytes per token of the budget is certainly too long, or nearly all blanks. */
enum { ROUNDS = 200, CUT_MIN = 24, LISTS_MAX = 4, CALL_LONGEST = 80, HUGE_BYTES = 8 };

static size_t size_of(struct tool_run *run, yyjson_mut_val *v) {
  return tokens_estimate(json_write(run->arena, v, false));
}

struct cut_list {
  const char *name;
  size_t left_out, kept;
};

/* What was removed so far. */
struct cut {
  struct tool_run *run;
  struct cut_list lists[LISTS_MAX];
  size_t n;
  int64_t last_seq; /* last event that is left, if the list is one of events */
  bool has_texts, has_stripped;
};

static bool offers(const struct tool *tool, const char *arg) {
  const struct op *op = !tool->args && tool->op ? op_find(str_from(tool->op)) : NULL;
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    if (strcmp(p->name, arg) == 0)
      return true;
  return op && op_param(op, str_from(arg));
}

/* The call that shows the rest. */
static struct str more_call(const struct cut *c) {
  struct tool_run *run = c->run;
  assert(c->n > 0);
  const char *name = run->action ? run->action->op : run->tool->op;
  const struct op *op = name ? op_find(str_from(name)) : NULL;
  const char *arg = "max_tokens";
  int64_t value = run->budget * 4 < TOOL_BUDGET_MAX ? run->budget * 4 : TOOL_BUDGET_MAX;
  if (c->last_seq) {
    arg = "since";
    value = c->last_seq;
  } else if (op && op_param(op, STR("offset"))) {
    arg = "offset";
    value = json_int(run->args, "offset", 0) + (int64_t)c->lists[0].kept;
  }
  bool is_budget = strcmp(arg, "max_tokens") == 0;
  if (is_budget ? run->profile->foreign || run->budget >= TOOL_BUDGET_MAX : !offers(run->tool, arg))
    return STR_NONE;
  yyjson_mut_val *args = yyjson_val_mut_copy(run->doc, run->args);
  yyjson_mut_obj_put(args, yyjson_mut_str(run->doc, arg), yyjson_mut_sint(run->doc, value));
  struct str json = json_write(run->arena, args, false);
  if (tokens_estimate(json) > CALL_LONGEST)
    return arena_printf(run->arena, "the same call with %s %lld", arg, (long long)value);
  return arena_printf(run->arena, "%s %.*s", run->tool->name, STR_ARG(json));
}

static void say_cut(const struct cut *c) {
  struct tool_run *run = c->run;
  struct buf b = BUF(run->arena);
  for (size_t i = 0; i < c->n; i++) {
    const struct cut_list *l = &c->lists[i];
    buf_addf(&b, "%s%zu of %zu %s left out", i ? ", " : "", l->left_out, l->left_out + l->kept, l->name);
  }
  if (c->has_texts)
    buf_addf(&b, "%slong texts cut", c->n ? ", " : "");
  if (!c->n && !c->has_texts)
    buf_adds(&b, "some members left out");
  buf_addf(&b, " to fit %d tokens", run->budget);
  struct str more = c->n ? more_call(c) : STR_NONE;
  if (more.p)
    buf_addf(&b, "; more: %.*s", STR_ARG(more));
  struct str s = buf_str(&b);
  yyjson_mut_obj_put(run->result, yyjson_mut_str(run->doc, "truncated"), yyjson_mut_strncpy(run->doc, s.p, s.n));
}

static struct cut_list *cut_list(struct cut *c, const char *name) {
  for (size_t i = 0; i < c->n; i++)
    if (strcmp(c->lists[i].name, name) == 0)
      return &c->lists[i];
  assert(name && c->n <= LISTS_MAX);
  struct cut_list *l = &c->lists[c->n < LISTS_MAX ? c->n++ : LISTS_MAX - 1];
  *l = (struct cut_list){.name = name};
  return l;
}

/* Keeps `count` and `last_seq` consistent with the shortened list. */
static void recount(struct cut *c, yyjson_mut_val *list, size_t before) {
  yyjson_mut_val *count = yyjson_mut_obj_get(c->run->result, "count");
  yyjson_mut_val *last = yyjson_mut_obj_get(c->run->result, "last_seq");
  yyjson_mut_val *seq = yyjson_mut_obj_get(yyjson_mut_arr_get_last(list), "seq");
  if (count && yyjson_mut_get_sint(count) == (int64_t)before)
    yyjson_mut_set_sint(count, (int64_t)yyjson_mut_arr_size(list));
  if (!last || !seq)
    return;
  c->last_seq = yyjson_mut_get_sint(seq);
  yyjson_mut_set_sint(last, c->last_seq);
}

/* The longest list by tokens with at least two items. */
static yyjson_mut_val *longest_list(struct tool_run *run, yyjson_mut_val *obj, const char **ret_name) {
  yyjson_mut_val *best = NULL, *key, *v;
  size_t most = 0, i, n;
  yyjson_mut_obj_foreach(obj, i, n, key, v) {
    if (!yyjson_mut_is_arr(v) || yyjson_mut_arr_size(v) < 2)
      continue;
    size_t size = size_of(run, v);
    if (size > most) {
      most = size;
      best = v;
      *ret_name = yyjson_mut_get_str(key);
    }
  }
  return best;
}

static bool drop_items(struct cut *c, size_t over) {
  const char *name = NULL;
  yyjson_mut_val *list = longest_list(c->run, c->run->result, &name);
  if (!list)
    return false;
  size_t saved = 0, before = yyjson_mut_arr_size(list);
  while (yyjson_mut_arr_size(list) > 1 && saved < over) {
    saved += size_of(c->run, yyjson_mut_arr_get_last(list));
    yyjson_mut_arr_remove_last(list);
  }
  struct cut_list *l = cut_list(c, name);
  l->kept = yyjson_mut_arr_size(list);
  assert(l->kept > 0 && l->kept <= before);
  l->left_out += before - l->kept;
  recount(c, list, before);
  return true;
}

/* Members of a memory that are dropped first, without notice. */
static const char *const expendable[] = {"uid",        "weight",        "delivery",   "age_days",     "topics",
                                         "upvotes",    "downvotes",     "updated_at", "action_items", "access_count",
                                         "valid_from", "last_accessed", NULL};

static void slim(yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *e;
  for (const char *const *p = expendable; tool_is_memory(v) && *p; p++)
    yyjson_mut_obj_remove_key(v, *p);
  if (yyjson_mut_is_arr(v))
    yyjson_mut_arr_foreach(v, i, n, e) {
      slim(e);
    }
}

/* Last resort for a very small budget: removes the largest member that is not the answer itself. */
static bool strip_member(struct tool_run *run, yyjson_mut_val *obj) {
  static const char *const kept[] = {"id",      "headline", "body",    "snippet",    "text",      "trust", "untrusted",
                                     "suspect", "source",   "session", "created_at", "truncated", "name",  NULL};
  size_t i, n, most = 0;
  yyjson_mut_val *key, *v;
  const char *largest = NULL;
  yyjson_mut_obj_foreach(obj, i, n, key, v) {
    bool keep = yyjson_mut_is_arr(v) && tool_is_memory(yyjson_mut_arr_get_first(v));
    for (const char *const *p = kept; *p; p++)
      keep = keep || str_is(mut_text(key), *p);
    size_t size = keep ? 0 : size_of(run, v) + 1;
    if (size > most) {
      most = size;
      largest = yyjson_mut_get_str(key);
    }
  }
  if (largest)
    yyjson_mut_obj_remove_key(obj, largest);
  return largest;
}

static bool strip(struct tool_run *run) {
  if (strip_member(run, run->result))
    return true;
  size_t i, n;
  yyjson_mut_val *key, *v;
  bool done = false;
  yyjson_mut_obj_foreach(run->result, i, n, key, v) {
    yyjson_mut_val *first = yyjson_mut_is_arr(v) ? yyjson_mut_arr_get_first(v) : NULL;
    done = done || (yyjson_mut_is_obj(first) && strip_member(run, first));
  }
  return done;
}

struct longest {
  yyjson_mut_val *v, *owner;
  size_t tokens;
  bool is_body;
};

static void find_longest(struct tool_run *run, yyjson_mut_val *v, yyjson_mut_val *owner, struct str name,
                         struct longest *best) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v) && !str_is(name, "truncated")) {
    size_t tokens = tokens_estimate(mut_text(v));
    if (tokens > best->tokens)
      *best = (struct longest){v, owner, tokens, str_is(name, "body")};
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      find_longest(run, e, owner, name, best);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      find_longest(run, e, v, mut_text(key), best);
    }
  }
}

static bool offers_from(const struct profile *profile) {
  for (const struct tool *t = profile->tools; t->name; t++)
    if (t->op && strcmp(t->op, "get") == 0 && offers(t, "from"))
      return true;
  return false;
}

/* The note at the end of a cut text. */
static struct str cut_note(struct tool_run *run, const struct longest *l, size_t kept) {
  yyjson_mut_val *id = yyjson_mut_is_obj(l->owner) ? yyjson_mut_obj_get(l->owner, "id") : NULL;
  if (!id)
    return STR(" [cut]");
  yyjson_mut_val *args = yyjson_mut_obj(run->doc);
  yyjson_mut_obj_add_val(run->doc, args, "id", yyjson_mut_val_mut_copy(run->doc, id));
  struct str call = tool_call_text(run, "get", args);
  if (!call.p)
    return STR(" [cut]");
  if (l->is_body && offers_from(run->profile)) {
    size_t from = kept + (size_t)json_int(run->args, "from", 0);
    return arena_printf(run->arena, " [cut; %.*s,\"from\":%zu} shows the rest]",
                        STR_ARG(str_slice(call, 0, call.n - 1)), from);
  }
  return arena_printf(run->arena, " [cut; %.*s shows it]", STR_ARG(call));
}

/* Cuts a text to about `tokens`, note included; false if that would not shorten it. */
static bool cut_text(struct tool_run *run, const struct longest *l, size_t tokens) {
  struct str s = mut_text(l->v), note = cut_note(run, l, s.n);
  size_t note_size = tokens_estimate(note);
  struct str kept = tokens_cut(s, tokens > note_size + CUT_MIN ? tokens - note_size : CUT_MIN);
  assert(kept.n <= s.n);
  note = cut_note(run, l, kept.n);
  if (kept.n + note.n >= s.n)
    return false;
  struct str out = arena_printf(run->arena, "%.*s%.*s", STR_ARG(kept), STR_ARG(note));
  mut_set_text(l->v, run->arena, out);
  return true;
}

/* Cuts texts longer than the whole budget before anything is measured: a body may have a million bytes. */
static void cut_huge(struct cut *c, yyjson_mut_val *v, yyjson_mut_val *owner, struct str name) {
  size_t i, n, budget = (size_t)c->run->budget;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v) && yyjson_mut_get_len(v) > budget * HUGE_BYTES) {
    if (cut_text(c->run, &(struct longest){v, owner, 0, str_is(name, "body")}, budget))
      c->has_texts = true;
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      cut_huge(c, e, owner, name);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      cut_huge(c, e, v, mut_text(key));
    }
  }
}

static bool cut_longest(struct cut *c, size_t over) {
  struct longest l = {0};
  find_longest(c->run, c->run->result, NULL, STR(""), &l);
  if (!l.v || !cut_text(c->run, &l, l.tokens > over ? l.tokens - over : 0))
    return false;
  c->has_texts = true;
  return true;
}

/* Limits each text of a list to a third of the budget, so it does not crowd out the others. */
static void cap_items(struct cut *c) {
  const char *name = NULL;
  yyjson_mut_val *list = longest_list(c->run, c->run->result, &name);
  size_t most = (size_t)c->run->budget / 3, i, n;
  yyjson_mut_val *e;
  if (!list)
    return;
  yyjson_mut_arr_foreach(list, i, n, e) {
    struct longest l = {0};
    find_longest(c->run, e, NULL, STR(""), &l);
    if (l.v && l.tokens > most && cut_text(c->run, &l, most))
      c->has_texts = true;
  }
}

/* The larger of the parts that are sent. */
static size_t answer_size(struct tool_run *run, bool own) {
  size_t json = run->profile->foreign ? size_of(run, run->result) : 0, text = 0;
  if (own) {
    run->text = tool_render(run);
    text = tokens_estimate(run->text);
  }
  return json > text ? json : text;
}

/* The result of an unforeseen shape is replaced by a message. */
static void say_too_large(struct tool_run *run, bool own) {
  run->result = yyjson_mut_obj(run->doc);
  json_put(run->doc, run->result, "truncated",
           arena_printf(run->arena, "the answer does not fit %d tokens; ask for less", run->budget));
  if (own)
    run->text = tool_render(run);
}

void tool_fit(struct tool_run *run, bool own) {
  assert(run->budget > 0);
  struct cut c = {.run = run};
  cut_huge(&c, run->result, NULL, STR(""));
  size_t budget = (size_t)run->budget, size = answer_size(run, own);
  if (size <= budget && !c.has_texts)
    return;
  size_t i, n;
  yyjson_mut_val *key, *v;
  slim(run->result);
  yyjson_mut_obj_foreach(run->result, i, n, key, v) {
    slim(v);
  }
  cap_items(&c);
  if (c.has_texts)
    say_cut(&c);
  for (int round = 0; round < ROUNDS && (size = answer_size(run, own)) > budget; round++) {
    if (!drop_items(&c, size - budget) && !cut_longest(&c, size - budget)) {
      if (!strip(run))
        break;
      c.has_stripped = true;
    }
    if (c.has_texts || c.n || c.has_stripped)
      say_cut(&c);
  }
  if (size > budget)
    say_too_large(run, own);
  assert(run->text.p || !own);
}
