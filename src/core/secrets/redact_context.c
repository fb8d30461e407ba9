/* redact_context.c: finder of secrets by context: after the name of a secret, in a header, in a URL. */
#include "core/secrets/redact_scan.h"

enum { JUDGED_BYTES = 512 };

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* How a name and a value are connected. */
struct link {
  size_t name_end, value; /* end of the name, and where the value may start */
  bool loose;             /* by words, not punctuation: "the password is ..." */
  bool tight;             /* by a '=' without blanks */
  bool shell;             /* the next word is always the value: --password x */
  bool call;              /* set_password("x"), but also should_pass("x") */
};

/* Skips back over characters between a name and its separator: blanks, quotes, the ']' of a subscript, '*'. Stops at a
 * [REDACTED:...] marker. */
static size_t name_end_before(struct str text, size_t at) {
  size_t limit = at > 8 ? at - 8 : 0;
  while (at > limit && (is_blank(text.p[at - 1]) || redact_one_of(text.p[at - 1], "\"'`*\\") ||
                        (text.p[at - 1] == ']' && !redact_has_word_before(text, at))))
    at--;
  return at;
}

/* End of "password" in "password for the staging database"; `end` if there is no such "for". */
static size_t end_before_for(struct str text, size_t end) {
  for (size_t i = end; i > 4 && end - i < 48; i--) {
    if (redact_at(text, i - 5, " for "))
      return i - 5;
    if (!redact_in(text.p[i - 1], IN_WORD | IN_DASH | IN_DOT) && text.p[i - 1] != ' ')
      break;
  }
  return end;
}

/* End of "password" in "password: str" and "password string"; `end` if there is no type. */
static size_t end_before_type(struct str text, size_t end) {
  static const char *const types[] = {"str", "string", "bytes"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++) {
    size_t n = strlen(types[i]);
    if (end <= n || !redact_at_nocase(text, end - n, types[i]) || redact_in(text.p[end - n - 1], IN_WORD))
      continue;
    size_t before = name_end_before(text, end - n);
    return before > 0 && text.p[before - 1] == ':' ? name_end_before(text, before - 1) : before;
  }
  return end;
}

/* Flags of the name before a link; 0 if it does not name a secret. */
static unsigned linked_name(struct str text, char separator, struct link *link, size_t *ret_start) {
  unsigned flags = redact_name_flags(text, link->name_end, ret_start);
  if (flags || link->name_end == 0)
    return flags;
  size_t end = link->name_end;
  if (separator == '=')
    end = end_before_type(text, link->name_end);
  else if (separator == ':' || separator == 'i')
    end = end_before_for(text, link->name_end);
  if (end == link->name_end)
    return 0;
  link->loose = link->loose || separator != '=';
  return redact_name_flags(text, end, ret_start);
}

static bool has_lower(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (redact_in(s.p[i], IN_LOWER))
      return true;
  return false;
}

/* DB_PASSWORD=correct-horse-battery: plain words, but the context is unambiguous. */
static bool is_word_password(struct str name, const struct link *link, struct str value) {
  if (!link->tight || has_lower(name) || value.n < 12 || redact_is_placeholder(value) || !redact_is_varied(value))
    return false;
  for (size_t i = 0; i < value.n; i++)
    if (redact_one_of(value.p[i], "./(){}[]<> \t") || redact_at_nocase(value, i, "pass") ||
        redact_at_nocase(value, i, "secret"))
      return false;
  return true;
}

static bool is_path(struct str v) {
  return redact_at(v, 0, "/") || redact_at(v, 0, "./") || redact_at(v, 0, "../") || redact_at(v, 0, "~/");
}

/* An identifier, not a value: settings.v2.api_key, x25519.X25519PrivateKey. */
static bool is_member(struct str v) {
  size_t start;
  return memchr(v.p, '.', v.n) && redact_run(v, 0, IN_WORD | IN_DOT, SIZE_MAX) == v.n &&
         redact_name_flags(v, v.n, &start);
}

static bool is_secret(struct str text, const struct link *link, unsigned flags, size_t name_start,
                      const struct redact_value *value) {
  struct str v = str_slice(text, value->start, value->end);
  if (str_find(v, STR("://"), 0) != SIZE_MAX || is_member(v))
    return false;
  if (flags & NAME_GCP)
    return v.n >= 32 && redact_run(v, 0, IN_HEX, SIZE_MAX) == v.n && redact_is_varied(v);
  int need = flags & NAME_PASSWORD ? STRENGTH_NUMBER : STRENGTH_MIXED;
  bool loose = (link->loose && !value->quoted) || (value->prose && !link->tight && !link->shell);
  need = is_path(v) ? STRENGTH_RANDOM : need + (loose || link->call);
  if ((int)redact_strength(v) >= need)
    return true;
  return flags & NAME_PASSWORD && is_word_password(str_slice(text, name_start, link->name_end), link, v);
}

