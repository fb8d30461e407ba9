/* test_defects.c: defects of earlier systems that no other file of this folder tests. docs/defects.md lists all of them
 * with the tests that catch each. */
#include "cli/commands.h"
#include "support/cli.h"

/* Stores texts of the same few words, distinct by their numbers, and embeds them at once. */
static void store_many(const char *stem, const char *project, int n) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < n; i++)
    buf_addf(&b, "{\"text\":\"%s number %d of the %s collection\",\"project\":\"%s\",\"type\":\"note\"}\n", stem, i,
             stem, project);
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-", "--json").exit_code, 0);
}

/* ---- the list itself ---- */

TEST(defects_page_names_tests_that_exist) {
  const char *script = "cd \"$0\" && grep -oE 'test_[a-z_]+[.]c:[a-z0-9_]+' docs/defects.md | sort -u |"
                       " while IFS=: read -r file name; do"
                       " grep -qE \"^TEST(_TIMEOUT|_SQLITE)?[(]$name[,)]\" $(find tests -name \"$file\") /dev/null ||"
                       " echo \"no $file:$name\"; done; grep -cE '^[|] [0-9]+ [|]' docs/defects.md";
  struct run r = proc_run(.argv = ARGS("sh", "-c", script, CAIRN_SOURCE_DIR));
  CHECK_STR(r.out, "48\n");
}

/* ---- 2: every hint names a command that exists ---- */

static bool is_command(struct str first, struct str second) {
  static const char *const others[] = {"help", "version", "man", "completion", "COMMAND"};
  struct str both = str_from(textf("%.*s %.*s", STR_ARG(first), STR_ARG(second)));
  if (command_find(first) || command_find(both))
    return true;
  for (size_t i = 0; i < ARRAY_LEN(others); i++)
    if (str_is(first, others[i]))
      return true;
  return false;
}

static struct str take_word(struct str *rest) {
  size_t n = 0;
  while (n < rest->n && (ascii_alpha(rest->p[n]) || rest->p[n] == '_'))
    n++;
  struct str word = str_slice(*rest, 0, n);
  *rest = str_slice(*rest, n, rest->n);
  if (rest->n && rest->p[0] == ' ')
    *rest = str_slice(*rest, 1, rest->n);
  return word;
}

TEST(defect_02_hints_name_commands_that_exist) {
  struct run r =
      proc_run(.argv =
                   ARGS("sh", "-c",
                        "cd \"$0\" && grep -rh 'cairn [a-z]' op core store base | grep -vE 'upgrade cairn|derive[(]'"
                        " | grep -oE 'cairn [a-z]+( [a-z_]+)?' | sort -u",
                        CAIRN_SOURCE_DIR "/src"));
  struct str rest = r.out, line;
  int n = 0;
  while (str_line(&rest, &line)) {
    struct str words_left = str_slice(line, 6, line.n);
    struct str first = take_word(&words_left), second = take_word(&words_left);
    if (!is_command(first, second))
      FAIL("'%.*s' is no command", STR_ARG(line));
    n++;
  }
  CHECK(n > 10);
}

/* ---- 4: retired memories are not delivered by any channel ---- */

TEST(defect_04_retired_pins_are_not_delivered) {
  int64_t old = STORE("--type", "guardrail", "Nobody swims behind the pier");
  OK("pin", num(old));
  OK("supersede", num(old), "--reason", "new signs", "--inherit-pin", "Bathing is forbidden near the wharf");
  int64_t gone = STORE("--type", "identity", "You are called Pebble");
  OK("pin", num(gone));
  OK("forget", num(gone), "--reason", "renamed");
  struct str text = jstr(OK("boot"), "text");
  CHECK(!has(text, "pier") && !has(text, "Pebble"));
  CHECK(has(text, "wharf"));
  CHECK_INT(jint(OK("list", "--delivery", "pinned"), "total"), 1);
}

/* ---- 9: texts are never merged ---- */

