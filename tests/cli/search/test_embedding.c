/* test_embedding.c: choosing an embedder, outages, the cache, calibration, and changing the embedder. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/http_server.h"
#include "support/tiny_model.h"

enum { DIMS = 32, CALIBRATION = 8 /* requests of 64 texts */ };

#define MODEL "openai:small@32"

/* Uses the settings of the store, starting with the hash-v1 embedder. */
static void own_settings(void) {
  cli_set("CAIRN_EMBEDDER");
  OK("config", "embedder", "hash-v1");
}

/* Configures an embedding server in the store's settings. */
static void use_url(const char *url) {
  cli_set("CAIRN_EMBEDDER");
  OK("config", "embedder.url", url);
  OK("config", "embedder.model", "small");
  OK("config", "embedder", "openai");
}

static struct http_server *use_server(void) {
  struct http_server *s = http_server_start(.dims = DIMS);
  use_url(http_server_url(s));
  return s;
}

static int64_t vectors(const char *model) {
  return sql_number(textf("SELECT count(*) FROM vec_slot WHERE model = '%s'", model));
}

static struct str model_in(const char *state) {
  return sql_string(
      textf("SELECT coalesce((SELECT model FROM vec_index WHERE state = '%s' AND team = 'default'), '')", state));
}

/* Stores n memories on different subjects without embedding them. Each has its own word stem. */
static void store_many(int n) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < n; i++)
    buf_addf(&b, "{\"text\":\"%s\",\"defer_embedding\":true}\n", words(textf("item%d", i), 5));
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-").exit_code, 0);
}

/* ---- settings ---- */

TEST(embedder_settings_are_checked) {
  own_settings();
  static const char *const bad[][2] = {{"embedder", "word2vec"},
                                       {"embedder.url", "ftp://example.org"},
                                       {"embedder.url", "http://"},
                                       {"embedder.url", "https://alice:pass@example.org/v1"},
                                       {"embedder.url", "http://exam ple.org"},
                                       {"embedder.model", "a\nb"},
                                       {"embedder.dims", "-1"},
                                       {"embedder.dims", "1.5"},
                                       {"embedder.dims", "4097"},
                                       {"embedder.file", "model.cairn"},
                                       {"embedder.timeout_ms", "99"},
                                       {"embedder.timeout_ms", "soon"}};
  STORE("Something is there already");
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i][1]);
    REFUSED("usage", "config", bad[i][0], bad[i][1]);
  }
  OK("config", "embedder.url", "https://example.org/v1");
  CHECK_STR(jstr(OK("config", "embedder.url"), "value"), "https://example.org/v1");
  OK("config", "embedder.dims", "256");
  OK("config", "embedder.query_prefix", "query: ");
  CHECK_STR(jstr(OK("config", "embedder.query_prefix"), "value"), "query: ");
  OK("config", "embedder.url", "--unset");
  CHECK_STR(jstr(OK("config", "embedder.url"), "value"), "");
}

TEST(a_key_is_refused_as_the_name_of_a_variable) {
  own_settings();
  const char *key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
  struct run r = CAIRN("config", "embedder.key_env", key);
  CHECK_INT(r.exit_code, 4);
  CHECK(!has(r.out, "sk-proj") && !has(r.err, "sk-proj"));
  CHECK(!store_holds("sk-proj"));
  OK("config", "embedder.key_env", "MY_KEY");
  OK("config", "embedder.key_env", "");
}

TEST(embedding_can_be_disabled) {
  own_settings();
  OK("config", "embedder", "none");
  yyjson_val *r = OK("remember", "Quince jam needs an hour on the stove");
  CHECK(!jbool(r, "embedded"));
  CHECK(!warning(r, "embedding_deferred"));
  CHECK_STR(jstr(OK("remember", "Quince jam needs an hour on the stove"), "action"), "skipped");
  r = OK("search", "quince jam");
  CHECK_STR(jstr(r, "search_mode"), "keyword");
  CHECK(!jget(r, "degraded"));
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 0);
  REFUSED("conflict", "reembed");
  CHECK(!jget(OK("maintain"), "degraded"));
  OK("boot", "--task", "cooking jam");
  CHECK_STR(jstr(OK("stats"), "embedder"), "none");
  /* After switching back, memories written meanwhile are embedded. */
  OK("config", "embedder", "hash-v1");
  CHECK_INT(jint(OK("reembed"), "newly_embedded"), 1);
  CHECK_STR(jstr(OK("search", "quince jam"), "search_mode"), "hybrid");
}

