/* redact_scan.c: alphabets, word boundaries, and detection of generated values for the secret scanner. */
#include "core/secrets/redact_scan.h"

#include <assert.h>

const uint16_t redact_alphabet[256] = {
    ['\t' ... '\r'] = IN_BARE_STOP,
    [' '] = IN_BARE_STOP,
    ['"'] = IN_BARE_STOP,
    ['\''] = IN_BARE_STOP,
    ['`'] = IN_BARE_STOP,
    ['<'] = IN_BARE_STOP,
    [';'] = IN_BARE_STOP,
    [','] = IN_BARE_STOP,
    ['\\'] = IN_BARE_STOP,
    ['['] = IN_BARE_STOP,
    ['&'] = IN_BARE_STOP | IN_SPECIAL | IN_HOLDER,
    [0xe2 ... 0xef] = IN_BARE_STOP,
    ['0' ... '9'] = IN_DIGIT | IN_HEX_LOWER | IN_HEX_UPPER,
    ['a' ... 'b'] = IN_LOWER | IN_HEX_LOWER,
    ['c'] = IN_LOWER | IN_HEX_LOWER | IN_HOLDER,
    ['d'] = IN_LOWER | IN_HEX_LOWER,
    ['e'] = IN_LOWER | IN_HEX_LOWER | IN_HOLDER,
    ['f'] = IN_LOWER | IN_HEX_LOWER,
    ['g'] = IN_LOWER | IN_HOLDER,
    ['h' ... 'm'] = IN_LOWER,
    ['n'] = IN_LOWER | IN_HOLDER,
    ['o'] = IN_LOWER,
    ['p'] = IN_LOWER | IN_HOLDER,
    ['q'] = IN_LOWER,
    ['r'] = IN_LOWER | IN_HOLDER,
    ['s' ... 'w'] = IN_LOWER,
    ['x' ... 'y'] = IN_LOWER | IN_HOLDER,
    ['z'] = IN_LOWER,
    ['A' ... 'F'] = IN_UPPER | IN_HEX_UPPER,
    ['G' ... 'Z'] = IN_UPPER,
    ['-'] = IN_DASH | IN_HOLDER,
    ['_'] = IN_UNDERSCORE | IN_HOLDER,
    ['.'] = IN_DOT | IN_HOLDER,
    ['*'] = IN_SPECIAL | IN_HOLDER,
    ['+'] = IN_PLUS_SLASH | IN_SPECIAL,
    ['/'] = IN_PLUS_SLASH,
    ['='] = IN_EQUALS,
    ['%'] = IN_PERCENT | IN_SPECIAL,
    ['!'] = IN_SPECIAL,
    ['@'] = IN_SPECIAL,
    ['#'] = IN_SPECIAL,
    ['$'] = IN_SPECIAL | IN_HOLDER,
    ['^'] = IN_SPECIAL,
    ['?'] = IN_SPECIAL,
    ['~'] = IN_SPECIAL,
};

/* Checks backwards from the last byte of a run, which skips most prose. */
size_t redact_next_run(struct str text, size_t at, size_t least) {
  while (at + least <= text.n) {
    size_t k = least;
    while (k > 0 && redact_in(text.p[at + k - 1], IN_B64 | IN_B64URL))
      k--;
    if (k == 0)
      return at;
    at += k;
  }
  return text.n;
}

bool redact_at(struct str text, size_t at, const char *literal) {
  for (; *literal; literal++, at++)
    if (at >= text.n || text.p[at] != *literal)
      return false;
  return true;
}

bool redact_at_nocase(struct str text, size_t at, const char *lower) {
  for (; *lower; lower++, at++)
    if (at >= text.n || ascii_lower(text.p[at]) != *lower)
      return false;
  return true;
}

enum { MARKER_NAME_MAX = 32 };

size_t redact_marker(struct str text, size_t at) {
  static const char open[] = "[REDACTED:";
  if (!redact_at(text, at, open))
    return 0;
  size_t name = at + sizeof(open) - 1;
  size_t n = redact_run(text, name, IN_LOWER | IN_DIGIT | IN_UNDERSCORE, MARKER_NAME_MAX + 1);
  return n >= 1 && n <= MARKER_NAME_MAX && redact_at(text, name + n, "]") ? name + n + 1 - at : 0;
}

static bool is_marker_before(struct str text, size_t at) {
  for (size_t back = 2; back <= at && back <= MARKER_NAME_MAX + 11; back++)
    if (text.p[at - back] == '[')
      return redact_marker(text, at - back) == back;
  return false;
}

size_t redact_escape_length(struct str text, size_t at) {
  assert(at > 0 && at <= text.n);
  if (text.p[at - 1] == '%')
    return redact_run(text, at, IN_HEX, 2) == 2 ? 2 : 0;
  if (at < text.n && text.p[at] == 'u')
    return redact_run(text, at + 1, IN_HEX, 4) == 4 ? 5 : 0;
  return at < text.n && redact_one_of(text.p[at], "nrt");
}

