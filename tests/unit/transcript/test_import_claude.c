/* test_import_claude.c: converting lines of Claude Code transcripts. */
#include "base/os/clock.h"
#include "unit/transcript/import_lines.h"

#define U(n) "7e0f1a2b-0000-4000-8000-" n

static const char session[] = "0b8d7c4e-6a1f-4d52-9c3e-2f10a7b6d851";

TEST(a_session_becomes_messages) {
  static const struct wanted want[] = {
      {SPEAKER_USER, U("000000000001"), NULL, "The date parser rejects 2026-02-29. Is that right?"},
      {SPEAKER_ASSISTANT, U("000000000005"), NULL, "2026 is not a leap year, so it should. Let me check the code."},
      {SPEAKER_TOOL_CALL, "toolu_01Grep", "Grep", "{\"pattern\":\"days_in_month\",\"path\":\"src\"}"},
      {SPEAKER_TOOL_RESULT, "toolu_01Grep", "Grep", "src/date.c:41:static int days_in_month(int y, int m)"},
      {SPEAKER_TOOL_CALL, "toolu_02Bash", "Bash", "{\"command\":\"make test\"}"},
      {SPEAKER_TOOL_RESULT, "toolu_02Bash", "Bash", "1 of 40 tests failed\n[image]"},
      {SPEAKER_USER, U("000000000011"), NULL, "also check the year 2100"},
      {SPEAKER_USER, U("000000000012"), NULL, "Go on."},
      {SPEAKER_USER, U("000000000013"), NULL, "/review the leap year rule"},
      {SPEAKER_SUMMARY, U("000000000018"), NULL,
       "This session is being continued from a previous conversation that ran out of context. Decision: years "
       "divisible "
       "by 100 are no leap years unless by 400."},
      {SPEAKER_ASSISTANT, U("000000000005"), NULL, "2026 is not a leap year, so it should. Let me check the code."},
      {SPEAKER_ASSISTANT, U("000000000019"), NULL, "The rule is right: \n2100 is refused too."},
      {SPEAKER_TOOL_CALL, "toolu_03Edit", "Edit", "{\"file_path\":\"/home/dana/work/parser/NOTES\"}"},
      {SPEAKER_ASSISTANT, U("000000000019-2"), NULL, "I noted it."},
      {SPEAKER_USER, U("000000000020"), NULL, "Look for other parsers."},
  };
  struct imported im = {0};
  import_all(&im, IMPORT_CLAUDE, "claude.jsonl");
  check_wanted(&im, want, ARRAY_LEN(want));
  arena_release(&im.arena);
}

TEST(skipped_lines_are_counted_by_reason) {
  struct imported im = {0};
  import_all(&im, IMPORT_CLAUDE, "claude.jsonl");
  /* summary, snapshot, queue, progress, API error, compact_boundary, ai-title */
  CHECK_INT(im.file.skipped[IMPORT_BOOKKEEPING], 7);
  /* isMeta, todo_reminder, system-reminder, /clear, its output */
  CHECK_INT(im.file.skipped[IMPORT_CONTEXT], 5);
  CHECK_INT(im.file.skipped[IMPORT_THINKING], 1);
  CHECK_INT(im.file.skipped[IMPORT_STRANGE], 1);
  CHECK_INT(im.file.skipped[IMPORT_BROKEN], 1); /* the torn last line */
  CHECK_INT(im.file.skipped[IMPORT_EMPTY], 0);
  arena_release(&im.arena);
}

TEST(lines_give_session_time_and_folder) {
  struct imported im = {0};
  int64_t at;
  import_all(&im, IMPORT_CLAUDE, "claude.jsonl");
  CHECK_STR(im.sessions.v[0], session);
  CHECK_STR(im.sessions.v[im.sessions.n - 1], "0b8d7c4e-6a1f-4d52-9c3e-2f10a7b6d851.agent-a748733");
  CHECK(time_parse(STR("2026-02-21T01:15:23.451Z"), &at));
  CHECK_INT(im.list.v[0].at, at);
  CHECK_STR(im.cwd, "/home/dana/work/parser");
  CHECK(im.file.versioned);
  CHECK_STR(im.list.v[3].extra, "{\"from\":\"claude\"}");
  CHECK_STR(im.list.v[5].extra, "{\"from\":\"claude\",\"error\":true}");
  arena_release(&im.arena);
}

TEST(a_subagent_has_its_own_session) {
  struct imported im = {0};
  import_all(&im, IMPORT_CLAUDE, "agent-a748733.jsonl");
  CHECK_INT(im.list.n, 2);
  for (size_t i = 0; i < 2; i++)
    CHECK_STR(im.sessions.v[i], "0b8d7c4e-6a1f-4d52-9c3e-2f10a7b6d851.agent-a748733");
  arena_release(&im.arena);
}

static struct messages one(struct arena *a, struct import_file *file, const char *line, int64_t number) {
  struct import_line out;
  import_read_line(a, file, str_from(line), number, &out);
  return out.list;
}

