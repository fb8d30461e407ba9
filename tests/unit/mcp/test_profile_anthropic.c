/* test_profile_anthropic.c: Anthropic's memory tool: every documented message, literally. */
#include "mcp/tools/internal.h"
#include "support/harness.h"
#include "tooling.h"

static struct tool_run run;
static struct engine *engine;
static const struct profile *profile;

static void begin(void) {
  engine = tooling_engine();
  profile = profile_find(STR("anthropic"));
  CHECK(profile != NULL);
}

/* The text of a successful and of a refused call. */
static struct str said(const char *json) {
  tooling_ok(&run, profile, engine, "memory", json);
  return run.text;
}

static struct str refused(const char *json) {
  CHECK_OK(tooling_call(&run, profile, engine, "memory", json), &tooling_error);
  if (!run.is_error)
    FAIL("%s was not refused: %.*s", json, STR_ARG(run.text));
  return run.text;
}

#define LISTING                                                                                                        \
  "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"

TEST(there_is_one_tool_with_six_commands) {
  begin();
  int n = 0;
  for (const struct tool *t = profile->tools; t->name; t++)
    n++;
  CHECK_INT(n, 1);
  CHECK_STR(str_from(profile->tools[0].name), "memory");
  struct str json =
      json_write(&tooling_arena, tool_definition(json_new(&tooling_arena), profile, &profile->tools[0]), false);
  CHECK(tooling_has(json, "\"enum\":[\"view\",\"create\",\"str_replace\",\"insert\",\"delete\",\"rename\"]"));
  CHECK(tooling_has(json, "\"required\":[\"command\"]"));
  engine_close(&engine);
}

TEST(a_conversation_word_for_word) {
  begin();
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories\"}"), LISTING "0B\t/memories");
  CHECK_STR(
      said("{\"command\":\"create\",\"path\":\"/memories/notes.txt\",\"file_text\":\"Meeting notes:\\n- Discussed "
           "project timeline\\n- Next steps defined\\n\"}"),
      "File created successfully at: /memories/notes.txt");
  CHECK_STR(refused("{\"command\":\"create\",\"path\":\"/memories/notes.txt\",\"file_text\":\"x\"}"),
            "Error: File /memories/notes.txt already exists");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories/notes.txt\"}"),
            "Here's the content of /memories/notes.txt with line numbers:\n     1\tMeeting notes:\n     2\t- Discussed "
            "project timeline\n     3\t- Next steps defined");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories/notes.txt\",\"view_range\":[2,3]}"),
            "Here's the content of /memories/notes.txt with line numbers:\n     2\t- Discussed project timeline\n     "
            "3\t- Next steps defined");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories/notes.txt\",\"view_range\":[3,-1]}"),
            "Here's the content of /memories/notes.txt with line numbers:\n     3\t- Next steps defined");
  CHECK_STR(said("{\"command\":\"str_replace\",\"path\":\"/memories/notes.txt\",\"old_str\":\"Next steps\",\"new_str\":"
                 "\"Budget\"}"),
            "The memory file has been edited.\n     1\tMeeting notes:\n     2\t- Discussed project timeline\n     3\t- "
            "Budget defined");
  CHECK_STR(
      said("{\"command\":\"insert\",\"path\":\"/memories/notes.txt\",\"insert_line\":1,\"insert_text\":\"- Review "
           "memory tool documentation\\n\"}"),
      "The file /memories/notes.txt has been edited.");
  CHECK_STR(
      said("{\"command\":\"rename\",\"old_path\":\"/memories/notes.txt\",\"new_path\":\"/memories/2026/final.txt\"}"),
      "Successfully renamed /memories/notes.txt to /memories/2026/final.txt");
  CHECK_STR(
      said("{\"command\":\"view\",\"path\":\"/memories/2026/final.txt\"}"),
      "Here's the content of /memories/2026/final.txt with line numbers:\n     1\tMeeting notes:\n     2\t- Review "
      "memory tool documentation\n     3\t- Discussed project timeline\n     4\t- Budget defined");
  CHECK_STR(said("{\"command\":\"delete\",\"path\":\"/memories/2026\"}"), "Successfully deleted /memories/2026");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories\"}"), LISTING "0B\t/memories");
  engine_close(&engine);
}

