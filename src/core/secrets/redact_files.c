/* redact_files.c: finder of passwords in the formats of well-known files and commands: .netrc, .pgpass, mysqldump -pX,
 * and in "user / password". */
#include "core/secrets/redact_scan.h"

static size_t add_value(struct redact_scan *s, const struct redact_value *value, enum strength least) {
  struct str text = s->text;
  if (redact_strength(str_slice(text, value->start, value->end)) < least)
    return value->start;
  size_t end = redact_value_end(text, value);
  redact_add(s, value->start, end, "secret_assignment", FOUND_CONTEXT);
  return end;
}

/* True if one of the words, in lower case, is in the bytes before `at`, on the same line. */
static bool is_after(struct str text, size_t at, size_t bytes, const char *const *words) {
  for (size_t i = at; i > 0 && at - i < bytes; i--) {
    if (text.p[i - 1] == '\n')
      return false;
    for (const char *const *w = words; *w; w++)
      if (ascii_lower(text.p[i - 1]) == **w && redact_at_nocase(text, i - 1, *w))
        return true;
  }
  return false;
}

static size_t skip_back(struct str text, size_t at, bool space) {
  size_t from = at;
  while (at > 0 && from - at < 128 && ascii_space(text.p[at - 1]) == space)
    at--;
  return at;
}

/* True after "login NAME" or "machine NAME". */
static bool is_after_login(struct str text, size_t at) {
  static const char *const words[] = {"login", "machine", "account", "user"};
  size_t name = skip_back(text, at, true), end = skip_back(text, skip_back(text, name, false), true);
  size_t start = skip_back(text, end, false);
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (str_is(str_slice(text, start, end), words[i]))
      return true;
  return false;
}

/* machine HOST login NAME password VALUE, on one line or several */
size_t redact_find_netrc(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  size_t value_at = at + 8;
  if (!redact_at(text, at, "password") || value_at == text.n || !ascii_space(text.p[value_at]))
    return at;
  while (value_at < text.n && value_at - at < 24 && ascii_space(text.p[value_at]))
    value_at++;
  struct redact_value value;
  if (!is_after_login(text, at) || !redact_read_value(text, value_at, &value))
    return at;
  struct str v = str_slice(text, value.start, value.end);
  if (!redact_has_digit(v) && memchr(v.p, '@', v.n)) /* user@site, for anonymous access */
    return at;
  size_t end = add_value(s, &value, redact_has_digit(v) ? STRENGTH_NUMBER : STRENGTH_MIXED);
  return end > value.start ? end : at;
}

/* True if the word that ends at `end` is the name of a host, and not part of a list with colons. */
static bool is_host(struct str text, size_t end) {
  size_t start = end;
  while (start > 0 && end - start < 128 && redact_in(text.p[start - 1], IN_ALNUM | IN_DASH | IN_DOT))
    start--;
  start -= start == end && start > 0 && text.p[start - 1] == '*';
  return start < end && (start == 0 || ascii_space(text.p[start - 1]) || redact_one_of(text.p[start - 1], "\"'`("));
}

/* host:port:database:user:password */
size_t redact_find_pgpass(struct redact_scan *s, size_t at) {
  enum { FIELD_MOST = 64 };
  struct str text = s->text;
  size_t i = at + 1, port = redact_at(text, i, "*") ? 1 : redact_run(text, i, IN_DIGIT, 6);
  if (at == 0 || port == 0 || port > 5 || !redact_at(text, i + port, ":") || !is_host(text, at))
    return at;
  i += port + 1;
  for (int field = 0; field < 2; field++) {
    size_t from = i;
    while (i < text.n && i - from < FIELD_MOST && text.p[i] != ':' && !ascii_space(text.p[i]))
      i++;
    if (i == from || !redact_at(text, i, ":"))
      return at;
    i++;
  }
  struct redact_value value;
  if (i == text.n || ascii_space(text.p[i]) || !redact_read_value(text, i, &value) ||
      memchr(text.p + value.start, ':', value.end - value.start))
    return at;
  bool mixed = redact_is_mixed(str_slice(text, value.start, value.end));
  size_t end = add_value(s, &value, mixed ? STRENGTH_NUMBER : STRENGTH_MIXED);
  return end > value.start ? end : at;
}

/* Options that take a password. */
static const struct option {
  const char *name;
  const char *commands[6];
  bool separate; /* a blank may precede the password */
} options[] = {
    {"-p", {"sshpass", "docker login", "podman login", "mongo", "helm registry", NULL}, true},
    {"-p", {"mysql", "mariadb", "7z", NULL}, false},
    {"-a", {"redis-cli", "valkey-cli", NULL}, true},
    {"-w", {"ldapsearch", "ldapmodify", "ldapadd", NULL}, true},
    {"-P", {"unzip", "zip ", NULL}, true},
};

