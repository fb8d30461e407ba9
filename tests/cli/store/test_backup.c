/* test_backup.c: backup and restore of transcripts: no message is lost if files are missing, have grown, diverged or
 * are damaged, or if the program is killed. */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/cli.h"

static struct str shell(const char *command) {
  struct run r = proc_run(.argv = ARGS("sh", "-c", command), .timeout_ms = 60000);
  CHECK_INT(r.exit_code, 0);
  return r.out;
}

static const char *files(void) { return cli_side(".files"); }

static bool there(const char *path) { return access(path, F_OK) == 0; }

/* All transcripts with their hashes, without lock files and the index. */
static struct str all_files(void) {
  return shell(
      textf("mkdir -p '%s' && cd '%s' && find . -name '*.jsonl' -o -name '*.torn' | LC_ALL=C sort | xargs -r sha256sum",
            files(), files()));
}

static void lose_files(void) { (void)shell(textf("rm -rf '%s'", files())); }

static void say(const char *session, const char *text) {
  OK("transcript", "append", session, "--content", text, "--id", text);
}

static int64_t messages_of(const char *session) {
  return jint(OK("transcript", "read", session, "--archived"), "count");
}

/* ---- backup and restore ---- */

TEST(transcripts_of_all_teams_are_restored_unchanged, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  for (int i = 0; i < 20; i++)
    say("talk", textf("message %d", i));
  OK("transcript", "compact", "talk", "--keep", "3", "--force", "--summary", "twenty messages");
  say("talk", "one more");
  say("old", "long ago");
  OK("transcript", "archive", "old");
  OK("--project", "Shop & Co", "transcript", "append", "talk", "--content", "in a project");
  cli_set("CAIRN_TEAM=other");
  say("talk", "of another team");
  cli_set("CAIRN_TEAM");
  struct str before = all_files();
  yyjson_val *r = OK("backup", backup);
  CHECK_INT(jint(r, "transcripts.sessions"), 4);
  CHECK_STR(jstr(r, "transcripts.file"), textf("%s.transcripts", backup));
  struct stat sb;
  CHECK_INT(stat(textf("%s.transcripts", backup), &sb), 0);
  CHECK_INT(sb.st_mode & 0777, 0600);
  lose_files();
  r = OK("restore", backup, "--confirm");
  CHECK(jbool(r, "transcripts.in_backup"));
  CHECK_INT(jint(r, "transcripts.restored"), 4);
  CHECK_INT(jlen(r, "transcripts.diverged"), 0);
  CHECK_STR(all_files(), cstr(before));
  CHECK_INT(messages_of("talk"), 22); /* including the summary */
  CHECK(jbool(OK("transcript", "read", "old"), "archived"));
  r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "transcripts.kept"), 4);
  CHECK_STR(all_files(), cstr(before));
  CHECK_HEALTHY();
}

TEST(other_tools_can_read_the_archive) {
  const char *backup = path_join(NULL, "b.db"), *out = path_join(NULL, "out");
  char longest[129];
  memset(longest, 'x', 128);
  longest[128] = 0;
  say("talk", "hello");
  say(longest, "a long name");
  OK("backup", backup);
  (void)shell(textf("mkdir '%s' && tar -C '%s' -xf '%s.transcripts' && cd '%s' && sha256sum --strict -c SHA256SUMS",
                    out, out, backup, out));
  CHECK_STR(file_read(textf("%s/default/admin/talk.jsonl", out)),
            cstr(file_read(textf("%s/default/admin/sessions/talk.jsonl", files()))));
  lose_files();
  OK("restore", backup, "--confirm");
  CHECK_INT(messages_of(longest), 1);
}

TEST(a_store_without_transcripts_has_a_backup_of_one_file) {
  const char *backup = path_join(NULL, "b.db");
  STORE("The harbour has four cranes");
  yyjson_val *r = OK("backup", backup);
  CHECK_INT(jint(r, "transcripts.sessions"), 0);
  CHECK(!jget(r, "transcripts.file"));
  CHECK(!there(textf("%s.transcripts", backup)));
  say("talk", "said after the backup");
  r = OK("restore", backup, "--confirm");
  CHECK_INT(messages_of("talk"), 1);
  CHECK_INT(jint(r, "transcripts.restored"), 0);
}