TEST(defect_09_no_text_is_ever_merged) {
  static const char *const texts[] = {"The nightly backup of the customer database is copied to the second data centre",
                                      "The nightly backup of the customer database is copied to the second data centre"
                                      " every night",
                                      "The nightly backup of the customer database is copied to the second data centre"
                                      " each night at two"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    OK("remember", texts[i]);
  for (int64_t id = 1; id <= sql_number("SELECT max(id) FROM memory"); id++) {
    struct str body = jstr(OK("get", num(id)), "body");
    bool given = false;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
      given |= str_is(body, texts[i]);
    CHECK(given);
  }
  CHECK(!sql_try("UPDATE body SET text = text || ' Update: and more'"));
}

/* ---- 13, 14, 15: keyword scores, fusion, union ---- */

TEST(defect_13_the_best_keyword_hit_has_the_highest_keyword_score) {
  STORE("--headline", "All three", "granite marble basalt");
  STORE("--headline", "Two of them", "granite marble and some clouds above the western valley");
  STORE("--headline", "One of them", "granite under a thick layer of moss, ferns and other soft green things");
  for (int i = 0; i < 6; i++)
    STORE(words(textf("filler%d", i), 9));
  yyjson_val *r = OK("search", "granite marble basalt", "--explain");
  double three = jnum(r, textf("results[%d].parts.bm25", jpos(r, "results", 1)));
  double two = jnum(r, textf("results[%d].parts.bm25", jpos(r, "results", 2)));
  double one = jnum(r, textf("results[%d].parts.bm25", jpos(r, "results", 3)));
  CHECK(three > two && two > one && one > 0);
  CHECK_INT(jpos(r, "results", 1), 0);
  CHECK_INT(jpos(r, "results", 2), 1);
  /* A single hit has a score too. */
  r = OK("search", "basalt", "--explain", "--limit", "1");
  CHECK_INT(jint(r, "results[0].id"), 1);
  CHECK(jnum(r, "results[0].parts.bm25") > 0);
}

TEST(defect_14_both_lists_count) {
  store_many("Pebble", "", 30);
  int64_t id = STORE("--type", "note", "Ticket QX-7781 was closed by the night shift");
  yyjson_val *r = OK("search", "what happened to QX-7781", "--explain");
  CHECK_INT(jint(r, "results[0].id"), id); /* a rare word outweighs many vague neighbours */
  for (size_t i = 0; i < jlen(r, "results"); i++) {
    double fusion = jnum(r, textf("results[%zu].parts.fusion", i));
    CHECK(fusion > 0 && fusion <= 1);
  }
}

TEST(defect_15_one_word_of_many_is_enough_and_every_field_is_searched) {
  int64_t id = STORE("--headline", "Harbour lights", "--tag", "navigation", "--key", "beacon-plan",
                     "The lighthouse blinks twice each minute");
  OK("annotate", num(id), "Repaired by Philomena");
  static const char *const queries[] = {"how does one find the lighthouse in heavy snow", "harbour", "navigation",
                                        "beacon-plan", "philomena"};
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    test_note("%s", queries[i]);
    yyjson_val *r = OK("search", queries[i]);
    CHECK_INT(jpos(r, "results", id), 0);
    CHECK(!str_is(jstr(r, "results[0].source"), "vector"));
  }
  /* A query without a common word is found through its vector only. */
  yyjson_val *r = OK("search", "lighthouses blinking");
  CHECK_INT(jpos(r, "results", id), 0);
}

/* ---- 17: the full-text index follows every change ---- */

static void check_index(const char *what) {
  test_note("after %s", what);
  CHECK_HEALTHY();
}

TEST(defect_17_the_index_follows_every_change) {
  int64_t a = STORE("--tag", "garden", "Parsley grows in pots"), b = STORE("Quince jam needs an hour");
  OK("annotate", num(a), "On the balcony");
  check_index("annotate");
  OK("annotate", num(a), "--clear");
  OK("supersede", num(a), "--reason", "x", "Raised beds now");
  check_index("supersede");
  OK("unsupersede", num(a));
  OK("forget", num(b), "--reason", "x");
  check_index("forget");
  OK("purge", num(b), "--confirm");
  check_index("purge");
  cli_day(100);
  yyjson_val *r = OK("prune", "--apply");
  check_index("prune");
  r = OK("undo", num(jint(r, "txn")));
  check_index("undo");
  OK("undo", num(jint(r, "txn")));
  OK("maintain");
  check_index("maintain");
  CHECK_INT(jlen(OK("search", "quince"), "results"), 0);
}

/* ---- 19: small projects are not starved ---- */

TEST(defect_19_a_small_project_is_found_among_many) {
  store_many("Pebble", "big", 300);
  int64_t id = STORE("--project", "small", "--type", "note", "A pebble fell into the well");
  yyjson_val *r = OK("search", "pebble number of the pebble collection", "--project", "small", "--limit", "3");
  CHECK_INT(jpos(r, "results", id), 0);
  CHECK_INT(jlen(r, "results"), 1); /* and nothing of the other project */
  r = OK("search", "pebble", "--project", "small", "--tag", "none");
  CHECK_INT(jlen(r, "results"), 0);
}

/* ---- 22, 23: boot ---- */

TEST(defect_22_no_cap_evicts_a_protected_rule) {
  static const char *const subjects[] = {"invoices", "passwords", "backups", "branches", "gardens", "windows",
                                         "kettles",  "ferries",   "maps",    "lanterns", "anchors", "violins"};
  for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
    OK("pin", num(STORE("--type", "guardrail", words(subjects[i], 6))));
  for (int i = 0; i < 9; i++)
    STORE("--type", "guardrail", words(textf("ordinary%d", i), 6));
  yyjson_val *r = OK("boot", "--budget", "1000");
  struct str text = jstr(r, "text");
  for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
    test_note("%s", subjects[i]);
    CHECK(has(text, subjects[i]));
  }
  CHECK(jlen(r, "dropped") > 0); /* omitted memories are counted, with the call that fetches them */
  CHECK(jint(r, "dropped[0].count") > 0);
  CHECK(str_starts(jstr(r, "dropped[0].fetch"), STR("cairn ")));
  /* Even if they exceed the budget by themselves. */
  text = jstr(OK("boot", "--budget", "100"), "text");
  for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
    CHECK(has(text, subjects[i]));
}

