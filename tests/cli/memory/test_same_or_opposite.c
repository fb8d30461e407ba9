/* test_same_or_opposite.c: memories that differ in one detail are not duplicates with the built-in embedder. In either
 * order, the second is stored and the first stays active. */
#include "support/cli.h"

struct opposed {
  const char *a, *b;
};

static void check_order(const char *project, const char *first, const char *second) {
  test_note("%s | %s", first, second);
  int64_t id = STORE("--project", project, first);
  yyjson_val *r = OK("remember", "--project", project, second);
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(jbool(r, "embedded"));
  CHECK(jint(r, "id") != id);
  CHECK_STR(memory_state(id), "active");
}

static void check_apart(const struct opposed *v, size_t n) {
  if (!cli_use_built_in())
    return;
  for (size_t i = 0; i < n; i++) {
    check_order(textf("there-%zu", i), v[i].a, v[i].b);
    check_order(textf("back-%zu", i), v[i].b, v[i].a);
  }
}

TEST(different_numbers_are_distinct) {
  static const struct opposed v[] = {
      {"The limit is 5", "The limit is 50"},
      {"Uploads may have at most 10 MB", "Uploads may have at most 100 MB"},
      {"The rate limit of the API is 100 requests per second", "The rate limit of the API is 100 requests per minute"},
      {"The worker retries a failed job three times", "The worker retries a failed job five times"},
      {"The service listens on port 8080", "The service listens on port 8081"},
      {"Backups are kept for thirty days", "Backups are kept for ninety days"},
      {"The build machine has 64 cores and 128 GB of memory", "The build machine has 32 cores and 128 GB of memory"},
      {"Test coverage has to stay above 80 %", "Test coverage has to stay above 90 %"},
      {"Sessions expire after 20 minutes of inactivity", "Sessions expire after 20 hours of inactivity"},
      {"A pull request needs one approval", "A pull request needs two approvals"},
      {"The timeout of the payment call is 2.5 s", "The timeout of the payment call is 25 s"},
      {"The queue held 2 million messages at its worst", "The queue held 2 thousand messages at its worst"},
  };
  check_apart(v, ARRAY_LEN(v));
}

TEST(different_versions_and_dates_are_distinct) {
  static const struct opposed v[] = {
      {"We run Postgres 14 in production", "We run Postgres 16 in production"},
      {"The client library needs Node 18.2", "The client library needs Node 20.2"},
      {"Release v2.3.1 fixed the login bug", "Release v2.3.2 fixed the login bug"},
      {"The project is built with Python 3.10", "The project is built with Python 3.12"},
      {"TLS 1.2 is the oldest version that we accept", "TLS 1.3 is the oldest version that we accept"},
      {"The launch is on 2026-03-12", "The launch is on 2026-04-12"},
      {"The certificate expires on 3 May 2026", "The certificate expires on 3 June 2026"},
      {"We deploy to production every Tuesday", "We deploy to production every Thursday"},
      {"The old API is switched off at the end of March", "The old API is switched off at the end of May"},
      {"The stand-up is at 9:30", "The stand-up is at 10:30"},
      {"The nightly backup starts at 2 am", "The nightly backup starts at 2 pm"},
      {"The audit covers the year 2024", "The audit covers the year 2025"},
  };
  check_apart(v, ARRAY_LEN(v));
}

TEST(negations_are_distinct) {
  static const struct opposed v[] = {
      {"We use npm", "We do not use npm"},
      {"We use npm for the web client", "We don't use npm for the web client"},
      {"The staging database holds personal data", "The staging database holds no personal data"},
      {"Commit the lock file", "Never commit the lock file"},
      {"The cache survives a restart", "The cache does not survive a restart"},
      {"Anna can approve releases", "Anna cannot approve releases"},
      {"The importer checks email addresses", "The importer checks no email addresses"},
      {"Always rebase before merging", "Never rebase before merging"},
      {"The user wants emojis in answers", "The user does not want emojis in answers"},
      {"The tests need a network connection", "The tests need no network connection"},
      {"The tool works with spaces in file names", "The tool doesn't work with spaces in file names"},
      {"Deploy with a review", "Deploy without a review"},
  };
  check_apart(v, ARRAY_LEN(v));
}