TEST(missing_paths_are_refused_with_the_message_of_each_command) {
  begin();
  said("{\"command\":\"create\",\"path\":\"/memories/dir/a\",\"file_text\":\"one\"}");
  CHECK_STR(refused("{\"command\":\"view\",\"path\":\"/memories/no\"}"),
            "The path /memories/no does not exist. Please provide a valid path.");
  CHECK_STR(refused("{\"command\":\"str_replace\",\"path\":\"/memories/no\",\"old_str\":\"a\",\"new_str\":\"b\"}"),
            "Error: The path /memories/no does not exist. Please provide a valid path.");
  CHECK_STR(refused("{\"command\":\"str_replace\",\"path\":\"/memories/dir\",\"old_str\":\"a\",\"new_str\":\"b\"}"),
            "Error: The path /memories/dir does not exist. Please provide a valid path.");
  CHECK_STR(refused("{\"command\":\"insert\",\"path\":\"/memories/no\",\"insert_line\":0,\"insert_text\":\"b\"}"),
            "Error: The path /memories/no does not exist");
  CHECK_STR(refused("{\"command\":\"delete\",\"path\":\"/memories/no\"}"),
            "Error: The path /memories/no does not exist");
  CHECK_STR(refused("{\"command\":\"rename\",\"old_path\":\"/memories/no\",\"new_path\":\"/memories/b\"}"),
            "Error: The path /memories/no does not exist");
  CHECK_STR(refused("{\"command\":\"delete\",\"path\":\"/memories\"}"), "Cannot delete the /memories directory itself");
  CHECK_STR(refused("{\"command\":\"rename\",\"old_path\":\"/memories\",\"new_path\":\"/memories/b\"}"),
            "Cannot rename the /memories directory itself");
  engine_close(&engine);
}

TEST(edits_that_cannot_be_made_say_where_and_why) {
  begin();
  said("{\"command\":\"create\",\"path\":\"/memories/a\",\"file_text\":\"red\\nblue\\ngreen\\nred\\n\"}");
  said("{\"command\":\"create\",\"path\":\"/memories/b\",\"file_text\":\"x\"}");
  CHECK_STR(refused("{\"command\":\"str_replace\",\"path\":\"/memories/a\",\"old_str\":\"pink\",\"new_str\":\"b\"}"),
            "No replacement was performed, old_str `pink` did not appear verbatim in /memories/a.");
  CHECK_STR(refused("{\"command\":\"str_replace\",\"path\":\"/memories/a\",\"old_str\":\"red\",\"new_str\":\"b\"}"),
            "No replacement was performed. Multiple occurrences of old_str `red` in lines: 1, 4. Please ensure it is "
            "unique");
  CHECK_STR(refused("{\"command\":\"insert\",\"path\":\"/memories/a\",\"insert_line\":5,\"insert_text\":\"b\"}"),
            "Error: Invalid `insert_line` parameter: 5. It should be within the range of lines of the file: [0, 4]");
  CHECK_STR(refused("{\"command\":\"insert\",\"path\":\"/memories/a\",\"insert_line\":-1,\"insert_text\":\"b\"}"),
            "Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 4]");
  CHECK_STR(refused("{\"command\":\"rename\",\"old_path\":\"/memories/a\",\"new_path\":\"/memories/b\"}"),
            "Error: The destination /memories/b already exists");
  /* The searched text is repeated in full, even if it is long. */
  struct buf b = BUF(&tooling_arena);
  for (int i = 0; i < 2000; i++)
    buf_addc(&b, 'q');
  struct str text = refused(
      arena_printf(&tooling_arena, "{\"command\":\"str_replace\",\"path\":\"/memories/a\",\"old_str\":\"%s\"}", b.p).p);
  CHECK_STR(text,
            arena_printf(&tooling_arena,
                         "No replacement was performed, old_str `%s` did not appear verbatim in /memories/a.", b.p)
                .p);
  engine_close(&engine);
}

TEST(without_new_str_the_text_is_removed) {
  begin();
  said("{\"command\":\"create\",\"path\":\"/memories/a\",\"file_text\":\"keep this, drop that\"}");
  CHECK_STR(said("{\"command\":\"str_replace\",\"path\":\"/memories/a\",\"old_str\":\", drop that\"}"),
            "The memory file has been edited.\n     1\tkeep this");
  engine_close(&engine);
}

