/* test_transcript.c: files of transcripts: appending, crash repair, compaction, archive and index. */
#include "transcript/file/transcript.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

static struct arena arena;
static struct error err;

#define S STR("s1")

static struct transcripts folder(void) {
  return (struct transcripts){.folder = arena_printf(&arena, "%s/agent/sessions", test_dir()),
                              .now = INT64_C(1770285600000)};
}

static const char *file_of(const char *name) {
  return arena_printf(&arena, "%s/agent/sessions/%s", test_dir(), name).p;
}

static struct transcript_appended add(const struct transcripts *t, struct message m) {
  struct messages list = {&m, 1, 1};
  struct transcript_appended done;
  CHECK_OK(transcript_append(t, S, &list, false, &arena, &done, &err), &err);
  return done;
}

static struct transcript_appended say(const struct transcripts *t, enum speaker role, const char *id,
                                      const char *text) {
  return add(t, (struct message){.id = str_from(id), .role = role, .content = str_from(text)});
}

static struct transcript load(const struct transcripts *t, bool originals) {
  struct transcript tr;
  CHECK_OK(transcript_read(t, S, originals, &arena, &tr, &err), &err);
  return tr;
}

static struct transcript_compacted compact(const struct transcripts *t, int64_t keep) {
  struct transcript tr = load(t, false);
  struct transcript_compacted done;
  size_t n = transcript_cut(&tr.list, keep);
  CHECK_OK(transcript_compact(t, &(struct compaction){&tr, n, STR("what was said"), false}, &arena, &done, &err), &err);
  return done;
}

static bool there(const char *name) { return access(file_of(name), F_OK) == 0; }

static void append_bytes(const char *name, const char *bytes) {
  int fd = open(file_of(name), O_WRONLY | O_APPEND);
  CHECK(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
  close(fd);
}

TEST(ids_of_sessions) {
  CHECK(transcript_id_ok(STR("a")) && transcript_id_ok(STR("2026-02-05_x.y")));
  CHECK(!transcript_id_ok(STR("")) && !transcript_id_ok(STR(".x")) && !transcript_id_ok(STR("-x")));
  CHECK(!transcript_id_ok(STR("../x")) && !transcript_id_ok(STR("a/b")) && !transcript_id_ok(STR("a b")));
  CHECK(transcript_id_ok(transcript_id_safe(&arena, STR("../../etc/passwd"))));
  CHECK(!str_eq(transcript_id_safe(&arena, STR("a/b")), transcript_id_safe(&arena, STR("a b"))));
  CHECK_STR(transcript_id_safe(&arena, STR("plain")), "plain");
  struct transcripts t = folder();
  struct messages list = {0};
  struct transcript_appended done;
  struct transcript tr;
  CHECK_STATUS(transcript_append(&t, STR("../x"), &list, false, &arena, &done, &err), STATUS_USAGE);
  CHECK_STATUS(transcript_read(&t, STR("../x"), false, &arena, &tr, &err), STATUS_USAGE);
}

TEST(messages_are_appended_and_read) {
  struct transcripts t = folder();
  CHECK_INT(say(&t, SPEAKER_USER, NULL, "Hello").total_messages, 1);
  struct transcript_appended done = say(&t, SPEAKER_ASSISTANT, "m2", "Hi there!");
  CHECK_INT(done.total_messages, 2);
  struct transcript tr = load(&t, false);
  CHECK_INT(tr.list.n, 2);
  CHECK(str_starts(tr.list.v[0].id, STR("msg_")));
  CHECK_INT(tr.list.v[0].at, t.now);
  CHECK_STR(tr.list.v[1].id, "m2");
  CHECK_INT(done.total_tokens, tr.tokens);
  struct stat sb;
  CHECK(stat(file_of("s1.jsonl"), &sb) == 0 && (sb.st_mode & 0777) == 0600);
}

TEST(a_missing_session) {
  struct transcripts t = folder();
  struct transcript tr;
  struct transcript_info info;
  CHECK_STATUS(transcript_read(&t, S, false, &arena, &tr, &err), STATUS_NOT_FOUND);
  CHECK_STATUS(transcript_find(&t, S, &arena, &info, &err), STATUS_NOT_FOUND);
  CHECK_STATUS(transcript_archive(&t, S, &arena, &err), STATUS_NOT_FOUND);
  CHECK(!there("s1.lock"));
}

TEST(a_torn_line_is_moved_and_reported) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  append_bytes("s1.jsonl", "{\"id\":\"b\",\"role\":\"us");
  struct transcript tr = load(&t, false);
  CHECK_INT(tr.list.n, 1);
  CHECK_INT(tr.torn, 20);
  CHECK_INT(say(&t, SPEAKER_USER, "c", "three").torn, 20);
  tr = load(&t, false);
  CHECK_INT(tr.list.n, 2);
  CHECK_INT(tr.torn + tr.damaged, 0);
  CHECK_STR(file_read(file_of("s1.torn")), "{\"id\":\"b\",\"role\":\"us\n");
}

