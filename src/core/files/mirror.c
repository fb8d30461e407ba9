/* mirror.c: sections of MEMORY.md, and canonical form and hashes of its texts. */
#include "core/files/mirror.h"

#include <assert.h>

#include "base/id.h"
#include "core/memory/headline.h"
#include "core/text/text.h"

/* ---- sections ---- */

/* Order and alternative titles. The table of types (core/memory/types.c) has the section of each type. */
static const struct {
  const char *title;
  const char *others[5]; /* NULL-terminated */
} sections[] = {
    {"Key Decisions", {"decisions"}},
    {"User Preferences", {"preferences", "feedback"}},
    {"Project Context", {"context", "key context", "current state"}},
    {"Rules", {"guardrails", "procedures"}},
    {"Identity", {NULL}},
    {"Lessons", {"lessons learned", "learnings"}},
    {"Facts", {NULL}},
    {"People", {NULL}},
    {"References", {"links"}},
    {"Notes", {"important notes"}},
    {"Ideas", {NULL}},
    {"Tasks", {"todo", "to do", "pending actions"}},
    {"Incidents", {NULL}},
    {"Session Summaries", {"sessions", "session notes", "journal"}},
};

size_t mirror_section_count(void) { return ARRAY_LEN(sections); }

const char *mirror_section_title(int section) {
  assert(section >= 0 && (size_t)section < ARRAY_LEN(sections));
  return sections[section].title;
}

int mirror_section_find(struct str title) {
  title = str_trim(title);
  while (title.n && (title.p[title.n - 1] == ':' || ascii_space(title.p[title.n - 1])))
    title.n--;
  for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
    if (str_ieq(title, str_from(sections[i].title)))
      return (int)i;
    for (const char *const *other = sections[i].others; *other; other++)
      if (str_ieq(title, str_from(*other)))
        return (int)i;
  }
  return MIRROR_SECTION_NONE;
}

int mirror_section_of(const struct mem_type *type) {
  int section = type ? mirror_section_find(str_from(type->page)) : MIRROR_SECTION_NONE;
  assert(!type || section != MIRROR_SECTION_NONE);
  return section;
}

const struct mem_type *mirror_section_type(int section) {
  assert(section < (int)ARRAY_LEN(sections));
  for (size_t i = 0; section >= 0 && i < types_count(); i++)
    if (str_is(str_from(types_at(i)->page), sections[section].title))
      return types_at(i);
  return NULL;
}

/* ---- texts ---- */

static struct str trim_right(struct str s) {
  while (s.n && ascii_space(s.p[s.n - 1]))
    s.n--;
  return s;
}

struct str mirror_canonical(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  size_t start = 0;
  text = str_trim(text);
  for (size_t i = 0; i <= text.n; i++) {
    if (i < text.n && text.p[i] != '\n' && text.p[i] != '\r')
      continue;
    if (b.n || start)
      buf_addc(&b, '\n');
    buf_add(&b, trim_right(str_slice(text, start, i)));
    if (i + 1 < text.n && text.p[i] == '\r' && text.p[i + 1] == '\n')
      i++;
    start = i + 1;
  }
  return buf_str(&b);
}

/* False for a headline that repeats the body. */
static bool adds_information(struct arena *a, struct str headline, struct str body) {
  if (str_empty(headline) || str_eq(headline, headline_derive(a, body)))
    return false;
  struct str h = text_normal(a, headline), t = text_normal(a, body);
  return h.n && str_find(t, h, 0) == SIZE_MAX;
}

struct str mirror_text(struct arena *a, struct str headline, struct str body) {
  struct str text = mirror_canonical(a, body);
  if (!adds_information(a, headline, text))
    return text;
  struct str line = text_collapse(a, headline);
  return mirror_canonical(a, arena_printf(a, "**%.*s**: %.*s", STR_ARG(line), STR_ARG(text)));
}

static struct str short_hash(struct arena *a, struct str s, size_t n) {
  assert(n < HASH_TEXT_SIZE);
  char hash[HASH_TEXT_SIZE];
  hash_text(s, hash);
  return arena_dup(a, (struct str){hash, n});
}

struct str mirror_hash(struct arena *a, struct str text) { return short_hash(a, text, MIRROR_HASH); }

struct str mirror_tag(struct arena *a, struct str uid) { return short_hash(a, uid, MIRROR_TAG); }

struct str mirror_code(struct arena *a, struct str uid, struct str text) {
  return short_hash(a, arena_printf(a, "%.*s\n%.*s", STR_ARG(uid), STR_ARG(text)), MIRROR_CODE);
}
