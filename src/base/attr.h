/* attr.h: compiler attributes and the few macros that every file may use. */
#pragma once

#include <stddef.h>

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF_FMT(fmt, first) __attribute__((format(printf, fmt, first)))
#define UNUSED __attribute__((unused))

/* Runs fn(&variable) when the variable leaves its scope, on every path. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
