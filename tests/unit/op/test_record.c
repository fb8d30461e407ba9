/* test_record.c: reading and writing records of an export. */
#include "op/transfer/record.h"

#include "support/harness.h"

#define UID "0190a0a0-0000-7000-8000-00000000000a"
#define UID2 "0190a0a0-0000-7000-8000-00000000000b"
#define HEAD_FACT                                                                                                      \
  "\"uid\":\"" UID "\",\"project\":\"web\",\"kind\":\"fact\",\"type\":\"note\",\"headline\":\"A short note\","         \
  "\"delivery\":\"on_demand\",\"weight\":0.55,\"trust\":\"user\",\"state\":\"active\","
#define TIMES                                                                                                          \
  "\"valid_from\":\"2026-01-02T03:04:05.006Z\",\"created_at\":\"2026-01-02T03:04:05.006Z\","                           \
  "\"updated_at\":\"2026-01-02T03:04:05.006Z\","
#define COUNTS "\"access_count\":3,\"upvotes\":2,\"downvotes\":1,"
#define FACT "{\"memory\":{" HEAD_FACT TIMES COUNTS "\"source\":\"cli\",\"body\":\"Some text.\"}}"

static struct arena arena;

static struct record read_good(const char *line) {
  struct record r;
  struct error err = {0};
  CHECK_OK(record_read(&arena, str_from(line), &r, &err), &err);
  return r;
}

static struct str bad_read(const char *line) {
  struct record r;
  struct error *err = arena_new(&arena, struct error);
  if (record_read(&arena, str_from(line), &r, err) == STATUS_OK)
    FAIL("was read: %s", line);
  CHECK(err->fix[0]); /* every error has a fix */
  return str_from(err->message);
}

static struct str bad_check(const char *line) {
  struct record r = read_good(line);
  struct error *err = arena_new(&arena, struct error);
  if (record_check(&arena, &r, err) == STATUS_OK)
    FAIL("was accepted: %s", line);
  CHECK(err->fix[0]);
  return str_from(err->message);
}

/* A valid memory line with one part replaced. */
static const char *with(const char *old, const char *new) {
  struct str line = STR(FACT);
  size_t at = str_find(line, str_from(old), 0);
  CHECK(at != SIZE_MAX);
  return arena_cstr(&arena, arena_printf(&arena, "%.*s%s%s", (int)at, line.p, new, line.p + at + strlen(old)));
}

TEST(each_kind_of_line_round_trips_byte_for_byte) {
  static const char *const lines[] = {
      "{\"cairn\":\"export\",\"version\":1,\"schema\":1}",
      FACT,
      "{\"memory\":{" HEAD_FACT TIMES COUNTS "\"source\":\"cli\",\"session\":\"\",\"body\":\"tab\\t\\\"quoted\\\" "
      "\\u0001 日本 🙂\",\"tags\":[\"a\",\"a b\"],"
      "\"people\":[\"Ann\"],\"topics\":[\"T\"],\"action_items\":[\"do it\"],\"domains\":[\"d.org\"],"
      "\"annotations\":[{\"at\":\"2026-02-03T00:00:00.000Z\",\"by\":\"cli\",\"text\":\"n\"}]}}",
      "{\"link\":{\"src\":\"" UID "\",\"rel\":\"supersedes\",\"dst\":\"" UID2
      "\",\"at\":\"2026-01-02T03:04:05.006Z\",\"reason\":\"r\",\"prior\":{\"state\":\"active\",\"weight\":0.3}}}",
      "{\"link\":{\"src\":\"" UID "\",\"rel\":\"relates\",\"dst\":\"" UID2 "\",\"at\":\"0001-01-01T00:00:00.000Z\"}}",
      "{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"9999-12-31T23:59:59.999Z\",\"by\":\"cli\"}}",
      "{\"txn\":{\"uid\":\"" UID "\",\"at\":\"2026-01-02T03:04:05.006Z\",\"op\":\"undo\",\"source\":\"cli\","
      "\"session\":\"s\",\"undoes\":\"" UID2 "\"}}",
      "{\"event\":{\"at\":\"2026-01-02T03:04:05.006Z\",\"txn\":\"" UID "\",\"action\":\"memory:write\","
      "\"change\":\"insert\",\"op\":\"remember\",\"uid\":\"" UID2 "\",\"project\":\"\",\"source\":\"cli\","
      "\"session\":\"s\",\"before\":{},\"after\":{\"weight\":1.0,\"n\":null},\"detail\":[1,\"x\"]}}",
      ("{\"event\":{\"at\":\"2026-01-02T03:04:05.006Z\",\"action\":\"memory:read\",\"op\":\"get\",\"project\":\"\","
       "\"source\":\"cli\",\"purged\":true}}"),
  };
  for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
    test_note("line %zu", i);
    struct record r = read_good(lines[i]);
    struct error err;
    CHECK_STR(record_write(&arena, &r), lines[i]);
    CHECK_OK(record_check(&arena, &r, &err), &err);
  }
}

