/* test_issuer_tokens.c: access tokens of an issuer, each wrong in one way. Every client has its own address, so that no
 * lockout hides the verdict. The reply is the same for all; the log has the reason of each. */
#include "support/issuer.h"
#include "support/serve.h"

#define ISSUER "https://id.example"
#define AUDIENCE "https://memory.example/mcp"
#define SCOPE "\"scope\":\"cairn:read cairn:team:web cairn:role:admin\""
#define WHO "\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "\",\"sub\":\"alice\""
#define GOOD "{" WHO ",\"exp\":1772370000," SCOPE "}" /* the program's clock is at 1772366400 */
#define ES256 "\"alg\":\"ES256\",\"kid\":\"ec\""

#define NO_TOKEN "it is not a signed token"
#define NO_HEADER "its header is malformed"
#define NO_KEY "the issuer has no such key for this algorithm (kid, alg)"
#define NO_SIGNATURE "its signature is wrong"
#define NO_CLAIMS "its claims are malformed"
#define NO_ISSUER "it is of another issuer (iss)"
#define NO_EXPIRY "it has no valid expiry (exp)"
#define NO_AUDIENCE "it is for another audience (aud)"
#define TOO_EARLY "it is not valid yet (nbf)"

static struct serve *start(void) {
  const char *path = path_join(NULL, "jwks.json");
  file_write(path, str_from(issuer_jwks()));
  return serve_start(ARGS("--set", "oauth.issuer=" ISSUER, "--set", "oauth.audience=" AUDIENCE, "--set",
                          textf("oauth.jwks=%s", path), "--behind-proxy"));
}

static struct answer ask(const struct serve *s, int client, const char *token) {
  return serve_do(s, "GET", "/readyz",
                  textf("X-Forwarded-For: 203.0.113.%d\r\nAuthorization: Bearer %s\r\n", client, token), STR_NONE);
}

struct wrong {
  const char *token, *reason;
};

/* The log has one event for each, with its address and its reason. */
static void check_all(const struct wrong *cases, size_t n) {
  int64_t before = last_seq();
  struct serve *s = start();
  struct str first = STR_NONE;
  for (size_t i = 0; i < n; i++) {
    struct answer a = ask(s, (int)i + 1, cases[i].token);
    test_note("%zu: %s", i, cases[i].reason);
    CHECK_INT(a.status, 401);
    CHECK(has(answer_header(&a, "www-authenticate"), "error=\"invalid_token\""));
    first = i ? first : a.body;
    CHECK(str_eq(a.body, first));
  }
  CHECK_INT(ask(s, 250, issuer_token(ISSUER_EC, GOOD)).status, 200);
  serve_stop(s);
  struct json_lines events = events_since(before);
  size_t at = 0;
  for (size_t i = 0; i < events.n; i++)
    if (str_is(jstr(events.v[i], "action"), "auth:failed")) {
      CHECK(at < n);
      test_note("%zu", at);
      CHECK_STR(jstr(events.v[i], "detail.peer"), textf("203.0.113.%d", (int)at + 1));
      CHECK_STR(jstr(events.v[i], "detail.reason"), cases[at++].reason);
    }
  CHECK_INT(at, n);
}

#define HEAD(head, why) {issuer_sign(ISSUER_EC, "{" head "}", GOOD), why}
#define CLAIMS(claims, why) {issuer_token(ISSUER_EC, claims), why}