TEST(a_line_that_lacks_only_its_newline_is_kept) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  append_bytes("s1.jsonl", "{\"id\":\"b\",\"role\":\"user\",\"content\":\"two\"}");
  CHECK_INT(say(&t, SPEAKER_USER, "c", "three").torn, 0);
  struct transcript tr = load(&t, false);
  CHECK_INT(tr.list.n, 3);
  CHECK_STR(tr.list.v[1].content, "two");
}

TEST(a_damaged_line_stays_in_place) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  append_bytes("s1.jsonl", "garbage\n\n");
  say(&t, SPEAKER_USER, "b", "two");
  struct transcript tr = load(&t, false);
  CHECK_INT(tr.list.n, 3);
  CHECK_INT(tr.damaged, 1);
  compact(&t, 1);
  tr = load(&t, true);
  CHECK_INT(tr.damaged, 1);
  CHECK_STR(tr.list.v[1].raw, "garbage");
}

TEST(known_messages_are_skipped) {
  struct transcripts t = folder();
  struct message v[] = {{.id = STR("a"), .role = SPEAKER_TOOL_CALL, .name = STR("x")},
                        {.id = STR("a"), .role = SPEAKER_TOOL_RESULT, .content = STR("r")},
                        {.id = STR("b"), .role = SPEAKER_USER, .content = STR("u")}};
  struct transcript_appended done;
  for (int i = 0; i < 3; i++) {
    struct messages list = {v, i == 0 ? 2 : 3, 3};
    CHECK_OK(transcript_append(&t, S, &list, true, &arena, &done, &err), &err);
    CHECK_INT(done.added, i == 0 ? 2 : i == 1 ? 1 : 0);
    CHECK_INT(done.known, i == 0 ? 0 : i == 1 ? 2 : 3);
    CHECK_INT(list.n, done.added);
    if (i == 1)
      compact(&t, 1);
  }
  CHECK_OK(transcript_archive(&t, S, &arena, &err), &err);
  struct messages list = {v, 3, 3};
  CHECK_OK(transcript_append(&t, S, &list, true, &arena, &done, &err), &err);
  CHECK_INT(done.added, 0);
  CHECK(!done.revived && there("archive/s1.jsonl"));
}

TEST(old_results_are_pruned_and_calls_stay) {
  struct transcripts t = folder();
  for (int i = 0; i < 8; i++) {
    const char *id = arena_printf(&arena, "t%d", i).p;
    add(&t, (struct message){.id = str_from(id), .role = SPEAKER_TOOL_CALL, .name = STR("read")});
    say(&t, SPEAKER_TOOL_RESULT, id, "text");
  }
  struct transcript tr = load(&t, false);
  CHECK_INT(transcript_prune(&tr.list, 5), 3);
  CHECK_INT(tr.list.n, 13);
  for (size_t i = 0; i < 3; i++)
    CHECK_INT(tr.list.v[i].role, SPEAKER_TOOL_CALL);
  CHECK_STR(tr.list.v[4].id, "t3");
  CHECK_INT(tr.list.v[4].role, SPEAKER_TOOL_RESULT);
  CHECK_INT(transcript_prune(&tr.list, 0), 5);
  CHECK_INT(load(&t, false).list.n, 16);
}

