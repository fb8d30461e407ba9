/* test_tasks_json.c: reading, writing and merging tasks.json. */
#include "file/tasks_json.h"

#include "support/harness.h"

static struct arena a;
static struct error err;

static struct task_file read_file(const char *text) {
  struct task_file f;
  CHECK_OK(tasks_json_read(&a, "tasks.json", str_from(text), &f, &err), &err);
  return f;
}

static struct task_entry one(const char *object) {
  struct task_file f = read_file(arena_printf(&a, "{\"tasks\":[%s]}", object).p);
  CHECK_INT(f.tasks.n, 1);
  return f.tasks.v[0];
}

TEST(the_format_is_read) {
  struct task_entry e =
      one("{\"id\":\"TASK-001\",\"milestone\":\"M1\",\"priority\":1,\"status\":\"pending\","
          "\"description\":\"Implement session locking\",\"acceptance_criteria\":[\"Lock acquired before execution\","
          "\"Lock released after\"],\"created\":\"2026-02-05\",\"completed\":null,\"blocked_by\":[\"TASK-000\"]}");
  CHECK(!e.problem.p);
  CHECK_STR(e.id, "TASK-001");
  CHECK_STR(e.milestone, "M1");
  CHECK_INT(e.priority, TASK_HIGH);
  CHECK_INT(e.status, TASK_PENDING);
  CHECK_STR(e.description, "Implement session locking");
  CHECK_INT(e.acceptance.n, 2);
  CHECK_STR(e.acceptance.v[1], "Lock released after");
  CHECK_STR(e.created, "2026-02-05");
  CHECK(!e.completed.p);
  CHECK_STR(e.blocked_by.v[0], "TASK-000");
  CHECK_INT(e.says, TASK_HAS_ALL);
}

TEST(other_spellings_are_accepted) {
  CHECK_INT(one("{\"description\":\"x\",\"priority\":0}").priority, TASK_HIGH);
  CHECK_INT(one("{\"description\":\"x\",\"priority\":2}").priority, TASK_MEDIUM);
  CHECK_INT(one("{\"description\":\"x\",\"priority\":9}").priority, TASK_LOW);
  CHECK_INT(one("{\"description\":\"x\",\"priority\":\"High\"}").priority, TASK_HIGH);
  CHECK_INT(one("{\"description\":\"x\",\"status\":\"Completed\"}").status, TASK_DONE);
  CHECK_INT(one("{\"description\":\"x\",\"status\":\"in-progress\"}").status, TASK_IN_PROGRESS);
  CHECK_INT(one("{\"description\":\"x\",\"status\":\"todo\"}").status, TASK_PENDING);
  CHECK_INT(one("{\"description\":\"x\"}").says, 0);
  CHECK_INT(one("{\"description\":\"x\",\"milestone\":null}").says, TASK_HAS_MILESTONE);
}

TEST(a_bad_entry_gets_a_problem) {
  static const char *const bad[] = {"7",
                                    "null",
                                    "{}",
                                    "{\"description\":\"  \"}",
                                    "{\"description\":5}",
                                    "{\"description\":\"x\",\"id\":5}",
                                    "{\"description\":\"x\",\"status\":\"maybe\"}",
                                    "{\"description\":\"x\",\"status\":1}",
                                    "{\"description\":\"x\",\"priority\":\"soon\"}",
                                    "{\"description\":\"x\",\"milestone\":{}}",
                                    "{\"description\":\"x\",\"acceptance_criteria\":\"y\"}",
                                    "{\"description\":\"x\",\"blocked_by\":[1]}"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    struct task_entry e = one(bad[i]);
    CHECK(e.problem.n > 0);
    /* It is written unchanged. */
    struct task_file none = {0};
    struct task_entries list = {&e, 1, 1};
    yyjson_val *root, *want;
    CHECK_OK(json_read(&a, tasks_json_write(&a, &none, &list), &root, &err), &err);
    CHECK_OK(json_read(&a, str_from(bad[i]), &want, &err), &err);
    CHECK(yyjson_equals(yyjson_arr_get_first(yyjson_obj_get(root, "tasks")), want));
  }
  struct task_file f =
      read_file("{\"tasks\":[{\"id\":\"A\",\"description\":\"x\"},{\"id\":\"A\",\"description\":\"y\"}]}");
  CHECK(!f.tasks.v[0].problem.p && f.tasks.v[1].problem.p);
}

