/* test_list.c: pagination of lists, with cursors that stay valid after their memory is gone; and the hash that
 * identifies a version of a memory. */
#include "support/cli.h"

/* Collects the ids of all pages of a command. */
static size_t walk(const char *const *command, const char *member, const char *limit, int64_t *ret_ids, size_t most) {
  const char *cursor = NULL;
  size_t n = 0;
  for (;;) {
    const char *args[12];
    size_t k = 0;
    for (const char *const *c = command; *c; c++)
      args[k++] = *c;
    args[k++] = "--limit";
    args[k++] = limit;
    if (cursor) {
      args[k++] = "--cursor";
      args[k++] = cursor;
    }
    args[k] = NULL;
    yyjson_val *page = cli_ok(__FILE__, __LINE__, STR_NONE, args);
    for (size_t i = 0; i < jlen(page, member); i++) {
      CHECK(n < most);
      ret_ids[n++] = jint(page, textf("%s[%zu].id", member, i));
    }
    if (!jget(page, "next_cursor"))
      return n;
    cursor = cstr(jstr(page, "next_cursor"));
  }
}

static void store_some(int count) {
  for (int i = 0; i < count; i++)
    STORE("--defer-embedding", textf("Row %d is the one called w%dx%d", i, i * 7, i * i));
}

TEST(pages_of_any_size_give_the_whole_list) {
  int64_t ids[16];
  store_some(7); /* same timestamp: ordered by id */
  static const char *const sizes[] = {"1", "2", "3", "6", "7", "8"};
  for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
    test_note("pages of %s", sizes[s]);
    CHECK_INT(walk(ARGS("list"), "memories", sizes[s], ids, ARRAY_LEN(ids)), 7);
    for (int i = 0; i < 7; i++)
      CHECK_INT(ids[i], 7 - i); /* newest first */
  }
}

TEST(a_cursor_stays_valid_after_its_memory_is_gone) {
  store_some(5);
  const char *cursor = cstr(jstr(OK("list", "--limit", "2"), "next_cursor"));
  OK("purge", "4", "--confirm"); /* the last one on that page */
  OK("forget", "3", "--reason", "test");
  cli_day(1);
  STORE("A new one, which comes too late");
  yyjson_val *r = OK("list", "--cursor", cursor);
  CHECK_INT(jlen(r, "memories"), 2);
  CHECK_INT(jint(r, "memories[0].id"), 2);
  CHECK_INT(jint(r, "memories[1].id"), 1);
  CHECK_INT(jint(r, "total"), 4); /* counts the whole list */
  CHECK(!jget(r, "next_cursor"));
}

TEST(invalid_cursors_are_refused) {
  static const char *const bad[] = {"",       "x",           "1",       "0.1",    "0.1.0", "0.1.-1",
                                    "3.1.1",  "-1.1.1",      "0.1.1.1", "0.1.1.", "0..1",  "0.99999999999999999999.1",
                                    " 0.1.1", "0.1.1 OR 1=1"};
  store_some(1);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("'%s'", bad[i]);
    REFUSED("usage", "list", "--cursor", bad[i]);
    REFUSED("usage", "task", "list", "--cursor", bad[i]);
  }
}

TEST(pages_of_tasks_keep_the_task_order) {
  static const char *const ranks[] = {"low", "high", "medium", "high", "low"};
  static const int64_t want[] = {2, 4, 3, 1, 5};
  int64_t ids[8];
  for (int i = 0; i < 5; i++)
    ADD_TASK("--priority", ranks[i], textf("Do the thing called w%d", i * i + 3));
  CHECK_INT(walk(ARGS("task", "list"), "tasks", "2", ids, ARRAY_LEN(ids)), 5);
  for (int i = 0; i < 5; i++)
    CHECK_INT(ids[i], want[i]);
}

TEST(global_memories_can_be_excluded_from_a_project_list) {
  STORE("A global fact about everything");
  int64_t mine = STORE("--project", "web", "The web project uses port 8080");
  CHECK_INT(jlen(OK("list", "--project", "web"), "memories"), 2);
  yyjson_val *r = OK("list", "--project", "web", "--own", "--detail", "full");
  CHECK_INT(jlen(r, "memories"), 1);
  CHECK_INT(jint(r, "total"), 1);
  CHECK_INT(jint(r, "memories[0].id"), mine);
  CHECK_STR(jstr(r, "memories[0].body"), "The web project uses port 8080");
  CHECK_INT(jlen(OK("list", "--project", "", "--own"), "memories"), 1);
  r = OK("list", "--all-projects", "--own");
  CHECK(jint(r, "total") == 1 && jint(r, "memories[0].id") == mine);
  CHECK_INT(jint(OK("get", num(mine), "--project", "web"), "access_count"), 0); /* listing is not an access */
}

/* ---- the hash ---- */

static const char *hash_of(int64_t id) { return cstr(jstr(OK("get", num(id)), "hash")); }

TEST(the_hash_changes_on_writes_and_not_on_reads) {
  int64_t id = STORE("Parsley grows in pots");
  const char *hash = hash_of(id);
  CHECK_INT(strlen(hash), 64);
  cli_day(1);
  OK("get", num(id));
  OK("search", "parsley");
  CHECK_STR(str_from(hash_of(id)), hash);
  static const char *const changes[][4] = {
      {"annotate", "1", "also in beds", NULL},
      {"rate", "1", "up", NULL},
      {"pin", "1", NULL, NULL},
      {"promote", "1", NULL, NULL},
  };
  for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
    test_note("%s", changes[i][0]);
    const char *args[5] = {0};
    memcpy(args, changes[i], sizeof(changes[i]));
    cli_ok(__FILE__, __LINE__, STR_NONE, args);
    if (strcmp(changes[i][0], "promote") == 0) /* already trusted: only the timestamp changes */
      continue;
    CHECK(strcmp(hash_of(id), hash) != 0);
    hash = hash_of(id);
  }
}
