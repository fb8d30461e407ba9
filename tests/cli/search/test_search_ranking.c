/* test_search_ranking.c: what determines the ranking: neighbours in a transcript, times and types in the query,
 * weights, diversity. Equal texts give an equal order. */
#include <unistd.h>

#include "support/cli.h"

static const char *const modes[] = {"hybrid", "keyword", "vector"};

/* Rank of a memory among the results, or -1. */
static int place(yyjson_val *r, int64_t id) { return jpos(r, "results", id); }

static double part(yyjson_val *r, int64_t id, const char *name) {
  int at = place(r, id);
  CHECK(at >= 0);
  return jnum(r, textf("results[%d].parts.%s", at, name));
}

/* Replaces the store with an empty one. */
static void fresh(void) { store_remove(cli_db()); }

static void fillers(int n) {
  static const char *const things[] = {"kettle", "lantern", "pillow", "hammer", "violin", "carpet", "needle", "bucket"};
  static const char *const places[] = {"attic", "cellar", "garage", "pantry", "porch"};
  for (int i = 0; i < n; i++)
    STORE(textf("A %s stands in the %s since year %d", things[i % 8], places[i % 5], 1900 + 7 * i));
}

/* ---- neighbours ---- */

#define QUESTION "Which colour did the committee choose for the ferry?"
#define ANSWER "They settled on turquoise."
#define ASKED "colour that the committee chose for the ferry"

static int64_t say(const char *session, const char *text) {
  return STORE("--type", "episodic", "--session", session, text);
}

TEST(a_question_raises_the_score_of_its_answer) {
  fillers(12);
  int64_t before = say("talk", "Good morning everybody!");
  int64_t question = say("talk", QUESTION);
  int64_t answer = say("talk", ANSWER);
  int64_t later = say("talk", "Lunch is at noon.");
  yyjson_val *r = OK("search", "--mode", "keyword", "--explain", ASKED);
  CHECK_INT(place(r, question), 0);
  CHECK_INT(place(r, answer), 1);
  CHECK_INT(place(r, before), 2);
  CHECK_INT(place(r, later), -1); /* neighbour scores are not passed on */
  double words = part(r, question, "words");
  CHECK(words > 0);
  CHECK_NEAR(part(r, question, "lent"), 0, 0);
  CHECK_NEAR(part(r, answer, "words"), 0, 0);
  CHECK_NEAR(part(r, answer, "lent"), 0.5 * words, 1e-5);
  CHECK_NEAR(part(r, before, "lent"), 0.3 * words, 1e-5);
  r = OK("search", "--explain", ASKED);
  CHECK_INT(place(r, question), 0);
  CHECK_INT(place(r, answer), 1);
  CHECK_STR(jstr(r, "results[1].source"), "hybrid");
  /* A vector search lends nothing. */
  r = OK("search", "--mode", "vector", "--explain", ASKED);
  CHECK_NEAR(part(r, question, "lent"), 0, 0);
}

/* Scores are lent only within a session, project and team, and only between sequential types. */
static void lent_to_nobody(int64_t other) {
  yyjson_val *r = OK("search", "--mode", "keyword", "--all-projects", ASKED);
  CHECK_INT(jint(r, "results[0].id"), 1);
  CHECK_INT(place(r, other), -1);
  CHECK_INT(jlen(r, "results"), 1);
}

TEST(another_session_gets_no_neighbour_score) {
  say("talk", QUESTION);
  lent_to_nobody(say("other", ANSWER));
}

TEST(another_project_gets_no_neighbour_score) {
  say("talk", QUESTION);
  lent_to_nobody(STORE("--type", "episodic", "--session", "talk", "--project", "elsewhere", ANSWER));
}

TEST(another_team_gets_no_neighbour_score) {
  say("talk", QUESTION);
  cli_set("CAIRN_TEAM=others");
  int64_t other = say("talk", ANSWER);
  CHECK_INT(jlen(OK("search", "--mode", "keyword", ASKED), "results"), 0); /* the other team does not see ours either */
  cli_set("CAIRN_TEAM");
  lent_to_nobody(other);
}

