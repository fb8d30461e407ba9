/* test_transcript_import.c: importing transcripts of Claude Code and Codex: once, into the right project,
 * completely. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"

#define SESSION "0b8d7c4e-6a1f-4d52-9c3e-2f10a7b6d851"
#define HELPER SESSION ".agent-a748733"
#define ROLLOUT "rollout-2026-03-04T09-00-00-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"
#define CODEX "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"

static const char *sample(const char *name) { return textf("%s/tests/data/transcripts/%s", CAIRN_SOURCE_DIR, name); }

static void make_folder(const char *path) {
  char part[4096];
  for (size_t i = 1; path[i - 1]; i++)
    if (path[i] == '/' || path[i] == '\0') {
      snprintf(part, sizeof(part), "%.*s", (int)i, path);
      mkdir(part, 0700);
    }
}

/* A home directory with the folders of both programs. Tests add the files. */
static const char *home(void) {
  const char *at = path_join(NULL, "home");
  make_folder(textf("%s/.claude/projects/-work-parser/" SESSION "/subagents", at));
  make_folder(textf("%s/.codex/sessions/2026/03/04", at));
  cli_set(textf("HOME=%s", at));
  cli_set("XDG_CONFIG_HOME");
  return at;
}

static const char *claude_file(void) {
  return textf("%s/.claude/projects/-work-parser/" SESSION ".jsonl", path_join(NULL, "home"));
}

static void put_samples(void) {
  const char *at = home();
  file_write(claude_file(), file_read(sample("claude.jsonl")));
  file_write(textf("%s/.claude/projects/-work-parser/" SESSION "/subagents/agent-a748733.jsonl", at),
             file_read(sample("agent-a748733.jsonl")));
  file_write(textf("%s/.codex/sessions/2026/03/04/" ROLLOUT ".jsonl", at), file_read(sample(ROLLOUT ".jsonl")));
}

/* A user message with a working directory. */
static const char *user_line(const char *uuid, const char *cwd, const char *text) {
  return textf("{\"type\":\"user\",\"uuid\":\"%s\",\"sessionId\":\"s1\",\"cwd\":\"%s\",\"timestamp\":"
               "\"2026-02-21T01:15:23.451Z\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n",
               uuid, cwd, text);
}

/* The stored transcript of a session in a project. */
static struct json_lines stored(const char *project, const char *session) {
  return lines_of(file_read(textf("%s/default/%s/sessions/%s.jsonl", cli_side(".files"), project, session)));
}

TEST(the_default_folders_are_imported_once) {
  put_samples();
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "files"), 3);
  CHECK_INT(jint(r, "sessions"), 3);
  CHECK_INT(jint(r, "messages"), 13 + 3 + 10); /* main session, subagent in two places, Codex */
  CHECK_INT(jint(r, "already"), 1);            /* one duplicate line */
  CHECK_INT(jint(r, "torn"), 2);
  CHECK_INT(jint(r, "skipped.thinking"), 3);
  CHECK_INT(jint(r, "skipped.strange"), 2);
  CHECK(!jget(r, "skipped.broken"));
  r = OK("transcript", "import");
  CHECK_INT(jint(r, "files"), 3);
  CHECK_INT(jint(r, "unchanged"), 3);
  CHECK_INT(jint(r, "messages"), 0);
  CHECK_INT(jint(r, "already"), 0);
}

TEST(the_transcript_names_the_project_if_the_folder_is_gone) {
  put_samples();
  yyjson_val *r = OK("transcript", "import");
  /* The folders parser and lexer of the samples do not exist. The first was in a repository; the second gives its name.
   */
  CHECK_INT(jint(r, "projects.parser"), 16);
  CHECK_INT(jint(r, "projects.lexer"), 10);
  struct json_lines lines = stored("parser", SESSION);
  CHECK_INT(lines.n, 13);
  CHECK_STR(jstr(lines.v[0], "role"), "user");
  CHECK_STR(jstr(lines.v[0], "content"), "The date parser rejects 2026-02-29. Is that right?");
  CHECK_STR(jstr(lines.v[0], "timestamp"), "2026-02-21T01:15:23.451Z");
  CHECK_STR(jstr(lines.v[2], "id"), "toolu_01Grep");
  CHECK_STR(jstr(lines.v[2], "input.pattern"), "days_in_month");
  CHECK_STR(jstr(lines.v[3], "id"), "toolu_01Grep");
  CHECK_STR(jstr(lines.v[3], "role"), "tool_result");
  CHECK(jbool(lines.v[5], "error"));
  CHECK_STR(jstr(lines.v[5], "from"), "claude");
  CHECK_INT(stored("parser", HELPER).n, 3);
  CHECK_INT(stored("lexer", CODEX).n, 10);
}