TEST(a_cut_never_separates_a_call_from_its_result) {
  struct message v[] = {
      {.id = STR("1"), .role = SPEAKER_USER, .content = STR("x")},
      {.id = STR("t"), .role = SPEAKER_TOOL_CALL, .name = STR("a")},
      {.id = STR("u"), .role = SPEAKER_TOOL_CALL, .name = STR("b")},
      {.id = STR("u"), .role = SPEAKER_TOOL_RESULT, .content = STR("x")},
      {.id = STR("t"), .role = SPEAKER_TOOL_RESULT, .content = STR("x")},
      {.id = STR("2"), .role = SPEAKER_USER, .content = STR("x")},
  };
  struct messages list = {v, ARRAY_LEN(v), ARRAY_LEN(v)};
  CHECK_INT(transcript_cut(&list, 1), 5);
  CHECK_INT(transcript_cut(&list, 2), 1);
  CHECK_INT(transcript_cut(&list, 3), 1);
  CHECK_INT(transcript_cut(&list, 4), 1);
  CHECK_INT(transcript_cut(&list, 6), 0);
  CHECK_INT(transcript_cut(&list, 100), 0);
}

TEST(compaction_keeps_the_originals) {
  struct transcripts t = folder();
  for (int i = 0; i < 10; i++)
    say(&t, SPEAKER_USER, arena_printf(&arena, "m%d", i).p, "something that was said");
  struct transcript_compacted done = compact(&t, 3);
  CHECK_INT(done.taken, 7);
  CHECK_INT(done.messages_after, 4);
  struct transcript tr = load(&t, false);
  CHECK_INT(tr.list.v[0].role, SPEAKER_SUMMARY);
  CHECK_STR(tr.list.v[0].content, "what was said");
  CHECK_INT(tr.compacted, 7);
  CHECK_STR(tr.list.v[1].id, "m7");
  say(&t, SPEAKER_USER, "m10", "more");
  compact(&t, 2);
  tr = load(&t, false);
  CHECK_INT(tr.compacted, 9);
  CHECK_INT(tr.compactions, 2);
  tr = load(&t, true);
  CHECK_INT(tr.list.n, 13);
  size_t at = 0;
  for (size_t i = 0; i < tr.list.n; i++)
    if (tr.list.v[i].role == SPEAKER_USER)
      CHECK(str_eq(tr.list.v[i].id, arena_printf(&arena, "m%zu", at++)));
  CHECK_INT(at, 11);
}

TEST(a_killed_compaction_has_no_effect) {
  struct transcripts t = folder();
  for (int i = 0; i < 6; i++)
    say(&t, SPEAKER_USER, arena_printf(&arena, "m%d", i).p, "x");
  compact(&t, 3);
  /* As if the next compaction was killed after copying its lines. */
  append_bytes("archive/originals/s1.jsonl", "{\"id\":\"m3\",\"role\":\"user\",\"content\":\"x\"}\n{\"id\":\"m4\"");
  struct transcript tr = load(&t, true);
  CHECK_INT(tr.list.n, 7);
  CHECK_INT(tr.damaged, 0);
  compact(&t, 1);
  tr = load(&t, true);
  CHECK_INT(tr.list.n, 8);
  CHECK_INT(tr.damaged, 0);
}

