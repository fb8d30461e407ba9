/* boot.c: the boot operation: gathers what each section may hold, core/boot.c fits it into the budget. */
#include "core/boot.h"

#include "op/handlers.h"
#include "op/write.h"
#include "store/search_rows.h"
#include "store/settings.h"
#include "store/tasks.h"
#include "store/vectors.h"

enum group { BLOCKERS, PATTERNS, IDENTITY, LESSONS, PINNED, DECISIONS, CONTEXT, TASKS, GROUPS };

/* Shown in this order; tasks are dropped first, then patterns, then the rest; blockers and identity last. */
static const struct boot_group layout[GROUPS] = {
    [BLOCKERS] = {.name = "blockers", .title = "Blockers: never do otherwise", .drop_order = 5},
    [PATTERNS] = {.name = "patterns", .title = "Patterns", .drop_order = 2},
    [IDENTITY] = {.name = "identity", .title = "Identity", .drop_order = 0},
    [LESSONS] = {.name = "lessons", .title = "Lessons", .drop_order = 4},
    [PINNED] = {.name = "pinned", .title = "Pinned", .fetch = "cairn list --delivery pinned", .drop_order = 5},
    [DECISIONS] = {.name = "decisions", .title = "Decisions", .drop_order = 3},
    [CONTEXT] = {.name = "context", .title = "Context", .drop_order = 3},
    [TASKS] = {.name = "tasks", .title = "Tasks", .fetch = "cairn task list", .drop_order = 1},
};

/* The section of the table of types that a group shows. */
static const enum boot_section section_of[GROUPS] = {
    [BLOCKERS] = BOOT_RULES,  [PATTERNS] = BOOT_RULES,      [IDENTITY] = BOOT_IDENTITY,
    [LESSONS] = BOOT_LESSONS, [DECISIONS] = BOOT_DECISIONS, [CONTEXT] = BOOT_CONTEXT,
};

struct boot {
  struct op_call *call;
  struct scope scope;
  struct boot_group groups[GROUPS];
};

static bool delivered(const struct memory *m) {
  return str_is(m->delivery, "pinned") || str_is(m->delivery, "boot") || m->skill_always_on;
}

/* A skill that is not always on waits for its keyword. */
static bool waits(const struct memory *m) { return m->skill_name.p && !m->skill_always_on; }

static struct str line_of(struct arena *a, const struct memory *m) {
  if (m->status.p)
    return arena_printf(a, "%.*s (%.*s, %.*s)", STR_ARG(m->headline), STR_ARG(m->priority), STR_ARG(m->status));
  return m->headline;
}

static void add(struct boot *b, enum group g, const struct memory *m, size_t cap, bool protect) {
  struct boot_group *group = &b->groups[g];
  if (!protect && group->n >= cap) {
    group->dropped++;
    return;
  }
  list_push(b->call->arena, group, (struct boot_line){m->id, line_of(b->call->arena, m), protect});
}

/* Visible, trusted memories, the project's before the global ones, newest first. */
static enum status list(struct boot *b, struct filter f, struct memories *ret) {
  f.trusted = true;
  f.order = f.order ? f.order : "CASE WHEN m.project = '' THEN 1 ELSE 0 END, m.created_at DESC, m.id DESC";
  return memory_list(b->call->engine->store, &b->scope, &f, b->call->arena, ret, b->call->err);
}

static enum group group_of(enum boot_section section) {
  int g = 0;
  while (section_of[g] != section)
    g++;
  return (enum group)g;
}

/* The call that shows all of a group's section. */
static void name_fetches(struct boot *b) {
  for (int g = 0; g < GROUPS; g++) {
    const struct mem_type *t = section_of[g] ? type_of_section(section_of[g]) : NULL;
    if (t && t->boot == BOOT_RULES)
      b->groups[g].fetch = arena_printf(b->call->arena, "cairn list --kind %s", kind_names[t->kind]).p;
    else if (t)
      b->groups[g].fetch = arena_printf(b->call->arena, "cairn list --type %s", t->name).p;
  }
}

static enum status add_typed(struct boot *b) {
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (t->stored_as || t->boot < BOOT_IDENTITY || t->boot == BOOT_TASKS)
      continue;
    struct memories found = {0};
    s = list(b, (struct filter){.type = str_from(t->name)}, &found);
    for (size_t k = 0; k < found.n; k++)
      if (!waits(&found.v[k]))
        add(b, group_of(t->boot), &found.v[k], BOOT_EACH, !t->droppable && t->boot == BOOT_IDENTITY);
  }
  return s;
}

/* What somebody wanted to be there, of the types that have no section of their own. */
static enum status add_delivered(struct boot *b) {
  static const char *const ways[] = {"boot", "pinned"};
  enum status s = STATUS_OK;
  for (size_t w = 0; s == STATUS_OK && w < ARRAY_LEN(ways); w++) {
    struct memories found = {0};
    s = list(b, (struct filter){.delivery = str_from(ways[w])}, &found);
    for (size_t i = 0; i < found.n; i++) {
      const struct mem_type *t = type_find(found.v[i].type);
      if (t && t->boot == BOOT_NO)
        add(b, PINNED, &found.v[i], BOOT_EACH, true);
    }
  }
  return s;
}