TEST(a_bad_environment_value_does_not_break_reads) {
  int64_t id = STORE("Quince jam needs an hour on the stove");
  cli_set("CAIRN_EMBEDDER=word2vec");
  yyjson_val *r = OK("search", "quince");
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK(has(jstr(r, "degraded"), "word2vec"));
}

/* ---- embedder outages ---- */

TEST(an_unreachable_embedder_costs_only_vectors, .slow = true) {
  use_url(http_server_nobody());
  OK("config", "embedder.dims", "32");
  yyjson_val *r = OK("remember", "The harbour master counts seagulls at noon");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(!jbool(r, "embedded"));
  yyjson_val *w = warning(r, "embedding_deferred");
  CHECK(w && has(jstr(w, "message"), "127.0.0.1") && has(jstr(w, "message"), "exact"));
  int64_t id = jint(r, "id");
  /* Exact duplicates are still recognised, and the reply does not claim to have stored them. */
  r = OK("remember", "The harbour master counts seagulls at noon");
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK(!warning(r, "embedding_deferred"));
  r = OK("search", "seagulls");
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK_STR(jstr(r, "search_mode"), "keyword");
  CHECK(has(jstr(r, "degraded"), "127.0.0.1"));
  CHECK(has(jstr(OK("maintain"), "degraded"), "127.0.0.1"));
  REFUSED("unavailable", "reembed");
  OK("boot", "--task", "counting gulls");
  /* The server is reachable again. */
  struct http_server *s = http_server_start(.dims = DIMS);
  OK("config", "embedder.url", http_server_url(s));
  CHECK_INT(jint(OK("maintain"), "embedded"), 1);
  CHECK_STR(model_in("active"), MODEL);
  r = OK("search", "seagulls");
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  CHECK(!jget(r, "degraded"));
  CHECK_HEALTHY();
}

TEST(an_incomplete_configuration_names_the_missing_setting) {
  own_settings();
  OK("config", "embedder", "openai");
  yyjson_val *r = OK("remember", "The harbour master counts seagulls at noon");
  CHECK(has(jstr(warning(r, "embedding_deferred"), "message"), "embedder.model"));
  r = OK("search", "seagulls");
  CHECK(has(jstr(r, "degraded"), "embedder.model"));
  CHECK_INT(jlen(r, "results"), 1);
  OK("config", "embedder", "file");
  CHECK(has(jstr(OK("search", "seagulls"), "degraded"), "embedder.file"));
}

TEST(the_key_is_sent_only_to_the_server) {
  struct http_server *s =
      http_server_start(.dims = DIMS, HTTP_STEPS({0}, {.act = HTTP_ACT_ECHO_KEY, .status = 401, .times = 9}));
  cli_set("TEST_KEY_NAME=q7Zk1vT9pLm3wXs8");
  OK("config", "embedder.key_env", "TEST_KEY_NAME");
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  STORE("The first text is embedded without ado");
  CHECK(strstr(http_server_seen(s, 0)->authorization, "q7Zk1vT9pLm3wXs8") != NULL);
  struct run r = CAIRN("remember", "--json", "The second one meets a server that quotes the key");
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "embedding_deferred") && !has(r.out, "q7Zk1vT9pLm3wXs8") && !has(r.err, "q7Zk1vT9pLm3wXs8"));
  CHECK(!store_holds("q7Zk1vT9pLm3wXs8"));
  CHECK(sql_number("SELECT count(*) FROM vec_index WHERE config LIKE '%TEST_KEY_NAME%'") == 1);
}