TEST(one_of_two_concurrent_compactions_wins) {
  struct transcripts t = folder();
  for (int i = 0; i < 6; i++)
    say(&t, SPEAKER_USER, arena_printf(&arena, "m%d", i).p, "x");
  struct transcript seen = load(&t, false);
  struct transcript_compacted done;
  say(&t, SPEAKER_USER, "later", "said meanwhile");
  CHECK_OK(transcript_compact(&t, &(struct compaction){&seen, 4, STR("first"), false}, &arena, &done, &err), &err);
  CHECK_INT(done.messages_after, 4);
  CHECK_STATUS(transcript_compact(&t, &(struct compaction){&seen, 4, STR("second"), false}, &arena, &done, &err),
               STATUS_CONFLICT);
  CHECK_STR(load(&t, false).list.v[3].id, "later");
}

TEST(lost_originals_are_reported) {
  struct transcripts t = folder();
  for (int i = 0; i < 4; i++)
    say(&t, SPEAKER_USER, arena_printf(&arena, "m%d", i).p, "x");
  compact(&t, 1);
  CHECK(truncate(file_of("archive/originals/s1.jsonl"), 10) == 0);
  struct transcript tr;
  CHECK_STATUS(transcript_read(&t, S, true, &arena, &tr, &err), STATUS_CORRUPT);
  CHECK_INT(load(&t, false).list.n, 2);
}

/* ---- the index ---- */

static struct transcript_infos listed(const struct transcripts *t, bool rebuilt) {
  struct transcript_infos list;
  bool was;
  CHECK_OK(transcript_list(t, &arena, &list, &was, &err), &err);
  CHECK_INT(was, rebuilt);
  return list;
}

static void check_same(const struct transcript_infos *x, const struct transcript_infos *y) {
  CHECK_INT(x->n, y->n);
  for (size_t i = 0; i < x->n; i++) {
    CHECK(str_eq(x->v[i].id, y->v[i].id));
    CHECK_INT(x->v[i].messages, y->v[i].messages);
    CHECK_INT(x->v[i].tokens, y->v[i].tokens);
    CHECK_INT(x->v[i].created, y->v[i].created);
    CHECK_INT(x->v[i].updated, y->v[i].updated);
    CHECK_INT(x->v[i].compacted, y->v[i].compacted);
    CHECK_INT(x->v[i].size, y->v[i].size);
    CHECK_INT(x->v[i].archived, y->v[i].archived);
  }
}

TEST(a_lost_or_damaged_index_is_rebuilt) {
  struct transcripts t = folder();
  CHECK_INT(listed(&t, false).n, 0);
  for (int i = 0; i < 5; i++) {
    t.now += 1000;
    say(&t, SPEAKER_USER, NULL, "hello");
  }
  compact(&t, 2);
  struct message m = {.role = SPEAKER_USER, .content = STR("elsewhere")};
  struct messages one = {&m, 1, 1};
  struct transcript_appended done;
  CHECK_OK(transcript_append(&t, STR("s2"), &one, false, &arena, &done, &err), &err);
  CHECK_OK(transcript_archive(&t, STR("s2"), &arena, &err), &err);
  struct transcript_infos before = listed(&t, false);
  CHECK_INT(before.n, 2);
  CHECK(unlink(file_of("sessions.json")) == 0);
  struct transcript_infos after = listed(&t, true);
  check_same(&before, &after);
  file_write(file_of("sessions.json"), STR("{\"version\": 1, \"sessions\": [{"));
  after = listed(&t, true);
  check_same(&before, &after);
  file_write(file_of("sessions.json"), STR("{\"version\": 1, \"updatedAt\": \"\", \"sessions\": []}"));
  after = listed(&t, false);
  check_same(&before, &after);
  listed(&t, false);
}

