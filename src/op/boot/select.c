/* select.c: contents of each boot section; core/boot/budget.c fits them into the token budget. */
#include <assert.h>
#include <math.h>

#include "base/utf8.h"
#include "core/trust/suspect.h"
#include "op/boot/boot.h"
#include "op/search/retrieve.h"
#include "op/session/action.h"
#include "op/write/write.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/search/search_rows.h"
#include "store/vectors/vectors.h"

enum { SESSIONS_SHOWN = 10, TASK_SHOWN_BYTES = 200 };

/* Of the blockers of agents, pinned ones first, these are kept like other lines, and pinned ones protected. The others
 * are surplus: they take no place from anything else. */
enum { AGENT_BLOCKERS = 10 };

/* Some memories about a task share no word with it ("make the page faster", "lazy loading cut the time to first
 * paint"), so if the best match has RELEVANT_SCORE, the next best need less. All need this share of the best score. */
enum { LESS_RELEVANT = 5 };
#define LESS_RELEVANT_SCORE 0.12
#define RELEVANT_SHARE 0.4

/* In display order. Tasks are dropped first, then patterns, then the rest; matches of the task, blockers and action
 * items last. Only protected lines have the order of `identity`. */
static const struct boot_group layout[BOOT_GROUPS] = {
    [BOOT_G_ACTIONS] = {.name = "action_items",
                        .title =
                            "Action items: before you write, answer each: will_execute, already_done or not_relevant",
                        .fetch = "cairn action list",
                        .drop_order = 7,
                        .member = true},
    [BOOT_G_BLOCKERS] = {.name = "blockers", .title = "Blockers: never do otherwise", .drop_order = 6},
    [BOOT_G_RELEVANT] = {.name = "relevant", .title = "About the task", .fetch = "cairn search QUERY", .drop_order = 5},
    [BOOT_G_PATTERNS] = {.name = "patterns", .title = "Patterns", .drop_order = 2},
    [BOOT_G_IDENTITY] = {.name = "identity", .title = "Identity", .drop_order = 8},
    [BOOT_G_LESSONS] = {.name = "lessons", .title = "Lessons", .drop_order = 4},
    [BOOT_G_PINNED] = {.name = "pinned", .title = "Pinned", .fetch = "cairn list --delivery pinned", .drop_order = 5},
    [BOOT_G_HANDOFF] = {.name = "handoff",
                        .title = "Handoff",
                        .fetch = "cairn session handoff",
                        .drop_order = 4,
                        .member = true,
                        .single = true},
    [BOOT_G_DECISIONS] = {.name = "decisions", .title = "Decisions", .drop_order = 3},
    [BOOT_G_CONTEXT] = {.name = "context", .title = "Context", .drop_order = 3},
    [BOOT_G_TASKS] = {.name = "tasks", .title = "Tasks", .fetch = "cairn task list", .drop_order = 1},
    [BOOT_G_SESSIONS] =
        {.name = "sessions", .title = "Other sessions", .fetch = "cairn session list", .drop_order = 3, .member = true},
};

/* Section (core/memory/types.h) that a group shows. */
static const enum boot_section section_of[BOOT_GROUPS] = {
    [BOOT_G_BLOCKERS] = BOOT_RULES,  [BOOT_G_PATTERNS] = BOOT_RULES,      [BOOT_G_IDENTITY] = BOOT_IDENTITY,
    [BOOT_G_LESSONS] = BOOT_LESSONS, [BOOT_G_DECISIONS] = BOOT_DECISIONS, [BOOT_G_CONTEXT] = BOOT_CONTEXT,
};

static bool is_always_delivered(const struct memory *m) {
  return str_is(m->delivery, "pinned") || str_is(m->delivery, "boot") || m->skill_always_on;
}