/* ---- the cache ---- */

TEST(paid_vectors_are_requested_once) {
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  STORE("The harbour master counts seagulls at noon");
  CHECK_INT(http_server_requests(s), 1);
  OK("search", "how many gulls?");
  CHECK_INT(http_server_requests(s), 2);
  OK("search", "how many gulls?"); /* a different process */
  CHECK_INT(http_server_requests(s), 2);
  OK("search", "how many crows?");
  CHECK_INT(http_server_requests(s), 3);
  /* Texts and queries are cached separately. */
  OK("search", "The harbour master counts seagulls at noon");
  CHECK_INT(http_server_requests(s), 4);
  /* A new query prefix requires a new request. The index stays. */
  OK("config", "embedder.query_prefix", "query: ");
  OK("search", "how many gulls?");
  CHECK_INT(http_server_requests(s), 5);
  CHECK(strncmp(http_server_seen(s, 4)->first, "query: ", 7) == 0);
  CHECK_STR(model_in("active"), MODEL);
  CHECK_STR(model_in("building"), "");
}

TEST(switching_back_to_a_server_uses_the_cache) {
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  STORE("The harbour master counts seagulls at noon");
  STORE("Quince jam needs an hour on the stove");
  OK("reembed"); /* fits the calibration */
  OK("config", "embedder", "hash-v1");
  CHECK(jbool(OK("reembed"), "flipped"));
  CHECK_INT(jint(OK("reembed", "--drop-previous"), "dropped"), 2);
  CHECK_INT(vectors(MODEL), 0);
  int before = http_server_requests(s);
  OK("config", "embedder", "openai");
  CHECK_INT(jint(OK("reembed"), "newly_embedded"), 2);
  CHECK_INT(http_server_requests(s), before);
  CHECK_INT(vectors(MODEL), 2);
}

/* ---- calibration ---- */

static struct str kept_calibration(void) {
  return sql_string("SELECT coalesce((SELECT json_extract(config, '$.calibration') FROM vec_index"
                    " WHERE state = 'active' AND model = '" MODEL "'), '')");
}

TEST(the_calibration_of_a_server_is_fitted_once_and_stored) {
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  STORE("The harbour master counts seagulls at noon");
  OK("search", "seagulls");
  CHECK_INT(http_server_requests(s), 2); /* a write and a search send only their own text */
  CHECK_STR(kept_calibration(), "");
  OK("reembed");
  CHECK_INT(http_server_requests(s), 2 + CALIBRATION);
  /* This server's vectors carry no meaning, so the calibration never reports a near match. */
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
  OK("reembed");
  OK("maintain");
  STORE("Quince jam needs an hour on the stove");
  OK("search", "jam");
  CHECK_INT(http_server_requests(s), 2 + CALIBRATION + 2);
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
  CHECK_HEALTHY();
}

TEST(the_stored_calibration_is_used) {
  use_server();
  STORE("The harbour master counts seagulls at noon");
  OK("reembed");
  /* This calibration makes everything a duplicate, so a refused write proves that it was used. */
  sql_do("UPDATE vec_index SET config = json_set(config, '$.calibration', '-1:0.93,1:1')");
  CHECK(!str_is(jstr(OK("remember", "Quince jam needs an hour on the stove"), "action"), "stored"));
  /* A damaged calibration is ignored: the conservative default applies until the next fit. */
  sql_do("UPDATE vec_index SET config = json_set(config, '$.calibration', '1:1,0:0')");
  STORE("Plums are picked in the second week of September");
  OK("reembed");
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
  CHECK_HEALTHY();
}

TEST(a_calibration_survives_a_new_url_and_a_rollback) {
  use_server();
  STORE("The harbour master counts seagulls at noon");
  OK("reembed");
  struct http_server *other = http_server_start(.dims = DIMS);
  OK("config", "embedder.url", http_server_url(other));
  STORE("Quince jam needs an hour on the stove");
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
  OK("config", "embedder", "hash-v1");
  OK("reembed");
  CHECK_STR(kept_calibration(), "");
  OK("reembed", "--rollback");
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
  CHECK_INT(http_server_requests(other), 1);
}

