/* keys.h: generates fake credentials at run time, so secret scanners do not report the test sources. */
#pragma once

#include "base/buf.h"

/* Makes a key from a template: "ghp_<a36>" is "ghp_" and 36 random characters of the alphabet 'a'. The alphabets are
 * h (hex), d (digits), l (lower case and digits), U (upper case and digits), 2 (base32), a (letters and digits), b
 * (base64), u (base64url), p (password characters). Another seed gives another key. */
struct str key_make(struct arena *a, const char *template, uint32_t seed);
