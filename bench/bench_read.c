/* bench_read.c: latency of get, list and search through the library, in one process.
 *
 * Usage: bench_read SIZE STORE */
#include <stdlib.h>
#include <string.h>

#include "cairn.h"
#include "support/corpus.h"
#include "support/measure.h"

enum { GETS = 1000, LISTS = 300, SEARCHES = 60 };

static void call(struct cairn *db, const char *op, const char *args, struct samples *s, double unit) {
  char *json = NULL;
  double began = now_us();
  int status = cairn_call(db, op, args, 0, &json, NULL);
  samples_add(s, (now_us() - began) / unit);
  if (status != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s %s: %s", op, args, e.message);
  }
  cairn_free(json);
}

int main(int argc, char **argv) {
  if (argc != 3)
    fail("usage: bench_read SIZE STORE");
  static struct samples gets, lists, searches;
  struct cairn_options o = {.size = sizeof(o), .path = argv[2], .all_projects = true, .source = "bench"};
  struct cairn *db = NULL;
  if (cairn_open(&o, &db) != CAIRN_OK)
    fail("cannot open %s", argv[2]);
  struct corpus c = corpus_start(99);
  struct arena a = {0};
  char args[400], name[100];
  for (int i = 0; i < GETS; i++) {
    snprintf(args, sizeof(args), "{\"id\":\"%llu\"}",
             (unsigned long long)(1 + corpus_random(&c, strtoull(argv[1], NULL, 10))));
    call(db, "get", args, &gets, 1);
  }
  for (int i = 0; i < LISTS; i++)
    call(db, "list", "{\"limit\":20}", &lists, 1);
  for (int i = 0; i < SEARCHES; i++) {
    snprintf(args, sizeof(args), "{\"query\":\"%s\",\"limit\":10}", corpus_query(&c, &a).p);
    call(db, "search", args, &searches, 1000);
    arena_release(&a);
  }
  cairn_close(&db);
  snprintf(name, sizeof(name), "get at %s", argv[1]);
  report(name, &gets, "us", "");
  snprintf(name, sizeof(name), "list of 20 at %s", argv[1]);
  report(name, &lists, "us", "");
  snprintf(name, sizeof(name), "search, two words, at %s", argv[1]);
  report(name, &searches, "ms", "");
  return 0;
}
