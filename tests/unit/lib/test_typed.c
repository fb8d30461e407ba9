/* test_typed.c: remember, supersede, forget and get with C structures. */
#include "cairn.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static const int64_t NEW_YEAR = 1767225600000; /* 2026-01-01T00:00:00Z */

static struct cairn *open_store(void) {
  struct cairn_options o = {.size = sizeof(o), .path = test_store("a.db"), .source = "test", .fixed_now_ms = NEW_YEAR};
  struct cairn *db = NULL;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  return db;
}

static void must(struct cairn *db, int status) {
  struct cairn_error e;
  cairn_last_error(db, &e);
  if (status != CAIRN_OK)
    FAIL("%s: %s", cairn_status_name(status), e.message);
}

static void refused(struct cairn *db, const struct cairn_draft *d, int want, const char *part) {
  struct cairn_written *w = NULL;
  CHECK_INT(cairn_remember(db, d, &w), want);
  CHECK(w == NULL);
  struct cairn_error e;
  cairn_last_error(db, &e);
  if (!strstr(e.message, part))
    FAIL("'%s' does not mention '%s'", e.message, part);
}

static bool has(const char *const *list, const char *text) {
  for (; *list; list++)
    if (strcmp(*list, text) == 0)
      return true;
  return false;
}

TEST(a_memory_round_trips) {
  struct cairn *db = open_store();
  const char *tags[] = {"birds", "science", NULL}, *people[] = {"Ida", NULL};
  struct cairn_draft d = {.size = sizeof(d),
                          .text = "Ravens plan ahead, as people do",
                          .headline = "Ravens plan ahead",
                          .type = "decision",
                          .key = "ravens",
                          .project = "zoo",
                          .tags = tags,
                          .people = people,
                          .weight = 0.5,
                          .ttl = "7d",
                          .valid_from = "2025-12-24",
                          .delivery = "pinned"};
  struct cairn_written *w = NULL;
  must(db, cairn_remember(db, &d, &w));
  CHECK_INT(w->id, 1);
  CHECK_INT(strlen(w->uid), 36);
  CHECK_INT(w->action, CAIRN_STORED);
  CHECK(w->txn > 0);
  CHECK_STR(str_from(w->project), "zoo");
  CHECK_STR(str_from(w->headline), "Ravens plan ahead");
  CHECK_INT(w->supersedes, 0);
  CHECK_INT(w->json_n, strlen(w->json));

  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, w->uid, &m));
  CHECK_INT(m->id, w->id);
  CHECK_STR(str_from(m->uid), w->uid);
  CHECK_STR(str_from(m->kind), w->kind);
  CHECK_STR(str_from(m->type), "decision");
  CHECK_STR(str_from(m->key), "ravens");
  CHECK_STR(str_from(m->headline), "Ravens plan ahead");
  CHECK_STR(((struct str){m->body, m->body_n}), "Ravens plan ahead, as people do");
  CHECK_STR(str_from(m->delivery), "pinned");
  CHECK_STR(str_from(m->state), "active");
  CHECK(m->severity == NULL && m->banner == NULL && m->status == NULL && m->session == NULL);
  CHECK(has(m->tags, "birds") && has(m->tags, "science") && has(m->people, "Ida"));
  CHECK_NEAR(m->weight, 0.5, 0);
  CHECK_INT(m->created_at, NEW_YEAR);
  CHECK_INT(m->expires_at, NEW_YEAR + INT64_C(7) * 24 * 3600 * 1000);
  CHECK_INT(m->valid_from, NEW_YEAR - INT64_C(8) * 24 * 3600 * 1000);
  CHECK_INT(m->last_accessed, 0);
  CHECK_INT(m->link_count, 0);
  CHECK_INT(m->note_count, 0);
  CHECK(strstr(m->json, "\"weight\":0.5") != NULL);
  cairn_memory_free(m);
  cairn_written_free(w);
  cairn_close(&db);
}

