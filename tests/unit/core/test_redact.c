/* test_redact.c: secret scanner: findings, redaction, previews. */
#include "core/secrets/redact.h"

#include "base/utf8.h"
#include "support/harness.h"
#include "support/keys.h"

static struct secret_hits find(struct arena *a, struct str text) {
  struct secret_hits hits;
  redact_find(a, text, NULL, &hits);
  return hits;
}

static struct str concat3(struct arena *a, const char *before, struct str middle, const char *after) {
  return arena_printf(a, "%s%.*s%s", before, STR_ARG(middle), after);
}

/* A secret, the text around it, and the expected pattern. */
struct positive {
  const char *pattern, *before, *secret, *after;
};

static const struct positive vendor_keys[] = {
    {"anthropic_key", "key ", "sk-ant-api03-<u93>AA", "."},
    {"anthropic_key", "", "sk-ant-admin01-<u93>AA", ""},
    {"openai_key", "OPENAI_API_KEY=", "sk-<a48>", "\n"},
    {"openai_key", "use `", "sk-proj-<u120>", "`"},
    {"openai_key", "(", "sk-svcacct-<u80>", ")"},
    {"openrouter_key", "", "sk-or-v1-<h64>", " "},
    {"aws_access_key_id", "id: ", "AKIA<216>", ","},
    {"aws_access_key_id", "\"", "ASIA<214>23", "\""},
    {"aws_bedrock_key", "", "ABSK<b120>", "\n"},
    {"github_token", "export GH_TOKEN=", "ghp_<a36>", ""},
    {"github_token", "https://x-access-token:", "ghs_<a36>", "@github.com"},
    {"github_token", "", "gho_<a36>", ""},
    {"github_token", "see ", "github_pat_<a22>_<a59>", " there"},
    {"gitlab_token", "", "glpat-<u20>", ""},
    {"gitlab_token", "runner ", "glrt-<u20>", " "},
    {"slack_token", "", "xoxb-<d12>-<d12>-<a24>", ""},
    {"slack_token", "", "xoxp-<d12>-<d12>-<d12>-<h32>", ""},
    {"slack_token", "", "xapp-1-A<U10>-<d13>-<h64>", ""},
    {"slack_webhook", "https://hooks.slack.com/services/", "T<U8>/B<U8>/<a24>", " "},
    {"discord_webhook", "https://discord.com/api/webhooks/", "<d18>/<u68>", ""},
    {"discord_token", "",
     "MTIzNDU2Nzg5MDEy"
     "MzQ1Njc4.<u6>.<u38>",
     ""},
    {"google_api_key", "?key=", "AIza<u35>", "&v=3"},
    {"google_oauth_secret", "", "GOCSPX-<u28>", ""},
    {"google_oauth_token", "", "ya29.<u60>", ""},
    {"stripe_key", "", "sk_live_<a24>", ""},
    {"stripe_key", "", "rk_test_<a24>", ""},
    {"webhook_secret", "", "whsec_<a32>", ""},
    {"npm_token", "//npm.internal/:_authToken=", "npm_<a36>", "\n"},
    {"pypi_token", "", "pypi-AgEIcHlwaS5vcmc<u120>", ""},
    {"rubygems_key", "", "rubygems_<h48>", ""},
    {"huggingface_token", "", "hf_<a34>", ""},
    {"replicate_token", "", "r8_<a37>", ""},
    {"groq_key", "", "gsk_<a52>", ""},
    {"perplexity_key", "", "pplx-<a48>", ""},
    {"xai_key", "", "xai-<a80>", ""},
    {"nvidia_key", "", "nvapi-<u64>", ""},
    {"langsmith_key", "", "lsv2_pt_<h32>_<h10>", ""},
    {"sendgrid_key", "", "SG.<u22>.<u43>", ""},
    {"brevo_key", "", "xkeysib-<h64>-<a16>", ""},
    {"mailgun_key", "api:", "key-<h32>", "@api.mailgun.net"},
    {"mailchimp_key", "", "<h32>-us12", ""},
    {"twilio_key", "", "SK<h32>", ""},
    {"digitalocean_token", "", "dop_v1_<h64>", ""},
    {"azure_account_key", "AccountName=x;AccountKey=", "<b86>==", ";EndpointSuffix=core.windows.net"},
    {"azure_client_secret", "", "<a3>8Q~<a34>", ""},
    {"cloudflare_origin_key", "", "v1.0-<h24>-<h146>", ""},
    {"heroku_key", "", "HRKU-AA<u58>", ""},
    {"netlify_token", "", "nfp_<a36>", ""},
    {"supabase_key", "", "sbp_<h40>", ""},
    {"planetscale_key", "", "pscale_tkn_<u43>", ""},
    {"tailscale_key", "", "tskey-auth-<a12>-<a32>", ""},
    {"docker_token", "", "dckr_pat_<u27>", ""},
    {"vault_token", "", "hvs.<u95>", ""},
    {"terraform_token", "", "<a14>.atlasv1.<u67>", ""},
    {"doppler_token", "", "dp.pt.<a43>", ""},
    {"age_secret_key", "", "AGE-SECRET-KEY-1<U58>", ""},
    {"shopify_token", "", "shpat_<h32>", ""},
    {"square_token", "", "sq0atp-<u22>", ""},
    {"square_token", "", "EAAA<u60>", ""},
    {"linear_key", "", "lin_api_<a40>", ""},
    {"notion_token", "", "ntn_<d11><a35>", ""},
    {"notion_token", "", "secret_<a43>", ""},
    {"airtable_token", "", "pat<a14>.<h64>", ""},
    {"figma_token", "", "figd_<u43>", ""},
    {"atlassian_token", "", "ATATT3<u186>", ""},
    {"postman_key", "", "PMAK-<h24>-<h34>", ""},
    {"databricks_token", "", "dapi<h32>", ""},
    {"grafana_token", "", "glsa_<a32>_<h8>", ""},
    {"newrelic_key", "", "NRAK-<U27>", ""},
    {"sentry_token", "", "sntryu_<h64>", ""},
    {"dynatrace_token", "", "dt0c01.<U24>.<U64>", ""},
    {"pulumi_token", "", "pul-<h40>", ""},
    {"telegram_token", "https://api.telegram.org/bot", "<d10>:AA<u33>", "/getMe"},
    {"jwt", "", "eyJ<u33>.eyJ<u80>.<u43>", ""},
};

