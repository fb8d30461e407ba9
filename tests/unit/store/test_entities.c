/* test_entities.c: entity search finds the entities of a query, and nothing for a query without entities. */
#include "fixture.h"
#include "store/search/entities.h"

static struct lexical_hits named(struct fixture *f, const char *query) {
  struct lexical_hits hits = {0};
  struct filter any = {0};
  struct chunk_query q = {.scope = &f->scope, .filter = &any, .text = str_from(query), .limit = 10};
  CHECK_OK(entity_search(f->store, &q, &f->arena, &hits, &f->err), &f->err);
  CHECK(!hits.damaged);
  return hits;
}

static struct memory add(struct fixture *f, struct txn *txn, struct memory m, const char *text) {
  struct memory fact = fixture_fact(f, txn, STR(""), STR("unused"), NULL);
  struct chunk_rows chunks = {0};
  struct memory full = fact;
  CHECK_OK(memory_delete(txn, &f->arena, &fact, &f->err), &f->err);
  full.id = 0;
  full.body = str_from(text);
  full.tags = m.tags;
  full.people = m.people;
  full.key = m.key;
  CHECK_OK(memory_insert(txn, &f->arena, &full, &chunks, &f->err), &f->err);
  return full;
}

/* Two hundred ordinary texts, so a word in two or three of them is rare. */
static struct fixture with_texts(struct txn *txn) {
  struct fixture f = fixture_new();
  *txn = fixture_begin(&f);
  for (int i = 0; i < 200; i++)
    fixture_fact(&f, txn, STR(""),
                 i % 2 ? STR("the deploy of the service went through in the morning, said Melanie")
                       : STR("the service listens on a port that the proxy knows"),
                 NULL);
  return f;
}

TEST(an_ordinary_query_has_no_entities) {
  struct txn txn;
  struct fixture f = with_texts(&txn);
  fixture_commit(&f, &txn);
  CHECK_INT(named(&f, "when did the deploy of the service go through?").n, 0);
  CHECK_INT(named(&f, "what did Melanie say").n, 0); /* she is in half of the texts */
  CHECK_INT(named(&f, "").n, 0);
  CHECK_INT(named(&f, "\"\" `` # @ 12").n, 0);
  fixture_close(&f);
}

TEST(identifiers_numbers_and_rare_words_are_found) {
  struct txn txn;
  struct fixture f = with_texts(&txn);
  struct memory name = fixture_fact(&f, &txn, STR(""), STR("the service calls parse_ttl in the morning"), NULL);
  struct memory port = fixture_fact(&f, &txn, STR(""), STR("the proxy listens on port 8443"), NULL);
  struct memory hash = fixture_fact(&f, &txn, STR(""), STR("the deploy was of 9f86d08188aa"), NULL);
  struct memory rare = fixture_fact(&f, &txn, STR(""), STR("the service knows a walrus"), NULL);
  fixture_commit(&f, &txn);
  CHECK_INT(named(&f, "where is parseTtl called?").v[0].memory_id, name.id);
  CHECK_INT(named(&f, "where is parse_ttl called?").n, 1);
  CHECK_INT(named(&f, "what listens on 8443").v[0].memory_id, port.id);
  CHECK_INT(named(&f, "the deploy of 9f86d08").v[0].memory_id, hash.id);
  CHECK_INT(named(&f, "does the service know a walrus").n, 1);
  CHECK_INT(named(&f, "does the service know a walrus").v[0].memory_id, rare.id);
  fixture_close(&f);
}

TEST(labels_keys_and_quoted_strings_are_found) {
  struct txn txn;
  struct fixture f = with_texts(&txn);
  struct memory tagged = {0}, person = {0}, keyed = {.key = STR("learn:proxy:77aa")};
  strs_push(&f.arena, &tagged.tags, STR("billing"));
  strs_push(&f.arena, &person.people, STR("alice"));
  tagged = add(&f, &txn, tagged, "the service listens in the morning");
  person = add(&f, &txn, person, "the service listens in the evening");
  keyed = add(&f, &txn, keyed, "the service went through the proxy");
  struct memory quote = fixture_fact(&f, &txn, STR(""), STR("the port knows the deploy"), NULL);
  fixture_commit(&f, &txn);
  CHECK_INT(named(&f, "all about #billing").v[0].memory_id, tagged.id);
  CHECK_INT(named(&f, "all about #Billing").v[0].memory_id, tagged.id);
  CHECK_INT(named(&f, "what does @alice want").v[0].memory_id, person.id);
  CHECK_INT(named(&f, "show learn:proxy:77aa").v[0].memory_id, keyed.id);
  CHECK_INT(named(&f, "who said \"port knows the deploy\"?").v[0].memory_id, quote.id);
  CHECK_INT(named(&f, "who said port knows the deploy?").n, 0);
  fixture_close(&f);
}

/* More matching entities rank higher; scope and filters apply. */
TEST(more_entities_rank_higher_and_scope_applies) {
  struct txn txn;
  struct fixture f = with_texts(&txn);
  fixture_fact(&f, &txn, STR(""), STR("walrus and proxy"), NULL);
  struct memory both = fixture_fact(&f, &txn, STR(""), STR("walrus and bison"), NULL);
  fixture_fact(&f, &txn, STR("other"), STR("walrus and bison of another project"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = named(&f, "the walrus or the bison");
  CHECK_INT(hits.n, 2);
  CHECK_INT(hits.v[0].memory_id, both.id);
  CHECK(hits.v[0].score > hits.v[1].score);
  struct scope scope = f.scope;
  scope.team = STR("strangers");
  struct lexical_hits none = {0};
  struct filter any = {0};
  struct chunk_query q = {.scope = &scope, .filter = &any, .text = STR("the walrus"), .limit = 10};
  CHECK_OK(entity_search(f.store, &q, &f.arena, &none, &f.err), &f.err);
  CHECK_INT(none.n, 0);
  fixture_close(&f);
}
