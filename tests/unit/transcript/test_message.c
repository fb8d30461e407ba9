/* test_message.c: reading and writing transcript messages. */
#include "transcript/file/message.h"

#include "support/harness.h"

static struct arena arena;

static struct message read_ok(const char *line) {
  struct message m;
  struct error err;
  CHECK_OK(message_read(&arena, str_from(line), &m, &err), &err);
  return m;
}

static void read_bad(const char *line) {
  struct message m;
  struct error err = {0};
  test_note("%s", line);
  CHECK(message_read(&arena, str_from(line), &m, &err) != STATUS_OK);
  CHECK(err.message[0] && err.fix[0]);
}

TEST(the_lines_of_the_format) {
  struct message m =
      read_ok("{\"id\":\"msg_001\",\"role\":\"user\",\"content\":\"Hello\",\"timestamp\":\"2026-02-05T10:00:00Z\"}");
  CHECK_STR(m.id, "msg_001");
  CHECK_INT(m.role, SPEAKER_USER);
  CHECK_STR(m.content, "Hello");
  CHECK_INT(m.at, INT64_C(1770285600000));
  m = read_ok("{\"id\":\"tool_001\",\"role\":\"tool_call\",\"name\":\"read\",\"input\":{\"path\":\"README.md\"},"
              "\"timestamp\":\"2026-02-05T10:00:02Z\"}");
  CHECK_INT(m.role, SPEAKER_TOOL_CALL);
  CHECK_STR(m.name, "read");
  CHECK_STR(m.input, "{\"path\":\"README.md\"}");
  CHECK(!m.content.p && !m.extra.p);
}

TEST(messages_are_read_back_as_written) {
  struct message m = read_ok("{\"role\":\"tool_call\",\"id\":\"t\",\"name\":\"read\",\"input\":[1,null],\"timestamp\":"
                             "\"2026-02-05T10:00:02.250Z\",\"usage\":{\"in\":3},\"model\":\"m\"}");
  CHECK_STR(message_line(&arena, &m),
            "{\"id\":\"t\",\"role\":\"tool_call\",\"name\":\"read\",\"input\":[1,null],\"timestamp\":"
            "\"2026-02-05T10:00:02.250Z\",\"usage\":{\"in\":3},\"model\":\"m\"}");
  struct message odd = {.role = SPEAKER_USER, .id = STR("o"), .content = STR("a\nb\"c\\ \xf0\x9f\x99\x82 \x01")};
  struct message again = read_ok(message_line(&arena, &odd).p);
  CHECK(str_eq(again.content, odd.content));
  CHECK(str_find(message_line(&arena, &odd), STR("\n"), 0) == SIZE_MAX);
}

TEST(times_of_other_programs) {
  CHECK_INT(read_ok("{\"role\":\"user\",\"content\":\"x\",\"timestamp\":1770285600}").at, INT64_C(1770285600000));
  CHECK_INT(read_ok("{\"role\":\"user\",\"content\":\"x\",\"timestamp\":1770285600123}").at, INT64_C(1770285600123));
  CHECK_INT(read_ok("{\"role\":\"user\",\"content\":\"x\"}").at, 0);
}

TEST(content_that_is_not_a_string_is_kept) {
  CHECK_STR(read_ok("{\"role\":\"tool_result\",\"content\":{\"a\":[1,2]}}").content, "{\"a\":[1,2]}");
}

TEST(invalid_messages_are_errors) {
  read_bad("");
  read_bad("{\"role\":\"user\"");
  read_bad("[1]");
  read_bad("\"user\"");
  read_bad("{\"content\":\"x\"}");
  read_bad("{\"role\":\"robot\",\"content\":\"x\"}");
  read_bad("{\"role\":\"user\"}");
  read_bad("{\"role\":\"user\",\"content\":\"x\",\"timestamp\":\"yesterday\"}");
  read_bad("{\"role\":\"user\",\"content\":\"x\",\"timestamp\":-5}");
  read_bad("{\"role\":\"user\",\"content\":\"\xff\"}");
}

/* Made up, in the form of a real one. */
#define TOKEN "ghp_1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ"

TEST(secrets_are_redacted_in_every_text) {
  struct message m =
      read_ok("{\"role\":\"tool_call\",\"name\":\"curl\",\"content\":\"use " TOKEN "\",\"input\":{\"deep\":"
              "[{\"header\":\"Authorization: token " TOKEN "\"}],\"n\":5},\"note\":\"" TOKEN "\"}");
  CHECK_INT(message_redact(&arena, NULL, &m), 3);
  struct str line = message_line(&arena, &m);
  CHECK(str_find(line, STR(TOKEN), 0) == SIZE_MAX);
  CHECK(str_find(line, STR("\"n\":5"), 0) != SIZE_MAX);
  m = read_ok("{\"role\":\"tool_call\",\"name\":\"login\",\"input\":{\"user\":\"bob\",\"password\":\"xK8#mq2Lw9zR\"}}");
  CHECK_INT(message_redact(&arena, NULL, &m), 1);
  CHECK(str_find(m.input, STR("xK8#mq2Lw9zR"), 0) == SIZE_MAX);
  CHECK(str_find(m.input, STR("\"user\":\"bob\""), 0) != SIZE_MAX);
}

TEST(plain_text_is_unchanged) {
  struct message m = read_ok("{\"role\":\"user\",\"content\":\"The password field is too short\",\"x\":{\"b\": 1}}");
  CHECK_INT(message_redact(&arena, NULL, &m), 0);
  CHECK_STR(m.content, "The password field is too short");
}

TEST(a_message_costs_tokens) {
  struct message empty = {.role = SPEAKER_USER, .content = STR("")},
                 word = {.role = SPEAKER_USER, .content = STR("word")};
  CHECK(message_tokens(&empty) > 0);
  CHECK(message_tokens(&word) > message_tokens(&empty));
  struct message damaged = {.damaged = true, .raw = STR("xxxxxxxxxxxxxxxxx")};
  CHECK_INT(message_tokens(&damaged), 0);
}
