/* test_changed_texts.c: texts that were changed outside Cairn: doctor names each memory. */
#include <sys/stat.h>

#include "support/cli.h"

/* A document has no event; its file is indexed by a source. */
static void store_texts(void) {
  STORE("The harbour master counts seagulls at dawn", "--headline", "Seagulls");
  STORE("Invoices are printed on Yellow paper.", "--headline", "Invoices");
  STORE("The telescope needs a new mirror", "--headline", "Telescope");
  const char *folder = path_join(NULL, "notes");
  CHECK_INT(mkdir(folder, 0700), 0);
  file_write(path_join(folder, "boats.md"), STR("# Boats\n\nThe ferry leaves from pier nine at seven.\n"));
  OK("source", "add", folder);
  CHECK_HEALTHY();
}

static yyjson_val *check_named(yyjson_val *doctor, const char *name) {
  size_t i, n;
  yyjson_val *c;
  yyjson_arr_foreach(yyjson_obj_get(doctor, "checks"), i, n, c)
    if (str_is(jstr(c, "name"), name))
      return c;
  FAIL("doctor has no check %s", name);
}

/* Doctor's message of the check is this, or "fine". */
static void finds(const char *message) {
  struct run r = CAIRN("doctor", "--json");
  yyjson_val *c = check_named(lines_of(r.out).v[0], "hashes");
  CHECK_STR(jstr(c, "message"), message);
  CHECK_INT(r.exit_code, strcmp(message, "fine") == 0 ? 0 : 11);
  if (r.exit_code)
    CHECK(has(jstr(c, "fix"), "cairn supersede"));
}

/* Replaces the bytes at each place where they occur in the file, or at the first only; returns the number. */
static int overwrite(const char *from, const char *to, int most) {
  struct str all = file_read(cli_db());
  char *bytes = (char *)(uintptr_t)all.p;
  int n = 0;
  for (size_t at = 0; n < most && (at = str_find(all, str_from(from), at)) != SIZE_MAX; at++, n++)
    memcpy(bytes + at, to, strlen(to));
  file_write(cli_db(), all);
  return n;
}

/* Statements that the schema's triggers refuse. */
static void forge(const char *table, const char *trigger, const char *sql) {
  bool server = on_postgres();
  sql_do(server ? textf("ALTER TABLE %s DISABLE TRIGGER %s", table, trigger) : textf("DROP TRIGGER %s", trigger));
  sql_do(sql);
  if (server) /* otherwise doctor reports the trigger, too */
    sql_do(textf("ALTER TABLE %s ENABLE TRIGGER %s", table, trigger));
}

TEST(a_byte_of_the_file_is_changed, .only = TEST_ON_SQLITE) {
  store_texts();
  CHECK_INT(overwrite("counts seagulls", "counts seabirds", 100), 2); /* in the body and in its chunk */
  finds("1 memory was changed outside Cairn: 1");
  CHECK_INT(overwrite("telescope needs", "telescope Needs", 1), 1); /* only case: body.hash ignores it */
  finds("2 memories were changed outside Cairn: 1, 3");
  CHECK_INT(overwrite("pier nine", "pier five", 100), 2);
  finds("2 memories were changed outside Cairn: 1, 3; 1 document was changed outside Cairn: 4");
}

/* Any single byte, in either copy. */
TEST(each_byte_of_a_text_is_checked, .only = TEST_ON_SQLITE, .seconds = 60) {
  static const char text[] = "Invoices are printed on Yellow paper.";
  store_texts();
  struct str whole = file_read(cli_db());
  for (size_t i = 0; i < sizeof(text) - 1; i += 3)
    for (size_t copy = 0, at = 0; copy < 2; copy++, at++) {
      at = str_find(whole, str_from(text), at);
      CHECK(at != SIZE_MAX);
      char *bytes = (char *)(uintptr_t)cstr(whole);
      bytes[at + i] = bytes[at + i] == ' ' ? '-' : ' ';
      file_write(cli_db(), (struct str){bytes, whole.n});
      finds("1 memory was changed outside Cairn: 2");
    }
  file_write(cli_db(), whole);
  finds("fine");
}