static const struct positive placed_secrets[] = {
    {"aws_secret_key", "AWS_SECRET_ACCESS_KEY=", "<b40>", "\n"},
    {"aws_secret_key", "aws_secret_access_key = ", "<b40>", ""},
    {"aws_secret_key", "\"SecretAccessKey\": \"", "<b40>", "\","},
    {"gcp_service_account", "\"private_key_id\": \"", "<h40>", "\","},
    {"bearer_token", "curl -H 'X: Bearer ", "<u40>", "'"},
    {"authorization_header", "Authorization: Basic ", "<b24>", "\n"},
    {"authorization_header", "Authorization: ", "<u40>", "\n"},
    {"authorization_header", "\"Authorization\": \"Token ", "<h40>", "\""},
    {"db_url_password", "postgres://cairn:", "<a12>", "@db.internal:5432/cairn"},
    {"db_url_password", "mongodb+srv://admin:", "correct-horse-battery", "@cluster0.mongodb.net"},
    {"db_url_password", "redis://:", "<a32>", "@10.0.0.5:6379/0"},
    {"url_password", "https://deploy:", "<p20>k", "@git.example.org/x.git"},
    {"secret_assignment", "DB_PASSWORD=", "hunter2222", "\n"},
    {"secret_assignment", "DB_PASSWORD=", "correct-horse-battery", "\n"},
    {"secret_assignment", "export API_TOKEN=\"", "<u32>", "\""},
    {"secret_assignment", "api_key = \"", "<a32>", "\""},
    {"secret_assignment", "apiKey: '", "<h40>", "',"},
    {"secret_assignment", "\"client_secret\":\"", "<u40>", "\"}"},
    {"secret_assignment", "{\\\"password\\\": \\\"", "Tr0ub4dor&3", "\\\"}"},
    {"secret_assignment", "PASSWORD: ", "Tr0ub4dor&3", "\nnext"},
    {"secret_assignment", "mysql --password ", "<p14>k", " -h db"},
    {"secret_assignment", "[\"--password\", \"", "hunter2222", "\"]"},
    {"secret_assignment", "run --api-token=", "<a24>", " --fast"},
    {"secret_assignment", "curl -u admin:", "Tr0ub4dor&3x", " https://x"},
    {"secret_assignment", "The wifi password is ", "Tr0ub4dor&3", "."},
    {"secret_assignment", "Password for the staging database: ", "Tr0ub4dor&3", "\n"},
    {"secret_assignment", "**Password:** `", "Tr0ub4dor&3", "`"},
    {"secret_assignment", "NAS credentials rita / ", "Fjord-Kelp-88", ", ask Rita"},
    {"secret_assignment", "Creds: rita / ", "FjordKelp88", ""},
    {"secret_assignment", "<password>", "<a20>", "</password>"},
    {"secret_assignment", "client.set_token(\"", "<a24>", "\")"},
    {"secret_assignment", "password: str = \"", "Tr0ub4dor&3", "\""},
    {"secret_assignment", "?access_token=", "<a30>", "&state=1"},
    {"secret_assignment", "HEROKU_API_KEY=", "<h8>-<h4>-<h4>-<h4>-<h12>", "\n"},
    {"secret_assignment", "line\\nSECRET_KEY=", "<a40>", "\\nDEBUG=1"},
    {"secret_assignment", "密码：", "Tr0ub4dor&3", "。"},
    {"secret_assignment", "Kata sandi: ", "Tr0ub4dor&3", "\n"},
    {"secret_assignment", "Wifi şifresi: ", "Tr0ub4dor&3", "\n"},
    {"secret_assignment", "Mật khẩu: ", "Tr0ub4dor&3", "\n"},
    {"hex_secret", "the encryption key ", "<h64>", " was"},
    {"hex_secret", "the key is ", "<h32>", ""},
};

