/* test_eval.c: cairn eval: known results of small sets, errors in sets, and cleanup. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"

#define SETS CAIRN_SOURCE_DIR "/tests/data/eval"

/* Puts temporary stores into a separate folder, which must be empty at the end. */
static const char *temporary(void) {
  const char *dir = path_join(NULL, "tmp");
  if (mkdir(dir, 0700) == 0)
    cli_set(textf("TMPDIR=%s", dir));
  return dir;
}

static int entries_of(const char *path) {
  DIR *dir = opendir(path);
  int n = 0;
  CHECK(dir);
  for (struct dirent *e; (e = readdir(dir));)
    n += e->d_name[0] != '.';
  closedir(dir);
  return n;
}

static const char *made_set(const char *corpus, const char *queries, const char *qrels) {
  const char *dir = path_join(NULL, "made");
  mkdir(dir, 0700);
  if (corpus)
    file_write(path_join(dir, "corpus.jsonl"), str_from(corpus));
  if (queries)
    file_write(path_join(dir, "queries.jsonl"), str_from(queries));
  if (qrels)
    file_write(path_join(dir, "qrels.tsv"), str_from(qrels));
  return dir;
}

#define DOC "{\"_id\":\"d\",\"text\":\"Parsley grows in pots\"}\n"
#define QUERY "{\"_id\":\"q\",\"text\":\"parsley\"}\n"
#define REL "q\td\t1\n"

/* ---- metrics ---- */

TEST(a_set_with_groups_and_duplicates) {
  test_store_new("test.db");
  const char *tmp = temporary();
  yyjson_val *r = OK("eval", SETS "/house"), *s = jget(r, "sets[0]");
  CHECK_INT(jlen(r, "sets"), 1);
  CHECK_STR(jstr(s, "name"), "house");
  CHECK_INT(jint(s, "documents"), 10);
  CHECK_INT(jint(s, "queries"), 4);
  CHECK_INT(jint(s, "unjudged"), 1); /* q5: score 0 is not relevant */
  CHECK_INT(jint(s, "groups"), 2);
  /* k2 duplicates k1. d4 repeats d3, but a dialogue keeps both. */
  CHECK_INT(jint(s, "duplicates"), 1);
  CHECK_INT(jint(s, "superseded"), 0);
  CHECK_INT(jint(s, "refused"), 1); /* k5 has no letter */
  CHECK_INT(jint(s, "stored"), 8);
  CHECK_STR(jstr(s, "refusals[0].document"), "k5");
  /* q1 finds both documents in one memory, so at ranks 1 and 2. q3 finds its two in two memories. q2 finds its one at
   * rank 1. q4's document was refused. */
  static const char *const modes[] = {"hybrid", "keyword"};
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    yyjson_val *f = jget(s, modes[i]);
    test_note("%s", modes[i]);
    CHECK_NEAR(jnum(f, "recall@1"), (0.5 + 1 + 0.5 + 0) / 4, 1e-9);
    CHECK_NEAR(jnum(f, "recall@5"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "recall@10"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "recall_all@5"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "recall_all@10"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "recall_any@5"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "ndcg@10"), 0.75, 1e-9);
    CHECK_NEAR(jnum(f, "mrr"), 0.75, 1e-9);
  }
  CHECK(jget(s, "vector.mrr") && jnum(s, "p50_ms") > 0 && jnum(s, "p95_ms") >= jnum(s, "p50_ms"));
  CHECK(jnum(s, "load_s") > 0 && jstr(s, "model").n > 0);
  CHECK_INT(jint(s, "types.when.queries"), 1);
  CHECK_INT(jint(s, "types.how.queries"), 2);
  CHECK_NEAR(jnum(s, "types.when.hybrid.recall@1"), 0.5, 1e-9);
  CHECK_NEAR(jnum(s, "types.how.hybrid.recall@1"), 0.75, 1e-9);
  CHECK_INT(entries_of(tmp), 0);
  CHECK(!store_is_there(cli_db())); /* no other store was opened or created */
}

TEST(a_query_finds_only_its_candidates) {
  const char *out = path_join(NULL, "found.jsonl");
  yyjson_val *s = jget(OK("eval", SETS "/chats", "--queries-out", out), "sets[0]");
  CHECK_INT(jint(s, "queries"), 3);
  CHECK_INT(jint(s, "groups"), 2); /* a and b list the same three */
  CHECK_INT(jint(s, "stored"), 3 + 2);
  CHECK_NEAR(jnum(s, "hybrid.recall@1"), 1, 1e-9);
  struct json_lines lines = lines_of(file_read(out));
  CHECK_INT(lines.n, 3);
  for (size_t i = 0; i < lines.n; i++) {
    bool c = str_is(jstr(lines.v[i], "query"), "c");
    CHECK_STR(jstr(lines.v[i], "set"), "chats");
    CHECK(jhas_str(lines.v[i], "hybrid.ranked", "s4") == c);
    CHECK(!c || !jhas_str(lines.v[i], "hybrid.ranked", "s2"));
    CHECK_INT(jlen(lines.v[i], "hybrid.scores"), jlen(lines.v[i], "hybrid.ranked"));
    CHECK_INT(jlen(lines.v[i], "relevant"), 1);
  }
}

