/* budget.c: token budget of the boot payload. */
#include "core/boot/budget.h"

#include <assert.h>

#include "core/text/token_count.h"

/* ---- rendering ---- */

static void render_line(struct buf *b, const struct boot_group *group, const struct boot_line *line) {
  if (group->single)
    buf_addf(b, "%.*s\n", STR_ARG(line->text));
  else if (line->id)
    buf_addf(b, "- [%lld] %.*s\n", (long long)line->id, STR_ARG(line->text));
  else
    buf_addf(b, "- %.*s\n", STR_ARG(line->text));
}

static void render_group(struct buf *b, const struct boot_group *group) {
  assert(group->shown <= group->n);
  assert(!group->dropped || group->fetch);
  buf_addf(b, "\n## %s\n", group->title);
  if (group->dropped)
    buf_addf(b, "- %zu more: %s\n", group->dropped, group->fetch);
  if (group->retired_count)
    buf_addf(b, "- %zu %s: %s\n", group->retired_count, group->retired, group->fetch_retired);
  for (size_t i = 0; i < group->n; i++)
    if (!group->v[i].dropped)
      render_line(b, group, &group->v[i]);
}

static struct str render(struct arena *a, const struct boot_payload *p) {
  struct buf b = BUF(a);
  buf_addf(&b, "# %.*s\n", STR_ARG(p->title));
  if (p->note.p)
    buf_addf(&b, "%.*s\n", STR_ARG(p->note));
  for (size_t g = 0; g < p->n; g++)
    if (p->groups[g].shown || p->groups[g].dropped || p->groups[g].retired_count)
      render_group(&b, &p->groups[g]);
  return buf_str(&b);
}

static yyjson_mut_val *line_json(yyjson_mut_doc *doc, const struct boot_group *group, const struct boot_line *line) {
  assert(!group->member || line->json.p);
  if (group->member)
    return yyjson_mut_rawncpy(doc, line->json.p, line->json.n);
  yyjson_mut_val *item = yyjson_mut_obj(doc);
  json_put_int(doc, item, "id", line->id);
  json_put(doc, item, "headline", line->headline.p ? line->headline : line->text);
  json_put_opt(doc, item, "priority", line->priority);
  json_put_opt(doc, item, "status", line->status);
  json_put_opt(doc, item, "type", line->type);
  json_put_opt(doc, item, "author", line->author);
  return item;
}

static void put_section(yyjson_mut_doc *doc, yyjson_mut_val *sections, const struct boot_group *group) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, sections);
  json_put(doc, v, "name", str_from(group->name));
  yyjson_mut_val *items = json_put_arr(doc, v, "items");
  for (size_t i = 0; i < group->n; i++)
    if (!group->v[i].dropped)
      yyjson_mut_arr_append(items, line_json(doc, group, &group->v[i]));
}

static void put_member(yyjson_mut_doc *doc, yyjson_mut_val *result, const struct boot_group *group) {
  assert(!group->single || group->shown <= 1);
  yyjson_mut_val *list = group->single ? NULL : json_put_arr(doc, result, group->name);
  for (size_t i = 0; i < group->n; i++) {
    if (group->v[i].dropped)
      continue;
    yyjson_mut_val *v = line_json(doc, group, &group->v[i]);
    if (list)
      yyjson_mut_arr_append(list, v);
    else
      yyjson_mut_obj_add_val(doc, result, group->name, v);
  }
}

static void add_dropped(yyjson_mut_doc *doc, yyjson_mut_val *dropped, const char *section, size_t count,
                        const char *state, const char *fetch) {
  yyjson_mut_val *d = yyjson_mut_arr_add_obj(doc, dropped);
  json_put(doc, d, "section", str_from(section));
  json_put_int(doc, d, "count", (int64_t)count);
  json_put_opt(doc, d, "state", state ? str_from(state) : STR_NONE);
  json_put(doc, d, "fetch", str_from(fetch));
}

void boot_put_retired(yyjson_mut_doc *doc, yyjson_mut_val *dropped, const struct boot_group *group) {
  if (group->retired_count)
    add_dropped(doc, dropped, group->name, group->retired_count, group->retired, group->fetch_retired);
}

static void put_dropped(yyjson_mut_doc *doc, yyjson_mut_val *result, const struct boot_payload *p) {
  yyjson_mut_val *dropped = json_put_arr(doc, result, "dropped");
  for (size_t g = 0; g < p->n; g++) {
    const struct boot_group *group = &p->groups[g];
    if (group->dropped)
      add_dropped(doc, dropped, group->name, group->dropped, NULL, group->fetch);
    boot_put_retired(doc, dropped, group);
  }
}