TEST(values_are_read_into_their_fields) {
  struct record r = read_good(FACT);
  CHECK_INT(r.kind, RECORD_MEMORY);
  CHECK_STR(r.m.uid, UID);
  CHECK_STR(r.m.project, "web");
  CHECK_STR(r.m.type, "note");
  CHECK_STR(r.m.body, "Some text.");
  CHECK_NEAR(r.m.weight, 0.55, 0);
  CHECK_INT(r.m.access_count, 3);
  CHECK_INT(r.m.upvotes, 2);
  CHECK_INT(r.m.downvotes, 1);
  CHECK_INT(r.m.created_at, INT64_C(1767323045006)); /* date -u -d 2026-01-02T03:04:05Z +%s */
  CHECK(!r.m.key.p);
}

TEST(order_and_blanks_do_not_matter) {
  struct record r = read_good(" { \"tombstone\" : { \"by\":\"x\", \"at\":\"2026-01-01\", \"uid\":\"" UID "\" } } \r");
  CHECK_STR(record_write(&arena, &r),
            "{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"2026-01-01T00:00:00.000Z\",\"by\":\"x\"}}");
}

TEST(malformed_lines_are_refused_with_the_reason) {
  static const char *const cases[][2] = {
      {"", "not valid JSON"},
      {"{\"memory\":{}", "not valid JSON"},
      {"{\"memory\":{}} x", "not valid JSON"},
      {"[]", "a line holds one of"},
      {"{}", "a line holds one of"},
      {"{\"note\":{}}", "a line holds one of"},
      {"{\"memory\":[]}", "a line holds one of"},
      {"{\"memory\":{},\"link\":{}}", "a line holds one of"},
      {"{\"memory\":{}}", "member 'uid' of 'memory' is missing"},
      {"{\"memory\":{\"colour\":1}}", "unknown member 'colour'"},
      {"{\"memory\":{\"id\":1}}", "unknown member 'id'"},
      {"{\"memory\":{\"team\":\"x\"}}", "unknown member 'team'"},
      {"{\"memory\":{\"\":\"x\"}}", "unknown member ''"},
      {"{\"memory\":{\"uid\":\"x\",\"uid\":\"x\"}}", "duplicate member"},
      {"{\"link\":{\"src\":\"" UID "\",\"src\":\"" UID "\"}}", "duplicate member"},
      {"{\"link\":{\"src\":\"" UID "\",\"rel\":\"relates\",\"dst\":\"" UID "\"}}", "member 'at' of 'link' is missing"},
      {"{\"tombstone\":{\"uid\":\"X\"}}", "member 'uid' is not a uid"},
      {"{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"soon\",\"by\":\"x\"}}", "member 'at' is not a timestamp"},
      {"{\"tombstone\":{\"uid\":\"" UID "\",\"at\":1,\"by\":\"x\"}}", "member 'at' is not a timestamp"},
      {"{\"event\":{\"purged\":1}}", "member 'purged' is not true or false"},
      {"{\"cairn\":\"import\",\"version\":1,\"schema\":1}", "not the header"},
      {"{\"cairn\":\"export\",\"schema\":1}", "not the header"},
      {"{\"cairn\":\"export\",\"version\":1,\"schema\":1,\"x\":1}", "must have exactly"},
      {"{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"2026-01-01\",\"by\":\"a\\u0000b\"}}", "NUL character"},
      {"{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"2026-01-01\",\"by\":\"\xff\"}}", "not valid JSON"},
      {"{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"2026-01-01\",\"by\":\"\\ud800\"}}", "not valid JSON"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct str message = bad_read(cases[i][0]);
    if (str_find(message, str_from(cases[i][1]), 0) == SIZE_MAX)
      FAIL("case %zu says '%.*s', not '%s'", i, STR_ARG(message), cases[i][1]);
  }
}

TEST(an_escaped_backslash_is_not_a_nul) {
  struct record r = read_good("{\"tombstone\":{\"uid\":\"" UID "\",\"at\":\"2026-01-01\",\"by\":\"a\\\\u0000\"}}");
  CHECK_STR(r.tombstone.by, "a\\u0000");
}

TEST(a_newer_version_is_a_schema_error) {
  struct record r;
  struct error err;
  CHECK_STATUS(record_read(&arena, STR("{\"cairn\":\"export\",\"version\":2,\"schema\":9,\"more\":{}}"), &r, &err),
               STATUS_SCHEMA);
  CHECK_STR(str_from(err.message), "the export has format version 2, this program reads up to version 1");
}

TEST(wrong_types_of_members_are_refused) {
  static const char *const cases[][3] = {
      {"\"weight\":0.55", "\"weight\":\"0.55\"", "member 'weight'"},
      {"\"weight\":0.55", "\"weight\":null", "member 'weight'"},
      {"\"access_count\":3", "\"access_count\":3.5", "member 'access_count'"},
      {"\"headline\":\"A short note\"", "\"headline\":7", "member 'headline'"},
      {"\"body\":\"Some text.\"", "\"body\":[]", "member 'body'"},
      {"\"body\":\"Some text.\"", "\"body\":\"x\",\"tags\":\"x\"", "member 'tags'"},
      {"\"body\":\"Some text.\"", "\"body\":\"x\",\"tags\":[\"\"]", "member 'tags'"},
      {"\"body\":\"Some text.\"", "\"body\":\"x\",\"tags\":[1]", "member 'tags'"},
      {"\"body\":\"Some text.\"", "\"body\":\"x\",\"annotations\":{}", "member 'annotations'"},
      {"\"body\":\"Some text.\"", "\"body\":\"x\",\"annotations\":[{\"at\":\"2026-01-01\",\"by\":\"x\"}]",
       "member 'annotations'"},
      {"\"body\":\"Some text.\"",
       "\"body\":\"x\",\"annotations\":[{\"at\":\"2026-01-01\",\"by\":\"x\",\"text\":\"t\",\"z\":1}]",
       "member 'annotations'"},
      {"\"source\":\"cli\",", "", "member 'source' of 'memory' is missing"},
      {"\"weight\":0.55,", "", "member 'weight' of 'memory' is missing"},
      {",\"body\":\"Some text.\"", "", "member 'body' of 'memory' is missing"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct str message = bad_read(with(cases[i][0], cases[i][1]));
    if (str_find(message, str_from(cases[i][2]), 0) == SIZE_MAX)
      FAIL("case %zu says '%.*s', not '%s'", i, STR_ARG(message), cases[i][2]);
  }
}

TEST(invalid_records_are_refused) {
  static const char *const cases[][3] = {
      {UID, "0190A0A0-0000-7000-8000-00000000000A", "is not a uid"},
      {"\"kind\":\"fact\"", "\"kind\":\"thing\"", "unknown kind 'thing'"},
      {"\"kind\":\"fact\"", "\"kind\":\"FACT\"", "is not a stored type"},
      {"\"kind\":\"fact\"", "\"kind\":\"rule\",\"severity\":\"pattern\"", "type 'note' is of kind fact"},
      {"\"type\":\"note\"", "\"type\":\"poem\"", "unknown type 'poem'"},
      {"\"type\":\"note\"", "\"type\":\"choice\"", "is not a stored type"},
      {"\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"rule\",\"type\":\"guardrail\",\"severity\":\"blocker\"",
       "is not a stored type"},
      {"\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"rule\",\"type\":\"rule\"", "a rule needs a severity"},
      {"\"type\":\"note\"", "\"type\":\"note\",\"severity\":\"blocker\"", "only a rule has a severity"},
      {"\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"rule\",\"type\":\"rule\",\"severity\":\"deprecated\"",
       "an active rule cannot be deprecated"},
      {"\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"task\",\"type\":\"task\"", "a task needs status"},
      {"\"source\"", "\"status\":\"open\",\"priority\":\"low\",\"source\"", "only a task has status"},
      {"\"source\"", "\"claimed_by\":\"x\",\"source\"", "claimed_by and claimed_at"},
      {"\"source\"", "\"root_cause\":\"x\",\"source\"", "root_cause is only for kind incident"},
      {"\"state\":\"active\"", "\"state\":\"asleep\"", "'asleep' is not a state"},
      {"\"state\":\"active\"", "\"state\":\"faded\"", "needs state_reason and state_at"},
      {"\"trust\":\"user\"", "\"trust\":\"root\"", "'root' is not a trust"},
      {"\"delivery\":\"on_demand\"", "\"delivery\":\"mail\"", "'mail' is not a delivery"},
      {"\"delivery\":\"on_demand\"", "\"delivery\":\"skill\"", "a skill needs a name"},
      {"\"weight\":0.55", "\"weight\":0.09", "weight 0.09 is outside"},
      {"\"weight\":0.55", "\"weight\":2", "weight 2 is outside"},
      {"\"weight\":0.55", "\"weight\":0", "weight 0 is outside"},
      {"\"access_count\":3", "\"access_count\":-1", "a count is negative"},
      {"\"access_count\":3", "\"access_count\":18446744073709551615", "a count is negative"},
      {"A short note", "", "headline"},
      {"A short note", "123 456", "no letter"},
      {"A short note", "two  blanks", "repeated spaces"},
      {"A short note", "line\\nbreak", "line breaks"},
      {"A short note", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 words", "at most 15"},
      {"Some text.", "", "the text is empty"},
      {"Some text.", " \\n ", "the text is empty"},
      {"\"project\":\"web\"", "\"project\":\" web\"", "a project name"},
      {"\"delivery\"", "\"key\":\"12\",\"delivery\"", "looks like an id"},
      {"\"delivery\"", "\"key\":\"\",\"delivery\"", "a key is"},
      {"\"source\"", "\"confidence\":\"huge\",\"source\"", "'huge' is not a confidence"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("case %zu", i);
    struct str message = bad_check(with(cases[i][0], cases[i][1]));
    if (str_find(message, str_from(cases[i][2]), 0) == SIZE_MAX)
      FAIL("case %zu says '%.*s', not '%s'", i, STR_ARG(message), cases[i][2]);
  }
}

static const char *long_body(size_t words) {
  struct buf b = BUF(&arena);
  for (size_t i = 0; i < words; i++)
    buf_adds(&b, i ? " word" : "word");
  return arena_cstr(&arena, buf_str(&b));
}

TEST(limits_of_the_body_depend_on_the_type) {
  struct record fact = read_good(with("Some text.", long_body(5000)));
  struct error err;
  CHECK_OK(record_check(&arena, &fact, &err), &err);
  struct record rule = read_good(
      with("\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"rule\",\"type\":\"rule\",\"severity\":\"blocker\""));
  rule.m.body = str_from(long_body(400));
  CHECK_OK(record_check(&arena, &rule, &err), &err);
  rule.m.body = str_from(long_body(401));
  CHECK_STATUS(record_check(&arena, &rule, &err), STATUS_REFUSED);
  fact.m.body = str_from(long_body(200001)); /* 1,000,004 bytes */
  CHECK_STATUS(record_check(&arena, &fact, &err), STATUS_TOO_LARGE);
}

TEST(a_superseded_rule_may_be_deprecated) {
  struct record r = read_good(
      with("\"kind\":\"fact\",\"type\":\"note\"", "\"kind\":\"rule\",\"type\":\"rule\",\"severity\":\"deprecated\""));
  struct error err;
  r.m.state = STR("superseded");
  r.m.state_reason = STR("newer");
  r.m.state_at = 1;
  CHECK_OK(record_check(&arena, &r, &err), &err);
}

TEST(bad_links_and_events_are_refused) {
  CHECK_STR(bad_check("{\"link\":{\"src\":\"" UID "\",\"rel\":\"likes\",\"dst\":\"" UID2 "\",\"at\":\"2026-01-01\"}}"),
            "'likes' is not a kind of link");
  CHECK_STR(bad_check("{\"link\":{\"src\":\"" UID "\",\"rel\":\"cites\",\"dst\":\"" UID "\",\"at\":\"2026-01-01\"}}"),
            "a memory cannot be linked to itself");
  CHECK_STR(bad_check("{\"link\":{\"src\":\"" UID "\",\"rel\":\"cites\",\"dst\":\"" UID2
                      "\",\"at\":\"2026-01-01\",\"prior\":[]}}"),
            "member 'prior' is not an object");
  CHECK_STR(bad_check("{\"link\":{\"src\":\"" UID "\",\"rel\":\"cites\",\"dst\":\"" UID2
                      "\",\"at\":\"2026-01-01\",\"prior\":{\"weight\":\"x\"}}}"),
            "member 'weight' has the wrong type or format");
  CHECK_STR(
      bad_check("{\"event\":{\"at\":\"2026-01-01\",\"action\":\"a\",\"op\":\"o\",\"project\":\"\",\"source\":\"s\","
                "\"change\":\"melt\",\"txn\":\"" UID "\"}}"),
      "'melt' is not a change");
  CHECK_STR(
      bad_check("{\"event\":{\"at\":\"2026-01-01\",\"action\":\"a\",\"op\":\"o\",\"project\":\"\",\"source\":\"s\","
                "\"change\":\"insert\"}}"),
      "an event with a change needs its transaction");
  CHECK_STR(
      bad_check("{\"event\":{\"at\":\"2026-01-01\",\"action\":\"a\",\"op\":\"o\",\"project\":\"\",\"source\":\"s\","
                "\"detail\":{},\"purged\":true}}"),
      "a purged event still holds texts");
}

#define TOKEN                                                                                                          \
  "ghp_"                                                                                                               \
  "16C7e42F292c6912E7710c838347Ae178B4a"

TEST(secrets_are_refused_or_redacted_in_every_field) {
  static const char *const places[][2] = {
      {"Some text.", "The token is " TOKEN " now."},
      {"A short note", "Token " TOKEN},
      {"\"source\"", "\"state_reason\":\"" TOKEN "\",\"source\""},
      {"\"body\"", "\"tags\":[\"x\",\"" TOKEN "\"],\"body\""},
      {"\"body\"", "\"annotations\":[{\"at\":\"2026-01-01\",\"by\":\"x\",\"text\":\"" TOKEN "\"}],\"body\""},
  };
  for (size_t i = 0; i < ARRAY_LEN(places); i++) {
    test_note("place %zu", i);
    struct record r = read_good(with(places[i][0], places[i][1]));
    struct error err;
    int64_t n = 0;
    CHECK_STATUS(record_scrub(&arena, &r, NULL, false, &n, &err), STATUS_SECRET);
    CHECK(str_find(str_from(err.message), STR(TOKEN), 0) == SIZE_MAX);
    n = 0;
    CHECK_OK(record_scrub(&arena, &r, NULL, true, &n, &err), &err);
    CHECK_INT(n, 1);
    struct str line = record_write(&arena, &r);
    CHECK(str_find(line, STR(TOKEN), 0) == SIZE_MAX);
    CHECK(str_find(line, STR("[REDACTED:"), 0) != SIZE_MAX);
  }
}

TEST(secrets_in_events_and_reasons_are_found) {
  struct record e = read_good("{\"event\":{\"at\":\"2026-01-01\",\"action\":\"a\",\"op\":\"o\",\"project\":\"\","
                              "\"source\":\"s\",\"detail\":{\"list\":[1,{\"q\":\"say\\n" TOKEN "\"}]}}}");
  struct error err;
  int64_t n = 0;
  CHECK_STATUS(record_scrub(&arena, &e, NULL, false, &n, &err), STATUS_SECRET);
  n = 0;
  CHECK_OK(record_scrub(&arena, &e, NULL, true, &n, &err), &err);
  CHECK_STR(e.event.detail, "{\"list\":[1,{\"q\":\"say\\n[REDACTED:github_token]\"}]}");
  struct record l = read_good("{\"link\":{\"src\":\"" UID "\",\"rel\":\"cites\",\"dst\":\"" UID2
                              "\",\"at\":\"2026-01-01\",\"reason\":\"" TOKEN "\"}}");
  CHECK_STATUS(record_scrub(&arena, &l, NULL, false, &n, &err), STATUS_SECRET);
}
