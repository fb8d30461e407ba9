/* test_items.c: extraction of entities, claims, decisions, tasks and notes. */
#include "core/files/items.h"

#include "base/buf.h"
#include "support/harness.h"

/* A macro, because the checks of this repository refuse line comments. */
#define SLASHES "//"

/* "LINE TYPE TITLE" of each item, joined by '|'. */
static struct str list(struct arena *a, const char *file, const char *text, bool content) {
  struct items items;
  struct buf out = BUF(a);
  items_find(a, str_from(file), str_from(text), &items);
  for (size_t i = 0; i < items.n; i++)
    buf_addf(&out, "%s%lld %s %.*s", i ? "|" : "", (long long)items.v[i].line, item_type_names[items.v[i].type],
             STR_ARG(content ? items.v[i].content : items.v[i].title));
  return buf_str(&out);
}

static void check(const char *file, const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(list(&a, file, text, false), want);
  arena_release(&a);
}

static void check_content(const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(list(&a, "a.md", text, true), want);
  arena_release(&a);
}

static double confidence(const char *text) {
  struct arena a;
  struct items items;
  arena_init(&a);
  items_find(&a, STR("a.md"), str_from(text), &items);
  double c = items.n == 1 ? items.v[0].confidence : -1;
  arena_release(&a);
  return c;
}

TEST(markers_set_the_type) {
  check("a.md", "CLAIM: the cache is warm\n", "1 claim the cache is warm");
  check("a.md", "FACT: the cache is warm\n", "1 claim the cache is warm");
  check("a.md", "NOTE: the cache is warm\n", "1 note the cache is warm");
  check("a.md", "TODO: warm the cache\n", "1 task warm the cache");
  check("a.md", "FIXME: warm the cache\n", "1 task warm the cache");
  check("a.md", "TASK: warm the cache\n", "1 task warm the cache");
  check("a.md", "DECISION: keep the cache\n", "1 decision keep the cache");
  check("a.md", "DECIDED: keep the cache\n", "1 decision keep the cache");
  check("a.md", "AGREED: keep the cache\n", "1 decision keep the cache");
}

TEST(markers_are_found_in_many_places) {
  check("a.md", "x\n\n- TODO(ann): drop it\n> NOTE: look\n", "3 task drop it|4 note look");
  check("a.md", "**Decision:** one lock\n", "1 decision one lock");
  check("a.md", "**Decision**: one lock\n", "1 decision one lock");
  check("a.md", "<!-- TODO: drop it -->\n", "1 task drop it");
  check("a.md", "[TODO]: drop it\n\n[FIXME] mend it\n", "1 task drop it|3 task mend it");
  check("a.md", "Works so far. NOTE: not on arm.\n", "1 note not on arm");
  check("a.md", "> [!NOTE]\n> Look at the log.\n", "2 note Look at the log");
  check("a.c", "int a; " SLASHES " TODO drop it\n", "1 task drop it");
  check("a.c", "/** @todo drop it */\n", "1 task drop it");
}

TEST(text_similar_to_a_marker_is_ignored) {
  check("a.md", "The file TODO.md, TODOs and todo lists.\n", "");
  check("a.md", "Write `TODO: x` there.\n", "");
  check("a.md", "```\nTODO: x\n```\n", "");
  check("a.md", "text\n\n    TODO: x\n", "");
  check("a.md", "---\nnote: x\n---\n", "");
  check("a.md", "| TODO: x |\n", "");
  check("a.c", "char *s = \"TODO: x\";\n", "");
  check("a.json", "TODO: x\n", "");
  check("a.md", "note::x and std::note: y\n", "");
}

TEST(wrapped_lines_belong_to_the_item) {
  check_content("DECISION: one lock for each file, because two\nlocks were taken in the wrong order\n\nOther.\n",
                "1 decision one lock for each file, because two locks were taken in the wrong order");
  check_content("TODO: a\nTODO: b\n", "1 task a|2 task b");
  check("a.c", "/* TODO: handle the error of a\n * second close\n *\n * Not this. */\n",
        "1 task handle the error of a second close");
}

TEST(open_check_boxes_are_tasks) {
  check("a.md", "- [ ] write\n- [x] read\n* [ ] sing\n1. [ ] count\n", "1 task write|3 task sing|4 task count");
  CHECK_NEAR(confidence("- [ ] write\n"), 0.95, 1e-9);
}

TEST(headings_start_sections_of_items) {
  check("a.md", "# Key Decisions\n\n- Use one lock\n- Use two\n\nNo locks at all.\n",
        "3 decision Use one lock|4 decision Use two|6 decision No locks at all");
  check("a.md", "# 12. Use Fastify\n\n## Decision\n\nIt is faster.\n\nThe end.\n", "5 decision Use Fastify");
  check("a.md", "## Decision: Use Fastify\n\nIt is faster.\n", "1 decision Use Fastify");
  check_content("## Decision: Use Fastify\n\nIt is faster.\n", "1 decision It is faster.");
  check_content("## Decision: Use Fastify\n", "1 decision Use Fastify");
  check("a.md", "Decisions\n=========\n\n### One lock\n\nIt is faster.\n\nMore on that.\n\n# Other\n\nText.\n",
        "4 decision One lock");
  check("a.md", "Next steps:\n\n1. call\n2. write\n\nThen home.\n", "3 task call|4 task write");
  check("a.md", "## Tasks\n\nAs follows.\n\n- call\n  - at once\n", "5 task call - at once");
  check("a.md", "# Release Notes\n\n- faster\n", "");
  check("a.md", "## Glossary\n\n- **Shard**: a part\n- Router - sends\n", "3 entity Shard|4 entity Router");
}

