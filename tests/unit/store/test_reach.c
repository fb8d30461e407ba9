/* test_reach.c: a handle bound to a reach cannot read or write outside of it. */
#include "store/reach.h"

#include "fixture.h"
#include "store/check.h"
#include "store/copy/transfer.h"
#include "store/memories/documents.h"
#include "store/memories/links.h"
#include "store/tables/agents.h"
#include "store/tables/events.h"
#include "store/tables/sessions.h"
#include "store/tables/settings.h"
#include "store/tables/vault.h"

static const struct event_query all_events = {.team = STR_INIT("default")};

struct world {
  struct fixture f;
  struct memory own, global, foreign;
};

static struct world begin(void) {
  struct world w = {.f = fixture_new()};
  struct txn txn = fixture_begin(&w.f);
  w.own = fixture_fact(&w.f, &txn, STR("alpha"), STR("own text"), NULL);
  w.global = fixture_fact(&w.f, &txn, STR(""), STR("global text"), NULL);
  w.foreign = fixture_fact(&w.f, &txn, STR("beta"), STR("foreign text"), NULL);
  struct link link = {.src = w.global.id, .rel = STR("relates"), .dst = w.foreign.id};
  CHECK_OK(link_add(&txn, &w.f.arena, &link, &w.f.err), &w.f.err);
  fixture_commit(&w.f, &txn);
  return w;
}

static void bind(struct world *w, enum role role, const char *project) {
  struct str name = str_from(project);
  struct reach reach = {.role = role, .projects = &name, .project_count = 1};
  store_bind(w->f.store, &reach);
  w->f.scope.reach = store_reach(w->f.store);
}

static bool finds(struct world *w, const struct memory *m) {
  struct memory got;
  bool by_id = false, by_uid = false;
  CHECK_OK(memory_by_id(w->f.store, m->team, m->id, &w->f.arena, &got, &by_id, &w->f.err), &w->f.err);
  CHECK_OK(memory_by_uid(w->f.store, m->team, m->uid, &w->f.arena, &got, &by_uid, &w->f.err), &w->f.err);
  CHECK(by_id == by_uid);
  return by_id;
}

static size_t listed(struct world *w, const char *project, bool all) {
  struct scope scope = w->f.scope;
  struct filter filter = {0};
  struct memories list = {0};
  int64_t count = 0;
  scope.project = str_from(project);
  scope.all_projects = all;
  CHECK_OK(memory_list(w->f.store, &scope, &filter, &w->f.arena, &list, &w->f.err), &w->f.err);
  CHECK_OK(memory_count(w->f.store, &scope, &filter, &w->f.arena, &count, &w->f.err), &w->f.err);
  CHECK_INT((int64_t)list.n, count);
  return list.n;
}

TEST(roles_have_names) {
  enum role role;
  CHECK(role_find(STR("admin"), &role) && role == ROLE_ADMIN);
  CHECK(role_find(STR("project"), &role) && role == ROLE_PROJECT);
  CHECK(role_find(STR("skill"), &role) && role == ROLE_SKILL);
  CHECK(!role_find(STR("root"), &role));
  CHECK(!role_find(STR_NONE, &role));
}

static struct reach projects(const struct str *names, size_t n) {
  return (struct reach){.role = ROLE_PROJECT, .projects = names, .project_count = n};
}

TEST(contents_of_a_reach) {
  struct str alpha = STR("alpha");
  struct reach all = {0}, none = {.role = ROLE_SKILL}, one = projects(&alpha, 1);
  CHECK(reach_can_read(&all, STR("beta")) && reach_owns(&all, STR("")));
  CHECK(!reach_can_read(&none, STR("")) && !reach_owns(&none, STR("")) && !reach_can_read(&none, STR("alpha")));
  CHECK(reach_can_read(&one, STR("alpha")) && reach_owns(&one, STR("alpha")));
  CHECK(reach_can_read(&one, STR("")) && !reach_owns(&one, STR("")));
  CHECK(!reach_can_read(&one, STR("beta")) && !reach_can_read(&one, STR("alph")) &&
        !reach_can_read(&one, STR("alphabet")));
  CHECK(!reach_can_read(&one, STR("Alpha")) && !reach_can_read(&one, STR_NONE));
}

