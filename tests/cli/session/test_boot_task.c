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

/* Most of these texts share no word with the task that they are about. */
static const struct topic in_other_words[] = {
    {"debug why push notifications arrive twice on Android",
     {{"fact", "The mobile client registers its FCM token on every start without removing the old one"},
      {"lesson", "A device that was restored from a backup keeps two registrations and gets each alert two times"},
      {"incident", "On 3 May every customer got the sale alert twice after the messaging worker was restarted"},
      {"decision", "Alerts carry a collapse key so that a phone shows only the newest one"}}},
    {"migrate the CI pipeline from Jenkins to GitHub Actions",
     {{"decision", "Build secrets live in the organisation secret store, never in the workflow file"},
      {"fact", "The Jenkins master runs on the machine called anvil and has 41 jobs"},
      {"rule", "Every workflow pins third-party actions to a commit hash"},
      {"lesson", "Self-hosted runners filled their disk because Docker layers were not pruned"}}},
    {"add two-factor login for administrators",
     {{"rule", "Passwords and one-time codes are never written to a log"},
      {"decision", "We use TOTP and not SMS for second factors"},
      {"fact", "Admin accounts are stored in the table staff_user"},
      {"person", "Ines Okafor reviews all changes of authentication"}}},
    {"make the search page load faster",
     {{"fact", "The results page sends eleven requests before the first paint"},
      {"lesson", "Lazy loading of thumbnails cut the time to first paint by half"},
      {"decision", "Product images are served as AVIF from the CDN"},
      {"incident", "In March the query cache was disabled by accident and p95 rose to 4 s"}}},
    {"prepare the quarterly invoice run for Swiss customers",
     {{"rule", "Invoices to Switzerland carry a QR bill"},
      {"fact", "The Swiss VAT rate is 8.1 percent since January 2024"},
      {"lesson", "The billing run took nine hours because PDFs were made one after the other"},
      {"decision", "Amounts in francs are rounded to five centimes"}}},
    {"fix the memory leak in the websocket server",
     {{"fact", "The websocket server keeps one buffer of 64 KB for each connection"},
      {"lesson", "Closing a socket without removing its listener leaked 2 GB in a day"},
      {"incident", "The websocket server was killed by the OOM killer on 4 June"},
      {"decision", "Connections that are silent for ten minutes are closed"}}},
    {"set up monitoring for the Redis cluster",
     {{"fact", "The Redis cluster has six nodes in two racks"},
      {"decision", "Metrics are collected by Prometheus and shown in Grafana"},
      {"rule", "Every alert needs a runbook"},
      {"incident", "Redis ran out of memory in May because no eviction policy was set"}}},
    {"deploy the billing service to production",
     {{"rule", "Deploys to production need the approval of a second engineer"},
      {"fact", "The billing service is deployed with Helm from the repository infra-billing"},
      {"lesson", "A deploy of billing on the first of the month delayed the invoice run"},
      {"reference", "The deploy checklist is at wiki/ops/deploy"}}},
    {"write an API client in Python for partners",
     {{"fact", "Partners authenticate with an API key in the header X-Partner-Key"},
      {"decision", "Client libraries are generated from the OpenAPI document"},
      {"lesson", "Partners sent dates without a time zone, and bookings moved by a day"},
      {"person", "Tomas Lind answers questions of partners about the API"}}},
    {"delete old customer accounts for GDPR",
     {{"rule", "Customer data is deleted only after a backup was verified"},
      {"fact", "An account counts as old after three years without a login"},
      {"decision", "Deleted accounts are anonymised, not removed, because invoices refer to them"},
      {"lesson", "The deletion job locked the customer table for forty minutes"}}},
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

/* Stores the memories about the tasks, then others up to MEMORIES. In batches, because a call has a time limit. */
static void store_all(const struct topic *about, size_t n) {
  struct buf b = BUF(&memory);
  for (size_t t = 0; t < n; t++)
    for (size_t i = 0; i < ABOUT; i++)
      buf_addf(&b, "{\"keep_both\":true,\"type\":\"%s\",\"text\":\"%s\"}\n", about[t].about[i].type,
               about[t].about[i].text);
  for (size_t i = n * ABOUT; i < MEMORIES; i++) {
    size_t aspect = i / ARRAY_LEN(names) % ARRAY_LEN(aspects), name = i % ARRAY_LEN(names);
    buf_addf(&b, "{\"keep_both\":true,\"text\":\"%s%s%s%d%s\"}\n", aspects[aspect].before, names[name],
             aspects[aspect].middle, (int)(i * 37 % 700) + 11, aspects[aspect].after);
    if (i % BATCH == 0)
      store_batch(&b);
  }
  store_batch(&b);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), MEMORIES);
}