/* Skills that are not always on, or are for other projects, are left out. */
static enum status check_skill(struct boot *b, struct memory *m, bool *ret_shown) {
  *ret_shown = !m->skill_name.p;
  if (!m->skill_name.p || !m->skill_always_on)
    return STATUS_OK;
  TRY(memory_load_lists(b->call->engine->store, b->call->arena, m, b->call->err));
  *ret_shown = skill_is_for(m, &b->scope, false);
  return STATUS_OK;
}

static struct str line_of(struct arena *a, const struct memory *m) {
  if (m->status.p)
    return arena_printf(a, "%.*s (%.*s, %.*s)", STR_ARG(m->headline), STR_ARG(m->priority), STR_ARG(m->status));
  return m->headline;
}

static bool has_line(const struct boot_group *group, int64_t id) {
  for (size_t i = 0; i < group->n; i++)
    if (group->v[i].id == id)
      return true;
  return false;
}

/* Unless the memory is already listed as relevant. */
static void add(struct boot *b, enum boot_place g, const struct memory *m, size_t cap, bool protect) {
  struct boot_group *group = &b->groups[g];
  assert(!group->member);
  if (has_line(&b->groups[BOOT_G_RELEVANT], m->id))
    return;
  if (!protect && group->n >= cap) {
    group->dropped++;
    return;
  }
  list_push(b->call->arena, group,
            (struct boot_line){.id = m->id,
                               .text = line_of(b->call->arena, m),
                               .protect = protect,
                               .by_agent = !memory_is_by_person(m),
                               .outranks = g == BOOT_G_BLOCKERS && memory_is_by_person(m),
                               .headline = m->headline,
                               .priority = m->priority,
                               .status = m->status});
}

enum status boot_list(struct boot *b, struct filter f, struct memories *ret) {
  f.trusted = true;
  f.order = f.order ? f.order : "CASE WHEN m.project = '' THEN 1 ELSE 0 END, m.created_at DESC, m.id DESC";
  struct memories all = {0};
  bool shown;
  TRY(memory_list(b->call->engine->store, &b->scope, &f, b->call->arena, &all, b->call->err));
  for (size_t i = 0; i < all.n; i++) {
    TRY(check_skill(b, &all.v[i], &shown));
    if (shown)
      list_push(b->call->arena, ret, all.v[i]);
  }
  return STATUS_OK;
}

static enum boot_place group_of(enum boot_section section) {
  int g = 0;
  while (g < BOOT_GROUPS && section_of[g] != section)
    g++;
  assert(g < BOOT_GROUPS);
  return (enum boot_place)g;
}

/* Sets the command that lists a whole section. */
static void set_fetches(struct boot *b) {
  for (int g = 0; g < BOOT_GROUPS; g++) {
    const struct mem_type *t = section_of[g] ? type_of_section(section_of[g]) : NULL;
    if (t && t->boot == BOOT_RULES)
      b->groups[g].fetch = arena_printf(b->call->arena, "cairn list --kind %s", kind_names[t->kind]).p;
    else if (t)
      b->groups[g].fetch = arena_printf(b->call->arena, "cairn list --type %s", t->name).p;
    assert(b->groups[g].fetch);
  }
}

/* `n` memories would be in the section if maintenance had not retired them. */
static void add_retired(struct boot_group *group, int64_t n, const char *state, const char *fetch) {
  group->retired = state;
  group->fetch_retired = fetch;
  group->retired_count += (size_t)n;
}

static enum status count_retired(struct boot *b, enum boot_place g, struct filter f, const char *state,
                                 const char *fetch) {
  int64_t n = 0;
  f.trusted = true;
  TRY(memory_count(b->call->engine->store, &b->scope, &f, b->call->arena, &n, b->call->err));
  add_retired(&b->groups[g], n, state, fetch);
  return STATUS_OK;
}

static enum status count_faded(struct boot *b, const struct mem_type *t) {
  struct filter f = {.type = str_from(t->name), .states = "'faded'"};
  if (t->decay != DECAY_FADE)
    return STATUS_OK;
  return count_retired(b, group_of(t->boot), f, "faded",
                       arena_printf(b->call->arena, "cairn list --type %s --state faded", t->name).p);
}

