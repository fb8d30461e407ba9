/* test_nomem.c: out of memory at every allocation of a write and of opening: nothing is half done or lost. */
#include "base/alloc.h"
#include "cairn.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static const char text[] = "Ravens are clever birds and remember faces for years";

/* After the first few hundred allocations only every nth one fails: sanitizer builds have one allocation per object. On
 * a server each step costs a database. */
static long next_place(long n) { return n + 1 + n / (on_postgres() ? 3 : 200); }

static struct cairn *open_store(const char *path) {
  struct cairn_options o = {.size = sizeof(o), .path = path, .source = "test"};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  return db;
}

static bool contains(struct cairn *db, const char *operation, const char *part) {
  char *json = NULL;
  CHECK_INT(cairn_call(db, operation, NULL, 0, &json, NULL), CAIRN_OK);
  bool found = strstr(json, part) != NULL;
  cairn_free(json);
  return found;
}

static void check_sound(struct cairn *db) {
  char *json = NULL;
  CHECK_INT(cairn_call(db, "doctor", NULL, 0, &json, NULL), CAIRN_OK);
  if (!strstr(json, "\"ok\":true"))
    FAIL("%s", json);
  cairn_free(json);
}

/* The memory is stored completely or not at all, as the error says, and the handle still works. */
static void check_after_failure(struct cairn *db, int status) {
  struct cairn_error e;
  cairn_last_error(db, &e);
  CHECK_INT(status, CAIRN_NOMEM);
  CHECK_INT(e.code, CAIRN_NOMEM);
  bool done = strcmp(e.step, "result") == 0;
  if (!contains(db, "list", done ? "\"total\":1" : "\"total\":0"))
    FAIL("'%s', step '%s', and the store says otherwise", e.message, e.step);
  check_sound(db);
  struct cairn_draft d = {.size = sizeof(d), .text = text};
  struct cairn_written *w = NULL;
  CHECK_INT(cairn_remember(db, &d, &w), CAIRN_OK);
  CHECK_INT(w->action, done ? CAIRN_SKIPPED : CAIRN_STORED);
  cairn_written_free(w);
  CHECK(contains(db, "list", "\"total\":1"));
  struct cairn_results *r = NULL;
  CHECK_INT(cairn_search(db, "ravens", NULL, &r), CAIRN_OK);
  CHECK_INT(r->count, 1);
  cairn_results_free(r);
}

/* Fails each allocation of a call in turn until the call succeeds; at least `least` must have failed. */
static void torture(int (*call)(struct cairn *db), int least) {
  const char *path = test_store("a.db");
  int failures = 0;
  for (long n = 1;; n = next_place(n)) {
    test_note("allocation %ld", n);
    struct cairn *db = open_store(path);
    alloc_fail_at(n, 0);
    int status = call(db);
    bool failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    if (status == CAIRN_OK) {
      CHECK(contains(db, "list", "\"total\":1"));
      check_sound(db);
    } else {
      CHECK(failed);
      failures++;
      check_after_failure(db, status);
    }
    cairn_close(&db);
    store_remove(path);
    if (!failed)
      break;
  }
  CHECK(failures >= least);
}

static int typed_remember(struct cairn *db) {
  struct cairn_draft d = {.size = sizeof(d), .text = text};
  struct cairn_written *w = NULL;
  int s = cairn_remember(db, &d, &w);
  CHECK((s == CAIRN_OK) == (w != NULL));
  cairn_written_free(w);
  return s;
}

TEST(remember_survives_every_failure, .seconds = 60, .slow = true) { torture(typed_remember, 3); }

static int json_remember(struct cairn *db) {
  char args[200], *json = NULL;
  snprintf(args, sizeof(args), "{\"text\": \"%s\"}", text);
  int s = cairn_call(db, "remember", args, 0, &json, NULL);
  CHECK((s == CAIRN_OK) == (json != NULL));
  cairn_free(json);
  return s;
}

TEST(a_call_survives_every_failure, .seconds = 60, .slow = true) { torture(json_remember, 3); }

