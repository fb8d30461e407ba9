/* redact.h: finds credentials in text, replaces them, and describes them without showing them.
 *
 * What counts as a secret, in order of certainty:
 *   1. the exact values of the vault, also when they are base64-, URL- or JSON-escaped;
 *   2. formats that a vendor made recognisable (a prefix, an alphabet, a length): a static table, redact_patterns.c;
 *   3. private key blocks (PEM, OpenSSH, PGP, PuTTY), whole or cut off;
 *   4. values in a telling place: assigned to a name such as DB_PASSWORD or api_key, in an Authorization header, as the
 *      password of a URL, hex after the word "key". Places 4 also ask whether the value looks random (redact_scan.c),
 * so that prose about tokens and passwords stays prose.
 *
 * Decisions worth knowing:
 *   - Placeholders are no secrets: ${VAR}, <your-token>, xxxx, changeme, anything that contains "example". This holds
 * for vendor formats as well: the access key ids that AWS prints in its documentation end in EXAMPLE, and no issued key
 *     contains that word but by an accident of one in a billion.
 *   - Test keys (sk_test_...) are secrets. Public identifiers (account ids, publishable keys, fingerprints) are not.
 *   - A UUID, a checksum or a commit id alone is none; assigned to api_key, token, secret or password it is.
 *   - A password made of dictionary words alone is found only where nothing else can be meant: NAME_PASSWORD=..., a
 * URL.
 *   - Text that is already redacted is left alone: finding again in what redact_apply() made finds nothing new.
 *
 * Everything is linear in the length of the text and needs no more than the text is long. Hits never cut a character.
 */
#ifndef CAIRN_CORE_REDACT_H
#define CAIRN_CORE_REDACT_H

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

/* The secrets of `text` (valid UTF-8), in order, not overlapping. `known`: secret values to look for, may be NULL;
 * values under 8 bytes are ignored, as are values that are not UTF-8. Their pattern is "vault_secret". */
void redact_find(struct arena *a, struct str text, const struct strs *known, struct secret_hits *ret);

/* `text` with each hit replaced by [REDACTED:<pattern>]; `text` itself when there is none. */
struct str redact_apply(struct arena *a, struct str text, const struct secret_hits *hits);

/* "line 3: ghp_ab…wxyz": where the hit is and enough of it to recognise it. At most its first 6 and last 4 characters,
 * and never more than a third of it. */
struct str redact_preview(struct arena *a, struct str text, const struct secret_hit *hit);

#endif