TEST(types_without_sequence_get_no_neighbour_score) {
  say("talk", QUESTION);
  lent_to_nobody(STORE("--type", "note", "--session", "talk", ANSWER));
}

TEST(a_note_adds_no_neighbour_score) {
  STORE("--type", "note", "--session", "talk", QUESTION);
  lent_to_nobody(say("talk", ANSWER));
}

TEST(no_neighbour_score_without_a_session) {
  STORE("--type", "episodic", QUESTION);
  lent_to_nobody(STORE("--type", "episodic", ANSWER));
}

TEST(forgotten_entries_have_no_neighbour_score) {
  say("talk", QUESTION);
  int64_t answer = say("talk", ANSWER), more = say("talk", "With a white stripe.");
  OK("forget", num(answer), "--reason", "wrong");
  yyjson_val *r = OK("search", "--mode", "keyword", ASKED);
  CHECK_INT(place(r, answer), -1);
  CHECK_INT(place(r, more), 1); /* adjacent to the question now */
  OK("forget", "1", "--reason", "wrong");
  CHECK_INT(jlen(OK("search", "--mode", "keyword", ASKED), "results"), 0);
}

TEST(filters_apply_to_neighbours) {
  say("talk", QUESTION);
  int64_t answer = STORE("--type", "meeting", "--session", "talk", ANSWER);
  CHECK_INT(place(OK("search", "--mode", "keyword", ASKED), answer), 1);
  CHECK_INT(place(OK("search", "--mode", "keyword", "--type", "episodic", ASKED), answer), -1);
  CHECK_INT(jlen(OK("search", "--mode", "keyword", "--type", "meeting", ASKED), "results"), 0); /* no lender */
}

/* ---- vectors of transcript entries ---- */

static const char *const talk[] = {"Shall the ferry be painted this spring?", "Only the hull, the deck can wait.",
                                   "Then order forty litres of primer.", "Done, it arrives on Thursday.",
                                   "And the name goes back on in gold letters."};

static const char *vectors(void) {
  return cstr(sql_string(textf("SELECT group_concat(v, ' ') FROM (SELECT c.memory_id || ':' || %s AS v FROM chunk c"
                               " JOIN vec_slot s ON s.chunk_id = c.id ORDER BY c.memory_id, c.seq, s.model) x",
                               on_postgres() ? "s.v::text" : "hex(s.vector)")));
}

static void talk_batch(const char *option) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    buf_addf(&b, "{\"text\":\"%s\",\"type\":\"episodic\"}\n", talk[i]);
  struct run r = cli_run(buf_str(&b), ARGS("remember", "--json", "--session", "talk", "--batch", "-", option));
  CHECK_INT(r.exit_code, 0);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), ARRAY_LEN(talk));
}

static void every_way_gives_the_same_vectors(const char *embedder, const char *other) {
  cli_set(textf("CAIRN_EMBEDDER=%s", embedder));
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    STORE("--type", "episodic", talk[i]);
  const char *alone = vectors();
  fresh();
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    say("talk", talk[i]);
  const char *single = vectors();
  CHECK(strcmp(alone, single) != 0); /* the context changes the vector */
  fresh();
  talk_batch(NULL);
  CHECK_STR(str_from(vectors()), single);
  fresh();
  talk_batch("--defer-embedding");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 0);
  OK("maintain");
  CHECK_STR(str_from(vectors()), single);
  /* Switch to another embedder and back. */
  cli_set(textf("CAIRN_EMBEDDER=%s", other));
  OK("reembed");
  OK("reembed", "--drop-previous");
  CHECK(strcmp(vectors(), single) != 0);
  cli_set(textf("CAIRN_EMBEDDER=%s", embedder));
  OK("reembed");
  OK("reembed", "--drop-previous");
  CHECK_STR(str_from(vectors()), single);
}