TEST(a_line_without_an_id_gets_a_stable_one) {
  struct arena a;
  struct import_file file;
  arena_init(&a);
  import_file_open(&a, IMPORT_CLAUDE, STR("/p/s1.jsonl"), &file);
  const char *timed = "{\"type\":\"user\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{\"content\":\"yes\"}}";
  const char *bare = "{\"type\":\"user\",\"message\":{\"content\":\"yes\"}}";
  struct messages here = one(&a, &file, timed, 1), there = one(&a, &file, timed, 9);
  CHECK(str_eq(here.v[0].id, there.v[0].id));
  struct messages first = one(&a, &file, bare, 1), second = one(&a, &file, bare, 2), again = one(&a, &file, bare, 1);
  CHECK(!str_eq(first.v[0].id, second.v[0].id));
  CHECK(str_eq(first.v[0].id, again.v[0].id));
  arena_release(&a);
}

TEST(a_long_text_is_truncated_between_characters) {
  struct arena a;
  struct import_file file;
  struct buf b = {.a = &a};
  arena_init(&a);
  import_file_open(&a, IMPORT_CLAUDE, STR("/p/s1.jsonl"), &file);
  buf_adds(&b, "{\"type\":\"user\",\"message\":{\"content\":\"a");
  for (int i = 0; i < 600000; i++)
    buf_adds(&b, "\xc3\xa9"); /* 1,200,001 bytes: the limit is inside a character */
  buf_adds(&b, "\"}}");
  struct str text = one(&a, &file, buf_str(&b).p, 1).v[0].content;
  CHECK(str_ends(text, STR("\xc3\xa9\n[cut: 151426 more bytes]"))); /* 1,200,001 - (2^20 - 1) */
  arena_release(&a);
}

TEST(odd_content_is_not_an_error) {
  static const char *const lines[] = {"[]",
                                      "{}",
                                      "{\"type\":\"user\"}",
                                      "{\"type\":\"user\",\"message\":{\"content\":null}}",
                                      "{\"type\":\"user\",\"message\":{\"content\":[]}}",
                                      "{\"type\":\"user\",\"message\":{\"content\":[[],7,null,{}]}}",
                                      "{\"type\":\"assistant\",\"message\":[]}",
                                      "{\"type\":\"attachment\"}",
                                      "\"text\"",
                                      "{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}"};
  for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
    struct arena a;
    struct import_file file;
    int64_t counted = 0;
    test_note("line %zu", i);
    arena_init(&a);
    import_file_open(&a, IMPORT_CLAUDE, STR("/p/s1.jsonl"), &file);
    CHECK_INT(one(&a, &file, lines[i], 1).n, 0);
    for (size_t k = 0; k < IMPORT_SKIP_COUNT; k++)
      counted += file.skipped[k];
    CHECK(counted > 0);
    arena_release(&a);
  }
}

TEST(a_call_without_an_id_or_a_name_is_kept) {
  struct arena a;
  struct import_file file;
  arena_init(&a);
  import_file_open(&a, IMPORT_CLAUDE, STR("/p/s1.jsonl"), &file);
  struct messages list = one(&a, &file,
                             "{\"type\":\"assistant\",\"uuid\":\"u1\",\"message\":{\"content\":["
                             "{\"type\":\"tool_use\"},{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web\"},"
                             "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"s1\",\"content\":"
                             "[{\"type\":\"web_search_result\",\"title\":\"T\",\"url\":\"https://x.example\"}]}]}}",
                             1);
  CHECK_INT(list.n, 3);
  CHECK_STR(list.v[0].id, "u1");
  CHECK_STR(list.v[0].name, "tool");
  CHECK_STR(list.v[0].input, "{}");
  CHECK_STR(list.v[2].name, "web");
  CHECK_STR(list.v[2].content, "T https://x.example");
  arena_release(&a);
}

TEST(the_program_is_recognised_from_a_line) {
  static const struct {
    const char *line;
    enum import_from from;
  } want[] = {
      {"{\"type\":\"user\",\"message\":{\"role\":\"user\"},\"uuid\":\"u\"}", IMPORT_CLAUDE},
      {"{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}", IMPORT_CLAUDE},
      {"{\"type\":\"file-history-snapshot\",\"messageId\":\"u\"}", IMPORT_CLAUDE},
      {"{\"type\":\"queue-operation\",\"sessionId\":\"u\"}", IMPORT_CLAUDE},
      {"{\"type\":\"session_meta\",\"payload\":{}}", IMPORT_CODEX},
      {"{\"id\":\"x\",\"timestamp\":\"2025-08-20T07:30:00Z\",\"instructions\":null}", IMPORT_CODEX},
      {"{\"record_type\":\"state\"}", IMPORT_CODEX},
      {"{\"type\":\"message\",\"role\":\"user\",\"content\":[]}", IMPORT_CODEX},
      {"{\"id\":\"msg_001\",\"role\":\"user\",\"content\":\"Hello\",\"timestamp\":\"2026-02-05T10:00:00Z\"}",
       IMPORT_UNKNOWN},
      {"{\"type\":\"entity\",\"name\":\"x\"}", IMPORT_UNKNOWN},
      {"{\"cairn\":1}", IMPORT_UNKNOWN},
      {"[1]", IMPORT_UNKNOWN},
      {"{", IMPORT_UNKNOWN},
  };
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    struct arena a;
    test_note("%s", want[i].line);
    arena_init(&a);
    CHECK_INT(import_guess_line(&a, str_from(want[i].line)), want[i].from);
    arena_release(&a);
  }
}