/* Protected blockers first, so that a cap never evicts them. */
static enum status add_blockers(struct boot *b) {
  struct memories rules = {0};
  enum status s = list(b, (struct filter){.severity = STR("blocker")}, &rules);
  for (int pass = 0; s == STATUS_OK && pass < 2; pass++)
    for (size_t i = 0; i < rules.n; i++)
      if (!waits(&rules.v[i]) && delivered(&rules.v[i]) == (pass == 0))
        add(b, BLOCKERS, &rules.v[i], BOOT_BLOCKERS, pass == 0);
  return s;
}

static bool is_plain_rule(const struct memory *m) {
  const struct mem_type *t = type_find(m->type);
  return str_is(m->severity, "pattern") && t && t->boot == BOOT_RULES && !waits(m);
}

/* Patterns nearest to the task come first; without a task, the newest. */
static enum status rank_by_task(struct boot *b, struct memories *rules) {
  struct op_call *call = b->call;
  struct str task = json_str(call->args, "task");
  if (str_empty(str_trim(task)) || rules->n == 0)
    return STATUS_OK;
  struct embeddings set;
  struct near_hits hits = {0};
  struct filter f = {.severity = STR("pattern"), .trusted = true, .states = STATES_LIVE};
  enum status s = embeddings_of(call, &set);
  if (s == STATUS_OK)
    s = embeddings_near(call, &set, &b->scope, &f, task, 4 * BOOT_PATTERNS, &hits, NULL);
  if (s != STATUS_OK)
    return s;
  json_put_opt(call->doc, call->result, "degraded", set.degraded);
  size_t placed = 0;
  for (size_t i = 0; i < hits.n; i++)
    for (size_t k = placed; k < rules->n; k++)
      if (rules->v[k].id == hits.v[i].memory_id) {
        struct memory m = rules->v[k];
        memmove(&rules->v[placed + 1], &rules->v[placed], (k - placed) * sizeof(m));
        rules->v[placed++] = m;
        break;
      }
  return s;
}

static enum status add_patterns(struct boot *b) {
  struct memories rules = {0};
  enum status s = list(b, (struct filter){.severity = STR("pattern")}, &rules);
  if (s == STATUS_OK)
    s = rank_by_task(b, &rules);
  for (int pass = 0; s == STATUS_OK && pass < 2; pass++)
    for (size_t i = 0; i < rules.n; i++)
      if (is_plain_rule(&rules.v[i]) && delivered(&rules.v[i]) == (pass == 0))
        add(b, PATTERNS, &rules.v[i], BOOT_PATTERNS, pass == 0);
  return s;
}

static enum status add_tasks(struct boot *b) {
  struct memories tasks = {0};
  enum status s =
      list(b, (struct filter){.kind = str_from(kind_names[KIND_TASK]), .no_retired_tasks = true, .order = TASK_ORDER},
           &tasks);
  for (size_t i = 0; s == STATUS_OK && i < tasks.n; i++)
    add(b, TASKS, &tasks.v[i], BOOT_TASKS_SHOWN, false);
  return s;
}

static void put_groups(struct boot *b) {
  yyjson_mut_doc *doc = b->call->doc;
  yyjson_mut_val *sections = json_put_arr(doc, b->call->result, "sections");
  yyjson_mut_val *dropped = json_put_arr(doc, b->call->result, "dropped");
  for (size_t g = 0; g < GROUPS; g++) {
    const struct boot_group *group = &b->groups[g];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, sections);
    json_put(doc, v, "name", str_from(group->name));
    yyjson_mut_val *items = json_put_arr(doc, v, "items");
    for (size_t i = 0; i < group->shown; i++) {
      yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, items);
      json_put_int(doc, item, "id", group->v[i].id);
      json_put(doc, item, "headline", group->v[i].text);
    }
    if (!group->dropped)
      continue;
    yyjson_mut_val *d = yyjson_mut_arr_add_obj(doc, dropped);
    json_put(doc, d, "section", str_from(group->name));
    json_put_int(doc, d, "count", (int64_t)group->dropped);
    json_put(doc, d, "fetch", str_from(group->fetch));
  }
}

enum status op_boot(struct op_call *call) {
  struct boot b = {.call = call, .scope = scope_of(call)};
  memcpy(b.groups, layout, sizeof(layout));
  name_fetches(&b);
  double fallback;
  int64_t budget;
  enum status s =
      setting_number(call->engine->store, call->caller.team, SET_BOOT_BUDGET, call->arena, &fallback, call->err);
  if (s == STATUS_OK)
    s = call_int(call, "budget", (int64_t)fallback, 100, 100000, &budget);
  if (s == STATUS_OK)
    s = add_blockers(&b);
  if (s == STATUS_OK)
    s = add_patterns(&b);
  if (s == STATUS_OK)
    s = add_typed(&b);
  if (s == STATUS_OK)
    s = add_delivered(&b);
  if (s == STATUS_OK)
    s = add_tasks(&b);
  if (s != STATUS_OK)
    return s;
  struct str project = call->caller.project;
  struct str title = str_empty(project) ? STR("Memory") : arena_printf(call->arena, "Memory of %.*s", STR_ARG(project));
  size_t tokens;
  struct str text = boot_fit(call->arena, title, b.groups, GROUPS, (size_t)budget, &tokens);
  json_put(call->doc, call->result, "project", project);
  json_put(call->doc, call->result, "text", text);
  json_put_int(call->doc, call->result, "tokens", (int64_t)tokens);
  json_put_int(call->doc, call->result, "budget", budget);
  put_groups(&b);
  return STATUS_OK;
}