static yyjson_mut_val *build(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *head, const struct boot_payload *p,
                             size_t tokens) {
  yyjson_mut_val *result = yyjson_mut_val_mut_copy(doc, head);
  if (!p->no_text)
    json_put(doc, result, "text", render(a, p));
  json_put_int(doc, result, "tokens", (int64_t)tokens);
  json_put_int(doc, result, "budget", (int64_t)p->budget);
  if (!p->no_sections) {
    yyjson_mut_val *sections = json_put_arr(doc, result, "sections");
    for (size_t g = 0; g < p->n; g++)
      if (!p->groups[g].member)
        put_section(doc, sections, &p->groups[g]);
  }
  put_dropped(doc, result, p);
  for (size_t g = 0; g < p->n; g++)
    if (p->groups[g].member && !p->no_sections)
      put_member(doc, result, &p->groups[g]);
  return result;
}

/* The result contains its own size, so it is built twice: the second time with a size of the right number of digits. */
static size_t measure(struct arena *a, yyjson_mut_val *head, const struct boot_payload *p) {
  size_t tokens = p->budget;
  for (int round = 0; round < 2; round++)
    tokens = tokens_estimate(json_write(a, build(a, json_new(a), head, p, tokens), false));
  return tokens;
}

/* ---- applying the budget ---- */

/* A line that may be dropped. */
struct victim {
  struct boot_group *group;
  struct boot_line *line;
};

struct victims {
  struct victim *v;
  size_t n, cap;
};

/* Lines are dropped in this order. */
enum rank { RANK_SURPLUS, RANK_FREE, RANK_AGENT, RANK_PERSON, RANK_NEVER };

static enum rank rank_of(const struct boot_line *line) {
  if (line->protect)
    return line->by_agent ? RANK_AGENT : RANK_NEVER;
  if (line->outranks)
    return RANK_PERSON;
  return line->surplus ? RANK_SURPLUS : RANK_FREE;
}

/* Adds the lines of a rank, those of the lowest drop order first, from the end of each group. */
static void add_victims(struct arena *a, const struct boot_payload *p, enum rank rank, struct victims *to) {
  int last = 0;
  for (size_t g = 0; g < p->n; g++)
    last = p->groups[g].drop_order > last ? p->groups[g].drop_order : last;
  for (int order = 1; order <= last; order++)
    for (size_t g = 0; g < p->n; g++)
      for (size_t i = p->groups[g].drop_order == order ? p->groups[g].n : 0; i-- > 0;)
        if (rank_of(&p->groups[g].v[i]) == rank)
          list_push(a, to, (struct victim){&p->groups[g], &p->groups[g].v[i]});
}

static struct victims list_victims(struct arena *a, const struct boot_payload *p) {
  struct victims all = {0}, persons = {0};
  add_victims(a, p, RANK_SURPLUS, &all);
  add_victims(a, p, RANK_FREE, &all);
  add_victims(a, p, RANK_PERSON, &persons);
  if (persons.n > 0) {
    add_victims(a, p, RANK_AGENT, &all);
    add_victims(a, p, RANK_PERSON, &all);
  }
  return all;
}

/* Upper bound of the tokens of a line. The estimates of parts never add up to less than that of the whole, so dropping
 * lines until their sizes reach the excess never drops a line too many. */
static size_t line_tokens(struct arena *a, const struct boot_payload *p, const struct boot_group *group,
                          const struct boot_line *line) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *parts = yyjson_mut_arr(doc);
  if (!p->no_text) {
    struct buf b = BUF(a);
    render_line(&b, group, line);
    json_add_str(doc, parts, buf_str(&b));
  }
  if (!p->no_sections)
    yyjson_mut_arr_append(parts, line_json(doc, group, line));
  return tokens_estimate(json_write(a, parts, false));
}

yyjson_mut_val *boot_fit_budget(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *head, struct boot_payload *p,
                                size_t *ret_tokens) {
  struct victims victims = list_victims(a, p);
  size_t tokens, next = 0;
  for (size_t g = 0; g < p->n; g++)
    p->groups[g].shown = p->groups[g].n;
  while ((tokens = measure(a, head, p)) > p->budget && next < victims.n)
    for (size_t cut = 0; next < victims.n && cut < tokens - p->budget; next++) {
      struct victim *victim = &victims.v[next];
      cut += line_tokens(a, p, victim->group, victim->line);
      victim->line->dropped = true;
      victim->group->shown--;
      victim->group->dropped++;
    }
  *ret_tokens = tokens;
  return build(a, doc, head, p, tokens);
}
