/* test_task_sync.c: syncing tasks.json with the store in both directions. */
#include <signal.h>
#include <unistd.h>

#include "support/cli.h"

#define FILE_NAME "tasks.json"

static yyjson_val *sync_now(void) { return OK("--project", "shop", "task", "sync", FILE_NAME); }

static void write_tasks(const char *tasks) {
  file_write(path_join(NULL, FILE_NAME), str_from(textf("{\"tasks\": [%s]}\n", tasks)));
}

static yyjson_val *read_tasks(void) {
  static struct arena a;
  struct error err;
  yyjson_val *root;
  CHECK_OK(json_read(&a, file_read(path_join(NULL, FILE_NAME)), &root, &err), &err);
  return root;
}

/* Finds a task in the file by its id. */
static yyjson_val *in_file(const char *id) {
  yyjson_val *v, *list = yyjson_obj_get(read_tasks(), "tasks");
  size_t i, n;
  yyjson_arr_foreach(list, i, n, v)
    if (str_is(json_str(v, "id"), id))
      return v;
  return NULL;
}

/* Sets a member of a task in the file without using the program. */
static void edit(const char *id, const char *member, const char *json) {
  const char *script = textf("import json,sys\n"
                             "d=json.load(open('%s'))\n"
                             "t=[t for t in d['tasks'] if t['id']=='%s'][0]\n"
                             "t['%s']=json.loads(r'''%s''')\n"
                             "json.dump(d,open('%s','w'))\n",
                             FILE_NAME, id, member, json, FILE_NAME);
  CHECK_INT(proc_run(.argv = ARGS("python3", "-c", script)).exit_code, 0);
}

static yyjson_val *task_of(const char *key) { return OK("--project", "shop", "get", key); }

#define LOCKING                                                                                                        \
  "{\"id\":\"TASK-001\",\"milestone\":\"M1\",\"priority\":1,\"status\":\"pending\","                                   \
  "\"description\":\"Implement session locking\",\"acceptance_criteria\":[\"Lock acquired before execution\","         \
  "\"Lock released after\"],\"created\":\"2026-02-05\",\"completed\":null,\"blocked_by\":[]}"
#define PAINT "{\"id\":\"TASK-002\",\"priority\":3,\"description\":\"Paint the fence\",\"blocked_by\":[\"TASK-001\"]}"

TEST(tasks_in_the_file_are_imported) {
  write_tasks(LOCKING "," PAINT);
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "tasks"), 2);
  CHECK_INT(jint(r, "store.added"), 2);
  CHECK_INT(jlen(r, "refused"), 0);
  yyjson_val *m = task_of("TASK-001");
  CHECK_STR(jstr(m, "kind"), "task");
  CHECK_STR(jstr(m, "project"), "shop");
  CHECK_STR(jstr(m, "body"), "Implement session locking");
  CHECK_STR(jstr(m, "priority"), "high");
  CHECK_STR(jstr(m, "milestone"), "M1");
  CHECK_STR(jstr(m, "status"), "open");
  CHECK(jhas_str(m, "acceptance", "Lock released after"));
  CHECK(str_starts(jstr(m, "valid_from"), STR("2026-02-05")));
  m = task_of("TASK-002");
  CHECK_STR(jstr(m, "priority"), "low");
  r = OK("--project", "shop", "task", "list");
  CHECK_INT(jint(r, textf("tasks[%d].blocked_by[0]", jpos(r, "tasks", jint(m, "id")))),
            jint(task_of("TASK-001"), "id"));
}