TEST(a_failing_server_leaves_the_conservative_default) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({0}, {.status = 400, .body = "no"}, {0}));
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  STORE("The harbour master counts seagulls at noon");
  OK("reembed");
  CHECK_STR(kept_calibration(), "");
  OK("reembed");
  CHECK_STR(kept_calibration(), "-1.0000:0.0000,1.0000:0.5000");
}

/* ---- purge ---- */

TEST(purge_leaves_no_cached_vector) {
  use_server();
  int64_t id = STORE("The harbour master counts seagulls at noon");
  STORE("Quince jam needs an hour on the stove");
  OK("search", "The harbour master counts seagulls at noon");
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), 3);
  OK("purge", num(id), "--confirm");
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), 1);
  /* Prune also deletes the text from the cache, because a later purge no longer knows it. */
  cli_day(60);
  OK("prune", "--days", "30", "--apply");
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), 0);
}

/* An entry is embedded with the end of the previous one. Such vectors are never cached, because a purge looks up the
 * cache by the text of a single memory. */
TEST(a_purged_entry_leaves_nothing_in_the_cache) {
  static const char *const talk[] = {"Which colour has the ferry?", "Turquoise since Monday.", "And the deck?"};
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  for (size_t i = 0; i < ARRAY_LEN(talk); i++)
    STORE("--type", "episodic", "--session", "talk", talk[i]);
  CHECK_INT(http_server_requests(s), 3);
  CHECK(strstr(http_server_seen(s, 1)->first, "colour") != NULL); /* includes the previous entry */
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), 1);
  OK("config", "embedder", "hash-v1");
  OK("reembed");
  OK("reembed", "--drop-previous");
  OK("config", "embedder", "openai");
  OK("reembed");
  CHECK_INT(vectors(MODEL), 3);
  /* Only the first of the three was embedded without context. The cache also holds the calibration pairs. */
  int64_t cached = sql_number("SELECT count(*) FROM embed_cache");
  OK("purge", "1", "--confirm");
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), cached - 1);
  CHECK_INT(vectors(MODEL), 1);
  CHECK(!store_holds("colour"));
  OK("purge", "3", "--confirm");
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), cached - 1);
}

TEST(secrets_in_queries_are_redacted) {
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  STORE("The harbour master counts seagulls at noon");
  OK("search", "where is the token glpat-Xy7Kq2Lm9Rt4Vw8Zb3Nc used?");
  CHECK_INT(http_server_requests(s), 2);
  CHECK(strstr(http_server_seen(s, 1)->first, "where is the token") != NULL);
  CHECK(strstr(http_server_seen(s, 1)->first, "Xy7Kq2Lm9Rt4Vw8Zb3Nc") == NULL);
}

