/* redact_block.c: finder of private key blocks, complete or truncated, also in JSON strings. */
#include "core/secrets/redact_scan.h"

enum {
  DATA_MIN = 16,  /* shorter base64 is key data only at the end of more */
  DATA_SURE = 40, /* base64 of this length is always key data */
};

/* End of "<verb> <LABEL>-----" at `at`, where the label is capitals, digits and blanks; 0 if it is not there. */
static size_t label_end(struct str text, size_t at, const char *verb, struct str *ret_label) {
  if (!redact_at(text, at, verb))
    return 0;
  size_t label = at + strlen(verb), end = label;
  while (end < text.n && end - label < 64 && (redact_in(text.p[end], IN_UPPER | IN_DIGIT) || text.p[end] == ' '))
    end++;
  *ret_label = str_slice(text, label, end);
  return end + redact_run(text, end, IN_DASH, 5);
}

/* Skips separators between pieces of base64: blanks, quotes, the "> " and "|" of mails and YAML, the \n of JSON. */
static size_t skip_separators(struct str text, size_t at) {
  while (at < text.n) {
    char c = text.p[at];
    if (c == '\\' && at + 1 < text.n && (text.p[at + 1] == 'n' || text.p[at + 1] == 'r' || text.p[at + 1] == 't'))
      at += 2;
    else if (ascii_space(c) || c == '"' || c == '\'' || c == '>' || c == '\\' || c == ',' || c == '|')
      at++;
    else
      break;
  }
  return at;
}

/* Skips a header line such as "Proc-Type: 4,ENCRYPTED". */
static size_t skip_header(struct str text, size_t at) {
  static const char *const names[] = {"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (!redact_at(text, at, names[i]))
      continue;
    while (at < text.n && text.p[at] != '\n' && !redact_at(text, at, "\\n"))
      at++;
    return at;
  }
  return at;
}

static bool is_data(struct str piece, bool after_data) {
  if (piece.n >= DATA_SURE)
    return true;
  if (piece.n >= DATA_MIN)
    return redact_strength(piece) >= STRENGTH_MIXED;
  bool sign = memchr(piece.p, '=', piece.n) || memchr(piece.p, '/', piece.n) || memchr(piece.p, '+', piece.n);
  return after_data && piece.n > 0 && (sign || redact_strength(piece) >= STRENGTH_MIXED);
}

/* End of the key data at `at`; `at` if there is none. */
static size_t data_end(struct str text, size_t at) {
  size_t end = at, i = at;
  for (;;) {
    i = skip_separators(text, i);
    if (i == text.n)
      return end;
    size_t header = skip_header(text, i);
    if (header > i) {
      i = header;
      continue;
    }
    size_t n = redact_run(text, i, IN_B64 | IN_EQUALS, SIZE_MAX);
    if (!is_data(str_slice(text, i, i + n), end > at))
      return end;
    i += n;
    end = i;
  }
}

/* True if the text is base64 in short pieces: split by blanks, dashes or quotes. */
static bool has_split_data(struct arena *a, struct str text) {
  char *out = arena_alloc(a, text.n + 1);
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    if (redact_in(text.p[i], IN_B64 | IN_EQUALS))
      out[n++] = text.p[i];
  return n >= DATA_SURE && redact_strength((struct str){out, n}) == STRENGTH_RANDOM;
}

static bool has_data(struct str text) {
  for (size_t i = 0; i < text.n;) {
    size_t n = redact_run(text, i, IN_B64 | IN_EQUALS, SIZE_MAX);
    if (n >= DATA_MIN && is_data(str_slice(text, i, i + n), false))
      return true;
    i += n + 1;
  }
  return false;
}

/* End of the block whose BEGIN line ends at `at`: the END line if it is the next line of dashes, otherwise the end of
 * the key data. `at` if the block contains no key. */
static size_t block_end(struct arena *a, struct str text, size_t at) {
  size_t dashes = str_find(text, STR("----"), at);
  struct str label;
  if (dashes == SIZE_MAX)
    return data_end(text, at);
  size_t verb = dashes + redact_run(text, dashes, IN_DASH, 5);
  verb += redact_at(text, verb, " ");
  size_t end = label_end(text, verb, "END ", &label);
  if (end == 0)
    return data_end(text, at);
  struct str data = str_slice(text, at, dashes);
  return has_data(data) || has_split_data(a, data) ? end : at;
}

/* True if the block is the "private_key" member of a Google service account. */
static bool is_service_account_key(struct str text, size_t at) {
  static const char name[] = "private_key";
  size_t i = at;
  while (i > 0 && at - i < 12 && memchr("\\\": \t", text.p[i - 1], 5))
    i--;
  return i < at && i >= sizeof(name) - 1 && redact_at(text, i - (sizeof(name) - 1), name);
}

/* -----BEGIN ... PRIVATE KEY-----; SSH2 has four dashes and a blank. */
static void find_armored(struct redact_scan *s) {
  struct str text = s->text, label;
  for (size_t i = str_find(text, STR("BEGIN "), 0); i != SIZE_MAX; i = str_find(text, STR("BEGIN "), i)) {
    size_t start = i, header = label_end(text, i, "BEGIN ", &label);
    i += 6;
    start -= start > 0 && text.p[start - 1] == ' ';
    size_t dashes = 0;
    while (dashes < 5 && dashes < start && text.p[start - 1 - dashes] == '-')
      dashes++;
    if (dashes < 4 || redact_run(text, header - 4, IN_DASH, 4) != 4 ||
        str_find(label, STR("PRIVATE KEY"), 0) == SIZE_MAX)
      continue;
    start -= dashes;
    size_t end = block_end(s->a, text, header);
    if (end == header)
      continue;
    redact_add(s, start, end, is_service_account_key(text, start) ? "gcp_service_account" : "private_key", FOUND_BLOCK);
    i = end;
  }
}

/* The lines after "Private-Lines: 14" in a PuTTY key file. */
static void find_putty(struct redact_scan *s) {
  static const struct str name = STR_INIT("Private-Lines: ");
  struct str text = s->text;
  for (size_t i = str_find(text, name, 0); i != SIZE_MAX; i = str_find(text, name, i)) {
    i += name.n;
    i += redact_run(text, i, IN_DIGIT, 6);
    size_t start = skip_separators(text, i), end = data_end(text, i);
    if (end > start)
      redact_add(s, start, end, "private_key", FOUND_BLOCK);
    i = end;
  }
}

void redact_find_blocks(struct redact_scan *s) {
  find_armored(s);
  find_putty(s);
}