TEST(tasks_in_the_store_are_exported) {
  int64_t dig =
      ADD_TASK("Dig a hole", "--project", "shop", "--priority", "high", "--milestone", "M2", "--accept", "it is deep");
  ADD_TASK("Plant the tree", "--project", "shop", "--blocked-by", num(dig), "--key", "TREE");
  ADD_TASK("Something else", "--project", "other");
  int64_t done = ADD_TASK("Feed the cat", "--project", "shop");
  OK("task", "status", num(done), "done");
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "in_file.added"), 2);
  CHECK(jbool(r, "written"));
  CHECK(!jget(r, "txn"));
  yyjson_val *t = in_file("TASK-001");
  CHECK_STR(jstr(t, "description"), "Dig a hole");
  CHECK_INT(jint(t, "priority"), 1);
  CHECK_STR(jstr(t, "status"), "pending");
  CHECK_STR(jstr(t, "milestone"), "M2");
  CHECK_STR(jstr(t, "acceptance_criteria[0]"), "it is deep");
  CHECK_STR(jstr(t, "created"), "2026-03-01");
  CHECK(yyjson_is_null(jget(t, "completed")));
  t = in_file("TREE");
  CHECK_STR(jstr(t, "blocked_by[0]"), "TASK-001");
  /* Once exported, the task is synced. */
  OK("--project", "shop", "task", "claim", num(dig), "--by", "eve");
  r = sync_now();
  CHECK_INT(jint(r, "in_file.changed"), 1);
  CHECK_STR(jstr(in_file("TASK-001"), "status"), "in_progress");
  cli_day(2);
  OK("task", "status", num(dig), "done");
  sync_now();
  CHECK_STR(jstr(in_file("TASK-001"), "status"), "done");
  CHECK_STR(jstr(in_file("TASK-001"), "completed"), "2026-03-03");
  OK("--project", "shop", "forget", "TREE", "--reason", "no tree");
  r = sync_now();
  CHECK_INT(jint(r, "in_file.removed"), 1);
  CHECK(!in_file("TREE") && in_file("TASK-001"));
}

TEST(a_run_without_changes_touches_nothing) {
  write_tasks(LOCKING "," PAINT ",{\"description\":\"Without an id\",\"owner\":\"eve\"}");
  sync_now();
  struct str text = file_read(path_join(NULL, FILE_NAME));
  int64_t seq = last_seq();
  yyjson_val *r = sync_now();
  CHECK(!jbool(r, "written"));
  CHECK_INT(last_seq(), seq);
  CHECK(str_eq(file_read(path_join(NULL, FILE_NAME)), text));
  CHECK_STR(jstr(in_file("TASK-003"), "owner"), "eve");
}

TEST(an_edit_of_the_file_updates_or_supersedes_the_task) {
  write_tasks(LOCKING "," PAINT);
  sync_now();
  int64_t old = jint(task_of("TASK-001"), "id"), paint = jint(task_of("TASK-002"), "id");
  edit("TASK-001", "description", "\"Implement session locking across processes\"");
  edit("TASK-002", "status", "\"in_progress\"");
  edit("TASK-002", "milestone", "\"M9\"");
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.changed"), 2);
  yyjson_val *m = task_of("TASK-001");
  CHECK(jint(m, "id") != old);
  CHECK_STR(jstr(m, "body"), "Implement session locking across processes");
  CHECK_STR(jstr(m, "milestone"), "M1");
  CHECK(jhas_str(m, "acceptance", "Lock released after"));
  CHECK_STR(jstr(OK("get", num(old)), "state"), "superseded");
  m = task_of("TASK-002");
  CHECK_INT(jint(m, "id"), paint);
  CHECK_STR(jstr(m, "claimed_by"), "tasks.json");
  CHECK_STR(jstr(m, "milestone"), "M9");
  /* Its blocker is the new version. */
  edit("TASK-001", "milestone", "null");
  edit("TASK-001", "acceptance_criteria", "[\"Lock released after\"]");
  edit("TASK-002", "blocked_by", "[]");
  sync_now();
  m = task_of("TASK-001");
  CHECK(!jget(m, "milestone"));
  CHECK_INT(jlen(m, "acceptance"), 1);
  r = OK("--project", "shop", "task", "list");
  CHECK(!jget(r, textf("tasks[%d].blocked_by", jpos(r, "tasks", paint))));
}

TEST(concurrent_edits_are_merged) {
  write_tasks(LOCKING "," PAINT);
  sync_now();
  int64_t locking = jint(task_of("TASK-001"), "id"), paint = jint(task_of("TASK-002"), "id");
  /* Edits of different members are merged. */
  OK("--project", "shop", "task", "status", num(paint), "blocked");
  edit("TASK-002", "priority", "1");
  /* If both edit the same member, the file wins. The store's text stays in the history. */
  int64_t theirs = jint(OK("--project", "shop", "supersede", num(locking), "--inherit-key", "--reason", "clearer",
                           "Lock sessions by flock"),
                        "id");
  edit("TASK-001", "description", "\"Lock sessions by fcntl\"");
  /* A new task on each side. */
  ADD_TASK("Sweep the yard", "--project", "shop");
  yyjson_val *r = sync_now();
  CHECK_INT(jlen(r, "conflicts"), 1);
  CHECK_STR(jstr(r, "conflicts[0].id"), "TASK-001");
  CHECK_STR(jstr(r, "conflicts[0].members[0]"), "description");
  CHECK_STR(jstr(task_of("TASK-001"), "body"), "Lock sessions by fcntl");
  CHECK_STR(jstr(OK("get", num(theirs)), "body"), "Lock sessions by flock");
  CHECK_STR(jstr(task_of("TASK-002"), "status"), "blocked");
  CHECK_STR(jstr(task_of("TASK-002"), "priority"), "high");
  CHECK_STR(jstr(in_file("TASK-002"), "status"), "blocked");
  CHECK_STR(jstr(in_file("TASK-003"), "description"), "Sweep the yard");
}