/* Backups of older versions record nothing about transcripts. Existing transcripts are kept. */
TEST(a_backup_of_an_older_version_is_restored) {
  const char *backup = path_join(NULL, "b.db");
  STORE("The harbour has four cranes");
  OK("backup", backup);
  struct direct *d = direct_open(backup);
  direct_do(d, "DELETE FROM meta WHERE name = 'backup_transcripts'");
  direct_close(d);
  say("talk", "said after the backup");
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK(!jbool(r, "transcripts.in_backup"));
  CHECK_INT(messages_of("talk"), 1);
  struct run shown = CAIRN("restore", backup, "--confirm");
  CHECK(has(shown.out, "the backup has no transcripts"));
}

/* ---- changes since the backup ---- */

TEST(a_transcript_that_has_grown_is_not_truncated, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  for (int i = 0; i < 10; i++)
    say("talk", textf("message %d", i));
  say("quiet", "nothing more");
  say("late", "archived after the backup");
  OK("backup", backup);
  say("talk", "after the backup");
  OK("transcript", "compact", "talk", "--keep", "2", "--force", "--summary", "ten messages");
  say("talk", "after the compaction");
  OK("transcript", "compact", "talk", "--keep", "1", "--force", "--summary", "twelve messages");
  say("talk", "after the second");
  OK("transcript", "archive", "late");
  say("new", "began after the backup");
  struct str before = all_files();
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "transcripts.kept"), 3);
  CHECK_INT(jlen(r, "transcripts.diverged"), 0);
  CHECK_STR(all_files(), cstr(before));
  CHECK_INT(jint(OK("transcript", "list", "--archived"), "total"), 4);
}

TEST(a_shorter_transcript_is_extended, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  for (int i = 0; i < 6; i++)
    say("talk", textf("message %d", i));
  (void)shell(textf("cp -r '%s' early", files()));
  for (int i = 6; i < 12; i++)
    say("talk", textf("message %d", i));
  OK("transcript", "compact", "talk", "--keep", "2", "--force", "--summary", "ten messages");
  OK("backup", backup);
  lose_files();
  (void)shell(textf("cp -r early '%s'", files()));
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "transcripts.extended"), 1);
  r = OK("transcript", "read", "talk", "--all");
  CHECK_INT(jint(r, "count"), 12);
  for (int i = 0; i < 12; i++)
    CHECK_STR(jstr(r, textf("messages[%d].content", i)), textf("message %d", i));
  CHECK_INT(jint(OK("transcript", "list"), "sessions[0].messages"), 12);
}

TEST(a_diverged_transcript_is_kept_beside_the_restored_one, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  say("talk", "the beginning");
  (void)shell(textf("cp -r '%s' early", files()));
  say("talk", "as it went");
  OK("backup", backup);
  lose_files();
  (void)shell(textf("cp -r early '%s'", files()));
  say("talk", "as it went here");
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jlen(r, "transcripts.diverged"), 1);
  CHECK_STR(jstr(r, "transcripts.diverged[0].session"), "talk");
  CHECK_STR(jstr(r, "transcripts.diverged[0].agent"), "admin");
  const char *other = cstr(jstr(r, "transcripts.diverged[0].kept_as"));
  CHECK_STR(jstr(OK("transcript", "read", "talk"), "messages[1].content"), "as it went here");
  CHECK_STR(jstr(OK("transcript", "read", other), "messages[1].content"), "as it went");
  r = OK("restore", backup, "--confirm");
  CHECK_STR(jstr(r, "transcripts.diverged[0].kept_as"), other);
  CHECK_INT(jint(OK("transcript", "list"), "total"), 2);
  CHECK(has(CAIRN("restore", backup, "--confirm").out, other));
}

/* ---- bad archives ---- */

