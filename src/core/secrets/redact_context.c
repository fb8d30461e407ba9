/* redact_context.c: finder of secrets by context: after the name of a secret. Calls the finders of redact_url.c,
 * redact_files.c and redact_wallet.c. */
#include "core/secrets/redact_scan.h"

enum { JUDGED_BYTES = 512 };

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
  while (at > limit && (redact_is_blank(text.p[at - 1]) || redact_one_of(text.p[at - 1], "\"'`*\\") ||
                        (text.p[at - 1] == ']' && !redact_has_word_before(text, at))))
    at--;
  return at;
}

/* Words after "password" that say what it opens, each between blanks. */
static bool is_preposition(struct str word) {
  static const char words[] = " for of from on to in at für fuer von vom zu zum zur des der im am auf de du pour del "
                              "di della dello dell do da para por van voor w od dla для от к на из till til als ";
  enum { LONGEST = 8 };
  char spaced[LONGEST + 2] = " ";
  if (word.n == 0 || word.n > LONGEST - 1)
    return false;
  memcpy(spaced + 1, word.p, word.n);
  spaced[word.n + 1] = ' ';
  return str_find((struct str){words, sizeof(words) - 1}, (struct str){spaced, word.n + 2}, 0) != SIZE_MAX;
}

static bool is_word_byte(char c) {
  return redact_in(c, IN_WORD | IN_DASH | IN_DOT) || c == '\'' || (unsigned char)c >= 0x80;
}

