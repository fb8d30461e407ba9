/* test_mirror.c: parsing, comparison and rendering of MEMORY.md; random edits on both sides must not be lost.
 */
#include "core/files/mirror.h"

#include "base/utf8.h"
#include "support/harness.h"

static struct arena a; /* lives as long as the test */

/* ---- a store in memory ---- */

struct mem {
  struct str uid, text;
  int section;
  bool active;
  int64_t next; /* what superseded it */
  bool blocker;
  const char *by; /* the agent that wrote it */
};

static LIST(struct mem) store; /* the id is the index + 1 */
static const struct mirror_options options = {
    .owner = STR_INIT("default/web"), .project = STR_INIT("web"), .max_chars = 50000};

static int64_t keep(int section, struct str text) {
  struct mem m = {.uid = arena_printf(&a, "0199f0aa-0000-7000-8000-%012zx", store.n + 1),
                  .text = mirror_canonical(&a, text),
                  .section = section,
                  .active = true};
  list_push(&a, &store, m);
  return (int64_t)store.n;
}

static struct mem *mem_of(int64_t id) { return &store.v[id - 1]; }

/* `by` is NULL for a person. */
static int64_t keep_blocker(int section, struct str text, const char *by) {
  int64_t id = keep(section, text);
  mem_of(id)->blocker = true;
  mem_of(id)->by = by;
  return id;
}

static int64_t replace(int64_t id, int section, struct str text) {
  int64_t now = keep(section, text);
  mem_of(id)->active = false;
  mem_of(id)->next = now;
  return now;
}

static int64_t head_of(int64_t id) {
  while (mem_of(id)->next)
    id = mem_of(id)->next;
  return id;
}

static void learn(struct mirror_knowns *known, int64_t id) {
  const struct mem *m = mem_of(id);
  for (size_t i = 0; i < known->n; i++)
    if (known->v[i].id == id)
      return;
  struct mirror_known k = {.id = id, .uid = m->uid, .active = m->active, .text = m->text, .section = m->section};
  int64_t head = head_of(id);
  if (!m->active && head != id && mem_of(head)->active) {
    k.head = head;
    k.head_uid = mem_of(head)->uid;
    k.head_text = mem_of(head)->text;
    k.head_section = mem_of(head)->section;
  }
  list_push(&a, known, k);
}

static void learn_all(const struct mirror_page *page, struct mirror_knowns *known) {
  for (size_t i = 0; i < page->blocks.n; i++)
    for (size_t k = 0; k < store.n; k++)
      if (page->blocks.v[i].anchor_id == (int64_t)k + 1 || str_eq(page->blocks.v[i].uid, store.v[k].uid))
        learn(known, (int64_t)k + 1);
  for (size_t i = 0; i < page->listed.n; i++)
    learn(known, page->listed.v[i].id);
}

static void entries_of(struct mirror_entries *list) {
  for (size_t i = store.n; i-- > 0;)
    if (store.v[i].active)
      list_push(&a, list,
                (struct mirror_entry){.id = (int64_t)i + 1,
                                      .uid = store.v[i].uid,
                                      .text = store.v[i].text,
                                      .section = store.v[i].section,
                                      .task = str_is(str_from(mirror_section_title(store.v[i].section)), "Tasks"),
                                      .blocker = store.v[i].blocker,
                                      .author = str_from(store.v[i].by)});
}

static int of_section(const struct mirror_block *b) {
  return b->section == MIRROR_SECTION_NONE ? mirror_section_find(STR("Facts")) : b->section;
}

struct outcome {
  size_t actions, refused;
  struct mirror_ids removed;
  struct mirror_counts counts;
};

/* Does what the sync operation does, with a gate that refuses texts with the word. */
static struct str sync_with(struct str text, const char *refuse, const struct mirror_options *o, struct outcome *ret) {
  struct mirror_page page;
  struct mirror_knowns known = {0};
  struct mirror_entries entries = {0};
  *ret = (struct outcome){0};
  mirror_parse(&a, text, &page);
  learn_all(&page, &known);
  mirror_compare(&a, &page, &known, &ret->removed);
  for (size_t i = 0; i < ret->removed.n; i++)
    mem_of(ret->removed.v[i])->active = false;
  ret->actions = ret->removed.n;
  for (size_t i = 0; i < page.blocks.n; i++) {
    struct mirror_block *b = &page.blocks.v[i];
    if (b->kind != MIRROR_BULLET || (b->fate != MIRROR_ADD && b->fate != MIRROR_EDIT && b->fate != MIRROR_CLASH))
      continue;
    ret->actions++;
    if (b->fate == MIRROR_CLASH)
      mirror_hold(&a, b, MIRROR_CONFLICT, STR("both changed"));
    else if (refuse && str_find(b->text, str_from(refuse), 0) != SIZE_MAX) {
      ret->refused++;
      mirror_hold(&a, b, MIRROR_REFUSED, STR("not -- this --> one"));
    } else if (b->fate == MIRROR_EDIT && mem_of(b->id)->active)
      b->id = replace(b->id, of_section(b), b->text);
    else
      b->id = keep(of_section(b), b->text);
  }
  entries_of(&entries);
  return mirror_render(&a, &page, &entries, o, &ret->counts);
}

static struct str sync(struct str text) {
  struct outcome ignored;
  return sync_with(text, NULL, &options, &ignored);
}

static bool has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

static struct str swap(struct str text, const char *from, const char *to) {
  size_t at = str_find(text, str_from(from), 0);
  if (at == SIZE_MAX)
    FAIL("'%s' is not in\n%.*s", from, STR_ARG(text));
  return arena_printf(&a, "%.*s%s%.*s", STR_ARG(str_slice(text, 0, at)), to,
                      STR_ARG(str_slice(text, at + strlen(from), text.n)));
}