TEST(only_new_lines_are_read_and_a_torn_line_is_pending) {
  home();
  struct str one = str_from(user_line("u1", "/nowhere", "first"));
  struct str two = str_from(user_line("u2", "/nowhere", "second"));
  file_write(claude_file(), str_from(textf("%s%.*s", one.p, 60, two.p)));
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "messages"), 1);
  CHECK_INT(jint(r, "torn"), 1);
  CHECK(!jget(r, "skipped.broken"));
  file_write(claude_file(), str_from(textf("%s%s", one.p, two.p)));
  r = OK("transcript", "import");
  CHECK_INT(jint(r, "messages"), 1);
  CHECK_INT(jint(r, "already"), 0); /* the first line was not read again */
  CHECK_INT(jint(r, "torn"), 0);
  struct json_lines lines = stored("admin", "s1");
  CHECK_INT(lines.n, 2);
  CHECK_STR(jstr(lines.v[1], "content"), "second");
}

TEST(a_complete_last_line_without_newline_is_imported) {
  home();
  struct str one = str_from(user_line("u1", "/nowhere", "first"));
  file_write(claude_file(), str_slice(one, 0, one.n - 1));
  CHECK_INT(jint(OK("transcript", "import"), "messages"), 1);
  file_write(claude_file(), str_from(textf("%s%s", one.p, user_line("u2", "/nowhere", "second"))));
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "messages"), 1);
  CHECK_INT(jint(r, "already"), 0);
  CHECK_INT(stored("admin", "s1").n, 2);
}

TEST(a_replaced_file_is_read_again_without_duplicates) {
  home();
  file_write(claude_file(), str_from(user_line("u1", "/nowhere", "first words")));
  OK("transcript", "import");
  file_write(claude_file(), str_from(textf("%s%s", user_line("u0", "/nowhere", "earlier"),
                                           user_line("u1", "/nowhere", "first words"))));
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "messages"), 1);
  CHECK_INT(jint(r, "already"), 1);
}

TEST(lost_or_damaged_progress_only_costs_time) {
  static const char *const damages[] = {"", "{", "[]", "{\"version\":1,\"files\":[{\"path\":3}],\"sessions\":[]}"};
  put_samples();
  OK("transcript", "import");
  const char *notes = textf("%s/default/admin/sessions/imports.json", cli_side(".files"));
  for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
    test_note("notes: %s", damages[i]);
    file_write(notes, str_from(damages[i]));
    yyjson_val *r = OK("transcript", "import");
    CHECK_INT(jint(r, "messages"), 0);
    CHECK_INT(jint(r, "already"), 27);
  }
}

TEST(the_repository_names_the_project_also_in_worktrees) {
  const char *at = home();
  const char *repository = textf("%s/code/Lamp", at);
  make_folder(textf("%s/.git/objects", repository));
  make_folder(textf("%s/.git/refs", repository));
  make_folder(textf("%s/.git/worktrees/blue", repository));
  make_folder(textf("%s/src", repository));
  make_folder(textf("%s/blue", at));
  file_write(textf("%s/.git/HEAD", repository), STR("ref: refs/heads/main\n"));
  file_write(textf("%s/.git/worktrees/blue/commondir", repository), STR("../..\n"));
  file_write(textf("%s/.git/worktrees/blue/HEAD", repository), STR("ref: refs/heads/blue\n"));
  file_write(textf("%s/blue/.git", at), str_from(textf("gitdir: %s/.git/worktrees/blue\n", repository)));
  file_write(claude_file(), str_from(user_line("u1", textf("%s/src", repository), "in the repository")));
  const char *folder = textf("%s/.claude/projects/-work-parser", at);
  struct str line = str_from(user_line("u2", textf("%s/blue", at), "in the worktree"));
  file_write(textf("%s/s2.jsonl", folder), line);
  line = str_from(user_line("u3", textf("%s/src/gone/deep", repository), "in a folder that is gone"));
  file_write(textf("%s/s3.jsonl", folder), line);
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "projects.Lamp"), 3);
  /* A session stays in its project even if the folder is renamed. */
  CHECK(rename(repository, textf("%s/code/Torch", at)) == 0);
  file_write(claude_file(), str_from(textf("%s%s", user_line("u1", textf("%s/src", repository), "in the repository"),
                                           user_line("u4", textf("%s/src", repository), "more"))));
  r = OK("transcript", "import");
  CHECK_INT(jint(r, "projects.Lamp"), 1);
}

