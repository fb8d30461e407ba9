/* redact_scan.h: internals of the secret scanner; private to src/core/secrets. */
#pragma once

#include <assert.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* If two findings overlap, the lower rank names the union. */
enum found_rank { FOUND_KNOWN, FOUND_BLOCK, FOUND_VENDOR, FOUND_CONTEXT };

struct found {
  size_t start, end;
  const char *pattern;
  enum found_rank rank;
};

struct redact_scan {
  struct arena *a;
  struct str text;
  LIST(struct found) out;
  bool has_start;          /* a prefix of a credential, or the name of a secret: the rest may be split */
  size_t no_phrase_before; /* words up to here are not a recovery phrase */
};

static inline void redact_add(struct redact_scan *s, size_t start, size_t end, const char *pattern,
                              enum found_rank rank) {
  assert(start < end && end <= s->text.n);
  list_push(s->a, &s->out, (struct found){start, end, pattern, rank});
}

/* Hash table of the vendor formats by the first two bytes of their prefix. head[] and next[] hold row numbers + 1. */
enum { VENDOR_HEADS = 1024, VENDORS_MAX = 255 };
struct vendor_index {
  uint8_t head[VENDOR_HEADS], next[VENDORS_MAX];
};
void redact_index_vendors(struct vendor_index *ret);
/* True if a run ends with the prefix of a format, written backwards. */
bool redact_ends_backwards(const struct vendor_index *index, struct str run);

/* Hash table of the vault values by the first bytes of each of their forms. */
struct needle;
struct known_index {
  struct needle *v;
  size_t n;
  uint32_t *head; /* index into v + 1; NULL without values */
  unsigned bits;  /* size of the hash */
};
void redact_index_known(struct arena *a, const struct strs *known, struct known_index *ret);
extern const char redact_known_pattern[];
struct known_span {
  size_t start, end;
};
/* Finds the next form of a value at or after *at, and advances *at by one past its start, because values may overlap.
 * Accepts any bytes. */
bool redact_next_known(const struct known_index *index, struct str text, size_t *at, struct known_span *ret);

struct redactor {
  struct vendor_index vendors;
  struct known_index known;
};

/* The text as it reads after removing or decoding parts of it. */
struct view {
  struct str text;
  struct view_parts {
    struct view_part {
      size_t at, outer; /* positions in the view and in the original text */
      size_t used;      /* bytes of the original text that were decoded; 0 if copied up to the next part */
    } *v;
    size_t n, cap;
  } parts;
};
enum view_kind {
  VIEW_SHOWN,     /* as presentation shows it: without invisible characters; also full-width letters as ASCII */
  VIEW_UNESCAPED, /* %41, \u0041, \x41, &#65; */
  VIEW_JOINED,    /* string literals: "ab" + "cd" */
  VIEW_CLOSED,    /* generated values that are split by blanks, dashes or line breaks */
};
enum { SIGN_DASH = 16 };
/* Bit 1 << KIND for each view that may differ from the text; SIGN_DASH if the text contains a dash. */
unsigned redact_signs(struct str text);
/* False if the view does not differ from the text. Takes linear time. */
bool redact_view(struct arena *a, struct str text, enum view_kind kind, struct view *ret);
/* Maps a finding in the view to the original text. */
struct found redact_outward(const struct view *v, struct found f);

/* The finders. Each appends its findings in any order. */
void redact_find_known(struct redact_scan *s, const struct known_index *index);
void redact_find_blocks(struct redact_scan *s);
void redact_find_vendors(struct redact_scan *s, const struct vendor_index *index);
void redact_find_contexts(struct redact_scan *s);
/* Secrets in base64, in hex and backwards. */
void redact_find_encoded(struct redact_scan *s, const struct vendor_index *index);
/* A private key whose text is written backwards. */
void redact_find_reversed_block(struct redact_scan *s);

/* Finders for redact_find_contexts(). They return where to continue: the end of the secret, or near `at`. */
size_t redact_find_header(struct redact_scan *s, size_t at); /* after "Authorization:" */
size_t redact_find_bearer(struct redact_scan *s, size_t at); /* at a word */
size_t redact_find_url(struct redact_scan *s, size_t at);    /* at the "://" */
size_t redact_find_hex(struct redact_scan *s, size_t at);    /* at a word */
size_t redact_find_netrc(struct redact_scan *s, size_t at);  /* at the word "password" */
size_t redact_find_pgpass(struct redact_scan *s, size_t at); /* at the first ':' */
size_t redact_find_option(struct redact_scan *s, size_t at); /* at the '-' */
size_t redact_find_pair(struct redact_scan *s, size_t at);   /* at the '/' */
size_t redact_find_phrase(struct redact_scan *s, size_t at); /* at a word */
/* True for a private key of Bitcoin (WIF), by its checksum. */
bool redact_is_wif(struct str run);

