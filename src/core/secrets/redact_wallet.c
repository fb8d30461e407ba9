/* redact_wallet.c: finder of the keys of wallets: private keys of Bitcoin (WIF) and recovery phrases (BIP 39). */
#include <sodium.h>

#include "core/secrets/redact_scan.h"

/* ---- WIF: version, key, perhaps 1, checksum, in base 58 ---- */

enum { WIF_SHORT = 51, WIF_LONG = 52, WIF_BYTES = 38 };

static bool from_base58(struct str run, unsigned char out[WIF_BYTES]) {
  static const char digits[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  memset(out, 0, WIF_BYTES);
  for (size_t i = 0; i < run.n; i++) {
    const char *digit = memchr(digits, run.p[i], sizeof(digits) - 1);
    if (!digit)
      return false;
    unsigned carry = (unsigned)(digit - digits);
    for (size_t k = WIF_BYTES; k-- > 0; carry >>= 8) {
      carry += 58u * out[k];
      out[k] = (unsigned char)carry;
    }
    if (carry)
      return false;
  }
  return true;
}

bool redact_is_wif(struct str run) {
  unsigned char bytes[WIF_BYTES], hash[crypto_hash_sha256_BYTES];
  if ((run.n != WIF_SHORT && run.n != WIF_LONG) || !redact_one_of(run.p[0], "59KLc") || !from_base58(run, bytes))
    return false;
  size_t n = run.n == WIF_LONG ? WIF_BYTES : WIF_BYTES - 1, start = WIF_BYTES - n;
  crypto_hash_sha256(hash, bytes + start, n - 4);
  crypto_hash_sha256(hash, hash, sizeof(hash));
  bool valid = memcmp(hash, bytes + WIF_BYTES - 4, 4) == 0;
  sodium_memzero(bytes, sizeof(bytes));
  return valid;
}

/* ---- recovery phrases ----
 *
 * The 2,048 words of the standard have 3 to 8 letters; all are lower case. A phrase has 12, 15, 18, 21 or 24 of them,
 * in a context that says so. */

enum { WORD_LEAST = 3, WORD_MOST = 8, WORDS_MOST = 24, GAP_MOST = 100 };

/* Common words that the standard does not contain. */
static bool is_prose(struct str word) {
  static const char words[] = " the and for are not but from was has its his her our who how were had been ";
  char spaced[WORD_MOST + 2] = " ";
  if (word.n > 4)
    return false;
  memcpy(spaced + 1, word.p, word.n);
  spaced[word.n + 1] = ' ';
  return str_find((struct str){words, sizeof(words) - 1}, (struct str){spaced, word.n + 2}, 0) != SIZE_MAX;
}

/* Skips what may stand between two words: a blank, a comma, a line break, the number of the next word. */
static size_t skip_between(struct str text, size_t at) {
  size_t limit = text.n - at > 12 ? at + 12 : text.n;
  while (at < limit && (ascii_space(text.p[at]) || ascii_digit(text.p[at]) || redact_one_of(text.p[at], ",.)")))
    at++;
  return at;
}

/* End of the phrase at `at`; `at` if there is none. *ret_read is the end of the words that were read. */
static size_t phrase_end(struct str text, size_t at, size_t *ret_read) {
  size_t count = 0, end = at;
  bool commas = false;
  for (size_t i = at; count <= WORDS_MOST;) {
    size_t n = redact_run(text, i, IN_LOWER, WORD_MOST + 1);
    if (n < WORD_LEAST || n > WORD_MOST || redact_has_word_after(text, i + n) || is_prose(str_slice(text, i, i + n)))
      break;
    end = i + n;
    bool comma = redact_at(text, end, ",");
    commas = count++ ? commas : comma;
    i = skip_between(text, end);
    if (i == end || redact_at(text, end, ".") || comma != commas)
      break;
  }
  *ret_read = end;
  return count >= 12 && count <= WORDS_MOST && count % 3 == 0 ? end : at;
}

#define START(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* First letters of the words that announce a phrase. */
static bool may_announce(struct str text, size_t at) {
  if (text.n - at < 4)
    return false;
  const unsigned char *p = (const unsigned char *)text.p + at;
  switch (START(p[0], p[1], p[2], p[3]) | START(32, 32, 32, 32)) {
  case START('s', 'e', 'e', 'd'):
  case START('m', 'n', 'e', 'm'):
  case START('r', 'e', 'c', 'o'):
  case START('b', 'i', 'p', '3'):
  case START('b', 'i', 'p', '-'):
  case START('w', 'a', 'l', 'l'):
  case START('p', 'h', 'r', 'a'):
  case START('l', 'e', 'd', 'g'):
  case START('t', 'r', 'e', 'z'):
  case START('m', 'e', 't', 'a'):
  case START('s', 'e', 'm', 'i'):
  case START('w', 'i', 'e', 'd'):
  case START('w', 'o', 'r', 'd'):
    return true;
  default:
    return false;
  }
}

/* Words that announce a phrase. "words" does so only after its number, or directly before the phrase. */
static bool is_announced(struct str text, size_t at) {
  static const char *const words[] = {"seed",   "mnemonic", "recovery", "bip39",    "bip-39",  "wallet",
                                      "phrase", "ledger",   "trezor",   "metamask", "semilla", "wiederherst"};
  if (!may_announce(text, at))
    return false;
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (redact_at_nocase(text, at, words[i]))
      return true;
  if (!redact_at_nocase(text, at, "words"))
    return false;
  bool counted = at >= 3 && text.p[at - 1] == ' ' && ascii_digit(text.p[at - 2]) && ascii_digit(text.p[at - 3]);
  return counted || redact_at(text, at + 5, ":") || redact_at(text, at + 5, "=");
}

/* Start of what a separator or "is" at `at` introduces; `at` if there is none. */
static size_t introduced(struct str text, size_t at, size_t limit) {
  bool is = redact_at(text, at, " is "), are = redact_at(text, at, " are ");
  if (!redact_one_of(text.p[at], ":=\"'`\n(") && !is && !are)
    return at;
  size_t start = at + (is ? 3 : are ? 4 : 1);
  while (start < limit && redact_one_of(text.p[start], " \"'`"))
    start++;
  return skip_between(text, start);
}

/* A phrase starts after a colon, an equals sign, a quotation mark, a line break or "is". */
size_t redact_find_phrase(struct redact_scan *s, size_t at) {
  struct str text = s->text;
  if (!is_announced(text, at))
    return at;
  size_t limit = text.n - at > GAP_MOST ? at + GAP_MOST : text.n;
  for (size_t i = at + 4; i < limit; i++) {
    size_t start = introduced(text, i, limit), read;
    if (start == i || start < s->no_phrase_before)
      continue;
    size_t end = phrase_end(text, start, &read);
    if (end > start) {
      redact_add(s, start, end, "recovery_phrase", FOUND_CONTEXT);
      return end;
    }
    s->no_phrase_before = read;
  }
  return at;
}