/* The archived originals of a compacted session are lost. Its summary must survive the restore. */
TEST(a_summary_without_its_originals_is_not_overwritten, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  const char *folder = textf("%s/default/admin/sessions", files());
  for (int i = 0; i < 5; i++)
    say("talk", textf("message %d", i));
  OK("backup", backup);
  OK("transcript", "compact", "talk", "--keep", "1", "--force", "--summary", "precious");
  (void)shell(textf("cd '%s' && rm -r archive && sed -i '1!d' talk.jsonl && grep -q precious talk.jsonl", folder));
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "transcripts.extended"), 1);
  struct str text = file_read(textf("%s/talk.jsonl", folder));
  CHECK(has(text, "precious"));
  for (int i = 0; i < 5; i++)
    CHECK(has(text, textf("message %d", i)));
  r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "transcripts.kept"), 1);
  CHECK_STR(file_read(textf("%s/talk.jsonl", folder)), cstr(text));
}

/* Flips a bit of the first message. */
static void spoil(const char *archive) {
  struct str text = file_read(archive);
  size_t at = str_find(text, STR("{\"id\""), 0);
  CHECK(at != SIZE_MAX);
  ((char *)(uintptr_t)text.p)[at + 20] ^= 1;
  file_write(archive, text);
}

TEST(a_damaged_archive_changes_nothing, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db"), *other = path_join(NULL, "c.db");
  const char *archive = textf("%s.transcripts", backup);
  say("talk", "the first message, that is long enough to be spoilt");
  OK("backup", backup);
  say("talk", "the second");
  OK("backup", other);
  lose_files();
  (void)shell(textf("mv '%s' kept", archive));
  yyjson_val *r = REFUSED("not_found", "restore", backup, "--confirm");
  CHECK(has(jstr(r, "fix"), "--without-transcripts"));
  (void)shell(textf("cp '%s.transcripts' '%s'", other, archive));
  REFUSED("not_found", "restore", backup, "--confirm");
  (void)shell(textf("cp kept '%s' && truncate -s -1024 '%s'", archive, archive));
  REFUSED("corrupt", "restore", backup, "--confirm");
  (void)shell(textf("cp kept '%s'", archive));
  spoil(archive);
  REFUSED("corrupt", "restore", backup, "--confirm");
  REFUSED("corrupt", "restore", backup);
  CHECK(!there(textf("%s/default", files())));
  r = OK("restore", backup, "--confirm", "--without-transcripts");
  CHECK(jbool(r, "transcripts.left_out"));
  CHECK(!there(textf("%s/default", files())));
  CHECK_HEALTHY();
  (void)shell(textf("cp kept '%s'", archive));
  REFUSED("confirm", "restore", backup);
  OK("restore", backup, "--confirm");
  CHECK_INT(messages_of("talk"), 1);
}

TEST(a_backup_overwrites_no_archive) {
  const char *backup = path_join(NULL, "b.db");
  say("talk", "hello");
  file_write(textf("%s.transcripts", backup), STR("somebody's"));
  REFUSED("conflict", "backup", backup);
  CHECK_STR(file_read(textf("%s.transcripts", backup)), "somebody's");
  CHECK(!there(backup));
  CHECK_STR(shell("ls | grep part || true"), "");
}

static bool any_file(const char *pattern) {
  glob_t found;
  bool any = glob(pattern, 0, NULL, &found) == 0;
  globfree(&found);
  return any;
}

/* Creates the file `taken` while the backup waits for a session's lock; the name was free when the backup began. */
static void taken_meanwhile(const char *backup, const char *taken) {
  int lock = open(textf("%s/default/admin/sessions/talk.lock", files()), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(lock >= 0 && flock(lock, LOCK_EX) == 0);
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "backup", backup), .env = cli_env());
  while (!any_file(textf("%s.transcripts.*.part", backup)))
    usleep(5 * 1000);
  file_write(taken, STR("somebody's"));
  close(lock);
  struct run r = proc_wait(p);
  CHECK(r.exit_code != 0);
  CHECK(has(r.err, "already exists"));
  CHECK_STR(file_read(taken), "somebody's");
  CHECK_INT(unlink(taken), 0);
  CHECK(!any_file(textf("%s*", backup)));
}

TEST(a_backup_overwrites_no_file_created_meanwhile, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  say("talk", "hello");
  taken_meanwhile(backup, backup);
  taken_meanwhile(backup, textf("%s.transcripts", backup));
  OK("backup", backup);
}

