/* test_correction.c: superseding: chains, banners, inheritance, overrides, and unsupersede. */
#include "support/cli.h"

#define OLD "The ferry to the island leaves at noon"
#define NEW "Helicopters replaced every boat last winter"
#define NEWEST "Visitors now arrive through a tunnel"

static struct str column(int64_t id, const char *name) {
  return sql_string(textf("SELECT %s FROM memory WHERE id = %lld", name, (long long)id));
}

static int64_t supersede(int64_t id, const char *text, const char *reason) {
  return jint(OK("supersede", num(id), "--reason", reason, text), "id");
}

/* ---- chains ---- */

TEST(supersede_replaces_and_keeps_the_old_version) {
  int64_t old = STORE(OLD);
  yyjson_val *r = OK("supersede", num(old), "--reason", "the harbour closed", NEW);
  int64_t id = jint(r, "id");
  CHECK(id != old);
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_INT(jint(r, "supersedes"), old);
  CHECK_INT(jint(r, "old_id"), old);
  CHECK_STR(jstr(r, "mode"), "hard");
  CHECK(jint(r, "txn") > 0);
  yyjson_val *m = OK("get", num(old));
  CHECK_STR(jstr(m, "state"), "superseded");
  CHECK_STR(jstr(m, "state_reason"), "the harbour closed");
  CHECK_STR(jstr(m, "state_by"), "cli");
  CHECK_STR(jstr(m, "state_at"), cli_time(0));
  CHECK_STR(jstr(m, "body"), OLD);
  CHECK_NEAR(jnum(m, "weight"), 0.1, 1e-9);
  m = OK("get", num(id));
  CHECK_STR(jstr(m, "state"), "active");
  CHECK_STR(jstr(m, "links[0].rel"), "supersedes");
  CHECK_INT(jint(m, "links[0].id"), old);
  CHECK_STR(jstr(m, "links[0].reason"), "the harbour closed");
  CHECK(!jget(m, "banner"));
  CHECK_HEALTHY();
}

TEST(remember_can_supersede) {
  int64_t old = STORE(OLD);
  REFUSED_AT("supersede", "refused", "remember", "--supersedes", num(old), NEW);
  yyjson_val *r = OK("remember", "--supersedes", num(old), "--reason", "the harbour closed", NEW);
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_INT(jint(r, "supersedes"), old);
  CHECK_STR(memory_state(old), "superseded");
  REFUSED("not_found", "remember", "--supersedes", "99", "--reason", "why", "Nothing to replace");
}

TEST(every_kind_can_be_corrected_and_reverted) {
  static const char *const kinds[] = {"rule", "fact", "incident", "task"};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    test_note("%s", kinds[i]);
    int64_t old = STORE("--kind", kinds[i], "--headline", textf("Old %s", kinds[i]), words(kinds[i], 9));
    REFUSED("refused", "supersede", num(old), "No reason was given");
    REFUSED("refused", "supersede", num(old), "--reason", "  ", "An empty one is none");
    yyjson_val *r = OK("supersede", num(old), "--reason", "it changed", words(textf("new%s", kinds[i]), 9));
    CHECK_STR(jstr(r, "kind"), kinds[i]);
    CHECK_STR(memory_state(old), "superseded");
    r = OK("unsupersede", num(old));
    CHECK_STR(jstr(r, "state"), "active");
    CHECK_STR(memory_state(old), "active");
    CHECK_STR(memory_state(jint(r, "retired")), "forgotten");
    OK("forget", num(old), "--reason", "the end");
    CHECK_STR(memory_state(old), "forgotten");
  }
}

TEST(soft_needs_no_reason) {
  int64_t old = STORE(OLD);
  yyjson_val *r = OK("supersede", num(old), "--soft", "The ferry to the island leaves at noon sharp");
  CHECK_STR(jstr(r, "mode"), "soft");
  CHECK_STR(memory_state(old), "superseded");
  CHECK(has(column(old, "state_reason"), "minor correction"));
}

