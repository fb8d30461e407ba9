/* redact_patterns.c: finder of vendor credential formats: the table and its matcher. */
#include "core/secrets/redact_scan.h"

enum {
  /* The prefix also occurs in ordinary words: the rest must look random. */
  RANDOM = 1,
  /* The prefix and the length are sufficient; the rest needs only a few different bytes. */
  CERTAIN = 2,
  /* Must not follow '_', '-', '.' or '/': there the prefix would be the end of a longer name. */
  ISOLATED = 4,
  /* The first literal is a name, not part of the secret. */
  NAMED = 8,
  /* The first part is the base64 of a decimal number. */
  SNOWFLAKE = 16,
  /* Must be at the start of a run of base64url. Set if the first part has no upper limit, so no run is read twice.
   */
  RUN_START = 32,
  /* Only the last part is secret; the parts before it are names and may contain any word. */
  NAMES_FIRST = 64,
};

/* A literal, then min..max bytes of an alphabet; max 0 means no limit. */
struct part {
  const char *literal;
  uint16_t alphabet, min, max;
};

struct vendor {
  const char *pattern;
  unsigned flags;
  struct part parts[3];
};

#define ONE(literal, alphabet, min, max)                                                                               \
  {                                                                                                                    \
    {                                                                                                                  \
      literal, alphabet, min, max                                                                                      \
    }                                                                                                                  \
  }
/* The base64 of a number starts with one of ten pairs of letters. */
#define DISCORD(literal)                                                                                               \
  {                                                                                                                    \
    "discord_token", SNOWFLAKE, { {literal, IN_B64URL, 22, 30}, {".", IN_B64URL, 5, 8}, {".", IN_B64URL, 27, 0} }      \
  }

/* The first match wins, which matters only if one prefix starts with another. Lengths are those of issued keys, with
 * headroom where the vendor reserves it. */
