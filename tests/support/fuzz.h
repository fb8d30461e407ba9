/* fuzz.h: for fuzz targets: the prototype of the entry point and a check that aborts the run. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The replay program gives it another name for each target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                                               \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      fprintf(stderr, "%s:%d: FUZZ_CHECK(%s)\n", __FILE__, __LINE__, #cond);                                           \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)