TEST(an_invalid_project_has_no_access) {
  struct world w = begin();
  bind(&w, ROLE_PROJECT, "");
  CHECK(!finds(&w, &w.global) && !finds(&w, &w.own));
  struct reach odd = projects(NULL, 0);
  store_bind(w.f.store, &odd);
  CHECK(!finds(&w, &w.global));
  fixture_close(&w.f);
}

TEST(reads_are_limited_to_the_reach) {
  struct world w = begin();
  CHECK(finds(&w, &w.own) && finds(&w, &w.global) && finds(&w, &w.foreign));
  CHECK_INT((int64_t)listed(&w, "", true), 3);
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK(finds(&w, &w.own) && finds(&w, &w.global) && !finds(&w, &w.foreign));
  CHECK_INT((int64_t)listed(&w, "alpha", false), 2);
  CHECK_INT((int64_t)listed(&w, "", true), 2);
  CHECK_INT((int64_t)listed(&w, "beta", false), 1); /* the global one */
  bind(&w, ROLE_SKILL, NULL);
  CHECK(!finds(&w, &w.own) && !finds(&w, &w.global) && !finds(&w, &w.foreign));
  CHECK_INT((int64_t)listed(&w, "", true), 0);
  store_bind(w.f.store, NULL);
  w.f.scope.reach = store_reach(w.f.store);
  CHECK(finds(&w, &w.foreign));
  fixture_close(&w.f);
}

/* If a statement lacks the scope, the rows themselves are checked. */
TEST(rows_are_checked_after_the_statement) {
  struct world w = begin();
  struct sql q = memory_select(&w.f.arena);
  struct memories list = {0};
  sql_add(&q, "m.team = ");
  sql_text(&q, STR("default"));
  sql_add(&q, " ORDER BY m.id");
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_OK(memory_collect(w.f.store, &q, &w.f.arena, &list, &w.f.err), &w.f.err);
  CHECK_INT((int64_t)list.n, 2);
  struct memory some[3] = {{.id = w.own.id}, {.id = w.global.id}, {.id = w.foreign.id}};
  struct memory *ptr[3] = {&some[0], &some[1], &some[2]};
  bool found[3];
  CHECK_OK(memories_by_ids(w.f.store, STR("default"), &w.f.arena, ptr, 3, found, &w.f.err), &w.f.err);
  CHECK(found[0] && found[1] && !found[2]);
  fixture_close(&w.f);
}

TEST(links_show_both_ends_or_nothing) {
  struct world w = begin();
  struct links links = {0};
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_OK(links_of(w.f.store, STR("default"), w.global.id, &w.f.arena, &links, &w.f.err), &w.f.err);
  CHECK_INT((int64_t)links.n, 0);
  bind(&w, ROLE_ADMIN, NULL);
  CHECK_OK(links_of(w.f.store, STR("default"), w.global.id, &w.f.arena, &links, &w.f.err), &w.f.err);
  CHECK_INT((int64_t)links.n, 1);
  fixture_close(&w.f);
}

static enum status begin_in(struct world *w, const char *project, struct txn *ret_txn) {
  struct txn who = {
      .team = STR("default"), .project = str_from(project), .source = STR("test"), .op = "test", .now = w->f.now};
  return txn_begin(w->f.store, &who, 0, ret_txn, &w->f.err);
}

