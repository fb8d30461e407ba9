/* test_call.c: operations with JSON arguments and results, streams, interruption, callbacks. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cairn.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena a; /* lives as long as the test */

static struct cairn *open_store(const char *name) {
  struct cairn_options o = {.size = sizeof(o), .path = test_store(name), .source = "test"};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  return db;
}

static void must(struct cairn *db, int status) {
  struct cairn_error e;
  cairn_last_error(db, &e);
  if (status != CAIRN_OK)
    FAIL("%s: %s", cairn_status_name(status), e.message);
}

/* The parsed result of a call; lives as long as the test. */
static yyjson_val *call(struct cairn *db, const char *operation, const char *args) {
  char *json = NULL;
  size_t n = 0;
  must(db, cairn_call(db, operation, args, 0, &json, &n));
  CHECK_INT(strlen(json), n);
  struct error err;
  yyjson_val *root;
  CHECK_OK(json_read(&a, arena_dup(&a, (struct str){json, n}), &root, &err), &err);
  cairn_free(json);
  return root;
}

static void refused(struct cairn *db, const char *operation, const char *args, int want, const char *part) {
  char *json = NULL;
  test_note("%s %s", operation, args);
  CHECK_INT(cairn_call(db, operation, args, 0, &json, NULL), want);
  CHECK(json == NULL);
  struct cairn_error e;
  cairn_last_error(db, &e);
  CHECK_INT(e.code, want);
  if (!strstr(e.message, part))
    FAIL("'%s' does not mention '%s'", e.message, part);
}

TEST(json_arguments_and_results) {
  struct cairn *db = open_store("a.db");
  yyjson_val *r = call(db, "remember", "{\"text\": \"Ravens are clever birds\", \"tags\": [\"birds\"]}");
  CHECK_INT(json_int(r, "id", 0), 1);
  CHECK_STR(json_str(r, "action"), "stored");
  CHECK_STR(json_str(call(db, "get", "{\"id\": \"1\"}"), "body"), "Ravens are clever birds");
  /* With and without a length, and without arguments. */
  CHECK_INT(cairn_call(db, "get", "{\"id\":\"1\"}rubbish", 10, NULL, NULL), CAIRN_OK);
  CHECK_INT(json_int(call(db, "stats", NULL), "memories", 0), 1);
  size_t n = 0;
  CHECK_INT(cairn_call(db, "stats", NULL, 0, NULL, &n), CAIRN_OK);
  CHECK(n > 2);
  cairn_close(&db);
}

TEST(errors_have_messages) {
  struct cairn *db = open_store("a.db");
  refused(db, "remind", "{}", CAIRN_USAGE, "remind");
  refused(db, NULL, "{}", CAIRN_USAGE, "operation");
  refused(db, "get", "{\"id\": ", CAIRN_USAGE, "JSON");
  refused(db, "get", "[1]", CAIRN_USAGE, "object");
  refused(db, "get", "{\"id\": \"7\"}", CAIRN_NOT_FOUND, "7");
  refused(db, "get", "{\"name\": \"x\"}", CAIRN_USAGE, "name");
  refused(db, "remember", "{\"text\": \"a\\u0000b\"}", CAIRN_USAGE, "NUL");
  refused(db, "remember", "{\"text\": \"x\", \"weight\": 2}", CAIRN_REFUSED, "weight");
  struct cairn_error e;
  cairn_last_error(db, &e);
  CHECK_STR(str_from(e.step), "fields");
  CHECK(e.fix[0] != 0);
  CHECK_INT(json_int(call(db, "stats", NULL), "memories", -1), 0);
  cairn_close(&db);
}

TEST(standard_streams_are_rejected) {
  struct cairn *db = open_store("a.db");
  refused(db, "remember", "{\"batch\": \"-\"}", CAIRN_USAGE, "'-'");
  refused(db, "import", "{\"file\": \"-\"}", CAIRN_USAGE, "'-'");
  refused(db, "events", "{}", CAIRN_USAGE, "line by line");
  refused(db, "export", "{}", CAIRN_USAGE, "line by line");
  cairn_close(&db);
}

/* ---- lines ---- */

struct lines {
  struct cairn *db; /* handle that runs the callback */
  int count, stop_at, inner, other;
  struct cairn *second;
  char last[2000];
};

static int on_line(void *arg, const char *line, size_t n) {
  struct lines *l = arg;
  CHECK_INT(strlen(line), n);
  CHECK(n > 0 && n < sizeof(l->last));
  memcpy(l->last, line, n + 1);
  return ++l->count == l->stop_at;
}

TEST(lines_come_one_by_one) {
  struct cairn *db = open_store("a.db");
  call(db, "remember", "{\"text\": \"Ravens are clever birds\"}");
  call(db, "remember", "{\"text\": \"The harbour closes at ten in the evening\"}");
  struct lines l = {0};
  char *json = NULL;
  must(db, cairn_stream(db, "events", "{\"action\": \"memory:write\"}", 0, on_line, &l, &json, NULL));
  CHECK_INT(l.count, 2);
  CHECK(strstr(l.last, "harbour") != NULL);
  CHECK(strstr(json, "\"count\":2") != NULL);
  cairn_free(json);
  cairn_close(&db);
}