TEST(removals) {
  write_tasks(LOCKING "," PAINT ",{\"id\":\"TASK-003\",\"description\":\"Sweep the yard\"}");
  sync_now();
  int64_t paint = jint(task_of("TASK-002"), "id"), sweep = jint(task_of("TASK-003"), "id");
  /* A task removed from the file is forgotten if it is unchanged, and restored if the store has changed it. */
  OK("--project", "shop", "task", "status", num(sweep), "blocked");
  write_tasks(LOCKING);
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.removed"), 1);
  CHECK_STR(jstr(OK("get", num(paint)), "state"), "forgotten");
  CHECK_STR(jstr(in_file("TASK-003"), "status"), "blocked");
  /* After an undo it is restored in the file. */
  OK("undo", num(jint(r, "txn")));
  sync_now();
  CHECK(in_file("TASK-002") || in_file("TASK-004"));
  /* Forgotten in the store and edited in the file: the edit wins. */
  OK("--project", "shop", "forget", num(sweep), "--reason", "no yard");
  edit("TASK-003", "description", "\"Sweep the yard and the street\"");
  r = sync_now();
  CHECK_INT(jint(r, "store.added"), 1);
  CHECK_STR(jstr(task_of("TASK-003"), "body"), "Sweep the yard and the street");
}

TEST(a_missing_file_is_written_again) {
  write_tasks(LOCKING "," PAINT);
  sync_now();
  CHECK(unlink(path_join(NULL, FILE_NAME)) == 0);
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.removed"), 0);
  CHECK(in_file("TASK-001") && in_file("TASK-002"));
}

TEST(refused_tasks_stay_in_the_file) {
  write_tasks(LOCKING
              ",{\"id\":\"S\",\"description\":\"Use the token ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 to deploy\"},"
              "{\"id\":\"X\",\"status\":\"maybe\",\"description\":\"Odd\"}");
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.added"), 1);
  CHECK_INT(jlen(r, "refused"), 2);
  CHECK_STR(jstr(r, "refused[0].id"), "S");
  CHECK(in_file("S") && in_file("X"));
  CHECK_STR(jstr(in_file("X"), "status"), "maybe");
  REFUSED("not_found", "--project", "shop", "get", "S");
  edit("S", "description", "\"Use the token of the vault to deploy\"");
  r = sync_now();
  CHECK_INT(jint(r, "store.added"), 1);
  CHECK_STR(jstr(task_of("S"), "body"), "Use the token of the vault to deploy");
}

#define CIRCLE(last)                                                                                                   \
  "{\"id\":\"A\",\"description\":\"Write the parser\",\"blocked_by\":[\"B\"]},"                                        \
  "{\"id\":\"B\",\"description\":\"Design the schedule\",\"blocked_by\":[\"C\"]}" last
#define CLOSES ",{\"id\":\"C\",\"description\":\"Hire an accountant\",\"priority\":1,\"blocked_by\":[\"A\"]}"
#define ITSELF ",{\"id\":\"D\",\"description\":\"Chase the tail\",\"blocked_by\":[\"D\"]}"

/* Ids of the tasks that block this one in the store. */
static int64_t blocker_count(const char *key) {
  return sql_number(textf("SELECT count(*) FROM link JOIN memory ON memory.id = link.src WHERE rel = 'blocked_by' AND "
                          "memory.key = '%s'",
                          key));
}

