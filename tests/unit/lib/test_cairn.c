/* test_cairn.c: C library: opening, errors, options, threads, several stores. */
#include "cairn.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct cairn *open_store(const char *name) {
  struct cairn_options o = {.size = sizeof(o), .path = test_store(name), .source = "test"};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  return db;
}

static int64_t remember(struct cairn *db, const char *text) {
  struct cairn_draft d = {.size = sizeof(d), .text = text};
  struct cairn_written *w = NULL;
  int s = cairn_remember(db, &d, &w);
  if (s != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    FAIL("remember '%s': %s", text, e.message);
  }
  int64_t id = w->id;
  cairn_written_free(w);
  return id;
}

/* Number of memories: "total" in the JSON of `list`. */
static int64_t count(struct cairn *db) {
  char *json = NULL;
  CHECK_INT(cairn_call(db, "list", "{\"limit\":1,\"all_projects\":true}", 0, &json, NULL), CAIRN_OK);
  const char *at = strstr(json, "\"total\":");
  CHECK(at != NULL);
  int64_t n = strtoll(at + strlen("\"total\":"), NULL, 10);
  cairn_free(json);
  return n;
}

static struct cairn_error error_of(struct cairn *db) {
  struct cairn_error e;
  cairn_last_error(db, &e);
  return e;
}

TEST(version_and_status_names) {
  CHECK_STR(str_from(cairn_version()), CAIRN_VERSION);
  CHECK_STR(str_from(cairn_status_name(CAIRN_NOT_FOUND)), "not_found");
  CHECK_STR(str_from(cairn_status_name(CAIRN_DEGRADED)), "degraded");
  CHECK_STR(str_from(cairn_status_name(-1)), "unknown");
  CHECK_STR(str_from(cairn_status_name(CAIRN_LIMITED + 1)), "unknown");
  CHECK_STR(str_from(cairn_status_text(CAIRN_NOMEM)), "out of memory");
  CHECK(cairn_status_text(1000) != NULL);
}

TEST(operations_can_be_listed) {
  size_t n = cairn_operation_count();
  bool remember_seen = false, purge_seen = false, events_seen = false;
  CHECK(n > 20);
  for (size_t i = 0; i < n; i++) {
    struct str name = str_from(cairn_operation_name(i));
    CHECK(name.n > 0 && cairn_operation_summary(i)[0] != 0);
    unsigned flags = cairn_operation_flags(i);
    if (str_is(name, "remember"))
      remember_seen = flags == CAIRN_OP_WRITES;
    if (str_is(name, "purge"))
      purge_seen = flags == (CAIRN_OP_WRITES | CAIRN_OP_DESTRUCTIVE);
    if (str_is(name, "events"))
      events_seen = flags == CAIRN_OP_STREAMS;
  }
  CHECK(remember_seen && purge_seen && events_seen);
  CHECK(cairn_operation_name(n) == NULL && cairn_operation_summary(n) == NULL);
  CHECK_INT(cairn_operation_flags(n), 0);
}

TEST(close_accepts_null_and_clears_the_handle) {
  cairn_close(NULL);
  struct cairn *db = NULL;
  cairn_close(&db);
  db = open_store("a.db");
  cairn_close(&db);
  CHECK(db == NULL);
  cairn_free(NULL);
  cairn_written_free(NULL);
  cairn_memory_free(NULL);
  cairn_results_free(NULL);
  cairn_interrupt(NULL);
}

TEST(a_new_handle_has_no_error) {
  struct cairn *db = open_store("a.db");
  struct cairn_error e = error_of(db);
  CHECK_INT(e.code, CAIRN_OK);
  CHECK_STR(str_from(e.message), "");
  cairn_close(&db);
}

/* ---- failed opening ---- */

TEST(a_failed_open_has_an_error, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "notes.txt");
  file_write(path, STR("these are notes, and no store; more than a hundred bytes of them, to be sure: .........."
                       "......................................................................................."));
  struct cairn_options o = {.size = sizeof(o), .path = path};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_CORRUPT);
  CHECK(db != NULL);
  struct cairn_error e = error_of(db);
  CHECK_INT(e.code, CAIRN_CORRUPT);
  CHECK(strstr(e.message, path) != NULL);
  CHECK(e.fix[0] != 0);
  /* Every call on it fails with the same error. */
  struct cairn_draft d = {.text = "Ravens are clever birds"};
  struct cairn_memory *m = NULL;
  CHECK_INT(cairn_remember(db, &d, NULL), CAIRN_CORRUPT);
  CHECK_INT(cairn_get(db, "1", &m), CAIRN_CORRUPT);
  CHECK(m == NULL);
  CHECK_STR(str_from(error_of(db).message), e.message);
  cairn_close(&db);
  CHECK(db == NULL);
  CHECK(str_starts(file_read(path), STR("these are notes")));
}