TEST(teams_share_no_vectors) {
  struct http_server *s = use_server();
  OK("config", "embedder.dims", "32");
  cli_set("CAIRN_TEAM=other");
  use_url(http_server_url(s));
  OK("config", "embedder.dims", "32");
  STORE("The harbour master counts seagulls at noon");
  CHECK_INT(http_server_requests(s), 1);
  cli_set("CAIRN_TEAM");
  STORE("The harbour master counts seagulls at noon");
  CHECK_INT(http_server_requests(s), 2); /* although the other team has it cached */
  CHECK_INT(sql_number("SELECT count(*) FROM embed_cache"), 2);
  CHECK_INT(sql_number("SELECT count(DISTINCT team) FROM embed_cache"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_index WHERE state = 'active'"), 2);
}

/* ---- changing the embedder ---- */

TEST(both_indexes_are_searched_until_the_flip) {
  own_settings();
  int64_t old = STORE("The harbour master counts seagulls at noon");
  use_server();
  int64_t young = STORE("Quince jam needs an hour on the stove");
  CHECK_STR(model_in("active"), "hash-v1");
  CHECK_STR(model_in("building"), MODEL);
  CHECK_INT(vectors("hash-v1"), 2);
  CHECK_INT(vectors(MODEL), 1);
  yyjson_val *r = OK("search", "seagulls jam");
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  CHECK_INT(jlen(r, "results"), 2);
  CHECK(jpos(r, "results", old) >= 0 && jpos(r, "results", young) >= 0);
  CHECK_STR(jstr(r, "results[0].source"), "hybrid");
  CHECK_STR(jstr(r, "results[1].source"), "hybrid");
  r = OK("stats");
  CHECK_STR(jstr(r, "embedder"), "hash-v1");
  CHECK_STR(jstr(r, "indexes[1].state"), "building");
  CHECK_INT(jint(r, "indexes[1].done"), 1);
  CHECK_INT(jint(r, "indexes[1].total"), 2);
  int64_t seq = last_seq();
  r = OK("reembed");
  CHECK(jbool(r, "flipped") && jbool(r, "complete"));
  CHECK_INT(jint(r, "newly_embedded"), 1);
  CHECK_STR(jstr(r, "model"), MODEL);
  CHECK_STR(jstr(r, "previous"), "hash-v1");
  CHECK_STR(model_in("active"), MODEL);
  CHECK_STR(model_in("previous"), "hash-v1");
  CHECK_STR(model_in("building"), "");
  struct json_lines events = events_since(seq);
  CHECK_INT(events.n, 1);
  CHECK_STR(jstr(events.v[0], "action"), "embedder:flip");
  CHECK_STR(jstr(OK("search", "seagulls"), "results[0].source"), "hybrid");
  /* Nothing is left to do. */
  r = OK("reembed");
  CHECK(!jbool(r, "flipped"));
  CHECK_INT(jint(r, "newly_embedded"), 0);
  CHECK_HEALTHY();
}

TEST(reverting_the_setting_drops_the_unfinished_index) {
  use_server();
  STORE("The harbour master counts seagulls at noon");
  OK("config", "embedder", "hash-v1");
  STORE("Quince jam needs an hour on the stove");
  CHECK_STR(model_in("building"), "hash-v1");
  OK("config", "embedder", "openai");
  STORE("Rosemary is cheap at the market today");
  CHECK_STR(model_in("building"), "");
  CHECK_STR(model_in("active"), MODEL);
  CHECK_INT(vectors(MODEL), 3);
  CHECK_INT(jint(OK("maintain"), "dropped_vectors"), 1);
  CHECK_INT(vectors("hash-v1"), 0);
  CHECK_HEALTHY();
}

TEST(maintenance_builds_and_flips) {
  own_settings();
  STORE("The harbour master counts seagulls at noon");
  use_server();
  yyjson_val *r = OK("maintain");
  CHECK_INT(jint(r, "embedded"), 1);
  CHECK_STR(jstr(r, "now_active"), MODEL);
  CHECK_STR(model_in("active"), MODEL);
  /* The previous index is dropped eventually. */
  cli_day(40);
  CHECK_INT(jint(OK("maintain"), "dropped_vectors"), 1);
  CHECK_STR(model_in("previous"), "");
  CHECK_INT(vectors("hash-v1"), 0);
}

TEST(rolling_back) {
  own_settings();
  STORE("The harbour master counts seagulls at noon");
  REFUSED("conflict", "reembed", "--rollback");
  use_server();
  OK("config", "embedder.query_prefix", "q: ");
  OK("reembed");
  STORE("Quince jam needs an hour on the stove"); /* only in the new index */
  CHECK_INT(vectors("hash-v1"), 1);
  yyjson_val *r = OK("reembed", "--rollback");
  CHECK_STR(jstr(r, "model"), "hash-v1");
  CHECK_STR(jstr(r, "previous"), MODEL);
  CHECK_INT(jint(r, "embedded"), 1);
  CHECK_INT(vectors("hash-v1"), 2);
  CHECK_STR(model_in("active"), "hash-v1");
  CHECK_STR(jstr(OK("config", "embedder"), "value"), "hash-v1");
  CHECK_STR(jstr(OK("config", "embedder.query_prefix"), "value"), "");
  CHECK_STR(jstr(OK("search", "quince jam"), "results[0].source"), "hybrid");
  /* A second rollback goes forward again, with all settings. */
  r = OK("reembed", "--rollback");
  CHECK_STR(jstr(r, "model"), MODEL);
  CHECK_STR(jstr(OK("config", "embedder"), "value"), "openai");
  CHECK_STR(jstr(OK("config", "embedder.query_prefix"), "value"), "q: ");
  CHECK_STR(jstr(OK("config", "embedder.model"), "value"), "small");
  OK("reembed", "--drop-previous");
  REFUSED("conflict", "reembed", "--rollback");
  CHECK_HEALTHY();
}

TEST(rolling_back_before_the_flip) {
  own_settings();
  STORE("The harbour master counts seagulls at noon");
  use_server();
  STORE("Quince jam needs an hour on the stove");
  yyjson_val *r = OK("reembed", "--rollback");
  CHECK_STR(jstr(r, "model"), "hash-v1");
  CHECK_STR(jstr(r, "abandoned"), MODEL);
  CHECK_STR(jstr(OK("config", "embedder"), "value"), "hash-v1");
  CHECK_STR(model_in("building"), "");
}

TEST(rollback_to_a_broken_embedder_is_refused) {
  struct http_server *s = use_server();
  STORE("The harbour master counts seagulls at noon");
  OK("config", "embedder", "hash-v1");
  OK("reembed");
  STORE("Quince jam needs an hour on the stove");
  http_server_stop(s);
  yyjson_val *e = REFUSED("conflict", "reembed", "--rollback");
  CHECK(has(jstr(e, "message"), "127.0.0.1"));
  CHECK_STR(model_in("active"), "hash-v1");
  cli_set("CAIRN_EMBEDDER=hash-v1");
  REFUSED("conflict", "reembed", "--rollback"); /* the environment overrides the setting */
}

TEST(a_rejected_text_does_not_block_the_others) {
  own_settings();
  store_many(30);
  /* Requests: calibration, batch, availability check, then one text each. */
  struct http_server *s =
      http_server_start(.dims = DIMS, HTTP_STEPS({.times = CALIBRATION}, {.status = 400, .body = "too long"}, {0}, {0},
                                                 {.status = 400, .body = "too long"}, {0}));
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  yyjson_val *r = OK("reembed");
  CHECK_INT(jint(r, "newly_embedded"), 29);
  CHECK_INT(jint(r, "failed"), 1);
  CHECK_STR(model_in("active"), MODEL);
  CHECK_INT(jint(OK("maintain"), "embedded"), 1); /* retried later */
}

/* ---- kills and concurrency ---- */

static struct proc *start_reembed(void) {
  return proc_start(.argv = ARGS(CAIRN_BIN, "--db", cli_db(), "reembed", "--json"), .env = cli_env(),
                    .timeout_ms = 60000);
}

static void wait_for_vectors(const char *model, int64_t n) {
  for (int i = 0; i < 500 && vectors(model) < n; i++)
    usleep(10000);
  CHECK(vectors(model) >= n);
}

TEST(a_killed_reembed_resumes) {
  own_settings();
  store_many(200);
  OK("reembed"); /* completes hash-v1 */
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.delay_ms = 150}));
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  for (int64_t part = 64; part <= 128; part += 64) {
    struct proc *p = start_reembed();
    wait_for_vectors(MODEL, part);
    proc_kill(p, SIGKILL);
    CHECK_INT(proc_wait(p).signal, SIGKILL);
    CHECK_STR(model_in("active"), "hash-v1");
    CHECK_STR(model_in("building"), MODEL);
    CHECK_STR(jstr(OK("search", "item71"), "search_mode"), "hybrid");
    CHECK_HEALTHY();
  }
  int64_t left = 200 - vectors(MODEL);
  CHECK(left < 200);
  yyjson_val *r = OK("reembed");
  CHECK_INT(jint(r, "newly_embedded"), left);
  CHECK(jbool(r, "flipped"));
  CHECK_INT(vectors(MODEL), 200);
  CHECK_HEALTHY();
}