TEST(a_bad_file_is_an_error) {
  static const char *const bad[] = {"", "{", "[]", "{}", "{\"tasks\":{}}", "\"tasks\"", "{\"tasks\":[]} x"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    struct task_file f;
    CHECK_STATUS(tasks_json_read(&a, "t.json", str_from(bad[i]), &f, &err), STATUS_USAGE);
    CHECK(str_find(str_from(err.message), STR("t.json"), 0) != SIZE_MAX && err.fix[0]);
  }
}

TEST(unknown_members_stay_in_place) {
  struct task_file f = read_file("{\"version\":3,\"tasks\":[{\"id\":\"T\",\"owner\":{\"name\":\"Eve\"},\"priority\":7,"
                                 "\"description\":\"x\",\"status\":\"todo\"}],\"note\":[1,2]}");
  f.tasks.v[0].description = STR("y");
  CHECK_STR(tasks_json_write(&a, &f, &f.tasks), "{\n"
                                                "  \"version\": 3,\n"
                                                "  \"tasks\": [\n"
                                                "    {\n"
                                                "      \"id\": \"T\",\n"
                                                "      \"owner\": {\n"
                                                "        \"name\": \"Eve\"\n"
                                                "      },\n"
                                                "      \"priority\": 7,\n"
                                                "      \"description\": \"y\",\n"
                                                "      \"status\": \"todo\"\n"
                                                "    }\n"
                                                "  ],\n"
                                                "  \"note\": [\n"
                                                "    1,\n"
                                                "    2\n"
                                                "  ]\n"
                                                "}\n");
}

TEST(a_new_entry_has_all_members_in_their_order) {
  struct task_entry e = {.id = STR("TASK-001"), .description = STR("x"), .priority = TASK_LOW, .status = TASK_DONE};
  struct task_entries list = {&e, 1, 1};
  struct task_file none = {0};
  CHECK_STR(tasks_json_write(&a, &none, &list), "{\n"
                                                "  \"tasks\": [\n"
                                                "    {\n"
                                                "      \"id\": \"TASK-001\",\n"
                                                "      \"milestone\": null,\n"
                                                "      \"priority\": 3,\n"
                                                "      \"status\": \"done\",\n"
                                                "      \"description\": \"x\",\n"
                                                "      \"acceptance_criteria\": [],\n"
                                                "      \"created\": null,\n"
                                                "      \"completed\": null,\n"
                                                "      \"blocked_by\": []\n"
                                                "    }\n"
                                                "  ]\n"
                                                "}\n");
}

TEST(new_ids_follow_the_highest) {
  struct task_file f = read_file("{\"tasks\":[{\"id\":\"TASK-007\",\"description\":\"x\"},{\"id\":\"OTHER-99\","
                                 "\"description\":\"y\"}]}");
  struct task_file g = read_file("{\"tasks\":[{\"id\":\"TASK-1200\",\"description\":\"x\"}]}"), none = {0};
  CHECK_STR(task_entry_new_id(&a, &none.tasks, &none.tasks), "TASK-001");
  CHECK_STR(task_entry_new_id(&a, &f.tasks, &none.tasks), "TASK-008");
  CHECK_STR(task_entry_new_id(&a, &f.tasks, &g.tasks), "TASK-1201");
}

/* ---- merge ---- */

TEST(changes_of_either_side_are_merged) {
  struct task_entry base =
      one("{\"id\":\"T\",\"description\":\"x\",\"priority\":2,\"status\":\"pending\",\"milestone\":\"M1\"}");
  struct task_entry file =
      one("{\"id\":\"T\",\"description\":\"x\",\"priority\":1,\"status\":\"pending\",\"milestone\":\"M1\"}");
  struct task_entry store = base;
  struct strs conflicts = {0};
  store.status = TASK_DONE;
  store.description = STR("x, and more");
  store.completed = STR("2026-03-01");
  struct task_entry now = task_entry_merge(&a, &base, &file, &store, &conflicts);
  CHECK_INT(now.priority, TASK_HIGH);
  CHECK_INT(now.status, TASK_DONE);
  CHECK_STR(now.completed, "2026-03-01");
  CHECK_STR(now.description, "x, and more");
  CHECK_STR(now.milestone, "M1");
  CHECK_INT(conflicts.n, 0);
}

