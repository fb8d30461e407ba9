/* bench_write.c: acknowledged writes through the library: latency of one, rate of one process and of four, compared
 * with a floor: the same bytes as one row of a plain SQLite table, with the same settings.
 *
 * Usage: bench_write FOLDER SIZE=STORE... (stores that no other program has open; they are copied into FOLDER) */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn.h"
#include "embed/embed.h"
#include "support/corpus.h"
#include "support/measure.h"

enum { LATENCY_WRITES = 200, WARM_UP = 5, RATE_RUNS = 5, RATE_MS = 1000 };

static struct cairn *open_store(const char *path) {
  struct cairn_options o = {.size = sizeof(o), .path = path, .project = "bench", .source = "bench"};
  struct cairn *db = NULL;
  if (cairn_open(&o, &db) != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("cannot open %s: %s", path, e.message);
  }
  return db;
}

static void remember(struct cairn *db, struct str text) {
  struct cairn_draft draft = {.size = sizeof(draft), .text = text.p, .text_n = text.n};
  int status = cairn_remember(db, &draft, NULL);
  if (status != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s: %s", cairn_status_name(status), e.message);
  }
}

/* ---- the floor ---- */

struct floor {
  sqlite3 *db;
  sqlite3_stmt *insert;
};

static struct floor floor_open(const char *path) {
  struct floor f = {0};
  int rc = sqlite3_open(path, &f.db);
  sqlite3_busy_timeout(f.db, 60000);
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(f.db,
                      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                      "CREATE TABLE IF NOT EXISTS floor (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
                      NULL, NULL, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_prepare_v2(f.db, "INSERT INTO floor (text) VALUES (?1)", -1, &f.insert, NULL);
  if (rc != SQLITE_OK)
    fail("floor: %s", sqlite3_errmsg(f.db));
  return f;
}

static void floor_write(struct floor *f, struct str text) {
  sqlite3_bind_text(f->insert, 1, text.p, (int)text.n, SQLITE_STATIC);
  if (sqlite3_step(f->insert) != SQLITE_DONE)
    fail("floor: %s", sqlite3_errmsg(f->db));
  sqlite3_reset(f->insert);
}

static void floor_close(struct floor *f) {
  sqlite3_finalize(f->insert);
  sqlite3_close(f->db);
}

/* ---- latency ---- */

static double embedding_us(struct str text) {
  const struct embedder *e = embedder_hash();
  struct arena a = {0};
  struct error err;
  int8_t *vector = arena_array(&a, int8_t, (size_t)e->dims);
  double began = now_us();
  if (e->embed(e, &a, EMBED_TEXT, &text, 1, vector, &err) != STATUS_OK)
    fail("%s", err.message);
  double took = now_us() - began;
  arena_release(&a);
  return took;
}

static void latency(const char *folder, const char *size, const char *store) {
  static struct samples whole, embedding, rest, floors, ratio;
  whole.n = embedding.n = rest.n = floors.n = ratio.n = 0;
  char path[4096], floor_path[4096], name[100];
  snprintf(path, sizeof(path), "%s/latency.db", folder);
  snprintf(floor_path, sizeof(floor_path), "%s/floor.db", folder);
  copy_store(store, path);
  remove_store(floor_path);
  struct cairn *db = open_store(path);
  struct floor f = floor_open(floor_path);
  struct corpus c = corpus_start(4711);
  struct arena a = {0};
  for (int i = 0; i < LATENCY_WRITES + WARM_UP; i++) {
    struct str text = corpus_text(&c, &a);
    double embed = embedding_us(text), t0 = now_us();
    remember(db, text);
    double t1 = now_us();
    floor_write(&f, text);
    double t2 = now_us();
    if (i < WARM_UP)
      continue;
    samples_add(&whole, t1 - t0);
    samples_add(&embedding, embed);
    samples_add(&rest, (t1 - t0 - embed) / 1000);
    samples_add(&floors, (t2 - t1) / 1000);
    samples_add(&ratio, (t1 - t0 - embed) / (t2 - t1));
    arena_release(&a);
  }
  floor_close(&f);
  cairn_close(&db);
  remove_store(path);
  remove_store(floor_path);
  snprintf(name, sizeof(name), "one write at %s, embedding not counted", size);
  report(name, &rest, "ms", strcmp(size, "100000") == 0 ? "target: under 3 ms" : "");
  snprintf(name, sizeof(name), "  its embedding");
  report(name, &embedding, "us", "");
  snprintf(name, sizeof(name), "  floor: one row of plain SQLite, in turn with it");
  report(name, &floors, "ms", "");
  snprintf(name, sizeof(name), "  ratio to the floor");
  report(name, &ratio, "x", "");
}

/* ---- rate ---- */

static int64_t write_until(const char *path, uint64_t seed, double end, bool plain) {
  struct corpus c = corpus_start(seed);
  struct arena a = {0};
  int64_t n = 0;
  struct cairn *db = plain ? NULL : open_store(path);
  struct floor f = {0};
  if (plain)
    f = floor_open(path);
  for (; now_us() < end; n++) {
    if (plain)
      floor_write(&f, corpus_text(&c, &a));
    else
      remember(db, corpus_text(&c, &a));
    arena_release(&a);
  }
  cairn_close(&db);
  if (plain)
    floor_close(&f);
  return n;
}

/* Writes per second of `processes` parallel processes. */
static double rate(const char *path, int processes, uint64_t seed, bool plain) {
  int ends[2];
  if (pipe(ends) != 0)
    fail("pipe");
  double began = now_us(), end = began + RATE_MS * 1000;
  fflush(stdout);
  for (int i = 0; i < processes; i++) {
    pid_t pid = fork();
    if (pid < 0)
      fail("fork");
    if (pid == 0) {
      int64_t n = write_until(path, seed + (uint64_t)i, end, plain);
      _exit(write(ends[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
    }
  }
  int64_t total = 0, n;
  for (int i = 0; i < processes; i++) {
    if (read(ends[0], &n, sizeof(n)) != sizeof(n))
      fail("a writer ended early");
    total += n;
  }
  double took = (now_us() - began) / 1e6;
  for (int i = 0; i < processes; i++)
    wait(NULL);
  close(ends[0]);
  close(ends[1]);
  return (double)total / took;
}

static void rates(const char *folder, const char *size, const char *store) {
  static struct samples ours[2], floors[2];
  const int processes[] = {1, 4};
  char path[4096], floor_path[4096], name[100];
  snprintf(path, sizeof(path), "%s/rate.db", folder);
  snprintf(floor_path, sizeof(floor_path), "%s/floor.db", folder);
  copy_store(store, path);
  remove_store(floor_path);
  for (uint64_t run = 0; run < RATE_RUNS; run++)
    for (int k = 0; k < 2; k++) {
      samples_add(&ours[k], rate(path, processes[k], 1000 + run * 100 + (uint64_t)k * 10, false));
      samples_add(&floors[k], rate(floor_path, processes[k], 1000 + run * 100 + (uint64_t)k * 10, true));
    }
  remove_store(path);
  remove_store(floor_path);
  for (int k = 0; k < 2; k++) {
    snprintf(name, sizeof(name), "acknowledged writes at %s, %d process%s", size, processes[k], k ? "es" : "");
    report(name, &ours[k], "/s", "");
    report("  floor: rows of plain SQLite", &floors[k], "/s", "");
  }
}

int main(int argc, char **argv) {
  if (argc < 3)
    fail("usage: bench_write FOLDER SIZE=STORE...");
  const char *store = NULL;
  for (int i = 2; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals)
      fail("not SIZE=STORE: %s", argv[i]);
    *equals = 0;
    store = equals + 1;
    latency(argv[1], argv[i], store);
  }
  rates(argv[1], argv[2], strchr(argv[2], 0) + 1);
  return 0;
}
