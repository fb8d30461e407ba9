/* test_find.c: search and the event log with C structures. */
#include "cairn.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct cairn *open_store(void) {
  struct cairn_options o = {.size = sizeof(o), .path = test_store("a.db"), .project = "zoo", .source = "test"};
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

static void remember(struct cairn *db, const char *text, const char *type, const char *tag) {
  const char *tags[] = {tag, NULL};
  struct cairn_draft d = {.size = sizeof(d), .text = text, .type = type, .tags = tag ? tags : NULL};
  must(db, cairn_remember(db, &d, NULL));
}

static struct cairn *three_memories(void) {
  struct cairn *db = open_store();
  remember(db, "Ravens are clever birds", "fact", "birds");
  remember(db, "The harbour closes at ten in the evening", "fact", "opening");
  remember(db, "Decision: ravens get a second aviary", "decision", "birds");
  return db;
}

/* The ids found by a search, as a bit mask. */
static int found(struct cairn *db, const char *query, const struct cairn_search_options *o) {
  struct cairn_results *r = NULL;
  must(db, cairn_search(db, query, o, &r));
  int set = 0;
  for (size_t i = 0; i < r->count; i++)
    set |= 1 << r->items[i].id;
  cairn_results_free(r);
  return set;
}

TEST(search_by_keyword) {
  struct cairn *db = three_memories();
  struct cairn_results *r = NULL;
  must(db, cairn_search(db, "when does the harbour close", NULL, &r));
  CHECK(r->count >= 1);
  const struct cairn_result *best = &r->items[0];
  CHECK_INT(best->id, 2);
  CHECK_INT(strlen(best->uid), 36);
  CHECK_STR(str_from(best->kind), "fact");
  CHECK_STR(str_from(best->type), "fact");
  CHECK_STR(str_from(best->project), "zoo");
  CHECK_STR(str_from(best->state), "active");
  CHECK_STR(str_from(best->trust), "agent");
  CHECK(strstr(best->text, "harbour") != NULL);
  CHECK(best->score > 0);
  CHECK(best->created_at > 1700000000000);
  CHECK_INT(best->superseded_by, 0);
  CHECK(best->key == NULL && best->severity == NULL);
  bool tagged = false;
  for (const char *const *t = best->tags; *t; t++)
    tagged |= strcmp(*t, "opening") == 0;
  CHECK(tagged);
  for (size_t i = 1; i < r->count; i++)
    CHECK(r->items[i].score <= r->items[i - 1].score);
  CHECK_STR(str_from(r->mode), "hybrid");
  CHECK_INT(r->json_n, strlen(r->json));
  cairn_results_free(r);
  cairn_close(&db);
}

TEST(search_options_filter) {
  struct cairn *db = three_memories();
  const char *birds[] = {"birds", NULL};
  struct cairn_search_options o = {.size = sizeof(o), .type = "decision"};
  CHECK_INT(found(db, "ravens", &o), 1 << 3);
  o = (struct cairn_search_options){.tags = birds};
  CHECK_INT(found(db, "harbour ravens", &o), 1 << 1 | 1 << 3);
  o = (struct cairn_search_options){.limit = 1};
  CHECK_INT(found(db, "harbour", &o), 1 << 2);
  o = (struct cairn_search_options){.project = "", .kind = "fact"};
  CHECK_INT(found(db, "ravens", &o), 0);
  o = (struct cairn_search_options){.project = "other", .all_projects = true, .kind = "fact", .limit = 1};
  CHECK_INT(found(db, "ravens", &o), 1 << 1);
  o = (struct cairn_search_options){.until = "2020-01-01"};
  CHECK_INT(found(db, "ravens", &o), 0);
  o = (struct cairn_search_options){.since = "1h", .limit = 1};
  CHECK_INT(found(db, "harbour", &o), 1 << 2);
  cairn_close(&db);
}

TEST(detail_decides_how_much_text) {
  struct cairn *db = three_memories();
  struct cairn_search_options o = {.limit = 1, .detail = "full"};
  struct cairn_results *r = NULL;
  must(db, cairn_search(db, "harbour", &o, &r));
  CHECK_STR(str_from(r->items[0].text), "The harbour closes at ten in the evening");
  cairn_results_free(r);
  o.detail = "headline";
  must(db, cairn_search(db, "harbour", &o, &r));
  CHECK(r->items[0].text == NULL);
  cairn_results_free(r);
  cairn_close(&db);
}