TEST(doctor_reports_an_unfinished_restore) {
  say("talk", "hello");
  OK("backup", path_join(NULL, "b.db"));
  CHECK_HEALTHY();
  sql_do("INSERT INTO meta (name, value) VALUES ('backup_transcripts', 'abc')");
  struct run r = CAIRN("doctor", "--json");
  CHECK(has(r.out, "\"name\":\"transcripts\",\"ok\":false"));
  OK("restore", path_join(NULL, "b.db"), "--confirm");
  CHECK_HEALTHY();
}

/* ---- automatic backups ---- */

TEST(archives_are_deleted_with_their_backups, .seconds = 60) {
  cli_set(textf("XDG_STATE_HOME=%s", path_join(NULL, "state")));
  int64_t id = STORE("Every backup holds this one");
  say("talk", "hello");
  const char *first = NULL;
  for (int i = 0; i < 9; i++) {
    cli_day(i + 1);
    yyjson_val *r = OK("backup");
    CHECK(there(cstr(jstr(r, "transcripts.file"))));
    if (i == 0)
      first = cstr(jstr(r, "file"));
  }
  CHECK(!there(first));
  CHECK(!there(textf("%s.transcripts", first)));
  yyjson_val *r = OK("purge", num(id), "--confirm");
  CHECK_INT(jlen(r, "receipt.backups"), 7);
  const char *last = cstr(jstr(r, "receipt.backups[6]"));
  CHECK(there(textf("%s.transcripts", last)));
  lose_files();
  OK("restore", last, "--confirm");
  CHECK_INT(messages_of("talk"), 1);
}

/* The store file was lost, and the next command has made a new one in its place. */
TEST(backups_of_another_store_at_the_same_place_are_kept, .seconds = 60, .only = TEST_ON_SQLITE) {
  STORE("Only the backups have this one");
  const char *ours[3];
  for (int i = 0; i < 3; i++) {
    cli_day(i + 1);
    ours[i] = cstr(jstr(OK("backup"), "file"));
  }
  cli_day(10);
  CHECK_INT(unlink(cli_db()), 0);
  unlink(textf("%s-wal", cli_db()));
  unlink(textf("%s-shm", cli_db()));
  STORE("A new store");
  const char *first = NULL;
  for (int i = 0; i < 9; i++) {
    cli_day(11 + i);
    const char *file = cstr(jstr(OK("backup"), "file"));
    first = first ? first : file;
  }
  CHECK(there(ours[0]) && there(ours[1]) && there(ours[2]));
  CHECK(!there(first));
  OK("restore", ours[2], "--confirm");
  CHECK_INT(jlen(OK("search", "Only the backups have this one"), "results"), 1);
}

/* A backup that is being restored is not pruned until the restore is complete. */
TEST(the_oldest_automatic_backup_can_be_restored, .seconds = 60) {
  cli_set(textf("XDG_STATE_HOME=%s", path_join(NULL, "state")));
  const char *oldest = NULL;
  say("talk", "hello");
  for (int i = 0; i < 7; i++) {
    cli_day(i + 1);
    yyjson_val *r = OK("backup");
    oldest = oldest ? oldest : cstr(jstr(r, "file"));
  }
  cli_day(8);
  lose_files();
  const char *archive = textf("%s.transcripts", oldest), *aside = path_join(NULL, "aside");
  struct stat sb;
  CHECK_INT(rename(archive, aside), 0);
  REFUSED("not_found", "restore", oldest, "--confirm");
  CHECK(there(oldest));
  CHECK_INT(rename(aside, archive), 0);
  file_write(files(), STR("in the way")); /* the store is restored, its transcripts cannot be */
  struct run failed = CAIRN("restore", oldest, "--confirm");
  CHECK(failed.exit_code != 0);
  CHECK(has(failed.err, "but not yet its transcripts"));
  CHECK(there(oldest) && there(archive));
  CHECK_INT(unlink(files()), 0);
  yyjson_val *r = OK("restore", oldest, "--confirm");
  CHECK_INT(jint(r, "transcripts.restored"), 1);
  CHECK_INT(messages_of("talk"), 1);
  CHECK(there(oldest) && there(archive)); /* backups made by a restore do not push out those of a person */
  CHECK_INT(stat(cstr(jstr(r, "safety_backup")), &sb), 0);
  OK("backup");
  CHECK(!there(oldest) && !there(archive));
}

