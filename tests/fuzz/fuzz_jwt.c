/* fuzz_jwt.c: any bytes as an access token, and any JSON as its claims. No input passes as a signed token; accepted
 * claims have a valid team, role and projects. */
#include "core/gate/gate.h"
#include "http/access/jwt.h"
#include "http/access/oauth.h"
#include "support/fuzz.h"

/* The keys of RFC 7515, appendix A.3, and RFC 8037, appendix A. */
static const struct str set = STR_INIT(
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"e\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"},"
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"d\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}");

static void check_claims(struct arena *a, struct str text) {
  struct principal p;
  struct error err;
  yyjson_val *v;
  if (json_read(a, text, &v, &err) != STATUS_OK || oauth_principal(a, v, STR("cairn_"), &p, &err) != STATUS_OK)
    return;
  FUZZ_CHECK(gate_check_team(p.team, &err) == STATUS_OK);
  FUZZ_CHECK(str_starts(p.name, STR("oauth:")) && p.name.n > 6);
  FUZZ_CHECK((p.role == ROLE_PROJECT) == (p.projects.n > 0));
  for (size_t i = 0; i < p.projects.n; i++)
    FUZZ_CHECK(p.projects.v[i].n && gate_check_project(p.projects.v[i], &err) == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct jwks keys;
  struct error err;
  struct str text = {(const char *)data, size};
  struct jwt_rules rules = {.issuer = STR("i"), .audience = STR("a"), .now = INT64_C(1772366400000)};
  arena_init(&a);
  FUZZ_CHECK(jwks_read(&a, set, &keys, &err) == STATUS_OK && keys.n == 2);
  FUZZ_CHECK(!jwt_read(&a, &keys, &rules, text, NULL));
  check_claims(&a, text);
  arena_release(&a);
  return 0;
}