/* Checks that the text has exactly this secret with this pattern, and that the redacted text has none. */
static void check_positive(struct arena *a, const struct positive *p, uint32_t seed) {
  struct str secret = key_make(a, p->secret, seed);
  struct str text = concat3(a, p->before, secret, p->after);
  struct secret_hits hits = find(a, text);
  if (hits.n != 1 || hits.v[0].start != strlen(p->before) || hits.v[0].len != secret.n ||
      strcmp(hits.v[0].pattern, p->pattern) != 0)
    test_fail(__FILE__, __LINE__, "%s: %zu hits, first %s, in: %.*s", p->pattern, hits.n,
              hits.n ? hits.v[0].pattern : "none", STR_ARG(text));
  struct str clean = redact_apply(a, text, &hits);
  CHECK_STR(clean, arena_cstr(a, arena_printf(a, "%s[REDACTED:%s]%s", p->before, p->pattern, p->after)));
  CHECK_INT(find(a, clean).n, 0);
}

static void check_positives(const struct positive *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (uint32_t seed = 1; seed <= 12; seed++) {
      struct arena a;
      arena_init(&a);
      check_positive(&a, &v[i], seed);
      arena_release(&a);
    }
}

TEST(vendor_keys_are_found) { check_positives(vendor_keys, ARRAY_LEN(vendor_keys)); }

TEST(secrets_are_found_by_context) { check_positives(placed_secrets, ARRAY_LEN(placed_secrets)); }

TEST(a_vendor_key_is_found_in_any_context) {
  static const char *const around[][2] = {
      {"", ""},           {"\"", "\""},         {"`", "`"},
      {"(", ")"},         {"=", "\n"},          {"é", "é"},
      {"text\\n", "\\n"}, {"%3D", "%26"},       {"\\u0022", "\\u0022"},
      {"\t", "\t"},       {"https://h/", "/x"}, {"、", "。"},
      {"my_", " "},       {"[", "]"},           {"{'k':'", "'}"},
      {"//", "//"},
  };
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(around); i++)
    check_positive(&a, &(struct positive){"github_token", around[i][0], "ghp_<a36>", around[i][1]}, 7);
  arena_release(&a);
}

/* The byte \001 is removed before use: it hides fake keys from other scanners. */
static const char *const harmless[] = {
    /* Prose about secrets. */
    "token budget: 4000 tokens for the boot payload",
    "the password reset flow sends a mail",
    "the api key is stored in the vault",
    "Bearer token authentication is required",
    "Authorization: Bearer <token>",
    "authorization: required for every endpoint",
    "The password is required and must be at least 12 characters long",
    "Password: argon2id, 64 MiB, 3 iterations",
    "token: the JWT that the login endpoint returned",
    "secret = \"correct\"",
    "secret: \"the thing we never said aloud\"",
    "client_secret is read from the environment",
    "Rotate the access token every 90 days; the refresh token: never",
    "API key: see the team vault, entry openai-production",
    "password policy: minimum-length-of-fourteen-characters",
    "credentials user / password are asked for once",
    "The credentials of Build-Server-7 / Build-Server-8 expire in May",
    "login works on Chrome-Canary-88 / Firefox-Nightly-90",
    "max_tokens: 16384, stop_token: <|endoftext|>, eos_token=\"</s>\"",
    "next_page_token: CAUQAA12xyZZ98abQ",
    /* References and placeholders. */
    "API_KEY=$API_KEY",
    "password: ${DB_PASSWORD}",
    "password: {{ vault_db_password }}",
    "token=<your-token>",
    "token: xxxxxxxxxxxxxxxx",
    "api_key = \"your-api-key-goes-here\"",
    "PASSWORD=changeme",
    "DB_PASSWORD=********",
    "SECRET_KEY=%SECRET_KEY%",
    "token = os.environ[\"API_TOKEN\"]",
    "token = process.env.GITHUB_TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password = getpass(\"Password: \")",
    "api_key = settings.providers.openai.api_key",
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC9dF",
    "password: op://vault/item/password",
    "OPENAI_API_KEY=sk-...",
    "the key starts with sk-ant-api03-... and is 108 characters long",
    "AWS documents AKIA\001IOSFODNN7EXAMPLE with the secret wJalrXUtnFEMI/K7MDENG/bPxRfiCY\001EXAMPLEKEY",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY\001EXAMPLEKEY",
    "gh\001p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xo\001xb-your-token-here",
    "postgres://user:password@localhost:5432/db",
    "postgres://postgres:postgres@localhost/db",
    "postgres://${DB_USER}:${DB_PASSWORD}@db/x",
    "https://<user>:<password>@host/",
    "password: [REDACTED:secret_assignment]",
    /* Random but public values. */
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt",
    "integrity sha512-9Tn5xGzyLfw3B4uHCRMVpHcmLPVdFJSEOBqRFL7g3JiWmTBFNTDp7dOQ1Z2xkSLuJGsZT+0oD0K5H8xwY1yQ2A==",
    "![dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9)",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqfZQ5Yt0mKq2c2sTz1e4yX9vR7hN6wQ3bL8dPfGk2M user@host",
    "public_key = \"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE\"",
    "GPG key 4AEE18F83AFDEB23B5690ED4C2FBE1B2F6A2F7B1",
    "the cache key d41d8cd98f00b204e9800998ecf8427e was evicted",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUJq2Zr8a0m3kq\n-----END CERTIFICATE-----",
    "a block starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    /* Prefixes inside ordinary words. */
    "task-oriented-conversational-interfaces-for-everyone-everywhere",
    "sk-learn-style-estimators-with-a-longer-name",
    "ask-the-maintainers-before-changing-this-module-or-its-tests",
    "the ASIAPACIFICREGIONSALES table",
    "npm_config_registry and hf_hub_download and key-value-store",
    "SKETCHES and AIzawa and eyJust.something.else",
    "https://github.com/org/repo/blob/main/src/token.c#L10-L20",
    "private_key: ed25519 (see keys.h), password: bcrypt$12",
    "PASS: shtest-format-argv0, 3 of 14",
    "private_key: x25519.X25519PrivateKey",
    "If (CurrentToken=tsqlBraceOpen) then Token := TSQLTokenKind;",
    "Culture=neutral, PublicKeyToken=b77a5c561934e089",
    "sasl-password=projects/123/secrets/my-secret/versions/1",
    "should_pass(\"WinDLL('./_sqlite3.dll')\")",
    "{radio:!0,checkbox:!0,file:!0,password:!0,image:!0}",
    "my $pass = $self->is_passing(); $PASSWORD = $Config->{password};",
    "/etc/pam.d/chpasswd 9900720564cb4ee98b7da29e2d183cb2",
    "s = s + ' password=''' + settings.Password2 + ''' host=';",
    "client_secret: CLOUDSDK_AUTH_CLIENT_SECRET",
    "if (token == expected_token_value) return access_token_is_valid;",
    "const token: AccessTokenV2Response = await getToken(clientId42);",
};

