/* test_lost_file.c: the file of a store is deleted, renamed, replaced, emptied or limited under a running server:
 * writes fail and say what to do, /readyz reports it, reads go on, and nothing that was acknowledged is lost. */
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/serve.h"

static struct answer post(const struct serve *s, const char *text) {
  return serve_do(s, "POST", "/api/v1/memories", "Content-Type: application/json\r\n",
                  str_from(textf("{\"text\":\"%s\"}", text)));
}

static void stores(const struct serve *s, const char *text) { CHECK_INT(post(s, text).status, 201); }

/* Writes fail with this message and with advice, reads continue. */
static void is_lost(const struct serve *s, const char *how) {
  struct answer a = post(s, "The ferry leaves at seven from pier nine");
  CHECK_INT(a.status, 503);
  if (!has(a.body, how) || !has(a.body, textf("/proc/%d/fd", (int)serve_pid(s))))
    FAIL("%.*s", STR_ARG(a.body));
  a = serve_get(s, "/readyz");
  CHECK_INT(a.status, 503);
  CHECK(has(a.body, how));
  a = serve_get(s, "/api/v1/memories");
  CHECK_INT(a.status, 200);
  CHECK(has(a.body, "lighthouse has 99 steps"));
}

static struct serve *start(void) {
  struct serve *s = serve_start(NULL);
  stores(s, "The lighthouse has 99 steps");
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  return s;
}

/* Copies the open, deleted file of a process to this path. */
static void save_deleted(pid_t pid, const char *file, const char *to) {
  const char *folder = textf("/proc/%d/fd", (int)pid);
  DIR *d = opendir(folder);
  CHECK(d);
  bool saved = false;
  for (struct dirent *e; !saved && (e = readdir(d));) {
    char target[4096] = "";
    if (readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1) <= 0)
      continue;
    saved = strcmp(target, textf("%s (deleted)", file)) == 0;
    if (saved)
      file_write(to, file_read(path_join(folder, e->d_name)));
  }
  closedir(d);
  CHECK(saved);
}

TEST(a_store_deleted_under_a_server, .only = TEST_ON_SQLITE) {
  struct serve *s = start();
  CHECK_INT(unlink(cli_db()), 0);
  CHECK_INT(unlink(textf("%s-wal", cli_db())), 0);
  is_lost(s, "deleted or renamed");
  CHECK_INT(access(cli_db(), F_OK), -1); /* no handle of the server has created an empty store */
  /* The advice works: the files can be saved while the server runs. */
  const char *saved = path_join(NULL, "saved.db");
  save_deleted(serve_pid(s), cli_db(), saved);
  save_deleted(serve_pid(s), textf("%s-wal", cli_db()), textf("%s-wal", saved));
  serve_end(s);
  CHECK_INT(chmod(saved, 0600), 0);
  CHECK_INT(rename(saved, cli_db()), 0);
  CHECK_INT(rename(textf("%s-wal", saved), textf("%s-wal", cli_db())), 0);
  CHECK_INT(jint(OK("list"), "count"), 1);
  CHECK_HEALTHY();
}

TEST(a_store_renamed_under_a_server_can_be_renamed_back, .only = TEST_ON_SQLITE) {
  struct serve *s = start();
  const char *other = path_join(NULL, "other.db");
  CHECK_INT(rename(cli_db(), other), 0);
  is_lost(s, "deleted or renamed");
  CHECK_INT(rename(other, cli_db()), 0);
  stores(s, "The harbour has 7 cranes");
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  serve_stop(s);
  CHECK_INT(jint(OK("list"), "count"), 2);
}

TEST(a_store_replaced_under_a_server, .only = TEST_ON_SQLITE) {
  OK("remember", "The tide table is for the old harbour");
  const char *copy = path_join(NULL, "copy.db");
  file_write(copy, file_read(cli_db()));
  CHECK_INT(chmod(copy, 0600), 0);
  struct serve *s = start();
  CHECK_INT(rename(copy, cli_db()), 0);
  struct str before = file_read(cli_db());
  is_lost(s, "replaced by another file");
  serve_end(s);
  CHECK(str_eq(before, file_read(cli_db())));
  /* The log of the old file is not applied to the new one. */
  CHECK_INT(access(textf("%s-wal-lost", cli_db()), F_OK), 0);
  CHECK_INT(jint(OK("--quiet", "list"), "count"), 1);
  CHECK_INT(CAIRN("doctor", "--repair").exit_code, 0); /* the copy lacks what the server stored */
  CHECK_HEALTHY();
}

TEST(a_log_deleted_under_a_server, .only = TEST_ON_SQLITE) {
  struct serve *s = start();
  CHECK_INT(unlink(textf("%s-wal", cli_db())), 0);
  is_lost(s, "-wal was deleted or replaced");
  serve_end(s);
}

/* `cp` over the store begins with this. */
TEST(a_store_emptied_under_a_server, .only = TEST_ON_SQLITE) {
  OK("remember", "The tide table is for the old harbour");
  const char *backup = path_join(NULL, "backup.db");
  OK("backup", backup);
  struct serve *s = start();
  CHECK_INT(truncate(cli_db(), 0), 0);
  struct answer a = post(s, "The ferry leaves at seven from pier nine");
  CHECK_INT(a.status, 503);
  CHECK(has(a.body, "was emptied while the store was open") && has(a.body, "cairn restore"));
  a = serve_get(s, "/readyz");
  CHECK(a.status == 503 && has(a.body, "was emptied"));
  serve_end(s);
  OK("restore", backup, "--confirm"); /* the advice works */
  CHECK_INT(jint(OK("list"), "count"), 1);
  CHECK_HEALTHY();
}

static void shrink(const char *sql) {
  struct direct *d = direct_open(cli_db());
  direct_do(d, sql);
  direct_close(d);
}

/* No alarm if the file gets smaller for a good reason, or is new. */
TEST(a_store_that_shrinks_under_a_server, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *backup = path_join(NULL, "backup.db");
  struct serve *s = start();
  OK("backup", backup);
  struct buf long_text = {.a = &(struct arena){0}};
  for (int i = 0; i < 2000; i++)
    buf_addf(&long_text, "Buoy %d of the outer channel has a lamp. ", i);
  stores(s, cstr(buf_str(&long_text)));
  shrink("PRAGMA wal_checkpoint(TRUNCATE)");
  stores(s, "The ferry leaves at nine");
  OK("restore", backup, "--confirm");
  shrink("VACUUM");
  shrink("PRAGMA wal_checkpoint(TRUNCATE)");
  stores(s, "The harbour has 7 cranes");
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  serve_stop(s);
  CHECK_INT(jint(OK("list"), "count"), 2);
  CHECK_HEALTHY();
}

/* A service manager may limit the size of files. */
TEST(a_file_size_limit_ends_no_server, .only = TEST_ON_SQLITE) {
  struct serve *s = start();
  struct rlimit none, limit;
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, NULL, &none), 0);
  limit = (struct rlimit){.rlim_cur = 16384, .rlim_max = none.rlim_max}; /* less than the log has */
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, &limit, NULL), 0);
  struct answer a = post(s, "The ferry leaves at seven from pier nine");
  if (a.status != 507)
    FAIL("%d: %.*s", a.status, STR_ARG(a.body));
  CHECK(has(a.body, "file size limit") && has(a.body, "ulimit -f"));
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, &none, NULL), 0);
  stores(s, "The harbour has 7 cranes");
  serve_end(s);
  CHECK_INT(jint(OK("list"), "count"), 2);
  CHECK_HEALTHY();
}