TEST(a_listing_shows_two_levels_with_sizes) {
  begin();
  struct buf b = BUF(&tooling_arena);
  for (int i = 0; i < 1536; i++)
    buf_addc(&b, (char)(i % 64 == 63 ? '\n' : 'a' + i % 26));
  struct str json =
      arena_printf(&tooling_arena, "{\"command\":\"create\",\"path\":\"/memories/big.txt\",\"file_text\":\"");
  struct buf call = BUF(&tooling_arena);
  buf_add(&call, json);
  for (size_t i = 0; i < b.n; i++) {
    if (b.p[i] == '\n')
      buf_adds(&call, "\\n");
    else
      buf_addc(&call, b.p[i]);
  }
  buf_adds(&call, "\"}");
  said(call.p);
  said("{\"command\":\"create\",\"path\":\"/memories/wip/plan.md\",\"file_text\":\"12345\"}");
  said("{\"command\":\"create\",\"path\":\"/memories/wip/deep/er/x\",\"file_text\":\"123\"}");
  said("{\"command\":\"create\",\"path\":\"/memories/.hidden\",\"file_text\":\"123\"}");
  said("{\"command\":\"create\",\"path\":\"/memories/node_modules/x\",\"file_text\":\"123\"}");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories\"}"),
            LISTING "1.5K\t/memories\n1.5K\t/memories/big.txt\n8B\t/memories/wip/\n3B\t/memories/wip/deep/\n5B\t"
                    "/memories/wip/plan.md");
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories/wip/\"}"),
            "Here're the files and directories up to 2 levels deep in /memories/wip, excluding hidden items and "
            "node_modules:\n8B\t/memories/wip\n3B\t/memories/wip/deep/\n3B\t/memories/wip/deep/er/\n5B\t"
            "/memories/wip/plan.md");
  engine_close(&engine);
}

TEST(paths_stay_in_the_directory) {
  static const char *const paths[] = {"/etc/passwd",
                                      "/memories/../x",
                                      "/memories/%2e%2e/x",
                                      "/memories/%2E%2E/x",
                                      "/memoriesX/notes",
                                      "memories/x",
                                      "/memories//x",
                                      "/memories/a\\u0007b",
                                      "/memories/./x",
                                      "/memories/..",
                                      "",
                                      "/"};
  begin();
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    test_note("path %s", paths[i]);
    struct str text = refused(
        arena_printf(&tooling_arena, "{\"command\":\"create\",\"path\":\"%s\",\"file_text\":\"x\"}", paths[i]).p);
    CHECK(str_starts(text, STR("Error: The path ")));
    CHECK(str_ends(text, STR("\nuse a path such as /memories/notes.md")));
  }
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories\"}"), LISTING "0B\t/memories");
  engine_close(&engine);
}

TEST(missing_arguments_are_named) {
  begin();
  CHECK_STR(refused("{\"command\":\"view\"}"), "Error: the argument `path` is missing");
  CHECK_STR(refused("{\"command\":\"create\",\"path\":\"/memories/a\"}"), "Error: the argument `file_text` is missing");
  CHECK_STR(refused("{\"command\":\"rename\",\"old_path\":\"/memories/a\"}"),
            "Error: the argument `new_path` is missing");
  CHECK_STATUS(tooling_call(&run, profile, engine, "memory", "{\"command\":\"format\",\"path\":\"/memories\"}"),
               STATUS_USAGE);
  tool_answer_error(&run);
  CHECK(str_ends(run.text, STR("\none of: view, create, str_replace, insert, delete, rename")));
  engine_close(&engine);
}

TEST(secrets_are_refused_and_not_stored) {
  begin();
  struct str text = refused("{\"command\":\"create\",\"path\":\"/memories/keys\",\"file_text\":\"token "
                            "ghp_16C7e42F292c6912E7710c838347Ae178B4a\"}");
  CHECK(str_starts(text, STR("Error: the text contains what looks like a secret")));
  CHECK(!tooling_has(text, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"));
  CHECK_STR(said("{\"command\":\"view\",\"path\":\"/memories\"}"), LISTING "0B\t/memories");
  engine_close(&engine);
}

TEST(a_long_file_is_cut_at_16000_characters) {
  begin();
  struct buf call = BUF(&tooling_arena);
  buf_adds(&call, "{\"command\":\"create\",\"path\":\"/memories/long\",\"file_text\":\"");
  for (int i = 0; i < 500; i++)
    buf_addf(&call, "line %03d of a file that is far too long to be shown at once\\n", i + 1);
  buf_adds(&call, "\"}");
  said(call.p);
  struct str text = said("{\"command\":\"view\",\"path\":\"/memories/long\"}");
  /* 68 characters with number and line end: 235 lines are 15,980 of them. */
  CHECK(text.n < 16200 && tooling_has(text, "line 200 of") && !tooling_has(text, "line 240 of"));
  CHECK(tooling_has(text, "of 500; use view_range to see more]"));
  text = said("{\"command\":\"view\",\"path\":\"/memories/long\",\"view_range\":[400,402]}");
  CHECK(tooling_has(text, "   402\tline 402") && !tooling_has(text, "403"));
  CHECK_STR(refused("{\"command\":\"view\",\"path\":\"/memories/long\",\"view_range\":[501,502]}"),
            "Error: Invalid `view_range` parameter: [501, 502]. The file has 500 lines");
  engine_close(&engine);
}