TEST(ordinary_text_is_not_redacted) {
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
    struct buf plain = BUF(&a);
    for (const char *p = harmless[i]; *p; p++)
      if (*p != 1)
        buf_addc(&plain, *p);
    struct str text = buf_str(&plain);
    struct secret_hits hits = find(&a, text);
    if (hits.n)
      test_fail(__FILE__, __LINE__, "%s in: %s", hits.v[0].pattern, harmless[i]);
    CHECK(redact_apply(&a, text, &hits).p == text.p);
  }
  arena_release(&a);
}

TEST(empty_text_has_no_secrets) {
  struct arena a;
  arena_init(&a);
  CHECK_INT(find(&a, STR_NONE).n, 0);
  CHECK_INT(find(&a, STR("a")).n, 0);
  CHECK_INT(find(&a, STR("=")).n, 0);
  struct secret_hits none = {0};
  CHECK_STR(redact_apply(&a, STR("x"), &none), "x");
  arena_release(&a);
}

/* ---- Private keys ---- */

static struct str pem(struct arena *a, const char *label, int lines, const char *newline, bool closed) {
  struct buf out = BUF(a);
  buf_addf(&out, "-----BEGIN %s-----%s", label, newline);
  for (int i = 0; i < lines; i++) {
    buf_add(&out, key_make(a, i + 1 < lines ? "<b64>" : "<b30>=", (uint32_t)i + 3));
    if (i + 1 < lines || closed)
      buf_adds(&out, newline);
  }
  if (closed)
    buf_addf(&out, "-----END %s-----", label);
  return buf_str(&out);
}

static void check_block(struct arena *a, const char *before, struct str block, const char *after, const char *pattern) {
  struct str text = concat3(a, before, block, after);
  struct secret_hits hits = find(a, text);
  CHECK_INT(hits.n, 1);
  CHECK_STR(redact_apply(a, text, &hits), arena_cstr(a, arena_printf(a, "%s[REDACTED:%s]%s", before, pattern, after)));
}

TEST(a_private_key_block_is_redacted_as_a_whole) {
  static const char *const labels[] = {"PRIVATE KEY",          "RSA PRIVATE KEY",     "EC PRIVATE KEY",
                                       "DSA PRIVATE KEY",      "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK",
                                       "ENCRYPTED PRIVATE KEY"};
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
    check_block(&a, "key:\n", pem(&a, labels[i], 6, "\n", true), "\nThat was the key.", "private_key");
    check_block(&a, "", pem(&a, labels[i], 6, "\r\n", true), "", "private_key");
    check_block(&a, "key: \"", pem(&a, labels[i], 6, "\\n", true), "\"", "private_key");
    check_block(&a, "x ", pem(&a, labels[i], 6, "\n    ", true), " y", "private_key");
  }
  arena_release(&a);
}

TEST(a_truncated_private_key_is_redacted) {
  struct arena a;
  arena_init(&a);
  check_block(&a, "key:\n", pem(&a, "RSA PRIVATE KEY", 3, "\n", false), "", "private_key");
  check_block(&a, "key:\n", pem(&a, "RSA PRIVATE KEY", 3, "\n", false), "\n\nThen it was rotated, they say.",
              "private_key");
  check_block(&a, "\"", pem(&a, "PRIVATE KEY", 4, "\\n", false), "\"", "private_key");
  arena_release(&a);
}

TEST(a_service_account_key_has_its_own_pattern) {
  struct arena a;
  arena_init(&a);
  struct str key = concat3(&a, "", pem(&a, "PRIVATE KEY", 5, "\\n", true), "\\n");
  check_block(&a, "{\"type\": \"service_account\", \"private_key\": \"", key, "\", \"client_email\": \"x@y.example\"}",
              "gcp_service_account");
  arena_release(&a);
}

TEST(the_private_part_of_a_putty_key_is_found) {
  struct arena a;
  arena_init(&a);
  check_block(&a, "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n", key_make(&a, "<b47>=", 5),
              "\nPrivate-MAC: 00", "private_key");
  arena_release(&a);
}