TEST(superseded_memories_are_optional) {
  struct cairn *db = three_memories();
  struct cairn_draft d = {.text = "The harbour closes at nine in the evening", .reason = "new timetable"};
  must(db, cairn_supersede(db, "2", &d, NULL));
  struct cairn_search_options o = {.type = "fact"};
  CHECK_INT(found(db, "harbour evening", &o) & 1 << 2, 0);
  o.include_superseded = true;
  struct cairn_results *r = NULL;
  must(db, cairn_search(db, "harbour evening", &o, &r));
  bool seen = false;
  for (size_t i = 0; i < r->count; i++)
    if (r->items[i].id == 2) {
      seen = true;
      CHECK_INT(r->items[i].superseded_by, 4);
      CHECK_STR(str_from(r->items[i].state), "superseded");
    }
  CHECK(seen);
  cairn_results_free(r);
  cairn_close(&db);
}

TEST(no_result_is_not_an_error) {
  struct cairn *db = open_store();
  struct cairn_results *r = NULL;
  must(db, cairn_search(db, "ravens", NULL, &r));
  CHECK_INT(r->count, 0);
  cairn_results_free(r);
  cairn_close(&db);
}

TEST(invalid_searches_are_rejected) {
  struct cairn *db = open_store();
  struct cairn_results *r = NULL;
  CHECK_INT(cairn_search(db, NULL, NULL, &r), CAIRN_USAGE);
  CHECK_INT(cairn_search(db, "\xff", NULL, &r), CAIRN_USAGE);
  CHECK_INT(cairn_search(db, "x", &(struct cairn_search_options){.limit = -1}, &r), CAIRN_USAGE);
  CHECK_INT(cairn_search(db, "x", &(struct cairn_search_options){.since = "soon"}, &r), CAIRN_USAGE);
  CHECK_INT(cairn_search(db, "x", &(struct cairn_search_options){.more = "{\"colour\":1}"}, &r), CAIRN_USAGE);
  CHECK(r == NULL);
  cairn_close(&db);
}

/* ---- events ---- */

struct log {
  int64_t seqs[20], ids[20], txns[20];
  char actions[20][32], ops[20][32];
  int count, stop_at;
};

static int on_event(void *arg, const struct cairn_event *e) {
  struct log *l = arg;
  CHECK(l->count < 20);
  CHECK_STR(str_from(e->source), "test");
  CHECK_STR(str_from(e->project), "zoo");
  CHECK(e->at > 1700000000000);
  CHECK(strstr(e->json, "\"seq\":") != NULL && strlen(e->json) == e->json_n);
  l->seqs[l->count] = e->seq;
  l->ids[l->count] = e->id;
  l->txns[l->count] = e->txn;
  snprintf(l->actions[l->count], 32, "%s", e->action);
  snprintf(l->ops[l->count], 32, "%s", e->op);
  return ++l->count == l->stop_at;
}

TEST(events_are_given_in_order_and_resumed) {
  struct cairn *db = open_store();
  remember(db, "Ravens are clever birds", "fact", NULL);
  remember(db, "The harbour closes at ten in the evening", "fact", NULL);
  struct log l = {0};
  int64_t last = 0;
  must(db, cairn_events(db, 0, on_event, &l, &last));
  CHECK(l.count >= 2);
  int writes = 0;
  for (int i = 0; i < l.count; i++) {
    CHECK(i == 0 || l.seqs[i] > l.seqs[i - 1]);
    if (strcmp(l.actions[i], "memory:write") == 0) {
      CHECK_INT(l.ids[i], ++writes);
      CHECK(l.txns[i] > 0);
      CHECK_STR(str_from(l.ops[i]), "remember");
    }
  }
  CHECK_INT(writes, 2);
  CHECK_INT(last, l.seqs[l.count - 1]);

  l = (struct log){0};
  int64_t again = 0;
  must(db, cairn_events(db, last, on_event, &l, &again));
  CHECK_INT(l.count, 0);
  CHECK_INT(again, last);
  must(db, cairn_forget(db, "1", "no longer true", NULL));
  must(db, cairn_events(db, last, on_event, &l, &again));
  CHECK_INT(l.count, 1);
  CHECK_INT(l.ids[0], 1);
  CHECK(again > last);
  cairn_close(&db);
}

TEST(events_can_be_stopped) {
  struct cairn *db = open_store();
  remember(db, "Ravens are clever birds", "fact", NULL);
  remember(db, "The harbour closes at ten in the evening", "fact", NULL);
  struct log l = {.stop_at = 1};
  int64_t last = -1;
  CHECK_INT(cairn_events(db, 0, on_event, &l, &last), CAIRN_INTERRUPTED);
  CHECK_INT(l.count, 1);
  CHECK_INT(last, -1);
  CHECK_INT(cairn_events(db, -5, on_event, &l, &last), CAIRN_USAGE);
  CHECK_INT(cairn_events(db, 0, NULL, NULL, &last), CAIRN_USAGE);
  cairn_close(&db);
}
