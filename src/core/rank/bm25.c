/* bm25.c: weights and inverse document frequency. */
#include "core/rank/bm25.h"

const double bm25_weights[BM25_COLUMNS] = {
    [BM25_HEADLINE] = 1.0, [BM25_BODY] = 1.0, [BM25_EXTRA] = 1.0, [BM25_TERMS] = 1.0};

/* The natural logarithm of x >= 1 by its series: libm may differ between machines, these steps cannot. */
static double log_of(double x) {
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
  return log_of(1 + (without + 0.5) / (df + 0.5));
}