TEST(must_exist_creates_nothing) {
  const char *path = test_store_new("missing.db");
  struct cairn_options o = {.size = sizeof(o), .path = path, .must_exist = true};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_NOT_FOUND);
  CHECK_INT(error_of(db).code, CAIRN_NOT_FOUND);
  cairn_close(&db);
  CHECK(!store_is_there(path));
}

static void refuses(const struct cairn_options *o, const char *part) {
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(o, &db), CAIRN_USAGE);
  struct cairn_error e = error_of(db);
  if (!strstr(e.message, part))
    FAIL("'%s' does not mention '%s'", e.message, part);
  cairn_close(&db);
}

TEST(malformed_options_are_rejected) {
  const char *path = test_store_new("a.db");
  refuses(&(struct cairn_options){.path = ""}, "path");
  refuses(&(struct cairn_options){.path = path, .team = "Not A Slug"}, "team");
  refuses(&(struct cairn_options){.path = path, .team = ""}, "team");
  refuses(&(struct cairn_options){.path = path, .source = "\xff"}, "source");
  refuses(&(struct cairn_options){.path = path, .session = "a\xc3"}, "session");
  refuses(&(struct cairn_options){.path = test_dir()}, "folder");
  CHECK(!store_is_there(path));
  CHECK_INT(cairn_open(NULL, NULL), CAIRN_USAGE);
}

TEST(calls_without_a_handle_are_rejected) {
  struct cairn_draft d = {.text = "Ravens are clever birds"};
  CHECK_INT(cairn_remember(NULL, &d, NULL), CAIRN_USAGE);
  CHECK_INT(cairn_call(NULL, "stats", NULL, 0, NULL, NULL), CAIRN_USAGE);
  struct cairn_error e;
  cairn_last_error(NULL, &e);
  CHECK_INT(e.code, CAIRN_NOMEM);
}

/* ---- options ---- */

/* An allocation of exactly the given size, so a sanitizer detects reads after it. */
static int open_sized(const void *options, size_t n, size_t size, struct cairn **ret_db) {
  void *copy = malloc(n);
  CHECK(copy != NULL);
  memcpy(copy, options, n);
  memcpy(copy, &size, sizeof(size));
  int s = cairn_open(copy, ret_db);
  free(copy);
  return s;
}

TEST(options_may_be_shorter_or_longer) {
  struct {
    struct cairn_options o;
    char more[64];
  } long_options = {.o = {.path = test_store("a.db"), .source = "test", .must_exist = true}};
  struct cairn *db = NULL;
  db = open_store("a.db");
  cairn_close(&db);

  /* A program built before `team` existed: nothing after its options may be read. */
  size_t old = offsetof(struct cairn_options, team);
  long_options.o.team = "BAD TEAM";
  CHECK_INT(open_sized(&long_options, old, old, &db), CAIRN_OK);
  cairn_close(&db);
  long_options.o.team = NULL;

  /* Size 0 means the structure of version 0.1. */
  CHECK_INT(open_sized(&long_options, sizeof(long_options.o), 0, &db), CAIRN_OK);
  cairn_close(&db);

  /* A newer program, first without and then with a new option. */
  CHECK_INT(open_sized(&long_options, sizeof(long_options), sizeof(long_options), &db), CAIRN_OK);
  cairn_close(&db);
  long_options.more[63] = 1;
  CHECK_INT(open_sized(&long_options, sizeof(long_options), sizeof(long_options), &db), CAIRN_USAGE);
  cairn_close(&db);
}

TEST(the_default_store_is_that_of_the_command_line) {
  unsetenv("CAIRN_DB");
  setenv("XDG_DATA_HOME", path_join(NULL, "data"), 1);
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(NULL, &db), CAIRN_OK);
  remember(db, "Ravens are clever birds");
  cairn_close(&db);
  CHECK(access(path_join(NULL, "data/cairn/cairn.db"), R_OK) == 0);

  const char *other = test_store_new("other.db");
  setenv("CAIRN_DB", other, 1);
  CHECK_INT(cairn_open(NULL, &db), CAIRN_OK);
  CHECK_INT(count(db), 0);
  cairn_close(&db);
  CHECK(store_is_there(other));
}

