/* test_extract.c: tags, people, topics, action items, and hints at a type. */
#include "core/memory/extract.h"

#include "base/utf8.h"
#include "core/memory/types.h"
#include "core/text/text.h"
#include "support/harness.h"

static struct str join(struct arena *a, const struct strs *list) {
  struct buf out = BUF(a);
  for (size_t i = 0; i < list->n; i++) {
    if (i)
      buf_addc(&out, '|');
    buf_add(&out, list->v[i]);
  }
  return buf_str(&out);
}

static struct extracted extract(struct arena *a, const char *body) {
  struct extracted e;
  arena_init(a);
  extract_metadata(a, STR_NONE, str_from(body), &e);
  return e;
}

static void check_tags(const char *body, const char *want) {
  struct arena a;
  struct extracted e = extract(&a, body);
  CHECK_STR(join(&a, &e.tags), want);
  arena_release(&a);
}

static void check_people(const char *body, const char *want) {
  struct arena a;
  struct extracted e = extract(&a, body);
  CHECK_STR(join(&a, &e.people), want);
  arena_release(&a);
}

static void check_topics(const char *body, const char *want) {
  struct arena a;
  struct extracted e = extract(&a, body);
  CHECK_STR(join(&a, &e.topics), want);
  arena_release(&a);
}

static void check_actions(const char *body, const char *want) {
  struct arena a;
  struct extracted e = extract(&a, body);
  CHECK_STR(join(&a, &e.action_items), want);
  arena_release(&a);
}

TEST(tags_are_found_once) {
  check_tags("Fixed #billing and #Auth (see #auth, #team/infra). #v2-plan!", "billing|Auth|team/infra|v2-plan");
  check_tags("#über and #日本語 and ＃wide", "über|日本語|wide");
  check_tags("#ÜBER and #über", "ÜBER");
  check_tags("#start of the line", "start");
}

TEST(not_everything_with_a_hash_is_a_tag) {
  check_tags("Issue #123, PR #4567", "");
  check_tags("# Heading\n## Another\n### #tagged heading", "tagged");
  check_tags("Colours #fff, #A1B2C3 and #11223344", "");
  check_tags("C# and F# and a#b and &#39; and x.org/#frag", "");
  check_tags("See https://example.com/page#section and http://x.org/?q=#a", "");
  check_tags("Use `#inline` or [this](#anchor)\n```c\n#include <x.h>\n// #code\n```\n#define X 1\n#real", "real");
  check_tags("# # ## #! #- #_", "");
}

TEST(people_are_found_once) {
  check_people("Ask @alice and @Bob-Smith, then @ALICE again (@carol.jones).", "alice|Bob-Smith|carol.jones");
  check_people("@小明 负责，@dave请看", "小明|dave");
  check_people("\"@erin\" said @frank's plan works, cc:@gina", "erin|frank|gina");
}

TEST(not_everything_with_an_at_is_a_person) {
  check_people("Mail bob@example.com or git@github.com:x/y.git", "");
  check_people("npm i @types/node @babel/core foo@latest actions/checkout@v4", "");
  check_people("```python\n@app.route('/')\n@cached\ndef f(): pass\n```", "");
  check_people("@cached\ndef f():\n  pass", "");
  check_people("@app.route('/x')", "");
  check_people("@here @everyone @param x @example.com @ @1 @-", "");
  check_people("Read `@decorator` and https://x.org/@user", "");
}

TEST(topics_are_names) {
  check_topics("The Auth Service talks to PostgreSQL on AWS.", "Auth Service|PostgreSQL|AWS");
  check_topics("Yesterday Alice Smith's laptop broke. Alice was sad.", "Alice Smith");
  check_topics("We moved to Berlin. Nobody knew Berlin before.", "Berlin");
  check_topics("They use GitHub, iPhone and S3.", "GitHub|iPhone|S3");
}

TEST(capitals_do_not_make_a_topic) {
  check_topics("Deploy it. Deploy again. Deploy more.", "");
  check_topics("We went to Paris once.", "");
  check_topics("The plan is on Monday. The plan is for March. I think I know.", "");
  check_topics("DO NOT PUSH TO MAIN EVER AGAIN", "");
  check_topics("TODO: FIXME: WARNING about x", "");
  check_topics("```\nFooBar BazQux\n```\nand `HttpServer`", "");
  check_topics("just lower case words, MAX_SIZE and x.y", "");
}

TEST(there_are_at_most_ten_topics) {
  struct arena a;
  struct extracted e =
      extract(&a, "aFooBar, bFooBar, cFooBar, dFooBar, eFooBar, fFooBar, gFooBar, hFooBar, iFooBar, jFooBar, kFooBar");
  CHECK_INT(e.topics.n, 10);
  CHECK_STR(e.topics.v[9], "jFooBar");
  arena_release(&a);
}