TEST(a_body_changed_by_a_statement) {
  store_texts();
  forge("body", "body_immutable", "UPDATE body SET text = 'Invoices are printed on yellow paper.' WHERE memory_id = 2");
  finds("1 memory was changed outside Cairn: 2");
}

TEST(a_body_changed_with_its_chunk) {
  store_texts();
  sql_do("UPDATE chunk SET body = 'Invoices are printed on YELLOW paper.' WHERE memory_id = 2");
  forge("body", "body_immutable", "UPDATE body SET text = 'Invoices are printed on YELLOW paper.' WHERE memory_id = 2");
  finds("1 memory was changed outside Cairn: 2");
}

/* Text and hash agree; the log of events still has the old hash. */
TEST(a_body_changed_with_its_hash) {
  store_texts();
  forge("body", "body_immutable",
        "UPDATE body SET text = (SELECT text FROM body WHERE memory_id = 1), hash = (SELECT hash FROM body"
        " WHERE memory_id = 1) WHERE memory_id = 3;"
        " UPDATE chunk SET body = (SELECT body FROM chunk WHERE memory_id = 1), hash = (SELECT hash FROM chunk"
        " WHERE memory_id = 1) WHERE memory_id = 3");
  finds("1 memory was changed outside Cairn: 3");
}

TEST(a_changed_headline) {
  store_texts();
  forge("memory", "memory_immutable", "UPDATE memory SET headline = 'Pigeons' WHERE id = 1");
  finds("1 memory was changed outside Cairn: 1");
}

TEST(changed_tags_notes_and_keys) {
  store_texts();
  int64_t id =
      jint(OK("remember", "Ropes hang on the left wall", "--key", "ropes", "--tag", "quay", "--tag", "wall"), "id");
  OK("annotate", num(id), "Checked in May");
  OK("annotate", num(id), "Two of them are new");
  finds("fine");
  const char *found = textf("1 memory was changed outside Cairn: %s", num(id));
  sql_do("UPDATE label SET value = 'Wall' WHERE value = 'wall'");
  finds(found);
  sql_do("UPDATE label SET value = 'wall' WHERE value = 'Wall'");
  finds("fine");
  sql_do("UPDATE annotation SET text = 'Checked in Maj' WHERE text = 'Checked in May'");
  finds(found);
  sql_do("UPDATE annotation SET text = 'Checked in May' WHERE text = 'Checked in Maj'");
  forge("memory", "memory_immutable", textf("UPDATE memory SET key = 'robes' WHERE id = %s", num(id)));
  finds(found);
}

/* More texts than one page of the check, long ones with many chunks, two teams, corrections and imports. */
TEST(a_store_in_order_has_no_findings, .seconds = 120) {
  for (int i = 0; i < 70; i++)
    OK("remember", textf("Shelf %d holds %s", i, words(textf("item%dx", i), i % 10 ? 5 : 1500)));
  OK("supersede", "3", "Shelf three is empty now", "--reason", "it was cleared");
  OK("annotate", "5", "This one is painted");
  OK("annotate", "6", "So is this one");
  OK("undo", num(sql_number("SELECT max(id) FROM txn")));
  OK("remember", "Ladders stand in the corner", "--key", "ladders", "--tag", "old wood", "--tag", "c++");
  OK("remember", "Ladders stand in the corner", "--tag", "corner");
  OK("forget", "4", "--reason", "it was sold");
  OK("undo", num(sql_number("SELECT max(id) FROM txn")));
  cli_set("CAIRN_TEAM=blue");
  OK("remember", "The blue team meets on Mondays");
  cli_set("CAIRN_TEAM");
  OK("export", path_join(NULL, "all.jsonl"));
  finds("fine");
  cli_set(textf("CAIRN_DB=%s", test_store("second.db")));
  OK("import", path_join(NULL, "all.jsonl"));
  finds("fine");
}