static const struct vendor vendors[] = {
    {"anthropic_key", 0, ONE("sk-ant-", IN_B64URL, 20, 0)},
    {"openrouter_key", 0, ONE("sk-or-v1-", IN_HEX, 32, 0)},
    {"openai_key", 0, ONE("sk-proj-", IN_B64URL, 20, 0)},
    {"openai_key", 0, ONE("sk-svcacct-", IN_B64URL, 20, 0)},
    {"openai_key", 0, ONE("sk-admin-", IN_B64URL, 20, 0)},
    {"openai_key", RANDOM, ONE("sk-", IN_B64URL, 20, 0)},
    {"aws_access_key_id", CERTAIN, ONE("AKIA", IN_UPPER | IN_DIGIT, 16, 16)},
    {"aws_access_key_id", RANDOM, ONE("ASIA", IN_UPPER | IN_DIGIT, 16, 16)},
    {"aws_access_key_id", RANDOM, ONE("ABIA", IN_UPPER | IN_DIGIT, 16, 16)},
    {"aws_access_key_id", RANDOM, ONE("ACCA", IN_UPPER | IN_DIGIT, 16, 16)},
    {"aws_bedrock_key", 0, ONE("ABSK", IN_B64 | IN_EQUALS, 100, 0)},
    {"github_token", 0, ONE("ghp_", IN_ALNUM, 30, 0)},
    {"github_token", 0, ONE("gho_", IN_ALNUM, 30, 0)},
    {"github_token", 0, ONE("ghu_", IN_ALNUM, 30, 0)},
    {"github_token", 0, ONE("ghs_", IN_ALNUM, 30, 0)},
    {"github_token", 0, ONE("ghr_", IN_ALNUM, 30, 0)},
    {"github_token", 0, ONE("github_pat_", IN_WORD, 30, 0)},
    {"gitlab_token", 0, ONE("glpat-", IN_B64URL | IN_DOT, 20, 0)},
    {"gitlab_token", 0, ONE("gldt-", IN_B64URL, 20, 0)},
    {"gitlab_token", 0, ONE("glrt-", IN_B64URL | IN_DOT, 20, 0)},
    {"gitlab_token", 0, ONE("glcbt-", IN_B64URL, 20, 0)},
    {"gitlab_token", 0, ONE("glptt-", IN_HEX, 40, 0)},
    {"gitlab_token", 0, ONE("glft-", IN_B64URL, 20, 0)},
    {"gitlab_token", 0, ONE("glsoat-", IN_B64URL, 20, 0)},
    {"gitlab_token", 0, ONE("glagent-", IN_B64URL, 50, 0)},
    {"gitlab_token", 0, ONE("gloas-", IN_B64URL, 60, 0)},
    {"gitlab_token", 0, ONE("glimt-", IN_B64URL, 25, 0)},
    {"slack_token", 0, ONE("xoxb-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxp-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxa-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxr-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxs-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxo-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxe-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxe.xox", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxc-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_token", 0, ONE("xoxd-", IN_B64URL | IN_PLUS_SLASH | IN_PERCENT, 16, 0)},
    {"slack_token", 0, ONE("xapp-", IN_ALNUM | IN_DASH, 16, 0)},
    {"slack_webhook", NAMED, ONE("hooks.slack.com/services/", IN_B64, 24, 0)},
    {"slack_webhook", NAMED, ONE("hooks.slack.com/workflows/", IN_B64, 24, 0)},
    {"discord_webhook", NAMED, {{"discord.com/api/webhooks/", IN_DIGIT, 15, 22}, {"/", IN_B64URL, 40, 0}}},
    {"discord_webhook", NAMED, {{"discordapp.com/api/webhooks/", IN_DIGIT, 15, 22}, {"/", IN_B64URL, 40, 0}}},
    DISCORD("MD"),
    DISCORD("MT"),
    DISCORD("Mj"),
    DISCORD("Mz"),
    DISCORD("ND"),
    DISCORD("NT"),
    DISCORD("Nj"),
    DISCORD("Nz"),
    DISCORD("OD"),
    DISCORD("OT"),
    {"google_api_key", 0, ONE("AIza", IN_B64URL, 35, 0)},
    {"google_oauth_secret", 0, ONE("GOCSPX-", IN_B64URL, 24, 0)},
    {"google_oauth_token", 0, ONE("ya29.", IN_B64URL | IN_DOT, 20, 0)},
    {"google_refresh_token", RANDOM, ONE("1//0", IN_B64URL, 40, 0)},
    {"paypal_token", NAMES_FIRST, {{"access_token$production$", IN_ALNUM, 16, 16}, {"$", IN_HEX, 32, 32}}},
    {"paypal_token", NAMES_FIRST, {{"access_token$sandbox$", IN_ALNUM, 16, 16}, {"$", IN_HEX, 32, 32}}},
    {"paypal_token", RANDOM | ISOLATED, ONE("A21AA", IN_B64URL, 70, 0)},
    {"twitter_token", 0, {{"AAAAAAAAAAAAAAAAAAAA", IN_B64, 20, 100}, {"%", IN_B64 | IN_PERCENT, 30, 0}}},
    {"nuget_key", RANDOM | ISOLATED, ONE("oy2", IN_LOWER | IN_DIGIT, 43, 43)},
    {"vercel_token", 0, ONE("vercel_blob_rw_", IN_WORD, 30, 0)},
    {"typeform_token", 0, ONE("tfp_", IN_B64URL, 40, 0)},
    {"stripe_key", 0, ONE("sk_live_", IN_ALNUM, 16, 0)},
    {"stripe_key", 0, ONE("sk_test_", IN_ALNUM, 16, 0)},
    {"stripe_key", 0, ONE("rk_live_", IN_ALNUM, 16, 0)},
    {"stripe_key", 0, ONE("rk_test_", IN_ALNUM, 16, 0)},
    {"webhook_secret", 0, ONE("whsec_", IN_B64 | IN_EQUALS, 24, 0)},
    {"npm_token", 0, ONE("npm_", IN_ALNUM, 36, 0)},
    {"pypi_token", RANDOM, ONE("pypi-", IN_B64URL, 50, 0)},
    {"rubygems_key", 0, ONE("rubygems_", IN_HEX, 48, 0)},
    {"crates_token", RANDOM | ISOLATED, ONE("cio", IN_ALNUM, 32, 32)},
    {"clojars_token", 0, ONE("CLOJARS_", IN_HEX, 60, 0)},
    {"huggingface_token", 0, ONE("hf_", IN_ALNUM, 30, 0)},
    {"huggingface_token", 0, ONE("api_org_", IN_ALNUM, 30, 0)},
    {"replicate_token", 0, ONE("r8_", IN_ALNUM, 37, 0)},
    {"groq_key", 0, ONE("gsk_", IN_ALNUM, 40, 0)},
    {"perplexity_key", 0, ONE("pplx-", IN_ALNUM, 40, 0)},
    {"xai_key", 0, ONE("xai-", IN_ALNUM, 60, 0)},
    {"nvidia_key", 0, ONE("nvapi-", IN_B64URL, 50, 0)},
    {"langsmith_key", 0, {{"lsv2_pt_", IN_HEX, 32, 32}, {"_", IN_HEX, 10, 0}}},
    {"langsmith_key", 0, {{"lsv2_sk_", IN_HEX, 32, 32}, {"_", IN_HEX, 10, 0}}},
    {"elevenlabs_key", RANDOM, ONE("sk_", IN_HEX, 48, 48)},
    {"sendgrid_key", 0, {{"SG.", IN_B64URL, 16, 32}, {".", IN_B64URL, 32, 64}}},
    {"brevo_key", 0, {{"xkeysib-", IN_HEX, 64, 64}, {"-", IN_ALNUM, 16, 0}}},
    {"mailgun_key", ISOLATED, ONE("key-", IN_HEX, 32, 32)},
    {"twilio_key", ISOLATED, ONE("SK", IN_HEX_LOWER, 32, 32)},
    {"digitalocean_token", 0, ONE("dop_v1_", IN_HEX, 64, 0)},
    {"digitalocean_token", 0, ONE("doo_v1_", IN_HEX, 64, 0)},
    {"digitalocean_token", 0, ONE("dor_v1_", IN_HEX, 64, 0)},
    {"azure_account_key", NAMED, ONE("AccountKey=", IN_B64 | IN_EQUALS, 40, 0)},
    {"azure_account_key", NAMED, ONE("SharedAccessKey=", IN_B64 | IN_EQUALS, 40, 0)},
    {"azure_sas_signature", NAMED | RANDOM, ONE("sig=", IN_B64 | IN_PERCENT, 43, 0)},
    {"cloudflare_origin_key", 0, {{"v1.0-", IN_HEX, 24, 24}, {"-", IN_HEX, 100, 0}}},
    {"heroku_key", 0, ONE("HRKU-", IN_B64URL, 36, 0)},
    {"fly_token", 0, ONE("fo1_", IN_B64URL, 40, 0)},
    {"fly_token", 0, ONE("fm2_", IN_B64 | IN_EQUALS, 100, 0)},
    {"netlify_token", 0, ONE("nfp_", IN_ALNUM, 36, 0)},
    {"supabase_key", 0, ONE("sbp_", IN_HEX, 40, 0)},
    {"supabase_key", 0, ONE("sb_secret_", IN_B64URL, 24, 0)},
    {"planetscale_key", 0, ONE("pscale_tkn_", IN_B64URL | IN_DOT, 32, 0)},
    {"planetscale_key", 0, ONE("pscale_pw_", IN_B64URL | IN_DOT, 32, 0)},
    {"planetscale_key", 0, ONE("pscale_oauth_", IN_B64URL | IN_DOT, 32, 0)},
    {"tailscale_key", 0, ONE("tskey-", IN_ALNUM | IN_DASH, 24, 0)},
    {"docker_token", 0, ONE("dckr_pat_", IN_B64URL, 24, 0)},
    {"docker_token", 0, ONE("dckr_oat_", IN_B64URL, 24, 0)},
    {"vault_token", RANDOM, ONE("hvs.", IN_B64URL, 24, 0)},
    {"vault_token", RANDOM, ONE("hvb.", IN_B64URL, 24, 0)},
    {"vault_token", RANDOM, ONE("hvr.", IN_B64URL, 24, 0)},
    {"doppler_token", RANDOM, ONE("dp.pt.", IN_ALNUM, 40, 0)},
    {"doppler_token", RANDOM, ONE("dp.st.", IN_B64URL | IN_DOT, 40, 0)},
    {"onepassword_token", 0, ONE("ops_eyJ", IN_B64 | IN_EQUALS, 100, 0)},
    {"age_secret_key", CERTAIN, ONE("AGE-SECRET-KEY-1", IN_UPPER | IN_DIGIT, 50, 0)},
    {"nostr_secret_key", RANDOM, ONE("nsec1", IN_LOWER | IN_DIGIT, 58, 58)},
    {"bip32_private_key", RANDOM, ONE("xprv", IN_ALNUM, 107, 0)},
    {"shopify_token", 0, ONE("shpat_", IN_HEX, 32, 0)},
    {"shopify_token", 0, ONE("shpca_", IN_HEX, 32, 0)},
    {"shopify_token", 0, ONE("shppa_", IN_HEX, 32, 0)},
    {"shopify_token", 0, ONE("shpss_", IN_HEX, 32, 0)},
    {"square_token", 0, ONE("sq0atp-", IN_B64URL, 22, 0)},
    {"square_token", 0, ONE("sq0csp-", IN_B64URL, 40, 0)},
    {"square_token", RANDOM | ISOLATED, ONE("EAAA", IN_B64URL, 60, 60)},
    {"facebook_token", RANDOM | ISOLATED, ONE("EAAC", IN_ALNUM, 100, 0)},
    {"facebook_token", RANDOM | ISOLATED, ONE("EAAM", IN_ALNUM, 100, 0)},
    {"linear_key", 0, ONE("lin_api_", IN_ALNUM, 32, 0)},
    {"linear_key", 0, ONE("lin_oauth_", IN_ALNUM, 32, 0)},
    {"notion_token", 0, ONE("ntn_", IN_ALNUM, 40, 0)},
    {"notion_token", RANDOM | ISOLATED, ONE("secret_", IN_ALNUM, 43, 43)},
    {"airtable_token", RANDOM, {{"pat", IN_ALNUM, 14, 14}, {".", IN_HEX, 64, 64}}},
    {"figma_token", 0, ONE("figd_", IN_B64URL, 40, 0)},
    {"atlassian_token", 0, ONE("ATATT3", IN_B64URL | IN_EQUALS, 60, 0)},
    {"postman_key", 0, {{"PMAK-", IN_HEX, 24, 24}, {"-", IN_HEX, 34, 34}}},
    {"contentful_token", 0, ONE("CFPAT-", IN_B64URL, 43, 0)},
    {"dropbox_token", RANDOM | ISOLATED, ONE("sl.", IN_B64URL, 100, 0)},
    {"databricks_token", ISOLATED, ONE("dapi", IN_HEX_LOWER, 32, 32)},
    {"grafana_token", 0, {{"glsa_", IN_ALNUM, 32, 32}, {"_", IN_HEX, 8, 8}}},
    {"grafana_token", 0, ONE("glc_", IN_B64 | IN_EQUALS, 32, 0)},
    {"newrelic_key", 0, ONE("NRAK-", IN_ALNUM, 27, 0)},
    {"newrelic_key", 0, ONE("NRII-", IN_B64URL, 32, 0)},
    {"sentry_token", 0, ONE("sntryu_", IN_HEX, 64, 0)},
    {"sentry_token", 0, ONE("sntrys_", IN_B64 | IN_EQUALS | IN_UNDERSCORE, 60, 0)},
    {"dynatrace_token", 0, {{"dt0c01.", IN_ALNUM, 24, 24}, {".", IN_ALNUM, 64, 64}}},
    {"pulumi_token", 0, ONE("pul-", IN_HEX, 40, 0)},
    {"buildkite_token", 0, ONE("bkua_", IN_HEX, 40, 0)},
    {"circleci_token", 0, ONE("CCIPAT_", IN_WORD, 40, 0)},
    {"sonar_token", 0, ONE("squ_", IN_HEX, 40, 0)},
    {"sonar_token", 0, ONE("sqp_", IN_HEX, 40, 0)},
    {"sourcegraph_token", 0, ONE("sgp_", IN_HEX | IN_UNDERSCORE, 40, 0)},
    {"posthog_key", 0, ONE("phx_", IN_ALNUM, 40, 0)},
    {"artifactory_key", RANDOM | ISOLATED, ONE("AKCp", IN_ALNUM, 69, 0)},
    {"openshift_token", 0, ONE("sha256~", IN_B64URL, 43, 0)},
    {"easypost_key", RANDOM | ISOLATED, ONE("EZAK", IN_ALNUM, 54, 54)},
    {"alibaba_key_id", RANDOM | ISOLATED, ONE("LTAI", IN_ALNUM, 20, 20)},
    {"cairn_token",
     NAMES_FIRST,
     {{"cairn_", IN_B64URL, 1, 64}, {".", IN_LOWER | IN_DIGIT, 12, 12}, {".", IN_B64URL, 43, 43}}},
    {"mapbox_token", RUN_START, {{"sk.eyJ", IN_B64URL, 20, 0}, {".", IN_B64URL, 16, 0}}},
    {"jwt", RUN_START, {{"eyJ", IN_B64URL, 10, 0}, {".", IN_B64URL, 10, 0}, {".", IN_B64URL, 10, 0}}},
};

enum { JUDGED_RUN = 144 };

/* Parts without a limit are read only up to JUDGED_RUN bytes until the match is certain, which keeps a text full of
 * prefixes cheap. */
static bool match_parts(struct str text, size_t at, const struct vendor *v, size_t *ret_end) {
  for (size_t i = 0; i < ARRAY_LEN(v->parts) && v->parts[i].literal; i++) {
    const struct part *p = &v->parts[i];
    if (!redact_at(text, at, p->literal))
      return false;
    at += strlen(p->literal);
    size_t limit = p->max ? p->max + 1u : v->flags & RUN_START ? SIZE_MAX : JUDGED_RUN;
    size_t n = redact_run(text, at, p->alphabet, limit);
    if (n < p->min || (p->max && n > p->max))
      return false;
    at += n;
  }
  *ret_end = at;
  return true;
}

static const struct part *last_part(const struct vendor *v) {
  const struct part *p = v->parts;
  while (p + 1 < v->parts + ARRAY_LEN(v->parts) && p[1].literal)
    p++;
  return p;
}

/* Discord bot tokens start with the base64 of the bot's number. */
static bool is_base64_number(struct str text, size_t at) {
  size_t n = redact_run(text, at, IN_B64URL, 32);
  uint32_t bits = 0, have = 0;
  for (size_t i = 0; i < n; i++) {
    char c = text.p[at + i];
    uint32_t v = ascii_upper(c)   ? (uint32_t)(c - 'A')
                 : ascii_digit(c) ? (uint32_t)(c - '0') + 52
                                  : (uint32_t)(c - 'a') + 26;
    if (!ascii_alnum(c))
      return false;
    bits = bits << 6 | v;
    have += 6;
    if (have < 8)
      continue;
    have -= 8;
    if (!ascii_digit((char)(bits >> have & 0xff)))
      return false;
  }
  return true;
}

static bool is_credible(struct str body, unsigned flags) {
  if (!redact_is_varied(body) || redact_is_placeholder(body))
    return false;
  enum strength need = flags & CERTAIN ? STRENGTH_NONE : flags & RANDOM ? STRENGTH_MIXED : STRENGTH_NUMBER;
  return redact_strength(body) >= need;
}

/* End of the secret at `at`, or `at` if there is none. *ret_start skips a literal that is only a name. */
static size_t match_vendor(struct str text, size_t at, const struct vendor *v, size_t *ret_start) {
  size_t end, head = strlen(v->parts[0].literal);
  if (v->flags & ISOLATED && at > 0 && redact_in(text.p[at - 1], IN_UNDERSCORE | IN_DASH | IN_DOT | IN_PLUS_SLASH))
    return at;
  if (v->flags & RUN_START && at > 0 && redact_in(text.p[at - 1], IN_UNDERSCORE | IN_DASH))
    return at;
  if (!match_parts(text, at, v, &end))
    return at;
  if (v->flags & SNOWFLAKE && !is_base64_number(text, at))
    return at;
  size_t judged = v->flags & NAMES_FIRST ? end - last_part(v)->min : at + head;
  if (!is_credible(str_slice(text, judged, end), v->flags))
    return at;
  if (last_part(v)->max == 0)
    end += redact_run(text, end, last_part(v)->alphabet, SIZE_MAX);
  while (text.p[end - 1] == '.')
    end--;
  if (redact_has_word_after(text, end))
    return at;
  *ret_start = v->flags & NAMED ? at + head : at;
  return end;
}

static size_t run_before(struct str text, size_t at, unsigned alphabet, size_t limit) {
  size_t n = 0;
  while (n < limit && n < at && redact_in(text.p[at - 1 - n], alphabet))
    n++;
  return n;
}

/* 123456789:AA...: number and key of a Telegram bot. */
static size_t match_telegram(struct str text, size_t at, size_t *ret_start) {
  size_t digits = run_before(text, at, IN_DIGIT, 12), n = redact_run(text, at + 1, IN_B64URL, 36);
  if (digits < 8 || digits > 10 || n != 35 || text.p[at + 1] != 'A' || redact_has_word_after(text, at + 36))
    return at;
  *ret_start = at - digits;
  return is_credible(str_slice(text, at + 1, at + 36), RANDOM) ? at + 36 : at;
}

/* abc8Q~...: client secret of Microsoft Entra. */
static size_t match_entra(struct str text, size_t at, size_t *ret_start) {
  if (at < 5 || text.p[at - 1] != 'Q' || !ascii_digit(text.p[at - 2]) || run_before(text, at, IN_B64URL, 5) != 5)
    return at;
  size_t n = redact_run(text, at + 1, IN_B64URL | IN_DOT, 40);
  if (n < 31 || n > 34 || redact_has_word_before(text, at - 5) ||
      !is_credible(str_slice(text, at + 1, at + 1 + n), RANDOM))
    return at;
  *ret_start = at - 5;
  return at + 1 + n;
}

/* abcdefghijklmn.atlasv1....: Terraform Cloud. */
static size_t match_terraform(struct str text, size_t at, size_t *ret_start) {
  static const char middle[] = ".atlasv1.";
  if (!redact_at(text, at, middle) || run_before(text, at, IN_ALNUM, 15) != 14)
    return at;
  size_t key = at + sizeof(middle) - 1, n = redact_run(text, key, IN_B64URL, SIZE_MAX);
  if (n < 50 || !is_credible(str_slice(text, key, key + n), RANDOM))
    return at;
  *ret_start = at - 14;
  return key + n;
}

/* Formats recognized by a byte in their middle. */
static const struct middle {
  char byte;
  const char *pattern;
  size_t (*match)(struct str text, size_t at, size_t *ret_start);
} middles[] = {
    {':', "telegram_token", match_telegram},
    {'~', "azure_client_secret", match_entra},
    {'.', "terraform_token", match_terraform},
};

_Static_assert(ARRAY_LEN(vendors) < VENDORS_MAX, "the index stores row numbers in a byte");

static size_t prefix_hash(const char *p) { return ((unsigned char)p[0] * 37u + (unsigned char)p[1]) % VENDOR_HEADS; }

void redact_index_vendors(struct vendor_index *ret) {
  *ret = (struct vendor_index){0};
  for (size_t i = ARRAY_LEN(vendors); i-- > 0;) {
    uint8_t *head = &ret->head[prefix_hash(vendors[i].parts[0].literal)];
    ret->next[i] = *head;
    *head = (uint8_t)(i + 1);
  }
}

bool redact_ends_backwards(const struct vendor_index *index, struct str run) {
  enum { PREFIX_MOST = 32 };
  char start[PREFIX_MOST];
  size_t n = run.n < PREFIX_MOST ? run.n : PREFIX_MOST;
  for (size_t i = 0; i < n; i++)
    start[i] = run.p[run.n - 1 - i];
  for (size_t k = n < 2 ? 0 : index->head[prefix_hash(start)]; k; k = index->next[k - 1])
    if (redact_at((struct str){start, n}, 0, vendors[k - 1].parts[0].literal))
      return true;
  return false;
}

/* Shorter prefixes occur in ordinary words. */
enum { PREFIX_SURE = 4 };

static size_t match_any(struct redact_scan *s, const struct vendor_index *index, size_t at) {
  size_t start = at, end = at;
  for (size_t k = index->head[prefix_hash(s->text.p + at)]; k && end == at; k = index->next[k - 1]) {
    const char *prefix = vendors[k - 1].parts[0].literal;
    size_t same = 0;
    while (prefix[same] && at + same < s->text.n && s->text.p[at + same] == prefix[same])
      same++;
    s->has_start |= same >= PREFIX_SURE &&
                    (!prefix[same] || (at + same < s->text.n && redact_one_of(s->text.p[at + same], " \n-")));
    if (prefix[same])
      continue;
    end = match_vendor(s->text, at, &vendors[k - 1], &start);
    if (end != at)
      redact_add(s, start, end, vendors[k - 1].pattern, FOUND_VENDOR);
  }
  return end;
}

static size_t match_middle(struct redact_scan *s, size_t at) {
  for (size_t k = 0; k < ARRAY_LEN(middles); k++) {
    size_t start = at, end = s->text.p[at] == middles[k].byte ? middles[k].match(s->text, at, &start) : at;
    if (end != at) {
      redact_add(s, start, end, middles[k].pattern, FOUND_VENDOR);
      return end;
    }
  }
  return at;
}

/* Matches at the start of a run of letters and digits, or after the escape that it starts with. */
static size_t match_word(struct redact_scan *s, const struct vendor_index *index, size_t at) {
  size_t start = at + redact_escape_tail(s->text, at), end = start;
  if (start > at && start + 1 < s->text.n)
    end = match_any(s, index, start);
  if (end == start && !redact_has_word_before(s->text, at))
    end = match_any(s, index, start = at);
  if (end > start)
    return end;
  size_t run = redact_run(s->text, at, IN_ALNUM, SIZE_MAX);
  if (redact_is_wif(str_slice(s->text, at, at + run)))
    redact_add(s, at, at + run, "bitcoin_private_key", FOUND_VENDOR);
  return at + run;
}

void redact_find_vendors(struct redact_scan *s, const struct vendor_index *index) {
  struct str text = s->text;
  for (size_t i = 0; i + 1 < text.n;) {
    size_t end = i;
    char c = text.p[i];
    if (redact_in(c, IN_ALNUM))
      end = match_word(s, index, i);
    else if (c == ':' || c == '~' || c == '.')
      end = match_middle(s, i);
    else if (c == ';')
      end = redact_skip_data(text, i);
    i = end > i ? end : i + 1;
  }
}