static enum status add_typed(struct boot *b) {
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (t->stored_as || t->boot < BOOT_IDENTITY || t->boot == BOOT_TASKS)
      continue;
    struct memories found = {0};
    TRY(boot_list(b, (struct filter){.type = str_from(t->name)}, &found));
    for (size_t k = 0; k < found.n; k++)
      add(b, group_of(t->boot), &found.v[k], BOOT_EACH, !t->droppable && t->boot == BOOT_IDENTITY);
    TRY(count_faded(b, t));
  }
  return STATUS_OK;
}

/* Pinned memories of types without a section. */
static enum status add_delivered(struct boot *b) {
  static const char *const pinned[] = {"boot", "pinned"};
  for (size_t d = 0; d < ARRAY_LEN(pinned); d++) {
    struct memories found = {0};
    TRY(boot_list(b, (struct filter){.delivery = str_from(pinned[d])}, &found));
    for (size_t i = 0; i < found.n; i++) {
      const struct mem_type *t = type_find(found.v[i].type);
      if (t && t->boot == BOOT_NO)
        add(b, BOOT_G_PINNED, &found.v[i], BOOT_EACH, true);
    }
  }
  return STATUS_OK;
}

static void add_blocker(struct boot *b, const struct memory *m, bool protect, bool surplus) {
  add(b, BOOT_G_BLOCKERS, m, SIZE_MAX, protect);
  struct boot_group *group = &b->groups[BOOT_G_BLOCKERS];
  struct boot_line *line = &group->v[group->n - 1];
  line->surplus = surplus;
  line->author = memory_author(m);
  if (line->author.p)
    line->text = arena_printf(b->call->arena, "%.*s (written by %.*s, not by a person)", STR_ARG(line->text),
                              STR_ARG(line->author));
}

/* A person's first, and of each those that are always delivered. */
static enum status add_blockers(struct boot *b) {
  struct memories rules = {0};
  size_t of_agents = 0;
  TRY(boot_list(b, (struct filter){.severity = STR("blocker")}, &rules));
  for (int pass = 0; pass < 4; pass++)
    for (size_t i = 0; i < rules.n; i++) {
      const struct memory *m = &rules.v[i];
      bool always = is_always_delivered(m), by_person = pass < 2;
      if (memory_is_by_person(m) != by_person || always != (pass % 2 == 0))
        continue;
      bool surplus = !by_person && of_agents++ >= AGENT_BLOCKERS;
      add_blocker(b, m, always && !surplus, surplus);
    }
  return STATUS_OK;
}

/* ---- matches of the task ---- */

static bool is_protected(const struct memory *m) {
  const struct mem_type *t = type_find(m->type);
  return is_always_delivered(m) || (t && t->boot == BOOT_IDENTITY && !t->droppable);
}

/* Of the next match to be listed. */
static double least_score(const struct boot_group *group, double best) {
  bool less = group->n > 0 && group->n < LESS_RELEVANT;
  return fmax(less ? LESS_RELEVANT_SCORE : RELEVANT_SCORE, RELEVANT_SHARE * best);
}

/* The best hits of a search by the task, of every kind except blockers, which are listed above. Those beyond the cap
 * are counted. */