static size_t find_header(struct redact_scan *s, size_t at);

/* Examines the name and the value around a separator; returns where to continue. */
static size_t find_linked(struct redact_scan *s, size_t at, struct link link) {
  struct str text = s->text;
  size_t name_start;
  unsigned flags = linked_name(text, text.p[at], &link, &name_start);
  if (!flags || flags & NAME_KEY)
    return at + 1;
  /* One of several colons, as in an ARN: secret:name. */
  if (text.p[at] == ':' && name_start > 0 && text.p[name_start - 1] == ':')
    return at + 1;
  if (flags & NAME_HEADER)
    return find_header(s, link.value);
  struct redact_value value;
  if (!redact_read_value(text, link.value, &value) || !is_secret(text, &link, flags, name_start, &value))
    return at + 1;
  size_t end = redact_value_end(text, &value);
  const char *pattern = flags & NAME_AWS   ? "aws_secret_key"
                        : flags & NAME_GCP ? "gcp_service_account"
                                           : "secret_assignment";
  redact_add(s, value.start, end, pattern, FOUND_CONTEXT);
  return end;
}

static size_t find_equals(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t value = at + 1;
  while (value < text.n && value < at + 3 && redact_one_of(text.p[value], "=>"))
    value++;
  size_t sign = at > 0 && redact_one_of(text.p[at - 1], ":?") ? at - 1 : at; /* := and ?= */
  size_t name_end = name_end_before(text, sign);
  bool tight = name_end == sign && value < text.n && !is_blank(text.p[value]);
  return find_linked(s, at, (struct link){.name_end = name_end, .value = value, .tight = tight});
}

/* <password>...</password> on one line */
static size_t find_element(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t start = at, close = at + 1;
  while (start > 0 && at - start < 64 && redact_in(text.p[start - 1], IN_WORD | IN_DASH | IN_DOT))
    start--;
  if (start == at || start == 0 || text.p[start - 1] != '<')
    return at + 1;
  while (close < text.n && close - at < JUDGED_BYTES && !redact_one_of(text.p[close], "<\n"))
    close++;
  if (!redact_at(text, close, "</"))
    return at + 1;
  return find_linked(s, at, (struct link){.name_end = at, .value = at + 1});
}

/* set_password("...") */
static size_t find_call(struct redact_scan *s, size_t at) {
  if (at + 1 >= s->text.n || !redact_one_of(s->text.p[at + 1], "\"'"))
    return at + 1;
  return find_linked(s, at, (struct link){.name_end = at, .value = at + 1, .call = true});
}

/* "the password is ..." */
static size_t find_is(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  if (at == 0 || text.p[at - 1] != ' ' || !redact_at(text, at, "is "))
    return at + 1;
  size_t value = at + 3;
  value += redact_at(text, value, "now ") ? 4u : redact_at(text, value, "set to ") ? 7u : 0u;
  return find_linked(s, at, (struct link){.name_end = name_end_before(text, at), .value = value, .loose = true});
}

/* curl -u user:password */
static size_t find_user_option(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  struct redact_value value;
  if (!redact_read_value(text, at, &value))
    return at;
  const char *colon = memchr(text.p + value.start, ':', value.end - value.start);
  size_t start = colon ? (size_t)(colon - text.p) + 1 : value.end;
  if (redact_strength(str_slice(text, start, value.end)) < STRENGTH_MIXED)
    return at;
  size_t end = redact_value_end(text, &value);
  redact_add(s, start, end, "secret_assignment", FOUND_CONTEXT);
  return end;
}

/* --password x. With a '=', find_equals() handles it. */
static size_t find_option(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  if (at > 0 && !is_blank(text.p[at - 1]) && !redact_one_of(text.p[at - 1], "\n\"'`[("))
    return at + 1;
  if (redact_at(text, at, "-u ") || redact_at(text, at, "--user "))
    return find_user_option(s, at + (text.p[at + 1] == 'u' ? 3 : 7));
  size_t end = at + redact_run(text, at, IN_ALNUM | IN_DASH | IN_UNDERSCORE, 64), start;
  bool listed = redact_at(text, end, "\",") || redact_at(text, end, "',"); /* ["--password", "x"] */
  size_t value = listed ? end + 2 : end + redact_at(text, end, " ");
  if (!redact_at(text, at, "--") || value == end || redact_at(text, value, "-"))
    return at + 1;
  if (!redact_name_flags(text, end, &start) || start != at)
    return at + 1;
  return find_linked(s, end, (struct link){.name_end = end, .value = value, .shell = true});
}

