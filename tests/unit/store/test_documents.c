/* test_documents.c: documents are written in groups and visible only to searches that include their corpus. */
#include "store/memories/documents.h"

#include "base/id.h"
#include "fixture.h"
#include "store/check.h"
#include "store/copy/transfer.h"
#include "store/memories/lifecycle.h"
#include "store/search/lexical.h"
#include "store/search/search_rows.h"
#include "store/vectors/indexes.h"
#include "store/vectors/vectors.h"
#include "transcript/store/neighbours.h"

static struct fixture f;

static struct txn begin(const char *project) {
  struct txn txn = fixture_begin(&f);
  txn.project = str_from(project);
  return txn;
}

static struct document doc(const char *ref, const char *text) {
  return (struct document){
      .ref = str_from(ref), .type = STR("fact"), .text = str_from(text), .line = 3, .confidence = 0.8, .at = f.now};
}

static struct document_counts put(enum corpus corpus, const char *project, const char *path, struct document *v,
                                  size_t n, bool append) {
  struct documents list = {v, n, n};
  struct document_group group = {.path = str_from(path), .hash = STR("h1"), .size = 10, .changed_at = 7};
  struct document_counts c = {0};
  struct txn txn = begin(project);
  CHECK_OK((append ? documents_append : documents_replace)(&txn, &f.arena, corpus, &group, &list, &c, &f.err), &f.err);
  fixture_commit(&f, &txn);
  return c;
}

#define COUNTS(c, a, ch, s, r)                                                                                         \
  do {                                                                                                                 \
    struct document_counts got = (c);                                                                                  \
    CHECK_INT(got.added, a);                                                                                           \
    CHECK_INT(got.changed, ch);                                                                                        \
    CHECK_INT(got.same, s);                                                                                            \
    CHECK_INT(got.removed, r);                                                                                         \
  } while (0)

static int64_t number(const char *sql) {
  int64_t n = -1;
  CHECK_OK(db_int(store_db(f.store), &n, NULL, &f.err, sql, NULL), &f.err);
  return n;
}

static struct lexical_hits find(const char *project, unsigned corpora, const char *query) {
  struct scope scope = f.scope;
  struct filter filter = {0};
  struct lexical_hits hits = {0};
  scope.project = str_from(project);
  scope.all_projects = false;
  scope.corpora = corpora;
  struct chunk_query q = {.scope = &scope, .filter = &filter, .text = str_from(query), .limit = 200};
  CHECK_OK(lexical_search(f.store, &q, &f.arena, &hits, &f.err), &f.err);
  return hits;
}

static struct str headline_of(int64_t id) {
  struct memory m;
  bool found = false;
  CHECK_OK(memory_by_id(f.store, STR("default"), id, &f.arena, &m, &found, &f.err), &f.err);
  CHECK(found);
  return m.headline;
}

TEST(replacing_a_group_keeps_unchanged_documents) {
  f = fixture_new();
  struct document v[] = {doc("a", "Alpha uses port 5433"), doc("b", "Beta keeps a queue"), doc("c", "Gamma is slow")};
  COUNTS(put(CORPUS_ITEMS, "p", "notes/a.md", v, 3, false), 3, 0, 0, 0);
  int64_t first = number("SELECT min(memory_id) FROM document");
  COUNTS(put(CORPUS_ITEMS, "p", "notes/a.md", v, 3, false), 0, 0, 3, 0);
  CHECK_INT(number("SELECT min(memory_id) FROM document"), first);
  v[0].line = 9; /* it has moved in its file */
  v[1].text = STR("Beta keeps two queues");
  COUNTS(put(CORPUS_ITEMS, "p", "notes/a.md", v, 2, false), 0, 1, 1, 1);
  CHECK_INT(number("SELECT min(memory_id) FROM document"), first);
  CHECK_INT(number("SELECT line FROM document WHERE ref = 'a'"), 9);
  CHECK_INT(number("SELECT count(*) FROM document"), 2);
  CHECK_INT(number("SELECT count(*) FROM memory WHERE corpus = 'items'"), 2);
  CHECK_INT(number("SELECT count(*) FROM chunk"), 2);
  CHECK_INT(number("SELECT count(*) FROM event"), 0);
  COUNTS(put(CORPUS_ITEMS, "p", "notes/a.md", NULL, 0, false), 0, 0, 0, 2);
  CHECK_INT(number("SELECT count(*) FROM memory"), 0);
  CHECK_INT(number("SELECT count(*) FROM document_group"), 1); /* the empty file is recorded */
  fixture_close(&f);
}

