/* test_import_codex.c: converting lines of Codex rollouts. */
#include "base/os/clock.h"
#include "unit/transcript/import_lines.h"

#define NEW_FILE "rollout-2026-03-04T09-00-00-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl"
#define OLD_FILE "rollout-2025-08-20T07-30-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"

TEST(a_session_becomes_messages) {
  static const struct wanted want[] = {
      {SPEAKER_USER, NULL, NULL, "Why is the token count off by one?\n[image]"},
      {SPEAKER_TOOL_CALL, "call_Shell1", "shell", "{\"command\":[\"bash\",\"-lc\",\"make test\"],\"workdir\":\".\"}"},
      {SPEAKER_TOOL_RESULT, "call_Shell1", "shell", "lexer: 1 failed\n"},
      {SPEAKER_TOOL_CALL, "call_Mcp1", "mcp__github__create_issue", "\"{\\\"title\\\":\\\"off by one\\\"\""},
      {SPEAKER_TOOL_RESULT, "call_Mcp1", "mcp__github__create_issue", "issue 7\nopen"},
      {SPEAKER_TOOL_CALL, "call_Patch1", "apply_patch",
       "\"*** Begin Patch\\n*** Update File: lex.c\\n*** End Patch\\n\""},
      {SPEAKER_TOOL_RESULT, "call_Patch1", "apply_patch", "Success. Updated the following files:\nM lex.c\n"},
      {SPEAKER_TOOL_CALL, NULL, "web_search", "{\"type\":\"search\",\"query\":\"maximal munch\"}"},
      {SPEAKER_ASSISTANT, NULL, NULL, "The end of file was counted as a token. Fixed."},
      {SPEAKER_SUMMARY, NULL, NULL, "Agreed: the end of file is no token."},
  };
  struct imported im = {0};
  int64_t at;
  import_all(&im, IMPORT_CODEX, NEW_FILE);
  check_wanted(&im, want, ARRAY_LEN(want));
  CHECK(time_parse(STR("2026-03-04T09:01:00.125Z"), &at));
  CHECK_INT(im.list.v[0].at, at);
  CHECK_STR(im.list.v[2].extra, "{\"from\":\"codex\",\"error\":true}");
  CHECK_STR(im.list.v[4].extra, "{\"from\":\"codex\"}");
  arena_release(&im.arena);
}

TEST(only_the_first_header_gives_session_folder_and_repository) {
  struct imported im = {0};
  import_all(&im, IMPORT_CODEX, NEW_FILE);
  CHECK_STR(im.file.session, "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5");
  CHECK_STR(im.sessions.v[im.sessions.n - 1], "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5");
  CHECK_STR(im.cwd, "/home/dana/work/lexer");
  CHECK_STR(im.file.repository, "lexer");
  CHECK(im.file.versioned);
  arena_release(&im.arena);
}

TEST(skipped_lines_are_counted_by_reason) {
  struct imported im = {0};
  import_all(&im, IMPORT_CODEX, NEW_FILE);
  /* two headers, turn_context, ghost_snapshot, token_count, the summary that cannot be read */
  CHECK_INT(im.file.skipped[IMPORT_BOOKKEEPING], 6);
  CHECK_INT(im.file.skipped[IMPORT_CONTEXT], 3); /* the developer's message, and two parts of the user's first */
  CHECK_INT(im.file.skipped[IMPORT_THINKING], 2);
  CHECK_INT(im.file.skipped[IMPORT_REPEATED], 2);
  CHECK_INT(im.file.skipped[IMPORT_STRANGE], 1);
  CHECK_INT(im.file.skipped[IMPORT_BROKEN], 1);
  CHECK_INT(im.file.skipped[IMPORT_EMPTY], 0);
  arena_release(&im.arena);
}

TEST(the_old_format_without_types_is_read) {
  static const struct wanted want[] = {
      {SPEAKER_USER, NULL, NULL, "go on"},
      {SPEAKER_TOOL_CALL, "call_L1", "local_shell", "{\"type\":\"exec\",\"command\":[\"ls\"]}"},
      {SPEAKER_TOOL_RESULT, "call_L1", "local_shell", "README\nsrc"},
      {SPEAKER_ASSISTANT, NULL, NULL, "Done."},
      {SPEAKER_USER, NULL, NULL, "go on"},
  };
  struct imported im = {0};
  int64_t at;
  import_all(&im, IMPORT_CODEX, OLD_FILE);
  check_wanted(&im, want, ARRAY_LEN(want));
  CHECK(!str_eq(im.list.v[0].id, im.list.v[4].id)); /* same text twice */
  CHECK(time_parse(STR("2025-08-20T07:30:00Z"), &at));
  CHECK_INT(im.list.v[4].at, at); /* the only timestamp in the file */
  CHECK_STR(im.file.session, "5973b6c0-94b8-487b-a530-2aeb6098ae0e");
  CHECK_STR(im.cwd, "/home/dana/work/printer");
  CHECK_STR(im.file.repository, "printer");
  CHECK_STR(im.list.v[2].extra, "{\"from\":\"codex\",\"error\":true}");
  arena_release(&im.arena);
}

TEST(the_file_name_gives_the_session) {
  static const char *const want[][2] = {
      {"/h/rollout-2026-03-04T09-00-00-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl",
       "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"},
      {"rollout-abc.jsonl", "rollout-abc"},
      {"/h/x.txt", "x.txt"},
  };
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    struct arena a;
    struct import_file file;
    arena_init(&a);
    import_file_open(&a, IMPORT_CODEX, str_from(want[i][0]), &file);
    CHECK_STR(file.session, want[i][1]);
    arena_release(&a);
  }
}

TEST(only_recent_calls_are_remembered) {
  struct arena a;
  struct import_file file;
  arena_init(&a);
  import_file_open(&a, IMPORT_CODEX, STR("x"), &file);
  for (int i = 0; i < IMPORT_CALLS + 1; i++) {
    struct str id = arena_printf(&a, "c%d", i);
    import_note_call(&file, id, id);
  }
  CHECK(!import_call_name(&file, STR("c0")).p);
  CHECK_STR(import_call_name(&file, STR("c1")), "c1");
  CHECK_STR(import_call_name(&file, STR("c256")), "c256");
  arena_release(&a);
}
