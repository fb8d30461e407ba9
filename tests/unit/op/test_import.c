/* test_import.c: imports and exports that run out of memory change nothing and leak nothing. */
#include "base/alloc.h"
#include "op/op.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/schema.h"
#include "support/store.h"

#define UID(n) "0190a0a0-0000-7000-8000-00000000000" n
#define AT "\"2026-01-02T03:04:05.006Z\""
#define FACT(n, more)                                                                                                  \
  "{\"memory\":{\"uid\":\"" UID(                                                                                       \
      n) "\",\"project\":\"\",\"kind\":\"fact\",\"type\":\"fact\",\"headline\":\"Fact " n                              \
         "\",\"delivery\":\"on_demand\",\"weight\":1.0,\"trust\":\"user\",\"state\":\"active\",\"valid_from\":" AT     \
         ",\"created_at\":" AT ",\"updated_at\":" AT                                                                   \
         ",\"access_count\":0,\"upvotes\":0,\"downvotes\":0,\"source\":\"s\","                                         \
         "\"body\":\"Body " n "\"" more "}}\n"

static const char native[] =
    "{\"cairn\":\"export\",\"version\":1,\"schema\":" SCHEMA_TEXT "}\n" FACT("1", ",\"tags\":[\"t\"]")
        FACT("2", ",\"annotations\":[{\"at\":" AT ",\"by\":\"b\",\"text\":\"n\"}]")
            FACT("3", "") "{\"link\":{\"src\":\"" UID("1") "\",\"rel\":\"relates\",\"dst\":\"" UID("2") "\",\"at\":" AT
                                                                                                        "}}\n";
static const char graph[] =
    "{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"t\",\"observations\":[\"likes tea\"]}\n"
    "{\"type\":\"entity\",\"name\":\"B\",\"entityType\":\"t\",\"observations\":[]}\n"
    "{\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\",\"relationType\":\"knows\"}\n";
static const char notes[] = "---\ntags: [x]\n---\n# One\n\nText one.\n\n# Two\n\nText two.\n";

static struct engine *open_engine(void) {
  struct engine *e = NULL;
  struct error err;
  struct engine_options o = {.path = test_store("test.db")};
  CHECK_OK(engine_open(&o, &e, &err), &err);
  return e;
}

static enum status call(struct engine *e, const char *name, const char *args, struct error *err) {
  struct arena a;
  yyjson_val *values;
  yyjson_mut_val *result;
  const struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("s"), .trust = STR("user")};
  arena_init(&a);
  jmp_buf oom;
  volatile enum status s;
  if (ARENA_BOUNDARY(&a, oom))
    s = STATUS_NOMEM;
  else {
    s = json_read(&a, str_from(args), &values, err);
    if (s == STATUS_OK)
      s = op_run(e, op_find(str_from(name)), &caller, NULL, &a, values, &result, err);
  }
  arena_release(&a);
  return s;
}

static int64_t count(struct engine *e, const char *sql) {
  int64_t n;
  struct error err;
  CHECK_OK(db_int(store_db(e->store), &n, NULL, &err, sql, NULL), &err);
  return n;
}

/* Fails each allocation in turn. */
static void import_with_failures(const char *file, const char *text, int64_t want) {
  struct engine *e = open_engine();
  struct error err;
  char args[512];
  const char *path = path_join(NULL, file);
  file_write(path, str_from(text));
  snprintf(args, sizeof(args), "{\"file\":\"%s\"}", path);
  int files = open_descriptors();
  for (long n = 1;; n++) {
    test_note("allocation %ld", n);
    alloc_fail_at(n, 0);
    enum status s = call(e, "import", args, &err);
    bool failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    CHECK_INT(open_descriptors(), files);
    if (!failed) {
      CHECK_OK(s, &err);
      CHECK(n > 1);
      break;
    }
    if (s == STATUS_OK)
      break; /* the failed allocation was optional */
    CHECK_INT(s, STATUS_NOMEM);
    CHECK_INT(count(e, "SELECT count(*) FROM memory"), 0);
    CHECK_INT(count(e, "SELECT count(*) FROM txn"), 0);
  }
  CHECK_INT(count(e, "SELECT count(*) FROM memory"), want);
  engine_close(&e);
}

TEST(a_native_import_survives_out_of_memory) { import_with_failures("a.jsonl", native, 3); }
TEST(a_graph_import_survives_out_of_memory) { import_with_failures("a.json", graph, 2); }
TEST(a_markdown_import_survives_out_of_memory) { import_with_failures("a.md", notes, 2); }

TEST(an_export_survives_out_of_memory) {
  struct engine *e = open_engine();
  struct error err;
  char args[512];
  file_write(path_join(NULL, "a.jsonl"), str_from(native));
  snprintf(args, sizeof(args), "{\"file\":\"%s\",\"keep_trust\":true}", path_join(NULL, "a.jsonl"));
  CHECK_OK(call(e, "import", args, &err), &err);
  const char *out = path_join(NULL, "out.jsonl");
  file_write(out, STR("the old file"));
  snprintf(args, sizeof(args), "{\"file\":\"%s\",\"events\":true,\"force\":true}", out);
  int files = open_descriptors();
  for (long n = 1;; n++) {
    test_note("allocation %ld", n);
    alloc_fail_at(n, 0);
    enum status s = call(e, "export", args, &err);
    bool failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    CHECK_INT(open_descriptors(), files);
    /* Also if the failed allocation was optional, or only the reply could not be made. */
    if (s == STATUS_OK || strstr(err.message, "the operation succeeded")) {
      CHECK_STR(file_read(out), native);
      file_write(out, STR("the old file"));
    } else {
      CHECK_INT(s, STATUS_NOMEM);
      CHECK_STR(file_read(out), "the old file");
    }
    if (!failed) {
      CHECK_OK(s, &err);
      CHECK(n > 1);
      break;
    }
  }
  struct run left = proc_run(.argv = ARGS("sh", "-c", "ls | grep -c 'out.jsonl.'"));
  CHECK_STR(left.out, "0\n");
  engine_close(&e);
}