TEST(a_section_ends_with_the_next_heading) {
  check("a.md", "## Tasks\n- call\n## Other\n- not this\n", "2 task call");
  check("a.md", "# A\n## Tasks\n- call\n### Later\n- write\n# B\n- not\n", "3 task call|5 task write");
}

TEST(sentences_state_decisions) {
  check("a.md", "All went well. We chose SQLite over files.\n", "1 decision We chose SQLite over files");
  check("a.md", "It was agreed that we ship.\n", "1 decision It was agreed that we ship");
  check("a.md", "They said that we decided nothing.\n", "");
}

TEST(sentences_state_definitions) {
  check("a.md", "The Gateway is a server in front of others.\n", "1 entity Gateway");
  check("a.md", "`fs_write` is the function that writes files.\n", "1 entity fs_write");
  check("a.md", "Model Context Protocol (MCP) is a protocol for tools.\n", "1 entity Model Context Protocol");
  check("a.md", "This is a server in front of others.\n", "");
  check("a.md", "There is a server in front of others.\n", "");
  check("a.md", "Is the Gateway a server in front?\n", "");
  check("a.md", "Nothing is a problem for us here.\n", "");
  check("a.md", "While JavaScript is a language for browsers, others exist.\n", "");
}

TEST(a_name_does_not_continue_on_the_next_line) {
  check("a.md", "We write to Kafka\nGrafana shows the lag.\n", "");
  check("a.md", "The queue is Kafka\nD\xc3\xa9\x63ision: we keep it.\n", "");
}

TEST(names_of_several_words_are_entities) {
  check("a.md", "Invoices go to Acme Holding every month.\n", "1 entity Acme Holding");
  check("a.md", "[Acme Holding]: https://acme.example\n", "");
  check("a.md", "See the [Acme Holding](https://acme.example) site.\n", "1 entity Acme Holding");
  check("a.c", "// Invoices go to Acme Holding every month.\n", "");
  check("a.c", "// Invoices go to Acme Holding.\nint a;\n// They come from Acme Holding.\n", "1 entity Acme Holding");
  check("a.c", "// Copyright Acme Holding.\n// Acme Holding wrote it under the Apache License of the Acme Holding.\n",
        "");
}

TEST(evidence_gives_confidence) {
  CHECK_NEAR(confidence("DECISION: x y\n"), 0.9, 1e-9);
  CHECK_NEAR(confidence("Decision: x y\n"), 0.8, 1e-9);
  CHECK_NEAR(confidence("So be it. DECISION: x y\n"), 0.7, 1e-9);
  CHECK_NEAR(confidence("# Decisions\n- x y\n"), 0.85, 1e-9);
  CHECK_NEAR(confidence("# Decision: x y\n"), 0.95, 1e-9);
  CHECK_NEAR(confidence("We chose x over y.\n"), 0.7, 1e-9);
  CHECK_NEAR(confidence("Invoices go to Acme Holding every month.\n"), 0.4, 1e-9);
}

TEST(nothing_is_found_twice) {
  check("a.md", "TODO: call Bob\n\nTODO:   Call  bob\n\nNOTE: call Bob\n", "1 task call Bob|5 note call Bob");
}

static struct str id_of(struct arena *a, const char *file, const char *text) {
  struct items items;
  char *out = arena_alloc(a, ITEM_ID_SIZE);
  items_find(a, str_from(file), str_from(text), &items);
  CHECK_INT(items.n, 1);
  item_id(a, str_from(file), &items.v[0], out);
  return str_from(out);
}

TEST(ids_depend_on_the_content_only) {
  struct arena a;
  arena_init(&a);
  struct str id = id_of(&a, "a.md", "TODO: call Bob\n");
  CHECK_INT(id.n, 21);
  CHECK(str_starts(id, STR("item_")));
  CHECK(str_eq(id, id_of(&a, "a.md", "Some text.\n\nTODO: Call  bob\n")));
  CHECK(!str_eq(id, id_of(&a, "b.md", "TODO: call Bob\n")));
  CHECK(!str_eq(id, id_of(&a, "a.md", "NOTE: call Bob\n")));
  CHECK(!str_eq(id, id_of(&a, "a.md", "TODO: call Eve\n")));
  /* An entity is identified by its name. */
  CHECK(str_eq(id_of(&a, "a.md", "The Gateway is a server in front of others.\n"),
               id_of(&a, "a.md", "The Gateway is the door to all the others.\n")));
  arena_release(&a);
}

TEST(a_file_has_a_limited_number_of_items) {
  struct arena a;
  struct items items;
  arena_init(&a);
  struct buf b = BUF(&a);
  for (int i = 0; i < ITEMS_MAX + 100; i++)
    buf_addf(&b, "TODO: call number %d\n", i);
  items_find(&a, STR("a.md"), buf_str(&b), &items);
  CHECK_INT(items.n, ITEMS_MAX);
  CHECK_STR(items.v[ITEMS_MAX - 1].title, "call number 999");
  arena_release(&a);
}