TEST(writes_are_limited_to_the_reach) {
  struct world w = begin();
  struct txn txn;
  struct chunk_rows chunks = {0};
  struct notes none = {0};
  struct purge_counts purged;
  struct error *err = &w.f.err;
  bind(&w, ROLE_SKILL, NULL);
  CHECK_INT(begin_in(&w, "alpha", &txn), STATUS_DENIED);
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_INT(begin_in(&w, "beta", &txn), STATUS_DENIED);
  CHECK_INT(begin_in(&w, "", &txn), STATUS_DENIED);
  CHECK_OK(begin_in(&w, "alpha", &txn), err);
  struct memory out = w.foreign, changed = w.foreign, everyone = w.global;
  out.id = 0;
  changed.upvotes = everyone.upvotes = 7;
  CHECK_INT(memory_insert(&txn, &w.f.arena, &out, &chunks, err), STATUS_DENIED);
  CHECK_INT(memory_change(&txn, &w.f.arena, &w.foreign, &changed, "memory:rate", err), STATUS_DENIED);
  CHECK_INT(memory_change(&txn, &w.f.arena, &w.global, &everyone, "memory:rate", err), STATUS_DENIED);
  CHECK_INT(memory_delete(&txn, &w.f.arena, &w.foreign, err), STATUS_DENIED);
  CHECK_INT(memory_purge(&txn, &w.f.arena, &w.own, &purged, err), STATUS_DENIED);
  CHECK_INT(notes_set(&txn, &w.f.arena, &w.global, &none, &none, err), STATUS_DENIED);
  struct link up = {.src = w.global.id, .rel = STR("relates"), .dst = w.own.id};
  struct link away = {.src = w.own.id, .rel = STR("relates"), .dst = w.foreign.id};
  struct link fine = {.src = w.own.id, .rel = STR("relates"), .dst = w.global.id};
  CHECK_INT(link_add(&txn, &w.f.arena, &up, err), STATUS_DENIED);
  CHECK_INT(link_add(&txn, &w.f.arena, &away, err), STATUS_NOT_FOUND);
  CHECK_OK(link_add(&txn, &w.f.arena, &fine, err), err);
  bool found = true;
  CHECK_OK(link_remove(&txn, &w.f.arena, w.global.id, STR("relates"), w.foreign.id, &found, err), err);
  CHECK(!found);
  changed = w.own;
  changed.upvotes = 1;
  CHECK_OK(memory_change(&txn, &w.f.arena, &w.own, &changed, "memory:rate", err), err);
  fixture_commit(&w.f, &txn);
  fixture_close(&w.f);
}

static enum status count_event(void *arg, const struct event *e) {
  CHECK(!str_is(e->project, "beta") && e->memory_id > 0);
  ++*(int64_t *)arg;
  return STATUS_OK;
}

TEST(everything_else_is_for_administrators) {
  struct world w = begin();
  struct vault_entry entry;
  struct vault_entries entries = {0};
  struct agents agents = {0};
  struct txn txn;
  int64_t n = 0, events = 0;
  bool found;
  struct error *err = &w.f.err;
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_INT(vault_find(w.f.store, STR("default"), STR("k"), &w.f.arena, &entry, &found, err), STATUS_DENIED);
  CHECK_INT(vault_walk(w.f.store, STR("default"), STR(""), &w.f.arena, &entries, err), STATUS_DENIED);
  CHECK_INT(count_since(w.f.store, STR("default"), 0, &n, err), STATUS_DENIED);
  CHECK_INT(agents_list(w.f.store, STR("default"), &w.f.arena, &agents, err), STATUS_DENIED);
  CHECK_INT(transfer_begin(w.f.store, err), STATUS_DENIED);
  CHECK_INT(events_newest(w.f.store, STR("default"), 10, count_event, &events, err), STATUS_DENIED);
  CHECK_OK(events_walk(w.f.store, &all_events, count_event, &events, err), err);
  CHECK_INT(events, 2); /* the two readable memories; not the link to the third */
  CHECK_OK(begin_in(&w, "alpha", &txn), err);
  struct agent agent = {.name = STR("me"), .role = ROLE_ADMIN};
  CHECK_INT(agent_insert(&txn, &w.f.arena, &agent, err), STATUS_DENIED);
  CHECK_INT(agent_delete(&txn, &w.f.arena, &agent, err), STATUS_DENIED);
  CHECK_INT(vault_put(&txn, &w.f.arena, STR("k"), STR("v"), "vault:set", err), STATUS_DENIED);
  CHECK_INT(vault_put_secret(&txn, &w.f.arena, STR("k"), STR("v"), err), STATUS_DENIED);
  CHECK_INT(vault_reseal(&txn, STR("k"), STR("v"), err), STATUS_DENIED);
  CHECK_INT(vault_key_put(&txn, &(struct vault_key){0}, err), STATUS_DENIED);
  CHECK_INT(grant_put(&txn, &(struct grant){0}, err), STATUS_DENIED);
  CHECK_INT(grant_remove(&txn, STR("k"), STR("me"), &found, err), STATUS_DENIED);
  CHECK_INT(grants_list(w.f.store, STR("default"), STR_NONE, &w.f.arena, &(struct grants){0}, err), STATUS_DENIED);
  CHECK_INT(setting_set(&txn, &w.f.arena, SET_GATE_MODE, STR("strict"), err), STATUS_DENIED);
  store_rollback(w.f.store);
  bind(&w, ROLE_SKILL, NULL);
  events = 0;
  CHECK_OK(events_walk(w.f.store, &all_events, count_event, &events, err), err);
  CHECK_INT(events, 0);
  fixture_close(&w.f);
}