TEST(history_shows_the_chain_oldest_first) {
  int64_t a = STORE(OLD), b = supersede(a, NEW, "first reason"), c = supersede(b, NEWEST, "second reason");
  const int64_t ids[] = {a, b, c};
  for (size_t i = 0; i < ARRAY_LEN(ids); i++) { /* same chain from any version */
    yyjson_val *h = OK("history", num(ids[i]));
    CHECK_INT(jlen(h, "chain"), 3);
    for (size_t k = 0; k < ARRAY_LEN(ids); k++)
      CHECK_INT(jint(h, textf("chain[%zu].id", k)), ids[k]);
    CHECK_INT(jint(h, "head"), c);
    CHECK(!jget(h, "chain[0].reason"));
    CHECK_STR(jstr(h, "chain[1].reason"), "first reason");
    CHECK_STR(jstr(h, "chain[2].reason"), "second reason");
    CHECK(!jbool(h, "chain[0].current") && !jbool(h, "chain[1].current") && jbool(h, "chain[2].current"));
    CHECK_STR(jstr(h, "chain[0].state"), "superseded");
    CHECK_STR(jstr(h, "chain[2].state"), "active");
  }
}

TEST(get_of_an_old_version_points_at_the_head) {
  int64_t a = STORE("--key", "way", OLD), b = supersede(a, NEW, "one"), c = supersede(b, NEWEST, "two");
  yyjson_val *m = OK("get", num(a));
  CHECK_INT(jint(m, "head"), c);
  CHECK(has(jstr(m, "banner"), num(c)));
  CHECK(has(jstr(m, "banner"), NEWEST));
  CHECK(has(jstr(m, "banner"), "superseded"));
  CHECK_INT(jint(OK("get", num(b)), "head"), c);
  m = OK("get", cstr(jstr(m, "uid")));
  CHECK_INT(jint(m, "head"), c);
  /* The key was not inherited: it still names the old version, with its banner. */
  m = OK("get", "way");
  CHECK_INT(jint(m, "id"), a);
  CHECK_INT(jint(m, "head"), c);
}

TEST(a_retired_memory_is_not_superseded_again) {
  int64_t a = STORE(OLD), b = supersede(a, NEW, "one"), c = supersede(b, NEWEST, "two");
  yyjson_val *e = REFUSED_AT("supersede", "conflict", "supersede", num(a), "--reason", "three", "Balloons");
  CHECK(has(jstr(e, "message"), num(a)));
  CHECK(has(jstr(e, "fix"), textf("cairn supersede %s ", num(c))));
  OK("supersede", num(c), "--reason", "three", "Balloons"); /* the command that the fix suggests */
  int64_t gone = STORE("Something that is forgotten at once");
  OK("forget", num(gone), "--reason", "no");
  REFUSED_AT("supersede", "conflict", "supersede", num(gone), "--reason", "x", "Something else entirely");
}

TEST(type_and_unspecified_fields_are_inherited) {
  int64_t old = STORE("--type", "guardrail", "--weight", "0.7", "--tag", "sea", "Nobody swims behind the pier");
  yyjson_val *m = OK("get", num(supersede(old, "Bathing is forbidden near the wharf", "new signs")));
  CHECK_STR(jstr(m, "type"), "rule");
  CHECK_STR(jstr(m, "severity"), "blocker");
  CHECK_NEAR(jnum(m, "weight"), 0.7, 1e-9);
  CHECK(jhas_str(m, "tags", "sea"));
  int64_t task = ADD_TASK("--priority", "high", "--milestone", "summer", "--due", "June", "Paint the ferry");
  m = OK("get", num(supersede(task, "Varnish the helicopter", "no ferry left")));
  CHECK_STR(jstr(m, "priority"), "high");
  CHECK_STR(jstr(m, "milestone"), "summer");
  CHECK_STR(jstr(m, "due"), "June");
}

/* ---- visibility ---- */

TEST(a_superseded_memory_leaves_every_default_path) {
  int64_t old = STORE("--type", "guardrail", OLD);
  int64_t id = supersede(old, NEW, "why");
  CHECK_INT(jpos(OK("list", "--limit", "100"), "memories", old), -1);
  CHECK_INT(jpos(OK("search", OLD), "results", old), -1);
  CHECK(!has(jstr(OK("boot"), "text"), OLD));
  CHECK(has(jstr(OK("boot"), "text"), NEW));
  STORE("--kind", "rule", OLD); /* neither a duplicate of the old version nor a contradiction */
  yyjson_val *r = OK("search", OLD, "--include-superseded");
  int at = jpos(r, "results", old);
  CHECK(at >= 0);
  CHECK_STR(jstr(r, textf("results[%d].state", at)), "superseded");
  CHECK_INT(jint(r, textf("results[%d].superseded_by", at)), id);
  r = OK("list", "--state", "superseded");
  CHECK_INT(jint(r, "total"), 1);
  CHECK_INT(jint(r, "memories[0].id"), old);
}