size_t redact_find_option(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  struct redact_value value;
  if (at + 2 >= text.n || !redact_one_of(text.p[at + 1], "pawP"))
    return at;
  for (size_t i = 0; i < ARRAY_LEN(options); i++) {
    const struct option *o = &options[i];
    bool blank = ascii_space(text.p[at + 2]);
    if (!redact_at(text, at, o->name) || (blank && (!o->separate || redact_at(text, at + 3, "-"))) ||
        !is_after(text, at, 200, o->commands) || !redact_read_value(text, at + 2, &value))
      continue;
    size_t end = add_value(s, &value, STRENGTH_NUMBER);
    if (end > value.start)
      return end;
  }
  return at;
}

/* ---- "user / password" ---- */

/* Changes between letters and digits. */
static size_t turns(struct str v) {
  size_t n = 0;
  for (size_t i = 1; i < v.n; i++)
    n += (ascii_digit(v.p[i]) && ascii_alpha(v.p[i - 1])) || (ascii_alpha(v.p[i]) && ascii_digit(v.p[i - 1]));
  return n;
}

/* A password that is not the next part of a path; *ret_sure: without doubt. */
static bool is_pair_password(struct str v, bool *ret_sure) {
  bool special = false;
  for (size_t i = 0; i < v.n; i++)
    special |= redact_in(v.p[i], IN_SPECIAL) && !redact_one_of(v.p[i], "#?%");
  enum strength strength = redact_strength(v);
  *ret_sure = redact_is_mixed(v) && (special || (strength == STRENGTH_RANDOM && turns(v) > 2));
  if (special)
    return redact_has_digit(v) && strength >= STRENGTH_NUMBER;
  return redact_is_mixed(v) && !memchr(v.p, '.', v.n) &&
         (strength == STRENGTH_RANDOM || (v.n >= 14 && strength >= STRENGTH_NUMBER && turns(v) >= 2));
}

/* True directly after "credentials" or "creds:". There a password of words counts, too: "rita / Fjord-Kelp-88". */
static bool is_after_credentials(struct str text, size_t at) {
  static const char *const words[] = {"credentials", "credential", "creds"};
  while (at > 0 && redact_one_of(text.p[at - 1], " :"))
    at--;
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (at >= strlen(words[i]) && redact_at_nocase(text, at - strlen(words[i]), words[i]))
      return true;
  return false;
}

size_t redact_find_pair(struct redact_scan *s, size_t at) {
  static const char *const before[] = {"login",  "log in", "sign in", "sign-in", "account",  "user",       "credential",
                                       "creds",  "access", "zugang",  "anmeld",  "konto",    "conta",      "cuenta",
                                       "acceso", "accès",  "connex",  "usuario", "utente",   "логин",      "доступ",
                                       "учётн",  "登录",   "账号",    "帳號",    "ログイン", "アカウント", "로그인",
                                       "계정",   " pw ",   "admin",   NULL};
  struct str text = s->text;
  size_t left = at, right = at + 1;
  bool spaced = left > 0 && text.p[left - 1] == ' ' && redact_at(text, right, " ");
  left -= spaced;
  right += spaced;
  size_t user = left, end = right;
  while (user > 0 && left - user < 64 &&
         (redact_in(text.p[user - 1], IN_WORD | IN_DASH | IN_DOT) || text.p[user - 1] == '@'))
    user--;
  if (user == left || (user > 0 && !ascii_space(text.p[user - 1]) && !redact_one_of(text.p[user - 1], "\"'`(|")))
    return at;
  while (end < text.n && end - right < 64 && !ascii_space(text.p[end]) && !redact_one_of(text.p[end], "\"'`<>,;)[]|"))
    if (redact_one_of(text.p[end++], "/\\:"))
      return at;
  while (end > right && redact_one_of(text.p[end - 1], ".!?"))
    end--;
  struct str password = str_slice(text, right, end);
  bool sure, named = spaced && redact_is_mixed(password) && is_after_credentials(text, user);
  if (password.n < 8 || redact_marker(text, end) ||
      (!named && (!is_pair_password(password, &sure) || !((sure && spaced) || is_after(text, left, 100, before)))))
    return at;
  redact_add(s, right, end, "secret_assignment", FOUND_CONTEXT);
  return end;
}