TEST(a_task_that_would_block_itself_is_stored_without_the_blocker) {
  write_tasks(CIRCLE(CLOSES ITSELF));
  yyjson_val *r = OK("--project", "shop", "task", "sync", FILE_NAME, "--dry-run");
  CHECK_INT(jlen(r, "cycles"), 2);
  r = sync_now();
  CHECK_INT(jint(r, "store.added"), 4);
  CHECK_INT(jlen(r, "refused"), 0);
  CHECK_INT(jlen(r, "cycles"), 2);
  CHECK_STR(jstr(r, "cycles[0].id"), "C");
  CHECK_STR(jstr(r, "cycles[0].blocked_by[0]"), "A");
  CHECK_STR(jstr(r, "cycles[1].id"), "D");
  CHECK_INT(blocker_count("A") + blocker_count("B"), 2);
  CHECK_INT(blocker_count("C") + blocker_count("D"), 0);
  CHECK_STR(jstr(task_of("C"), "priority"), "high");
  CHECK_STR(jstr(in_file("C"), "blocked_by[0]"), "A");
  CHECK(has(CAIRN("--project", "shop", "task", "sync", FILE_NAME).out,
            "C would block itself: stored without blocked_by A"));
  /* Once the circle is open elsewhere, the blocker counts. */
  edit("A", "blocked_by", "[]");
  r = sync_now();
  CHECK_INT(jlen(r, "cycles"), 1);
  CHECK_INT(blocker_count("C"), 1);
}

TEST(a_circle_is_cut_where_the_file_adds_to_the_links_of_the_store) {
  write_tasks(CIRCLE(",{\"id\":\"C\",\"description\":\"Hire an accountant\"}"));
  sync_now();
  /* The first entry of the file closes the circle now; the links that were there stay. */
  edit("B", "blocked_by", "[]");
  sync_now();
  write_tasks("{\"id\":\"C\",\"description\":\"Hire an accountant\",\"blocked_by\":[\"A\"]}," CIRCLE(""));
  yyjson_val *r = sync_now();
  CHECK_INT(jlen(r, "cycles"), 1);
  CHECK_STR(jstr(r, "cycles[0].id"), "B");
  CHECK_INT(blocker_count("A"), 1);
}

TEST(refused_entries_and_circles_make_no_empty_transaction) {
  write_tasks(CIRCLE(CLOSES ITSELF) ",{\"id\":\"57\",\"description\":\"Write the parser\"}");
  yyjson_val *r = sync_now();
  CHECK_INT(jlen(r, "refused"), 1);
  int64_t txns = sql_number("SELECT count(*) FROM txn");
  for (int i = 0; i < 2; i++) {
    r = sync_now();
    CHECK_INT(jlen(r, "refused"), 1);
    CHECK_INT(jlen(r, "cycles"), 2);
    CHECK_INT(jint(r, "store.changed"), 0);
    CHECK(!jget(r, "txn") && !jbool(r, "written"));
  }
  CHECK_INT(sql_number("SELECT count(*) FROM txn"), txns);
}

TEST(a_task_removed_from_the_file_does_not_come_back) {
  write_tasks(CIRCLE(CLOSES ITSELF));
  sync_now();
  write_tasks(CIRCLE(""));
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.removed"), 2);
  CHECK(!in_file("C") && !in_file("D"));
  /* Its blocker disappears at the same time: no change of the task itself. */
  OK("--project", "shop", "forget", "B", "--reason", "no schedule");
  write_tasks(LOCKING);
  r = sync_now();
  CHECK_INT(jint(r, "store.removed"), 1);
  CHECK(!in_file("A") && in_file("TASK-001"));
  r = sync_now();
  CHECK_INT(jint(r, "tasks"), 1);
}

TEST(a_task_forgotten_in_the_store_does_not_come_back_for_its_circle) {
  write_tasks(CIRCLE(CLOSES ITSELF));
  sync_now();
  OK("--project", "shop", "forget", "C", "--reason", "no books");
  OK("--project", "shop", "forget", "D", "--reason", "no painter");
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.added"), 0);
  CHECK_INT(jint(r, "in_file.removed"), 2);
  CHECK(!in_file("C") && !in_file("D") && in_file("A"));
  /* Another blocker is an edit. */
  OK("--project", "shop", "forget", "B", "--reason", "no schedule");
  edit("B", "blocked_by", "[\"A\"]");
  CHECK_INT(jint(sync_now(), "store.added"), 1);
}

TEST(bad_files_change_nothing) {
  write_tasks(LOCKING);
  sync_now();
  file_write(path_join(NULL, FILE_NAME), STR("{\"tasks\": ["));
  REFUSED("usage", "--project", "shop", "task", "sync", FILE_NAME);
  CHECK_STR(file_read(path_join(NULL, FILE_NAME)), "{\"tasks\": [");
  file_write(path_join(NULL, FILE_NAME), STR(""));
  REFUSED("usage", "--project", "shop", "task", "sync", FILE_NAME);
  file_write(path_join(NULL, FILE_NAME), STR("{}"));
  REFUSED("usage", "--project", "shop", "task", "sync", FILE_NAME);
  REFUSED("usage", "task", "sync", ".");
  REFUSED("usage", "task", "sync", "");
  REFUSED("not_found", "task", "sync", "no/such/folder/tasks.json");
  CHECK_STR(jstr(task_of("TASK-001"), "state"), "active");
}

