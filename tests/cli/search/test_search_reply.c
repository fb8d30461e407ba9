/* test_search_reply.c: what a search returns and how much: filters, as-of, budgets, skills. */
#include "core/text/token_count.h"
#include "support/cli.h"

static const char *const modes[] = {"hybrid", "keyword", "vector"};

/* ---- filters ---- */

enum { CROWD = 297, FEW = 3 };

/* Stores many good matches on day 0 and a few weak ones, with these members, on another day. The weak ones are long
 * texts that contain the word once. */
static void crowd(double day, const char *members, const char *others) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < CROWD; i++)
    buf_addf(&b, "{\"text\":\"falcon falcon nest %d\",\"defer_embedding\":true%s}\n", i, others);
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-").exit_code, 0);
  cli_day(day);
  b = BUF(&a);
  for (int i = 0; i < FEW; i++)
    buf_addf(&b, "{\"text\":\"%s and among all of these once a falcon %d\",\"defer_embedding\":true%s}\n",
             words(textf("odd%d", i), 30), i, members);
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-").exit_code, 0);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), CROWD + FEW);
  cli_day(10);
  OK("maintain");
}

static bool is_of_the_few(yyjson_val *r, size_t i) { return jint(r, textf("results[%zu].id", i)) > CROWD; }

/* Without the filter the many rank first. With it exactly the few are found. */
static void passes(const char *option, const char *value) {
  for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
    test_note("%s %s, %s", option, value, modes[m]);
    yyjson_val *r = OK("search", "--mode", modes[m], "--limit", "3", "--all-projects", "falcon nest");
    CHECK_INT(jlen(r, "results"), 3);
    for (size_t i = 0; i < 3; i++)
      CHECK(!is_of_the_few(r, i));
    for (int limit = FEW; limit <= FEW + 4; limit += 4) {
      r = OK("search", "--mode", modes[m], "--limit", num(limit), option, value, "falcon nest");
      CHECK_INT(jlen(r, "results"), FEW);
      for (size_t i = 0; i < FEW; i++)
        CHECK(is_of_the_few(r, i));
    }
  }
}

TEST(labels_and_time_filter_before_ranking, .seconds = 60, .slow = true) {
  crowd(10, ",\"tags\":[\"rare\"],\"people\":[\"Quentin\"],\"type\":\"decision\"", ",\"tags\":[\"common\"]");
  passes("--tag", "rare");
  passes("--person", "Quentin");
  passes("--type", "decision");
  passes("--type", "choice"); /* by alias */
  passes("--since", cli_time(5));
  passes("--since", "5d");
}

TEST(kind_filters_before_ranking, .seconds = 60) {
  crowd(10, ",\"type\":\"rule\"", "");
  passes("--kind", "rule");
}

TEST(project_filters_before_ranking, .seconds = 60) {
  crowd(10, ",\"project\":\"island\"", ",\"project\":\"mainland\"");
  passes("--project", "island");
}

TEST(global_memories_are_filtered_before_ranking, .seconds = 60) {
  crowd(10, ",\"project\":\"island\"", "");
  passes("--own", "--project=island");
  passes("--own", "--all-projects");
}

TEST(until_and_state_filter_before_ranking, .seconds = 60) {
  crowd(-10, "", "");
  passes("--until", cli_time(-1));
  /* Once the many are inactive, they do not crowd out the few. */
  for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
    CHECK_INT(jlen(OK("search", "--mode", modes[m], "--limit", "3", "falcon nest"), "results"), 3);
    CHECK(!is_of_the_few(OK("search", "--mode", modes[m], "--limit", "3", "falcon nest"), 0));
  }
  sql_do(textf("UPDATE memory SET state = 'forgotten', state_reason = 'x', state_by = 'x', state_at = 1 WHERE id <= %d",
               CROWD));
  for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
    test_note("state, %s", modes[m]);
    yyjson_val *r = OK("search", "--mode", modes[m], "--limit", "3", "falcon nest");
    CHECK_INT(jlen(r, "results"), FEW);
    for (size_t i = 0; i < FEW; i++)
      CHECK(is_of_the_few(r, i));
  }
}