TEST(two_blocks_are_two_hits) {
  struct arena a;
  arena_init(&a);
  struct str one = pem(&a, "PRIVATE KEY", 3, "\n", true);
  struct str text = arena_printf(&a, "%.*s\nand\n%.*s", STR_ARG(one), STR_ARG(one));
  struct secret_hits hits = find(&a, text);
  CHECK_INT(hits.n, 2);
  CHECK_STR(redact_apply(&a, text, &hits), "[REDACTED:private_key]\nand\n[REDACTED:private_key]");
  arena_release(&a);
}

/* ---- Overlap, order, numbers ---- */

TEST(the_more_certain_pattern_names_the_union) {
  struct arena a;
  arena_init(&a);
  struct str github = key_make(&a, "ghp_<a36>", 1), jwt = key_make(&a, "eyJ<u33>.eyJ<u60>.<u43>", 2);
  struct {
    struct str text;
    const char *clean;
  } cases[] = {
      {arena_printf(&a, "GITHUB_TOKEN=%.*s", STR_ARG(github)), "GITHUB_TOKEN=[REDACTED:github_token]"},
      {arena_printf(&a, "Authorization: Bearer %.*s", STR_ARG(jwt)), "Authorization: Bearer [REDACTED:jwt]"},
      {arena_printf(&a, "password = \"Ab1!%.*s?9zZ\"", STR_ARG(github)), "password = \"[REDACTED:github_token]\""},
      {arena_printf(&a, "https://x:%.*s@github.com", STR_ARG(github)), "https://x:[REDACTED:github_token]@github.com"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct secret_hits hits = find(&a, cases[i].text);
    CHECK_STR(redact_apply(&a, cases[i].text, &hits), cases[i].clean);
  }
  arena_release(&a);
}

TEST(many_secrets_in_one_text_are_all_found_in_order) {
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  size_t starts[ARRAY_LEN(vendor_keys)];
  for (size_t i = 0; i < ARRAY_LEN(vendor_keys); i++) {
    buf_addf(&text, "Note %zu, über: ", i);
    buf_adds(&text, vendor_keys[i].before);
    starts[i] = text.n;
    buf_add(&text, key_make(&a, vendor_keys[i].secret, 42));
    buf_adds(&text, vendor_keys[i].after);
    buf_adds(&text, "\nmore prose\n");
  }
  struct secret_hits hits = find(&a, buf_str(&text));
  CHECK_INT(hits.n, ARRAY_LEN(vendor_keys));
  for (size_t i = 0; i < hits.n; i++) {
    CHECK_STR(str_from(hits.v[i].pattern), vendor_keys[i].pattern);
    CHECK_INT(hits.v[i].start, starts[i]);
  }
  struct str clean = redact_apply(&a, buf_str(&text), &hits);
  CHECK(utf8_check(clean) == clean.n);
  CHECK_INT(find(&a, clean).n, 0);
  arena_release(&a);
}

/* "public token" is harmless until "public" is redacted as part of something else. */
TEST(redacted_text_is_scanned_again) {
  struct arena a;
  arena_init(&a);
  struct strs known = {0};
  strs_push(&a, &known, STR("that is public"));
  struct str key = key_make(&a, "<a32>", 9), text = concat3(&a, "A note, that is public token: ", key, ", über");
  struct secret_hits hits;
  redact_find(&a, text, redactor_new(&a, &known), &hits);
  CHECK_INT(hits.n, 2);
  CHECK_STR(redact_apply(&a, text, &hits), "A note, [REDACTED:vault_secret] token: [REDACTED:secret_assignment], über");
  arena_release(&a);
}

TEST(redacting_one_secret_creates_no_other) {
  struct arena a;
  arena_init(&a);
  struct str key = key_make(&a, "ghp_<a36>", 3);
  struct str text =
      arena_printf(&a, "%.*s-[REDACTED:x]AKIA, token=[REDACTED:y], token: %.*s", STR_ARG(key), STR_ARG(key));
  struct secret_hits hits = find(&a, text);
  struct str clean = redact_apply(&a, text, &hits);
  CHECK_STR(clean, "[REDACTED:github_token]-[REDACTED:x]AKIA, token=[REDACTED:y], token: [REDACTED:github_token]");
  hits = find(&a, clean);
  CHECK_INT(hits.n, 0);
  arena_release(&a);
}

/* ---- Vault values ---- */

static struct str redact_known_values(struct arena *a, const char *text, size_t n, const char *const values[]) {
  struct strs known = {0};
  for (size_t i = 0; i < n; i++)
    strs_push(a, &known, str_from(values[i]));
  struct secret_hits hits;
  redact_find(a, str_from(text), redactor_new(a, &known), &hits);
  return redact_apply(a, str_from(text), &hits);
}

TEST(a_vault_value_is_found_in_any_encoding) {
  /* Encoded with Python's base64, urllib.parse and json. */
  static const char *const value[] = {"s3cr3t-Välue/+\"x\\y 😀!"};
  static const char *const cases[][2] = {
      {"it is s3cr3t-Välue/+\"x\\y 😀! ok", "it is [REDACTED:vault_secret] ok"},
      {"(czNjcjN0LVbDpGx1ZS8rInhceSDwn5iAIQ==)", "([REDACTED:vault_secret])"},
      {"czNjcjN0LVbDpGx1ZS8rInhceSDwn5iAIQ", "[REDACTED:vault_secret]"},
      {"dXMzY3IzdC1Ww6RsdWUvKyJ4XHkg8J+YgCF6eg==", "d[REDACTED:vault_secret]6eg=="},
      {"dXMzY3IzdC1Ww6RsdWUvKyJ4XHkg8J-YgCF6eg==", "d[REDACTED:vault_secret]6eg=="},
      {"OilzM2NyM3QtVsOkbHVlLysieFx5IPCfmIAhcQ==", "Oi[REDACTED:vault_secret]cQ=="},
      {"YWRtaW46czNjcjN0LVbDpGx1ZS8rInhceSDwn5iAIQ== x", "YWRtaW46[REDACTED:vault_secret] x"},
      {"?q=s3cr3t-V%C3%A4lue%2F%2B%22x%5Cy%20%F0%9F%98%80%21&r", "?q=[REDACTED:vault_secret]&r"},
      {"?q=s3cr3t-V%c3%a4lue%2f%2b%22x%5cy+%f0%9f%98%80!&r", "?q=[REDACTED:vault_secret]&r"},
      {"?q=%733cr3t-V%C3%A4lue/%2B%22x%5Cy%20%F0%9F%98%80%21", "?q=[REDACTED:vault_secret]"},
      {"{\"v\":\"s3cr3t-V\\u00e4lue/+\\\"x\\\\y \\ud83d\\ude00!\"}", "{\"v\":\"[REDACTED:vault_secret]\"}"},
      {"{\"v\":\"s3cr3t-Välue\\/+\\\"x\\\\y 😀!\"}", "{\"v\":\"[REDACTED:vault_secret]\"}"},
      {"s3cr3t-Valué is another value", "s3cr3t-Valué is another value"},
  };
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    CHECK_STR(redact_known_values(&a, cases[i][0], 1, value), cases[i][1]);
  arena_release(&a);
}

/* Encoded with Python's base64, urllib.parse and json. */
TEST(a_vault_value_is_found_in_two_encodings) {
  static const char *const value[] = {"s3cr3t-Välue/+\"x\\y 😀!"};
  static const char *const cases[][2] = {
      {"?q=czNjcjN0LVbDpGx1ZS8rInhceSDwn5iAIQ%3D%3D&r", "?q=[REDACTED:vault_secret]&r"}, /* url of base64 */
      {"?q=s3cr3t-V%25C3%25A4lue%252F%252B%2522x%255Cy%2520%25F0%259F%2598%2580%2521&r",
       "?q=[REDACTED:vault_secret]&r"}, /* url of url */
      {"q=s3cr3t-V%25C3%25A4lue%252F%252B%2522x%255Cy%2520%25F0%259F%2598%2580%2521",
       "q=[REDACTED:vault_secret]"}, /* form of url */
      {"{\"v\":\"{\\\"w\\\":\\\"s3cr3t-V\\\\u00e4lue/+\\\\\\\"x\\\\\\\\y \\\\ud83d\\\\ude00!\\\"}\"}",
       "{\"v\":\"{\\\"w\\\":\\\"[REDACTED:vault_secret]\\\"}\"}"}, /* json of json */
      {"{\"v\":\"s3cr3t-Välue/+\\\\\\\"x\\\\\\\\y 😀!\"}",
       "{\"v\":\"[REDACTED:vault_secret]\"}"}, /* json of json, literal */
      {"{\"v\":\"czNjcjN0LVbDpGx1ZS8rInhceSDwn5iAIQ==\"}",
       "{\"v\":\"[REDACTED:vault_secret]\"}"}, /* json of base64 with an escaped slash */
      {"{\"v\":\"s3cr3t-V%C3%A4lue%2F%2B%22x%5Cy%20%F0%9F%98%80%21\"}",
       "{\"v\":\"[REDACTED:vault_secret]\"}"}, /* json of url */
      {"?q=s3cr3t-V%5Cu00e4lue%2F%2B%5C%22x%5C%5Cy%20%5Cud83d%5Cude00%21&r",
       "?q=[REDACTED:vault_secret]&r"}, /* url of json */
      {"(czNjcjN0LVYlQzMlQTRsdWUlMkYlMkIlMjJ4JTVDeSUyMCVGMCU5RiU5OCU4MCUyMQ==)",
       "([REDACTED:vault_secret])"}, /* base64 of url */
      {"(czNjcjN0LVYlQzMlQTRsdWUlMkYlMkIlMjJ4JTVDeSUyMCVGMCU5RiU5OCU4MCUyMQ)",
       "([REDACTED:vault_secret])"},                                                           /* base64url of url */
      {"(czNjcjN0LVZcdTAwZTRsdWUvK1wieFxceSBcdWQ4M2RcdWRlMDAh)", "([REDACTED:vault_secret])"}, /* base64 of json */
      {"(Y3pOamNqTjBMVmJEcEd4MVpTOHJJbmhjZVNEd241aUFJUT09)", "([REDACTED:vault_secret])"},     /* base64 of base64 */
      {"(NzMzMzYzNzIzMzc0MmQ1NmMzYTQ2Yzc1NjUyZjJiMjI3ODVjNzkyMGYwOWY5ODgwMjE=)",
       "([REDACTED:vault_secret])"}, /* base64 of hex */
      {"(637a4e6a636a4e304c566244704778315a533872496e6863655344776e35694149513d3d)",
       "([REDACTED:vault_secret])"}, /* hex of base64 */
      {"(7333637233742d562543332541346c75652532462532422532327825354379253230254630253946253938253830253231)",
       "([REDACTED:vault_secret])"}, /* hex of url */
      {"(3733333336333732333337343264353663336134366337353635326632623232373835633739323066303966393838303231)",
       "([REDACTED:vault_secret])"}, /* hex of hex */
      {"(7333637233742d565c75303065346c75652f2b5c22785c5c79205c75643833645c756465303021)",
       "([REDACTED:vault_secret])"}, /* hex of json */
      {"?q=7333637233742D56C3A46C75652F2B22785C7920F09F988021&r",
       "?q=[REDACTED:vault_secret]&r"}, /* url of hex upper */
      {"?q=czNjcjN0LVYlQzMlQTRsdWUlMkYlMkIlMjJ4JTVDeSUyMCVGMCU5RiU5OCU4MCUyMQ%3D%3D&r",
       "?q=[REDACTED:vault_secret]&r"}, /* url of base64 of url */
      {"(czNjcjN0LVYlQzMlQTRs\ndWUlMkYlMkIlMjJ4JTVD\neSUyMCVGMCU5RiU5OCU4\nMCUyMQ==)",
       "([REDACTED:vault_secret])"}, /* wrapped base64 of url */
      {"(YXMzY3IzdC1WJUMzJUE0bHVlJTJGJTJCJTIyeCU1Q3klMjAlRjAlOUYlOTglODAlMjE=)",
       "(Y[REDACTED:vault_secret])"}, /* shifted base64 of url */
  };
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("case %zu", i);
    CHECK_STR(redact_known_values(&a, cases[i][0], 1, value), cases[i][1]);
  }
  arena_release(&a);
}