TEST(action_items_are_requests) {
  check_actions("The build is green. We need to rotate the keys. It rained.", "We need to rotate the keys.");
  check_actions("Bob has to call. Follow up with Ann. Remember to pay.",
                "Bob has to call.|Follow up with Ann.|Remember to pay.");
  check_actions("TODO: fix the parser\nnothing here", "TODO: fix the parser nothing here");
  check_actions("- [ ] Write **docs**\n- [x] Need to ship\n- plain", "Write docs");
  check_actions("Deploys must never run on Friday.", "Deploys must never run on Friday.");
  check_actions("We should add tests, and later we should run `make test`.",
                "We should add tests, and later we should run make test.");
}

TEST(statements_are_not_action_items) {
  check_actions("It should work now. This should be fine.", "");
  check_actions("If the disk should fail, nothing happens.", "");
  check_actions("You don't need to restart. There is no need to worry. He doesn’t have to.", "");
  check_actions("Do we need to restart?", "");
  check_actions("```\n# TODO must fix\n```\nAll done.", "");
  check_actions("The mustang and the needle.", "");
}

TEST(action_items_are_cut_at_a_word) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 100; i++)
    buf_adds(&body, "long words ");
  buf_adds(&body, ", we need to check the backups");
  for (int i = 0; i < 100; i++)
    buf_adds(&body, " very often");
  struct extracted e;
  extract_metadata(&a, STR_NONE, buf_str(&body), &e);
  CHECK_INT(e.action_items.n, 1);
  CHECK(str_starts(e.action_items.v[0], STR("we need to check the backups very often")));
  CHECK(e.action_items.v[0].n <= 200 && e.action_items.v[0].n > 180);
  CHECK(str_ends(e.action_items.v[0], STR("very")) || str_ends(e.action_items.v[0], STR("often")));
  arena_release(&a);
}

TEST(lists_have_limits) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 50; i++)
    buf_addf(&body, "We need to do t%d with #tag%d and @name%d.\n\n", i, i, i);
  struct extracted e;
  extract_metadata(&a, STR_NONE, buf_str(&body), &e);
  CHECK_INT(e.action_items.n, 10);
  CHECK_INT(e.tags.n, 20);
  CHECK_INT(e.people.n, 20);
  arena_release(&a);
}

TEST(a_derived_headline_is_not_read_twice) {
  struct arena a;
  arena_init(&a);
  struct extracted e;
  extract_metadata(&a, STR("We met in Paris and need to…"), STR("We met in Paris and need to return."), &e);
  CHECK_STR(join(&a, &e.topics), "");
  CHECK_STR(join(&a, &e.action_items), "We met in Paris and need to return.");
  extract_metadata(&a, STR("Trip to Paris #travel"), STR("Hotels in Paris are full."), &e);
  CHECK_STR(join(&a, &e.topics), "Paris");
  CHECK_STR(join(&a, &e.tags), "travel");
  arena_release(&a);
}

TEST(odd_texts_give_nothing) {
  static const char *const texts[] = {"", " \r\n\t ", "...", "🎉🎉", "@", "#", "`", "```", "\x80\xff"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    struct arena a;
    struct extracted e = extract(&a, texts[i]);
    CHECK_INT(e.tags.n + e.people.n + e.topics.n + e.action_items.n, 0);
    CHECK(extract_type_hint(str_from(texts[i])) == NULL);
    arena_release(&a);
  }
}

static void check_hint(const char *text, const char *want) {
  const char *hint = extract_type_hint(str_from(text));
  CHECK_STR(str_from(hint), want);
  if (hint)
    CHECK(type_find(str_from(hint)) != NULL);
}

TEST(types_are_hinted_by_cues) {
  check_hint("We decided to keep SQLite. It is enough.", "decision");
  check_hint("Chose Redis over Memcached for the queue.", "decision");
  check_hint("Never deploy on Fridays.", "rule");
  check_hint("- **Rule** none here. Pods must never share a volume.", "rule");
  check_hint("Last time we did this the cache was cold.", "lesson");
  check_hint("See https://example.com/runbook for the steps", "reference");
  check_hint("What if we cached the embeddings?", "idea");
  check_hint("@alice prefers tabs", "person");
  check_hint("TODO: rotate the keys", "task");
  check_hint("The outage lasted two hours.", "incident");
  check_hint("Meeting with the data team about quotas", "meeting");
}

TEST(no_hint_when_unsure) {
  check_hint("Postgres 17 runs on port 5433.", "");
  check_hint("It has never worked since.", "");
  check_hint("Never worked, and nobody knows why.", "");
  check_hint("We decided to write this up after the outage.", "");
  check_hint("The deciders chose. Nothing was over.", "");
}

TEST(a_megabyte_of_anything_is_fast, .seconds = 60, .slow = true) {
  static const char *const units[] = {"#a ",  "@a\n", "` ",   "[](", "Foo ",     "must ",
                                      "www.", "A\n",  "\x80", "世",  "- [ ] a\n"};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct buf body = BUF(&a);
    while (body.n < 1 << 20)
      buf_adds(&body, units[i]);
    struct extracted e;
    extract_metadata(&a, STR("headline"), buf_str(&body), &e);
    CHECK(e.tags.n <= EXTRACT_TAGS && e.action_items.n <= EXTRACT_ACTIONS);
    arena_release(&a);
  }
}
