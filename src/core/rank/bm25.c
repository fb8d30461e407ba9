/* bm25.c: BM25 column weights and inverse document frequency. */
#include "core/rank/bm25.h"

#include <assert.h>

const double bm25_weights[BM25_COLUMNS] = {
    [BM25_HEADLINE] = 1.0, [BM25_BODY] = 1.0, [BM25_EXTRA] = 1.0, [BM25_TERMS] = 1.0};

/* Natural logarithm of x >= 1 by its series. Unlike libm, it gives the same bits on every machine. */
static double natural_log(double x) {
  assert(x >= 1);
  double whole = 0;
  for (; x > 1.5; x *= 0.5)
    whole += 0.69314718055994530942;
  double t = (x - 1) / (x + 1), square = t * t, power = t, sum = 0;
  for (int i = 1; i < 40; i += 2, power *= square)
    sum += power / i;
  return whole + 2 * sum;
}

double bm25_idf(double rows, double df) {
  double without = rows > df ? rows - df : 0;
  return natural_log(1 + (without + 0.5) / (df + 0.5));
}
