/* test_oauth.c: claims of access tokens, and the file with the issuer's keys. */
#include "http/access/oauth.h"

#include <unistd.h>

#include "base/alloc.h"
#include "support/cli.h"
#include "support/issuer.h"

static struct arena a;

static enum status principal_of(const char *claims, const char *prefix, struct principal *ret) {
  struct error err;
  yyjson_val *v;
  test_note("%s", claims);
  CHECK_OK(json_read(&a, str_from(claims), &v, &err), &err);
  enum status s = oauth_principal(&a, v, str_from(prefix), ret, &err);
  CHECK(s == STATUS_OK || (s == STATUS_DENIED && err.fix[0]));
  return s;
}

TEST(scopes_map_to_a_principal) {
  struct principal p;
  CHECK_STATUS(principal_of("{\"sub\":\"alice\",\"scope\":\"openid cairn:read cairn:team:web cairn:project:shop "
                            "cairn:project:blog cairn:project:shop cairn:profile:readonly\"}",
                            "cairn_", &p),
               STATUS_OK);
  CHECK_STR(p.name, "oauth:alice");
  CHECK_STR(p.team, "web");
  CHECK_INT(p.role, ROLE_PROJECT);
  CHECK_INT(p.projects.n, 2);
  CHECK_STR(p.projects.v[1], "blog");
  CHECK(p.read_only);
  CHECK_STR(p.profile, "readonly");
  CHECK_STATUS(
      principal_of("{\"sub\":\"b\",\"scp\":[\"cairn:write\",\"cairn:team:web\",\"cairn:role:admin\"]}", "cairn_", &p),
      STATUS_OK);
  CHECK_INT(p.role, ROLE_ADMIN);
  CHECK(!p.read_only && !p.profile.p);
}

TEST(claims_map_to_a_principal) {
  struct principal p;
  CHECK_STATUS(
      principal_of("{\"sub\":\"a\",\"https://x/cairn_team\":\"web\",\"https://x/cairn_projects\":[\"my shop\"],"
                   "\"https://x/cairn_access\":\"write\",\"cairn_team\":\"other\"}",
                   "https://x/cairn_", &p),
      STATUS_OK);
  CHECK_STR(p.team, "web");
  CHECK_STR(p.projects.v[0], "my shop");
  CHECK(!p.read_only);
  CHECK_STATUS(principal_of("{\"sub\":\"a\",\"cairn_team\":\"web\",\"cairn_role\":\"skill\",\"cairn_access\":\"read\"}",
                            "cairn_", &p),
               STATUS_OK);
  CHECK_INT(p.role, ROLE_SKILL);
}

TEST(incomplete_or_contradictory_tokens_are_denied) {
  static const char *const claims[] = {
      "{}",
      "{\"sub\":\"a\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web\"}", /* neither role nor project */
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team: cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:Web cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:../x cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:team:shop cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin\",\"cairn_team\":\"shop\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin cairn:role:project\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:root\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:project\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin cairn:project:shop\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin cairn:profile:nonsense\"}",
      "{\"sub\":\"a\",\"scope\":\"cairn:READ cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"a\",\"scope\":7,\"cairn_team\":[\"web\"]}",
      "{\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"a b\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"a\\n\",\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}",
      "{\"sub\":\"a\",\"cairn_access\":\"read\",\"cairn_team\":\"web\",\"cairn_projects\":[\"\"]}",
      "{\"sub\":\"a\",\"cairn_access\":\"read\",\"cairn_team\":\"web\",\"cairn_projects\":[\"a\\u0000b\"]}",
  };
  struct principal p;
  for (size_t i = 0; i < ARRAY_LEN(claims); i++)
    CHECK_STATUS(principal_of(claims[i], "cairn_", &p), STATUS_DENIED);
}

/* ---- the file ---- */

#define CLAIMS                                                                                                         \
  "{\"iss\":\"https://id.example\",\"aud\":\"https://memory.example/mcp\",\"sub\":\"alice\",\"exp\":1772370000,"       \
  "\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}"

static struct oauth *open_issuer(const char *path) {
  struct oauth_options o = {
      .issuer = "https://id.example", .audience = "https://memory.example/mcp", .jwks = path, .claim_prefix = "cairn_"};
  struct oauth *oauth;
  struct error err;
  CHECK_OK(oauth_new(&o, &oauth, &err), &err);
  return oauth;
}

static enum status identify(struct oauth *oauth, const char *token) {
  struct principal p;
  struct error err;
  enum status s = oauth_identify(oauth, str_from(token), INT64_C(1772366400000), &a, &p, &err);
  if (s == STATUS_OK) {
    CHECK_STR(p.team, "web");
    CHECK_INT(p.expires_at, INT64_C(1772370060000)); /* exp plus the leeway, during which calls are accepted */
  }
  return s;
}