/* As if killed after naming the archive and before naming the backup. Nothing else refers to the archive. */
TEST(an_archive_without_its_backup_is_deleted_after_a_day, .seconds = 60) {
  cli_set(textf("XDG_STATE_HOME=%s", path_join(NULL, "state")));
  const char *archives[2];
  say("talk", "hello");
  for (int i = 0; i < 2; i++) {
    cli_day(i + 1);
    yyjson_val *r = OK("backup");
    archives[i] = cstr(jstr(r, "transcripts.file"));
    CHECK_INT(unlink(cstr(jstr(r, "file"))), 0);
  }
  struct timespec old[2] = {{.tv_sec = time(NULL) - 2 * 24 * 3600}, {.tv_sec = time(NULL) - 2 * 24 * 3600}};
  CHECK_INT(utimensat(AT_FDCWD, archives[0], old, 0), 0);
  cli_day(3);
  yyjson_val *r = OK("backup");
  CHECK_INT(utimensat(AT_FDCWD, cstr(jstr(r, "transcripts.file")), old, 0), 0);
  cli_day(4);
  OK("backup");
  CHECK(!there(archives[0]));
  CHECK(there(archives[1]));
  CHECK(there(cstr(jstr(r, "transcripts.file"))));
}

/* ---- unreadable folders ---- */

/* A symlink to itself cannot be read with any permissions, not even by root. */
TEST(an_unreadable_folder_is_not_treated_as_empty, .seconds = 60) {
  static const char *const places[] = {"default/admin/sessions/archive", "default/admin/sessions", "default", ""};
  say("talk", "hello");
  for (size_t i = 0; i < ARRAY_LEN(places); i++) {
    const char *place = places[i][0] ? textf("%s/%s", files(), places[i]) : files();
    const char *backup = path_join(NULL, textf("b%zu.db", i));
    (void)shell(textf("rm -rf '%s' && ln -s '%s' '%s'", place, place, place));
    struct run r = CAIRN("backup", backup);
    CHECK(r.exit_code != 0);
    CHECK(has(r.err, "cannot read the folder"));
    CHECK(!there(backup) && !there(textf("%s.transcripts", backup)));
    CHECK_INT(unlink(place), 0);
    OK("backup", backup);
  }
  CHECK_STR(shell("ls | grep part || true"), "");
}

/* ---- concurrent writers and kills ---- */

/* The backup contains everything acknowledged before it began, and ends with a complete line. */
TEST(a_backup_contains_concurrent_acknowledged_appends, .seconds = 60) {
  const char *backup = path_join(NULL, "b.db");
  say("talk", "first");
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "transcript", "append", "talk", "-", "--json"), .env = cli_env());
  struct str line;
  int sent = 0;
  for (; sent < 50; sent++) {
    CHECK(proc_send(p, str_from(textf("{\"role\":\"user\",\"content\":\"line %d\"}\n", sent))));
    CHECK(proc_line(p, 60000, &line));
  }
  for (int more = 0; more < 200; more++)
    CHECK(proc_send(p, str_from(textf("{\"role\":\"user\",\"content\":\"line %d\"}\n", sent + more))));
  OK("backup", backup);
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  CHECK_INT(messages_of("talk"), 251);
  lose_files();
  OK("restore", backup, "--confirm");
  CHECK(messages_of("talk") >= 51);
  CHECK(!jget(OK("transcript", "read", "talk"), "damaged"));
}

static void many_sessions(int n) {
  for (int i = 0; i < n; i++) {
    const char *path = textf("%s/default/admin/sessions/s%d.jsonl", files(), i);
    file_write(path, str_from(textf("{\"id\":\"m%d\",\"role\":\"user\",\"content\":\"%s\",\"timestamp\":"
                                    "\"2026-02-05T10:00:00Z\"}\n",
                                    i, words("w", 50))));
  }
}