/* ---- as-of ---- */

static void there(double day, const char *mode, const char *query, const int64_t *ids, size_t n) {
  test_note("day %g, %s, %s", day, mode, query);
  yyjson_val *r = OK("search", "--mode", mode, "--as-of", cli_time(day), query);
  for (size_t i = 0; i < n; i++)
    if (jpos(r, "results", ids[i]) < 0)
      FAIL("memory %lld is missing", (long long)ids[i]);
  CHECK_INT(jlen(r, "results"), n);
}
#define THERE(day, mode, query, ...)                                                                                   \
  there(day, mode, query, (const int64_t[]){__VA_ARGS__}, ARRAY_LEN(((const int64_t[]){__VA_ARGS__})))

TEST(as_of_applies_to_every_index) {
  int64_t old = STORE("Gauge ZX-81 of the boiler reads 40 bar");
  int64_t lost = STORE("Gauge ZX-81 belongs to the upper valve");
  int64_t brief = STORE("--ttl", "12d", "Gauge ZX-81 is out for repair");
  int64_t future = STORE("--valid-from", cli_time(30), "Gauge ZX-81 will be read by radio");
  cli_day(10);
  int64_t young =
      jint(OK("supersede", num(old), "--reason", "measured", "Gauge ZX-81 of the boiler reads 60 bar"), "id");
  cli_day(13);
  OK("maintain");
  cli_day(15);
  OK("forget", num(lost), "--reason", "wrong");
  cli_day(20);
  int64_t late = STORE("Gauge ZX-81 was bought in Leipzig");
  cli_day(40);
  static const char *const queries[] = {"gauge ZX-81", "ZX-81", "gauge"}; /* a name among words, only a name, no name */
  for (size_t m = 0; m < ARRAY_LEN(modes); m++)
    for (size_t q = 0; q < ARRAY_LEN(queries); q++) {
      THERE(5, modes[m], queries[q], old, lost, brief);
      THERE(11, modes[m], queries[q], young, lost, brief);
      THERE(14, modes[m], queries[q], young, lost);
      THERE(18, modes[m], queries[q], young);
      THERE(25, modes[m], queries[q], young, late);
      THERE(35, modes[m], queries[q], young, late, future);
      CHECK_INT(jlen(OK("search", "--mode", modes[m], "--as-of", cli_time(-1), queries[q]), "results"), 0);
    }
}

TEST(as_of_applies_to_neighbours) {
  int64_t question = STORE("--type", "episodic", "--session", "s", "Which colour has the ferry?");
  cli_day(20);
  int64_t answer = STORE("--type", "episodic", "--session", "s", "Turquoise since Monday.");
  cli_day(30);
  OK("forget", num(answer), "--reason", "wrong");
  cli_day(40);
  THERE(10, "keyword", "colour of the ferry", question);
  THERE(25, "keyword", "colour of the ferry", question, answer);
  THERE(35, "keyword", "colour of the ferry", question);
}

/* ---- budgets ---- */

static void store_long_ones(void) {
  for (int i = 0; i < 8; i++)
    STORE("--headline", textf("Report %d on the falcon", i),
          textf("Falcon report. %s", words(textf("part%d-", i), 200)));
}

static int64_t tokens_of(yyjson_val *r) {
  static struct arena a;
  int64_t sum = 0;
  for (size_t i = 0; i < jlen(r, "results"); i++)
    sum += (int64_t)tokens_estimate(json_write_val(&a, jget(r, textf("results[%zu]", i))));
  return sum;
}