TEST(opposites_are_distinct, .slow = true) {
  static const struct opposed v[] = {
      {"Feature flag checkout_v2 is on", "Feature flag checkout_v2 is off"},
      {"Enable telemetry in the desktop app", "Disable telemetry in the desktop app"},
      {"Telemetry is enabled by default", "Telemetry is disabled by default"},
      {"Run the migrations before the deploy", "Run the migrations after the deploy"},
      {"Direct pushes to main are allowed", "Direct pushes to main are forbidden"},
      {"Allow guests to export reports", "Forbid guests to export reports"},
      {"The new proxy made the site faster", "The new proxy made the site slower"},
      {"Increase the pool size when the queue grows", "Decrease the pool size when the queue grows"},
      {"The endpoint is public", "The endpoint is private"},
      {"Sort the results in ascending order", "Sort the results in descending order"},
      {"The migration succeeded on the first try", "The migration failed on the first try"},
      {"Show the sidebar on small screens", "Hide the sidebar on small screens"},
      {"The first page is cached", "The last page is cached"},
      {"Latency rose after the upgrade", "Latency fell after the upgrade"},
      {"The ticket about the crash is open", "The ticket about the crash is closed"},
      {"Add a semicolon at the end of a line", "Remove a semicolon at the end of a line"},
      {"The minimum length of a password is twelve", "The maximum length of a password is twelve"},
      {"Start the worker before the scheduler", "Stop the worker before the scheduler"},
      {"Include drafts in the export", "Exclude drafts from the export"},
      {"Writes are synchronous", "Writes are asynchronous"},
      {"The field email is required", "The field email is optional"},
      {"Accept invitations from outside the company", "Reject invitations from outside the company"},
  };
  check_apart(v, ARRAY_LEN(v));
}

TEST(different_names_are_distinct) {
  static const struct opposed v[] = {
      {"Maria owns the billing service", "Tom owns the billing service"},
      {"We use npm for the web client", "We use pnpm for the web client"},
      {"The frontend is written in React", "The frontend is written in Vue"},
      {"Secrets are stored in Vault", "Secrets are stored in 1Password"},
      {"The backup is copied to Frankfurt", "The backup is copied to Dublin"},
      {"Logs are sent to Grafana", "Logs are sent to Datadog"},
      {"Use tabs for indentation", "Use spaces for indentation"},
      {"The default branch is main", "The default branch is master"},
      {"Anna reviews the changes of Ben", "Ben reviews the changes of Anna"},
      {"Answer the user in German", "Answer the user in English"},
      {"The staging server is web-01", "The staging server is web-02"},
      {"Deploys go to staging first", "Deploys go to production first"},
      {"Call the orders service over gRPC", "Call the orders service over REST"},
      {"Read the settings from config.yaml", "Read the settings from config.toml"},
      {"Metrics are pushed to team-alpha", "Metrics are pushed to team-beta"},
      {"The user prefers dark mode", "The user prefers light mode"},
  };
  check_apart(v, ARRAY_LEN(v));
}