TEST(each_wrong_header_has_its_reason, .seconds = 60) {
  const struct wrong cases[] = {
      HEAD("\"alg\":\"none\",\"kid\":\"ec\"", NO_KEY),
      HEAD("\"alg\":\"None\",\"kid\":\"ec\"", NO_KEY),
      {textf("%s.%s.", issuer_encode(STR("{\"alg\":\"none\",\"kid\":\"ec\"}")), issuer_encode(STR(GOOD))), NO_TOKEN},
      {issuer_sign_hmac("{\"alg\":\"HS256\",\"kid\":\"rsa\"}", GOOD), NO_KEY}, /* the public key as the secret */
      {issuer_sign_hmac("{\"alg\":\"RS256\",\"kid\":\"rsa\"}", GOOD), NO_SIGNATURE},
      {issuer_sign(ISSUER_RSA, "{" ES256 "}", GOOD), NO_SIGNATURE},
      {issuer_sign(ISSUER_RSA, "{\"alg\":\"PS256\",\"kid\":\"rsa\"}", GOOD), NO_KEY},
      {issuer_sign(ISSUER_RSA, "{\"alg\":\"RS512\",\"kid\":\"rsa\"}", GOOD), NO_KEY},
      {issuer_sign(ISSUER_EC, "{\"alg\":\"RS256\",\"kid\":\"rsa\"}", GOOD), NO_SIGNATURE},
      {issuer_sign(ISSUER_EC, "{\"alg\":\"RS256\",\"kid\":\"ec\"}", GOOD), NO_KEY},
      {issuer_sign(ISSUER_ED, "{" ES256 "}", GOOD), NO_SIGNATURE}, /* of another curve */
      HEAD("\"alg\":\"ES384\",\"kid\":\"ec\"", NO_KEY),
      {issuer_token(ISSUER_OTHER, GOOD), NO_SIGNATURE},
      {issuer_token(ISSUER_WEAK, GOOD), NO_KEY},
      HEAD("\"alg\":\"ES256\",\"kid\":\"unknown\"", NO_KEY),
      HEAD("\"alg\":\"ES256\",\"kid\":\"../../jwks.json\"", NO_KEY),
      HEAD("\"alg\":\"ES256\"", NO_KEY),
      HEAD("\"kid\":\"ec\"", NO_KEY),
      HEAD("\"alg\":\"ES256\",\"jku\":\"https://evil.example/jwks\",\"kid\":\"mine\"", NO_KEY),
      {issuer_sign(ISSUER_OTHER, textf("{" ES256 ",\"jwk\":%s}", issuer_jwk(ISSUER_OTHER)), GOOD), NO_SIGNATURE},
      HEAD(ES256 ",\"typ\":\"dpop+jwt\"", "it is not an access token (typ)"),
      HEAD(ES256 ",\"crit\":[\"exp\"]", "it requires an extension (crit)"),
      HEAD(ES256 ",\"alg\":\"none\"", NO_HEADER), /* a duplicate member */
      {issuer_sign(ISSUER_EC, "[]", GOOD), NO_HEADER},
      {"a.b.c", NO_TOKEN},
      {"opaque", NO_TOKEN},
      {textf("%s.x", issuer_token(ISSUER_EC, GOOD)), NO_TOKEN},
  };
  check_all(cases, ARRAY_LEN(cases));
}