/* Messages of the administrator's own transcripts are not global. */
TEST(transcripts_are_read_only_in_their_project) {
  struct world w = begin();
  struct txn txn;
  struct error *err = &w.f.err;
  static const char *const projects[] = {"", "alpha", "beta"};
  for (size_t i = 0; i < ARRAY_LEN(projects); i++) {
    struct document d = {.ref = STR("1"),
                         .type = STR("session"),
                         .headline = STR("said"),
                         .text = STR("was said"),
                         .session = STR("s"),
                         .at = w.f.now};
    struct documents list = {&d, 1, 1};
    struct document_group group = {.path = str_from(projects[i][0] ? projects[i] : "admin"), .hash = STR("h")};
    struct document_counts counts = {0};
    CHECK_OK(begin_in(&w, projects[i], &txn), err);
    CHECK_OK(documents_append(&txn, &w.f.arena, CORPUS_SESSIONS, &group, &list, &counts, err), err);
    fixture_commit(&w.f, &txn);
  }
  w.f.scope.corpora = 1U << CORPUS_SESSIONS;
  CHECK_INT((int64_t)listed(&w, "", true), 3);
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_INT((int64_t)listed(&w, "alpha", false), 1);
  CHECK_INT((int64_t)listed(&w, "", true), 1);
  struct document_groups groups = {0};
  CHECK_OK(documents_groups(w.f.store, STR("default"), STR("beta"), CORPUS_SESSIONS, &w.f.arena, &groups, err), err);
  CHECK_INT((int64_t)groups.n, 0);
  fixture_close(&w.f);
}

TEST(the_first_attempt_of_a_binding_is_kept) {
  struct world w = begin();
  struct memory m;
  CHECK(!store_refusal(w.f.store).p);
  bind(&w, ROLE_PROJECT, "alpha");
  CHECK_INT(memory_find(w.f.store, &w.f.scope, STR("99999"), &w.f.arena, &m, &w.f.err), STATUS_NOT_FOUND);
  CHECK(!store_refusal(w.f.store).p); /* it does not exist */
  struct str uid = w.foreign.uid;
  CHECK_INT(memory_find(w.f.store, &w.f.scope, uid, &w.f.arena, &m, &w.f.err), STATUS_NOT_FOUND);
  CHECK_STR(store_refusal(w.f.store), arena_cstr(&w.f.arena, arena_printf(&w.f.arena, "memory %.*s", STR_ARG(uid))));
  reach_record(w.f.store, "another", STR("one"));
  CHECK(str_starts(store_refusal(w.f.store), STR("memory ")));
  store_bind(w.f.store, NULL);
  CHECK(!store_refusal(w.f.store).p);
  fixture_close(&w.f);
}