TEST(every_write_path_gives_an_entry_the_same_vector) { every_way_gives_the_same_vectors("hash-v1", "cairn-embed-v2"); }

TEST(every_write_path_gives_the_same_vector_with_the_built_in_embedder) {
  every_way_gives_the_same_vectors("cairn-embed-v2", "hash-v1");
}

/* The context of an entry is the previous entry of its session, whatever else the batch contains: other sessions,
 * notes, refused lines, and duplicates. */
TEST(a_mixed_batch_gives_the_vectors_of_single_writes) {
  static const char *const lines[] = {
      "{\"text\":\"Shall the ferry be painted this spring?\",\"type\":\"episodic\"}",
      "{\"text\":\"Rosemary is cheap at the market\",\"type\":\"note\"}",
      "{\"text\":\"123 456\",\"type\":\"episodic\"}", /* refused: no letter */
      "{\"text\":\"Only the hull, the deck can wait.\",\"type\":\"episodic\"}",
      "{\"text\":\"Shall the ferry be painted this spring?\",\"type\":\"episodic\"}", /* duplicate */
      "{\"text\":\"Then order forty litres of primer.\",\"type\":\"episodic\"}",
      "{\"text\":\"Done, it arrives on Thursday.\",\"type\":\"episodic\"}"};
  static struct arena a;
  struct buf all = BUF(&a);
  for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
    struct str line = arena_printf(&a, "%s\n", lines[i]);
    cli_run(line, ARGS("remember", "--session", "talk", "--batch", "-"));
    buf_add(&all, line);
  }
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 5);
  const char *single = vectors();
  fresh();
  cli_run(buf_str(&all), ARGS("remember", "--session", "talk", "--batch", "-"));
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 5);
  OK("maintain"); /* re-embeds entries whose context was not stored */
  CHECK_STR(str_from(vectors()), single);
}

/* Old conversations are archived; this does not change their vectors. */
TEST(archived_entries_keep_their_vectors) {
  OK("agent", "add", "bot", "--role", "admin");
  cli_set("CAIRN_AGENT=bot");
  talk_batch(NULL);
  cli_set("CAIRN_AGENT");
  const char *first = vectors();
  cli_day(200);
  CHECK_INT(jint(OK("maintain"), "archived"), ARRAY_LEN(talk));
  cli_set("CAIRN_EMBEDDER=cairn-embed-v2");
  OK("reembed");
  OK("reembed", "--drop-previous");
  cli_set("CAIRN_EMBEDDER=hash-v1");
  OK("reembed");
  OK("reembed", "--drop-previous");
  CHECK_STR(str_from(vectors()), first);
}

/* The vector of "OK." includes the message it answers. It must not count as a duplicate or contradiction of that
 * message, nor of an incident with the same text. */
#define MOVE "We will move the staging database to Postgres 17 on port 5433 next Tuesday, after the release."

TEST(a_short_answer_is_not_a_duplicate_of_its_question) {
  static const char *const short_ones[] = {"OK.", "Yes, agreed.", "Fine with me.", "No."};
  cli_set("CAIRN_EMBEDDER=cairn-embed-v2");
  STORE("--type", "incident", MOVE " That was the plan.");
  say("talk", MOVE);
  for (size_t i = 0; i < ARRAY_LEN(short_ones); i++) {
    test_note("%s", short_ones[i]);
    yyjson_val *r = OK("remember", "--type", "episodic", "--session", "talk", short_ones[i]);
    CHECK_STR(jstr(r, "action"), "stored");
    CHECK(!warning(r, "contradiction") && !warning(r, "near"));
  }
}

TEST(an_incident_is_not_a_duplicate_of_an_answer) {
  cli_set("CAIRN_EMBEDDER=cairn-embed-v2");
  int64_t plan = say("talk", MOVE);
  say("talk", "OK.");
  OK("forget", num(plan), "--reason", "test");
  yyjson_val *r = OK("remember", "--type", "incident", MOVE);
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(!warning(r, "contradiction") && !warning(r, "near"));
}