TEST(the_project_option_applies_to_everything) {
  put_samples();
  yyjson_val *r = OK("transcript", "import", "--project", "history");
  CHECK_INT(jint(r, "projects.history"), 26);
  CHECK_INT(stored("history", SESSION).n, 13);
  r = OK("transcript", "import", "--project", "history");
  CHECK_INT(jint(r, "unchanged"), 3);
}

TEST(the_environment_variables_of_both_programs_are_honoured) {
  home();
  const char *claude = path_join(NULL, "c"), *codex = path_join(NULL, "x");
  make_folder(textf("%s/projects/p", claude));
  make_folder(textf("%s/sessions/2026", codex));
  file_write(textf("%s/projects/p/s1.jsonl", claude), str_from(user_line("u1", "/nowhere", "elsewhere")));
  file_write(textf("%s/sessions/2026/" ROLLOUT ".jsonl", codex), file_read(sample(ROLLOUT ".jsonl")));
  file_write(textf("%s/sessions/2026/notes.jsonl", codex), STR("{}\n"));
  cli_set(textf("CLAUDE_CONFIG_DIR=%s", claude));
  cli_set(textf("CODEX_HOME=%s", codex));
  CHECK_INT(jint(OK("transcript", "import", "--from", "claude"), "messages"), 1);
  yyjson_val *r = OK("transcript", "import", "--from", "codex");
  CHECK_INT(jint(r, "messages"), 10);
  CHECK_INT(jint(r, "files"), 1);
}

TEST(files_and_folders_can_be_named_and_are_recognised) {
  home();
  yyjson_val *r = OK("transcript", "import", sample(""));
  CHECK_INT(jint(r, "files"), 4);
  CHECK_INT(jint(r, "unknown"), 0);
  CHECK_INT(jint(r, "sessions"), 4);
  CHECK_INT(jint(OK("transcript", "import", sample("claude.jsonl")), "unchanged"), 1);
}

TEST(secrets_are_redacted) {
  home();
  /* Concatenated here, so secret scanners do not report it. */
  const char *token = textf("ghp_%s%s", "Zq7Lw2Rk9Vb4Xn6Tm1Pc", "8Hd3Jf5Gs0YaQeUo");
  file_write(claude_file(), str_from(user_line("u1", "/nowhere", textf("use %s for the release", token))));
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "redacted"), 1);
  struct json_lines lines = stored("admin", "s1");
  CHECK(!has(jstr(lines.v[0], "content"), token));
  CHECK(has(jstr(lines.v[0], "content"), "[REDACTED:"));
}

TEST(other_files_are_refused_or_counted) {
  home();
  const char *notes = path_join(NULL, "notes.jsonl");
  file_write(notes, STR("{\"cairn\":\"export\"}\n"));
  STORE("The release is cut on Fridays.");
  REFUSED("usage", "transcript", "import", notes);
  CHECK(access(textf("%s/default", cli_side(".files")), F_OK) != 0); /* nothing was written */
  REFUSED("not_found", "transcript", "import", path_join(NULL, "nothing"));
  REFUSED("usage", "transcript", "import", "--from", "gemini");
  const char *folder = path_join(NULL, "mixed");
  make_folder(folder);
  file_write(textf("%s/a.jsonl", folder), STR("not JSON\n"));
  file_write(textf("%s/b.jsonl", folder), STR(""));
  file_write(textf("%s/c.jsonl", folder), str_from(user_line("u1", "/nowhere", "hello")));
  yyjson_val *r = OK("transcript", "import", folder);
  CHECK_INT(jint(r, "files"), 3);
  CHECK_INT(jint(r, "unknown"), 2);
  CHECK_INT(jint(r, "messages"), 1);
}

TEST(the_store_is_never_read_as_a_transcript, .only = TEST_ON_SQLITE) {
  home();
  STORE("The release is cut on Fridays.");
  REFUSED("usage", "transcript", "import", cli_db());
}

TEST(a_file_that_cannot_be_read_does_not_stop_the_others) {
  put_samples();
  struct str huge = STR("x");
  const char *path = textf("%s/.claude/projects/-work-parser/aa.jsonl", path_join(NULL, "home"));
  file_write(path, huge);
  CHECK(truncate(path, (off_t)1 << 31) == 0); /* sparse, over the limit */
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "failed_count"), 1);
  CHECK(has(jstr(r, "failed[0].error"), "larger than the limit"));
  CHECK_INT(jint(r, "messages"), 26);
}

