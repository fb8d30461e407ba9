/* redact_url.c: finder of credentials in headers and URLs, and of hex after the word "key". */
#include "core/secrets/redact_scan.h"

enum { JUDGED_BYTES = 512 };

/* Credentials of at least `min` bytes at `at`. */
static size_t find_credentials(struct redact_scan *s, size_t at, size_t min, const char *pattern) {
  enum { ALPHABET = IN_B64URL | IN_PLUS_SLASH | IN_DOT | IN_EQUALS | IN_PERCENT };
  size_t n = redact_run(s->text, at, ALPHABET, JUDGED_BYTES);
  if (n < min || redact_strength(str_slice(s->text, at, at + n)) < STRENGTH_MIXED || redact_marker(s->text, at + n))
    return at;
  size_t end = at + redact_run(s->text, at, ALPHABET, SIZE_MAX);
  while (end > at && s->text.p[end - 1] == '.')
    end--;
  redact_add(s, at, end, pattern, FOUND_CONTEXT);
  return end;
}

/* After "Authorization:": a scheme and credentials, or only credentials. */
size_t redact_find_header(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t limit = text.n - at > 8 ? at + 8 : text.n;
  while (at < limit && (redact_is_blank(text.p[at]) || redact_one_of(text.p[at], "\"'`\\")))
    at++;
  size_t scheme = redact_run(text, at, IN_LOWER | IN_UPPER, 16);
  if (scheme == 0 || !redact_at(text, at + scheme, " "))
    return find_credentials(s, at, 20, "authorization_header");
  size_t min = redact_at_nocase(text, at, "basic ") ? 12 : 20;
  return find_credentials(s, at + scheme + 1, min, "authorization_header");
}

size_t redact_find_bearer(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  if (!redact_at_nocase(text, at, "bearer"))
    return at + 1;
  size_t i = at + 6;
  i += redact_at(text, i, ":");
  size_t blanks = redact_at(text, i, "%20") ? 3u : redact_at(text, i, " ");
  if (i + blanks == at + 6)
    return at + 1;
  return find_credentials(s, i + blanks, 20, "bearer_token");
}

static bool is_database(struct str scheme) {
  static const char *const names[] = {"postgres",  "mysql", "maria",  "mongo",  "redis", "valkey", "amqp",      "mssql",
                                      "sqlserver", "click", "cockro", "oracle", "neo4j", "bolt",   "couchbase", "ldap"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (redact_at_nocase(scheme, 0, names[i]))
      return true;
  return false;
}

/* user:password@ is unambiguous, so plain words count, except those that every manual uses. */
static bool is_url_password(struct str user, struct str password) {
  if (password.n < 8 || redact_is_placeholder(password) || !redact_is_varied(password))
    return false;
  if (redact_strength(password) >= STRENGTH_NUMBER)
    return true;
  for (size_t i = 0; i < password.n; i++)
    if (redact_at_nocase(password, i, "pass") || redact_at_nocase(password, i, "secret") ||
        redact_at_nocase(password, i, "token"))
      return false;
  return user.n > 0 && !str_ieq(user, password);
}

/* Finds user and password of the URL whose "://" is at `at`; both are empty if there is no '@'. */
static void read_userinfo(struct str text, size_t at, size_t *ret_colon, size_t *ret_end) {
  size_t user = at + 3, colon = 0, end = 0;
  for (size_t i = user; i < text.n && i - user < JUDGED_BYTES; i++) {
    char c = text.p[i];
    if (ascii_space(c) || redact_one_of(c, "/\"'`<>\\") || (c == '[' && redact_marker(text, i)))
      break;
    /* Start of a query or fragment, but people also use these characters in passwords. */
    if (redact_one_of(c, "?#") && (!colon || redact_run(text, colon + 1, IN_DIGIT, 6) == i - colon - 1))
      break;
    end = c == '@' ? i : end;
    colon = c == ':' && !colon ? i : colon;
  }
  *ret_end = end ? end : user;
  *ret_colon = colon && colon < *ret_end ? colon : *ret_end;
}

size_t redact_find_url(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t scheme = at, user = at + 3, colon, end;
  while (scheme > 0 && at - scheme < 32 && redact_in(text.p[scheme - 1], IN_ALNUM | IN_DOT | IN_DASH | IN_PLUS_SLASH))
    scheme--;
  read_userinfo(text, at, &colon, &end);
  bool database = is_database(str_slice(text, scheme, at));
  s->has_start |= database;
  const char *pattern = database ? "db_url_password" : "url_password";
  struct str name = str_slice(text, user, colon);
  if (name.n >= 20 && redact_strength(name) == STRENGTH_RANDOM)
    redact_add(s, user, colon, pattern, FOUND_CONTEXT);
  if (colon < end && is_url_password(name, str_slice(text, colon + 1, end)))
    redact_add(s, colon + 1, end, pattern, FOUND_CONTEXT);
  return end;
}

/* At least 32 hex digits directly after "key", "token", "secret" or "password". */
size_t redact_find_hex(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t digits = at + (redact_at(text, at, "0x") ? 2 : 0), n = redact_run(text, digits, IN_HEX, SIZE_MAX);
  size_t end = digits + n, before = at;
  if (n < 32 || redact_has_word_after(text, end) || !redact_is_varied(str_slice(text, digits, end)))
    return end > at ? end : at + 1;
  if (n == 32 && redact_at(text, end, "-us") && redact_run(text, end + 3, IN_DIGIT, 3) > 0) {
    end += 3 + redact_run(text, end + 3, IN_DIGIT, 3);
    redact_add(s, at, end, "mailchimp_key", FOUND_VENDOR);
    return end;
  }
  while (before > 0 && at - before < 4 &&
         (redact_is_blank(text.p[before - 1]) || redact_one_of(text.p[before - 1], ":=\"'`>(")))
    before--;
  if (before >= 3 && before < at && redact_at(text, before - 3, " is"))
    before -= 3;
  size_t start = 0;
  unsigned flags = before < at ? redact_name_flags(text, before, &start) : 0;
  bool in_path = start > 0 && text.p[start - 1] == '/'; /* /etc/pam.d/passwd and its checksum */
  if (flags & (NAME_PASSWORD | NAME_SECRET | NAME_KEY) && !in_path)
    redact_add(s, at, end, "hex_secret", FOUND_CONTEXT);
  return end;
}
