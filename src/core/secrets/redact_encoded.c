/* redact_encoded.c: finder of secrets in base64, in hex and backwards.
 *
 * A run of base64 or hex that decodes to text with a secret is redacted as a whole. Decoding stops at the first byte
 * that is not text, so pictures, hashes and paths cost little. */
#include <assert.h>

#include "base/utf8.h"
#include "core/secrets/redact_scan.h"

enum {
  RUN_LEAST = 16,
  AROUND_MOST = 160, /* bytes on either side of a run that are read backwards with it */
  WRAPPED_LEAST = 40 /* bytes of a line of wrapped base64 */
};

static bool is_text(char c) { return (unsigned char)c >= ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* ---- decoders: return an absent string if the run is not encoded text ---- */

static struct str from_base64(struct arena *a, struct str run) {
  char *out = arena_alloc(a, run.n + 1);
  unsigned bits = 0;
  size_t n = 0, digits = 0;
  for (size_t i = 0; i < run.n; i++) {
    int d = ascii_base64(run.p[i]);
    if (d < 0) /* a line break of wrapped base64 */
      continue;
    bits = bits << 6 | (unsigned)d;
    if (digits++ % 4 == 0)
      continue;
    out[n] = (char)(bits >> (6 - 2 * ((digits - 1) % 4)));
    if (!is_text(out[n++]))
      return STR_NONE;
  }
  return utf8_check((struct str){out, n}) == n ? (struct str){out, n} : STR_NONE;
}

static struct str from_hex(struct arena *a, struct str run) {
  char *out = arena_alloc(a, run.n + 1);
  for (size_t i = 0; i + 1 < run.n; i += 2) {
    out[i / 2] = (char)(ascii_hex(run.p[i]) * 16 + ascii_hex(run.p[i + 1]));
    if (!is_text(out[i / 2]))
      return STR_NONE;
  }
  struct str text = {out, run.n / 2};
  return run.n % 2 == 0 && utf8_check(text) == text.n ? text : STR_NONE;
}

static struct str reversed(struct arena *a, struct str word) {
  char *out = arena_alloc(a, word.n + 1);
  for (size_t i = 0; i < word.n; i++)
    out[i] = word.p[word.n - 1 - i];
  return (struct str){out, word.n};
}

/* ---- finding ---- */

static void find_plain(struct redact_scan *s, const struct vendor_index *index) {
  redact_find_blocks(s);
  redact_find_vendors(s, index);
  redact_find_contexts(s);
}

static bool add_decoded(struct redact_scan *s, const struct vendor_index *index, struct str text, size_t from,
                        size_t end) {
  struct redact_scan inner = {.a = s->a, .text = text};
  if (text.n >= 8)
    find_plain(&inner, index);
  if (inner.out.n == 0)
    return false;
  end += redact_run(s->text, end, IN_EQUALS, 2);
  redact_add(s, from, end, inner.out.v[0].pattern, FOUND_CONTEXT);
  return true;
}

/* True if the name before the run says that it is "user:password" in base64, as in the configuration of Docker. */
static bool is_named_auth(struct str text, size_t at) {
  size_t end = at;
  while (end > 0 && at - end < 8 && redact_one_of(text.p[end - 1], " \t\"':=\\"))
    end--;
  return end < at && end >= 4 && redact_at_nocase(text, end - 4, "auth") && !redact_has_word_before(text, end - 4);
}

/* "user:password". */
static bool is_pair(struct str text) {
  const char *colon = text.p ? memchr(text.p, ':', text.n) : NULL;
  return colon && colon > text.p && colon + 1 < text.p + text.n && !memchr(text.p, ' ', text.n);
}

/* End of a run of base64 that may continue on further lines. */
static size_t wrapped_end(struct str text, size_t at, size_t end) {
  for (size_t line = end - at; line >= WRAPPED_LEAST && redact_at(text, end, "\n");) {
    size_t next = end + 1;
    while (next < text.n && (text.p[next] == ' ' || text.p[next] == '\t'))
      next++;
    size_t n = redact_run(text, next, IN_B64, SIZE_MAX);
    if (n == 0 || n > line)
      break;
    end = next + n;
    line = n;
  }
  return end;
}

static bool find_in_base64(struct redact_scan *s, const struct vendor_index *index, size_t at, size_t end) {
  struct str text = from_base64(s->a, str_slice(s->text, at, end));
  if (text.p && is_named_auth(s->text, at) && is_pair(text)) {
    end += redact_run(s->text, end, IN_EQUALS, 2);
    redact_add(s, at, end, "basic_auth", FOUND_CONTEXT);
    return true;
  }
  return text.p && add_decoded(s, index, text, at, end);
}

/* A format, or a value whose name or URL may follow. */
static bool may_be_reversed(struct str text, const struct vendor_index *index, size_t at, size_t end) {
  struct str run = str_slice(text, at, end);
  if (run.n > AROUND_MOST)
    return false;
  return redact_ends_backwards(index, run) ||
         (end < text.n && redact_one_of(text.p[end], "=:@") && redact_strength(run) >= STRENGTH_MIXED);
}

/* Reads the word around a run backwards. Returns its end. */
static size_t find_reversed(struct redact_scan *s, const struct vendor_index *index, size_t at, size_t end) {
  struct str text = s->text;
  size_t from = at, to = end;
  while (from > 0 && at - from < AROUND_MOST && !ascii_space(text.p[from - 1]))
    from--;
  while (to < text.n && to - end < AROUND_MOST && !ascii_space(text.p[to]))
    to++;
  struct redact_scan inner = {.a = s->a, .text = reversed(s->a, str_slice(text, from, to))};
  redact_find_vendors(&inner, index);
  redact_find_contexts(&inner);
  for (size_t i = 0; i < inner.out.n; i++)
    redact_add(s, to - inner.out.v[i].end, to - inner.out.v[i].start, inner.out.v[i].pattern, FOUND_CONTEXT);
  return to;
}

/* `wrapped` is the end of the run, including further lines. */
static bool find_decoded(struct redact_scan *s, const struct vendor_index *index, size_t at, size_t end,
                         size_t wrapped) {
  struct str run = str_slice(s->text, at, end);
  if (redact_run(run, 0, IN_HEX, SIZE_MAX) == run.n) {
    struct str text = from_hex(s->a, run);
    if (text.p && add_decoded(s, index, text, at, end))
      return true;
  }
  return find_in_base64(s, index, at, wrapped);
}

void redact_find_reversed_block(struct redact_scan *s) {
  if (str_find(s->text, STR("YEK ETAVIRP"), 0) == SIZE_MAX)
    return;
  struct redact_scan inner = {.a = s->a, .text = reversed(s->a, s->text)};
  redact_find_blocks(&inner);
  for (size_t i = 0; i < inner.out.n; i++)
    redact_add(s, s->text.n - inner.out.v[i].end, s->text.n - inner.out.v[i].start, inner.out.v[i].pattern,
               FOUND_BLOCK);
}

void redact_find_encoded(struct redact_scan *s, const struct vendor_index *index) {
  size_t read_backwards = 0; /* up to here */
  for (size_t at = redact_next_run(s->text, 0, RUN_LEAST); at < s->text.n;) {
    size_t end = at + redact_run(s->text, at, IN_B64 | IN_B64URL, SIZE_MAX);
    size_t data = at >= 8 ? redact_skip_data(s->text, at - 8) : 0;
    if (data > end) {
      end = data;
    } else {
      size_t wrapped = wrapped_end(s->text, at, end);
      if (!find_decoded(s, index, at, end, wrapped) && end > read_backwards && may_be_reversed(s->text, index, at, end))
        read_backwards = find_reversed(s, index, at, end);
      end = wrapped; /* no line is read twice */
    }
    at = redact_next_run(s->text, end, RUN_LEAST);
  }
}