TEST(superseded_memories_rank_by_relevance_when_asked_for) {
  int64_t old = STORE(OLD);
  supersede(old, NEW, "why");
  for (int i = 0; i < 12; i++)
    STORE("--type", "note", textf("The ferry of %s leaves", words(textf("town%d-", i), 6)));
  yyjson_val *r = OK("search", OLD, "--include-superseded", "--limit", "5");
  CHECK_INT(jint(r, "results[0].id"), old);
  CHECK_STR(jstr(r, "results[0].state"), "superseded");
  CHECK_INT(jpos(OK("search", OLD, "--limit", "20"), "results", old), -1);
}

TEST(the_reason_of_a_correction_is_found) {
  int64_t old = STORE(OLD);
  int64_t id = supersede(old, NEW, "the quartermaster sank every vessel");
  CHECK_INT(jint(OK("search", "quartermaster", "--mode", "keyword"), "results[0].id"), id);
  OK("annotate", num(id), "A note about pilots");
  CHECK_INT(jint(OK("search", "quartermaster", "--mode", "keyword"), "results[0].id"), id);
  CHECK_INT(jint(OK("search", "pilots", "--mode", "keyword"), "results[0].id"), id);
  OK("unsupersede", num(old), "--keep-corrector");
  CHECK_INT(jlen(OK("search", "quartermaster", "--mode", "keyword"), "results"), 0);
  CHECK_HEALTHY();
  id = supersede(old, NEWEST, "the quartermaster was wrong");
  OK("purge", num(old), "--confirm"); /* the reason may quote the purged text */
  CHECK_INT(jlen(OK("search", "quartermaster", "--mode", "keyword"), "results"), 0);
  CHECK_INT(jint(OK("search", "pilots", "--mode", "keyword"), "results[0].id"), 2);
  CHECK_HEALTHY();
}

TEST(a_correction_does_not_repeat_another_memory) {
  int64_t old = STORE(OLD), other = STORE(NEW);
  REFUSED("duplicate", "supersede", num(old), "--reason", "the harbour closed", NEW);
  CHECK_STR(memory_state(old), "active");
  yyjson_val *r = OK("supersede", num(old), "--reason", "both hold", "--distinct-from", num(other), NEW);
  CHECK_STR(jstr(r, "action"), "superseded");
}

TEST(a_superseded_memory_is_hidden_even_without_its_successor) {
  int64_t old = STORE("Otters live by the river and eat fish");
  supersede(old, "Completely different vocabulary: quasars, pulsars", "why");
  yyjson_val *r = OK("search", "otters river fish"); /* the successor does not match this query */
  CHECK_INT(jpos(r, "results", old), -1);
}

TEST(timestamps_of_the_old_version_do_not_change) {
  int64_t old = STORE(OLD);
  cli_day(3);
  OK("get", num(old));
  const char *times = "created_at || ' ' || updated_at || ' ' || valid_from || ' ' || coalesce(last_accessed, 0)";
  struct str before = column(old, times);
  cli_day(20);
  supersede(old, NEW, "why");
  CHECK_STR(column(old, times), cstr(before));
  cli_day(21);
  OK("rate", num(old), "up");
  CHECK_STR(column(old, "updated_at"), cstr(sql_string("SELECT created_at FROM memory WHERE id = 1")));
}