/* Excludes the SQLite checksum, which also covers the slot position. */
static const char *vector_of(int64_t chunk) {
  return cstr(
      sql_string(textf("SELECT %s FROM vec_slot WHERE chunk_id = %lld",
                       on_postgres() ? "v::text" : "hex(substr(vector, 1, length(vector) - 4))", (long long)chunk)));
}

/* The next entry was embedded with the end of the purged text, so its vector is a trace of it. */
TEST(purge_deletes_the_vector_of_the_next_entry) {
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    say("talk", talk[i]);
  int64_t aside = STORE("The lighthouse keeper collects stamps");
  const char *trace = vector_of(3), *kept = vector_of(4);
  OK("purge", "2", "--confirm");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot s JOIN chunk c ON c.id = s.chunk_id WHERE c.memory_id = 3"), 0);
  CHECK_STR(str_from(vector_of(4)), kept);
  CHECK_INT(sql_number(textf("SELECT count(*) FROM vec_slot WHERE chunk_id = %lld", (long long)aside)), 1);
  CHECK_HEALTHY();
  CHECK_INT(jint(OK("maintain"), "embedded"), 1);
  const char *anew = vector_of(3);
  CHECK(strcmp(anew, trace) != 0);
  /* Same vector as if the purged entry had never existed. */
  fresh();
  say("talk", talk[0]);
  say("talk", talk[2]);
  CHECK_STR(str_from(vector_of(2)), anew);
}

/* A pruned entry is still in the log and in the vector of the next entry. */
TEST(purge_of_a_pruned_entry_deletes_the_next_vector) {
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    STORE_AS_AGENT("--type", "episodic", "--session", "talk", "--project", "ship", talk[i]);
  cli_day(200);
  OK("maintain");
  sql_do("UPDATE memory SET access_count = 9 WHERE id <> 1");
  CHECK_INT(jlen(OK("prune", "--project", "ship", "--apply"), "pruned"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 4);
  OK("purge", "1", "--confirm");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot WHERE chunk_id = 2"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 3);
}

/* An entry that was forgotten for a while is not the context of entries written meanwhile. */
TEST(purge_looks_past_forgotten_entries) {
  say("talk", talk[0]);
  int64_t second = say("talk", talk[1]);
  yyjson_val *r = OK("forget", num(second), "--reason", "wrong");
  int64_t third = say("talk", talk[2]); /* its context is the first entry */
  say("talk", talk[3]);
  OK("undo", num(jint(r, "txn")));
  CHECK_STR(memory_state(second), "active");
  OK("purge", "1", "--confirm");
  CHECK_INT(sql_number(textf("SELECT count(*) FROM vec_slot WHERE chunk_id IN (%lld, %lld)", (long long)second,
                             (long long)third)),
            0);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 1);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 3);
}

/* ---- times and types in the query ---- */

TEST(a_time_in_the_query_boosts_memories_of_that_time) {
  cli_day(40); /* Friday, the 10th of April 2026 */
  int64_t old = STORE("--valid-from", "2026-01-14", "Deploy 41 of billing went out");
  int64_t older = STORE("--valid-from", "2025-12-03", "Deploy 37 of billing went out");
  int64_t week = STORE("--valid-from", "2026-04-01", "Deploy 58 of billing went out");
  yyjson_val *r = OK("search", "--mode", "keyword", "--explain", "what did we deploy");
  CHECK_INT(jlen(r, "results"), 3);
  CHECK_NEAR(part(r, week, "time"), 1, 0);
  CHECK(place(r, week) > place(r, old)); /* ties are ordered by id */
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    test_note("%s", modes[i]);
    r = OK("search", "--mode", modes[i], "--explain", "what did we deploy last week");
    CHECK_INT(jlen(r, "results"), 3); /* a boost, not a filter */
    CHECK_INT(place(r, week), 0);
    CHECK_NEAR(part(r, week, "time"), 1.3, 1e-6);
    CHECK_NEAR(part(r, old, "time"), 1, 0);
    CHECK_NEAR(part(r, older, "time"), 1, 0);
  }
  r = OK("search", "--mode", "keyword", "--explain", "which deploy was in December 2025");
  CHECK_INT(place(r, older), 0);
  CHECK_INT(jlen(r, "results"), 3);
}

