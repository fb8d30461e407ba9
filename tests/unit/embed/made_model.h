/* made_model.h: random encoders of a few kilobytes, and a reference implementation in double precision. */
#pragma once

#include "embed/encoder/model_file.h"

/* 2 layers, hidden 32, 2 heads, ffn 64, 20 words, 24 positions and tokens. */
extern const struct model_shape made_shape;

/* Random weights that are multiples of a power of two, so quantisation loses nothing. */
struct model_source made_source(struct arena *a, const struct model_shape *shape, uint32_t seed);
/* The model file, aligned. */
struct str made_file(struct arena *a, const struct model_source *source);
/* Computes the vector of a text, not normalised: ret_vector[dims]. */
void made_reference(struct arena *a, const struct model_source *source, const int32_t *ids, size_t n,
                    double *ret_vector);
double made_cosine(const float *a, const double *b, size_t n);
/* Next pseudo-random number between -1 and 1. */
float made_random(uint32_t *state);