/* ---- headers, URLs, hex ---- */

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
static size_t find_header(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t limit = text.n - at > 8 ? at + 8 : text.n;
  while (at < limit && (is_blank(text.p[at]) || redact_one_of(text.p[at], "\"'`\\")))
    at++;
  size_t scheme = redact_run(text, at, IN_LOWER | IN_UPPER, 16);
  if (scheme == 0 || !redact_at(text, at + scheme, " "))
    return find_credentials(s, at, 20, "authorization_header");
  size_t min = redact_at_nocase(text, at, "basic ") ? 12 : 20;
  return find_credentials(s, at + scheme + 1, min, "authorization_header");
}

static size_t find_bearer(struct redact_scan *s, size_t at) {
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

static size_t find_url(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t scheme = at, user = at + 3, colon, end;
  while (scheme > 0 && at - scheme < 32 && redact_in(text.p[scheme - 1], IN_ALNUM | IN_DOT | IN_DASH | IN_PLUS_SLASH))
    scheme--;
  read_userinfo(text, at, &colon, &end);
  const char *pattern = is_database(str_slice(text, scheme, at)) ? "db_url_password" : "url_password";
  struct str name = str_slice(text, user, colon);
  if (name.n >= 20 && redact_strength(name) == STRENGTH_RANDOM)
    redact_add(s, user, colon, pattern, FOUND_CONTEXT);
  if (colon < end && is_url_password(name, str_slice(text, colon + 1, end)))
    redact_add(s, colon + 1, end, pattern, FOUND_CONTEXT);
  return end;
}

/* At least 32 hex digits directly after "key", "token", "secret" or "password". */
static size_t find_hex(struct redact_scan *s, size_t at) {
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
         (is_blank(text.p[before - 1]) || redact_one_of(text.p[before - 1], ":=\"'`>(")))
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

static size_t find_colon(struct redact_scan *s, size_t at, size_t width) {
  struct str text = s->text;
  if (redact_at(text, at, "://"))
    return find_url(s, at);
  if (redact_at(text, at, "::") || redact_at(text, at, ":=") || (at > 0 && text.p[at - 1] == ':'))
    return at + 1;
  return find_linked(s, at, (struct link){.name_end = name_end_before(text, at), .value = at + width});
}

/* Findings that start at the beginning of a word. */
static size_t find_word(struct redact_scan *s, size_t at) {
  char c = s->text.p[at];
  if (c == 'i')
    return find_is(s, at);
  if ((c | 32) == 'b') {
    size_t end = find_bearer(s, at);
    if (end > at + 1)
      return end;
  }
  return redact_in(c, IN_HEX) ? find_hex(s, at) : at;
}

/* Searches at the start of a run of letters and digits, and after the escape that it starts with. */
static size_t find_in_run(struct redact_scan *s, size_t at) {
  size_t run = at + redact_run(s->text, at, IN_ALNUM, SIZE_MAX), start = at + redact_escape_tail(s->text, at);
  size_t end = start > at && start < s->text.n ? find_word(s, start) : at;
  if (end <= run && !redact_has_word_before(s->text, at))
    end = find_word(s, at);
  return end > run ? end : run;
}

/* Findings around punctuation. */
static size_t find_punctuation(struct redact_scan *s, size_t at) {
  static const char wide_colon[] = "：";
  switch (s->text.p[at]) {
  case '=':
    return find_equals(s, at);
  case ':':
    return find_colon(s, at, 1);
  case '\xef':
    return redact_at(s->text, at, wide_colon) ? find_colon(s, at, sizeof(wide_colon) - 1) : at;
  case '>':
    return find_element(s, at);
  case '(':
    return find_call(s, at);
  case '-':
    return find_option(s, at);
  case ';':
    return redact_skip_data(s->text, at);
  default:
    return at;
  }
}

void redact_find_contexts(struct redact_scan *s) {
  for (size_t i = 0; i < s->text.n;) {
    size_t next = redact_in(s->text.p[i], IN_ALNUM) ? find_in_run(s, i) : find_punctuation(s, i);
    i = next > i ? next : i + 1;
  }
}