static void check_setting(const struct cairn_options *o, const char *value, const char *origin) {
  struct cairn *db = NULL;
  char *json = NULL;
  CHECK_INT(cairn_open(o, &db), CAIRN_OK);
  CHECK_INT(cairn_call(db, "config", "{\"name\": \"boot.budget_tokens\"}", 0, &json, NULL), CAIRN_OK);
  struct str text = str_from(json);
  CHECK(str_find(text, str_from(value), 0) != SIZE_MAX && str_find(text, str_from(origin), 0) != SIZE_MAX);
  cairn_free(json);
  cairn_close(&db);
}

TEST(settings_come_from_options_and_a_file) {
  const char *path = path_join(NULL, "mine.toml"), *const one[] = {"gate.mode=strict", "boot.budget_tokens=4444", NULL};
  struct cairn_options o = {.size = sizeof(o), .path = test_store("a.db")};
  file_write(path, STR("\nboot.budget_tokens = 3333\n"));
  check_setting(&o, "\"value\":\"2000\"", "\"origin\":\"default\"");
  o.config = path;
  check_setting(&o, "\"value\":\"3333\"", "\"line\":2");
  o.settings = one;
  check_setting(&o, "\"value\":\"4444\"", "\"origin\":\"flag\"");
  o.size = 0;
  check_setting(&o, "\"value\":\"4444\"", "\"origin\":\"flag\"");
  o.config = "/dev/null";
  o.settings = NULL;
  check_setting(&o, "\"value\":\"2000\"", "\"origin\":\"default\"");
}

TEST(an_invalid_configuration_opens_nothing) {
  const char *path = path_join(NULL, "mine.toml"), *const bad[] = {"gate.mode=lenient", NULL};
  struct cairn_options o = {.size = sizeof(o), .path = test_store_new("a.db"), .config = path};
  struct cairn *db = NULL;
  struct cairn_error e;
  file_write(path, STR("\nboot.budget = 3333\n"));
  CHECK_INT(cairn_open(&o, &db), CAIRN_USAGE);
  cairn_last_error(db, &e);
  CHECK(strstr(e.message, "mine.toml:2:6: "));
  cairn_close(&db);
  o.config = NULL;
  o.settings = bad;
  CHECK_INT(cairn_open(&o, &db), CAIRN_USAGE);
  cairn_close(&db);
  o.settings = NULL;
  o.config = path_join(NULL, "missing.toml");
  CHECK_INT(cairn_open(&o, &db), CAIRN_NOT_FOUND);
  cairn_close(&db);
  CHECK(!store_is_there(o.path));
}

TEST(options_set_the_caller) {
  struct cairn_options o = {.size = sizeof(o),
                            .path = test_store("a.db"),
                            .project = "shop",
                            .source = "probe",
                            .session = "s1",
                            .fixed_now_ms = 1767225600000}; /* 2026-01-01 */
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  remember(db, "Ravens are clever birds");
  struct cairn_memory *m = NULL;
  CHECK_INT(cairn_get(db, "1", &m), CAIRN_OK);
  CHECK_STR(str_from(m->project), "shop");
  CHECK_STR(str_from(m->source), "probe");
  CHECK_STR(str_from(m->session), "s1");
  CHECK_STR(str_from(m->trust), "agent");
  CHECK_INT(m->created_at, 1767225600000);
  cairn_memory_free(m);
  cairn_close(&db);

  /* Invisible to another team, and to another project unless it asks for all projects. */
  struct {
    const char *team, *project;
    bool all;
    int found;
  } cases[] = {{"other", "shop", true, 0}, {NULL, "bar", false, 0}, {NULL, NULL, false, 0}, {NULL, "bar", true, 1}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("case %zu", i);
    o.team = cases[i].team;
    o.project = cases[i].project;
    o.all_projects = cases[i].all;
    CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
    struct cairn_results *r = NULL;
    CHECK_INT(cairn_search(db, "ravens", NULL, &r), CAIRN_OK);
    CHECK_INT(r->count, cases[i].found);
    cairn_results_free(r);
    cairn_close(&db);
  }
}

/* ---- several handles ---- */

TEST(two_stores_are_open_at_once) {
  struct cairn *one = open_store("one.db"), *two = open_store("two.db");
  remember(one, "Ravens are clever birds");
  remember(two, "The harbour closes at ten in the evening");
  remember(one, "Otters sleep holding hands");
  CHECK_INT(count(one), 2);
  CHECK_INT(count(two), 1);
  cairn_close(&one);
  remember(two, "Tea is served at four o'clock");
  CHECK_INT(count(two), 2);
  cairn_close(&two);
}

TEST(one_store_is_open_twice) {
  struct cairn *one = open_store("a.db"), *two = open_store("a.db");
  remember(one, "Ravens are clever birds");
  CHECK_INT(count(two), 1);
  remember(two, "The harbour closes at ten in the evening");
  CHECK_INT(count(one), 2);
  cairn_close(&one); /* must not release the locks of the other */
  remember(two, "Tea is served at four o'clock");
  one = open_store("a.db");
  CHECK_INT(count(one), 3);
  cairn_close(&one);
  cairn_close(&two);
}