TEST(the_text_output) {
  struct run r = CAIRN("eval", SETS);
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.err, "");
  CHECK(has(r.out, "house: 10 documents, 4 queries") && has(r.out, "chats: 4 documents, 3 queries"));
  CHECK(has(r.out, "recall@1") && has(r.out, "  hybrid") && has(r.out, "  keyword") && has(r.out, "  vector"));
  /* three of four queries rank their document first: MRR 0.75 */
  CHECK(has(r.out, "0.7500") && has(r.out, "refused k5") && has(r.out, "how, hybrid"));
  CHECK(has(r.out, "sentence pairs") && has(r.out, "by similarity alone"));
}

TEST(a_subset_can_be_evaluated) {
  yyjson_val *r = OK("eval", SETS, "--set", "house", "--limit", "2", "--mode", "keyword", "--fast", "--dates", "none");
  CHECK_INT(jlen(r, "sets"), 1);
  CHECK(!jget(r, "pairs"));
  CHECK_INT(jint(r, "sets[0].queries"), 2);
  CHECK_INT(jint(r, "sets[0].groups"), 1);
  CHECK(jget(r, "sets[0].keyword") && !jget(r, "sets[0].hybrid") && !jget(r, "sets[0].vector"));
  CHECK_NEAR(jnum(r, "sets[0].keyword.recall@1"), 0.75, 1e-9);
  CHECK_NEAR(jnum(r, "sets[0].keyword.recall@5"), 1, 1e-9);
}

TEST(a_query_that_is_a_document_does_not_find_itself) {
  const char *dir = made_set("{\"_id\":\"x\",\"text\":\"How do sailors tie a bowline?\"}\n"
                             "{\"_id\":\"y\",\"text\":\"What is the way to tie a bowline knot?\"}\n",
                             "{\"_id\":\"x\",\"text\":\"How do sailors tie a bowline?\"}\n", "x\ty\t1\nx\tx\t1\n");
  yyjson_val *s = jget(OK("eval", dir), "sets[0]");
  CHECK_NEAR(jnum(s, "hybrid.recall@1"), 1, 1e-9);
  CHECK_NEAR(jnum(s, "hybrid.recall_all@5"), 1, 1e-9);
}

TEST(the_kept_store_has_the_sessions_and_times_of_the_dialogue) {
  const char *tmp = temporary();
  yyjson_val *r = OK("eval", SETS "/house", "--set", "house", "--keep");
  struct str kept = jstr(r, "kept");
  CHECK_INT(entries_of(tmp), 1);
  CHECK(str_starts(kept, str_from(tmp)));
  /* The second group is the dialogue. */
  yyjson_val *m = OK("--db", textf("%s/2.db", cstr(kept)), "get", "2");
  CHECK(has(jstr(m, "body"), "ponies near the harbour"));
  CHECK_STR(jstr(m, "session"), "talk/1");
  CHECK_STR(jstr(m, "valid_from"), "2023-05-08T13:56:00.000Z");
  CHECK_STR(jstr(m, "created_at"), "2023-06-12T10:05:00.000Z");
  OK("eval", SETS "/house", "--keep", "--dates", "written");
}

TEST(ids_are_not_indexed) {
  const char *dir = made_set("{\"_id\":\"zebra\",\"text\":\"Parsley grows in pots\"}\n"
                             "{\"_id\":\"d\",\"text\":\"Thyme wants a dry place\"}\n",
                             "{\"_id\":\"q\",\"text\":\"zebra\"}\n", "q\tzebra\t1\n");
  CHECK_NEAR(jnum(OK("eval", dir), "sets[0].keyword.recall@10"), 0, 0);
}

/* ---- sentence pairs ---- */

static yyjson_val *pairs_named(yyjson_val *r, const char *name) {
  for (size_t i = 0; i < jlen(r, "pairs"); i++) {
    yyjson_val *p = jget(r, textf("pairs[%zu]", i));
    if (str_is(jstr(p, "name"), name))
      return p;
  }
  FAIL("no pairs named %s", name);
}