TEST(each_wrong_claim_has_its_reason, .seconds = 60) {
  const struct wrong cases[] = {
      CLAIMS("{" WHO ",\"exp\":1772366300," SCOPE "}", "it has expired (exp)"),
      CLAIMS("{" WHO ",\"exp\":0," SCOPE "}", "it has expired (exp)"),
      CLAIMS("{" WHO ",\"exp\":-1," SCOPE "}", "it has expired (exp)"),
      CLAIMS("{" WHO "," SCOPE "}", NO_EXPIRY),
      CLAIMS("{" WHO ",\"exp\":\"1772370000\"," SCOPE "}", NO_EXPIRY),
      CLAIMS("{" WHO ",\"exp\":1e300," SCOPE "}", NO_EXPIRY),
      CLAIMS("{" WHO ",\"exp\":1772370000,\"nbf\":1772366500," SCOPE "}", TOO_EARLY),
      CLAIMS("{" WHO ",\"exp\":1772370000,\"nbf\":\"0\"," SCOPE "}", TOO_EARLY),
      CLAIMS("{\"iss\":\"https://id.evil\",\"aud\":\"" AUDIENCE "\",\"sub\":\"a\",\"exp\":1772370000}", NO_ISSUER),
      CLAIMS("{\"iss\":\"" ISSUER "/\",\"aud\":\"" AUDIENCE "\",\"sub\":\"a\",\"exp\":1772370000}", NO_ISSUER),
      CLAIMS("{\"iss\":[\"" ISSUER "\"],\"aud\":\"" AUDIENCE "\",\"sub\":\"a\",\"exp\":1772370000}", NO_ISSUER),
      CLAIMS("{\"aud\":\"" AUDIENCE "\",\"sub\":\"a\",\"exp\":1772370000}", NO_ISSUER),
      CLAIMS("{\"iss\":\"" ISSUER "\",\"aud\":\"https://other.example/mcp\",\"sub\":\"a\",\"exp\":1772370000}",
             NO_AUDIENCE),
      CLAIMS("{\"iss\":\"" ISSUER "\",\"aud\":[\"x\"],\"sub\":\"a\",\"exp\":1772370000}", NO_AUDIENCE),
      CLAIMS("{\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "/\",\"sub\":\"a\",\"exp\":1772370000}", NO_AUDIENCE),
      CLAIMS("{\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"exp\":1772370000}", NO_AUDIENCE),
      CLAIMS("{" WHO ",\"exp\":1772370000,\"cnf\":{\"jkt\":\"x\"}," SCOPE "}",
             "it is bound to a key of its client (cnf)"),
      CLAIMS("{" WHO ",\"exp\":1772370000,\"exp\":1772380000," SCOPE "}", NO_CLAIMS), /* duplicate members */
      CLAIMS("{" WHO ",\"aud\":\"" AUDIENCE "\",\"exp\":1772370000," SCOPE "}", NO_CLAIMS),
      CLAIMS("{" WHO ",\"exp\":1772370000,\"scope\":\"cairn:read\"," SCOPE "}", NO_CLAIMS),
      CLAIMS("[]", NO_CLAIMS),
      CLAIMS("not json", NO_CLAIMS),
      {textf("%s.%s.%s", issuer_encode(STR("{" ES256 "}")), issuer_encode(STR(GOOD)), issuer_encode(STR("x"))),
       NO_SIGNATURE},
  };
  check_all(cases, ARRAY_LEN(cases));
}

/* Signed and for this server, but not enough: 403, and no wrong attempt. */
TEST(incomplete_tokens_say_what_is_missing, .seconds = 60) {
  static const struct {
    const char *claims, *says;
  } cases[] = {
      {"\"sub\":\"a\"", "names no team"},
      {"\"sub\":\"a\",\"scope\":\"cairn:team:web\"", "allows neither reading nor writing"},
      {"\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"", "has no valid subject (sub)"},
      {"\"sub\":\"\"," SCOPE, "has no valid subject (sub)"},
      {"\"sub\":\"a b\"," SCOPE, "has no valid subject (sub)"},
      {"\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:role:root\"", "names an unknown role"},
      {"\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web\"", "needs either projects or another role"},
      {"\"sub\":\"a\",\"scope\":\"cairn:read cairn:team:web cairn:team:shop cairn:role:admin\"", "names two teams"},
      {"\"sub\":\"a\",\"cairn_team\":\"shop\"," SCOPE, "names two teams"},
      {"\"sub\":\"a\",\"cairn_profile\":\"nonsense\"," SCOPE, "names an unknown profile"},
  };
  int64_t before = last_seq();
  struct serve *s = start();
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct answer a =
        ask(s, 1,
            issuer_token(ISSUER_ED, textf("{\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "\",\"exp\":1772370000,%s}",
                                          cases[i].claims)));
    test_note("%s", cases[i].claims);
    CHECK_INT(a.status, 403);
    CHECK(has(answer_header(&a, "www-authenticate"), "error=\"insufficient_scope\""));
    if (!has(a.body, cases[i].says))
      FAIL("%.*s", STR_ARG(a.body));
  }
  serve_stop(s);
  struct json_lines events = events_since(before);
  for (size_t i = 0; i < events.n; i++)
    CHECK(!str_starts(jstr(events.v[i], "action"), STR("auth:")));
}

/* Longer than any token may be: not even decoded. */
TEST(an_oversize_token_is_refused) {
  struct serve *s = start();
  const char *padding = words("x", 1500);
  const char *token = issuer_token(ISSUER_EC, textf("{" WHO ",\"exp\":1772370000,\"x\":\"%s\"," SCOPE "}", padding));
  CHECK(strlen(token) > 8192 && strlen(token) < 15000);
  CHECK_INT(ask(s, 1, token).status, 401);
  CHECK_INT(ask(s, 1, issuer_token(ISSUER_EC, GOOD)).status, 200);
  serve_stop(s);
}