TEST(an_empty_import_lists_the_searched_folders) {
  home();
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "files"), 0);
  struct run text = CAIRN("transcript", "import");
  CHECK_INT(text.exit_code, 0);
  CHECK(has(text.out, "/.claude/projects"));
  CHECK(has(text.out, "/.codex/sessions"));
}

TEST(the_text_output) {
  put_samples();
  struct run text = CAIRN("transcript", "import");
  CHECK(has(text.out, "imported 26 messages of 3 sessions"));
  CHECK(has(text.out, "parser 16"));
  CHECK(has(text.out, "thinking 3"));
}

TEST(a_line_over_the_limit_is_skipped) {
  home();
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  buf_adds(&b, user_line("u1", "/nowhere", "before"));
  buf_adds(&b, "{\"type\":\"user\",\"message\":{\"content\":\"");
  for (int i = 0; i < 17 << 10; i++)
    for (int k = 0; k < 16; k++)
      buf_adds(&b, "0123456789012345678901234567890123456789012345678901234567890123");
  buf_adds(&b, "\"}}\n");
  buf_adds(&b, user_line("u2", "/nowhere", "behind"));
  file_write(claude_file(), buf_str(&b));
  yyjson_val *r = OK("transcript", "import");
  CHECK_INT(jint(r, "messages"), 2);
  CHECK_INT(jint(r, "skipped.too_long"), 1);
  arena_release(&a);
}

TEST(compacted_messages_are_not_imported_again) {
  put_samples();
  OK("transcript", "import");
  yyjson_val *r = OK("transcript", "read", SESSION, "--project", "parser", "--all");
  CHECK_INT(jint(r, "count"), 13);
  CHECK_STR(jstr(r, "messages[9].role"), "summary");
  OK("transcript", "compact", SESSION, "--project", "parser", "--keep", "2", "--force", "--summary", "Leap years.");
  file_write(textf("%s/default/admin/sessions/imports.json", cli_side(".files")), STR(""));
  CHECK_INT(jint(OK("transcript", "import"), "messages"), 0);
  r = OK("transcript", "read", SESSION, "--project", "parser", "--archived");
  CHECK_INT(jint(r, "count"), 14); /* 13 messages and the summary */
}

TEST(an_import_updates_the_index_and_writes_events) {
  put_samples();
  OK("stats");
  int64_t before = last_seq();
  OK("transcript", "import");
  yyjson_val *r = OK("transcript", "list", "--project", "parser");
  CHECK_INT(jint(r, "total"), 2);
  CHECK(!jget(r, "rebuilt"));
  struct json_lines events = events_since(before);
  size_t wrote = 0;
  for (size_t i = 0; i < events.n; i++)
    if (str_is(jstr(events.v[i], "action"), "memory:write")) {
      CHECK_STR(jstr(events.v[i], "detail.type"), "episodic");
      CHECK(jint(events.v[i], "detail.delta") > 0);
      wrote++;
    }
  CHECK_INT(wrote, 2); /* one per project */
}

TEST(imported_transcripts_are_searchable) {
  put_samples();
  OK("config", "sessions.indexed", "on");
  yyjson_val *r = OK("transcript", "import");
  /* Spoken messages: 7 of the main session (without the summary), 3 of the subagent, 2 of Codex. */
  CHECK_INT(jint(r, "indexed"), 7 + 3 + 2);
  r = OK("search", "end of file counted as a token", "--in", "sessions", "--project", "lexer");
  CHECK(has(jstr(r, "results[0].headline"), "The end of file was counted as a token"));
  CHECK(!jget(OK("transcript", "import"), "indexed"));
}

TEST(a_search_says_that_transcripts_are_not_indexed) {
  put_samples();
  yyjson_val *r = OK("transcript", "import", "--project", "parser");
  CHECK(has(jstr(r, "not_indexed"), "sessions.indexed is off"));
  r = OK("search", "parser", "--in", "sessions", "--project", "parser");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK(has(jstr(r, "not_indexed"), "sessions.indexed is off"));
  CHECK(has(CAIRN("search", "parser", "--in", "sessions", "--project", "parser").out, "cairn transcript index"));
  STORE("--project", "parser", "The parser is written by hand");
  r = OK("search", "parser", "--in", "memory", "--in", "sessions", "--project", "parser");
  CHECK(jlen(r, "results") == 1 && jget(r, "not_indexed"));
  OK("config", "sessions.indexed", "on");
  OK("transcript", "index", "--project", "parser");
  r = OK("search", "parser", "--in", "sessions", "--project", "parser");
  CHECK(jlen(r, "results") > 0 && !jget(r, "not_indexed"));
}