TEST(notes_and_links_are_read) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Ravens are clever birds"}, e = {.text = "The harbour closes at ten in the evening"};
  must(db, cairn_remember(db, &d, NULL));
  must(db, cairn_remember(db, &e, NULL));
  must(db, cairn_call(db, "annotate", "{\"id\": \"1\", \"note\": \"Seen in Oslo\"}", 0, NULL, NULL));
  must(db, cairn_call(db, "link", "{\"id\": \"1\", \"rel\": \"relates\", \"to\": \"2\"}", 0, NULL, NULL));
  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "1", &m));
  CHECK_INT(m->note_count, 1);
  CHECK_STR(str_from(m->notes[0].text), "Seen in Oslo");
  CHECK_INT(m->notes[0].at, NEW_YEAR);
  CHECK_STR(str_from(m->notes[0].by), "test");
  CHECK_INT(m->link_count, 1);
  CHECK_STR(str_from(m->links[0].rel), "relates");
  CHECK(m->links[0].outgoing);
  CHECK_INT(m->links[0].id, 2);
  cairn_memory_free(m);
  must(db, cairn_get(db, "2", &m));
  CHECK_INT(m->link_count, 1);
  CHECK(!m->links[0].outgoing);
  CHECK_INT(m->links[0].id, 1);
  cairn_memory_free(m);
  cairn_close(&db);
}

TEST(a_duplicate_is_skipped) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Ravens are clever birds"};
  must(db, cairn_remember(db, &d, NULL));
  struct cairn_written *w = NULL;
  must(db, cairn_remember(db, &d, &w));
  CHECK_INT(w->action, CAIRN_SKIPPED);
  CHECK_INT(w->id, 1);
  cairn_written_free(w);
  cairn_close(&db);
}

TEST(a_near_match_is_a_warning) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "The staging database of the shop listens on port 5433 behind the proxy"},
                     e = {.text = "The staging database of the shop listens on port 5499 behind the proxy"};
  must(db, cairn_remember(db, &d, NULL));
  struct cairn_written *w = NULL;
  must(db, cairn_remember(db, &e, &w));
  CHECK_INT(w->action, CAIRN_STORED);
  CHECK(w->warning_count > 0);
  CHECK(w->warnings[0].code[0] != 0 && w->warnings[0].message[0] != 0);
  cairn_written_free(w);
  cairn_close(&db);
}

TEST(the_same_text_with_another_weight_is_updated) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "The harbour closes at ten in the evening"}, again = d;
  must(db, cairn_remember(db, &d, NULL));
  again.weight = 0.5;
  struct cairn_written *w = NULL;
  must(db, cairn_remember(db, &again, &w));
  CHECK_INT(w->action, CAIRN_UPDATED);
  CHECK_INT(w->id, 1);
  cairn_written_free(w);
  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "1", &m));
  CHECK_NEAR(m->weight, 0.5, 1e-9);
  cairn_memory_free(m);
  cairn_close(&db);
}

TEST(supersede_keeps_the_old_version) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "The harbour closes at ten in the evening", .key = "harbour"};
  must(db, cairn_remember(db, &d, NULL));
  struct cairn_draft better = {
      .text = "The harbour closes at nine in the evening", .reason = "new timetable", .inherit_key = true};
  struct cairn_written *w = NULL;
  must(db, cairn_supersede(db, "harbour", &better, &w));
  CHECK_INT(w->action, CAIRN_SUPERSEDED);
  CHECK_INT(w->supersedes, 1);
  CHECK_INT(w->id, 2);
  cairn_written_free(w);

  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "harbour", &m));
  CHECK_INT(m->id, 2);
  CHECK_INT(m->head, 0);
  cairn_memory_free(m);
  must(db, cairn_get(db, "1", &m));
  CHECK_STR(str_from(m->state), "superseded");
  CHECK(m->banner != NULL);
  CHECK_INT(m->head, 2);
  cairn_memory_free(m);

  /* Without a reason, and for a memory that is already superseded. */
  struct cairn_draft bare = {.text = "The harbour closes at eight in the evening"};
  w = NULL;
  CHECK(cairn_supersede(db, "harbour", &bare, &w) != CAIRN_OK);
  bare.reason = "again";
  CHECK_INT(cairn_supersede(db, "1", &bare, &w), CAIRN_CONFLICT);
  CHECK_INT(cairn_supersede(db, "99", &bare, &w), CAIRN_NOT_FOUND);
  CHECK_INT(cairn_supersede(db, NULL, &bare, &w), CAIRN_USAGE);
  CHECK(w == NULL);
  cairn_close(&db);
}

TEST(forget_can_be_undone) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Ravens are clever birds"};
  must(db, cairn_remember(db, &d, NULL));
  int64_t txn = 0;
  CHECK_INT(cairn_forget(db, "1", NULL, &txn), CAIRN_USAGE);
  CHECK_INT(cairn_forget(db, "9", "wrong", &txn), CAIRN_NOT_FOUND);
  CHECK_INT(cairn_forget(db, NULL, "wrong", &txn), CAIRN_USAGE);
  CHECK_INT(txn, 0);
  must(db, cairn_forget(db, "1", "no longer true", &txn));
  CHECK(txn > 0);
  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "1", &m));
  CHECK_STR(str_from(m->state), "forgotten");
  CHECK_STR(str_from(m->state_reason), "no longer true");
  cairn_memory_free(m);
  char args[64];
  snprintf(args, sizeof(args), "{\"txn\": %lld}", (long long)txn);
  must(db, cairn_call(db, "undo", args, 0, NULL, NULL));
  must(db, cairn_get(db, "1", &m));
  CHECK_STR(str_from(m->state), "active");
  cairn_memory_free(m);
  cairn_close(&db);
}