/* Numbered chunks of a file are renumbered when text is inserted before them. */
TEST(a_text_under_another_ref_keeps_its_row) {
  f = fixture_new();
  struct document v[] = {doc("0", "The first piece"), doc("1", "The second piece")};
  put(CORPUS_SOURCES, "p", "a.c", v, 2, false);
  int64_t first = number("SELECT memory_id FROM document WHERE ref = '0'");
  struct document w[] = {doc("0", "A new beginning"), doc("1", "The first piece"), doc("2", "The second piece")};
  COUNTS(put(CORPUS_SOURCES, "p", "a.c", w, 3, false), 1, 0, 2, 0);
  CHECK_INT(number("SELECT memory_id FROM document WHERE ref = '1'"), first);
  CHECK_INT(number("SELECT count(*) FROM memory"), 3);
  struct document x[] = {doc("1", "The second piece"), doc("2", "The first piece")};
  COUNTS(put(CORPUS_SOURCES, "p", "a.c", x, 2, false), 0, 0, 2, 1);
  CHECK_INT(number("SELECT memory_id FROM document WHERE ref = '2'"), first);
  fixture_close(&f);
}

TEST(appending_keeps_existing_refs) {
  f = fixture_new();
  struct document v[] = {doc("m1", "Hello there"), doc("m2", "General greeting"), doc("m1", "Hello again")};
  COUNTS(put(CORPUS_SESSIONS, "p", "s1", v, 3, true), 2, 0, 0, 0); /* the first of two with the same ref */
  struct document w[] = {doc("m2", "Something else"), doc("m3", "A third message")};
  COUNTS(put(CORPUS_SESSIONS, "p", "s1", w, 2, true), 1, 0, 1, 0);
  CHECK_INT(find("p", 1U << CORPUS_SESSIONS, "greeting").n, 1);
  CHECK_INT(find("p", 1U << CORPUS_SESSIONS, "else").n, 0);
  CHECK_INT(find("p", 1U << CORPUS_SESSIONS, "again").n, 0);
  fixture_close(&f);
}