/* Removes the line that contains `part`. */
static struct str cut_line(struct str text, const char *part) {
  struct str rest = text, line;
  struct buf b = BUF(&a);
  bool found = false;
  while (str_line(&rest, &line)) {
    bool is = !found && has(line, part);
    found |= is;
    if (!is)
      buf_addf(&b, "%.*s\n", STR_ARG(line));
  }
  CHECK(found);
  return buf_str(&b);
}

static int section(const char *title) {
  int s = mirror_section_find(str_from(title));
  CHECK(s != MIRROR_SECTION_NONE);
  return s;
}

/* ---- sections and texts ---- */

TEST(every_type_has_a_section) {
  for (size_t i = 0; i < types_count(); i++)
    CHECK(mirror_section_of(types_at(i)) != MIRROR_SECTION_NONE);
  for (size_t i = 0; i < mirror_section_count(); i++)
    CHECK(mirror_section_type((int)i) != NULL);
  CHECK_STR(str_from(mirror_section_type(section("key decisions:"))->name), "decision");
  CHECK_STR(str_from(mirror_section_type(section("User Preferences"))->name), "feedback");
  CHECK_STR(str_from(mirror_section_type(section("Project Context"))->name), "context");
  CHECK_INT(mirror_section_find(STR("Shopping")), MIRROR_SECTION_NONE);
}

TEST(texts_in_canonical_form) {
  CHECK_STR(mirror_canonical(&a, STR("  one  \r\n\r\ntwo\t\rthree \n\n")), "one\n\ntwo\nthree");
  CHECK_STR(mirror_canonical(&a, STR(" \n ")), "");
  CHECK_STR(mirror_text(&a, STR("Port"), STR("It is 5433.")), "**Port**: It is 5433.");
  CHECK_STR(mirror_text(&a, STR("It is 5433"), STR("It is 5433.")), "It is 5433.");
}

/* ---- rendering ---- */

TEST(a_new_page) {
  keep(section("Facts"), STR("The port is 5433."));
  keep(section("Key Decisions"), STR("Sessions live in Redis."));
  keep(section("Tasks"), STR("Write the guide."));
  struct str page = sync(STR(""));
  CHECK(str_starts(page, STR("# Memory of web\n\n<!-- ")));
  CHECK(has(page, "\n## Key Decisions\n\n- Sessions live in Redis. <!--#2."));
  CHECK(has(page, "\n## Tasks\n\n- [ ] Write the guide. <!--#"));
  CHECK(str_find(page, STR("## Key Decisions"), 0) < str_find(page, STR("## Facts"), 0));
  CHECK(str_eq(sync(page), page));
}

TEST(the_read_only_page_has_no_anchors) {
  struct mirror_options plain = options;
  struct mirror_page none = {0};
  struct mirror_entries entries = {0};
  struct mirror_counts counts;
  plain.plain = true;
  keep(section("Rules"), STR("Never deploy on Friday.\nNot even small things."));
  entries_of(&entries);
  CHECK_STR(mirror_render(&a, &none, &entries, &plain, &counts),
            "# Memory of web\n\n## Rules\n\n- Never deploy on Friday. [1]\n  Not even small things.\n");
  entries.v[0].author = STR("bot");
  CHECK(has(mirror_render(&a, &none, &entries, &plain, &counts),
            "- Never deploy on Friday. [1] (written by bot, not by a person)\n  Not even small things.\n"));
}

/* ---- authors ---- */

#define BY_BOT "<!-- cairn:by -->(written by bot, not by a person)"

