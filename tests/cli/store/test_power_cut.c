/* test_power_cut.c: power cuts at every point of a session with the program: everything that was acknowledged is there,
 * nothing is there by halves, and no alarm is raised. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/disk.h"
#include "support/serve.h"

enum { MEMORIES = 9, FROM_SERVER = 3, POINTS = 60 };

static const char *disk, *log_path;

static const char *text_of(int i) { return textf("Lamp %d of the pier is %d metres high", i, 3 * i + 4); }
static const char *note_of(int i) { return textf("memory %d", i); }

/* The program runs with the recorder; the server without a sandbox, which would keep it from the log. */
static void start_recording(void) {
  disk = path_join(NULL, "disk");
  log_path = path_join(NULL, "log");
  CHECK_INT(mkdir(disk, 0700), 0);
  cli_set(textf("CAIRN_DB=%s", path_join(disk, "a.db")));
  cli_set(textf("RECORD_DIR=%s", disk));
  cli_set(textf("RECORD_LOG=%s", log_path));
  cli_set("ASAN_OPTIONS=verify_asan_link_order=0");
  cli_set(textf("LD_PRELOAD=%s/librecord.so", CAIRN_BINARY_DIR));
}

static void stop_recording(void) { cli_set("LD_PRELOAD"); }

static void remember(int i) {
  OK("remember", text_of(i));
  disk_note(log_path, note_of(i));
}

/* Several transactions in one log, moved into the file at the end. */
static void remember_by_server(int first, int n) {
  struct serve *s = serve_start(ARGS("--sandbox", "off"));
  for (int i = first; i < first + n; i++) {
    struct answer a = serve_do(s, "POST", "/api/v1/memories", "Content-Type: application/json\r\n",
                               str_from(textf("{\"text\":\"%s\"}", text_of(i))));
    CHECK_INT(a.status, 201);
    disk_note(log_path, note_of(i));
  }
  serve_stop(s);
}

static void record_session(void) {
  start_recording();
  for (int i = 0; i < 3; i++)
    remember(i);
  remember_by_server(3, FROM_SERVER);
  for (int i = 3 + FROM_SERVER; i < MEMORIES; i++)
    remember(i);
  OK("backup", path_join(disk, "backup.db"));
  disk_note(log_path, "backup");
  stop_recording();
}

/* ---- checks of a state ---- */

/* The store has the acknowledged memories, at most one more, and no gap. */
static void check_memories(const struct disk_log *d, size_t point, const char *store) {
  struct direct *direct = direct_open(store);
  int64_t there = direct_number(direct, "SELECT count(*) FROM memory");
  int acknowledged = 0;
  while (acknowledged < MEMORIES && disk_noted(d, point, note_of(acknowledged)))
    acknowledged++;
  if (there < acknowledged || there > acknowledged + 1)
    FAIL("%d memories were acknowledged, and %lld are there", acknowledged, (long long)there);
  for (int i = 0; i < there; i++)
    CHECK_INT(direct_number(direct, textf("SELECT count(*) FROM body WHERE text = '%s'", text_of(i))), 1);
  direct_close(direct);
}

static void check_state(const struct disk_log *d, size_t point, const char *folder) {
  const char *store = path_join(folder, "a.db");
  cli_set(textf("CAIRN_DB=%s", store));
  if (access(store, F_OK) != 0) {
    CHECK(!disk_noted(d, point, note_of(0)));
    return;
  }
  struct run r = CAIRN("doctor", "--json");
  if (r.exit_code != 0)
    FAIL("doctor: %.*s%.*s", STR_ARG(r.out), STR_ARG(r.err));
  check_memories(d, point, store);
  if (disk_noted(d, point, "backup")) {
    cli_set(textf("CAIRN_DB=%s", path_join(folder, "backup.db")));
    CHECK_INT(jint(OK("list"), "count"), MEMORIES);
  }
}

static void try_state(const struct disk_log *d, size_t point, enum disk_keep keep, unsigned seed) {
  static const char *const kept[] = {"nothing", "all", "some"};
  const char *folder = path_join(NULL, textf("cut-%zu-%s-%u", point, kept[keep], seed));
  CHECK_INT(mkdir(folder, 0700), 0);
  test_note("power cut after %zu of %zu records, %s of the unsynced kept, seed %u", point, disk_count(d), kept[keep],
            seed);
  disk_replay(d, point, keep, seed, folder);
  check_state(d, point, folder);
  CHECK_INT(proc_run(.argv = ARGS("rm", "-rf", folder)).exit_code, 0);
}

/* A sync, a note or a change of names, where what must be there changes; not a plain write. */
static bool is_turning_point(const struct disk_log *d, size_t i) {
  uint32_t op = disk_at(d, i)->op;
  return op == DISK_SYNC || op == DISK_SYNC_FOLDER || op == DISK_NOTE || op == DISK_RENAME || op == DISK_UNLINK;
}

static void try_turning_point(const struct disk_log *d, size_t i, unsigned seed) {
  try_state(d, i, DISK_KEEP_NOTHING, 0); /* just before it */
  try_state(d, i, DISK_KEEP_SOME, seed);
  try_state(d, i + 1, DISK_KEEP_NOTHING, 0);
  try_state(d, i + 1, DISK_KEEP_SOME, seed + 1);
  try_state(d, i + 1, DISK_KEEP_ALL, 0);
}