static enum status add_relevant(struct boot *b) {
  enum { MATCHES = 3 * BOOT_RELEVANT };
  struct op_call *call = b->call;
  struct boot_group *group = &b->groups[BOOT_G_RELEVANT];
  struct hits hits = {0};
  int64_t faded;
  struct query q = {.call = call, .text = str_trim(json_str(call->args, "task")), .scope = b->scope};
  if (str_empty(q.text))
    return STATUS_OK;
  q.filter = (struct filter){.trusted = true, .no_retired_tasks = true, .no_blockers = true};
  group->fetch = arena_printf(call->arena, "%s --limit %d", search_command(call->arena, q.text), (int)MATCHES).p;
  TRY(retrieve_set_mode(&q, STR_NONE));
  TRY(retrieve_prepare(&q));
  TRY(retrieve(&q, STATES_SEARCHED, MATCHES, &hits));
  b->degraded = q.set.degraded;
  double best = 0, last = 0;
  for (size_t i = 0; i < hits.n; i++) {
    struct memory *m = &hits.v[i].m;
    bool shown;
    TRY(check_skill(b, m, &shown));
    if (!shown)
      continue;
    best = fmax(best, hits.v[i].score);
    if (hits.v[i].score < least_score(group, best))
      break;
    size_t before = group->n;
    add(b, BOOT_G_RELEVANT, m, BOOT_RELEVANT, is_protected(m));
    if (group->n == before)
      continue;
    group->v[before].type = m->type;
    last = hits.v[i].score;
  }
  double least = fmax(RELEVANT_SCORE, RELEVANT_SHARE * best);
  TRY(retrieve_faded(&q, BOOT_RELEVANT, group->dropped ? last : least, &faded));
  add_retired(group, faded, "faded", LIST_FADED);
  return STATUS_OK;
}

static bool is_plain_rule(const struct memory *m) {
  const struct mem_type *t = type_find(m->type);
  return str_is(m->severity, "pattern") && t && t->boot == BOOT_RULES;
}

/* Patterns nearest to the task first; without a task, the newest first. */
static enum status rank_by_task(struct boot *b, struct memories *rules) {
  struct op_call *call = b->call;
  struct str task = str_trim(json_str(call->args, "task")); /* as in add_relevant(): its vector is cached */
  if (str_empty(task) || rules->n == 0)
    return STATUS_OK;
  struct embeddings set;
  struct near_hits hits = {0};
  struct filter f = {.severity = STR("pattern"), .trusted = true, .states = STATES_LIVE};
  TRY(embeddings_of(call, &set));
  struct chunk_query chunks = {.scope = &b->scope, .filter = &f, .text = task, .limit = 4 * BOOT_PATTERNS};
  TRY(embeddings_near(call, &set, &chunks, &hits, NULL));
  b->degraded = set.degraded;
  size_t placed = 0;
  for (size_t i = 0; i < hits.n; i++)
    for (size_t k = placed; k < rules->n; k++)
      if (rules->v[k].id == hits.v[i].memory_id) {
        struct memory m = rules->v[k];
        memmove(&rules->v[placed + 1], &rules->v[placed], (k - placed) * sizeof(m));
        rules->v[placed++] = m;
        break;
      }
  return STATUS_OK;
}

static enum status add_patterns(struct boot *b) {
  struct memories rules = {0};
  TRY(boot_list(b, (struct filter){.severity = STR("pattern")}, &rules));
  TRY(rank_by_task(b, &rules));
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < rules.n; i++)
      if (is_plain_rule(&rules.v[i]) && is_always_delivered(&rules.v[i]) == (pass == 0))
        add(b, BOOT_G_PATTERNS, &rules.v[i], BOOT_PATTERNS, pass == 0);
  return STATUS_OK;
}

static enum status add_tasks(struct boot *b) {
  struct memories tasks = {0};
  TRY(boot_list(b,
                (struct filter){.kind = str_from(kind_names[KIND_TASK]), .no_retired_tasks = true, .order = TASK_ORDER},
                &tasks));
  for (size_t i = 0; i < tasks.n; i++)
    add(b, BOOT_G_TASKS, &tasks.v[i], BOOT_TASKS_SHOWN, false);
  return count_retired(b, BOOT_G_TASKS, (struct filter){.status = STR("stale")}, "stale",
                       "cairn task list --status stale");
}

/* ---- action items, handoff, other sessions ---- */

static void add_json(struct boot *b, enum boot_place g, int64_t id, struct str text, const yyjson_mut_val *v,
                     bool protect) {
  struct arena *a = b->call->arena;
  assert(b->groups[g].member);
  list_push(a, &b->groups[g],
            (struct boot_line){.id = id, .text = text, .protect = protect, .json = json_write(a, v, false)});
}