/* In a long text, one word changes the vector least. */
TEST(one_detail_of_a_longer_text, .slow = true) {
  static const struct opposed v[] = {
      {"When the payment provider answers with a timeout, the order stays in the state pending and the worker tries "
       "again after 30 seconds, at most four times, before support is told.",
       "When the payment provider answers with a timeout, the order stays in the state pending and the worker tries "
       "again after 30 seconds, at most five times, before support is told."},
      {"The customer in Vienna wants the monthly report as a spreadsheet, sent by email to the head of sales, on the "
       "first working day of the month.",
       "The customer in Vienna wants the monthly report as a spreadsheet, sent by email to the head of finance, on the "
       "first working day of the month."},
      {"The customer in Vienna wants the monthly report as a spreadsheet, sent by email to the head of sales, on the "
       "first working day of the month.",
       "The customer in Vienna wants the monthly report as a spreadsheet, sent by email to the head of sales, on the "
       "last working day of the month."},
      {"We decided to keep the monolith for now because the team is small, and to look at it again in autumn.",
       "We decided to keep the monolith for now because the team is small, and to look at it again in spring."},
      {"The incident on the payment page was caused by a missing index on the orders table, which made the query slow "
       "under load.",
       "The incident on the payment page was caused by a missing index on the customers table, which made the query "
       "slow under load."},
      {"All new services have to be written in Go, use structured logging, and export metrics to the central "
       "dashboard.",
       "All new services have to be written in Rust, use structured logging, and export metrics to the central "
       "dashboard."},
      {"All new services have to be written in Go, use structured logging, and export metrics to the central "
       "dashboard.",
       "All new services have to be written in Go, use structured logging, and must not export metrics to the central "
       "dashboard."},
      {"Before a release is cut, the changelog is checked by the product manager and the documentation by the support "
       "team.",
       "Before a release is cut, the changelog is checked by the support team and the documentation by the product "
       "manager."},
      {"The old API will be switched off for all customers at the end of March, and the gateway will answer with "
       "status 410 afterwards.",
       "The old API will be switched off for all customers at the end of May, and the gateway will answer with status "
       "410 afterwards."},
      {"The cleanup job may delete rows that are older than a year, but it has to write them to the archive first.",
       "The cleanup job must not delete rows that are older than a year, but it has to write them to the archive "
       "first."},
      {"If the primary database is down, the application reads from the replica in Frankfurt and refuses writes.",
       "If the primary database is down, the application reads from the replica in Frankfurt and queues writes."},
      {"The user likes to be asked before files are deleted, even when they are only temporary files.",
       "The user likes to be asked before files are created, even when they are only temporary files."},
      {"Lena is the contact for questions about the warehouse system, and Tom is her deputy when she is on holiday.",
       "Tom is the contact for questions about the warehouse system, and Lena is his deputy when he is on holiday."},
      {"The mobile app keeps its data in SQLite and sends it to the server when it is online again.",
       "The mobile app keeps its data in memory and sends it to the server when it is online again."},
      {"The search service was moved from the old cluster to the new one on Monday.",
       "The search service was moved from the new cluster to the old one on Monday."},
      {"Use the blue theme for customers and the green one for internal users.",
       "Use the green theme for customers and the blue one for internal users."},
      {"A request is retried only if it is idempotent.", "A request is retried even if it is not idempotent."},
      {"Pull from the upstream repository, push to the fork.", "Push to the upstream repository, pull from the fork."},
      {"Only admins can delete projects in the shared workspace.",
       "Everyone can delete projects in the shared workspace."},
      {"The lock is taken before the file is read and released after it was written.",
       "The lock is taken after the file is read and released before it was written."},
      {"The service account has read access to the bucket with the invoices.",
       "The service account has write access to the bucket with the invoices."},
      {"Staging runs in the region eu-west-1.", "Staging runs in the region eu-central-1."},
      {"The flag --dry-run is the default of the cleanup command.",
       "The flag --force is the default of the cleanup command."},
      {"Keep the feature branch until the release is done.", "Delete the feature branch when the release is done."},
      {"Response times are measured in milliseconds.", "Response times are measured in microseconds."},
      {"The API is versioned by the URL.", "The API is versioned by a header."},
      {"Tickets without an owner go to the support team.", "Tickets with an owner go to the support team."},
      {"The nightly job is run by cron on the host.", "The nightly job is run by Kubernetes."},
      {"Set LOG_LEVEL to debug on staging.", "Set LOG_LEVEL to info on staging."},
      {"Set DATABASE_POOL=10 in the worker.", "Set DATABASE_POOL=20 in the worker."},
      {"The main branch is protected on GitHub.", "The main branch is unprotected on GitHub."},
      {"Ship the invoice by post.", "Ship the invoice by email."},
      {"Users under 18 must have the consent of a parent.", "Users over 18 must have the consent of a parent."},
      {"The config is read once at startup.", "The config is read on every request."},
      {"More than half of the tests are flaky.", "Less than half of the tests are flaky."},
      {"All customers were affected by the outage.", "Some customers were affected by the outage."},
      {"All customers were affected by the outage.", "No customers were affected by the outage."},
  };
  check_apart(v, ARRAY_LEN(v));
}