TEST(a_file_changed_since_the_index_was_written_is_read_again) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  append_bytes("s1.jsonl", "{\"id\":\"b\",\"role\":\"user\",\"content\":\"two\"}\n");
  CHECK_INT(listed(&t, false).v[0].messages, 2);
  append_bytes("s1.jsonl", "{\"id\":\"c\",\"role\":\"user\",\"content\":\"three\"}\n");
  CHECK_INT(say(&t, SPEAKER_USER, "d", "four").total_messages, 4);
  t.index_later = true;
  say(&t, SPEAKER_USER, "e", "five");
  t.index_later = false;
  struct transcript_info info;
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK_INT(info.messages, 5);
}

/* Appending does not write a large index, but counts correctly; readers update it. */
TEST(an_index_is_not_written_for_each_message) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  size_t large = 40 << 20; /* may be half an hour old */
  struct buf filler = BUF(&arena);
  for (size_t i = 0; i < large; i += 64)
    buf_adds(&filler, "                                                                ");
  file_write(file_of("sessions.json"), buf_str(&filler));
  for (int i = 0; i < 5; i++)
    CHECK_INT(say(&t, SPEAKER_USER, NULL, "more").total_messages, 2 + i);
  CHECK_INT(file_read(file_of("sessions.json")).n, large);
  struct transcript_info info;
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK_INT(info.messages, 6);
  CHECK_INT(file_read(file_of("sessions.json")).n, large);
  CHECK_INT(listed(&t, true).v[0].messages, 6);
  CHECK(file_read(file_of("sessions.json")).n < 1000);
}

TEST(an_old_index_is_written_by_an_append) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  say(&t, SPEAKER_USER, "b", "two");
  struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
  CHECK_INT(utimensat(AT_FDCWD, file_of("sessions.json"), long_ago, 0), 0);
  say(&t, SPEAKER_USER, "c", "three");
  CHECK(str_find(file_read(file_of("sessions.json")), STR("\"messages\": 3"), 0) != SIZE_MAX);
}

/* The counts are right whatever the lock file contains. */
TEST(an_invalid_note_is_ignored) {
  struct transcripts t = folder();
  struct transcript_info info;
  say(&t, SPEAKER_USER, "a", "one");
  struct str first = file_read(file_of("s1.lock"));
  say(&t, SPEAKER_USER, "b", "two");
  struct str second = file_read(file_of("s1.lock"));
  CHECK(!str_eq(first, second));
  struct buf wrong = BUF(&arena);
  buf_add(&wrong, second);
  size_t at = str_find(second, STR("\"messages\":2"), 0);
  CHECK(at != SIZE_MAX);
  wrong.p[at + 11] = '9';
  const struct str notes[] = {first,           STR(""),      STR("{"), str_slice(second, 0, second.n / 2),
                              buf_str(&wrong), STR("\n\n\n")};
  int64_t messages = 2;
  for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
    test_note("note %zu", i);
    CHECK(unlink(file_of("sessions.json")) == 0 || i > 0);
    file_write(file_of("s1.lock"), notes[i]);
    CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
    CHECK_INT(info.messages, messages);
    file_write(file_of("s1.lock"), notes[i]);
    CHECK_INT(listed(&t, false).v[0].messages, messages);
    file_write(file_of("s1.lock"), notes[i]);
    CHECK_INT(say(&t, SPEAKER_USER, NULL, "more").total_messages, ++messages);
  }
}

TEST(a_flush_is_known_from_the_index_or_from_the_note) {
  struct transcripts t = folder();
  struct transcript_info info;
  say(&t, SPEAKER_USER, "a", "one");
  CHECK_OK(transcript_set_flushed(&t, S, true, &arena, &err), &err);
  struct str note = file_read(file_of("s1.lock"));
  file_write(file_of("s1.lock"), STR(""));
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK(info.flushed > 0 && info.answered);
  file_write(file_of("s1.lock"), note);
  CHECK(unlink(file_of("sessions.json")) == 0);
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK(info.flushed > 0 && info.answered);
  say(&t, SPEAKER_USER, "b", "two");
  info = listed(&t, false).v[0];
  CHECK(info.flushed > 0 && info.answered && info.messages == 2);
}

