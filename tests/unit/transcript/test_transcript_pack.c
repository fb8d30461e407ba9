/* test_transcript_pack.c: archives of transcripts detect any change, and restoring one never loses a message. */
#include "transcript/file/pack.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

enum { NOW_S = 1770285600 };

static struct arena arena;
static struct error err;
static struct store *st;

static void open_store(void) {
  struct store_options o = {.path = test_store("a.db"), .now = INT64_C(1000) * NOW_S};
  CHECK_OK(store_open(&o, &st, &err), &err);
}

static struct transcripts folder(void) {
  struct transcripts t;
  CHECK_OK(transcripts_at(st, STR("default"), STR(""), INT64_C(1000) * NOW_S, &arena, &t, &err), &err);
  return t;
}

static void say(const char *session, struct str text) {
  struct transcripts t = folder();
  struct message m = {.role = SPEAKER_USER, .content = text};
  struct messages list = {&m, 1, 1};
  struct transcript_appended done;
  CHECK_OK(transcript_append(&t, str_from(session), &list, false, &arena, &done, &err), &err);
}

static struct tar pack(const char *name, struct transcript_pack *ret_pack) {
  const char *path = path_join(NULL, name);
  struct tar t = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), .name = path};
  CHECK(t.fd >= 0);
  CHECK_OK(db_team(store_db(st), STR_NONE, &err), &err);
  CHECK_OK(transcripts_pack(st, &t, &arena, ret_pack, &err), &err);
  t.at = 0;
  return t;
}

static struct transcripts_unpacked unpack(struct tar *t) {
  struct unpacking u;
  struct transcripts_unpacked done;
  t->at = 0;
  CHECK_OK(transcripts_check_pack(t, &arena, &u, &err), &err);
  CHECK_OK(transcripts_unpack(st, &u, INT64_C(1000) * NOW_S, &arena, &done, &err), &err);
  return done;
}

/* All messages ever written, without summaries. */
static struct strs said(struct str session) {
  struct transcripts t = folder();
  struct transcript tr = {0};
  struct strs list = {0};
  if (transcript_read(&t, session, true, &arena, &tr, &err) != STATUS_NOT_FOUND)
    for (size_t i = 0; i < tr.list.n; i++)
      if (tr.list.v[i].role != SPEAKER_SUMMARY)
        strs_push(&arena, &list, tr.list.v[i].content);
  return list;
}

static bool begins(const struct strs *all, const struct strs *with) {
  bool same = all->n >= with->n;
  for (size_t i = 0; same && i < with->n; i++)
    same = str_eq(all->v[i], with->v[i]);
  return same;
}

static bool is_content(const struct unpacking *u, int64_t at) {
  for (size_t i = 0; i < u->sessions.n; i++)
    if (at >= u->sessions.v[i].live.at && at < u->sessions.v[i].live.at + u->sessions.v[i].live.bytes)
      return true;
  return false;
}

TEST(any_changed_byte_is_detected, .seconds = 60) {
  open_store();
  say("one", STR("hello"));
  say("two", STR("there"));
  struct transcript_pack made;
  struct tar t = pack("a.tar", &made);
  struct unpacking first, u;
  CHECK_OK(transcripts_check_pack(&t, &arena, &first, &err), &err);
  CHECK_STR(str_from(first.id), made.id);
  CHECK_INT(first.sessions.n, 2);
  struct str whole = file_read(t.name);
  char byte;
  for (size_t i = 0; i < whole.n; i++) {
    byte = (char)(whole.p[i] ^ 0x21);
    CHECK_INT(pwrite(t.fd, &byte, 1, (off_t)i), 1);
    t.at = 0;
    bool ok = transcripts_check_pack(&t, &arena, &u, &err) == STATUS_OK;
    CHECK(!ok || !is_content(&first, (int64_t)i)); /* padding and the end of a checksum do not matter */
    CHECK(!ok || (str_eq(str_from(u.id), str_from(first.id)) && u.sessions.n == first.sessions.n));
    CHECK_INT(pwrite(t.fd, &whole.p[i], 1, (off_t)i), 1);
  }
  close(t.fd);
  store_close(&st);
}

/* Paths outside the folder, and unknown files, are refused before anything is written. */
TEST(foreign_paths_are_refused) {
  static const char *const paths[] = {"default/admin/../../x.jsonl",    "/etc/x.jsonl",        "default/../x.jsonl",
                                      "default/.hidden/x.jsonl",        "UPPER/admin/x.jsonl", "default/admin/x.txt",
                                      "default/admin/.x.jsonl",         "default/x.jsonl",     "default//x.jsonl",
                                      "default/admin/archive/a/x.jsonl"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    const char *name = path_join(NULL, "a.tar");
    struct tar t = {.fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), .name = name};
    struct unpacking u;
    test_note("%s", paths[i]);
    CHECK_OK(tar_begin(&t, str_from(paths[i]), 0, &err), &err);
    CHECK_OK(tar_finish(&t, &err), &err);
    t.at = 0;
    CHECK_INT(transcripts_check_pack(&t, &arena, &u, &err), STATUS_CORRUPT);
    CHECK(strstr(err.message, "not a transcript") != NULL);
    close(t.fd);
  }
}

