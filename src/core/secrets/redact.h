/* redact.h: finds credentials in text, replaces them, and describes them without showing them.
 *
 * What counts as a secret:
 *   1. the exact values of the vault, also in hex or base64, broken into lines, and with the escapes of URLs and JSON;
 *   2. private key blocks (PEM, OpenSSH, PGP, PuTTY), whole or cut off;
 *   3. formats that a vendor made recognisable by a prefix, an alphabet and a length: the table in redact_patterns.c;
 *   4. values in a telling place: assigned to a name such as DB_PASSWORD or api_key, in an Authorization header, as the
 *      password of a URL, hex after the word "key". These must also look generated (redact_scan.c), so that prose about
 *      tokens and passwords stays prose.
 *
 * Decisions worth knowing:
 *   - Placeholders are no secrets: ${VAR}, <your-token>, xxxxx, changeme, anything that contains "example". This holds
 *     for vendors' formats too: the key ids that AWS prints in its documentation end in EXAMPLE, and an issued key
 *     contains that word but by an accident of one in a billion.
 *   - Test keys (sk_test_...) are secrets. Account ids, publishable keys and fingerprints are not.
 *   - A UUID, a checksum or a commit id alone is none; assigned to api_key, token, secret or password it is.
 *   - A password of dictionary words alone is found only where nothing else can be meant: DB_PASSWORD=..., a URL. The
 *     names are English, with the word for "password" in a few more languages.
 *   - What is already redacted is left alone, and searching what redact_apply() made finds nothing more.
 *
 * Time is linear in the length of the text. Hits never cut a character. */
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

/* What is looked for, made ready for many texts: the patterns, and a team's own secret values. Values under 8 bytes are
 * ignored, as are values that are not UTF-8. They must stay where they are as long as it is used: it holds no byte of
 * them, so that a value that lies in locked memory lies nowhere else. */
struct redactor;
const struct redactor *redactor_new(struct arena *a, const struct strs *known);

/* The secrets of `text` (valid UTF-8), in order, not overlapping. A value of `what` has the pattern "vault_secret";
 * NULL: the patterns alone. */
void redact_find(struct arena *a, struct str text, const struct redactor *what, struct secret_hits *ret);

/* `text` with each hit replaced by [REDACTED:<pattern>]; `text` itself when there is none. */
struct str redact_apply(struct arena *a, struct str text, const struct secret_hits *hits);

/* "line 3: ghp_ab…wxyz": where the hit is and enough of it to recognise it. At most its first 6 and last 4 characters,
 * and never more than a third of it; nothing of a value of the vault, which its owner knows by another name. */
struct str redact_preview(struct arena *a, struct str text, const struct secret_hit *hit);