bool redact_is_part_of_word(struct str text, size_t at) {
  static const size_t tails[] = {1, 2, 5};
  assert(at > 0 && at <= text.n);
  if (text.p[at - 1] == ']')
    return is_marker_before(text, at);
  for (size_t i = 0; i < ARRAY_LEN(tails); i++)
    if (at > tails[i] && redact_escape_tail(text, at - tails[i]) == tails[i])
      return false;
  return true;
}

bool redact_has_word_after(struct str text, size_t at) {
  return at < text.n && (redact_in(text.p[at], IN_ALNUM) || redact_marker(text, at) > 0);
}

size_t redact_skip_data(struct str text, size_t at) {
  static const char start[] = ";base64,";
  if (!redact_at(text, at, start))
    return at;
  size_t data = at + sizeof(start) - 1;
  return data + redact_run(text, data, IN_B64 | IN_EQUALS, SIZE_MAX);
}

/* Only the beginning of a value is examined, so the cost does not depend on its length. */
enum { JUDGED_MAX = 128 };

_Static_assert(JUDGED_MAX < 256, "counted in bytes");

static struct str judged(struct str value) { return value.n > JUDGED_MAX ? (struct str){value.p, JUDGED_MAX} : value; }

/* Sum of squared byte counts. n * n divided by it is the effective number of different bytes. */
static size_t sum_of_squares(struct str value) {
  assert(value.n <= JUDGED_MAX);
  uint8_t count[256] = {0};
  size_t sum = 0;
  for (size_t i = 0; i < value.n; i++)
    sum += 2u * count[(unsigned char)value.p[i]]++ + 1u;
  return sum;
}

bool redact_has_digit(struct str value) {
  for (size_t i = 0; i < value.n; i++)
    if (redact_in(value.p[i], IN_DIGIT))
      return true;
  return false;
}

bool redact_is_mixed(struct str value) {
  unsigned kinds = 0;
  for (size_t i = 0; i < value.n; i++)
    kinds |= redact_alphabet[(unsigned char)value.p[i]];
  enum { ALL = IN_LOWER | IN_UPPER | IN_DIGIT };
  return value.n >= 10 && (kinds & ALL) == ALL && !memchr(value.p, ' ', value.n);
}

bool redact_is_varied(struct str value) {
  value = judged(value);
  return value.n * value.n >= 5 * sum_of_squares(value);
}

/* A reference to a value stored elsewhere: $NAME, ${...}, $(...), %NAME%, {{...}}, {name}, <...>, [...], ENC[...],
 * arn:..., vault:... */
static bool is_reference(struct str value) {
  static const char *const prefixes[] = {
      "${", "$(", "{{", "enc[", "enc(", "arn:", "vault:", "env:", "ref+", "op:/", "projects/"};
  for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
    if (redact_at_nocase(value, 0, prefixes[i]))
      return true;
  assert(value.n > 0);
  if (value.p[0] == '\\' && value.n > 1)
    value = str_slice(value, 1, value.n);
  char last = value.p[value.n - 1];
  switch (value.p[0]) {
  case '$':
    return value.n > 1 && !redact_in(value.p[1], IN_DIGIT) && redact_run(value, 1, IN_WORD, SIZE_MAX) == value.n - 1;
  case '%':
    return last == '%' && redact_run(value, 1, IN_WORD, SIZE_MAX) == value.n - 2;
  case '<':
    return memchr(value.p, '>', value.n) != NULL;
  case '{':
    return last == '}' || (value.n > 1 && redact_in(value.p[1], IN_LOWER | IN_UPPER | IN_UNDERSCORE));
  case '[': {
    size_t word = redact_run(value, 1, IN_LOWER | IN_UPPER | IN_UNDERSCORE | IN_DASH, SIZE_MAX);
    return last == ']' || redact_at(value, 1 + word, "]");
  }
  default:
    return false;
  }
}

static bool is_placeholder_word(struct str value, size_t at) {
  static const char *const words[] = {
      "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "replace",    "xxxxx", "*****",
      ".....",   "your-",       "your_",    "-here",     "_here",     "goeshere", "not-a-real", "&lt;",  "${",
  };
  char c = ascii_lower(value.p[at]);
  if (!redact_in(c, IN_HOLDER))
    return false;
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (c == words[i][0] && redact_at_nocase(value, at, words[i]))
      return true;
  return false;
}

bool redact_is_placeholder(struct str value) {
  value = judged(value);
  if (value.n == 0 || is_reference(value) || redact_at_nocase(value, 0, "your"))
    return true;
  for (size_t i = 0; i < value.n; i++)
    if (is_placeholder_word(value, i))
      return true;
  return false;
}

/* Rare letter pairs: 1 in 50 pairs of English words and identifiers, but half of the pairs of random letters. One row
 * per first letter, one bit per second letter. */
static const uint32_t rare_pairs[26] = {
    0x2014211, 0x2e104e2, 0x2e12262, 0x2e136c0, 0x2000200, 0x2e1b6c6, 0x3e9062e, 0x2e5a6ee, 0x1510380,
    0x3efbfee, 0x3f396ee, 0x2c306c0, 0x2e322e4, 0x2c10202, 0x3010280, 0x2e10662, 0x3eff7ff, 0x2810280,
    0x2a2024a, 0x2a10642, 0x3f10680, 0x3ffbeee, 0x3f99e6e, 0x3f376ea, 0x3f306ea, 0x3fffeee,
};