TEST(vault_values_may_overlap_and_repeat) {
  static const char *const values[] = {"alpha-beta", "beta-gamma", "alpha-beta-gamma-delta", "short",
                                       "\n  trailing-blank \n"};
  struct arena a;
  arena_init(&a);
  CHECK_STR(redact_known_values(&a, "alpha-beta-gamma alpha-beta", 5, values),
            "[REDACTED:vault_secret] [REDACTED:vault_secret]");
  CHECK_STR(redact_known_values(&a, "<alpha-beta-gamma-delta>", 5, values), "<[REDACTED:vault_secret]>");
  CHECK_STR(redact_known_values(&a, "a short text", 5, values), "a short text");
  CHECK_STR(redact_known_values(&a, "(trailing-blank)", 5, values), "([REDACTED:vault_secret])");
  arena_release(&a);
}

TEST(a_vault_value_wins_over_a_pattern_and_not_inside_markers) {
  static const char *const values[] = {"hunter2222", "secret_assignment", "REDACTED:"};
  struct arena a;
  arena_init(&a);
  CHECK_STR(redact_known_values(&a, "DB_PASSWORD=hunter2222", 1, values), "DB_PASSWORD=[REDACTED:vault_secret]");
  CHECK_STR(redact_known_values(&a, "x [REDACTED:secret_assignment]", 3, values), "x [REDACTED:secret_assignment]");
  arena_release(&a);
}