/* From the nth allocation on, all fail. */
TEST(remember_survives_the_end_of_memory, .seconds = 60, .slow = true) {
  const char *path = test_store("a.db");
  for (long n = 1; n < 4000; n = n < 20 ? n + 1 : n * 3 / 2) {
    test_note("allocation %ld", n);
    struct cairn *db = open_store(path);
    alloc_fail_at(n, 1);
    int status = typed_remember(db);
    alloc_fail_at(0, 0);
    if (status != CAIRN_OK)
      check_after_failure(db, status);
    cairn_close(&db);
    store_remove(path);
  }
}

/* A change is done or not done, as the error says. */
static void torture_change(const char *operation, const char *args, const char *done_mark) {
  const char *path = test_store("a.db");
  bool failed = true;
  int failures = 0;
  for (long n = 1; failed; n = next_place(n)) {
    test_note("%s, allocation %ld", operation, n);
    struct cairn *db = open_store(path);
    CHECK_INT(typed_remember(db), CAIRN_OK);
    char *json = NULL;
    alloc_fail_at(n, 0);
    int status = cairn_call(db, operation, args, 0, &json, NULL);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    cairn_free(json);
    struct cairn_error e;
    cairn_last_error(db, &e);
    bool done = status == CAIRN_OK || strcmp(e.step, "result") == 0;
    CHECK(status == CAIRN_OK || status == CAIRN_NOMEM);
    failures += status != CAIRN_OK;
    struct cairn_memory *m = NULL;
    CHECK_INT(cairn_get(db, "1", &m), CAIRN_OK);
    if ((strstr(m->json, done_mark) != NULL) != done)
      FAIL("'%s', and the memory is %s", e.message, m->json);
    cairn_memory_free(m);
    check_sound(db);
    cairn_close(&db);
    store_remove(path);
  }
  CHECK(failures >= 2);
}

TEST(changes_survive_every_failure, .seconds = 60, .slow = true) {
  torture_change("forget", "{\"ids\": [\"1\"], \"reason\": \"wrong\"}", "\"state\":\"forgotten\"");
  torture_change("supersede", "{\"id\": \"1\", \"text\": \"Ravens forget faces\", \"reason\": \"measured again\"}",
                 "\"state\":\"superseded\"");
  torture_change("annotate", "{\"id\": \"1\", \"note\": \"seen in Oslo\"}", "seen in Oslo");
}

/* Reads must not fail because their access cannot be recorded. */
TEST(reads_survive_every_failure, .seconds = 60) {
  struct cairn *db = open_store(test_store("a.db"));
  CHECK_INT(typed_remember(db), CAIRN_OK);
  bool failed = true;
  for (long n = 1; failed; n = next_place(n)) {
    test_note("allocation %ld", n);
    struct cairn_memory *m = NULL;
    struct cairn_results *r = NULL;
    alloc_fail_at(n, 0);
    int got = cairn_get(db, "1", &m);
    failed = alloc_failures() > 0;
    alloc_fail_at(n, 0);
    int found = cairn_search(db, "ravens", NULL, &r);
    failed = failed || alloc_failures() > 0;
    alloc_fail_at(0, 0);
    CHECK(got == CAIRN_OK ? m && strcmp(m->body, text) == 0 : got == CAIRN_NOMEM && !m);
    CHECK(found == CAIRN_OK ? r && r->count == 1 : found == CAIRN_NOMEM && !r);
    cairn_memory_free(m);
    cairn_results_free(r);
  }
  check_sound(db);
  cairn_close(&db);
}

TEST(open_survives_every_failure, .seconds = 60, .slow = true) {
  const char *path = test_store_new("new.db");
  struct cairn_options o = {.size = sizeof(o), .path = path};
  int failures = 0;
  bool failed = true;
  for (long n = 1; failed; n = next_place(n)) {
    test_note("allocation %ld", n);
    struct cairn *db = NULL;
    alloc_fail_at(n, 0);
    int status = cairn_open(&o, &db);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    if (status != CAIRN_OK) {
      struct cairn_error e;
      failures++;
      CHECK_INT(status, CAIRN_NOMEM);
      cairn_last_error(db, &e);
      CHECK_INT(e.code, CAIRN_NOMEM);
      cairn_close(&db);
      db = open_store(path);
    }
    check_sound(db);
    cairn_close(&db);
    store_remove(path);
  }
  CHECK(failures >= 3);
}
