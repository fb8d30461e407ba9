/* keys.h: credentials that look real and are none, made when a test runs: no scanner takes the sources for a leak. */
#pragma once

#include "base/buf.h"

/* By a template: "ghp_<a36>" is "ghp_" and 36 random characters of the alphabet 'a'. The alphabets are h (hex),
 * d (digits), l (lower case and digits), U (capitals and digits), 2 (base32), a (letters and digits), b (base64),
 * u (base64url), p (of passwords). Another seed gives another key. */
struct str key_make(struct arena *a, const char *template, uint32_t seed);