TEST(as_of_shows_the_knowledge_of_that_time) {
  int64_t old = STORE(OLD);
  cli_day(10);
  int64_t id = supersede(old, NEW, "why");
  cli_day(20);
  yyjson_val *then = OK("list", "--as-of", cli_time(5)), *now = OK("list");
  CHECK(jpos(then, "memories", old) == 0 && jpos(then, "memories", id) == -1);
  CHECK(jpos(now, "memories", old) == -1 && jpos(now, "memories", id) == 0);
  CHECK(jpos(OK("search", OLD, "--as-of", cli_time(5)), "results", old) >= 0);
  CHECK_INT(jlen(OK("list", "--as-of", cli_time(-5)), "memories"), 0);
  /* Valid from a time after it was stored. */
  int64_t later = STORE("--valid-from", cli_time(40), "The bridge opens in spring");
  CHECK_INT(jpos(OK("list", "--as-of", cli_time(30)), "memories", later), -1);
  CHECK(jpos(OK("list", "--as-of", cli_time(41)), "memories", later) >= 0);
}

/* ---- inheritance ---- */

TEST(pin_skill_and_key_are_not_inherited_by_default) {
  int64_t old = STORE("--kind", "rule", "--key", "ferry", "--skill-name", "boats", "--skill-keyword", "boat", OLD);
  OK("pin", num(old));
  yyjson_val *r = OK("supersede", num(old), "--reason", "why", NEW);
  CHECK(!jbool(r, "inherited.pin") && !jbool(r, "inherited.skill") && !jbool(r, "inherited.key"));
  CHECK(warning(r, "not_inherited"));
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_STR(jstr(m, "delivery"), "on_demand");
  CHECK(!jget(m, "key") && !jget(m, "skill_name"));
}

TEST(pin_skill_and_key_are_inherited_on_request) {
  int64_t old = STORE("--kind", "rule", "--key", "ferry", "--skill-name", "boats", "--skill-keyword", "boat", OLD);
  OK("pin", num(old));
  yyjson_val *r =
      OK("supersede", num(old), "--reason", "why", "--inherit-pin", "--inherit-skill", "--inherit-key", NEW);
  CHECK(jbool(r, "inherited.pin") && jbool(r, "inherited.skill") && jbool(r, "inherited.key"));
  CHECK(!warning(r, "not_inherited"));
  yyjson_val *m = OK("get", "ferry");
  CHECK_INT(jint(m, "id"), jint(r, "id"));
  CHECK_STR(jstr(m, "delivery"), "pinned");
  CHECK_STR(jstr(m, "skill_name"), "boats");
  CHECK(jhas_str(m, "skill_keywords", "boat"));
  CHECK_INT(jint(OK("skill", "load", "boats"), "id"), jint(r, "id"));
  /* unsupersede moves all of them back. */
  OK("unsupersede", num(old));
  CHECK_INT(jint(OK("get", "ferry"), "id"), old);
  CHECK_INT(jint(OK("skill", "load", "boats"), "id"), old);
  CHECK_STR(column(old, "delivery"), "pinned");
}

/* ---- unsupersede ---- */

TEST(unsupersede_restores_everything) {
  int64_t old = STORE("--type", "guardrail", "--weight", "0.8", OLD);
  int64_t id = supersede(old, NEW, "why");
  CHECK_STR(column(old, "severity"), "deprecated");
  yyjson_val *r = OK("unsupersede", num(old));
  CHECK_INT(jint(r, "id"), old);
  CHECK_INT(jint(r, "retired"), id);
  CHECK_STR(column(old, "severity"), "blocker");
  CHECK_STR(column(old, "weight"), "0.8");
  CHECK_STR(column(old, "coalesce(state_reason, 'none')"), "none");
  CHECK_STR(memory_state(id), "forgotten");
  CHECK_INT(jint(OK("list"), "total"), 1); /* never both */
  CHECK_INT(sql_number("SELECT count(*) FROM link"), 0);
  REFUSED("conflict", "unsupersede", num(old));
  CHECK_HEALTHY();
}

TEST(unsupersede_can_keep_the_corrector) {
  int64_t old = STORE(OLD), id = supersede(old, NEW, "why");
  yyjson_val *r = OK("unsupersede", num(old), "--keep-corrector");
  CHECK(!jget(r, "retired"));
  CHECK_STR(memory_state(old), "active");
  CHECK_STR(memory_state(id), "active");
  int64_t keyed = STORE("--key", "tower", "The tower is closed");
  OK("supersede", num(keyed), "--inherit-key", "--reason", "opened", "Climbing is allowed on weekends");
  REFUSED("conflict", "unsupersede", num(keyed), "--keep-corrector"); /* a key is unique */
}

