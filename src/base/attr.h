/* attr.h: compiler attributes and macros for every file. */
#pragma once

#include <stddef.h>

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF_FMT(fmt, first) __attribute__((format(printf, fmt, first)))
#define UNUSED __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