/* Switches back and forth, killed after varying delays: there is always an active index, and search works. */
TEST(killed_at_any_moment) {
  own_settings();
  store_many(120);
  OK("reembed");
  struct http_server *s = http_server_start(.dims = DIMS);
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  for (int i = 0; i < 16; i++) {
    test_note("round %d", i);
    struct proc *p = start_reembed();
    usleep((useconds_t)i * 6000);
    proc_kill(p, SIGKILL);
    proc_wait(p);
    CHECK(model_in("active").n > 0);
    CHECK(jlen(OK("search", "item71"), "results") > 0);
    CHECK_HEALTHY();
    if (i % 4 == 3) /* switch direction, whatever the progress */
      OK("config", "embedder", i % 8 == 3 ? "hash-v1" : "openai");
  }
  OK("reembed");
  CHECK_STR(model_in("active"), MODEL);
  CHECK_STR(model_in("building"), "");
  CHECK_INT(vectors(MODEL), 120);
}

TEST(reembed_can_be_interrupted) {
  own_settings();
  store_many(200);
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.delay_ms = 150}));
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  struct proc *p = start_reembed();
  wait_for_vectors(MODEL, 64);
  proc_kill(p, SIGINT);
  CHECK_INT(proc_wait(p).exit_code, 130);
  int64_t done = vectors(MODEL);
  CHECK(done >= 64 && done < 200);
  yyjson_val *r = OK("reembed", "--max-ms", "1"); /* time-limited run */
  CHECK(!jbool(r, "complete"));
  r = OK("reembed");
  CHECK(jbool(r, "complete"));
  CHECK_INT(vectors(MODEL), 200);
}