static void type_preferred(const char *type, const char *plain, const char *asking) {
  fresh();
  int64_t other = STORE("--type", "idea", "Release 12 needs Maria and a checklist");
  int64_t wanted = STORE("--type", type, "Release 34 needs Maria and a checklist");
  yyjson_val *r = OK("search", "--mode", "keyword", "--explain", plain);
  CHECK_INT(place(r, other), 0);
  CHECK_INT(place(r, wanted), 1);
  CHECK_NEAR(part(r, wanted, "type"), 1, 0);
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    test_note("%s, %s", type, modes[i]);
    r = OK("search", "--mode", modes[i], "--explain", asking);
    if (strcmp(modes[i], "keyword") == 0) {
      CHECK_INT(place(r, wanted), 0);
      CHECK_INT(place(r, other), 1);
    }
    CHECK_NEAR(part(r, wanted, "type"), 1.1, 1e-6);
    CHECK_NEAR(part(r, other, "type"), 1, 0);
  }
}

TEST(type_words_in_the_query_boost_that_type) {
  type_preferred("decision", "release checklist", "decision release checklist");
  type_preferred("person", "needs release", "who needs release");
  type_preferred("procedural", "I release", "how do I release");
  type_preferred("lesson", "release checklist", "lessons learned: release checklist");
}

/* The boost is small: a much better match stays first. */
TEST(a_boosted_type_does_not_always_win) {
  int64_t good = STORE("--type", "fact", "The ferry was painted turquoise by the harbour committee");
  int64_t poor = STORE("--type", "decision", "Invoices of the harbour are printed on yellow paper in the evening");
  yyjson_val *r = OK("search", "decision: harbour committee painted ferry turquoise");
  CHECK_INT(place(r, good), 0);
  CHECK(place(r, poor) != 0);
}

/* ---- weights ---- */

/* fusion = (1 - w) * words + w * similarity, plus a little for named entities */
static void fused_by(yyjson_val *r, double w) {
  for (size_t i = 0; i < jlen(r, "results"); i++) {
    yyjson_val *p = jget(r, textf("results[%zu].parts", i));
    double words = jnum(p, "words") + jnum(p, "lent"), named = 0.02 * jnum(p, "named");
    CHECK_NEAR(jnum(p, "fusion"), (1 - w) * words + w * jnum(p, "similarity") + named, 3e-6);
    if (i)
      CHECK(jnum(r, textf("results[%zu].score", i)) <= jnum(r, textf("results[%zu].score", i - 1)));
  }
}

TEST(the_vector_weight_is_a_setting) {
  cli_set("CAIRN_EMBEDDER=cairn-embed-v2");
  /* One matches by words but not by meaning, the other by meaning but not by words. */
  int64_t words = STORE("The car park sign with the word repair fell into the river Price");
  int64_t meaning = STORE("Fixing the automobile costs 800 euros at the garage");
  const char *query = "price of the car repair";
  OK("config", "search.vector_weight", "0");
  yyjson_val *r = OK("search", "--explain", query);
  fused_by(r, 0);
  CHECK_INT(place(r, words), 0);
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  OK("config", "search.vector_weight", "0.7");
  fused_by(OK("search", "--explain", query), 0.7);
  OK("config", "search.vector_weight", "1");
  r = OK("search", "--explain", query);
  fused_by(r, 1);
  CHECK_INT(place(r, meaning), 0);
  static const char *const bad[] = {"-0.1", "1.01", "much", "", "nan", "inf", "0,5"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("'%s'", bad[i]);
    REFUSED("usage", "config", "--", "search.vector_weight", bad[i]);
  }
  CHECK_STR(jstr(OK("config", "search.vector_weight"), "value"), "1");
}

