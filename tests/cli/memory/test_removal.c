/* test_removal.c: forget, purge and prune: what they hide, what they delete, and what they never remove. */
#include "embed/embed.h"
#include "support/cli.h"

/* ---- forget ---- */

TEST(forget_hides_from_every_search_with_a_reason) {
  int64_t id = STORE("--type", "guardrail", "--tag", "sea", "The lighthouse is haunted by gulls");
  REFUSED("usage", "forget", num(id));
  REFUSED("usage", "forget", num(id), "--reason", " ");
  yyjson_val *r = OK("forget", num(id), "--reason", "the gulls left");
  CHECK_INT(jpos(r, "forgotten", id), 0);
  CHECK_INT(jlen(r, "already"), 0);
  CHECK_INT(jlen(OK("search", "lighthouse gulls"), "results"), 0);
  CHECK_INT(jlen(OK("search", "lighthouse gulls", "--include-superseded"), "results"), 0);
  CHECK_INT(jint(OK("list"), "total"), 0);
  CHECK(!has(jstr(OK("boot"), "text"), "gulls"));
  /* Still readable by id and listed by state. */
  yyjson_val *m = OK("get", num(id));
  CHECK_STR(jstr(m, "state"), "forgotten");
  CHECK_STR(jstr(m, "state_reason"), "the gulls left");
  CHECK(has(jstr(m, "banner"), "forgotten"));
  CHECK_INT(jint(OK("list", "--state", "forgotten"), "total"), 1);
}

TEST(forget_of_many_is_all_or_nothing) {
  int64_t a = STORE("Parsley grows in pots"), b = STORE("Quince jam needs an hour");
  REFUSED("not_found", "forget", num(a), "77", num(b), "--reason", "x");
  yyjson_val *r = OK("forget", num(a), num(b), num(a), "--reason", "eaten");
  CHECK_INT(jlen(r, "forgotten"), 2);
  r = OK("forget", num(a), "--reason", "again");
  CHECK_INT(jlen(r, "forgotten"), 0);
  CHECK_INT(jpos(r, "already", a), 0);
  CHECK_STR(sql_string("SELECT state_reason FROM memory WHERE id = 1"), "eaten"); /* the first reason is kept */
}

/* ---- purge ---- */

/* Words that occur nowhere else, that no stemmer shortens, and that share no prefix. They are capitalized here, so
 * lower case occurs only in the full-text index. */
#define BODY_WORD "Qwyzzlebrack"
#define HEAD_WORD "Vorpalthrum"
#define TAG_WORD "jabberwock"
#define KEY_WORD "zorgblatt"
#define NOTE_WORD "Mumblecrust"
#define PERSON_WORD "Fitzgibbon"
#define CAUSE_WORD "Xylotrop"
#define QUERY_WORD "Krimskrams"

static const char *const traces[] = {BODY_WORD, HEAD_WORD,   TAG_WORD,   KEY_WORD,
                                     NOTE_WORD, PERSON_WORD, CAUSE_WORD, QUERY_WORD};

static int64_t store_traces(void) {
  STORE("Other memories lie around it, before");
  int64_t id = STORE("--kind", "incident", "--headline", "The " HEAD_WORD " broke", "--tag", TAG_WORD, "--key",
                     KEY_WORD, "--person", PERSON_WORD, "--root-cause", CAUSE_WORD " failed", "--idempotency-key",
                     "purge-me", "On Monday the " BODY_WORD " went up in smoke");
  STORE("Other memories lie around it, behind, about tea");
  OK("annotate", num(id), NOTE_WORD " saw it");
  OK("search", BODY_WORD " " QUERY_WORD);
  OK("get", num(id));
  OK("rate", num(id), "up");
  return id;
}

TEST(purge_needs_confirmation) {
  int64_t id = store_traces();
  yyjson_val *e = REFUSED("confirm", "purge", num(id));
  CHECK(has(jstr(e, "fix"), "--confirm"));
  REFUSED("not_found", "purge", "99", "--confirm");
}

