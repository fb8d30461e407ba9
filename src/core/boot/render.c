/* render.c: boot payload in the formats "full" and "blocks". */
#include "core/boot/render.h"

#include <assert.h>

size_t boot_full_tokens(size_t bytes) { return (bytes * 2 + 3) / 7; }

/* 30000 is written as 30_000. */
static void add_number(struct buf *b, size_t n) {
  char digits[27];
  size_t at = sizeof(digits);
  for (size_t count = 0; count == 0 || n > 0; count++, n /= 10) {
    assert(at >= 2);
    if (count && count % 3 == 0)
      digits[--at] = '_';
    digits[--at] = (char)('0' + n % 10);
  }
  buf_add(b, (struct str){digits + at, sizeof(digits) - at});
}

/* Indents further lines, so the text stays one list item. */
static void add_item(struct buf *b, const struct boot_text *t, bool labelled) {
  struct str rest = t->body, line;
  buf_adds(b, "- ");
  if (labelled && str_empty(t->project))
    buf_adds(b, "[global] ");
  else if (labelled)
    buf_addf(b, "[project/%.*s] ", STR_ARG(t->project));
  for (bool first = true; str_line(&rest, &line); first = false)
    buf_addf(b, "%s%.*s\n", first || str_empty(line) ? "" : "  ", STR_ARG(line));
}

static void add_heading(struct buf *b, const struct boot_texts *texts, const char *title, bool labelled) {
  bool some = false;
  for (size_t i = 0; i < texts->n; i++) {
    if (strcmp(type_title(texts->v[i].type), title) != 0)
      continue;
    if (!some)
      buf_addf(b, "\n## %s\n\n", title);
    some = true;
    add_item(b, &texts->v[i], labelled);
  }
}

/* Headings are in the order of the table of types. */
static void add_headings(struct buf *b, const struct boot_texts *texts, bool labelled) {
  for (size_t i = 0; i < types_count(); i++)
    if (types_at(i)->title)
      add_heading(b, texts, types_at(i)->title, labelled);
}

static void add_stats(struct buf *b, struct str project, const char *from, const struct boot_texts *texts, size_t used,
                      size_t budget) {
  size_t global = 0, bytes = b->n, percent = budget ? (used * 100 + budget / 2) / budget : 0;
  for (size_t i = 0; i < texts->n; i++)
    global += str_empty(texts->v[i].project);
  buf_adds(b, "\n## Bootstrap Stats\n\n");
  assert(str_empty(project) || from);
  if (!str_empty(project))
    buf_addf(b, "- Project: %.*s (source: %s)\n", STR_ARG(project), from);
  buf_addf(b, "- Loaded: %zu global + %zu project memories\n- Bootstrap: ", global, texts->n - global);
  add_number(b, used);
  buf_adds(b, " / ");
  add_number(b, budget);
  buf_addf(b, " tokens (%zu%% of budget)\n- Context: ", percent);
  add_number(b, boot_full_tokens(bytes));
  buf_adds(b, " tokens loaded (");
  add_number(b, bytes);
  buf_adds(b, " bytes)\n");
  if (used > budget)
    buf_addf(b,
             "- WARNING: the bootstrap memories use %zu%% of their budget; nothing was cut. Shorten them, or deliver "
             "some of them on demand.\n",
             percent);
}

struct str boot_render_full(struct arena *a, struct str project, const char *project_from,
                            const struct boot_texts *texts, size_t budget, size_t *ret_used) {
  struct buf b = BUF(a);
  size_t bytes = 0;
  for (size_t i = 0; i < texts->n; i++)
    bytes += texts->v[i].body.n;
  *ret_used = boot_full_tokens(bytes);
  if (texts->n == 0)
    return STR("");
  buf_adds(&b, "# Memory\n\nLoaded from Cairn; applies from the first message on.\n"
               "\n## System\n\n"
               "- Cairn is the long-term memory of this conversation: store lasting knowledge there and nowhere else.\n"
               "- Search Cairn at the first message, and before claiming anything about past work.\n");
  if (!str_empty(project))
    buf_addf(&b, "\nProject: %.*s\n", STR_ARG(project));
  add_headings(&b, texts, !str_empty(project));
  add_stats(&b, project, project_from, texts, *ret_used, budget);
  return buf_str(&b);
}

struct str boot_render_blocks(struct arena *a, const struct boot_texts *texts) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < texts->n; i++) {
    const struct boot_text *t = &texts->v[i];
    buf_addc(&b, '[');
    for (const char *c = t->type->name; *c; c++)
      buf_addc(&b, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
    if (t->key.p)
      buf_addf(&b, "] [%.*s]: ", STR_ARG(t->key));
    else
      buf_addf(&b, "] [%lld]: ", (long long)t->id);
    buf_addf(&b, "%.*s\n", STR_ARG(str_trim(t->body)));
  }
  return b.n ? buf_str(&b) : STR("");
}

struct str boot_untrusted_note(struct arena *a, int64_t n) {
  return arena_printf(a, "%lld memor%s not shown: untrusted until a person promotes %s", (long long)n,
                      n == 1 ? "y is" : "ies are", n == 1 ? "it" : "them");
}