/* An incomplete line is not in the archive; the torn file is. */
TEST(only_whole_lines_are_packed) {
  open_store();
  say("one", STR("hello"));
  struct transcripts t = folder();
  const char *path = arena_printf(&arena, "%s/one.jsonl", t.folder.p).p;
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  CHECK(write(fd, "{\"role\":\"us", 11) == 11);
  close(fd);
  file_write(arena_printf(&arena, "%s/one.torn", t.folder.p).p, STR("{\"ro\n"));
  struct transcript_pack made;
  struct tar tar = pack("a.tar", &made);
  CHECK_INT(made.sessions, 1);
  CHECK_INT(made.files, 2);
  CHECK_INT(proc_run(.argv = ARGS("rm", "-rf", t.folder.p)).exit_code, 0);
  CHECK_INT(unpack(&tar).restored, 1);
  CHECK_STR(file_read(arena_printf(&arena, "%s/one.torn", t.folder.p).p), "{\"ro\n");
  CHECK_INT(said(STR("one")).n, 1);
  close(tar.fd);
  store_close(&st);
}

/* ---- random sequences ---- */

static unsigned dice;
static unsigned roll(unsigned sides) {
  dice = dice * 1103515245 + 12345;
  return (dice >> 16) % sides;
}

static void something(int step) {
  struct transcripts t = folder();
  struct transcript tr;
  struct transcript_compacted done;
  switch (roll(6)) {
  case 0:
    if (transcript_read(&t, STR("s"), false, &arena, &tr, &err) == STATUS_OK && !tr.archived && tr.list.n > 3)
      CHECK_OK(transcript_compact(&t, &(struct compaction){&tr, transcript_cut(&tr.list, 2), STR("summary"), false},
                                  &arena, &done, &err),
               &err);
    return;
  case 1:
    if (transcript_read(&t, STR("s"), false, &arena, &tr, &err) == STATUS_OK)
      CHECK_OK(transcript_archive(&t, STR("s"), &arena, &err), &err);
    return;
  default:
    say("s", arena_printf(&arena, "said in step %d", step));
  }
}

/* Messages are added, archived and compacted; a backup is made; the session continues, or the folder is reset to an
 * earlier state and continues differently; then the backup is restored. */
TEST(restoring_after_any_history_loses_nothing, .seconds = 120) {
  open_store();
  for (unsigned round = 0; round < 40; round++) {
    struct transcripts t = folder();
    struct transcript_pack made;
    const char *early = path_join(NULL, "early");
    dice = round;
    int step = 0;
    for (unsigned n = 1 + roll(12); n-- > 0;)
      something(step++);
    CHECK_INT(proc_run(.argv = ARGS("sh", "-c",
                                    arena_printf(&arena, "mkdir -p %s; rm -rf %s; cp -r %s %s", t.folder.p, early,
                                                 t.folder.p, early)
                                        .p))
                  .exit_code,
              0);
    for (unsigned n = roll(12); n-- > 0;)
      something(step++);
    struct strs packed = said(STR("s"));
    struct tar tar = pack("a.tar", &made);
    if (roll(3))
      CHECK_INT(proc_run(.argv = ARGS("sh", "-c",
                                      arena_printf(&arena, "rm -rf %s; cp -r %s %s", t.folder.p, early, t.folder.p).p))
                    .exit_code,
                0);
    for (unsigned n = roll(6); n-- > 0;)
      something(step++ + 1000);
    struct strs before = said(STR("s"));
    struct transcripts_unpacked done = unpack(&tar);
    struct strs after = said(STR("s"));
    test_note("round %u: %zu packed, %zu here", round, packed.n, before.n);
    CHECK(begins(&after, &before));
    if (done.diverged.n) {
      struct strs other = said(done.diverged.v[0].kept_as);
      CHECK(begins(&other, &packed) && other.n == packed.n && after.n == before.n);
      CHECK(!begins(&before, &packed) && !begins(&packed, &before));
    } else {
      CHECK(begins(&after, &packed));
      CHECK_INT(after.n, before.n > packed.n ? before.n : packed.n);
    }
    struct transcripts_unpacked again = unpack(&tar);
    CHECK_INT(again.restored + again.extended, 0);
    CHECK_INT(again.diverged.n, done.diverged.n);
    close(tar.fd);
    CHECK_INT(proc_run(.argv = ARGS("rm", "-rf", t.folder.p)).exit_code, 0);
    arena_release(&arena);
  }
  store_close(&st);
}
