/* test_boot_task.c: boot with a task in a store of 500 memories: shows what the task is about. */
#include "support/cli.h"

static struct arena memory;

enum { ABOUT = 4, MEMORIES = 500, BATCH = 100 };

static const struct topic {
  const char *task;
  struct {
    const char *type, *text;
  } about[ABOUT];
} topics[] = {
    {"fix the flaky checkout test",
     {{"lesson", "The checkout test fails when two workers share port 5433"},
      {"fact", "Checkout end-to-end tests use a throwaway database that each worker seeds for itself"},
      {"decision", "The checkout suite waits for the payment webhook instead of sleeping"},
      {"rule", "A flaky test is quarantined for at most a week, then fixed or deleted"}}},
    {"upgrade PostgreSQL from 15 to 17",
     {{"fact", "Production runs PostgreSQL 15 with two streaming replicas"},
      {"lesson", "After a major PostgreSQL upgrade, run ANALYZE, or queries are slow for an hour"},
      {"decision", "Database upgrades are done by logical replication, not in place"},
      {"rule", "Install the pgvector extension before a dump is restored"}}},
    {"add dark mode to the settings page",
     {{"decision", "Colours come from CSS custom properties, so a theme is one file"},
      {"fact", "The settings page is rendered by the React component PreferencesPanel"},
      {"lesson", "Dark theme screenshots failed because the chart library ignores the theme"},
      {"fact", "Users asked for a dark theme that follows the operating system"}}},
    {"reduce the memory use of the image resizer",
     {{"fact", "The image resizer loads whole TIFF files into memory before scaling"},
      {"lesson", "libvips needs a tenth of the memory of ImageMagick for thumbnails"},
      {"decision", "Images above 40 megapixels are rejected by the resizer"},
      {"fact", "The resizer pods are killed by the out-of-memory killer about twice a week"}}},
    {"write the release notes for version 4.2",
     {{"rule", "Release notes list breaking changes first"},
      {"fact", "Version 4.2 removes the XML endpoint and adds webhooks"},
      {"decision", "Release notes are written from merged pull request titles"},
      {"lesson", "The notes of 4.1 forgot the new default timeout, and support got forty tickets"}}},
    {"rotate the TLS certificates of the gateway",
     {{"fact", "The gateway reads its TLS certificate from a Kubernetes secret named edge-tls"},
      {"lesson", "Nginx keeps serving the old certificate until it is reloaded"},
      {"decision", "Certificates are issued by the internal ACME server for 60 days"},
      {"rule", "Never copy a private key to a laptop; rotate on the bastion host"}}},
    {"onboard a new developer to the mobile app",
     {{"fact", "The mobile app needs Xcode 16 and a simulator with iOS 18"},
      {"decision", "New developers get a buddy from the mobile team for two weeks"},
      {"lesson", "The first build of the app takes an hour because pods are compiled from source"},
      {"fact", "The onboarding checklist is in the wiki under Mobile, First Week"}}},
    {"speed up the nightly data export",
     {{"fact", "The nightly export writes one CSV file per table to the bucket acme-exports"},
      {"lesson", "The export spends most of its time sorting the orders table by customer"},
      {"decision", "Exports read from the replica, never from the primary"},
      {"fact", "The nightly export starts at 02:00 and must end before 06:00"}}},
    {"translate the error messages into Spanish",
     {{"fact", "Error messages live in locales/en.json, one key per message"},
      {"decision", "Translations are reviewed by a native speaker of Spanish in the Madrid office"},
      {"lesson", "Placeholders in translated messages were lost because translators removed the braces"},
      {"rule", "A message without a translation falls back to English and is logged"}}},
    {"investigate duplicate invoices of customers in Brazil",
     {{"fact", "Invoices for Brazil are sent through the tax gateway NotaFlow"},
      {"lesson", "NotaFlow answers with a timeout although the invoice was accepted"},
      {"decision", "Every invoice request carries an idempotency key since March"},
      {"fact", "Customers in Brazil receive their invoices by e-mail and as XML"}}},
};

static const char *const names[] = {
    "orchard", "harbor", "glacier", "meadow",  "canyon",    "lagoon", "prairie", "summit", "valley", "delta",
    "island",  "reef",   "tundra",  "savanna", "fjord",     "marsh",  "plateau", "dune",   "cliff",  "grove",
    "spring",  "forest", "desert",  "bay",     "peninsula", "cove",   "ridge",   "hollow", "basin",  "steppe",
    "crater",  "geyser", "isthmus", "atoll",   "moor",      "heath",  "bluff",   "gorge",  "ravine", "strait"};