/* End of "password" in "password for the staging database"; `end` if there is no such "for". */
static size_t end_before_for(struct str text, size_t end) {
  size_t word_end = end;
  for (size_t i = end; i > 1 && end - i < 48; i--) {
    if (text.p[i - 1] != ' ') {
      if (!is_word_byte(text.p[i - 1]))
        break;
      continue;
    }
    size_t start, quoted = i;
    while (quoted < word_end && is_word_byte(text.p[quoted]) && text.p[quoted] != '\'')
      quoted++;
    if (is_preposition(str_slice(text, i, quoted)) && redact_name_flags(text, i - 1, &start))
      return i - 1;
    word_end = i - 1;
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
  else if (separator == ':' || (unsigned char)separator >= 0x80 || link->loose)
    end = end_before_for(text, link->name_end);
  if (end == link->name_end)
    return 0;
  link->loose = link->loose || separator != '=';
  return redact_name_flags(text, end, ret_start);
}

/* Punctuation of passwords inside the value. */
static bool has_special(struct str s) {
  for (size_t i = 1; i + 1 < s.n; i++)
    if (redact_in(s.p[i], IN_SPECIAL))
      return true;
  return false;
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
  if (str_find(v, STR("://"), 0) != SIZE_MAX || is_member(v) || (link->call && memchr(v.p, ' ', v.n)))
    return false;
  if (flags & NAME_GCP)
    return v.n >= 32 && redact_run(v, 0, IN_HEX, SIZE_MAX) == v.n && redact_is_varied(v);
  int need = flags & NAME_PASSWORD ? STRENGTH_NUMBER : STRENGTH_MIXED;
  bool loose = (link->loose && !value->quoted) || (value->prose && !link->tight && !link->shell);
  need = is_path(v) ? STRENGTH_RANDOM : need + (loose || link->call);
  int strength = (int)redact_strength(v);
  if (link->tight && strength >= STRENGTH_NUMBER && has_special(v) &&
      !has_lower(str_slice(text, name_start, link->name_end)))
    return true; /* SECRET_KEY=kestrel!40 */
  bool mixed = flags & NAME_PASSWORD && strength >= STRENGTH_NUMBER && !is_path(v) && !link->call && redact_is_mixed(v);
  if (strength >= need || mixed)
    return true;
  return flags & NAME_PASSWORD && is_word_password(str_slice(text, name_start, link->name_end), link, v);
}

/* Examines the name and the value around a separator; returns where to continue. */
static size_t find_linked(struct redact_scan *s, size_t at, struct link link) {
  struct str text = s->text;
  size_t name_start;
  unsigned flags = linked_name(text, text.p[at], &link, &name_start);
  if (!flags || flags & NAME_KEY)
    return at + 1;
  s->has_start = true;
  /* One of several colons, as in an ARN: secret:name. */
  if (text.p[at] == ':' && name_start > 0 && text.p[name_start - 1] == ':')
    return at + 1;
  if (flags & NAME_HEADER)
    return redact_find_header(s, link.value);
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
  bool tight = name_end == sign && value < text.n && !redact_is_blank(text.p[value]);
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

/* End of the quoted name at `at`, if a comma and a quoted value follow: define('DB_PASSWORD', '...'). `at` if not. */
static size_t named_argument(struct str text, size_t at, size_t *ret_value) {
  size_t end = at + 1 + redact_run(text, at + 1, IN_WORD | IN_DASH | IN_DOT, 64), i = end + 1;
  if (end >= text.n || text.p[end] != text.p[at])
    return at;
  while (i < text.n && i - end < 8 && (redact_is_blank(text.p[i]) || text.p[i] == ','))
    i++;
  *ret_value = i;
  return i > end + 1 && i < text.n && redact_one_of(text.p[i], "\"'") ? end : at;
}

/* set_password("..."), define("DB_PASSWORD", "...") */
static size_t find_call(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t quote = at + 1, value;
  while (quote < text.n && quote - at < 4 && redact_is_blank(text.p[quote]))
    quote++;
  if (quote >= text.n || !redact_one_of(text.p[quote], "\"'"))
    return at + 1;
  size_t name_end = named_argument(text, quote, &value);
  if (name_end > quote) {
    bool define = at >= 6 && redact_at_nocase(text, at - 6, "define");
    size_t end = find_linked(s, at, (struct link){.name_end = name_end, .value = value, .call = !define});
    if (end > at + 1)
      return end;
  }
  return find_linked(s, at, (struct link){.name_end = at, .value = quote, .call = true});
}

/* "the password is ...", with the name before `at` and the value after `width` bytes. */
static size_t find_stated(struct redact_scan *s, size_t at, size_t width) {
  struct str text = s->text;
  size_t value = at + width;
  value += redact_at(text, value, "now ") ? 4u : redact_at(text, value, "set to ") ? 7u : 0u;
  return find_linked(s, at, (struct link){.name_end = name_end_before(text, at), .value = value, .loose = true});
}

/* The verb in "the password is ...". */
static size_t find_is(struct redact_scan *s, size_t at) {
  static const char *const verbs[] = {"is: ",   "is ",  "ist: ", "ist ", "lautet: ", "lautet ",
                                      "est : ", "est ", "es: ",  "es ",  "era ",     "jest "};
  if (at == 0 || s->text.p[at - 1] != ' ')
    return at + 1;
  for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
    if (s->text.p[at] == verbs[i][0] && redact_at(s->text, at, verbs[i]))
      return find_stated(s, at, strlen(verbs[i]));
  return at + 1;
}

/* The same in other scripts, and a dash instead of the verb. */
static size_t find_foreign_is(struct redact_scan *s, size_t at) {
  static const char *const verbs[] = {"è: ", "è ", "é: ", "é ",  "это ", "— ",  "– ", "是", "为",
                                      "為",  "は", "는 ", "은 ", "هي ",  "هو ", "है ", "：", "είναι "};
  for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
    if (s->text.p[at] == verbs[i][0] && redact_at(s->text, at, verbs[i]))
      return find_stated(s, at, strlen(verbs[i]));
  return at;
}

/* A generated value directly after the word: "contraseña X". */
static size_t find_adjacent(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  struct redact_value value;
  size_t start;
  if (at < 5 || text.p[at - 1] != ' ' || !(redact_name_flags(text, at - 1, &start) & NAME_PASSWORD) ||
      !redact_read_value(text, at, &value))
    return at;
  struct str v = str_slice(text, value.start, value.end);
  if (is_path(v) || redact_strength(v) < STRENGTH_MIXED || !redact_is_mixed(v))
    return at;
  size_t end = redact_value_end(text, &value);
  redact_add(s, value.start, end, "secret_assignment", FOUND_CONTEXT);
  return end;
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
  if (at > 0 && !redact_is_blank(text.p[at - 1]) && !redact_one_of(text.p[at - 1], "\n\"'`[("))
    return at + 1;
  size_t known = redact_find_option(s, at);
  if (known > at)
    return known;
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

static size_t find_colon(struct redact_scan *s, size_t at, size_t width) {
  struct str text = s->text;
  if (redact_at(text, at, "://"))
    return redact_find_url(s, at);
  size_t pgpass = width == 1 ? redact_find_pgpass(s, at) : at;
  if (pgpass > at)
    return pgpass;
  if (redact_at(text, at, "::") || redact_at(text, at, ":=") || (at > 0 && text.p[at - 1] == ':'))
    return at + 1;
  return find_linked(s, at, (struct link){.name_end = name_end_before(text, at), .value = at + width});
}

/* Findings that start at the beginning of a word; `run` is the end of its letters and digits. */
static size_t find_word(struct redact_scan *s, size_t at, size_t run) {
  enum { PASSWORD = 1, PHRASE = 2, IS = 4 };
  static const uint8_t starts[256] = {
      ['p'] = PASSWORD | PHRASE,
      ['P'] = PHRASE,
      ['s'] = PHRASE,
      ['S'] = PHRASE,
      ['m'] = PHRASE,
      ['M'] = PHRASE,
      ['r'] = PHRASE,
      ['R'] = PHRASE,
      ['b'] = PHRASE,
      ['B'] = PHRASE,
      ['w'] = PHRASE,
      ['W'] = PHRASE,
      ['t'] = PHRASE,
      ['T'] = PHRASE,
      ['L'] = PHRASE,
      ['i'] = IS,
      ['e'] = IS,
      ['j'] = IS,
      ['l'] = IS | PHRASE,
  };
  char c = s->text.p[at];
  uint8_t may = starts[(unsigned char)c];
  size_t found = may & PASSWORD ? redact_find_netrc(s, at) : at;
  if (may & PHRASE && found == at)
    found = redact_find_phrase(s, at);
  if (found > at)
    return found;
  if (may & IS)
    found = find_is(s, at);
  if (found > at + 1)
    return found;
  if ((c | 32) == 'b') {
    size_t end = redact_find_bearer(s, at);
    if (end > at + 1)
      return end;
  }
  enum { HEX_LEAST = 32 };
  return redact_in(c, IN_HEX) && run - at >= HEX_LEAST ? redact_find_hex(s, at) : at;
}

/* Searches at the start of a run of letters and digits, and after the escape that it starts with. */
static size_t find_in_run(struct redact_scan *s, size_t at) {
  size_t run = at, start = at + redact_escape_tail(s->text, at);
  unsigned kinds = 0;
  for (; run < s->text.n && redact_in(s->text.p[run], IN_ALNUM); run++)
    kinds |= redact_alphabet[(unsigned char)s->text.p[run]];
  bool goes_on = run < s->text.n && redact_in(s->text.p[run], IN_SPECIAL | IN_UNDERSCORE);
  if ((kinds & IN_DIGIT && kinds & (IN_LOWER | IN_UPPER)) || goes_on) {
    size_t adjacent = find_adjacent(s, at);
    if (adjacent > at)
      return adjacent;
  }
  size_t end = start > at && start < s->text.n ? find_word(s, start, run) : at;
  if (end <= run && !redact_has_word_before(s->text, at))
    end = find_word(s, at, run);
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
  case '/':
    return redact_find_pair(s, at);
  case '>':
    return find_element(s, at);
  case '(':
    return find_call(s, at);
  case '-':
    return find_option(s, at);
  case ';':
    return redact_skip_data(s->text, at);
  default:
    return (unsigned char)s->text.p[at] >= 0xc0 ? find_foreign_is(s, at) : at;
  }
}

void redact_find_contexts(struct redact_scan *s) {
  for (size_t i = 0; i < s->text.n;) {
    size_t next = redact_in(s->text.p[i], IN_ALNUM) ? find_in_run(s, i) : find_punctuation(s, i);
    i = next > i ? next : i + 1;
  }
}