TEST(purge_leaves_no_trace) {
  int64_t id = store_traces();
  for (size_t i = 0; i < ARRAY_LEN(traces); i++) {
    test_note("before: %s", traces[i]);
    CHECK(store_holds(traces[i])); /* make sure that store_holds finds it */
  }
  yyjson_val *m = OK("get", num(id));
  struct str uid = jstr(m, "uid");
  yyjson_val *r = OK("purge", num(id), "--confirm");
  CHECK_INT(jint(r, "receipt.purged[0].id"), id);
  CHECK_STR(jstr(r, "receipt.purged[0].uid"), cstr(uid));
  CHECK_STR(jstr(r, "receipt.at"), cli_time(0));
  CHECK_STR(jstr(r, "receipt.by"), "cli");
  CHECK_INT(jint(r, "receipt.rows.chunks"), 1);
  CHECK_INT(jint(r, "receipt.rows.annotations"), 1);
  CHECK(jint(r, "receipt.rows.events") >= 3);
  CHECK(jint(r, "txn") > 0);
  for (size_t i = 0; i < ARRAY_LEN(traces); i++) {
    test_note("after: %s", traces[i]);
    CHECK(!store_holds(traces[i]));
  }
  REFUSED("not_found", "get", num(id));
  REFUSED("not_found", "get", KEY_WORD);
  CHECK_INT(sql_number(textf("SELECT count(*) FROM tombstone WHERE uid = '%.*s'", STR_ARG(uid))), 1);
  CHECK_INT(jint(OK("list"), "total"), 2);
  CHECK_HEALTHY();
}

TEST(purge_deletes_the_vector) {
  static struct arena a;
  struct error err;
  struct str text = STR("On Monday the " BODY_WORD " went up in smoke");
  const struct embedder *e = embedder_hash();
  int8_t *vector = arena_array(&a, int8_t, (size_t)e->dims);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &text, 1, vector, &err), &err);
  struct str bytes = {(const char *)vector, (size_t)e->dims};
  STORE("Other memories lie around it, before");
  int64_t id = STORE(text.p);
  STORE("Other memories lie around it, behind, about tea");
  CHECK(store_holds_bytes(bytes)); /* make sure that store_holds_bytes finds it */
  OK("purge", num(id), "--confirm");
  CHECK(!store_holds_bytes(bytes));
}

TEST(purge_of_a_text_quoted_in_warnings) {
  int64_t id = STORE("The " HEAD_WORD " mail server of the office is in the basement next to the boiler");
  yyjson_val *r = OK("remember", "--idempotency-key", "near",
                     "The mail server of the office stands in the basement beside the old boiler");
  CHECK(warning(r, "near")); /* quotes the headline of the first */
  OK("purge", num(id), "--confirm");
  CHECK(!store_holds(HEAD_WORD));
}

TEST(purge_after_superseding) {
  int64_t old = STORE("--headline", "The " HEAD_WORD " works", "A " BODY_WORD " was bought in spring");
  int64_t id = jint(OK("supersede", num(old), "--reason", "sold", "Completely new furniture arrived"), "id");
  OK("purge", num(old), "--confirm");
  CHECK(!store_holds(BODY_WORD) && !store_holds(HEAD_WORD));
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(jlen(OK("history", num(id)), "chain"), 1);
  CHECK_HEALTHY();
  CHECK_HEALTHY();
}

TEST(purge_of_a_correction_restores_the_old_version) {
  int64_t old = STORE("--kind", "rule", "--severity", "blocker", "--weight", "0.7", "Boilers are serviced in spring");
  int64_t id = jint(OK("supersede", num(old), "--reason", "moved", "A " BODY_WORD " is in the cellar"), "id");
  yyjson_val *r = OK("purge", num(id), "--confirm");
  CHECK(!store_holds(BODY_WORD));
  CHECK_INT(jlen(r, "restored"), 1);
  CHECK_INT(jint(r, "restored[0]"), old);
  CHECK_STR(memory_state(old), "active");
  CHECK_STR(sql_string("SELECT severity || ' ' || weight FROM memory"), "blocker 0.7");
  CHECK_INT(jpos(OK("search", "boilers serviced"), "results", old), 0);
  CHECK_HEALTHY();
}