/* ---- Preview ---- */

static struct str preview(struct arena *a, const char *text, size_t start, size_t len) {
  struct secret_hit hit = {start, len, "x"};
  return redact_preview(a, str_from(text), &hit);
}

TEST(a_preview_shows_the_line_and_at_most_a_third) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(preview(&a,
                    "a\nb\n"
                    "gh"
                    "p_abcdefghijklmnopqrstuvwxyzABCDEFwxyz",
                    4, 40),
            "line 3: gh"
            "p_ab…wxyz");
  CHECK_STR(preview(&a, "abcdefghijklmnopqrstuvwxyz0123", 0, 30), "line 1: abcdef…0123");
  CHECK_STR(preview(&a, "pw=hunter2222", 3, 10), "line 1: hu…2");
  CHECK_STR(preview(&a, "pw=abcdefgh", 3, 8), "line 1: ab…");
  CHECK_STR(preview(&a, "ab", 0, 2), "line 1: …");
  CHECK_STR(preview(&a, "\näöüäöüäöü", 1, 18), "line 2: äö…ü");
  CHECK_STR(preview(&a, "ab\ncdefghijklmnopqrstuvwxyz\nzzz", 0, 31), "line 1: ab cde… zzz");
  arena_release(&a);
}

TEST(no_preview_shows_more_than_a_third) {
  struct arena a;
  arena_init(&a);
  const char *text = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t n = 1; n <= 62; n++) {
    struct str shown = preview(&a, text, 0, n);
    size_t characters = utf8_length(shown) - strlen("line 1: ") - 1;
    CHECK(characters <= 10 && characters * 3 <= n);
  }
  arena_release(&a);
}

/* ---- Time ---- */