TEST(sentence_pairs) {
  yyjson_val *r = OK("eval", SETS "/pairs"), *same = pairs_named(r, "same"), *score = pairs_named(r, "score");
  yyjson_val *nli = pairs_named(r, "nli");
  CHECK_INT(jlen(r, "sets"), 0);
  CHECK_INT(jlen(r, "pairs"), 3);
  /* Equal texts count as the same. The third of three pairs with the same meaning shares no word. */
  CHECK_INT(jint(same, "pairs"), 4);
  CHECK_NEAR(jnum(same, "same_precision"), 1, 1e-9);
  CHECK_NEAR(jnum(same, "same_recall"), 0.6667, 1e-9);
  /* 4.0 counts as the same, 3.9 does not. */
  CHECK_INT(jint(score, "same"), 2);
  CHECK_NEAR(jnum(score, "same_precision"), 0.6667, 1e-9);
  CHECK_NEAR(jnum(score, "same_recall"), 1, 1e-9);
  /* Texts with different numbers are distinguished; equal texts cannot be. */
  CHECK_INT(jint(nli, "contradictions"), 2);
  CHECK_INT(jint(nli, "contradictions_taken"), 1);
  CHECK_INT(jint(nli, "similarity_alone.contradictions_near"), 2);
  CHECK_INT(jint(nli, "contradictions_near"), 1);
  CHECK(!jget(nli, "same_precision"));
}

TEST(malformed_pairs_are_refused) {
  const char *dir = path_join(NULL, "p");
  mkdir(dir, 0700);
  file_write(path_join(dir, "x.tsv"), STR("1\ta\tb\nmaybe\ta\tb\n"));
  CHECK(has(jstr(REFUSED("usage", "eval", dir), "message"), "x.tsv line 2"));
  file_write(path_join(dir, "x.tsv"), STR("1\ta\tb\n1 a b\n"));
  CHECK(has(jstr(REFUSED("usage", "eval", dir), "message"), "x.tsv line 2"));
  file_write(path_join(dir, "x.tsv"), STR("1\ta\t\xff\xfe\n"));
  CHECK(has(jstr(REFUSED("usage", "eval", dir), "message"), "UTF-8"));
}

/* ---- errors in a set ---- */

TEST(missing_files_are_refused) {
  const char *tmp = temporary();
  CHECK(has(jstr(REFUSED("not_found", "eval", made_set(DOC, NULL, NULL)), "message"), "queries.jsonl"));
  CHECK(has(jstr(REFUSED("not_found", "eval", made_set(DOC, QUERY, NULL)), "message"), "qrels.tsv"));
  REFUSED("not_found", "eval", path_join(NULL, "nowhere"));
  CHECK(has(jstr(REFUSED("not_found", "eval", SETS, "--set", "garage"), "message"), "garage"));
  REFUSED("usage", "eval");
  REFUSED("usage", "eval", SETS, "--queries-out", "-");
  REFUSED("not_found", "eval", SETS, "--queries-out", path_join(NULL, "no/such/folder"));
  CHECK_INT(entries_of(tmp), 0);
}

TEST(an_archive_must_be_unpacked_first) {
  const char *dir = path_join(NULL, "packed");
  mkdir(dir, 0700);
  CHECK(has(jstr(REFUSED("not_found", "eval", dir), "fix"), "corpus.jsonl"));
  file_write(path_join(dir, "set.tar.xz"), STR("not really"));
  CHECK(has(jstr(REFUSED("not_found", "eval", dir), "fix"), "tar -xf"));
  CHECK(has(jstr(REFUSED("not_found", "eval", path_join(dir, "set.tar.xz")), "fix"), "tar -xf"));
}

static void check_bad(const char *corpus, const char *queries, const char *qrels, const char *where, const char *why) {
  yyjson_val *e = REFUSED("usage", "eval", made_set(corpus, queries, qrels));
  test_note("%.*s", STR_ARG(jstr(e, "message")));
  CHECK(has(jstr(e, "message"), where) && has(jstr(e, "message"), why));
}