TEST(the_author_of_an_agents_blocker_is_shown_and_not_read) {
  int64_t id = keep_blocker(section("Rules"), STR("Never deploy on Friday.\nNot even small things."), "bot");
  keep_blocker(section("Rules"), STR("Never print secrets."), NULL);
  struct str page = sync(STR(""));
  CHECK(has(page, "- Never deploy on Friday. " BY_BOT " <!--#1."));
  CHECK(has(page, "- Never print secrets. <!--#2."));
  struct outcome o;
  CHECK(str_eq(sync_with(page, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
  /* A page that was written before has no author. */
  CHECK(str_eq(sync_with(swap(page, BY_BOT " ", ""), NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
  static const char *const friday = "Friday. " BY_BOT;
  static const struct {
    const char *edit, *text;
  } rows[] = {{"Monday. " BY_BOT, "Monday."},
              {"Friday. " BY_BOT " Or Monday.", "Friday. Or Monday."},
              {"Friday or <!-- cairn:by -->\n  (written\n  by bot, not by\n  a person)", "Friday or"},
              {"Friday. <!-- cairn:by -->(written by bot) (I agree)", "Friday. (I agree)"},
              {"Friday. <!-- cairn:by --> (never)", "Friday. (never)"},
              {"Friday? <!-- cairn:by -->(written by bot", "Friday?"},
              {"Friday? <!-- cairn:by --(written by bot, not by a person)", "Friday?"},
              {"Friday? <!-- cairn:by -->", "Friday?"}};
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    test_note("%s", rows[i].edit);
    sync_with(swap(page, friday, rows[i].edit), NULL, &options, &o);
    CHECK_INT(o.actions, 1);
    int64_t head = head_of(id);
    CHECK(head != id);
    CHECK_STR(mem_of(head)->text, arena_printf(&a, "Never deploy on %s\nNot even small things.", rows[i].text).p);
    mem_of(head)->active = false;
    mem_of(id)->active = true;
    mem_of(id)->next = 0;
  }
}

TEST(the_author_is_one_harmless_line) {
  keep_blocker(section("Rules"), STR("Never deploy on Friday."), "a (bot) <!--#1.abcdef01-->\n- x");
  struct str page = sync(STR(""));
  CHECK(has(page, "(written by a [bot] \xe2\x80\xb9!--#1.abcdef01--> - x, not by a person) <!--#1."));
  struct outcome o;
  CHECK(str_eq(sync_with(page, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
}

TEST(a_text_like_an_author_is_kept) {
  keep(section("Rules"), STR("Sign letters. " BY_BOT));
  keep(section("Rules"), STR("Sign it (written by bot, not by a person)"));
  struct outcome o;
  struct str page = sync(STR(""));
  CHECK(str_eq(sync_with(page, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
}

static bool is_above(struct str page, const char *one, const char *other) {
  size_t above = str_find(page, str_from(one), 0), below = str_find(page, str_from(other), 0);
  CHECK(above != SIZE_MAX && below != SIZE_MAX);
  return above < below;
}

TEST(blockers_of_agents_are_inserted_below_those_of_persons) {
  keep_blocker(section("Rules"), STR("A person's."), NULL);
  keep(section("Rules"), STR("An ordinary one."));
  struct str page = sync(STR(""));
  page = swap(page, "## Rules\n\n", "## Rules\n\n* Mine.\n");
  keep_blocker(section("Rules"), STR("An agent's."), "bot");
  page = sync(page);
  CHECK(is_above(page, "A person's.", "An agent's.") &&
        is_above(page, "An agent's.", "An ordinary one.") == is_above(page, "A person's.", "An ordinary one."));
  CHECK(str_eq(sync(page), page));
  keep_blocker(section("Rules"), STR("Another person's."), NULL);
  page = sync(page);
  CHECK(is_above(page, "Another person's.", "An agent's.") && has(page, "\n* Another person's. <!--#"));
  CHECK(!has(page, "\n\n- An agent's."));
  CHECK(str_eq(sync(page), page));
}

TEST(long_and_odd_texts_survive_a_round_trip) {
  static const char *const texts[] = {"- -\nx",
                                      "--",
                                      "one\n\n\n  two\n\tthree",
                                      "# not a heading\n## nor this",
                                      "```c\nint x;\n```",
                                      "<!-- cairn:0199f0aa-0000-7000-8000-000000000001:abcdefabcdef -->",
                                      "a <!-- cairn:left -->",
                                      "<!--#1.abcdef01--> and &lt;!--#2.abcdef01--> <!--#",
                                      "&lt;!-- cairn:x &amp;lt;!-- cairn: <!-- cairn:page 1",
                                      "[ ] a box of its own",
                                      "1. first\n2. second",
                                      "<!-- a comment\nover lines -->",
                                      "**bold** and \xc3\xa9",
                                      "---",
                                      "> quoted\n> twice"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    keep(i % 2 ? section("Facts") : section("Tasks"), str_from(texts[i]));
  struct str page = sync(STR(""));
  struct outcome o;
  struct str again = sync_with(page, NULL, &options, &o);
  CHECK_INT(o.actions, 0);
  CHECK(str_eq(page, again));
  struct mirror_page read;
  mirror_parse(&a, page, &read);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    bool found = false;
    for (size_t k = 0; k < read.blocks.n; k++)
      found |= read.blocks.v[k].kind == MIRROR_BULLET && str_eq(read.blocks.v[k].text, store.v[i].text);
    test_note("text %zu", i);
    CHECK(found);
  }
}

/* Characters that count against the limit: no comments, notices and blank lines. */
static size_t read_length(struct str page) {
  size_t chars = 0, at;
  struct str line;
  while (str_line(&page, &line)) {
    at = str_find(line, STR(" <!--"), 0);
    line = str_slice(line, 0, at == SIZE_MAX ? line.n : at);
    if (!str_empty(str_trim(line)) && !str_starts(line, STR("<!--")) && !str_starts(line, STR("*Left out")))
      chars += utf8_length(line) + 1;
  }
  return chars;
}

TEST(memories_that_do_not_fit_are_counted_and_not_removed) {
  struct mirror_options small = options;
  struct outcome o;
  small.max_chars = 2000;
  for (int i = 0; i < 50; i++)
    keep(section("Facts"), arena_printf(&a, "Fact number %d is as long as this sentence is, and no longer.", i));
  struct str page = sync_with(STR(""), NULL, &small, &o);
  CHECK(read_length(page) <= 2000 && read_length(page) > 2000 - 70);
  CHECK(o.counts.shown > 3 && o.counts.left_out == 50 - o.counts.shown);
  CHECK(has(page, arena_printf(&a, "*Left out: %zu more", o.counts.left_out).p));
  CHECK(has(page, "Fact number 49 ") && !has(page, "Fact number 0 "));
  struct str again = sync_with(page, NULL, &small, &o);
  CHECK_INT(o.actions, 0);
  CHECK(str_eq(page, again));
}

TEST(a_page_of_the_user_that_is_within_the_limit_stays_whole) {
  struct mirror_options exact = options;
  struct buf b = BUF(&a);
  struct outcome o;
  enum { BULLETS = 60 };
  buf_adds(&b, "# Agent Memory\n\nWhat we know.\n\n## Key Decisions\n");
  for (int i = 0; i < BULLETS; i++)
    buf_addf(&b, "- The service of customer %d moves to rack %d\n", i, i * 3);
  exact.max_chars = utf8_length(buf_str(&b));
  struct str page = sync_with(buf_str(&b), NULL, &exact, &o);
  CHECK_INT(o.counts.left_out, 0);
  for (int i = 0; i < BULLETS; i++)
    CHECK(has(page, arena_printf(&a, "- The service of customer %d moves to rack %d <!--#", i, i * 3).p));
  CHECK(str_eq(sync_with(page, NULL, &exact, &o), page));
  exact.max_chars = read_length(page) - 1;
  sync_with(page, NULL, &exact, &o);
  CHECK_INT(o.counts.left_out, 1);
  CHECK_INT(o.actions, 0);
}

TEST(a_plain_page_is_within_the_limit_as_a_whole) {
  struct mirror_options plain = options;
  struct mirror_counts counts;
  struct mirror_entries entries = {0};
  struct mirror_page none = {0};
  plain.plain = true;
  plain.max_chars = 2000;
  for (int i = 0; i < 50; i++)
    keep(section(i % 2 ? "Facts" : "Ideas"), arena_printf(&a, "Text number %d has\n\na blank line in it.", i));
  entries_of(&entries);
  CHECK(utf8_length(mirror_render(&a, &none, &entries, &plain, &counts)) <= 2000);
  CHECK(counts.shown > 20 && counts.left_out == 50 - counts.shown);
}

/* ---- edits of the user ---- */

TEST(added_changed_removed_moved) {
  int64_t port = keep(section("Facts"), STR("The port is 5433.")), gone = keep(section("Facts"), STR("Old news."));
  int64_t redis = keep(section("Facts"), STR("Sessions live in Redis."));
  struct str page = sync(STR("# Mine\n\nMy own words.\n\n## Key Decisions\n\n## Facts\n"));
  page = swap(page, "5433", "5434");
  page = cut_line(page, "Old news.");
  struct mirror_page read;
  mirror_parse(&a, page, &read);
  struct str moved = STR_NONE;
  for (size_t i = 0; i < read.blocks.n; i++)
    if (has(read.blocks.v[i].text, "Redis"))
      moved = read.blocks.v[i].raw;
  page = cut_line(page, "Redis");
  page = swap(page, "## Key Decisions\n", arena_printf(&a, "## Key Decisions\n\n* We use C.\n%.*s", STR_ARG(moved)).p);
  struct outcome o;
  struct str now = sync_with(page, NULL, &options, &o);
  CHECK_INT(o.actions, 4);
  CHECK_STR(mem_of(head_of(port))->text, "The port is 5434.");
  CHECK(!mem_of(gone)->active && !mem_of(gone)->next);
  CHECK_INT(mem_of(head_of(redis))->section, section("Key Decisions"));
  CHECK(has(now, "# Mine\n\nMy own words.\n\n## Key Decisions\n\n* We use C. <!--#"));
  CHECK(!has(now, "Old news"));
  CHECK(str_eq(sync(now), now));
}

TEST(the_store_changes_and_the_page_follows) {
  int64_t one = keep(section("Facts"), STR("One.")), two = keep(section("Facts"), STR("Two."));
  struct str page = sync(STR(""));
  replace(one, section("Facts"), STR("One, corrected."));
  mem_of(two)->active = false;
  keep(section("Facts"), STR("Three."));
  struct outcome o;
  page = sync_with(page, NULL, &options, &o);
  CHECK_INT(o.actions, 0);
  CHECK(has(page, "- Three. <") && has(page, "- One, corrected. <") && !has(page, "Two.") && !has(page, "- One. "));
}

TEST(both_sides_changed) {
  int64_t port = keep(section("Facts"), STR("The port is 5433."));
  struct str page = swap(sync(STR("")), "5433", "6000");
  int64_t theirs = replace(port, section("Facts"), STR("The port is 7000."));
  struct outcome o;
  page = sync_with(page, NULL, &options, &o);
  CHECK(has(page, "- The port is 6000. <") && has(page, "<!-- cairn:conflict ") && has(page, "- The port is 7000. <"));
  CHECK(mem_of(theirs)->active);
  struct str again = sync_with(page, NULL, &options, &o);
  CHECK_INT(o.actions, 0);
  CHECK(str_eq(page, again));
  /* The user changes it again. */
  struct str insists = sync_with(swap(page, "6000.", "6000!"), NULL, &options, &o);
  CHECK_INT(o.actions, 1);
  CHECK_STR(mem_of(head_of(theirs))->text, "The port is 6000!");
  CHECK(!has(insists, "is 7000") && !has(insists, "conflict"));
}

TEST(a_conflict_is_settled_by_removing_one_line) {
  for (int mine = 0; mine < 2; mine++) {
    int64_t port = keep(section("Facts"), arena_printf(&a, "Port %d is 5433.", mine));
    struct str page = swap(sync(STR("")), "5433", "6000");
    int64_t theirs = replace(port, section("Facts"), arena_printf(&a, "Port %d is 7000.", mine));
    page = sync(page);
    if (mine) {
      page = cut_line(page, "is 7000. <");
    } else {
      page = cut_line(page, "is 6000. <");
      page = cut_line(page, "cairn:conflict");
    }
    page = sync(page);
    CHECK(!has(page, "conflict"));
    CHECK(has(mem_of(head_of(theirs))->text, mine ? "6000" : "7000"));
    CHECK(mem_of(head_of(theirs))->active);
    mem_of(head_of(theirs))->active = false;
  }
}

TEST(a_refused_edit_stays_and_is_tried_when_it_changes) {
  keep(section("Facts"), STR("The port is 5433."));
  struct outcome o;
  struct str page = swap(sync(STR("")), "5433", "secret");
  page = swap(page, "- The", "- a secret, too\n- The");
  page = sync_with(page, "secret", &options, &o);
  CHECK_INT(o.refused, 2);
  CHECK(has(page, "- The port is secret. <!--#1."));
  CHECK(has(page, "- a secret, too\n  <!-- cairn:refused "));
  CHECK(has(page, " not - - this - -> one -->\n"));
  CHECK(!has(page, "5433"));
  struct str again = sync_with(page, "secret", &options, &o);
  CHECK_INT(o.actions, 0);
  CHECK(str_eq(again, page));
  page = sync_with(swap(page, "port is secret", "port is 1"), "secret", &options, &o);
  CHECK_INT(o.actions, 1);
  CHECK_STR(mem_of(head_of(1))->text, "The port is 1.");
  /* Removing the refused line removes nothing else. */
  page = sync_with(cut_line(cut_line(page, "a secret, too"), "cairn:refused"), "secret", &options, &o);
  CHECK_INT(o.actions, 0);
  CHECK(!has(page, "secret"));
}

TEST(a_page_that_was_cut_off_removes_nothing) {
  for (int i = 0; i < 5; i++)
    keep(section("Facts"), arena_printf(&a, "Fact %d.", i));
  struct str page = sync(STR(""));
  struct outcome o;
  for (size_t n = 0; n < page.n - 5; n += 7) {
    test_note("cut at %zu", n);
    size_t before = store.n;
    struct str text = str_slice(page, 0, n);
    if (n && ((unsigned char)page.p[n] & 0xc0) == 0x80)
      continue;
    sync_with(text, "Fact", &options, &o);
    CHECK_INT(o.removed.n, 0);
    CHECK_INT(store.n >= before, true);
  }
  /* An unclosed fence above everything does not remove anything either. */
  sync_with(swap(page, "## Facts\n", "```\n## Facts\n"), NULL, &options, &o);
  CHECK_INT(o.removed.n, 0);
}

/* The page with anchors as 0.1.0 wrote them. */
static struct str in_old_form(struct str page) {
  struct buf b = BUF(&a);
  size_t pos = 0;
  for (size_t at; (at = str_find(page, STR("<!--#"), pos)) != SIZE_MAX;) {
    size_t end = str_find(page, STR("-->"), at);
    int64_t id = 0;
    CHECK(str_int64(str_slice(page, at + 5, str_find(page, STR("."), at)), &id));
    struct str hash = mirror_hash(&a, mem_of(id)->text);
    buf_addf(&b, "%.*s<!-- cairn:%.*s:%.*s -->", STR_ARG(str_slice(page, pos, at)), STR_ARG(mem_of(id)->uid),
             STR_ARG(hash));
    pos = end + 3;
  }
  buf_add(&b, str_slice(page, pos, page.n));
  return buf_str(&b);
}

TEST(anchors_of_the_old_form_are_understood_and_shortened) {
  keep(section("Facts"), STR("One."));
  keep(section("Facts"), STR("Two.\nIn two lines."));
  keep(section("Facts"), STR("Three."));
  keep(section("Tasks"), STR("Four."));
  struct str page = sync(STR("")), old = in_old_form(page);
  CHECK(has(old, "<!-- cairn:0199f0aa-0000-7000-8000-000000000002:") && !has(old, "<!--#"));
  struct outcome o;
  CHECK(str_eq(sync_with(old, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
  /* Edits, removals and refused lines in the old form count as before. */
  struct str edited = swap(cut_line(swap(old, "- One.", "- Uno."), "- Three."), "- Two.", "- Two, a secret.");
  struct str now = sync_with(edited, "secret", &options, &o);
  CHECK_INT(o.removed.n, 1);
  CHECK_INT(o.removed.v[0], 3);
  CHECK_INT(o.refused, 1);
  CHECK_INT(head_of(1), 5);
  CHECK_STR(mem_of(5)->text, "Uno.");
  CHECK(!has(now, "0199f0aa"));
  CHECK(has(now, "- Two, a secret. <!--#2.") && has(now, "- Uno. <!--#5."));
  CHECK(str_eq(sync_with(now, "secret", &options, &o), now));
  CHECK_INT(o.actions, 0);
}

TEST(an_anchor_where_the_page_was_cut_off_never_becomes_text) {
  keep_blocker(section("Rules"), STR("First things."), "bot");
  keep(section("Facts"), STR("Second things."));
  struct str page = sync(STR("")), forms[] = {page, in_old_form(page)};
  for (size_t f = 0; f < ARRAY_LEN(forms); f++)
    for (size_t n = 0; n < forms[f].n; n++) {
      struct mirror_page read;
      mirror_parse(&a, str_slice(forms[f], 0, n), &read);
      for (size_t i = 0; i < read.blocks.n; i++) {
        struct str text = read.blocks.v[i].text;
        if (read.blocks.v[i].kind == MIRROR_BULLET && !str_starts(STR("First things."), text) &&
            !str_starts(STR("Second things."), text))
          FAIL("cut at %zu: '%.*s'", n, STR_ARG(text));
      }
    }
}

TEST(a_damaged_anchor_never_becomes_text) {
  static const struct {
    const char *bullet, *text;
  } rows[] = {
      {"- One. <!-- cairn:01a1e21c-b734-7307\n- Two.\n", "One."},
      {"- One. <!-- cairn:01a1e21c-b734-7307 -->\n", "One."},
      {"- One. <!--#12.20eb\n", "One."},
      {"- One. <!--#12-->\n", "One."},
      {"- One. <!--#\n", "One."},
      {"- One. <!-- cairn:01a1e\n  <!-- cairn:refused 638fee445196 no -->\n", "One."},
      {"- One.\n  <!-- cairn:refused 638fee and why\n", "One."},
      {"- One. <!-- cairn:01a1e and two\n", "One. and two"},
      {"- One. <!-- cairn:is a program -->\n", "One. <!-- cairn:is a program -->"},
      {"- One. <!--#hash tag-->\n", "One. <!--#hash tag-->"},
      {"- One. " BY_BOT "\n", "One."},
      {"- One. <!-- cairn:by\n- Two.\n", "One."},
      {"- One. <!-- cairn:by --\n- Two.\n", "One."},
      {"- One. <!-- cairn:by -->(writ", "One."},
      {"- One. <!-- cairn:bystander -->\n", "One. <!-- cairn:bystander -->"},
      {"- Is 1 <", "Is 1 <"},
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    struct mirror_page read;
    mirror_parse(&a, str_from(rows[i].bullet), &read);
    CHECK_STR(read.blocks.v[0].text, rows[i].text);
  }
}

/* Far more than a linear scan takes, far less than a quadratic one. */
TEST(damaged_anchors_are_read_in_linear_time) {
  static const char *const pieces[] = {"a", "<!--#", "<!-- cairn:", "<!--#12 ", "<!-- cairn:by -->(written "};
  for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
    struct buf page = BUF(&a);
    struct mirror_page read;
    buf_adds(&page, "- One. <!--#");
    while (page.n < 2000000)
      buf_adds(&page, pieces[i]);
    double start = test_cpu_seconds();
    mirror_parse(&a, buf_str(&page), &read);
    if (test_cpu_seconds() - start > 3.0 * test_slowness())
      test_fail(__FILE__, __LINE__, "%.2f s for a page of: %s", test_cpu_seconds() - start, pieces[i]);
    CHECK_STR(read.blocks.v[0].text, "One.");
  }
}

TEST(an_anchor_that_lost_either_end_never_becomes_text) {
  keep(section("Facts"), STR("One."));
  keep_blocker(section("Facts"), STR("Two.\nIn two lines."), "bot");
  struct str page = sync(STR("")), forms[] = {page, in_old_form(page)}, bare = swap(page, BY_BOT " ", "");
  for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
    size_t from = str_find(forms[f], STR(") <!--"), str_find(forms[f], STR("- Two."), 0)) + 2;
    size_t to = str_find(forms[f], STR("-->"), from) + 3;
    for (size_t n = 1; n < to - from; n++)
      for (int end = 0; end < 2; end++) {
        size_t cut = end ? to - n : from;
        struct outcome o;
        struct str text =
            arena_printf(&a, "%.*s%.*s", (int)cut, forms[f].p, STR_ARG(str_slice(forms[f], cut + n, forms[f].n)));
        test_note("form %zu, %zu bytes at the %s", f, n, end ? "end" : "beginning");
        CHECK(str_eq(sync_with(text, NULL, &options, &o), page));
        CHECK(o.actions == 0 && store.n == 2);
      }
  }
  /* The text has changed, too. */
  struct outcome o;
  sync_with(swap(bare, "Two. <!--#", "Two things. "), NULL, &options, &o);
  CHECK(o.actions == 1 && store.n == 3 && mem_of(2)->next == 3);
  CHECK_STR(mem_of(3)->text, "Two things.\nIn two lines.");
}

TEST(an_anchor_that_lost_one_byte_never_becomes_text) {
  keep(section("Facts"), STR("One."));
  keep(section("Facts"), STR("Friday"));
  keep(section("Facts"), STR("Two.\nIn two lines."));
  struct str page = sync(STR("")), forms[] = {page, in_old_form(page)};
  static const char *const bullets[] = {"- Friday", "- Two."};
  for (size_t f = 0; f < ARRAY_LEN(forms); f++)
    for (size_t i = 0; i < ARRAY_LEN(bullets); i++) {
      size_t from = str_find(forms[f], STR("<!--"), str_find(forms[f], str_from(bullets[i]), 0));
      size_t to = str_find(forms[f], STR("-->"), from) + 3;
      for (size_t at = from; at < to; at++) {
        struct outcome o;
        struct str text =
            arena_printf(&a, "%.*s%.*s", (int)at, forms[f].p, STR_ARG(str_slice(forms[f], at + 1, forms[f].n)));
        test_note("form %zu, %s without byte %zu", f, bullets[i], at - from);
        CHECK(str_eq(sync_with(text, NULL, &options, &o), page));
        CHECK(o.actions == 0 && store.n == 3);
      }
    }
  /* The text has changed, too. */
  struct outcome o;
  struct str text = swap(swap(page, "- Friday <!--#", "- Saturday <!-#"), "- One. <!--#", "- Uno. <!--");
  sync_with(text, NULL, &options, &o);
  CHECK(o.actions == 2 && store.n == 5);
  CHECK_STR(mem_of(head_of(1))->text, "Uno.");
  CHECK_STR(mem_of(head_of(2))->text, "Saturday");
}

TEST(comments_arrows_and_numbers_stay_text) {
  static const char *const texts[] = {"See #3 -> and a --> b",
                                      "A <!-- note --> of the user",
                                      "Ends in <!-",
                                      "Ends in <!-- and a -> b",
                                      "Step #3.69ea0d97->",
                                      "<!-#3 is a typo->",
                                      "A <!--- dashed ---> note",
                                      "From 1f-> to 2f->",
                                      "#3.69ea0d97-->",
                                      "<!- #3.69ea0d97 --> or so",
                                      "Is 1 <! 2",
                                      "List -> #4 <!--"};
  struct buf bullets = BUF(&a);
  keep(section("Facts"), STR("One."));
  buf_adds(&bullets, "## Facts\n\n");
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    buf_addf(&bullets, "- %s\n", texts[i]);
  struct outcome o;
  struct str page = sync_with(swap(sync(STR("")), "## Facts\n\n", buf_str(&bullets).p), NULL, &options, &o);
  CHECK_INT(o.actions, ARRAY_LEN(texts));
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    CHECK_STR(mem_of((int64_t)i + 2)->text, texts[i]);
  CHECK(str_eq(sync_with(page, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
}

TEST(text_that_looks_like_the_end_of_an_anchor_stays) {
  keep(section("Facts"), STR("The arrow is -->"));
  keep(section("Facts"), STR("Send it to port 80"));
  struct str page = sync(STR(""));
  CHECK(str_eq(sync(page), page));
  struct outcome o;
  sync_with(swap(page, "## Facts\n\n", "## Facts\n\n- Send it to port 80 -->\n- From a to -->\n- 1f-->\n"), NULL,
            &options, &o);
  CHECK_INT(o.actions, 3);
  CHECK_STR(mem_of(3)->text, "Send it to port 80 -->");
  CHECK_STR(mem_of(4)->text, "From a to -->");
  CHECK_STR(mem_of(5)->text, "1f-->");
}

TEST(an_anchor_with_the_id_of_another_memory_is_ignored) {
  keep(section("Facts"), STR("One."));
  struct outcome o;
  sync_with(STR("## Facts\n\n- A page of another store. <!--#1.00000000-->\n"), NULL, &options, &o);
  CHECK_INT(o.actions, 1);
  CHECK(mem_of(1)->active && store.n == 2);
  CHECK_STR(mem_of(2)->text, "A page of another store.");
}

TEST(a_restored_line_is_stored_again) {
  int64_t one = keep(section("Facts"), STR("One."));
  keep(section("Facts"), STR("Two."));
  struct str page = sync(STR("")), line = STR_NONE;
  struct mirror_page read;
  mirror_parse(&a, page, &read);
  for (size_t i = 0; i < read.blocks.n; i++)
    if (str_is(read.blocks.v[i].text, "One."))
      line = read.blocks.v[i].raw;
  struct outcome o;
  struct str without = sync_with(cut_line(page, "- One."), NULL, &options, &o);
  CHECK_INT(o.removed.n, 1);
  CHECK(!mem_of(one)->active);
  struct str back = sync(swap(without, "- Two.", arena_printf(&a, "%.*s- Two.", STR_ARG(line)).p));
  CHECK(has(back, "- One. <") && store.n == 3 && mem_of(3)->active);
  /* Opening a comment above it removes it, removing the comment restores it. */
  struct str hidden = sync(swap(back, "- One.", "<!-- \n- One."));
  CHECK(has(hidden, "<!-- \n- One. <") && !mem_of(3)->active);
  struct str again = sync(swap(hidden, "<!-- \n", ""));
  CHECK(has(again, "- One. <") && store.n == 4 && mem_of(4)->active);
}

TEST(a_bullet_without_its_anchor_is_matched_by_its_text) {
  keep(section("Facts"), STR("One."));
  struct str page = sync(STR(""));
  size_t at = str_find(page, STR("- One. <"), 0), end = str_find(page, STR("-->"), at);
  struct str bare =
      arena_printf(&a, "%.*s- One.%.*s", STR_ARG(str_slice(page, 0, at)), STR_ARG(str_slice(page, end + 3, page.n)));
  struct outcome o;
  CHECK(str_eq(sync_with(bare, NULL, &options, &o), page));
  CHECK_INT(o.actions, 0);
}

TEST(a_copy_that_was_changed_is_a_new_text) {
  keep(section("Facts"), STR("One."));
  struct str page = sync(STR(""));
  struct str raw = STR_NONE;
  struct mirror_page read;
  mirror_parse(&a, page, &read);
  for (size_t i = 0; i < read.blocks.n; i++)
    if (read.blocks.v[i].kind == MIRROR_BULLET)
      raw = read.blocks.v[i].raw;
  struct str copy = swap(raw, "One.", "Uno.");
  page = swap(page, "- One.", arena_printf(&a, "%.*s%.*s- One.", STR_ARG(copy), STR_ARG(raw)).p);
  struct outcome o;
  page = sync_with(page, NULL, &options, &o);
  CHECK_INT(o.actions, 1);
  CHECK(mem_of(1)->active && store.n == 2 && mem_of(2)->active);
  CHECK(has(page, "- Uno. <") && has(page, "- One. <"));
}

TEST(a_page_of_another_store_is_new_here) {
  keep(section("Facts"), STR("One."));
  struct str page = sync(STR(""));
  store.n = 0;
  struct mirror_page read;
  mirror_parse(&a, page, &read);
  CHECK_STR(read.owner, "default/web");
  struct mirror_knowns none = {0};
  struct mirror_ids removed = {0};
  mirror_compare(&a, &read, &none, &removed);
  CHECK_INT(removed.n, 0);
  for (size_t i = 0; i < read.blocks.n; i++)
    CHECK(read.blocks.v[i].kind != MIRROR_BULLET || read.blocks.v[i].fate == MIRROR_ADD);
}

TEST(text_of_the_user_is_preserved) {
  struct str text = STR("---\ntitle: x\n- no bullet\n---\n\nWords.\n\n```\n- code\n```\n<!--\n- hidden\n-->\n\n"
                        "## Conventions\n- tabs\n  and more\nlazy\n\n1. first\n2) second\n\n* * *\n-\n\n| a | b |\n");
  struct outcome o;
  struct str page = sync_with(text, NULL, &options, &o);
  CHECK_INT(o.actions, 3);
  CHECK_STR(mem_of(1)->text, "tabs\nand more\nlazy");
  CHECK_STR(mem_of(2)->text, "first");
  CHECK_STR(mem_of(3)->text, "second");
  CHECK(str_starts(page, STR("---\ntitle: x\n- no bullet\n---\n\nWords.\n\n```\n- code\n```\n<!--\n- hidden\n-->\n\n"
                             "## Conventions\n- tabs <!--#")));
  CHECK(has(page, "\n\n* * *\n-\n\n| a | b |\n\n<!-- cairn:page default/web"));
  CHECK(str_eq(sync(page), page));
}

/* ---- random edits ---- */

static uint64_t seed;

static size_t dice(size_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (size_t)(seed % n);
}

static int words;

static struct str new_words(void) {
  static const char *const shapes[] = {"w%d.",    "w%d: `a - b`", "w%d <!-- x -->",
                                       "[ ] w%d", "w%d\n  more",  "**w%d**",
                                       "- w%d",   "w%d never",    "w%d & &lt;!-- cairn:y"};
  struct str s = arena_printf(&a, "%s", shapes[dice(ARRAY_LEN(shapes))]);
  return swap(s, "w%d", arena_printf(&a, "w%dw", ++words).p);
}

static void store_moves(void) {
  for (size_t n = dice(4); n > 0; n--) {
    int64_t id = store.n ? (int64_t)dice(store.n) + 1 : 0;
    size_t what = dice(4);
    if (what < 2 || !id || !mem_of(id)->active)
      keep_blocker((int)dice(mirror_section_count()), new_words(), dice(3) ? NULL : "bot");
    else if (what == 2)
      replace(id, mem_of(id)->section, new_words());
    else
      mem_of(id)->active = false;
  }
}

/* Changes a few lines of the page, as an editor would. */
static struct str person_moves(struct str page) {
  for (size_t n = dice(5); n > 0; n--) {
    LIST(struct str) lines = {0};
    struct str rest = page, line;
    while (str_line(&rest, &line))
      list_push(&a, &lines, line);
    size_t at = lines.n ? dice(lines.n) : 0, to = lines.n ? dice(lines.n) : 0, what = dice(8);
    if ((what == 1 || what == 2) && lines.n && has(lines.v[at], "<!-- cairn:page"))
      continue; /* users do not move that into the middle of a bullet */
    struct buf b = BUF(&a);
    struct str fresh = new_words(), moved = lines.n ? lines.v[at] : STR("");
    for (size_t i = 0; i <= lines.n; i++) {
      if (i == to && what == 0)
        buf_addf(&b, "- %.*s\n", STR_ARG(fresh));
      if (i == to && what == 1)
        buf_addf(&b, "%.*s\n", STR_ARG(moved)); /* copied */
      if (i == to && what == 2)
        buf_addf(&b, "%.*s\n", STR_ARG(moved));
      if (i == to && what == 3)
        buf_addf(&b, "\nProse %.*s\n\n", STR_ARG(fresh));
      if (i == to && what == 4)
        buf_addf(&b, "## %s\n", mirror_section_title((int)dice(mirror_section_count())));
      if (i == lines.n || (i == at && (what == 2 || what == 5)))
        continue; /* moved away, or removed */
      line = lines.v[i];
      if (i == at && what == 6 && str_starts(line, STR("- ")))
        buf_addf(&b, "- %.*s%.*s\n", STR_ARG(fresh), STR_ARG(str_slice(line, 1, line.n)));
      else if (i == at && what == 7)
        buf_addf(
            &b, "%.*s\n",
            STR_ARG(str_slice(
                line, 0, str_find(line, STR(" <!--#"), 0) == SIZE_MAX ? line.n : str_find(line, STR(" <!--#"), 0))));
      else
        buf_addf(&b, "%.*s\n", STR_ARG(line));
    }
    page = buf_str(&b);
  }
  return page;
}

static bool stored(struct str word) {
  for (size_t i = 0; i < store.n; i++)
    if (str_find(store.v[i].text, word, 0) != SIZE_MAX)
      return true;
  return false;
}

/* Every word that was on the page is on the page or in the store. */
static void check_words(struct str before, struct str after) {
  for (int i = 1; i <= words; i++) {
    struct str word = arena_printf(&a, "w%dw", i);
    if (str_find(before, word, 0) != SIZE_MAX && str_find(after, word, 0) == SIZE_MAX && !stored(word))
      FAIL("%.*s was lost; before:\n%.*s\nafter:\n%.*s", STR_ARG(word), STR_ARG(before), STR_ARG(after));
  }
}

/* No memory was removed whose anchor and text are still on the page. */
static void check_removed(struct str before, const struct mirror_ids *removed) {
  struct mirror_page page;
  mirror_parse(&a, before, &page);
  for (size_t i = 0; i < removed->n; i++)
    for (size_t k = 0; k < page.blocks.n; k++) {
      const struct mirror_block *b = &page.blocks.v[k];
      CHECK(b->kind != MIRROR_BULLET || !str_eq(b->uid, mem_of(removed->v[i])->uid) || str_empty(b->text) ||
            b->note == MIRROR_CONFLICT);
    }
}

TEST(random_edits_on_both_sides_lose_no_line, .seconds = 60, .slow = true) {
  for (uint64_t run = 1; run <= 500; run++) {
    seed = run * UINT64_C(0x9e3779b97f4a7c15);
    store.n = store.cap = 0;
    store.v = NULL;
    words = 0;
    arena_release(&a);
    struct str page = STR("");
    struct mirror_options o = options;
    o.max_chars = run % 3 ? 50000 : 1500;
    for (int round = 0; round < 12; round++) {
      test_note("run %d, round %d", (int)run, round);
      struct outcome out;
      page = person_moves(page);
      store_moves();
      struct str before = page;
      page = sync_with(before, "never", &o, &out);
      check_words(before, page);
      check_removed(before, &out.removed);
      struct str once = page;
      page = sync_with(page, "never", &o, &out);
      check_words(once, page);
      /* A line in conflict learns only in the next sync what this one did to the other text. */
      for (int more = 0; more < 3 && str_find(once, STR("cairn:conflict"), 0) != SIZE_MAX; more++) {
        once = page;
        page = sync_with(page, "never", &o, &out);
        check_words(once, page);
      }
      CHECK(!stored(STR("not by a person")));
      if (out.actions || !str_eq(once, page))
        FAIL("not stable (%zu actions); first:\n%.*s\nthen:\n%.*s", out.actions, STR_ARG(once), STR_ARG(page));
    }
  }
}
