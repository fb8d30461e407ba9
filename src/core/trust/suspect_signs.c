/* suspect_signs.c: signs around a word, for the prompt injection detector: addresses, files with secrets, remote code.
 */
#include "core/trust/suspect_lexicon.h"

/* True for the address of a mailbox or account at pos: name@host.domain. */
static bool is_mailbox(struct str s, size_t pos, size_t end) {
  const char *sign = memchr(s.p + pos, '@', end - pos);
  for (size_t i = sign ? (size_t)(sign - s.p) + 1 : s.n; i + 1 < s.n; i++) {
    if (s.p[i] == '.' && ascii_alnum(s.p[i + 1]))
      return true;
    if (!ascii_alnum(s.p[i]) && s.p[i] != '-')
      break;
  }
  return false;
}

/* True for four numbers with dots at pos. */
static bool is_ip(struct str s, size_t pos) {
  for (int part = 0; part < 4; part++) {
    size_t from = pos;
    while (pos < s.n && pos - from < 4 && ascii_digit(s.p[pos]))
      pos++;
    if (pos == from || pos - from > 3 || (part < 3 && (pos >= s.n || s.p[pos++] != '.')))
      return false;
  }
  return true;
}

/* True if an interpreter is at pos, after blanks, quotes and sudo. */
static bool is_interpreter(struct str s, size_t pos) {
  static const char *const names[] = {"sh",   "bash", "zsh", "dash", "node",       "python", "perl",
                                      "ruby", "php",  "iex", "pwsh", "powershell", "deno",   "source"};
  for (size_t from = s.n; from != pos;) {
    from = pos;
    while (pos < s.n && strchr(" \"'`/", s.p[pos]) && s.p[pos])
      pos++;
    pos += str_starts(str_slice(s, pos, s.n), STR("sudo ")) ? 5 : 0;
  }
  if (str_starts(str_slice(s, pos, s.n), STR("bin/")))
    pos += 4;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    size_t n = strlen(names[i]);
    if (str_starts(str_slice(s, pos, s.n), str_from(names[i])) && (pos + n == s.n || !ascii_alpha(s.p[pos + n])))
      return true;
  }
  return false;
}

enum { RUN_BEFORE = 40, RUN_AFTER = 240 };

static bool is_word_end(struct str s, size_t pos) { return pos >= s.n || strchr(" \"'`;&|),\n", s.p[pos]) != NULL; }

static size_t skip_word(struct str s, size_t pos) {
  while (!is_word_end(s, pos))
    pos++;
  while (pos < s.n && s.p[pos] == ' ')
    pos++;
  return pos;
}

/* Start of the file that the command at pos runs: after "./", "sudo bash -x ", "chmod +x "; the end if it runs none. */
static size_t skip_interpreter(struct str s, size_t pos) {
  while (pos < s.n && s.p[pos] == ' ')
    pos++;
  if (str_starts(str_slice(s, pos, s.n), STR("sudo ")))
    pos = skip_word(s, pos);
  if (is_interpreter(s, pos) || str_starts(str_slice(s, pos, s.n), STR("chmod "))) {
    pos = skip_word(s, pos);
    while (pos < s.n && strchr("-+0123456789", s.p[pos]))
      pos = skip_word(s, pos);
  } else if (!str_starts(str_slice(s, pos, s.n), STR("./")))
    return s.n;
  return str_starts(str_slice(s, pos, s.n), STR("./")) ? pos + 2 : pos;
}

/* True if the command at i runs a file that the command at pos names: "curl -o v.sh ... && bash v.sh". */
static bool runs_fetched(struct str s, size_t pos, size_t i) {
  size_t start = skip_interpreter(s, i), end = start;
  while (end < s.n && (ascii_alnum(s.p[end]) || strchr("._-", s.p[end])))
    end++;
  struct str file = str_slice(s, start, end);
  while (file.n && file.p[file.n - 1] == '.')
    file.n--;
  return file.n > 2 && str_find(str_slice(s, pos, i), file, 0) != SIZE_MAX;
}

/* Size of that of the words, in any case, that begins at pos; 0 if none does. */
static size_t word_at(struct str s, size_t pos, const char *const *words, size_t n) {
  for (size_t i = 0; i < n && !(pos > 0 && ascii_alpha(s.p[pos - 1])); i++) {
    size_t size = strlen(words[i]);
    if (s.n - pos >= size && str_ieq(str_slice(s, pos, pos + size), str_from(words[i])))
      return size;
  }
  return 0;
}

/* "pipe it into bash", in languages whose words for it are no others. */
static bool is_piped_in_words(struct str s, size_t pos) {
  static const char *const verbs[] = {"pipe",    "piping",  "leite ",  "leiten ", "pasalo",  "pasala",    "canaliz",
                                      "redirig", "passe-l", "passale", "passalo", "envie-o", "reindirizz"};
  static const char *const shells[] = {"sh", "bash", "zsh"};
  bool piped = false;
  for (size_t i = pos > RUN_BEFORE ? pos - RUN_BEFORE : 0; i < s.n && i < pos + RUN_AFTER; i++) {
    if (s.p[i] == '\n' && i > pos)
      return false;
    piped = (piped && s.p[i] != '\n') || word_at(s, i, verbs, ARRAY_LEN(verbs));
    size_t n = piped && i > pos && strchr(" `", s.p[i - 1]) ? word_at(s, i, shells, ARRAY_LEN(shells)) : 0;
    if (n && (is_word_end(s, i + n) || s.p[i + n] == '.'))
      return true;
  }
  return false;
}

/* True if the output of the command at pos is run: "curl ... | sh", "bash <(curl ...)", "curl -O ... && ./...". */
static bool is_run(struct str s, size_t pos) {
  enum { BEFORE = 24 };
  for (size_t i = pos; i < s.n && i - pos < RUN_AFTER && s.p[i] != '\n'; i++) {
    if (s.p[i] == '|' && is_interpreter(s, i + 1))
      return true;
    if ((s.p[i] == ';' || (s.p[i] == '&' && s.p[i - 1] == '&')) && runs_fetched(s, pos, i + 1))
      return true;
  }
  if (is_piped_in_words(s, pos))
    return true;
  if (pos < 2 || s.p[pos - 1] != '(')
    return false;
  for (size_t i = pos > BEFORE ? pos - BEFORE : 0; i < pos; i++)
    if ((i == 0 || !ascii_alpha(s.p[i - 1])) && (is_interpreter(s, i) || str_starts(str_slice(s, i, s.n), STR("eval"))))
      return true;
  return false;
}

suspect_classes suspect_signs(struct str s, size_t pos, size_t end, suspect_classes own) {
  static const char *const files[] = {"env", "ssh", "aws", "kube", "npmrc", "pgpass", "gnupg", "docker", "netrc"};
  struct str word = str_slice(s, pos, end);
  suspect_classes classes = 0;
  if (ascii_digit(s.p[pos]) && is_ip(s, pos))
    classes |= CLASS(DEST) | CLASS(RAW);
  if (is_mailbox(s, pos, end))
    classes |= CLASS(DEST);
  if (pos > 0 && s.p[pos - 1] == '.' && (pos < 2 || !ascii_alnum(s.p[pos - 2])))
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
      if (str_is(word, files[i]))
        classes |= CLASS(LOOT) | CLASS(FIND);
  if (own & CLASS(FETCH) && is_run(s, pos))
    classes |= CLASS(PIPE);
  return classes;
}
