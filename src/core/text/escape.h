/* escape.h: reader of character escapes: %49, \u0049, \x49, &#73;, &#x49;. */
#pragma once

#include "base/str.h"

/* Reads exactly `digits` hex digits at pos. */
bool escape_hex(struct str s, size_t pos, size_t digits, uint32_t *ret);
/* Reads the escape at pos. Returns its end; pos if there is none. *ret_byte: the value is a byte of UTF-8, from %XX. */
size_t escape_read(struct str s, size_t pos, uint32_t *ret, bool *ret_byte);