static bool killed_after(int64_t us, const char *const *args) {
  const char *argv[8] = {CAIRN_BIN};
  for (int i = 0; i < 6 && args[i]; i++)
    argv[i + 1] = args[i];
  struct proc *p = proc_start(.argv = argv, .env = cli_env());
  struct timespec pause = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&pause, NULL);
  proc_kill(p, SIGKILL);
  return proc_wait(p).signal == SIGKILL;
}

/* Killed at any point: a backup under its final name is complete, and repeating a restore brings everything back. */
TEST(a_killed_backup_or_restore_is_complete_or_repeatable, .seconds = 120, .slow = true) {
  enum { SESSIONS = 200, TIMES = 8 };
  const char *backup = path_join(NULL, "b.db");
  say("talk", "hello");
  many_sessions(SESSIONS);
  struct str before = all_files();
  struct run whole = CAIRN("backup", path_join(NULL, "first.db"));
  CHECK_INT(whole.exit_code, 0);
  for (int i = 0; i < TIMES; i++) {
    test_note("backup killed in part %d of %d", i, TIMES);
    (void)killed_after(whole.elapsed_us * i / TIMES, ARGS("backup", backup));
    if (there(backup))
      REFUSED("confirm", "restore", backup); /* so the backup passed its check */
    (void)shell("rm -f b.db b.db.*");
  }
  OK("backup", backup);
  lose_files();
  whole = CAIRN("restore", backup, "--confirm");
  CHECK_INT(whole.exit_code, 0);
  CHECK_STR(all_files(), cstr(before));
  for (int i = 0; i < TIMES; i++) {
    test_note("restore killed in part %d of %d", i, TIMES);
    lose_files();
    (void)killed_after(whole.elapsed_us * i / TIMES, ARGS("restore", backup, "--confirm"));
    OK("restore", backup, "--confirm");
    CHECK_STR(all_files(), cstr(before));
    CHECK_HEALTHY();
  }
}

/* ---- migrating ---- */

TEST(a_migrated_store_finds_its_transcripts, .seconds = 60) {
  const char *to = test_store_new("to.db");
  say("talk", "hello");
  OK("--project", "shop", "transcript", "append", "talk", "--content", "in a project");
  yyjson_val *r = OK("migrate", "--to", to);
  CHECK_INT(jint(r, "transcripts.restored"), 2);
  r = OK("migrate", "--to", to);
  CHECK_INT(jint(r, "transcripts.kept"), 2);
  CHECK_INT(messages_of("talk"), 1);
  cli_set(textf("CAIRN_DB=%s", to));
  CHECK_INT(messages_of("talk"), 1);
  CHECK_STR(jstr(OK("--project", "shop", "transcript", "read", "talk"), "messages[0].content"), "in a project");
}

TEST(transcripts_that_cannot_be_migrated_stay_and_are_reported, .seconds = 60) {
  const char *to = path_join(NULL, "target.db"), *place = textf("%s.files", to);
  say("talk", "hello");
  file_write(place, STR("in the way"));
  struct run r = CAIRN("migrate", "--to", to);
  CHECK(r.exit_code != 0);
  CHECK(has(r.err, "its transcripts were not and stay where they are"));
  CHECK(has(r.err, textf("copy the files in '%s' to '%s'", files(), place)));
  CHECK_INT(messages_of("talk"), 1);
  CHECK_INT(unlink(place), 0);
  (void)shell(textf("cp -r '%s' '%s'", files(), place));
  cli_set(textf("CAIRN_DB=%s", to));
  CHECK_INT(messages_of("talk"), 1);
}

/* A path set outside the store (--set) applies to the new store too, and its transcripts are found there. */
TEST(a_migrated_store_uses_the_configured_path, .seconds = 60) {
  const char *to = test_store_new("to.db"), *place = "files.sessions_path=<agent>/talks/";
  OK("--set", place, "transcript", "append", "talk", "--content", "hello");
  yyjson_val *r = OK("--set", place, "migrate", "--to", to);
  CHECK_INT(jint(r, "transcripts.restored"), 1);
  cli_set(textf("CAIRN_DB=%s", to));
  CHECK_INT(jint(OK("--set", place, "transcript", "read", "talk"), "count"), 1);
  CHECK_INT(jint(OK("transcript", "list"), "total"), 0);
}