TEST(a_callback_can_stop_the_stream) {
  struct cairn *db = open_store("a.db");
  call(db, "remember", "{\"text\": \"Ravens are clever birds\"}");
  call(db, "remember", "{\"text\": \"The harbour closes at ten in the evening\"}");
  struct lines l = {.stop_at = 1};
  char *json = NULL;
  CHECK_INT(cairn_stream(db, "events", NULL, 0, on_line, &l, &json, NULL), CAIRN_INTERRUPTED);
  CHECK(json == NULL);
  CHECK_INT(l.count, 1);
  struct cairn_error e;
  cairn_last_error(db, &e);
  CHECK_INT(e.code, CAIRN_INTERRUPTED);
  CHECK_STR(str_from(e.message), "stopped by the caller");
  CHECK_INT(json_int(call(db, "stats", NULL), "memories", 0), 2); /* the handle still works */
  cairn_close(&db);
}

static int on_line_calls(void *arg, const char *line UNUSED, size_t n UNUSED) {
  struct lines *l = arg;
  struct cairn *same = l->db;
  l->inner = cairn_call(l->db, "stats", NULL, 0, NULL, NULL);
  cairn_close(&same);
  l->other = same != NULL && cairn_call(l->second, "stats", NULL, 0, NULL, NULL) == CAIRN_OK;
  return 0;
}

TEST(a_callback_cannot_call_its_own_handle) {
  struct cairn *db = open_store("a.db");
  call(db, "remember", "{\"text\": \"Ravens are clever birds\"}");
  struct lines l = {.db = db, .second = open_store("a.db")};
  must(db, cairn_stream(db, "events", NULL, 0, on_line_calls, &l, NULL, NULL));
  CHECK_INT(l.inner, CAIRN_USAGE);
  CHECK(l.other);
  struct cairn_error e;
  cairn_last_error(db, &e);
  CHECK(strstr(e.message, "callback") != NULL);
  cairn_close(&l.second);
  cairn_close(&db);
}

TEST(a_batch_gives_a_line_per_item) {
  struct cairn *db = open_store("a.db");
  file_write(path_join(NULL, "batch.jsonl"), STR("{\"text\": \"Ravens are clever birds\"}\n"
                                                 "{\"text\": \"Tea is served at four o'clock\"}\n"));
  char args[5000];
  snprintf(args, sizeof(args), "{\"batch\": \"%s\"}", path_join(NULL, "batch.jsonl"));
  struct lines l = {0};
  must(db, cairn_stream(db, "remember", args, 0, on_line, &l, NULL, NULL));
  CHECK_INT(l.count, 2);
  CHECK(strstr(l.last, "\"stored\"") != NULL);
  cairn_close(&db);
}

TEST(an_export_can_go_to_a_file) {
  struct cairn *db = open_store("a.db");
  call(db, "remember", "{\"text\": \"Ravens are clever birds\"}");
  char args[5000];
  snprintf(args, sizeof(args), "{\"file\": \"%s\"}", path_join(NULL, "out.jsonl"));
  CHECK_INT(json_int(call(db, "export", args), "memories", 0), 1);
  CHECK(str_find(file_read(path_join(NULL, "out.jsonl")), STR("Ravens are clever birds"), 0) != SIZE_MAX);
  cairn_close(&db);
}

/* ---- interruption ---- */

struct follower {
  struct cairn *db;
  struct lines lines;
  int status;
  char *json;
};

static void *follow(void *arg) {
  struct follower *f = arg;
  f->status = cairn_stream(f->db, "events", "{\"follow\": true}", 0, on_line, &f->lines, &f->json, NULL);
  return NULL;
}

TEST(another_thread_can_stop_a_follower) {
  struct cairn *writer = open_store("a.db");
  struct follower f = {.db = open_store("a.db"), .status = -1};
  pthread_t t;
  CHECK(pthread_create(&t, NULL, follow, &f) == 0);
  call(writer, "remember", "{\"text\": \"Ravens are clever birds\"}");
  struct timespec wait = {0, 300 * 1000 * 1000};
  nanosleep(&wait, NULL);
  cairn_interrupt(f.db);
  pthread_join(t, NULL);
  CHECK_INT(f.status, CAIRN_OK);
  CHECK(strstr(f.json, "\"last_seq\":") != NULL);
  cairn_free(f.json);
  cairn_close(&f.db);
  cairn_close(&writer);
}

/* An interrupt just before the call must not be lost, or a follower would never end. */
TEST(an_interrupt_before_the_call_counts) {
  struct follower f = {.db = open_store("a.db"), .status = -1};
  cairn_interrupt(f.db);
  follow(&f);
  CHECK_INT(f.status, CAIRN_OK);
  cairn_free(f.json);
  cairn_close(&f.db);
}