static enum status count_any(void *arg, const struct event *e) {
  CHECK(e->memory_id > 0 && !str_is(str_from(e->change), "link"));
  ++*(int64_t *)arg;
  return STATUS_OK;
}

TEST(only_the_listed_projects_are_accessible) {
  struct world w = begin();
  struct str names[REACH_PROJECTS_MAX + 1] = {STR("alpha"), STR("beta")};
  struct reach two = projects(names, 2);
  struct txn txn;
  int64_t events = 0;
  store_bind(w.f.store, &two);
  names[0] = names[1] = STR("gone"); /* the names were copied */
  w.f.scope.reach = store_reach(w.f.store);
  CHECK(finds(&w, &w.own) && finds(&w, &w.foreign) && finds(&w, &w.global));
  CHECK_INT((int64_t)listed(&w, "", true), 3);
  CHECK_INT((int64_t)listed(&w, "alpha", false), 2);
  CHECK_OK(events_walk(w.f.store, &all_events, count_any, &events, &w.f.err), &w.f.err);
  CHECK_INT(events, 3); /* three memories; not the link */
  CHECK_OK(begin_in(&w, "beta", &txn), &w.f.err);
  store_rollback(w.f.store);
  CHECK_INT(begin_in(&w, "", &txn), STATUS_DENIED);
  CHECK_INT(begin_in(&w, "gamma", &txn), STATUS_DENIED);
  CHECK_STR(str_from(w.f.err.message), "this caller can write only in project 'alpha, beta'");

  /* An empty name, or one too many, removes all access. */
  names[0] = STR("alpha");
  names[1] = STR("");
  store_bind(w.f.store, &two);
  CHECK(!finds(&w, &w.own) && !finds(&w, &w.global));
  for (size_t i = 0; i <= REACH_PROJECTS_MAX; i++)
    names[i] = STR("alpha");
  struct reach most = projects(names, REACH_PROJECTS_MAX), many = projects(names, REACH_PROJECTS_MAX + 1);
  store_bind(w.f.store, &most);
  CHECK(finds(&w, &w.own));
  store_bind(w.f.store, &many);
  CHECK(!finds(&w, &w.own));
  fixture_close(&w.f);
}

TEST(a_read_only_reach_begins_no_transaction) {
  struct world w = begin();
  struct str alpha = STR("alpha");
  struct reach all = {.read_only = true}, one = projects(&alpha, 1);
  struct txn txn;
  one.read_only = true;
  const struct reach *const readers[] = {&all, &one};
  for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
    store_bind(w.f.store, readers[i]);
    CHECK(finds(&w, &w.own) && finds(&w, &w.global));
    CHECK(!store_can_write(w.f.store, alpha));
    CHECK(!store_refusal(w.f.store).p);
    CHECK_INT(begin_in(&w, "alpha", &txn), STATUS_DENIED);
    CHECK(store_refusal(w.f.store).p);
    struct txn who = {.team = STR("default"), .project = alpha, .source = STR("t"), .op = "t", .now = w.f.now};
    CHECK_INT(sessions_begin(w.f.store, &who, &txn, &w.f.err), STATUS_DENIED);
  }
  store_bind(w.f.store, NULL);
  CHECK(store_can_write(w.f.store, alpha));
  CHECK_OK(begin_in(&w, "alpha", &txn), &w.f.err);
  store_rollback(w.f.store);
  fixture_close(&w.f);
}

TEST(names_of_agents) {
  CHECK(agent_name_is_valid(STR("agent_skill_seo")) && agent_name_is_valid(STR("A.b-9")));
  CHECK(!agent_name_is_valid(STR("")) && !agent_name_is_valid(STR("two words")) && !agent_name_is_valid(STR("a/b")));
  char longest[AGENT_NAME_MAX + 2];
  memset(longest, 'a', sizeof(longest));
  CHECK(agent_name_is_valid((struct str){longest, AGENT_NAME_MAX}));
  CHECK(!agent_name_is_valid((struct str){longest, AGENT_NAME_MAX + 1}));
}