TEST(a_budget_is_respected) {
  static const char *const details[] = {"headline", "snippet", "full"};
  store_long_ones();
  size_t shown[3];
  for (size_t d = 0; d < 3; d++) {
    yyjson_val *all = OK("search", "--detail", details[d], "falcon report");
    CHECK_INT(jlen(all, "results"), 8);
    CHECK(!jget(all, "omitted"));
    int64_t whole = tokens_of(all);
    for (int64_t budget = 100; budget <= whole + 200; budget += whole / 4) {
      test_note("%s, %lld of %lld tokens", details[d], (long long)budget, (long long)whole);
      yyjson_val *r = OK("search", "--detail", details[d], "--budget", num(budget), "falcon report");
      size_t n = jlen(r, "results");
      CHECK(n >= 1);
      CHECK(n == 1 || tokens_of(r) <= budget);
      CHECK_INT(n == 8 ? 0 : jint(r, "omitted"), 8 - n);
      CHECK(n < 8 || !jget(r, "omitted"));
      for (size_t i = 0; i < n; i++) /* the best ones */
        CHECK_INT(jint(r, textf("results[%zu].id", i)), jint(all, textf("results[%zu].id", i)));
    }
    CHECK_INT(jlen(OK("search", "--detail", details[d], "--budget", num(whole), "falcon report"), "results"), 8);
    shown[d] = jlen(OK("search", "--detail", details[d], "--budget", "1000", "falcon report"), "results");
  }
  CHECK(shown[0] > shown[1] && shown[1] > shown[2]);
  yyjson_val *r = OK("search", "--detail", "headline", "falcon report");
  CHECK(!jget(r, "results[0].snippet") && !jget(r, "results[0].body"));
  CHECK(jstr(OK("search", "--detail", "full", "falcon report"), "results[0].body").n > 1000);
  CHECK(jstr(OK("search", "falcon report"), "results[0].snippet").n <= 400);
  REFUSED("usage", "search", "--budget", "0", "falcon");
  REFUSED("usage", "search", "--budget", "-5", "falcon");
  REFUSED("usage", "search", "--budget", "few", "falcon");
}

TEST(detail_chunk_is_the_whole_passage_that_matched) {
  OK("remember", textf("%s\n\nzanzibar %s\n\n%s", words("first", 100), words("middle", 80), words("last", 100)));
  CHECK_INT(jstr(OK("search", "zanzibar"), "results[0].snippet").n, 400);
  struct str chunk = jstr(OK("search", "--detail", "chunk", "zanzibar"), "results[0].snippet");
  CHECK(has(chunk, "zanzibar") && has(chunk, "middle80"));
}

TEST(a_full_result_names_what_it_supersedes) {
  struct str old = jstr(OK("remember", "The ferry leaves at nine"), "uid");
  OK("supersede", "1", "--reason", "new timetable", "The ferry leaves at ten");
  CHECK(str_eq(jstr(OK("search", "--detail", "full", "ferry"), "results[0].supersedes"), old));
}

TEST(results_have_an_age) {
  STORE("The falcon was seen");
  CHECK_NEAR(jnum(OK("search", "falcon"), "results[0].age_days"), 0, 0);
  cli_day(2.5);
  CHECK_NEAR(jnum(OK("search", "falcon"), "results[0].age_days"), 2.5, 0);
}

TEST(pending_embeddings_are_reported) {
  STORE("The falcon was seen");
  CHECK(!jget(OK("search", "falcon"), "embedded"));
  STORE("--defer-embedding", "The falcon was heard");
  STORE("--defer-embedding", "A heron was heard");
  yyjson_val *r = OK("search", "falcon");
  CHECK_INT(jint(r, "embedded.done"), 1);
  CHECK_INT(jint(r, "embedded.total"), 3);
  CHECK(jpos(r, "results", 2) >= 0); /* by full-text search */
  CHECK_STR(jstr(r, textf("results[%d].source", jpos(r, "results", 2))), "keyword");
  OK("maintain");
  r = OK("search", "falcon");
  CHECK(!jget(r, "embedded"));
  CHECK_STR(jstr(r, textf("results[%d].source", jpos(r, "results", 2))), "hybrid");
}

/* ---- skills ---- */