TEST(purge_within_a_chain_links_its_neighbours) {
  int64_t old = STORE("--key", "boiler", "Boilers are serviced in spring");
  int64_t mid =
      jint(OK("supersede", num(old), "--inherit-key", "--reason", "moved", "A " BODY_WORD " is in the cellar"), "id");
  int64_t head = jint(OK("supersede", num(mid), "--inherit-key", "--reason", "sold", "Heating comes from afar"), "id");
  CHECK(!jget(OK("purge", num(mid), "--confirm"), "restored"));
  CHECK(!store_holds(BODY_WORD));
  CHECK_STR(memory_state(old), "superseded");
  yyjson_val *r = OK("history", num(old));
  CHECK_INT(jlen(r, "chain"), 2);
  CHECK_INT(jint(r, "chain[1].id"), head);
  OK("purge", num(head), "--confirm"); /* now the first is the only one */
  CHECK_INT(jint(OK("get", "boiler"), "id"), old);
  CHECK_HEALTHY();
}

TEST(purge_of_a_forgotten_correction_restores_nothing) {
  int64_t old = STORE("Boilers are serviced in spring");
  int64_t id = jint(OK("supersede", num(old), "--reason", "moved", "Heating comes from afar"), "id");
  OK("forget", num(id), "--reason", "no heating at all");
  CHECK(!jget(OK("purge", num(id), "--confirm"), "restored"));
  CHECK_STR(memory_state(old), "superseded");
}

TEST(purge_of_a_forgotten_or_pruned_memory) {
  int64_t id = STORE("--headline", "The " HEAD_WORD, "A " BODY_WORD " was bought in spring");
  OK("forget", num(id), "--reason", "first hidden");
  OK("purge", num(id), "--confirm");
  CHECK(!store_holds(BODY_WORD) && !store_holds(HEAD_WORD));
  id = STORE("--headline", "The " HEAD_WORD, "A " BODY_WORD " was bought in spring");
  struct str uid = jstr(OK("get", num(id)), "uid");
  cli_day(200);
  CHECK_INT(jlen(OK("prune", "--min-access", "5", "--apply"), "pruned"), 1);
  CHECK(store_holds(BODY_WORD)); /* the log can restore it */
  OK("purge", cstr(uid), "--confirm");
  CHECK(!store_holds(BODY_WORD) && !store_holds(HEAD_WORD));
}

TEST(import_does_not_restore_purged_memories) {
  int64_t id = STORE("--headline", "The " HEAD_WORD, "A " BODY_WORD " was bought in spring");
  STORE("Parsley grows in pots");
  const char *file = path_join(NULL, "export.jsonl");
  CHECK_INT(CAIRN("export", file).exit_code, 0);
  OK("purge", num(id), "--confirm");
  yyjson_val *r = OK("import", file);
  CHECK_INT(jint(r, "tombstoned"), 1);
  CHECK_INT(jint(r, "imported"), 0);
  CHECK_INT(jint(OK("list"), "total"), 1);
  CHECK(!store_holds(BODY_WORD));
}

/* ---- prune ---- */

TEST(prune_is_a_dry_run_by_default) {
  int64_t id = STORE("Parsley grows in pots");
  cli_day(100);
  struct str before = snapshot();
  yyjson_val *r = OK("prune");
  CHECK(jbool(r, "dry_run"));
  CHECK_INT(jpos(r, "would_prune", id), 0);
  CHECK_INT(jint(r, "max_per_call"), 50);
  CHECK_INT(jint(r, "criteria.days"), 90);
  CHECK(!jget(r, "txn"));
  CHECK_UNCHANGED(before);
}