TEST(a_flush_is_noted_until_the_next_compaction) {
  struct transcripts t = folder();
  struct transcript_info info;
  for (int i = 0; i < 5; i++)
    say(&t, SPEAKER_USER, NULL, "x");
  CHECK_OK(transcript_set_flushed(&t, S, false, &arena, &err), &err);
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK(info.flushed > 0 && !info.answered);
  CHECK_OK(transcript_set_flushed(&t, S, true, &arena, &err), &err);
  say(&t, SPEAKER_USER, NULL, "x");
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK(info.answered);
  compact(&t, 2);
  CHECK_OK(transcript_find(&t, S, &arena, &info, &err), &err);
  CHECK(info.flushed == 0 && !info.answered);
}

TEST(old_sessions_are_archived_and_revived) {
  struct transcripts t = folder();
  struct strs moved;
  say(&t, SPEAKER_USER, "a", "one");
  CHECK_OK(transcript_archive_old(&t, t.now, false, &arena, &moved, &err), &err);
  CHECK_INT(moved.n, 0);
  CHECK_OK(transcript_archive_old(&t, t.now + 1, true, &arena, &moved, &err), &err);
  CHECK_INT(moved.n, 1);
  CHECK(there("s1.jsonl"));
  CHECK_OK(transcript_archive_old(&t, t.now + 1, false, &arena, &moved, &err), &err);
  CHECK_INT(moved.n, 1);
  CHECK(!there("s1.jsonl") && there("archive/s1.jsonl"));
  CHECK(load(&t, false).archived);
  CHECK(listed(&t, false).v[0].archived);
  CHECK(say(&t, SPEAKER_USER, "b", "two").revived);
  CHECK_INT(load(&t, true).list.n, 2);
  CHECK(!listed(&t, false).v[0].archived);
}

TEST(a_session_that_is_locked_for_too_long) {
  struct transcripts t = folder();
  say(&t, SPEAKER_USER, "a", "one");
  int fds[2];
  CHECK(pipe(fds) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(fds[1], STDOUT_FILENO); /* some shells do not support descriptors of two digits */
    execlp("flock", "flock", file_of("s1.lock"), "sh", "-c", "echo; sleep 10", NULL);
    _exit(1);
  }
  close(fds[1]);
  char c;
  CHECK(read(fds[0], &c, 1) == 1);
  t.wait_ms = 100;
  struct message m = {.role = SPEAKER_USER, .content = STR("x")};
  struct messages list = {&m, 1, 1};
  struct transcript_appended done;
  enum status s = transcript_append(&t, S, &list, false, &arena, &done, &err);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  CHECK_STATUS(s, STATUS_BUSY);
}

/* ---- kills at random moments ---- */

static uint64_t next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* Appends, compacts and archives until it is killed; writes acknowledged messages to the pipe. */
static void worker(uint64_t seed, int round, int who, int out) {
  struct transcripts t = folder();
  struct arena a;
  arena_init(&a);
  for (int step = 0; step < 100000; step++) {
    struct message v[4];
    struct messages list = {v, 1 + next(&seed) % 4, 4};
    struct transcript_appended done;
    struct transcript tr;
    struct transcript_compacted compacted;
    struct error e;
    t.now += 1;
    for (size_t i = 0; i < list.n; i++)
      v[i] = (struct message){.id = arena_printf(&a, "%d.%d.%d.%zu", round, who, step, i),
                              .role = (enum speaker)(next(&seed) % SPEAKER_SUMMARY),
                              .name = STR("n"),
                              .content = arena_printf(&a, "say %d \xc3\xa9 \"%d\"\n", step, who)};
    if (transcript_append(&t, S, &list, false, &a, &done, &e) == STATUS_OK)
      for (size_t i = 0; i < list.n; i++)
        dprintf(out, "%.*s\n", STR_ARG(list.v[i].id));
    uint64_t dice = next(&seed) % 8;
    if (dice == 0 && transcript_read(&t, S, false, &a, &tr, &e) == STATUS_OK) {
      size_t n = transcript_cut(&tr.list, (int64_t)(1 + next(&seed) % 9));
      if (n)
        (void)!transcript_compact(&t, &(struct compaction){&tr, n, STR("sum"), false}, &a, &compacted, &e);
    } else if (dice == 1) {
      (void)!transcript_archive(&t, S, &a, &e);
    }
    arena_release(&a);
  }
  _exit(0);
}