TEST(keys_are_read_again_when_their_file_changes) {
  const char *path = path_join(NULL, "jwks.json");
  const char *ec = issuer_token(ISSUER_EC, CLAIMS), *ed = issuer_token(ISSUER_ED, CLAIMS);
  file_write(path, str_from(textf("{\"keys\":[%s]}", issuer_jwk(ISSUER_EC))));
  struct oauth *oauth = open_issuer(path);
  CHECK_STATUS(identify(oauth, ec), STATUS_OK);
  CHECK_STATUS(identify(oauth, ed), STATUS_UNKNOWN_CALLER);
  file_write(path, str_from(textf("{\"keys\":[%s]}", issuer_jwk(ISSUER_ED))));
  CHECK_STATUS(identify(oauth, ed), STATUS_OK);
  CHECK_STATUS(identify(oauth, ec), STATUS_UNKNOWN_CALLER);
  file_write(path, STR("{\"keys\":[")); /* half written */
  CHECK_STATUS(identify(oauth, ed), STATUS_OK);
  unlink(path);
  CHECK_STATUS(identify(oauth, ed), STATUS_OK);
  file_write(path, str_from(textf("{\"keys\":[%s]}", issuer_jwk(ISSUER_EC))));
  CHECK_STATUS(identify(oauth, ec), STATUS_OK);
  oauth_free(&oauth);
}

/* A file larger than the arena's first block: reading it, parsing it and each key allocate memory. */
static void write_large_set(const char *path, enum issuer_key key) {
  enum { PADDING = 20000 };
  char *padding = arena_alloc(&a, PADDING);
  memset(padding, ' ', PADDING);
  file_write(path, arena_printf(&a, "{\"keys\":[%s]}%.*s", issuer_jwk(key), (int)PADDING, padding));
}

TEST(an_issuer_out_of_memory_fails_or_has_its_keys) {
  const char *path = path_join(NULL, "jwks.json"), *token = issuer_token(ISSUER_EC, CLAIMS);
  struct oauth_options o = {
      .issuer = "https://id.example", .audience = "https://memory.example/mcp", .jwks = path, .claim_prefix = "cairn_"};
  write_large_set(path, ISSUER_EC);
  int failures = 0;
  bool failed = true;
  for (long n = 1; failed; n++) {
    struct oauth *oauth = NULL;
    struct error err;
    test_note("allocation %ld", n);
    alloc_fail_at(n, 0);
    enum status s = oauth_new(&o, &oauth, &err);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    if (failed) {
      CHECK_STATUS(s, STATUS_NOMEM);
      CHECK(!oauth);
      failures++;
    } else {
      CHECK_OK(s, &err);
      CHECK_STATUS(identify(oauth, token), STATUS_OK);
    }
    oauth_free(&oauth);
  }
  CHECK(failures >= 4); /* the issuer, the keys, the text, the parsed JSON */
}

/* Returns whether the nth allocation was reached and failed. */
static bool identify_fails_at(long n, struct oauth *oauth, const char *token) {
  jmp_buf oom;
  alloc_fail_at(n, 0);
  if (!ARENA_BOUNDARY(&a, oom))
    (void)identify(oauth, token);
  a.oom = NULL;
  bool failed = alloc_failures() > 0;
  alloc_fail_at(0, 0);
  return failed;
}

/* If reading new keys runs out of memory, the next call reads them again. */
TEST(keys_are_read_again_after_running_out_of_memory) {
  const char *path = path_join(NULL, "jwks.json");
  const char *ec = issuer_token(ISSUER_EC, CLAIMS), *ed = issuer_token(ISSUER_ED, CLAIMS);
  bool failed = true;
  for (long n = 1; failed; n++) {
    test_note("allocation %ld", n);
    write_large_set(path, ISSUER_EC);
    struct oauth *oauth = open_issuer(path);
    write_large_set(path, ISSUER_ED);
    failed = identify_fails_at(n, oauth, ed);
    CHECK_STATUS(identify(oauth, ed), STATUS_OK);
    CHECK_STATUS(identify(oauth, ec), STATUS_UNKNOWN_CALLER);
    oauth_free(&oauth);
  }
}

TEST(without_keys_there_is_no_issuer) {
  struct oauth_options o = {.issuer = "https://i", .audience = "https://a", .jwks = path_join(NULL, "missing.json")};
  struct oauth *oauth = NULL;
  struct error err;
  CHECK_STATUS(oauth_new(&o, &oauth, &err), STATUS_NOT_FOUND);
  CHECK(!oauth);
}

TEST(metadata_path_follows_the_host) {
  static const struct {
    const char *audience, *url;
  } want[] = {
      {"https://memory.example/mcp", "https://memory.example/.well-known/oauth-protected-resource/mcp"},
      {"https://memory.example", "https://memory.example/.well-known/oauth-protected-resource"},
      {"https://memory.example/", "https://memory.example/.well-known/oauth-protected-resource"},
      {"https://memory.example:8443/a/mcp", "https://memory.example:8443/.well-known/oauth-protected-resource/a/mcp"},
  };
  const char *path = path_join(NULL, "jwks.json");
  file_write(path, str_from(textf("{\"keys\":[%s]}", issuer_jwk(ISSUER_ED))));
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    struct oauth_options o = {.issuer = "https://id.example", .audience = want[i].audience, .jwks = path};
    struct oauth *oauth;
    struct error err;
    CHECK_OK(oauth_new(&o, &oauth, &err), &err);
    CHECK_STR(oauth_metadata_url(oauth, &a), want[i].url);
    oauth_free(&oauth);
  }
}
