/* test_stats.c: the figures of a store: what they count, since when, and in which order. */
#include "support/cli.h"

static struct arena memory;

static struct str part(yyjson_val *stats, const char *name) { return json_write_val(&memory, jget(stats, name)); }

TEST(memories_are_counted_by_kind_and_state) {
  cli_day(0);
  int64_t old = STORE("The archive is in the cellar of the old house");
  STORE("Never deploy on a Friday afternoon", "--type", "rule", "--severity", "blocker", "--project", "web");
  cli_day(20);
  int64_t pinned = STORE("We chose PostgreSQL for the orders", "--type", "decision", "--project", "app");
  ADD_TASK("Write the release notes of spring");
  cli_day(40);
  STORE("The printer on the second floor needs toner");
  OK("pin", num(pinned));
  OK("forget", num(old), "--reason", "sold");
  yyjson_val *r = OK("stats");
  CHECK_INT(jint(r, "memories"), 5);
  CHECK_INT(jint(r, "last_7_days"), 1);
  CHECK_INT(jint(r, "last_30_days"), 3);
  CHECK_STR(part(r, "by_state"), "{\"active\":4,\"forgotten\":1}");
  CHECK_STR(part(r, "by_kind"), "{\"fact\":2,\"rule\":1,\"task\":1}");
  CHECK_STR(part(r, "by_project"), "{\"\":2,\"app\":1,\"web\":1}");
  CHECK_INT(jint(r, "by_type.decision"), 1);
  CHECK_INT(jint(r, "by_type.rule"), 1);
  CHECK_INT(jint(r, "by_delivery.pinned"), 1);
}

TEST(stats_of_an_empty_store) {
  OK("remember", "One fact that is purged at once");
  OK("purge", "1", "--confirm");
  yyjson_val *r = OK("stats");
  CHECK_INT(jint(r, "memories"), 0);
  CHECK_INT(jint(r, "last_7_days"), 0);
  CHECK_STR(part(r, "by_kind"), "{}");
  CHECK_STR(part(r, "by_state"), "{}");
}