static void add_actions(struct boot *b) {
  struct booted *from = &b->booted;
  for (size_t i = 0; i < from->items.n; i++) {
    yyjson_mut_doc *doc = json_new(b->call->arena);
    yyjson_mut_val *v = yyjson_mut_obj(doc);
    put_action_item(doc, v, &from->items.v[i]);
    add_json(b, BOOT_G_ACTIONS, from->items.v[i].id, from->items.v[i].text, v, false);
  }
  /* They are counted before they are listed: another process may add one in between. */
  b->groups[BOOT_G_ACTIONS].dropped =
      from->pending > (int64_t)from->items.n ? (size_t)from->pending - from->items.n : 0;
}

static void add_handoff(struct boot *b) {
  const struct handoff *h = &b->booted.handoff;
  if (!h->id)
    return;
  yyjson_mut_doc *doc = json_new(b->call->arena);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  put_handoff(doc, v, h);
  add_json(b, BOOT_G_HANDOFF, 0, h->text, v, false);
}

/* A summary of another session; 'session list' has all members. */
static void put_other(struct op_call *call, yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct session *s,
                      struct str task, enum life life) {
  char time[TIME_TEXT_SIZE];
  json_put(doc, obj, "session", s->handle);
  json_put_int(doc, obj, "session_id", s->id);
  json_put(doc, obj, "source", s->source);
  json_put_opt(doc, obj, "task", task);
  json_put_opt(doc, obj, "cwd", s->cwd.p ? call_path(call, s->cwd) : STR_NONE);
  json_put(doc, obj, "booted_at", time_format(s->booted_at, time));
  json_put_int(doc, obj, "silent_s", session_silence(s, call->now) / 1000);
  json_put(doc, obj, "state", str_from(life_names[life]));
}

/* Drops texts of another session that read like instructions to the reader. */
static struct session without_suspect_texts(struct arena *a, struct session s) {
  struct str all = arena_printf(a, "%.*s\n%.*s\n%.*s", STR_ARG(s.source), STR_ARG(s.cwd), STR_ARG(s.task));
  if (suspect_text(a, all).p) {
    s.source = STR("unnamed");
    s.cwd = s.task = STR_NONE;
  }
  return s;
}

static void add_sessions(struct boot *b) {
  struct arena *a = b->call->arena;
  const struct booted *from = &b->booted;
  struct boot_group *group = &b->groups[BOOT_G_SESSIONS];
  for (size_t i = 0; i < from->judged.live.n; i++) {
    const struct session *s = &from->judged.live.v[i];
    enum life life = from->judged.lives[i];
    if (str_eq(s->handle, from->registered ? from->session.handle : b->call->caller.session))
      continue;
    if (group->n == SESSIONS_SHOWN) {
      group->dropped++;
      continue;
    }
    struct session clean = without_suspect_texts(a, *s);
    s = &clean;
    struct str task = s->task.p ? utf8_cut(s->task, TASK_SHOWN_BYTES) : STR_NONE;
    yyjson_mut_doc *doc = json_new(a);
    yyjson_mut_val *v = yyjson_mut_obj(doc);
    put_other(b->call, doc, v, s, task, life);
    struct str text =
        arena_printf(a, "%.*s (%.*s%s%s)%s%.*s", STR_ARG(s->handle), STR_ARG(s->source), life == LIFE_LIVE ? "" : ", ",
                     life == LIFE_LIVE ? "" : life_names[life], task.p ? ": " : "", STR_ARG(task));
    add_json(b, BOOT_G_SESSIONS, 0, text, v, false);
  }
}

enum status boot_select(struct boot *b) {
  memcpy(b->groups, layout, sizeof(layout));
  set_fetches(b);
  TRY(add_blockers(b));
  TRY(add_relevant(b));
  TRY(add_patterns(b));
  TRY(add_typed(b));
  TRY(add_delivered(b));
  TRY(add_tasks(b));
  add_actions(b);
  add_handoff(b);
  add_sessions(b);
  return STATUS_OK;
}