static const struct {
  const char *before, *middle, *after;
} aspects[] = {{"The ", " service listens on port ", ""},  {"Grafana shows the ", " queue length on panel ", ""},
               {"The ", " team meets in room ", ""},       {"Backups of ", " are kept for ", " days"},
               {"The ", " cache holds ", " entries"},      {"Log lines of ", " are sampled one in ", ""},
               {"The ", " cluster has ", " nodes"},        {"Requests to ", " are limited to ", " per second"},
               {"The ", " mailing list has ", " members"}, {"The lease of the ", " office ends in ", " months"},
               {"The ", " pipeline has ", " stages"},      {"Alerts of ", " go to rotation number ", ""}};

static void store_batch(struct buf *b) {
  CHECK_INT(CAIRN_FED(buf_str(b), "remember", "--batch", "-", "--json").exit_code, 0);
  *b = BUF(&memory);
}

/* Stores the memories about the topics, and fills up with others. In batches, because a call has a time limit. */
static void store_all(void) {
  struct buf b = BUF(&memory);
  for (size_t t = 0; t < ARRAY_LEN(topics); t++)
    for (size_t i = 0; i < ABOUT; i++)
      buf_addf(&b, "{\"keep_both\":true,\"type\":\"%s\",\"text\":\"%s\"}\n", topics[t].about[i].type,
               topics[t].about[i].text);
  for (size_t i = ARRAY_LEN(topics) * ABOUT; i < MEMORIES; i++) {
    size_t aspect = i / ARRAY_LEN(names) % ARRAY_LEN(aspects), name = i % ARRAY_LEN(names);
    buf_addf(&b, "{\"keep_both\":true,\"text\":\"%s%s%s%d%s\"}\n", aspects[aspect].before, names[name],
             aspects[aspect].middle, (int)(i * 37 % 700) + 11, aspects[aspect].after);
    if (i % BATCH == 0)
      store_batch(&b);
  }
  store_batch(&b);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), MEMORIES);
}

/* Of 40 memories about ten tasks, 37 were shown when this was written, with 4 others. */
TEST(boot_shows_what_the_task_is_about, .seconds = 120) {
  cli_set("CAIRN_EMBEDDER"); /* the built-in model, not the hash embedder of the tests */
  store_all();
  size_t shown = 0, others = 0;
  for (size_t t = 0; t < ARRAY_LEN(topics); t++) {
    yyjson_val *r = OK("boot", "--task", topics[t].task), *relevant = jget(r, "sections[1]");
    CHECK_STR(jstr(relevant, "name"), "relevant"); /* right after the blockers */
    CHECK(jint(r, "tokens") <= jint(r, "budget"));
    size_t found = 0;
    for (size_t i = 0; i < ABOUT; i++) {
      int64_t id = (int64_t)(t * ABOUT + i + 1);
      found += jpos(relevant, "items", id) >= 0 && has(jstr(r, "text"), textf("- [%lld] ", (long long)id));
    }
    test_note("%s: %zu of %d", topics[t].task, found, (int)ABOUT);
    CHECK(found >= 3);
    shown += found;
    others += jlen(relevant, "items") - found;
  }
  test_note("shown %zu, others %zu", shown, others);
  CHECK(shown >= 36);
  CHECK(others <= 10);
}

TEST(dropped_matches_are_found_by_the_named_search) {
  for (size_t i = 0; i < ABOUT; i++)
    STORE("--type", topics[1].about[i].type, topics[1].about[i].text);
  yyjson_val *r = OK("boot", "--task", "upgrade 'PostgreSQL' from 15 to 17", "--budget", "150");
  CHECK_STR(jstr(r, "dropped[0].section"), "relevant");
  CHECK_STR(jstr(r, "dropped[0].fetch"), "cairn search 'upgrade  PostgreSQL  from 15 to 17'");
}

TEST(faded_matches_of_the_task_are_counted) {
  STORE_AS_AGENT("The settings page has no dark mode yet");
  STORE_AS_AGENT("A switch for dark mode was asked for by users of the settings page");
  STORE_AS_AGENT("The lease of the meadow office ends in 41 months");
  cli_day(25);
  CHECK_INT(jint(OK("maintain"), "faded"), 3);
  yyjson_val *r = OK("boot", "--task", topics[2].task);
  CHECK_STR(jstr(r, "dropped[0].section"), "relevant");
  CHECK_INT(jint(r, "dropped[0].count"), 2);
  CHECK_STR(jstr(r, "dropped[0].state"), "faded");
  CHECK(has(jstr(r, "text"), "- 2 faded: cairn list --state faded"));
  CHECK_INT(jlen(OK("boot", "--task", "bake bread"), "dropped"), 0);
}