/* Each acknowledged message exists exactly once, and those of a writer are in order. */
static void check_acks(const struct transcript *tr, struct str acks, size_t *ret_count) {
  struct str id;
  size_t at = 0, n = 0;
  while (str_line(&acks, &id)) {
    while (at < tr->list.n && !str_eq(tr->list.v[at].id, id))
      at++;
    if (at == tr->list.n)
      FAIL("%.*s was acknowledged and is not there, or not in its place", STR_ARG(id));
    for (size_t k = at + 1; k < tr->list.n; k++)
      if (str_eq(tr->list.v[k].id, id))
        FAIL("%.*s is there twice", STR_ARG(id));
    at++;
    n++;
  }
  *ret_count += n;
}

enum { ROUNDS = 12, WORKERS = 2 };

/* Waits for a number of lines or the end of the pipe, so a process is killed in the middle of its work even on a
 * slow machine. */
static void hear(int fd, size_t lines, struct buf *b) {
  char piece[256];
  ssize_t n;
  while (lines > 0 && (n = read(fd, piece, lines == SIZE_MAX ? sizeof(piece) : 1)) > 0) {
    buf_add(b, (struct str){piece, (size_t)n});
    if (lines != SIZE_MAX && piece[0] == '\n')
      lines--;
  }
}

TEST(kills_lose_no_acknowledged_message, .seconds = 60) {
  struct transcripts t = folder();
  uint64_t seed = 20260205;
  LIST(struct str) acks = {0};
  for (int round = 0; round < ROUNDS; round++) {
    pid_t pids[WORKERS];
    int fds[WORKERS][2];
    test_note("round %d", round);
    for (int w = 0; w < WORKERS; w++) {
      CHECK(pipe(fds[w]) == 0);
      uint64_t own = next(&seed);
      pids[w] = fork();
      if (pids[w] == 0)
        worker(own, round, w, fds[w][1]);
      close(fds[w][1]);
    }
    struct buf heard[WORKERS] = {BUF(&arena), BUF(&arena)};
    hear(fds[0][0], 1 + next(&seed) % 30, &heard[0]);
    usleep((useconds_t)(next(&seed) % 5000));
    for (int w = 0; w < WORKERS; w++)
      kill(pids[w], SIGKILL);
    for (int w = 0; w < WORKERS; w++) {
      hear(fds[w][0], SIZE_MAX, &heard[w]);
      struct buf b = heard[w];
      close(fds[w][0]);
      waitpid(pids[w], NULL, 0);
      /* The kill may have truncated a line of the pipe: then its message was not acknowledged. */
      while (b.n && b.p[b.n - 1] != '\n')
        b.n--;
      list_push(&arena, &acks, buf_str(&b));
    }
    if (next(&seed) % 3 == 0 && there("s1.jsonl"))
      append_bytes("s1.jsonl", "{\"id\":\"torn\",\"rol");
    if (next(&seed) % 3 == 0)
      (void)unlink(file_of("sessions.json"));
  }
  struct transcript tr = load(&t, true);
  size_t count = 0;
  for (size_t i = 0; i < acks.n; i++)
    check_acks(&tr, acks.v[i], &count);
  CHECK(count >= ROUNDS);
  CHECK_INT(tr.damaged, 0);
}
