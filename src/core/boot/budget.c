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
  for (size_t i = 0; i < group->shown; i++)
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
  for (size_t i = 0; i < group->shown; i++)
    yyjson_mut_arr_append(items, line_json(doc, group, &group->v[i]));
}

static void put_member(yyjson_mut_doc *doc, yyjson_mut_val *result, const struct boot_group *group) {
  assert(!group->single || group->shown <= 1);
  yyjson_mut_val *list = group->single ? NULL : json_put_arr(doc, result, group->name);
  for (size_t i = 0; i < group->shown; i++) {
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

/* The group whose last line is dropped next; NULL if only protected lines are left. */
static struct boot_group *next_victim(struct boot_group *groups, size_t n) {
  struct boot_group *victim = NULL;
  for (size_t g = 0; g < n; g++) {
    struct boot_group *group = &groups[g];
    if (group->drop_order == 0 || group->shown == 0 || group->v[group->shown - 1].protect)
      continue;
    if (!victim || group->drop_order < victim->drop_order)
      victim = group;
  }
  return victim;
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
  for (size_t g = 0; g < p->n; g++)
    p->groups[g].shown = p->groups[g].n;
  size_t tokens;
  for (;;) {
    tokens = measure(a, head, p);
    struct boot_group *victim = tokens > p->budget ? next_victim(p->groups, p->n) : NULL;
    if (!victim)
      break;
    for (size_t cut = 0; victim && cut < tokens - p->budget; victim = next_victim(p->groups, p->n)) {
      assert(victim->shown > 0);
      cut += line_tokens(a, p, victim, &victim->v[--victim->shown]);
      victim->dropped++;
    }
  }
  *ret_tokens = tokens;
  return build(a, doc, head, p, tokens);
}