TEST(defect_23_the_budget_is_kept) {
  for (int i = 0; i < 20; i++)
    ADD_TASK(words(textf("task%d\xc3\xa9", i), 12));
  for (int i = 0; i < 10; i++)
    STORE("--type", "decision", words(textf("decision%d", i), 12));
  yyjson_val *r = OK("boot", "--budget", "300");
  CHECK(jint(r, "tokens") <= 300);
  CHECK(jstr(r, "text").n <= 300 * 6); /* for any way of counting tokens */
  CHECK(jlen(r, "dropped") > 0);
  CHECK_STR(jstr(r, "dropped[0].section"), "decisions");
}

/* ---- 31: by id, at any age ---- */

TEST(defect_31_the_oldest_memory_is_found_by_its_id) {
  store_many("Pebble", "", 300);
  CHECK_INT(jint(OK("get", "1"), "id"), 1);
  CHECK_INT(jint(OK("get", "300"), "id"), 300);
  CHECK_INT(jint(OK("list", "--limit", "1"), "total"), 300);
}

/* ---- 34: nothing wipes a store by accident ---- */

TEST(defect_34_no_call_without_a_target_removes_anything) {
  STORE("Parsley grows in pots");
  cli_day(100);
  REFUSED("usage", "forget", "--reason", "everything");
  REFUSED("usage", "purge", "--confirm");
  REFUSED("usage", "purge");
  struct str before = snapshot();
  CHECK(jbool(OK("prune"), "dry_run"));
  CHECK_UNCHANGED(before);
  CHECK_INT(CAIRN("restore", cli_db()).exit_code == 0, 0);
  CHECK_UNCHANGED(before);
}

/* ---- 44: a failure does not affect later lines ---- */

TEST(defect_44_a_failed_line_does_not_affect_the_next) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < 20; i++)
    buf_addf(&b, "{\"text\":\"%s\",\"supersedes\":\"99\",\"reason\":\"x\"}\n{\"text\":\"%s\"}\n", words("bad", 5),
             words(textf("good%d", i), 5));
  struct run r = CAIRN_FED(buf_str(&b), "remember", "--batch", "-", "--json");
  CHECK_INT(r.exit_code, 3);
  CHECK_INT(lines_of(r.out).n, 40);
  CHECK_INT(jint(OK("list"), "total"), 20);
  CHECK_HEALTHY();
}

/* ---- 45: the same input, the same ranking ---- */

static struct str ranking(const char *db) {
  cli_set(textf("CAIRN_DB=%s", test_store(db)));
  store_many("Pebble", "", 40);
  store_many("Gravel", "", 40);
  struct run r = CAIRN("search", "pebble gravel collection number 7", "--json", "--limit", "50", "--explain");
  yyjson_val *v = lines_of(r.out).v[0];
  static struct arena a;
  struct buf b = BUF(&a);
  for (size_t i = 0; i < jlen(v, "results"); i++)
    buf_addf(&b, "%lld %.17g\n", (long long)jint(v, textf("results[%zu].id", i)),
             jnum(v, textf("results[%zu].score", i)));
  return buf_str(&b);
}

TEST(defect_45_same_input_same_ranking) {
  struct str first = ranking("one.db"), second = ranking("two.db");
  CHECK(first.n > 0);
  CHECK_STR(second, cstr(first));
}

/* ---- 47: secrets in imports ---- */

static void check_import_refused(const char *file) {
  struct run r = CAIRN("import", file, "--json");
  CHECK(r.exit_code > 0);
  yyjson_val *v = lines_of(r.out).v[0];
  CHECK_INT(jint(v, "imported"), 0);
  CHECK_INT(jlen(v, "refused"), 1);
  CHECK_STR(jstr(v, "refused[0].code"), "secret");
}

TEST(defect_47_an_import_is_scanned) {
  const char *token = textf("gh%s_%s", "p", "Zk39fLq8Xv2RbT6yNw1MsHd7JcPe4GuA5oQi");
  STORE("Parsley grows in pots");
  const char *notes = path_join(NULL, "notes.md"), *graph = path_join(NULL, "graph.jsonl");
  file_write(notes, str_from(textf("# Deployment\n\nThe token of the harbour is %s as of today.\n", token)));
  check_import_refused(notes);
  file_write(graph, str_from(textf("{\"type\":\"entity\",\"name\":\"harbour\",\"entityType\":\"place\","
                                   "\"observations\":[\"its token is %s\"]}\n",
                                   token)));
  check_import_refused(graph);
  struct run r = CAIRN("export");
  const char *file = path_join(NULL, "export.jsonl");
  size_t at = str_find(r.out, STR("grows in pots"), 0);
  CHECK(at != SIZE_MAX);
  file_write(file, str_from(textf("%.*s %s %s", (int)at, r.out.p, token, r.out.p + at)));
  const char *other = test_store("test.db.other");
  cli_set(textf("CAIRN_DB=%s", other));
  check_import_refused(file);
  CHECK(!store_holds(token) && !store_has(other, str_from(token)));
}