TEST(different_methods_and_orders_are_distinct, .slow = true) {
  static const struct opposed v[] = {
      {"The job is started by hand.", "The job is started automatically."},
      {"We prefer Postgres to MySQL.", "We prefer MySQL to Postgres."},
      {"Prefer composition over inheritance.", "Prefer inheritance over composition."},
      {"Merge with squash, not with rebase.", "Merge with rebase, not with squash."},
      {"The test runs on Linux but not on Windows.", "The test runs on Windows but not on Linux."},
      {"Upgrade from version 3 to version 4.", "Upgrade from version 4 to version 3."},
      {"Copy the file from staging to production.", "Copy the file from production to staging."},
      {"The user is allergic to nuts.", "The user is allergic to milk."},
      {"The user likes much detail in answers.", "The user likes little detail in answers."},
      {"Backups are kept on site.", "Backups are kept off site."},
      {"The page is cached for logged-in users.", "The page is cached for logged-out users."},
      {"The script must be run as root.", "The script must be run as the user deploy."},
      {"Write the tests first, then the code.", "Write the code first, then the tests."},
      {"Input is validated on the client.", "Input is validated on the server."},
      {"The feature is free for all customers.", "The feature is paid for all customers."},
      {"It works on my machine and fails on CI.", "It fails on my machine and works on CI."},
      {"The release is in early May.", "The release is in late May."},
      {"Reviews are done by at least one senior engineer.", "Reviews are done by at most one senior engineer."},
      {"The session cookie is valid for a day.", "The session cookie is valid for a week."},
      {"The API key is in the header.", "The API key is in the query string."},
      {"Errors are logged and ignored.", "Errors are logged and raised."},
      {"The lint step is part of the build.", "The lint step is no longer part of the build."},
      {"We still support Python 3.8.", "We no longer support Python 3.8."},
      {"The issue was fixed in the last release.", "The issue was not fixed in the last release."},
      {"The issue is fixed.", "The issue is back."},
      {"Ben will present the demo.", "Ben will skip the demo."},
      {"The server is in the same region as the database.", "The server is in another region than the database."},
      {"Tokens are case sensitive.", "Tokens are case insensitive."},
      {"The migration is reversible.", "The migration is irreversible."},
      {"The queue is FIFO.", "The queue is LIFO."},
      {"Compress the logs, then upload them.", "Upload the logs, then compress them."},
      {"The nightly job must finish before the morning report.",
       "The morning report must finish before the nightly job."},
      {"The frontend calls the backend over HTTP.", "The backend calls the frontend over HTTP."},
      {"Anna reports to Lena.", "Lena reports to Anna."},
      {"The parent waits for the child process.", "The child process waits for the parent."},
      {"Put the import above the constants.", "Put the import below the constants."},
      {"Memory usage is lower than last week.", "Memory usage is higher than last week."},
      {"The certificate is self-signed.", "The certificate is signed by a public authority."},
      {"The variable is set at build time.", "The variable is set at run time."},
      {"Deploys need approval on weekdays.", "Deploys need approval on weekends."},
      {"The default timeout is in seconds.", "The default timeout is in milliseconds."},
      {"The button is on the left side of the toolbar in the new design.",
       "The button is on the right side of the toolbar in the new design."},
      {"Use spaces, never tabs.", "Use tabs, never spaces."},
      {"The first release candidate was rejected by QA.", "The first release candidate was accepted by QA."},
      {"Payments are retried when the card is declined.", "Payments are cancelled when the card is declined."},
      {"The service is written in Java and deployed with Helm.",
       "The service is written in Kotlin and deployed with Helm."},
      {"Customers in the EU get invoices in euros.", "Customers in the UK get invoices in pounds."},
      {"If in doubt, ask the user.", "If in doubt, do not ask the user."},
      {"If in doubt, delete the branch.", "If in doubt, keep the branch."},
  };
  check_apart(v, ARRAY_LEN(v));
}

/* An embedder reads only the beginning of a text. A long text with the same beginning and another end is not the best
 * match, although its vector is. */
TEST(the_best_match_comes_first, .slow = true) {
#define OPENING                                                                                                        \
  "of the warehouse begins when the last truck has left the yard. The foreman checks the gates, the cameras and the "  \
  "cold rooms, writes the temperatures into the book, counts the pallets in the three halls, compares the numbers "    \
  "with the list of the office, and calls the guard if a number is wrong. Then the lights are switched off hall by "   \
  "hall, the forklifts are connected to their chargers, the side doors are locked with the red key, the main door "    \
  "with the blue key, and the alarm is armed with the code of the week, which the office sends to the foreman on "     \
  "Monday morning in a sealed letter that must be burned at the end of the week."
  if (!cli_use_built_in())
    return;
  const char *tail = words("tail", 60), *other = words("other", 60);
  STORE("--headline", "Closing", textf("The round 7 " OPENING " %s", other));
  int64_t update = STORE("--headline", "Closing", textf("The round 8 " OPENING " %s", tail));
  yyjson_val *r = OK("remember", "--headline", "Closing", textf("The round 7 " OPENING " %s", tail));
  yyjson_val *w = warning(r, "contradiction");
  CHECK(w);
  CHECK_INT(jlen(w, "memories"), 2);
  CHECK_INT(jint(w, "memories[0].id"), update);
  CHECK_STR(jstr(w, "memories[0].difference"), "number");
  CHECK(jnum(w, "memories[0].similarity") > jnum(w, "memories[1].similarity"));
  CHECK(has(jstr(w, "message"), textf("may contradict memory %s ", num(update))));
}

/* Conversely, paraphrases are duplicates. */
TEST(restatements_are_recognised) {
  static const struct opposed v[] = {
      {"The nightly backup failed because the disk was full.", "The nightly backup failed since the disk was full."},
      {"Anna reviews all changes to the payment code.", "All changes to the payment code are reviewed by Anna."},
      {"Never commit secrets to the repository.", "Never commit secrets into the repository."},
  };
  if (!cli_use_built_in())
    return;
  for (size_t i = 0; i < ARRAY_LEN(v); i++) {
    test_note("%s", v[i].b);
    STORE("--project", textf("p%zu", i), v[i].a);
    CHECK(!str_is(jstr(OK("remember", "--project", textf("p%zu", i), v[i].b), "action"), "stored"));
  }
}
