/* encoder.h: a BERT encoder over a stored model: token ids in, one float vector for each text out.
 *
 * The vectors are the same on every processor, for any number of threads, and whichever texts stand beside each other
 * in a call. */
#pragma once

#include "embed/encoder/kernel.h"

/* 1 to shape.positions ids, each below shape.vocab, the special ones included. */
struct encoder_text {
  const int32_t *ids;
  size_t n;
};

/* ret_vectors[n][dims], not normalised. The kernel is NULL for the best one, threads 0 for one on each core (at most
 * ENCODER_MAX_THREADS); they are gone when the call returns. STATUS_INTERNAL for ids or lengths that the model does not
 * have. */
enum { ENCODER_MAX_THREADS = 16 };
NODISCARD enum status encoder_run(const struct model *m, const struct kernel *kernel, struct arena *a,
                                  const struct encoder_text *texts, size_t n, size_t threads, float *ret_vectors,
                                  struct error *err);