TEST(a_forked_child_cannot_use_the_handle) {
  struct cairn *db = open_store("a.db");
  remember(db, "Ravens are clever birds");
  pid_t child = fork();
  if (child == 0) {
    struct cairn_draft d = {.text = "Otters sleep holding hands"};
    bool ok = cairn_remember(db, &d, NULL) == CAIRN_USAGE && strstr(error_of(db).fix, "fork");
    cairn_close(&db);
    _exit(ok && !db ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_INT(count(db), 1);
  cairn_close(&db);
}

/* ---- threads ---- */

enum { THREADS = 4, EACH = 6 };

static const char *const subjects[THREADS] = {"otters", "harbours", "telescopes", "bakeries"};
static const char *const claims[EACH] = {"need a licence from the city",   "close early on Sunday",
                                         "were invented in the north",     "cost twelve crowns a week",
                                         "are painted green every spring", "have a keeper called Ida"};

struct worker {
  struct cairn *db;
  const char *subject;
  int bad;
};

/* Returns a number, because a failed check would end the whole process. */
static void *work(void *arg) {
  struct worker *w = arg;
  for (int i = 0; i < EACH; i++) {
    char text[100];
    snprintf(text, sizeof(text), "The %s %s", w->subject, claims[i]);
    struct cairn_draft d = {.size = sizeof(d), .text = text};
    struct cairn_written *written = NULL;
    struct cairn_memory *m = NULL;
    struct cairn_results *r = NULL;
    char ref[24] = "";
    w->bad += cairn_remember(w->db, &d, &written) != CAIRN_OK;
    if (written)
      snprintf(ref, sizeof(ref), "%lld", (long long)written->id);
    w->bad += cairn_get(w->db, ref, &m) != CAIRN_OK || strcmp(m->body, text) != 0;
    w->bad += cairn_search(w->db, w->subject, NULL, &r) != CAIRN_OK || r->count == 0;
    /* Provoke errors and read them at the same time. */
    struct cairn_error e;
    w->bad += cairn_get(w->db, "999999", NULL) != CAIRN_NOT_FOUND;
    cairn_last_error(w->db, &e);
    w->bad += e.code != CAIRN_NOT_FOUND;
    cairn_written_free(written);
    cairn_memory_free(m);
    cairn_results_free(r);
  }
  return NULL;
}

static void run_workers(struct cairn *handles[THREADS]) {
  struct worker w[THREADS];
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) {
    w[i] = (struct worker){handles[i], subjects[i], 0};
    CHECK(pthread_create(&t[i], NULL, work, &w[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(t[i], NULL);
    CHECK_INT(w[i].bad, 0);
  }
}

TEST(four_threads_on_one_handle) {
  struct cairn *db = open_store("a.db");
  run_workers((struct cairn *[THREADS]){db, db, db, db});
  CHECK_INT(count(db), THREADS * EACH);
  cairn_close(&db);
}

TEST(four_threads_on_a_handle_each) {
  struct cairn *db[THREADS];
  for (int i = 0; i < THREADS; i++)
    db[i] = open_store("a.db");
  run_workers(db);
  CHECK_INT(count(db[0]), THREADS * EACH);
  for (int i = 0; i < THREADS; i++)
    cairn_close(&db[i]);
}

struct opener {
  const char *path;
  int bad;
};

static void *open_and_close(void *arg) {
  struct opener *o = arg;
  for (int i = 0; i < 3; i++) {
    struct cairn_options options = {.size = sizeof(options), .path = o->path};
    struct cairn *db = NULL;
    o->bad += cairn_open(&options, &db) != CAIRN_OK;
    struct cairn_draft d = {.text = "Ravens are clever birds"};
    o->bad += cairn_remember(db, &d, NULL) != CAIRN_OK;
    cairn_close(&db);
  }
  return NULL;
}

/* The first thread creates the store; the others wait for it. */
TEST(threads_may_open_a_new_store_together) {
  pthread_t t[THREADS];
  struct opener o[THREADS];
  const char *shared = test_store_new("shared.db");
  for (int i = 0; i < THREADS; i++) {
    o[i] = (struct opener){shared, 0};
    CHECK(pthread_create(&t[i], NULL, open_and_close, &o[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(t[i], NULL);
    CHECK_INT(o[i].bad, 0);
  }
  struct cairn *db = open_store("shared.db");
  CHECK_INT(count(db), 1);
  cairn_close(&db);
}