TEST(an_idempotency_key_gives_the_first_result) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Ravens are clever birds", .idempotency_key = "k1"};
  struct cairn_written *first = NULL, *second = NULL;
  must(db, cairn_remember(db, &d, &first));
  must(db, cairn_remember(db, &d, &second));
  CHECK_INT(second->action, CAIRN_STORED);
  CHECK_INT(second->txn, first->txn);
  CHECK_STR(str_from(second->uid), first->uid);
  cairn_written_free(first);
  cairn_written_free(second);
  cairn_close(&db);
}

TEST(more_takes_any_other_argument) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Write the release notes", .kind = "task", .more = "{\"priority\": \"high\"}"};
  must(db, cairn_remember(db, &d, NULL));
  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "1", &m));
  CHECK_STR(str_from(m->priority), "high");
  CHECK_STR(str_from(m->status), "open");
  cairn_memory_free(m);
  d.more = "{\"kind\": \"fact\"}";
  refused(db, &d, CAIRN_USAGE, "twice");
  d.more = "{\"colour\": \"red\"}";
  refused(db, &d, CAIRN_USAGE, "colour");
  d.more = "[]";
  refused(db, &d, CAIRN_USAGE, "object");
  d.more = "{";
  refused(db, &d, CAIRN_USAGE, "JSON");
  cairn_close(&db);
}

TEST(invalid_drafts_are_rejected) {
  struct cairn *db = open_store();
  const char *bad_tags[] = {"fine", "\xfe", NULL};
  refused(db, NULL, CAIRN_USAGE, "draft");
  refused(db, &(struct cairn_draft){.text = "caf\xe9 is not UTF-8"}, CAIRN_USAGE, "UTF-8");
  refused(db, &(struct cairn_draft){.text = "fine", .tags = bad_tags}, CAIRN_USAGE, "tags");
  refused(db, &(struct cairn_draft){.text = "a\0b", .text_n = 3}, CAIRN_USAGE, "NUL");
  refused(db, &(struct cairn_draft){.text = "fine", .kind = "rumour"}, CAIRN_REFUSED, "rumour");
  refused(db, &(struct cairn_draft){.text = "fine", .weight = 2}, CAIRN_REFUSED, "weight");
  refused(db, &(struct cairn_draft){.text = "fine", .ttl = "soon"}, CAIRN_REFUSED, "soon");
  refused(db, &(struct cairn_draft){.text = "The key is AKIAQ7RZLM2WXT4UVB9K for now"}, CAIRN_SECRET, "secret");
  struct cairn_memory *m = NULL;
  CHECK_INT(cairn_get(db, "1", &m), CAIRN_NOT_FOUND);
  CHECK_INT(cairn_get(db, NULL, &m), CAIRN_USAGE);
  CHECK(m == NULL);
  cairn_close(&db);
}

TEST(the_length_of_the_text_is_used) {
  struct cairn *db = open_store();
  struct cairn_draft d = {.text = "Ravens are clever birds, said nobody", .text_n = 23};
  must(db, cairn_remember(db, &d, NULL));
  struct cairn_memory *m = NULL;
  must(db, cairn_get(db, "1", &m));
  CHECK_STR(str_from(m->body), "Ravens are clever birds");
  cairn_memory_free(m);
  cairn_close(&db);
}

/* A draft of a program built before the last members existed. */
TEST(a_shorter_draft_is_enough) {
  struct cairn *db = open_store();
  struct cairn_draft full = {
      .size = offsetof(struct cairn_draft, kind), .text = "Ravens are clever birds", .kind = "not a kind"};
  void *old = malloc(full.size);
  CHECK(old != NULL);
  memcpy(old, &full, full.size);
  must(db, cairn_remember(db, old, NULL));
  free(old);
  struct {
    struct cairn_draft d;
    int64_t later;
  } future = {.d = {.size = sizeof(future), .text = "Otters sleep holding hands"}};
  must(db, cairn_remember(db, &future.d, NULL));
  future.later = 1;
  refused(db, &future.d, CAIRN_USAGE, "members");
  cairn_close(&db);
}