TEST(prune_requires_30_days) {
  int64_t id = STORE("Parsley grows in pots");
  cli_day(100);
  yyjson_val *e = REFUSED("usage", "prune", "--days", "29", "--apply");
  CHECK(has(jstr(e, "fix"), "30"));
  REFUSED("usage", "prune", "--days", "29");
  REFUSED("usage", "prune", "--days", "0", "--apply");
  REFUSED("usage", "prune", "--days", "-1", "--apply");
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(jlen(OK("prune", "--days", "30", "--apply"), "pruned"), 1);
}

TEST(prune_keeps_young_used_and_pinned_memories_and_rules) {
  int64_t old = STORE("Parsley grows in pots");
  int64_t rule = STORE("--kind", "rule", "Close the windows at night");
  int64_t pinned = STORE("Quince jam needs an hour");
  int64_t used = STORE("Rosemary likes the sun");
  int64_t task = ADD_TASK("Sharpen the kitchen knives");
  OK("pin", num(pinned));
  OK("get", num(used));
  cli_day(80);
  int64_t young = STORE("Thyme was planted today");
  cli_day(100);
  yyjson_val *r = OK("prune", "--days", "90", "--apply");
  CHECK_INT(jlen(r, "pruned"), 1);
  CHECK_INT(jpos(r, "pruned", old), 0);
  const int64_t kept[] = {rule, pinned, used, task, young};
  for (size_t i = 0; i < ARRAY_LEN(kept); i++)
    CHECK_STR(memory_state(kept[i]), "active");
  REFUSED("not_found", "get", num(old));
  CHECK_HEALTHY();
  /* --min-access controls how often a pruned memory may have been read. */
  cli_day(300);
  CHECK(jpos(OK("prune", "--min-access", "1"), "would_prune", used) >= 0);
  CHECK_INT(jpos(OK("prune"), "would_prune", used), -1);
}

static void store_many(int n) {
  static struct arena a;
  struct buf b = BUF(&a);
  for (int i = 0; i < n; i++)
    buf_addf(&b, "{\"text\":\"%s\",\"defer_embedding\":true}\n", words(textf("many%d", i), 6));
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-", "--json").exit_code, 0);
}

TEST(prune_removes_at_most_50) {
  store_many(70);
  cli_day(100);
  yyjson_val *r = OK("prune");
  CHECK_INT(jlen(r, "would_prune"), 50);
  CHECK_INT(jint(r, "total"), 70);
  r = OK("prune", "--apply");
  CHECK_INT(jlen(r, "pruned"), 50);
  CHECK_INT(jint(OK("list"), "total"), 20);
  CHECK_INT(jlen(OK("prune", "--apply"), "pruned"), 20);
  CHECK_INT(jlen(OK("prune", "--apply"), "pruned"), 0);
  CHECK_HEALTHY();
}

TEST(undo_restores_pruned_memories) {
  int64_t id = STORE("--key", "herb", "--tag", "garden", "Parsley grows in pots");
  OK("annotate", num(id), "On the balcony");
  struct str uid = sql_string("SELECT uid FROM memory");
  cli_day(100);
  yyjson_val *r = OK("prune", "--apply");
  REFUSED("not_found", "get", "herb");
  OK("undo", num(jint(r, "txn")));
  yyjson_val *m = OK("get", "herb");
  CHECK_INT(jint(m, "id"), id);
  CHECK_STR(jstr(m, "uid"), cstr(uid));
  CHECK_STR(jstr(m, "body"), "Parsley grows in pots");
  CHECK_STR(jstr(m, "created_at"), cli_time(0));
  CHECK(jhas_str(m, "tags", "garden"));
  CHECK_STR(jstr(m, "annotations[0].text"), "On the balcony");
  CHECK_INT(jpos(OK("search", "parsley"), "results", id), 0);
  CHECK_INT(jpos(OK("search", "balcony"), "results", id), 0);
  CHECK_HEALTHY();
  OK("maintain"); /* embeds the restored memories */
  CHECK_INT(jint(OK("stats"), "embedded.done"), 1);
}