TEST(skills_come_first_and_do_not_count_towards_the_limit) {
  for (int i = 0; i < 7; i++)
    STORE("--skill-name", textf("skill-%d", i), "--skill-keyword", "falconry", "--type", "idea",
          words(textf("glove%d", i), 6));
  for (int i = 0; i < 4; i++)
    STORE(textf("Falconry needs %s", words(textf("thing%d-", i), 4)));
  yyjson_val *r = OK("search", "--limit", "2", "How is FALCONRY done?");
  CHECK_INT(jlen(r, "results"), 7); /* five skills and two results */
  for (size_t i = 0; i < 7; i++) {
    test_note("result %zu", i);
    bool skill = i < 5;
    CHECK((jget(r, textf("results[%zu].via_skill_trigger", i)) != NULL) == skill);
    CHECK(str_is(jstr(r, textf("results[%zu].source", i)), "skill") == skill);
  }
  CHECK(str_starts(jstr(r, "results[0].via_skill_trigger"), STR("skill-")));
  r = OK("search", "How is fishing done?");
  for (size_t i = 0; i < jlen(r, "results"); i++)
    CHECK(!jget(r, textf("results[%zu].via_skill_trigger", i)));
}

/* Faded memories fill the remaining places. A triggered skill takes none of them. */
TEST(skills_leave_room_for_faded_memories) {
  for (int i = 0; i < 3; i++)
    STORE_AS_AGENT("--type", "fact", textf("Falconry needs %s", words(textf("thing%d-", i), 4)));
  cli_day(60);
  CHECK_INT(jint(OK("maintain"), "faded"), 3);
  STORE("--skill-name", "glove", "--skill-keyword", "falconry", "--type", "procedural", "Take the glove first");
  yyjson_val *r = OK("search", "--limit", "3", "falconry");
  CHECK_INT(jlen(r, "results"), 4);
  CHECK_STR(jstr(r, "results[0].via_skill_trigger"), "glove");
  CHECK_STR(jstr(r, "results[3].state"), "faded");
}

/* ---- skills ---- */

static bool is_offered(const char *project) {
  yyjson_val *r = OK("search", "--project", project, "how do we release");
  return str_is(json_str(yyjson_arr_get(yyjson_obj_get(r, "results"), 0), "via_skill_trigger"), "release");
}

TEST(a_skill_is_offered_in_the_projects_that_it_names) {
  int64_t id = STORE("--project", "harbor", "--skill-name", "release", "--skill-keyword", "release", "--skill-project",
                     "lake", "To release: tag, build, sign, upload.");
  STORE("--project", "harbor", "The harbor has two cranes.");
  int64_t pier = STORE("--project", "lake", "The lake has one pier, where we release boats.");
  CHECK(is_offered("lake"));
  CHECK(!is_offered("harbor"));
  CHECK_INT(jint(OK("search", "--project", "lake", "--own", "how do we release"), "results[0].id"), pier);
  CHECK_STR(jstr(OK("skill", "load", "release", "--project", "lake"), "skill_name"), "release");
  OK("supersede", num(id), "--reason", "for all", "--skill-name", "release", "--skill-keyword", "release",
     "--skill-project", "*", "To release: tag, build, sign and upload.");
  CHECK(is_offered("lake") && is_offered("harbor") && is_offered("site"));
}

TEST(an_agent_of_a_project_stores_skills_only_for_it) {
  OK("agent", "add", "web", "--role", "project", "--project", "site");
  static const char *const others[] = {"*", "harbor"};
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    struct run r = CAIRN("remember", "--agent", "web", "--project", "site", "--skill-name", "release",
                         "--skill-keyword", "release", "--skill-project", others[i], "Tag, build, sign and upload.");
    CHECK(r.exit_code != 0);
    CHECK_INT(yyjson_arr_size(yyjson_obj_get(OK("skill", "list", "--all-projects"), "skills")), 0);
  }
  OK("remember", "--agent", "web", "--project", "site", "--skill-name", "release", "--skill-keyword", "release",
     "--skill-project", "site", "To release: tag, build, sign, upload.");
}
