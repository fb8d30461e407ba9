/* test_batch.c: each line of a batch succeeds or fails on its own; a failed line leaves nothing behind. */
#include "support/cli.h"

TEST(a_line_that_fails_late_leaves_nothing) {
  STORE("Ravens nest in the tower", "--key", "ravens");
  /* Each line fails after its memory was written or after the old one was retired. */
  struct run r = CAIRN_FED(STR("{\"text\":\"Crows live in the wood\",\"links\":[\"999\"]}\n"
                               "{\"text\":\"Owls hunt at night\"}\n"
                               "{\"text\":\"Ravens moved to the bridge\",\"supersedes\":\"ravens\",\"reason\":\"seen "
                               "there\",\"links\":[\"999\"]}\n"),
                           "remember", "--batch", "-", "--json");
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(r.exit_code, 3);
  CHECK_INT(lines.n, 3);
  CHECK_STR(json_str(jget(lines.v[0], "error"), "code"), "not_found");
  CHECK_STR(json_str(lines.v[1], "action"), "stored");
  CHECK_STR(json_str(jget(lines.v[2], "error"), "code"), "not_found");
  yyjson_val *list = OK("list");
  CHECK_INT(jint(list, "total"), 2);
  CHECK_STR(json_str(OK("get", "ravens"), "state"), "active");
  CHECK(yyjson_get_bool(jget(OK("doctor"), "ok")));
}