/* ---- diversity ---- */

TEST(near_copies_do_not_fill_the_results) {
  for (int i = 0; i < 5; i++)
    STORE(textf("Backup run %d of the customer database finished without errors", 100 + i));
  STORE("The customer database backup is copied to Oslo every night");
  STORE("Backup errors of the customer database page the night watch");
  STORE("A backup run of the customer database takes nine minutes");
  STORE("Nobody but Ines may restore the customer database from a backup");
  STORE("The customer database backup has been encrypted since the audit");
  yyjson_val *r = OK("search", "--limit", "5", "backup run of the customer database errors");
  CHECK_INT(jlen(r, "results"), 5);
  int copies = 0;
  for (int64_t id = 1; id <= 5; id++)
    copies += place(r, id) >= 0;
  CHECK(copies >= 1 && copies < 5);
  /* With enough room all of them are shown. */
  CHECK_INT(jlen(OK("search", "--limit", "10", "backup run of the customer database errors"), "results"), 10);
}

/* ---- determinism ---- */

static const char *const facts[] = {"The build machine has 64 cores and a loud fan",
                                    "Deploys happen on Tuesday after the standup",
                                    "Maria owns the billing service and its database",
                                    "The billing database runs on Postgres 17",
                                    "Staging listens on port 5433 behind the proxy",
                                    "The proxy drops idle connections after an hour",
                                    "Error E4711 means that the disk of the build machine is full",
                                    "Logs are kept for thirty days in the archive bucket",
                                    "The standup moved to half past nine"};

static const char *answers(void) {
  static const char *const queries[] = {"who owns billing",    "E4711",    "which port has staging", "build machine",
                                        "when is the standup", "database", "how long are logs kept"};
  static struct arena a;
  struct buf b = BUF(&a);
  for (size_t q = 0; q < ARRAY_LEN(queries); q++)
    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
      yyjson_val *r = OK("search", "--mode", modes[m], "--explain", queries[q]);
      CHECK(jlen(r, "results") > 0);
      for (size_t i = 0; i < jlen(r, "results"); i++)
        buf_addf(&b, "%lld %.6f %.6f %.6f, ", (long long)jint(r, textf("results[%zu].id", i)),
                 jnum(r, textf("results[%zu].score", i)), jnum(r, textf("results[%zu].parts.bm25", i)),
                 jnum(r, textf("results[%zu].parts.cosine", i)));
      buf_adds(&b, "\n");
    }
  return cstr(buf_str(&b));
}

static void same_however_stored(const char *embedder) {
  static struct arena a;
  cli_set(textf("CAIRN_EMBEDDER=%s", embedder));
  for (size_t i = 0; i < ARRAY_LEN(facts); i++)
    STORE(facts[i]);
  const char *first = answers();
  CHECK_STR(str_from(answers()), first);
  fresh();
  struct buf b = BUF(&a);
  for (size_t i = 0; i < ARRAY_LEN(facts); i++)
    buf_addf(&b, "{\"text\":\"%s\"}\n", facts[i]);
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-").exit_code, 0);
  CHECK_STR(str_from(answers()), first);
  fresh();
  for (size_t i = 0; i < ARRAY_LEN(facts); i++)
    STORE("--defer-embedding", facts[i]);
  OK("maintain");
  CHECK_STR(str_from(answers()), first);
  OK("doctor", "--repair");
  CHECK_STR(str_from(answers()), first);
}

TEST(the_same_texts_give_the_same_order, .seconds = 60, .slow = true) { same_however_stored("hash-v1"); }

TEST(the_same_texts_give_the_same_order_with_the_built_in_embedder, .seconds = 60, .slow = true) {
  same_however_stored("cairn-embed-v2");
}
