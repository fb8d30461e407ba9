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

/* True if the output of the command at pos is run: "curl ... | sh", "bash <(curl ...)". */
static bool is_run(struct str s, size_t pos) {
  enum { BEFORE = 24, AFTER = 200 };
  for (size_t i = pos; i < s.n && i - pos < AFTER && s.p[i] != '\n'; i++)
    if (s.p[i] == '|' && is_interpreter(s, i + 1))
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