/* Far more than a linear scan takes, far less than a quadratic one. */
/* Presentation removes '\r', headlines collapse white space and leave out markup. */
TEST(a_token_split_by_white_space_or_markup_is_found) {
  static const char *const between[] = {"\n", "\r\n", "\t", "\r\n\t", " ", "**", "~~", "`"};
  static const char plain[] = "Use `make` or **make** *or* a**b and key`s`, ~~not~~ x~~y";
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(between); i++) {
    test_note("%zu", i);
    struct str text =
        arena_printf(&a, "The value of robot 1 is ghp_aB3dE5fG7hI9jK1lM%s3nO5pQ7rS9tU1vW3xY5z in June.", between[i]);
    CHECK_STR(redact_all(&a, text, NULL), "The value of robot 1 is [REDACTED:github_token] in June.");
  }
  CHECK_STR(redact_all(&a, str_from(plain), NULL), plain);
  arena_release(&a);
}

TEST(a_megabyte_is_scanned_in_linear_time, .slow = true) {
  static const char *const pieces[] = {
      "The token budget is 4000; see https://x.y/z for the password reset flow.\n",
      "sk-",
      "token=",
      "password: \"",
      "eyJ-",
      "eyJabc.",
      "-----BEGIN PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0BAQEFAASC ",
      "[REDACTED:",
      "]a",
      "a://b:",
      "the password for the thing is ",
      "0123456789abcdef",
      "\\n",
      "%3D",
      "<password>",
      "--password ",
      "alpha-be",
      "seed\n",
      "words: abc ",
      "ghp_a1 b2c3 ",
      "token a1b2c3 d4e5f6 ",
      "\" + \"",
      "a1b2c3d4/e5f6g7h8 ",
      "&#65;",
      "\\u0041",
      "login / ",
      "x:5432:y:z:",
      "mysql -p",
      "\xE2\x80\x8B",
      "a\xC2\xAD",
      "\x1B[",
      "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w\n",
      "4142434445464748",
      "a1B2c3D4e5F6g7H8=:@",
      "machine a login b password ",
      "define('PASSWORD', '",
      "Пароль от ",
      "密码是",
  };
  static const char *const known[] = {"alpha-beta-gamma", "alpha-bealpha-bealpha-beX", "\\n\\n\\n\\n\\nX",
                                      "%3D%3D%3D%3DX"};
  for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
    struct arena a;
    arena_init(&a);
    struct buf text = BUF(&a);
    while (text.n < 1000000)
      buf_adds(&text, pieces[i]);
    double start = test_cpu_seconds();
    redact_known_values(&a, text.p, ARRAY_LEN(known), known);
    if (test_cpu_seconds() - start > 3.0 * test_slowness())
      test_fail(__FILE__, __LINE__, "%.2f s for a text of: %s", test_cpu_seconds() - start, pieces[i]);
    arena_release(&a);
  }
}

/* Each run has two findings, in a text with escapes. Encoded with Python. */
TEST(findings_in_many_runs_are_mapped_in_linear_time) {
  static const char *const known[] = {"AAAAAAAA", "BBBBBBBB"};
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  buf_adds(&text, "%41 ");
  while (text.n < 1000000)
    buf_adds(&text, "QUFBQUFBQUFCQkJCQkJCQiU0MQ== ");
  double start = test_cpu_seconds();
  struct str clean = redact_known_values(&a, text.p, ARRAY_LEN(known), known);
  if (test_cpu_seconds() - start > 3.0 * test_slowness())
    test_fail(__FILE__, __LINE__, "%.2f s", test_cpu_seconds() - start);
  CHECK(str_find(clean, STR("QUFBQUFB"), 0) == SIZE_MAX && str_find(clean, STR("[REDACTED:vault_secret]"), 0) == 4);
  arena_release(&a);
}

/* Random base64 of `n` characters in lines of `line`; 0 means one line. */
static void add_picture(struct buf *b, size_t n, size_t line) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint64_t x = 7;
  for (size_t i = 0; i < n; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    buf_addc(b, letters[x >> 58]);
    if (line && i % line == line - 1)
      buf_addc(b, '\n');
  }
}

TEST(a_value_after_image_data_is_found) {
  static const char *const known[] = {"tide turns at nine"};
  /* Base64 of url, encoded with Python; url of url. */
  static const char *const forms[] = {"dXNlciUzQXRpZGUlMjB0dXJucyUyMGF0JTIwbmluZQ",
                                      "user%253Atide%2520turns%2520at%2520nine"};
  static const size_t lines[] = {0, 76};
  for (size_t i = 0; i < ARRAY_LEN(forms) * ARRAY_LEN(lines); i++) {
    struct arena a;
    arena_init(&a);
    struct buf text = BUF(&a);
    for (size_t n = 40000; n > 30; n /= 2) {
      buf_adds(&text, "![](data:image/png;base64,");
      add_picture(&text, n, lines[i % 2]);
      buf_adds(&text, ") ");
    }
    buf_adds(&text, forms[i / 2]);
    buf_adds(&text, ".");
    struct str clean = redact_known_values(&a, buf_str(&text).p, 1, known);
    test_note("%s", forms[i / 2]);
    CHECK(str_find(clean, STR("[REDACTED:vault_secret]"), 0) != SIZE_MAX);
    CHECK(str_find(clean, str_from(forms[i / 2]), 0) == SIZE_MAX);
    arena_release(&a);
  }
}