TEST(on_a_conflict_the_file_wins_and_the_member_is_listed) {
  struct task_entry base = one("{\"id\":\"T\",\"description\":\"x\",\"milestone\":\"M1\",\"status\":\"pending\"}");
  struct task_entry file = one("{\"id\":\"T\",\"description\":\"y\",\"milestone\":null,\"status\":\"done\"}");
  struct task_entry store = base;
  struct strs conflicts = {0};
  store.description = STR("z");
  store.milestone = STR("M2");
  store.status = TASK_DONE;
  struct task_entry now = task_entry_merge(&a, &base, &file, &store, &conflicts);
  CHECK_STR(now.description, "y");
  CHECK(!now.milestone.p);
  CHECK_INT(now.status, TASK_DONE);
  CHECK_INT(conflicts.n, 2);
  CHECK(strs_has(&conflicts, STR("description")) && strs_has(&conflicts, STR("milestone")));
}

TEST(lists_are_merged_one_by_one) {
  struct task_entry base =
      one("{\"description\":\"x\",\"acceptance_criteria\":[\"a\",\"b\",\"c\"],\"blocked_by\":[\"1\"]}");
  struct task_entry file = one("{\"description\":\"x\",\"acceptance_criteria\":[\"c\",\"a\",\"f\"],\"blocked_by\":[]}");
  struct task_entry store =
      one("{\"description\":\"x\",\"acceptance_criteria\":[\"a\",\"b\",\"s\"],\"blocked_by\":[\"1\",\"2\"]}");
  struct strs conflicts = {0};
  struct task_entry now = task_entry_merge(&a, &base, &file, &store, &conflicts);
  /* The file removed b, the store c; each added one. */
  CHECK_INT(now.acceptance.n, 3);
  CHECK_STR(now.acceptance.v[0], "a");
  CHECK_STR(now.acceptance.v[1], "f");
  CHECK_STR(now.acceptance.v[2], "s");
  CHECK_INT(now.blocked_by.n, 1);
  CHECK_STR(now.blocked_by.v[0], "2");
  CHECK_INT(conflicts.n, 0);
}

TEST(omitted_members_are_unchanged) {
  struct task_entry file = one("{\"id\":\"T\",\"description\":\"x\"}"), store = file, base;
  struct strs conflicts = {0};
  store.priority = TASK_LOW;
  store.status = TASK_BLOCKED;
  store.milestone = STR("M1");
  strs_push(&a, &store.acceptance, STR("a"));
  base = store;
  struct task_entry now = task_entry_merge(&a, NULL, &file, &store, &conflicts);
  CHECK(task_entry_same(&now, &store));
  now = task_entry_merge(&a, &base, &file, &store, &conflicts);
  CHECK(task_entry_same(&now, &store));
  CHECK_INT(conflicts.n, 0);
}

/* A side that changed nothing never wins, and merging the result again changes nothing. */
TEST(merging_again_changes_nothing) {
  static const char *const texts[] = {"x", "y", "z"};
  static const char *const items[] = {"a", "b", "c", "d"};
  uint32_t seed = 7;
  struct task_entry side[3];
  for (int round = 0; round < 2000; round++) {
    for (size_t i = 0; i < 3; i++) {
      side[i] = (struct task_entry){.id = STR("T"), .says = TASK_HAS_ALL};
      seed = seed * 1664525 + 1013904223;
      side[i].description = str_from(texts[(seed >> 8) % 3]);
      side[i].priority = (enum task_level)((seed >> 12) % 3);
      side[i].status = (enum task_progress)((seed >> 16) % 4);
      for (size_t k = 0; k < 4; k++)
        if ((seed >> (20 + k)) & 1)
          strs_push(&a, &side[i].acceptance, str_from(items[k]));
    }
    struct strs conflicts = {0}, none = {0};
    struct task_entry now = task_entry_merge(&a, &side[0], &side[1], &side[2], &conflicts);
    struct task_entry again = task_entry_merge(&a, &now, &now, &now, &none);
    CHECK(task_entry_same(&again, &now) && none.n == 0);
    struct task_entry file_only = task_entry_merge(&a, &side[0], &side[1], &side[0], &none);
    struct task_entry store_only = task_entry_merge(&a, &side[0], &side[0], &side[2], &none);
    CHECK(task_entry_same(&file_only, &side[1]) && task_entry_same(&store_only, &side[2]) && none.n == 0);
    for (size_t k = 0; k < 4; k++) {
      struct str item = str_from(items[k]);
      bool b = strs_has(&side[0].acceptance, item), f = strs_has(&side[1].acceptance, item);
      bool s = strs_has(&side[2].acceptance, item);
      CHECK_INT(strs_has(&now.acceptance, item), b ? f && s : f || s);
    }
  }
}