TEST(unsupersede_is_refused_mid_chain) {
  int64_t a = STORE(OLD), b = supersede(a, NEW, "one"), c = supersede(b, NEWEST, "two");
  yyjson_val *e = REFUSED("conflict", "unsupersede", num(a));
  CHECK(has(jstr(e, "message"), num(b)));
  REFUSED("conflict", "unsupersede", num(c)); /* the head is not superseded */
  OK("unsupersede", num(b));                  /* the last superseded version */
  CHECK_STR(memory_state(b), "active");
  CHECK_STR(memory_state(c), "forgotten");
  OK("unsupersede", num(a)); /* now the last superseded version */
  CHECK_STR(memory_state(a), "active");
  CHECK_STR(memory_state(b), "forgotten");
}

TEST(unsupersede_after_the_key_was_taken_by_another) {
  int64_t old = STORE("--key", "way", OLD);
  supersede(old, NEW, "why"); /* the key is not inherited */
  STORE("--key", "way", "Giraffes sleep standing up");
  yyjson_val *e = REFUSED("conflict", "unsupersede", num(old));
  CHECK(has(jstr(e, "message"), "way"));
}

/* ---- project overrides ---- */

TEST(a_project_overrides_a_global_memory_only_for_itself) {
  int64_t global = STORE("--weight", "0.9", OLD);
  yyjson_val *r = OK("supersede", num(global), "--project", "a", "--reason", "we fly", NEW);
  int64_t mine = jint(r, "id");
  CHECK_STR(jstr(r, "mode"), "shadow");
  CHECK_STR(jstr(r, "project"), "a");
  CHECK_STR(memory_state(global), "active");
  CHECK_STR(column(global, "weight"), "0.9");
  yyjson_val *a = OK("list", "--project", "a"), *b = OK("list", "--project", "b"), *none = OK("list");
  CHECK(jpos(a, "memories", mine) == 0 && jpos(a, "memories", global) == -1);
  CHECK(jpos(b, "memories", global) == 0 && jpos(b, "memories", mine) == -1);
  CHECK(jpos(none, "memories", global) == 0 && jpos(none, "memories", mine) == -1);
  CHECK_INT(jpos(OK("search", OLD, "--project", "a"), "results", global), -1);
  CHECK_INT(jpos(OK("search", OLD, "--project", "b"), "results", global), 0);
  yyjson_val *m = OK("get", num(global), "--project", "a"); /* get says that it is overridden */
  CHECK_INT(jint(m, "head"), mine);
  CHECK(has(jstr(m, "banner"), NEW));
  CHECK(!jget(OK("get", num(global), "--project", "b"), "banner"));
  /* Nor does the overridden memory count as a duplicate there. */
  CHECK_STR(jstr(OK("remember", "--project", "a", OLD), "action"), "stored");
  /* Without the override the global memory is visible again. */
  OK("forget", num(mine), "--reason", "grounded");
  CHECK(jpos(OK("list", "--project", "a"), "memories", global) >= 0);
  CHECK_HEALTHY();
}

TEST(a_corrected_override_still_overrides) {
  int64_t global = STORE(OLD);
  int64_t first = jint(OK("supersede", num(global), "--project", "a", "--reason", "we fly", NEW), "id");
  int64_t second = jint(OK("supersede", num(first), "--project", "a", "--reason", "we dig", NEWEST), "id");
  yyjson_val *r = OK("list", "--project", "a");
  CHECK_INT(jint(r, "total"), 1);
  CHECK_INT(jint(r, "memories[0].id"), second);
  CHECK_INT(jpos(OK("list", "--project", "b"), "memories", global), 0);
  OK("unsupersede", num(first)); /* the restored version overrides too */
  r = OK("list", "--project", "a");
  CHECK_INT(jint(r, "total"), 1);
  CHECK_INT(jint(r, "memories[0].id"), first);
  OK("forget", num(first), "--reason", "grounded");
  CHECK_INT(jpos(OK("list", "--project", "a"), "memories", global), 0);
}