TEST(groups_and_roots_of_a_project) {
  f = fixture_new();
  struct document v[] = {doc("a", "Alpha"), doc("b", "Beta")};
  put(CORPUS_SOURCES, "p", "z.md", v, 1, false);
  put(CORPUS_SOURCES, "p", "a.md", v, 2, false);
  put(CORPUS_SOURCES, "q", "q.md", v, 1, false);
  put(CORPUS_ITEMS, "p", "i.md", v, 1, false);
  struct document_groups groups = {0};
  CHECK_OK(documents_groups(f.store, STR("default"), STR("p"), CORPUS_SOURCES, &f.arena, &groups, &f.err), &f.err);
  CHECK_INT(groups.n, 2);
  CHECK_STR(groups.v[0].path, "a.md");
  CHECK_STR(groups.v[0].hash, "h1");
  CHECK_INT(groups.v[0].size, 10);
  CHECK_INT(groups.v[0].changed_at, 7);
  CHECK_STR(groups.v[1].path, "z.md");
  struct document_counts c = {0};
  struct txn txn = begin("p");
  CHECK_OK(documents_remove(&txn, &f.arena, CORPUS_SOURCES, STR("a.md"), &c, &f.err), &f.err);
  CHECK_OK(documents_remove(&txn, &f.arena, CORPUS_SOURCES, STR("q.md"), &c, &f.err), &f.err); /* of another project */
  CHECK_OK(source_root_add(&txn, STR("/srv/docs"), &f.err), &f.err);
  CHECK_OK(source_root_add(&txn, STR("/srv/docs"), &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(c.removed, 2);
  CHECK_INT(number("SELECT count(*) FROM memory"), 3);
  struct source_roots roots = {0};
  CHECK_OK(source_roots(f.store, STR("default"), STR("p"), &f.arena, &roots, &f.err), &f.err);
  CHECK_INT(roots.n, 1);
  CHECK_STR(roots.v[0].path, "/srv/docs");
  bool there = true;
  txn = begin("p");
  CHECK_OK(source_root_remove(&txn, STR("/srv/docs"), &there, &f.err), &f.err);
  CHECK(there);
  CHECK_OK(source_root_remove(&txn, STR("/srv/docs"), &there, &f.err), &f.err);
  CHECK(!there);
  fixture_commit(&f, &txn);
  fixture_close(&f);
}

TEST(places_of_documents) {
  f = fixture_new();
  struct document v[] = {doc("item-1", "Alpha uses port 5433")};
  put(CORPUS_ITEMS, "p", "notes/a.md", v, 1, false);
  struct txn txn = begin("p");
  struct memory m = fixture_fact(&f, &txn, STR("p"), STR("Staging uses port 5434"), NULL);
  fixture_commit(&f, &txn);
  int64_t ids[] = {m.id, number("SELECT memory_id FROM document"), 99999};
  struct document_place places[3];
  CHECK_OK(documents_places(f.store, STR("default"), ids, 3, &f.arena, places, &f.err), &f.err);
  CHECK_INT(places[0].corpus, CORPUS_MEMORY);
  CHECK_INT(places[1].corpus, CORPUS_ITEMS);
  CHECK_STR(places[1].path, "notes/a.md");
  CHECK_STR(places[1].ref, "item-1");
  CHECK_INT(places[1].line, 3);
  CHECK(places[1].confidence == 0.8);
  CHECK_INT(places[2].corpus, CORPUS_MEMORY);
  fixture_close(&f);
}

TEST(a_search_finds_only_the_corpora_it_includes) {
  f = fixture_new();
  struct document v[] = {doc("a", "The gateway listens on port 5433")};
  put(CORPUS_ITEMS, "p", "i.md", v, 1, false);
  put(CORPUS_SOURCES, "p", "s.md", v, 1, false);
  put(CORPUS_SOURCES, "other", "o.md", v, 1, false);
  struct txn txn = begin("p");
  struct memory m = fixture_fact(&f, &txn, STR("p"), STR("The gateway listens on port 5434"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = find("p", 0, "gateway port");
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].memory_id, m.id);
  CHECK_INT(find("p", 1U << CORPUS_MEMORY, "gateway port").n, 1);
  CHECK_INT(find("p", 1U << CORPUS_ITEMS, "gateway port").n, 1);
  CHECK_INT(find("p", 1U << CORPUS_ITEMS | 1U << CORPUS_SOURCES, "gateway port").n, 2);
  CHECK_INT(find("p", 1U << CORPUS_MEMORY | 1U << CORPUS_SOURCES, "gateway port").n, 2);
  CHECK_INT(find("p", 0xf, "gateway port").n, 3);
  CHECK_INT(find("", 0xf, "gateway port").n, 0);
  CHECK_INT(find("p", 1U << CORPUS_SOURCES, "s.md").n, 1); /* by the name of its file */
  fixture_close(&f);
}

/* Many texts of another corpus in the same project have the same words: the corpus term separates them. */
TEST(memories_are_found_among_many_documents) {
  enum { MANY = 2500 };
  f = fixture_new();
  struct document *v = arena_array(&f.arena, struct document, MANY);
  for (size_t i = 0; i < MANY; i++) {
    struct str ref = arena_printf(&f.arena, "%zu", i);
    v[i] = doc(ref.p, "");
    v[i].text = arena_printf(&f.arena, "The gateway listens on port %zu", i);
  }
  COUNTS(put(CORPUS_SOURCES, "p", "big.md", v, MANY, false), MANY, 0, 0, 0);
  struct txn txn = begin("p");
  struct memory m = fixture_fact(&f, &txn, STR("p"), STR("The gateway listens on the port of staging"), NULL);
  struct memory g = fixture_fact(&f, &txn, STR(""), STR("The gateway of everybody"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = find("p", 0, "gateway port");
  CHECK_INT(hits.n, 2);
  CHECK_INT(hits.v[0].memory_id, m.id);
  CHECK_INT(hits.v[1].memory_id, g.id);
  struct scope all = {.team = STR("default"), .all_projects = true, .now = f.now};
  struct filter filter = {0};
  struct lexical_hits found = {0};
  struct chunk_query q = {.scope = &all, .filter = &filter, .text = STR("gateway port"), .limit = 50};
  CHECK_OK(lexical_search(f.store, &q, &f.arena, &found, &f.err), &f.err);
  CHECK_INT(found.n, 2);
  all.corpora = 1U << CORPUS_SOURCES;
  found = (struct lexical_hits){0};
  q.text = STR("gateway 1234");
  CHECK_OK(lexical_search(f.store, &q, &f.arena, &found, &f.err), &f.err);
  CHECK_INT(found.n, 50);
  CHECK_STR(headline_of(found.v[0].memory_id), "The gateway listens on port 1234");
  bool ok = false;
  CHECK_OK(lexical_check(f.store, &ok, &f.err), &f.err);
  CHECK(ok);
  fixture_close(&f);
}

static void vector_at(double part, int8_t *v) {
  memset(v, 0, 256);
  v[0] = (int8_t)(100 * (1 - part));
  v[1] = (int8_t)(100 * part);
}

/* Scatters a vector around its angle, as embeddings do. Many equal vectors would be islands in an HNSW graph, and a
 * search that starts on one may not reach the others. */
static void scatter(unsigned seed, int8_t *v) {
  for (int i = 2; i < 256; i++) {
    seed = seed * 1103515245U + 12345U;
    v[i] = (int8_t)((int)(seed >> 16) % 13 - 6);
  }
}

static struct vec_hits near_to(unsigned corpora, const int8_t *query) {
  struct vec_model model = {STR("default"), STR("test"), 256};
  struct scope scope = {.team = STR("default"), .project = STR("p"), .now = f.now, .corpora = corpora};
  struct filter filter = {0};
  struct vec_hits hits = {0};
  struct vec_health health;
  struct near_query near = {&scope, &filter, &model, query, 5};
  CHECK_OK(search_near(f.store, &near, &f.arena, &hits, &health, &f.err), &f.err);
  CHECK_INT(health.blocks + health.vectors, 0);
  return hits;
}

/* 2000 documents are nearer than any memory. The others overlap with the memories, so that the index's graph is
 * connected: a gap between the two groups makes two islands of it. */
TEST(vectors_of_documents_do_not_hide_memories, .seconds = 60) {
  enum { MEMORIES = 1200, DOCUMENTS = 2400 };
  struct vec_model model = {STR("default"), STR("test"), 256};
  int8_t v[256];
  int64_t chunk, faults = -1;
  f = fixture_new();
  struct document *d = arena_array(&f.arena, struct document, DOCUMENTS);
  for (int i = 0; i < DOCUMENTS; i++) {
    d[i] = doc(arena_printf(&f.arena, "%d", i).p, "");
    d[i].text = arena_printf(&f.arena, "Document %d", i);
  }
  struct txn txn = begin("p");
  CHECK_OK(vec_prepare(&txn, 256, &f.err), &f.err);
  CHECK_OK(lexical_hold(&txn, &f.err), &f.err);
  for (int i = 0; i < MEMORIES; i++) {
    fixture_fact(&f, &txn, STR("p"), arena_printf(&f.arena, "Memory %d", i), &chunk);
    vector_at(0.5 + 0.4 * i / (double)MEMORIES, v);
    scatter((unsigned)i, v);
    CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  }
  CHECK_OK(lexical_release(&txn, &f.err), &f.err);
  fixture_commit(&f, &txn);
  put(CORPUS_SOURCES, "p", "big.md", d, DOCUMENTS, false);
  LIST(int64_t) chunks = {0};
  struct rows r;
  db_query(store_db(f.store), &r, &f.err,
           "SELECT c.id FROM chunk c JOIN document d ON d.team = c.team AND d.memory_id = c.memory_id ORDER BY 1",
           NULL);
  while (rows_next(&r))
    list_push(&f.arena, &chunks, rows_int(&r, 0));
  CHECK_OK(rows_end(&r), &f.err);
  CHECK_INT(chunks.n, DOCUMENTS);
  txn = begin("p");
  for (size_t i = 0; i < chunks.n; i++) {
    vector_at(0.6 * (double)i / (double)DOCUMENTS, v);
    scatter((unsigned)(MEMORIES + i), v);
    CHECK_OK(vec_add(&txn, &model, chunks.v[i], v, &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK_INT(faults, 0);
  vector_at(0, v);
  struct vec_hits hits = near_to(0, v);
  CHECK_INT(hits.n, 5);
  for (size_t i = 0; i < hits.n; i++)
    CHECK_STR(headline_of(hits.v[i].memory_id), "A fact");
  hits = near_to(1U << CORPUS_SOURCES, v);
  CHECK_INT(hits.n, 5);
  CHECK(str_starts(headline_of(hits.v[0].memory_id), STR("Document ")));
  vector_at(0.9, v);
  CHECK_STR(headline_of(near_to(0xf, v).v[0].memory_id), "A fact");
  CHECK(!str_is(headline_of(near_to(1U << CORPUS_SOURCES, v).v[0].memory_id), "A fact"));
  fixture_close(&f);
}

static enum status count_visit(void *arg, struct memory *m, const struct notes *notes UNUSED) {
  ++*(int *)arg;
  CHECK_STR(m->corpus, "memory");
  return STATUS_OK;
}

TEST(nothing_else_sees_documents) {
  f = fixture_new();
  struct document v[] = {doc("a", "An old thing that nobody uses"), doc("b", "Do this one day")};
  v[0].at = v[1].at = 1000;
  v[1].type = STR("task");
  put(CORPUS_ITEMS, "p", "i.md", v, 2, false);
  struct scope scope = {.team = STR("default"), .project = STR("p"), .now = f.now};
  struct memories list = {0};
  struct filter filter = {0};
  int64_t n = -1;
  CHECK_OK(memory_list(f.store, &scope, &filter, &f.arena, &list, &f.err), &f.err);
  CHECK_INT(list.n, 0);
  CHECK_OK(memory_count(f.store, &scope, &filter, &f.arena, &n, &f.err), &f.err);
  CHECK_INT(n, 0);
  struct due_query due = {
      .team = STR("default"), .step = LIFE_EXPIRE, .before = INT64_MAX, .limit = 100, .asked = true};
  for (; due.step <= LIFE_STALE; due.step++)
    CHECK_OK(lifecycle_due(f.store, &due, &f.arena, &list, &f.err), &f.err);
  CHECK_INT(list.n, 0);
  struct prune_query prune = {&scope, INT64_MAX, 100, 100};
  CHECK_OK(prune_candidates(f.store, &prune, &f.arena, &list, &n, &f.err), &f.err);
  CHECK_INT(list.n, 0);
  CHECK_INT(n, 0);
  CHECK_OK(count_since(f.store, STR("default"), 0, &n, &f.err), &f.err);
  CHECK_INT(n, 0);
  int visited = 0;
  struct arena scratch;
  arena_init(&scratch);
  struct transfer t = {.store = f.store, .team = STR("default"), .scratch = &scratch, .err = &f.err};
  CHECK_OK(transfer_memories(&t, count_visit, &visited), &f.err);
  CHECK_OK(transfer_count(&t, &n), &f.err);
  CHECK_INT(visited, 0);
  CHECK_INT(n, 0);
  arena_release(&scratch);
  fixture_close(&f);
}

TEST(a_document_is_found_by_id_only_if_its_corpus_is_included) {
  f = fixture_new();
  struct document v[] = {doc("a", "Alpha uses port 5433")};
  put(CORPUS_ITEMS, "p", "notes/a.md", v, 1, false);
  struct scope scope = {.team = STR("default"), .project = STR("p"), .now = f.now};
  struct memory m;
  int64_t id = number("SELECT memory_id FROM document");
  struct str ref = arena_printf(&f.arena, "%lld", (long long)id);
  CHECK_INT(memory_find(f.store, &scope, ref, &f.arena, &m, &f.err), STATUS_CONFLICT);
  CHECK(strstr(f.err.message, "notes/a.md:3") != NULL);
  scope.corpora = 1U << CORPUS_MEMORY | 1U << CORPUS_ITEMS;
  CHECK_OK(memory_find(f.store, &scope, ref, &f.arena, &m, &f.err), &f.err);
  CHECK_INT(m.id, id);
  CHECK(memory_is_document(&m));
  fixture_close(&f);
}

/* Messages (documents) and entries (memories) of one session are not neighbours of each other. */
TEST(neighbours_are_of_the_same_corpus) {
  f = fixture_new();
  const char *type = type_of_sequence()->name;
  struct document v[] = {doc("1", "First message"), doc("2", "Second message"), doc("3", "Third message")};
  for (size_t i = 0; i < 3; i++) {
    v[i].type = str_from(type);
    v[i].session = STR("s1");
  }
  put(CORPUS_SESSIONS, "p", "s1", v, 2, true);
  struct txn txn = begin("p");
  fixture_fact(&f, &txn, STR("p"), STR("Between the two"), NULL);
  fixture_commit(&f, &txn);
  put(CORPUS_SESSIONS, "p", "s1", v, 3, true);
  put(CORPUS_SOURCES, "p", "s1", v, 3, true);
  struct scope scope = {.team = STR("default"), .project = STR("p"), .now = f.now, .corpora = 0xf};
  struct filter filter = {0};
  struct memory m = {.id = number("SELECT memory_id FROM document WHERE ref = '2' AND corpus = 'sessions'"),
                     .session = STR("s1"),
                     .project = STR("p"),
                     .corpus = STR("sessions")};
  struct neighbours near;
  CHECK_OK(transcript_around(f.store, &scope, &filter, &m, &f.arena, &near, &f.err), &f.err);
  CHECK_INT(near.before.memory_id, number("SELECT memory_id FROM document WHERE ref = '1' AND corpus = 'sessions'"));
  CHECK_INT(near.after.memory_id, number("SELECT memory_id FROM document WHERE ref = '3' AND corpus = 'sessions'"));
  struct str tail;
  struct memory new = {.team = STR("default"), .corpus = STR("memory"), .project = STR("p"), .session = STR("s1")};
  CHECK_OK(transcript_before(f.store, &new, &f.arena, &tail, &f.err), &f.err);
  CHECK(!tail.p);
  int64_t chunk = number("SELECT c.id FROM chunk c JOIN document d ON d.team = c.team AND d.memory_id = c.memory_id"
                         " WHERE d.ref = '2' AND d.corpus = 'sessions'");
  CHECK_OK(transcript_context(f.store, STR("default"), chunk, &f.arena, &tail, &f.err), &f.err);
  CHECK_STR(tail, "First message");
  fixture_close(&f);
}

/* Any text is stored or skipped; it never fails the run. */
TEST(odd_texts) {
  f = fixture_new();
  struct document v[] = {doc("blank", " \n\t "),
                         doc("bytes", ""),
                         doc("signs", "!!! --- ***"),
                         doc("long", ""),
                         doc("type", "Of a type that nobody knows"),
                         doc("rule", "Never do it")};
  v[1].text = (struct str){"bad \xff byte and \0 nul", 21};
  v[1].headline = (struct str){"a\0b \xfe", 5};
  v[3].headline =
      STR("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen");
  v[3].text = STR("Some text");
  v[4].type = STR("no-such-type");
  v[5].type = STR("guardrail");
  v[5].confidence = 17;
  v[5].line = -4;
  COUNTS(put(CORPUS_SOURCES, "p", "odd.md", v, ARRAY_LEN(v), false), 5, 0, 0, 0);
  COUNTS(put(CORPUS_SOURCES, "p", "odd.md", v, ARRAY_LEN(v), false), 0, 0, 5, 0);
  CHECK_INT(find("p", 1U << CORPUS_SOURCES, "nul").n, 1);
  struct txn txn = begin("p");
  struct document_counts c = {0};
  struct documents list = {0};
  struct document_group group = {.path = STR("")};
  CHECK_INT(documents_replace(&txn, &f.arena, CORPUS_SOURCES, &group, &list, &c, &f.err), STATUS_USAGE);
  fixture_commit(&f, &txn);
  fixture_close(&f);
}

/* The schema refuses inconsistent rows. */
TEST(the_schema_keeps_documents_and_memories_apart) {
  f = fixture_new();
  struct document v[] = {doc("a", "Alpha")};
  put(CORPUS_ITEMS, "p", "a.md", v, 1, false);
  struct txn txn = begin("p");
  struct memory m = fixture_fact(&f, &txn, STR("p"), STR("Staging uses port 5434"), NULL);
  fixture_commit(&f, &txn);
  fixture_close(&f);
  struct direct *d = direct_open(test_store("store.db"));
  CHECK(!direct_try(d, "UPDATE memory SET corpus = 'sources' WHERE corpus = 'items'"));
  CHECK(!direct_try(d, "UPDATE memory SET corpus = 'memory' WHERE corpus = 'items'"));
  char sql[300];
  snprintf(sql, sizeof(sql),
           "INSERT INTO document (memory_id, team, corpus, project, path, ref, line, confidence, hash) SELECT %lld,"
           " team, corpus, project, path, 'x', line, confidence, hash FROM document",
           (long long)m.id);
  CHECK(!direct_try(d, sql));
  CHECK_INT(direct_number(d, "SELECT count(*) FROM document"), 1);
  direct_do(d, "DELETE FROM chunk WHERE memory_id IN (SELECT memory_id FROM document)");
  direct_do(d, "DELETE FROM memory WHERE corpus = 'items'");
  CHECK_INT(direct_number(d, "SELECT count(*) FROM document"), 0);
  direct_close(d);
}

/* ---- lists of several corpora ---- */

static void add_of_kind(struct txn *txn, const char *project, const char *kind, const char *type, int64_t at) {
  char *uid = arena_alloc(&f.arena, UUID_SIZE);
  uuid7_new(at, uid);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = str_from(project),
                     .kind = str_from(kind),
                     .type = str_from(type),
                     .headline = STR("One of many"),
                     .body = str_from(uid),
                     .severity = strcmp(kind, "rule") == 0 ? STR("pattern") : STR_NONE,
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1.0,
                     .valid_from = at,
                     .created_at = at,
                     .updated_at = at,
                     .source = STR("test")};
  struct chunk_rows chunks = {0};
  CHECK_OK(memory_insert(txn, &f.arena, &m, &chunks, &f.err), &f.err);
}

static void fill_two_projects(void) {
  static const char *const kinds[][2] = {{"rule", "rule"}, {"fact", "fact"}, {"incident", "incident"}};
  struct txn txn = begin("web");
  for (int i = 0; i < 60; i++) /* many at the same moment */
    add_of_kind(&txn, i % 3 ? "web" : i % 2 ? "" : "shop", kinds[i % 7 % 3][0], kinds[i % 7 % 3][1], f.now + i % 5);
  fixture_commit(&f, &txn);
  for (int i = 0; i < 12; i++) {
    struct document d = doc("1", arena_printf(&f.arena, "Text number %d of a file", i).p);
    d.at = f.now + i % 5;
    put(i % 2 ? CORPUS_ITEMS : CORPUS_SOURCES, i % 3 ? "web" : "shop", arena_printf(&f.arena, "/f%d", i).p, &d, 1,
        false);
  }
}

/* The expected ids of a list in one string, from a separate query. */
static struct str wanted(const char *where) {
  struct buf b = BUF(&f.arena);
  struct rows r;
  struct sql q = SQL(&f.arena);
  sql_addf(&q, "/* all teams: a test */ SELECT id FROM memory WHERE %s ORDER BY created_at DESC, id DESC", where);
  db_query_sql(store_db(f.store), &r, &f.err, &q);
  while (rows_next(&r))
    buf_addf(&b, "%lld ", (long long)rows_int(&r, 0));
  CHECK_OK(rows_end(&r), &f.err);
  return buf_str(&b);
}

/* The same list, in pages of this size. */
static struct str in_pages(const struct scope *scope, int64_t size, bool by_offset) {
  struct buf b = BUF(&f.arena);
  struct filter filter = {.limit = size};
  for (;;) {
    struct memories page = {0};
    CHECK_OK(memory_list(f.store, scope, &filter, &f.arena, &page, &f.err), &f.err);
    CHECK(page.n <= (size_t)size);
    for (size_t i = 0; i < page.n; i++)
      buf_addf(&b, "%lld ", (long long)page.v[i].id);
    if (page.n < (size_t)size)
      return buf_str(&b);
    if (by_offset)
      filter.offset += size;
    else
      filter.after = (struct position){0, page.v[page.n - 1].created_at, page.v[page.n - 1].id};
  }
}

TEST(pages_of_several_corpora_are_one_list) {
  static const struct {
    unsigned corpora;
    bool own;
    const char *where;
  } cases[] = {
      {0, true, "project = 'web' AND corpus = 'memory'"},
      {0, false, "project IN ('web', '') AND corpus = 'memory'"},
      {1U << CORPUS_MEMORY | 1U << CORPUS_ITEMS, true, "project = 'web' AND corpus IN ('memory', 'items')"},
      {1U << CORPUS_MEMORY | 1U << CORPUS_ITEMS, false, "project IN ('web', '') AND corpus IN ('memory', 'items')"},
      {1U << CORPUS_ITEMS | 1U << CORPUS_SOURCES, true, "project = 'web' AND corpus IN ('items', 'sources')"},
      {(1U << CORPUS_COUNT) - 1, true, "project = 'web'"},
  };
  f = fixture_new();
  fill_two_projects();
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct scope scope = f.scope;
    struct filter filter = {0};
    int64_t count = 0;
    scope.now = f.now + 10;
    scope.project = STR("web");
    scope.all_projects = false;
    scope.own = cases[i].own;
    scope.corpora = cases[i].corpora;
    struct str want = wanted(cases[i].where);
    CHECK(want.n > 10);
    test_note("case %zu", i);
    for (int64_t size = 1; size <= 8; size += 1 + size / 3) {
      CHECK_STR(in_pages(&scope, size, false), want.p);
      CHECK_STR(in_pages(&scope, size, true), want.p);
    }
    CHECK_STR(in_pages(&scope, 5000, false), want.p);
    CHECK_OK(memory_count(f.store, &scope, &filter, &f.arena, &count, &f.err), &f.err);
    size_t ids = 0;
    for (size_t k = 0; k < want.n; k++)
      ids += want.p[k] == ' ';
    CHECK_INT(count, (int64_t)ids);
  }
  fixture_close(&f);
}
