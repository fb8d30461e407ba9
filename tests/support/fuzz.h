/* fuzz.h: what a fuzz target needs: its entry point's prototype and a check that stops the run. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The replay program renames it, one name for each target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                                               \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      fprintf(stderr, "%s:%d: FUZZ_CHECK(%s)\n", __FILE__, __LINE__, #cond);                                           \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)