/* Boots for each task. Counts the memories about it that are listed as relevant, and the others. */
static void boot_all(const struct topic *about, size_t n, size_t least, size_t *ret_shown, size_t *ret_others) {
  *ret_shown = *ret_others = 0;
  for (size_t t = 0; t < n; t++) {
    yyjson_val *r = OK("boot", "--task", about[t].task), *relevant = jget(r, "sections[1]");
    CHECK_STR(jstr(relevant, "name"), "relevant"); /* right after the blockers */
    CHECK(jint(r, "tokens") <= jint(r, "budget"));
    size_t found = 0;
    for (size_t i = 0; i < ABOUT; i++) {
      int64_t id = (int64_t)(t * ABOUT + i + 1);
      found += jpos(relevant, "items", id) >= 0 && has(jstr(r, "text"), textf("- [%lld] ", (long long)id));
    }
    test_note("%s: %zu of %d", about[t].task, found, (int)ABOUT);
    CHECK(found >= least);
    *ret_shown += found;
    *ret_others += jlen(relevant, "items") - found;
  }
  printf("  shown %zu, others %zu\n", *ret_shown, *ret_others); /* with -v */
}

/* Of 40 memories about ten tasks, 38 were shown when this was written, with 7 others. */
TEST(boot_shows_what_the_task_is_about, .seconds = 120) {
  cli_set("CAIRN_EMBEDDER"); /* the built-in model, not the hash embedder of the tests */
  size_t shown, others;
  store_all(topics, ARRAY_LEN(topics));
  boot_all(topics, ARRAY_LEN(topics), 3, &shown, &others);
  CHECK(shown >= 36);
  CHECK(others <= 10);
}

/* Of 40, 31 were shown when this was written, with 16 others. */
TEST(boot_shows_what_the_task_is_about_in_other_words, .seconds = 120, .slow = true) {
  cli_set("CAIRN_EMBEDDER");
  size_t shown, others;
  store_all(in_other_words, ARRAY_LEN(in_other_words));
  boot_all(in_other_words, ARRAY_LEN(in_other_words), 1, &shown, &others);
  CHECK(shown >= 28);
  CHECK(others <= 20);
}

TEST(matches_of_the_task_are_no_blockers_and_all_counted) {
  for (int i = 0; i < 12; i++)
    STORE("--type", "guardrail", textf("Checkout tests of shop %d never use the payment network", i), "--keep-both");
  for (int i = 0; i < 13; i++)
    STORE(textf("The checkout test of shop %d starts its worker on port %d", i, 5400 + i), "--keep-both");
  yyjson_val *r = OK("boot", "--task", "fix the flaky checkout test", "--budget", "20000");
  CHECK_STR(jstr(r, "sections[1].name"), "relevant");
  CHECK_INT(jlen(r, "sections[1].items"), 10);
  CHECK_STR(jstr(r, "dropped[0].section"), "relevant");
  CHECK_INT(jint(r, "dropped[0].count"), 3);
  CHECK_STR(jstr(r, "dropped[0].fetch"), "cairn search 'fix the flaky checkout test' --limit 30");
}

/* Whatever agents call a blocker, a boot still shows a person's memories and those about the task. */
TEST(a_flood_of_blockers_of_agents_displaces_nothing) {
  STORE("The checkout test starts its worker on port 5433");
  STORE("--type", "decision", "Invoices are rounded to five centimes");
  for (int i = 0; i < 50; i++)
    STORE_AS_AGENT("--type", "guardrail", textf("Never repaint the wall of room %d before the inspector saw it", i),
                   "--keep-both");
  yyjson_val *r = OK("boot", "--task", "fix the flaky checkout test");
  CHECK(jint(r, "tokens") <= jint(r, "budget"));
  CHECK(has(jstr(r, "text"), "- [1] The checkout test starts"));
  CHECK(has(jstr(r, "text"), "- [2] Invoices are rounded"));
  CHECK_STR(jstr(r, "dropped[0].section"), "blockers");
  CHECK_INT(jint(r, "dropped[0].count") + (int64_t)jlen(r, "sections[0].items"), 50);
}

TEST(dropped_matches_are_found_by_the_named_search) {
  for (size_t i = 0; i < ABOUT; i++)
    STORE("--type", topics[1].about[i].type, topics[1].about[i].text);
  yyjson_val *r = OK("boot", "--task", "upgrade 'PostgreSQL' from 15 to 17", "--budget", "150");
  CHECK_STR(jstr(r, "dropped[0].section"), "relevant");
  CHECK_STR(jstr(r, "dropped[0].fetch"), "cairn search 'upgrade  PostgreSQL  from 15 to 17' --limit 30");
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