/* Without everything unsynced, the disk is as it was before the write. */
static void try_write(const struct disk_log *d, size_t i, unsigned seed) {
  try_state(d, i + 1, DISK_KEEP_SOME, seed);
  try_state(d, i + 1, DISK_KEEP_ALL, 0);
}

/* A number in the environment; a failure can be repeated with it. */
static unsigned number_given(const char *name, unsigned otherwise) {
  const char *text = getenv(name);
  return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* Tries about POINTS turning points and as many plain writes. A run begins with others than the one before it, unless
 * CAIRN_TEST_SEED is given. With CAIRN_TEST_EVERY=1 (scripts/test all) every record is tried. */
TEST(nothing_acknowledged_is_lost_in_a_power_cut, .only = TEST_ON_SQLITE, .seconds = 600, .slow = true) {
  unsigned chosen = number_given("CAIRN_TEST_SEED", (unsigned)time(NULL));
  bool every = number_given("CAIRN_TEST_EVERY", 0) > 0;
  record_session();
  struct disk_log *d = disk_read(log_path);
  size_t count[2] = {0}, at[2], step[2], tried[2] = {0};
  for (size_t i = 0; i < disk_count(d); i++)
    count[is_turning_point(d, i)]++;
  CHECK(count[true] > 2 * MEMORIES && count[false] > count[true]);
  for (int k = 0; k < 2; k++) {
    step[k] = every ? 1 : count[k] / POINTS + 1;
    at[k] = chosen % step[k];
  }
  printf("%zu turning points, %zu writes, CAIRN_TEST_SEED=%u\n", count[true], count[false], chosen);
  for (size_t i = 0; i < disk_count(d); i++) {
    bool turning = is_turning_point(d, i), last = i + 1 == disk_count(d);
    unsigned seed = (unsigned)(i * 7919 + chosen);
    if (at[turning]++ % step[turning] != 0 && !last)
      continue;
    (turning ? try_turning_point : try_write)(d, i, seed);
    tried[turning]++;
  }
  CHECK(tried[true] >= (every ? count[true] : POINTS / 2) && tried[false] >= (every ? count[false] : POINTS / 2));
}

/* ---- files beside the store ---- */

enum { MESSAGES = 3, PAGES = 2 };

static struct str pages[PAGES], key;

static const char *page_file(const char *folder) { return path_join(folder, "MEMORY.md"); }
static const char *key_file(const char *folder) { return path_join(folder, "vault.key"); }
static const char *message_of(int i) { return textf("Message %d about the pier", i); }

/* The path below the folder of the transcript that an append reported. */
static const char *append_messages(void) {
  const char *file = NULL;
  for (int i = 0; i < MESSAGES; i++) {
    struct str path = jstr(OK("transcript", "append", "s1", "--content", message_of(i)), "path");
    CHECK(str_starts(path, str_from(disk)));
    file = cstr(str_slice(path, strlen(disk) + 1, path.n));
    disk_note(log_path, message_of(i));
  }
  return file;
}

static const char *record_files(void) {
  start_recording();
  for (int i = 0; i < PAGES; i++) {
    OK("remember", text_of(i));
    OK("sync", "--path", page_file(disk));
    pages[i] = file_read(page_file(disk));
    disk_note(log_path, textf("page %d", i));
  }
  CHECK(!str_eq(pages[0], pages[1]));
  cli_set(textf("CAIRN_VAULT_KEY_FILE=%s", key_file(disk)));
  OK_FED(STR("the tide turns at nine"), "vault", "set", "tide", "-", "--secret");
  disk_note(log_path, "key");
  key = file_read(key_file(disk));
  const char *file = append_messages();
  stop_recording();
  return file;
}

static void check_files(const struct disk_log *d, size_t point, const char *folder, const char *transcript) {
  struct str page = access(page_file(folder), F_OK) == 0 ? file_read(page_file(folder)) : STR_NONE;
  if (page.p ? !str_eq(page, pages[0]) && !str_eq(page, pages[1]) : disk_noted(d, point, "page 0"))
    FAIL("MEMORY.md is '%.*s'", STR_ARG(page));
  if (disk_noted(d, point, "key") && !str_eq(file_read(key_file(folder)), key))
    FAIL("the key of the vault is lost");
  const char *path = path_join(folder, transcript);
  struct str messages = access(path, F_OK) == 0 ? file_read(path) : STR("");
  for (int i = 0; i < MESSAGES; i++)
    if (disk_noted(d, point, message_of(i)) && !has(messages, message_of(i)))
      FAIL("message %d is not in '%.*s'", i, STR_ARG(messages));
}

TEST(pages_and_transcripts_survive_a_power_cut, .only = TEST_ON_SQLITE, .seconds = 120, .slow = true) {
  const char *transcript = record_files();
  struct disk_log *d = disk_read(log_path);
  for (size_t i = 0; i < disk_count(d); i++)
    if (is_turning_point(d, i) || i + 1 == disk_count(d))
      for (unsigned k = 0; k < 6; k++) {
        const char *folder = path_join(NULL, textf("cut-%zu-%u", i, k));
        CHECK_INT(mkdir(folder, 0700), 0);
        test_note("power cut after %zu of %zu writes, %u", i + 1, disk_count(d), k);
        disk_replay(d, i + 1, k == 0 ? DISK_KEEP_NOTHING : k == 1 ? DISK_KEEP_ALL : DISK_KEEP_SOME, k, folder);
        check_files(d, i + 1, folder, transcript);
        CHECK_INT(proc_run(.argv = ARGS("rm", "-rf", folder)).exit_code, 0);
      }
}