TEST(two_processes_reembed_concurrently) {
  own_settings();
  store_many(150);
  OK("reembed");
  use_server();
  struct proc *p[2] = {start_reembed(), start_reembed()};
  for (int i = 0; i < 2; i++) {
    struct run r = proc_wait(p[i]);
    test_note("%s", r.out.p);
    CHECK_INT(r.exit_code, 0);
  }
  CHECK_STR(model_in("active"), MODEL);
  CHECK_INT(vectors(MODEL), 150);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'embedder:flip'"), 1);
  CHECK_HEALTHY();
}

/* ---- import ---- */

static const char *notes_file(int n) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < n; i++)
    buf_addf(&b, "# Note %d\n\n%s\n\n", i, words(textf("note%d", i), 6));
  const char *path = path_join(NULL, "notes.md");
  file_write(path, buf_str(&b));
  return path;
}

TEST(an_import_succeeds_without_an_embedder) {
  use_url(http_server_nobody());
  OK("config", "embedder.dims", "32");
  yyjson_val *r = OK("import", notes_file(3));
  CHECK_INT(jint(r, "imported"), 3);
  CHECK_INT(jint(r, "embedded"), 0);
  CHECK(warning(r, "embedding_deferred"));
  CHECK_STR(jstr(OK("search", "note11"), "results[0].headline"), "Note 1");
}

TEST(interrupting_the_embedding_of_an_import_keeps_the_import) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.delay_ms = 150}));
  OK("config", "embedder.dims", "32");
  use_url(http_server_url(s));
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "--db", cli_db(), "import", notes_file(200), "--json"),
                              .env = cli_env(), .timeout_ms = 60000);
  wait_for_vectors(MODEL, 64);
  proc_kill(p, SIGINT);
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "embedding_deferred"));
  CHECK_INT(jint(OK("list"), "total"), 200);
  OK("reembed");
  CHECK_INT(vectors(MODEL), 200);
}

/* ---- model files ---- */

