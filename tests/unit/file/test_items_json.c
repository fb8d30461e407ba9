/* test_items_json.c: content of items.json, and when it is written. */
#include "file/items_json.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

static struct arena a;
static struct error err;

TEST(items_are_written_in_the_format_of_the_specification) {
  struct stored_item item = {.id = STR("item_abc123"),
                             .type = STR("decision"),
                             .title = STR("Use Fastify for API"),
                             .content = STR("We chose \"Fastify\"."),
                             .path = STR("docs/Architecture.md"),
                             .line = 45,
                             .at = 1770285600000,
                             .confidence = 0.9};
  struct stored_items items = {.v = &item, .n = 1};
  CHECK_STR(items_json_render(&a, &items), "[\n"
                                           "  {\n"
                                           "    \"id\": \"item_abc123\",\n"
                                           "    \"type\": \"decision\",\n"
                                           "    \"title\": \"Use Fastify for API\",\n"
                                           "    \"content\": \"We chose \\\"Fastify\\\".\",\n"
                                           "    \"sourceFile\": \"docs/Architecture.md\",\n"
                                           "    \"lineNumber\": 45,\n"
                                           "    \"confidence\": 0.9,\n"
                                           "    \"extractedAt\": \"2026-02-05T10:00:00.000Z\"\n"
                                           "  }\n"
                                           "]\n");
  items.n = 0;
  CHECK_STR(items_json_render(&a, &items), "[]\n");
}

TEST(types_of_memories_are_types_of_items) {
  CHECK_STR(str_from(items_json_type(STR("fact"))), "claim");
  CHECK_STR(str_from(items_json_type(STR("task"))), "task");
  CHECK_STR(str_from(items_json_type(STR("person"))), "entity");
  CHECK_STR(str_from(items_json_type(STR("note"))), "note");
  CHECK_STR(str_from(items_json_type(STR("nonsense"))), "note");
}

TEST(the_same_text_is_not_written_again) {
  const char *path = path_join(NULL, "below/here/items.json");
  struct stat was, is;
  bool written = false;
  CHECK_OK(items_json_save(&a, path, STR("[]\n"), &written, &err), &err);
  CHECK(written && stat(path, &was) == 0);
  CHECK_OK(items_json_save(&a, path, STR("[]\n"), &written, &err), &err);
  CHECK(!written && stat(path, &is) == 0 && is.st_ino == was.st_ino);
  CHECK_OK(items_json_save(&a, path, STR("[1]"), &written, &err), &err);
  CHECK(written);
  CHECK_STR(file_read(path), "[1]");
}
