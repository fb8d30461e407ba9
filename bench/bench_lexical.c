/* bench_lexical.c: latency of full-text search, without the other stages, in one process.
 *
 * Usage: bench_lexical make SIZE STORE   a store of SIZE memories of about 40 words, without vectors
 *        bench_lexical run STORE [PROJECT]   queries of 4 to 12 words, including stop words */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os/clock.h"
#include "store/search/entities.h"
#include "store/search/lexical.h"
#include "support/corpus.h"
#include "support/measure.h"

#define NOW INT64_C(1770000000000)

enum { VOCABULARY = 200000, QUERIES = 200, BATCH = 50000, LIMIT = 100 };

static const char *const stops[] = {"the", "of",  "and", "to",   "in",   "a",   "is",  "that", "for",  "it",   "was",
                                    "on",  "are", "as",  "with", "be",   "at",  "by",  "this", "from", "or",   "have",
                                    "an",  "not", "we",  "but",  "they", "you", "all", "can",  "has",  "which"};

static double *cumulative(void) {
  static double sums[VOCABULARY];
  double sum = 0;
  for (size_t i = 0; i < VOCABULARY; i++)
    sums[i] = sum += 1 / ((double)i + 2.7);
  return sums;
}

/* Zipf's law: the frequency of a word is inversely proportional to its rank. */
static size_t zipf(struct corpus *c, const double *sums) {
  double x = (double)corpus_random(c, UINT64_C(1) << 40) / (double)(UINT64_C(1) << 40) * sums[VOCABULARY - 1];
  size_t low = 0, high = VOCABULARY - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sums[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void add_word(struct buf *b, size_t rank) {
  if (rank < ARRAY_LEN(stops)) {
    buf_adds(b, stops[rank]);
    return;
  }
  static const char *const heads[] = {"b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st"};
  static const char *const tails[] = {"a", "e", "i", "o", "u", "ai", "or", "en"};
  for (uint64_t digits = rank + 200; digits > 0; digits /= 128) {
    buf_adds(b, heads[digits % 16]);
    buf_adds(b, tails[digits / 16 % 8]);
  }
  buf_addc(b, "kmpt"[rank % 4]);
}

/* n random words with ranks below `most`. */
static struct str words(struct corpus *c, const double *sums, struct arena *a, uint64_t n, size_t most) {
  struct buf b = BUF(a);
  for (uint64_t i = 0; i < n; i++) {
    size_t rank = zipf(c, sums);
    while (rank >= most)
      rank = zipf(c, sums);
    if (i)
      buf_addc(&b, ' ');
    add_word(&b, rank);
  }
  return buf_str(&b);
}

/* CPU time, which excludes other load on the machine. */
static double cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(enum status s, const struct error *err) {
  if (s != STATUS_OK)
    fail("%s", err->message);
}

static void insert(struct store *st, struct corpus *c, const double *sums, int64_t id) {
  struct arena a = {0};
  struct error err;
  struct db *db = store_db(st);
  struct str headline = words(c, sums, &a, 6, VOCABULARY),
             body = words(c, sums, &a, 24 + corpus_random(c, 20), VOCABULARY);
  /* One project has fifty memories, one a hundredth of the store, one nearly all; a few memories have none. */
  struct str project = id % 20000 == 7 ? STR("tiny") : id % 100 == 3 ? STR("small") : STR("large");
  if (id % 50000 == 9)
    project = STR("");
  struct str uid = arena_printf(&a, "00000000-0000-7000-8000-%012llx", (long long)id);
  must(db_exec(db, &err,
               "INSERT INTO memory (id, uid, team, project, kind, type, headline, trust, valid_from, created_at,"
               " updated_at, source) VALUES (?1, ?2, 'default', ?3, 'fact', 'fact', ?4, 'user', ?5, ?5, ?5, 'bench')",
               "isssi", id, uid, project, headline, (int64_t)1763200000000 + id),
       &err);
  must(db_exec(db, &err,
               "INSERT INTO chunk (id, team, memory_id, seq, hash, headline, body, extra, terms)"
               " VALUES (?1, 'default', ?1, 0, 'h', ?2, ?3, '', cairn_terms(?4, ?2, ?3, ''))",
               "isss", id, headline, body, project),
       &err);
  arena_release(&a);
}

static void make(struct store *st, int64_t size) {
  struct corpus c = corpus_start(7);
  const double *sums = cumulative();
  struct error err;
  for (int64_t id = 1; id <= size;) {
    must(db_begin(store_db(st), STR_NONE, false, &err), &err);
    struct txn txn = {.store = st};
    must(lexical_hold(&txn, &err), &err);
    for (int64_t i = 0; i < BATCH && id <= size; i++)
      insert(st, &c, sums, id++);
    must(lexical_release(&txn, &err), &err);
    must(db_commit(store_db(st), &err), &err);
    fprintf(stderr, "%lld\r", (long long)id);
  }
}

/* How many of the top ten are the same as without pruning. */
static double agreement(const struct lexical_hits *x, const struct lexical_hits *y) {
  size_t same = 0, n = y->n < 10 ? y->n : 10;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n && k < x->n; k++)
      same += y->v[i].chunk_id == x->v[k].chunk_id;
  return n ? (double)same / (double)n : 1;
}

static void run(struct store *st, const char *project, bool compare) {
  static struct samples first, warm, hits, named, same;
  double sum = 0;
  size_t most = getenv("BENCH_RANKS") ? (size_t)strtoull(getenv("BENCH_RANKS"), NULL, 10) : VOCABULARY;
  struct corpus c = corpus_start(99);
  const double *sums = cumulative();
  struct scope scope = {.team = STR("default"), .now = NOW, .all_projects = !project};
  scope.project = project ? str_from(project) : STR("");
  struct filter any = {0};
  int queries = getenv("BENCH_QUERIES") ? (int)strtol(getenv("BENCH_QUERIES"), NULL, 10) : QUERIES;
  for (int i = 0; i < queries; i++) {
    struct arena a = {0};
    struct error err;
    struct lexical_hits found = {0};
    struct str query = words(&c, sums, &a, 4 + corpus_random(&c, 9), most);
    struct chunk_query q = {.scope = &scope, .filter = &any, .text = query, .limit = LIMIT};
    double began = cpu_us();
    must(lexical_search(st, &q, &a, &found, &err), &err);
    double ms = (cpu_us() - began) / 1000;
    samples_add(i < 3 ? &first : &warm, ms);
    samples_add(&hits, (double)found.n);
    struct lexical_hits things = {0}, all = {0};
    began = cpu_us();
    must(entity_search(st, &q, &a, &things, &err), &err);
    samples_add(&named, (cpu_us() - began) / 1000);
    if (compare) {
      must(lexical_search_all(st, &q, &a, &all, &err), &err);
      samples_add(&same, agreement(&found, &all));
      sum += agreement(&found, &all);
    }
    if (getenv("BENCH_VERBOSE"))
      printf("%8.2f ms %4zu hits  %.*s\n", ms, found.n, STR_ARG(query));
    arena_release(&a);
  }
  report("the first three", &first, "ms", "");
  report("warm", &warm, "ms", "");
  report("hits", &hits, "", "");
  report("by what the query names", &named, "ms", "");
  if (compare) {
    report("agreement of the best ten", &same, "", "");
    report_text("its mean", "%.3f", sum / queries);
  }
}

int main(int argc, char **argv) {
  bool making = argc == 4 && strcmp(argv[1], "make") == 0;
  if (!making && !(argc >= 3 && strcmp(argv[1], "run") == 0))
    fail("usage: bench_lexical make SIZE STORE | bench_lexical run STORE [PROJECT]");
  struct store_options o = {.path = making ? argv[3] : argv[2], .now = NOW};
  struct store *st = NULL;
  struct error err;
  must(store_open(&o, &st, &err), &err);
  if (making)
    make(st, strtoll(argv[2], NULL, 10));
  else
    run(st, argc > 3 ? argv[3] : NULL, getenv("BENCH_COMPARE"));
  store_close(&st);
  return 0;
}
