/* redact.h: secret scanner: finds credentials in text, redacts them, and describes them without revealing them.
 *
 * It finds:
 *   1. the exact values of the vault, also in hex or base64, split across lines, and with URL or JSON escapes;
 *   2. private key blocks (PEM, OpenSSH, PGP, PuTTY), complete or truncated;
 *   3. vendor formats with a recognizable prefix, alphabet and length: the table in redact_patterns.c;
 *   4. values whose context indicates a secret: assigned to a name such as DB_PASSWORD or api_key, in an Authorization
 *      header, as the password of a URL, in a .netrc, hex after the word "key". They must also look generated
 *      (redact_scan.c), so that prose about tokens and passwords is not redacted;
 *   5. recovery phrases and private keys of wallets.
 *
 * It searches the text, and what a reader would get from it: without the characters that presentation removes,
 * unescaped, joined, decoded (redact_view.c, redact_encoded.c).
 *
 * Decisions:
 *   - Placeholders are not secrets: ${VAR}, <your-token>, xxxxx, changeme, anything that contains "example". This
 *     includes vendor formats: the key ids in the AWS documentation end in EXAMPLE, and an issued key contains that
 *     word with a probability of one in a billion.
 *   - Test keys (sk_test_...) are secrets. Account ids, publishable keys and fingerprints are not.
 *   - A UUID, checksum or commit id is a secret only if it is assigned to api_key, token, secret or password.
 *   - A password of dictionary words is found only in unambiguous places: DB_PASSWORD=..., a URL. The names are
 *     English, plus the word for "password" in many more languages.
 *   - Redacted text is left unchanged, and scanning the output of redact_apply() finds nothing.
 *
 * Takes time linear in the length of the text. Hits never split a character. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct secret_hit {
  size_t start, len;
  const char *pattern; /* stable name in static memory, such as "github_token" */
};

struct secret_hits {
  struct secret_hit *v;
  size_t n, cap;
};

/* Index of the patterns and of a team's vault values, reusable for many texts. Values shorter than 8 bytes or not UTF-8
 * are ignored. The values must outlive the redactor: it points to them and copies no byte, so values in locked
 * memory stay there. */
struct redactor;
const struct redactor *redactor_new(struct arena *a, const struct strs *known);

/* Finds the secrets of `text` (valid UTF-8), in order, not overlapping. Vault values have the pattern "vault_secret". A
 * NULL redactor searches only for the patterns. */
void redact_find(struct arena *a, struct str text, const struct redactor *what, struct secret_hits *ret);

/* Returns `text` with each hit replaced by [REDACTED:<pattern>]. */
struct str redact_apply(struct arena *a, struct str text, const struct secret_hits *hits);
/* Both at once. */
struct str redact_all(struct arena *a, struct str text, const struct redactor *what);

/* "line 3: ghp_ab…wxyz": the position and a recognizable part of a hit. Shows at most the first 6 and last 4
 * characters, never more than a third, and nothing of a vault value. */
struct str redact_preview(struct arena *a, struct str text, const struct secret_hit *hit);