TEST(two_projects_can_override_the_same_memory) {
  int64_t global = STORE(OLD);
  int64_t a = jint(OK("supersede", num(global), "--project", "a", "--reason", "x", NEW), "id");
  int64_t b = jint(OK("supersede", num(global), "--project", "b", "--reason", "y", NEWEST), "id");
  CHECK(jpos(OK("list", "--project", "a"), "memories", a) == 0 && jint(OK("list", "--project", "a"), "total") == 1);
  CHECK(jpos(OK("list", "--project", "b"), "memories", b) == 0 && jint(OK("list", "--project", "b"), "total") == 1);
  CHECK(jpos(OK("list", "--project", "c"), "memories", global) == 0);
}

TEST(a_memory_of_another_project_is_superseded_only_there) {
  int64_t id = STORE("--project", "a", OLD);
  yyjson_val *e = REFUSED_AT("supersede", "conflict", "supersede", num(id), "--project", "b", "--reason", "x", NEW);
  CHECK(has(jstr(e, "fix"), "--project 'a'"));
  OK("supersede", num(id), "--project", "a", "--reason", "x", NEW);
  CHECK_STR(memory_state(id), "superseded");
}

TEST(a_new_version_stays_in_the_project_of_the_old_one) {
  int64_t id = STORE("--project", "a", OLD);
  yyjson_val *r = OK("supersede", num(id), "--reason", "x", NEW);
  CHECK_STR(jstr(r, "project"), "a");
  CHECK_STR(jstr(r, "mode"), "hard");
}

/* ---- notes, ratings, pins, trust, links ---- */

TEST(notes_are_added_shown_found_and_cleared) {
  int64_t id = STORE(OLD);
  CHECK_INT(jlen(OK("annotate", num(id)), "annotations"), 0);
  OK("annotate", num(id), "Not on Sundays, says Philomena");
  yyjson_val *r = OK("annotate", num(id), "Tickets at the kiosk");
  CHECK_INT(jlen(r, "annotations"), 2);
  r = OK("get", num(id));
  CHECK_STR(jstr(r, "annotations[0].text"), "Not on Sundays, says Philomena");
  CHECK_STR(jstr(r, "annotations[0].by"), "cli");
  CHECK_STR(jstr(r, "annotations[0].at"), cli_time(0));
  CHECK_STR(jstr(r, "body"), OLD);
  CHECK_INT(jpos(OK("search", "Philomena"), "results", id), 0);
  CHECK_INT(jlen(OK("annotate", num(id), "--clear"), "annotations"), 0);
  r = OK("search", "Philomena kiosk"); /* removed from the full-text index; vector search may still match */
  CHECK(jlen(r, "results") == 0 || str_is(jstr(r, "results[0].source"), "vector"));
  CHECK(!jget(OK("get", num(id)), "annotations"));
  REFUSED("usage", "annotate", num(id), "--clear", "and a note");
  CHECK_HEALTHY();
}

TEST(ratings_are_counted) {
  int64_t id = STORE(OLD);
  OK("rate", num(id), "up");
  OK("rate", num(id), "up");
  yyjson_val *r = OK("rate", num(id), "down");
  CHECK_INT(jint(r, "upvotes"), 2);
  CHECK_INT(jint(r, "downvotes"), 1);
  CHECK_INT(jint(OK("get", num(id)), "upvotes"), 2);
}

TEST(pin_and_unpin) {
  int64_t id = STORE(OLD);
  CHECK_STR(jstr(OK("pin", num(id)), "delivery"), "pinned");
  CHECK_INT(jint(OK("list", "--delivery", "pinned"), "total"), 1);
  CHECK_STR(jstr(OK("unpin", num(id)), "delivery"), "on_demand");
  supersede(id, NEW, "why");
  REFUSED("conflict", "pin", num(id));
}

TEST(links_between_memories) {
  int64_t a = STORE(OLD), b = STORE(NEW);
  OK("link", num(a), "relates", num(b));
  OK("link", num(a), "cites", num(b));
  yyjson_val *m = OK("get", num(b));
  CHECK_INT(jlen(m, "links"), 2);
  CHECK_STR(jstr(m, "links[0].direction"), "in");
  OK("unlink", num(a), "relates", num(b));
  OK("unlink", num(a), "cites", num(b));
  CHECK(!jget(OK("get", num(b)), "links"));
  REFUSED("not_found", "unlink", num(a), "cites", num(b));
  REFUSED("usage", "link", num(a), "relates", num(a));
}