TEST(a_dry_run_reports_and_changes_nothing) {
  write_tasks(LOCKING);
  ADD_TASK("Dig a hole", "--project", "shop");
  int64_t seq = last_seq();
  struct str text = file_read(path_join(NULL, FILE_NAME));
  yyjson_val *r = OK("--project", "shop", "task", "sync", FILE_NAME, "--dry-run");
  CHECK_INT(jint(r, "store.added"), 1);
  CHECK_INT(jint(r, "in_file.added"), 1);
  CHECK(jbool(r, "dry_run") && !jbool(r, "written"));
  CHECK_INT(last_seq(), seq);
  CHECK(str_eq(file_read(path_join(NULL, FILE_NAME)), text));
}

/* If the copy of the last run is lost, tasks are matched by key and text. */
TEST(without_the_copy_there_are_no_duplicates) {
  write_tasks(LOCKING "," PAINT);
  ADD_TASK("Dig a hole", "--project", "shop");
  sync_now();
  CHECK_INT(proc_run(.argv = ARGS("sh", "-c", textf("rm -r '%s'", cli_side(".files")))).exit_code, 0);
  edit("TASK-001", "status", "\"done\"");
  yyjson_val *r = sync_now();
  CHECK_INT(jint(r, "store.added"), 0);
  CHECK_INT(jint(r, "in_file.added"), 0);
  CHECK_INT(jint(r, "tasks"), 3);
  CHECK_STR(jstr(task_of("TASK-001"), "status"), "done");
}

TEST(each_project_has_its_own_default_file) {
  ADD_TASK("Dig a hole", "--project", "shop");
  yyjson_val *r = OK("--project", "shop", "task", "sync");
  CHECK(str_ends(jstr(r, "file"), STR("/shop/tasks.json")));
  CHECK(str_find(file_read(cstr(jstr(r, "file"))), STR("Dig a hole"), 0) != SIZE_MAX);
}

TEST(concurrent_runs_are_serialized) {
  enum { N = 6 };
  write_tasks(LOCKING "," PAINT);
  struct proc *p[N];
  for (int i = 0; i < N; i++)
    p[i] =
        proc_start(.argv = ARGS(CAIRN_BIN, "--project", "shop", "task", "sync", FILE_NAME, "--json"), .env = cli_env());
  for (int i = 0; i < N; i++)
    CHECK_INT(proc_wait(p[i]).exit_code, 0);
  CHECK_INT(jint(OK("--project", "shop", "task", "list"), "count"), 2);
}

/* A run can be killed at any point. The next one completes it: no edit of either side is lost and no task is
 * duplicated. */
TEST(a_killed_run_is_completed_by_the_next, .seconds = 120, .slow = true) {
  write_tasks(LOCKING "," PAINT);
  sync_now();
  for (int i = 0; i < 12; i++) {
    test_note("round %d", i);
    const char *text = textf("Implement session locking, attempt %c", 'a' + i);
    edit("TASK-001", "description", textf("\"%s\"", text));
    edit("TASK-002", "priority", i % 2 ? "1" : "3");
    OK("--project", "shop", "task", "status", "TASK-002", i % 2 ? "open" : "blocked");
    struct proc *p =
        proc_start(.argv = ARGS(CAIRN_BIN, "--project", "shop", "task", "sync", FILE_NAME, "--json"), .env = cli_env());
    usleep((useconds_t)(1000 + i * 4000 * test_patience()));
    proc_kill(p, SIGKILL);
    proc_wait(p);
    CHECK_INT(jlen(sync_now(), "conflicts"), 0);
    CHECK_INT(jlen(OK("--project", "shop", "task", "list"), "tasks"), 2);
    CHECK_STR(jstr(task_of("TASK-001"), "body"), text);
    CHECK_STR(jstr(in_file("TASK-001"), "description"), text);
    CHECK_STR(jstr(task_of("TASK-002"), "priority"), i % 2 ? "high" : "low");
    CHECK_STR(jstr(in_file("TASK-002"), "status"), i % 2 ? "pending" : "blocked");
  }
}