TEST(a_missing_or_damaged_model_file_breaks_neither_reads_nor_writes) {
  own_settings();
  int64_t id = STORE("The harbour master counts seagulls at noon");
  OK("config", "embedder", "file");
  const char *path = path_join(NULL, "model.cairn");
  OK("config", "embedder.file", path);
  for (int i = 0; i < 3; i++) {
    test_note("step %d", i);
    if (i == 1)
      file_write(path, STR("this is no model"));
    if (i == 2)
      file_write(path, str_from(words("damage", 2000)));
    yyjson_val *r = OK("search", "seagulls");
    CHECK_INT(jint(r, "results[0].id"), id);
    CHECK(has(jstr(r, "degraded"), "model.cairn"));
    CHECK_STR(jstr(r, "search_mode"), "hybrid"); /* previous embedder */
    r = OK("remember", words(textf("step%d", i), 6));
    CHECK(jbool(r, "embedded")); /* previous embedder */
    CHECK(has(jstr(warning(r, "embedding_deferred"), "message"), "model.cairn"));
    REFUSED("conflict", "reembed");
  }
  CHECK_STR(model_in("active"), "hash-v1");
  CHECK_STR(model_in("building"), "");
}

/* Converts a tiny model. Both poolings use the same model name. */
static void convert(const char *path, const char *pooling) {
  static struct arena a;
  const char *folder = path_join(NULL, "tiny");
  if (mkdir(folder, 0700) == 0) {
    file_write(path_join(folder, "model.safetensors"), tiny_weights(&a, &(struct tiny_spec){0}));
    file_write(path_join(folder, "vocab.txt"), str_from(tiny_vocab));
    file_write(path_join(folder, "config.json"), str_from(tiny_config));
  }
  OK("model", "convert", folder, path, "--pooling", pooling, "--name", "tiny", "--force");
}

TEST(a_replaced_model_file_is_detected) {
  own_settings();
  STORE("The harbour master counts seagulls at noon");
  const char *path = path_join(NULL, "model.cairn");
  convert(path, "mean");
  OK("config", "embedder.file", path);
  CHECK(has(jstr(OK("config", "embedder", "file"), "note"), "reembed"));
  CHECK(jbool(OK("reembed"), "flipped"));
  struct str first = model_in("active");
  CHECK(str_starts(first, STR("file:tiny+")));
  CHECK_STR(jstr(OK("search", "seagulls"), "results[0].source"), "hybrid");
  convert(path, "cls");
  yyjson_val *r = OK("search", "seagulls");
  CHECK(has(jstr(r, "degraded"), "do not match the index"));
  CHECK_INT(jlen(r, "results"), 1);
  r = OK("reembed");
  CHECK(jbool(r, "flipped"));
  CHECK_STR(jstr(r, "previous"), first.p);
  CHECK(!str_eq(model_in("active"), first));
  CHECK(!jget(OK("search", "seagulls"), "degraded"));
  REFUSED("conflict", "reembed", "--rollback"); /* that model file is gone */
}

/* ---- the default ---- */

/* A program with a built-in model uses it by default. Existing stores migrate automatically. */
TEST(a_store_migrates_to_the_built_in_embedder) {
  STORE("The harbour master counts seagulls at noon");
  cli_set("CAIRN_EMBEDDER");
  yyjson_val *r = OK("config", "embedder");
  CHECK_STR(jstr(r, "origin"), "default");
  if (str_is(jstr(r, "value"), "hash-v1"))
    return; /* no built-in model */
  CHECK_STR(jstr(r, "value"), "cairn-embed-v2");
  int64_t jam = STORE("Quince jam needs an hour on the stove");
  CHECK_STR(model_in("active"), "hash-v1");
  CHECK_STR(model_in("building"), "cairn-embed-v2");
  CHECK_STR(jstr(OK("maintain"), "now_active"), "cairn-embed-v2");
  CHECK_INT(vectors("cairn-embed-v2"), 2);
  /* Found by meaning: no word of the query is in the text. */
  r = OK("search", "cooking fruit preserves");
  CHECK_INT(jint(r, "results[0].id"), jam);
  CHECK_STR(jstr(r, "results[0].source"), "vector");
}