/* Alphabets as bits; a byte may be in several. */
enum {
  IN_LOWER = 1,
  IN_UPPER = 2,
  IN_DIGIT = 4,
  IN_HEX_LOWER = 8,  /* 0-9 a-f */
  IN_HEX_UPPER = 16, /* 0-9 A-F */
  IN_DASH = 32,
  IN_UNDERSCORE = 64,
  IN_PLUS_SLASH = 128,
  IN_DOT = 256,
  IN_EQUALS = 512,
  IN_PERCENT = 1024,
  IN_SPECIAL = 2048,   /* punctuation used in passwords but not inside words of prose */
  IN_BARE_STOP = 4096, /* may end an unquoted value */
  IN_HOLDER = 8192,    /* first byte of a placeholder word */

  IN_ALNUM = IN_LOWER | IN_UPPER | IN_DIGIT,
  IN_WORD = IN_ALNUM | IN_UNDERSCORE,
  IN_HEX = IN_HEX_LOWER | IN_HEX_UPPER,
  IN_B64 = IN_ALNUM | IN_PLUS_SLASH,
  IN_B64URL = IN_ALNUM | IN_DASH | IN_UNDERSCORE,
};
extern const uint16_t redact_alphabet[256];
static inline bool redact_in(char c, unsigned alphabet) { return (redact_alphabet[(unsigned char)c] & alphabet) != 0; }
static inline bool redact_is_blank(char c) { return c == ' ' || c == '\t'; }
static inline bool redact_one_of(char c, const char *set) { return c != 0 && strchr(set, c) != NULL; }
/* Length of the run of `alphabet` at `from`, counted up to `limit`. */
static inline size_t redact_run(struct str text, size_t from, unsigned alphabet, size_t limit) {
  assert(from <= text.n);
  size_t end = limit < text.n - from ? from + limit : text.n, i = from;
  while (i < end && redact_in(text.p[i], alphabet))
    i++;
  return i - from;
}
/* Start of the next run of base64 of at least `least` bytes at or after `at`; text.n if there is none. */
size_t redact_next_run(struct str text, size_t at, size_t least);
/* True if `literal` is at `at`. The second form ignores ASCII case; its literal is in lower case. */
bool redact_at(struct str text, size_t at, const char *literal);
bool redact_at_nocase(struct str text, size_t at, const char *lower);

/* Length of the [REDACTED:name] marker at `at`, 0 if there is none. */
size_t redact_marker(struct str text, size_t at);
/* True if a word continues before or after a position: there is a letter or digit that is not part of an escape such as
 * \n, %3D or \u0022. A marker counts as a letter, so redacting a secret never turns its neighbor into a word. */
bool redact_is_part_of_word(struct str text, size_t at);
static inline bool redact_has_word_before(struct str text, size_t at) {
  return at > 0 && (redact_in(text.p[at - 1], IN_ALNUM) || text.p[at - 1] == ']') && redact_is_part_of_word(text, at);
}
bool redact_has_word_after(struct str text, size_t at);
/* Length of the rest of an escape whose % or \ precedes `at`. A word may also start after it. */
size_t redact_escape_length(struct str text, size_t at);
static inline size_t redact_escape_tail(struct str text, size_t at) {
  return at > 0 && (text.p[at - 1] == '%' || text.p[at - 1] == '\\') ? redact_escape_length(text, at) : 0;
}
/* End of the base64 data of a data: URI whose ";base64," is at `at`; `at` if there is none. Image data is long enough
 * to match any pattern by chance. */
size_t redact_skip_data(struct str text, size_t at);

/* How likely a value is a generated secret. */
enum strength {
  STRENGTH_NONE,   /* words, a placeholder, a reference, too short, or too few different bytes */
  STRENGTH_NUMBER, /* words with digits or punctuation: hunter2222, Summer2024, but also oauth2-client */
  STRENGTH_MIXED,  /* a good password, or a short key */
  STRENGTH_RANDOM, /* a generated key */
};
enum strength redact_strength(struct str value);
/* True if a run of letters and digits does not look like a word, a name or a number. */
bool redact_is_odd(struct str run);
bool redact_has_digit(struct str value);
/* Summer2024Berlin: at least 10 bytes, of lower and upper case and digits, without blanks. */
bool redact_is_mixed(struct str value);
/* True if the value has more than a few different bytes. */
bool redact_is_varied(struct str value);
/* ${X}, <token>, xxxx, changeme, example. */
bool redact_is_placeholder(struct str value);

/* Kind of secret that the name ending at `end` indicates; 0 if none. *ret_start is the start of its last word. */
enum {
  NAME_PASSWORD = 1, /* chosen by people */
  NAME_SECRET = 2,   /* generated: tokens and keys */
  NAME_KEY = 4,      /* only the word "key": a weak sign */
  NAME_HEADER = 8,   /* Authorization */
  NAME_AWS = 16,
  NAME_GCP = 32,
};
unsigned redact_name_flags(struct str text, size_t end, size_t *ret_start);

/* The value after a '=' or ':'. */
struct redact_value {
  size_t start, end;
  bool quoted;
  bool prose; /* unquoted, and more words follow on the line */
};
/* Reads the value at `at`, after blanks: quoted, or up to a blank. False if there is none, or it is code or redacted.
 * Of a long value, only the beginning is read. */
bool redact_read_value(struct str text, size_t at, struct redact_value *ret);
/* Full end of a value that was found to be a secret. */
size_t redact_value_end(struct str text, const struct redact_value *value);