static bool is_rare_pair(char a, char b) {
  assert(ascii_alpha(a) && ascii_alpha(b));
  return rare_pairs[(a | 32) - 'a'] >> ((b | 32) - 'a') & 1;
}

/* Counts of a run of letters and digits. A piece is a group of letters that ends at a digit or at a change from lower
 * to upper case: "Access" and "TOKEN" in "AccessTOKEN2". `turns` are changes between letters and digits. */
struct run_shape {
  size_t n, letters, digits, hex, pieces, turns, pairs, rare;
};

static struct run_shape run_shape(struct str run) {
  struct run_shape s = {.n = run.n};
  for (size_t i = 0; i < run.n; i++) {
    char c = run.p[i], before = i ? run.p[i - 1] : 0;
    bool letter = ascii_alpha(c), letter_before = i && ascii_alpha(before);
    s.letters += letter;
    s.digits += !letter;
    s.hex += redact_in(c, IN_HEX);
    s.turns += i && letter != letter_before;
    if (!letter)
      continue;
    bool joined = letter_before && !(ascii_upper(c) && !ascii_upper(before));
    s.pieces += !joined;
    s.pairs += joined;
    s.rare += joined && is_rare_pair(before, c);
  }
  return s;
}

bool redact_is_odd(struct str run) {
  struct run_shape s = run_shape(run);
  if (s.letters == 0 || (s.n <= 4 && s.turns <= 2))
    return false;
  if (s.turns >= 4 || 2 * s.letters < 5 * s.pieces)
    return true;
  if (s.n >= 16 && s.hex == s.n && s.digits * 4 >= s.n)
    return true;
  if (s.digits > 0)
    return s.rare >= 2 && s.rare * 5 >= s.pairs;
  /* Identifiers have rare pairs too: tsqlBraceOpen, CLOUDSDK. */
  return s.rare >= 3 && s.rare * (s.letters < 12 ? 2 : 4) >= s.pairs;
}

/* Longer than any single word: correcthorsebatterystaple. */
enum { RUN_TOGETHER = 24 };

struct shape {
  size_t n, lower, upper, digit, special, joints, odd, longest;
};

static struct shape shape_of(struct str value) {
  struct shape s = {.n = value.n};
  for (size_t i = 0; i < value.n;) {
    size_t n = redact_run(value, i, IN_ALNUM, SIZE_MAX);
    for (size_t k = i; k < i + n; k++) {
      s.lower += redact_in(value.p[k], IN_LOWER);
      s.upper += redact_in(value.p[k], IN_UPPER);
      s.digit += redact_in(value.p[k], IN_DIGIT);
    }
    if (n && redact_is_odd(str_slice(value, i, i + n)))
      s.odd += n;
    s.longest = n > s.longest ? n : s.longest;
    i += n;
    for (; i < value.n && !redact_in(value.p[i], IN_ALNUM); i++) {
      s.special += redact_in(value.p[i], IN_SPECIAL) && i > 0 && i + 1 < value.n;
      s.joints += redact_in(value.p[i], IN_DASH | IN_UNDERSCORE | IN_DOT) || value.p[i] == '/' || value.p[i] == ':';
    }
  }
  return s;
}

/* Algorithm names, which people write after "password:". */
static bool is_technical_term(struct str value) {
  static const char *const terms[] = {"argon2", "bcrypt",  "scrypt", "pbkdf2", "sha",   "hmac", "aes",
                                      "rsa",    "ed25519", "ecdsa",  "base64", "oauth", "jwt",  "utf"};
  if (value.n > 20)
    return false;
  for (size_t i = 0; i < ARRAY_LEN(terms); i++)
    if (redact_at_nocase(value, 0, terms[i]))
      return true;
  return false;
}

enum strength redact_strength(struct str value) {
  value = judged(value);
  if (value.n < 8 || value.n * value.n < 4 * sum_of_squares(value) || redact_is_placeholder(value))
    return STRENGTH_NONE;
  struct shape s = shape_of(value);
  size_t alnum = s.lower + s.upper + s.digit;
  if (s.lower && s.upper && s.digit && s.special)
    return s.n >= 16 && (s.odd * 2 >= alnum || s.special > 1) ? STRENGTH_RANDOM : STRENGTH_MIXED;
  if (s.odd == 0) {
    bool date_or_version = s.lower + s.upper == 0 && s.joints > 0;
    bool not_words = s.digit || s.special || s.longest >= RUN_TOGETHER;
    return not_words && !date_or_version && !is_technical_term(value) ? STRENGTH_NUMBER : STRENGTH_NONE;
  }
  if (s.n >= 16 && s.odd * 2 >= alnum)
    return STRENGTH_RANDOM;
  int classes = (s.lower > 0) + (s.upper > 0) + (s.digit > 0) + (s.special > 0);
  if (s.odd >= 8 || classes >= 3)
    return STRENGTH_MIXED;
  return is_technical_term(value) ? STRENGTH_NONE : STRENGTH_NUMBER;
}