TEST(malformed_lines_are_refused) {
  const char *tmp = temporary();
  check_bad(DOC "{\"_id\":\"e\",\"text\n", QUERY, REL, "corpus.jsonl line 2", "not valid JSON");
  check_bad("\x7f"
            "ELF\x02\x01\x01",
            QUERY, REL, "corpus.jsonl line 1", "not valid JSON");
  check_bad(DOC "[]\n", QUERY, REL, "corpus.jsonl line 2", "not a JSON object");
  check_bad(DOC "{\"text\":\"x\"}\n", QUERY, REL, "corpus.jsonl line 2", "_id");
  check_bad(DOC DOC, QUERY, REL, "corpus.jsonl line 2", "duplicate _id");
  check_bad(DOC "{\"_id\":\"e\"}\n", QUERY, REL, "corpus.jsonl line 2", "text");
  check_bad(DOC, "\n\n{\"_id\":7}\n", REL, "queries.jsonl line 3", "text");
  check_bad(DOC, "{\"_id\":\"q\",\"text\":\"x\",\"cand\":[\"f\"]}\n", REL, "queries.jsonl line 1", "'f'");
  check_bad(DOC, QUERY, "q\td\n", "qrels.tsv line 1", "three columns");
  check_bad(DOC, QUERY, "query-id\tcorpus-id\tscore\nq\tunknown\t1\n", "qrels.tsv line 2", "'unknown'");
  check_bad(DOC, QUERY, "other\td\t1\n", "qrels.tsv line 1", "'other'");
  check_bad(DOC, QUERY, REL "q\td\tgood\n", "qrels.tsv line 2", "number");
  check_bad(DOC, QUERY, REL REL, "qrels.tsv line 2", "already");
  check_bad(DOC, QUERY, "q\td\t0\n", "made", "no query has a relevant document");
  CHECK_INT(entries_of(tmp), 0);
}

/* ---- interruption ---- */

/* Does a subfolder contain a store? */
static bool has_store(const char *path) {
  DIR *dir = opendir(path);
  bool found = false;
  CHECK(dir);
  for (struct dirent *e; (e = readdir(dir));)
    found |= e->d_name[0] != '.' && access(textf("%s/%s/1.db", path, e->d_name), F_OK) == 0;
  closedir(dir);
  return found;
}

static bool appears(const char *dir) {
  for (int i = 0; i < 1000; i++) {
    if (has_store(dir))
      return true;
    usleep(10000);
  }
  return false;
}

static void stop_with(int number) {
  const char *tmp = temporary();
  static struct arena a;
  struct buf corpus = BUF(&a);
  for (int i = 0; i < 60000; i++)
    buf_addf(&corpus, "{\"_id\":\"%d\",\"text\":\"Ship %d carries %d crates of %d kinds\"}\n", i, i, i * 7, i % 13);
  const char *dir = made_set(buf_str(&corpus).p, QUERY, "q\t1\t1\n");
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "eval", dir), .env = cli_env(), .timeout_ms = 15000);
  CHECK(appears(tmp));
  proc_kill(p, number);
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 130);
  CHECK_INT(entries_of(tmp), 0);
}

TEST(sigint_leaves_nothing_behind) { stop_with(SIGINT); }

TEST(sigterm_leaves_nothing_behind) { stop_with(SIGTERM); }

/* ---- search modes ---- */

TEST(search_modes) {
  STORE("The ferry to the island leaves at noon");
  static const char *const modes[] = {"hybrid", "keyword", "vector"};
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    yyjson_val *r = OK("search", "ferry to the island", "--mode", modes[i]);
    CHECK_STR(jstr(r, "search_mode"), modes[i]);
    CHECK_STR(jstr(r, "results[0].source"), modes[i]);
  }
  CHECK_STR(jstr(OK("search", "ferry"), "search_mode"), "hybrid");
  REFUSED("usage", "search", "ferry", "--mode", "psychic");
}

/* ---- on a server ---- */

/* Search on PostgreSQL matches SQLite: same terms, same vectors, same ranking. */
TEST(both_engines_give_the_same_metrics, .only = TEST_ON_POSTGRES) {
  static const char *const modes[] = {"hybrid", "keyword", "vector"};
  temporary();
  yyjson_val *file = OK("eval", SETS, "--set", "house", "--set", "chats");
  yyjson_val *server = OK("eval", SETS, "--set", "house", "--set", "chats", "--server", getenv("CAIRN_TEST_PG"));
  CHECK_INT(jlen(server, "sets"), 2);
  for (size_t set = 0; set < 2; set++) {
    CHECK_INT(jint(server, textf("sets[%zu].stored", set)), jint(file, textf("sets[%zu].stored", set)));
    CHECK_INT(jint(server, textf("sets[%zu].duplicates", set)), jint(file, textf("sets[%zu].duplicates", set)));
    for (size_t i = 0; i < 3; i++) {
      double want = jnum(file, textf("sets[%zu].%s.ndcg@10", set, modes[i]));
      CHECK(want > 0.3);
      CHECK_NEAR(jnum(server, textf("sets[%zu].%s.ndcg@10", set, modes[i])), want, 0.01);
    }
  }
}

TEST(the_server_option_needs_a_url) {
  temporary();
  REFUSED("usage", "eval", SETS "/house", "--server", "house.db");
}
