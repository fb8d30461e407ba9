/* bench_pg.c: a store on a PostgreSQL server: searches and writes through the library, compared with their floor:
 * the same statements with the same values, sent directly through libpq (support/recorder.h).
 *
 * Usage: bench_pg URL SECONDS SIZE=DATABASE... (databases of bench_pg_make, of which copies are used; URL is for a
 * superuser; SECONDS is the length of each run of the writers) */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn.h"
#include "support/measure.h"
#include "support/pg.h"
#include "support/recorder.h"
#include "support/topics.h"

enum {
  TEAMS = 5,      /* teams that are searched */
  QUESTIONS = 40, /* per team */
  WARM_UP = 6,    /* per team, not measured: the server plans a statement again for its first five executions */
  RECORDED = 40,  /* writes of each client that are replayed in turn */
  RATE_RUNS = 3,
  SEARCH_TRIPS = 25,
  WRITE_TRIPS = 15,
};

struct bench {
  const char *super, *own; /* URLs for the superuser and for the store's role */
  const char *through;     /* URL of the recorder */
  struct recorder *recorder;
  struct topics topics;
  int64_t size;
  int seconds;
  struct arena arena;
};

static struct cairn *open_team(const char *url, int team) {
  char name[8];
  struct cairn_options o = {
      .size = sizeof(o), .path = url, .team = pg_team(team, name), .all_projects = true, .source = "bench"};
  struct cairn *db = NULL;
  if (cairn_open(&o, &db) != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s: %s", url, e.message);
  }
  return db;
}

static void call(struct cairn *db, const char *operation, const char *args) {
  if (cairn_call(db, operation, args, 0, NULL, NULL) != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s %s: %s", operation, args, e.message);
  }
}

static void report_ratio(const char *name, struct samples *ours, struct samples *floors, const char *target) {
  report_text(name, "%9.2f   %8.2f at the 95th percentile   %s", samples_at(ours, 0.5) / samples_at(floors, 0.5),
              samples_at(ours, 0.95) / samples_at(floors, 0.95), target);
}

/* ---- search ---- */

static void search(struct bench *b, struct cairn *db, int question, int limit) {
  struct arena a = {0};
  struct str text = topics_query(&b->topics, question, &a);
  call(db, "search", arena_printf(&a, "{\"query\":\"%.*s\",\"limit\":%d}", STR_ARG(text), limit).p);
  arena_release(&a);
}

struct trips {
  struct samples statements, trips;
};

static void count_trips(struct trips *t, const struct recording *r) {
  samples_add(&t->statements, (double)r->n);
  samples_add(&t->trips, r->trips);
}

/* BENCH_STATEMENTS=1: prints the statements of one operation, by round trip. */
static void show(const char *operation, const struct recording *r) {
  if (!getenv("BENCH_STATEMENTS"))
    return;
  printf("  %s:\n", operation);
  for (size_t i = 0; i < r->n; i++)
    printf("    %2d %.160s\n", r->v[i].trip, r->v[i].sql.p);
}

/* Every few seconds a search also records accesses, which is not part of the search. */
static bool writes_too(const struct recording *r) {
  for (size_t i = 0; i < r->n; i++)
    if (str_find(r->v[i].sql, STR("INSERT"), 0) != SIZE_MAX ||
        str_find(r->v[i].sql, STR("lock_timeout"), 0) != SIZE_MAX)
      return true;
  return false;
}

static void record_searches(struct bench *b, int team, struct arena *a, struct recording *ret, struct trips *t) {
  struct cairn *db = open_team(b->through, team);
  for (int i = 0; i < QUESTIONS + WARM_UP; i++) {
    search(b, db, team * 1000 + i, 9);
    for (int limit = 10; limit == 10 || (writes_too(&ret[i]) && limit < 13); limit++) {
      recorder_begin(b->recorder, a);
      search(b, db, team * 1000 + i, limit);
      ret[i] = recorder_end(b->recorder);
    }
    if (i == WARM_UP && team == 0)
      show("search", &ret[i]);
    if (i >= WARM_UP)
      count_trips(t, &ret[i]);
  }
  cairn_close(&db);
}

struct times {
  struct samples whole, ours, floors;
};

/* Each question is asked twice, for nine results and for ten: the second time its vector is cached. The floor is the
 * statements of the second one, also sent twice. */
static void time_searches(struct bench *b, int team, const struct recording *recorded, struct replay *floor,
                          struct times *t) {
  char name[8];
  struct cairn *db = open_team(b->own, team);
  replay_team(floor, pg_team(team, name));
  for (int i = 0; i < QUESTIONS + WARM_UP; i++) {
    double t0 = now_us();
    search(b, db, team * 1000 + i, 9);
    double t1 = now_us();
    search(b, db, team * 1000 + i, 10);
    double t2 = now_us();
    replay_run(floor, &recorded[i]);
    double t3 = now_us();
    replay_run(floor, &recorded[i]);
    double t4 = now_us();
    if (i < WARM_UP)
      continue;
    samples_add(&t->whole, (t1 - t0) / 1000);
    samples_add(&t->ours, (t2 - t1) / 1000);
    samples_add(&t->floors, (t4 - t3) / 1000);
  }
  cairn_close(&db);
}

/* Private memory of one server process in MB; 0 if unknown. */
static double private_memory(int pid) {
  char path[64], line[200];
  long kb = 0, n;
  snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f))
    if (sscanf(line, "Private_%*[A-Za-z]: %ld", &n) == 1)
      kb += n;
  if (f)
    fclose(f);
  return (double)kb / 1024;
}

static double searches(struct bench *b) {
  static struct times t;
  static struct trips trips;
  static struct recording recorded[QUESTIONS + WARM_UP];
  char name[100];
  t = (struct times){0};
  trips = (struct trips){0};
  setenv("CAIRN_EMBEDDER", "cairn-embed-v2", 1);
  struct replay *floor = replay_open(b->own);
  double before = private_memory(replay_backend(floor));
  for (int i = 0; i < TEAMS; i++) {
    static struct arena a;
    int team = i * PG_SEARCHED / TEAMS;
    record_searches(b, team, &a, recorded, &trips);
    time_searches(b, team, recorded, floor, &t);
    arena_release(&a);
  }
  snprintf(name, sizeof(name), "search at %lld, its question embedded", (long long)b->size);
  report_tail(name, &t.whole, "ms", "");
  report_tail("  the same, the question's vector at hand", &t.ours, "ms", "");
  report_tail("  floor: its statements alone, in turn with it", &t.floors, "ms", "");
  report_ratio("  ratio to the floor", &t.ours, &t.floors, "target: 1.5 or less");
  report("  statements of a search", &trips.statements, "", "");
  snprintf(name, sizeof(name), "target: %d or less", SEARCH_TRIPS);
  report("  round trips of a search", &trips.trips, "", name);
  double after = private_memory(replay_backend(floor));
  if (after > 0)
    report_text("  memory of a connection, after searches", "%9.1f   MB of its own, %.1f at the beginning", after,
                before);
  replay_close(floor);
  return samples_at(&t.ours, 0.5);
}

/* ---- writes ---- */

static void remember(struct bench *b, struct cairn *db, int64_t number) {
  struct arena a = {0};
  struct str text = topics_memory(&b->topics, number, &a);
  call(db, "remember", arena_printf(&a, "{\"text\":\"%.*s\"}", STR_ARG(text)).p);
  arena_release(&a);
}

/* Numbers are unique across all runs of all clients. */
static int64_t next_numbers(struct bench *b, int64_t n) {
  static int64_t used;
  used += n;
  return TOPICS + 10 * b->size + used - n;
}

struct client {
  int team;
  int64_t first;
  struct recording writes[RECORDED];
};

/* Pipes between parent and clients: the client is ready, when to stop, how many writes it did. */
struct gates {
  int ready[2], go[2], done[2];
};

/* After its warm-up writes, a client waits for the others. */
static double wait_for_start(const struct gates *g) {
  char one = 1;
  double end;
  if (write(g->ready[1], &one, 1) != 1 || read(g->go[0], &end, sizeof(end)) != sizeof(end))
    _exit(1);
  return end;
}

static int64_t write_ours(struct bench *b, const struct client *c, const struct gates *g) {
  int64_t n = 0;
  struct cairn *db = open_team(b->own, c->team);
  for (; n < WARM_UP; n++)
    remember(b, db, c->first + n);
  for (double end = wait_for_start(g); now_us() < end; n++)
    remember(b, db, c->first + n);
  cairn_close(&db);
  return n - WARM_UP;
}

static int64_t write_floor(struct bench *b, const struct client *c, const struct gates *g) {
  int64_t n = 0;
  char name[8];
  struct replay *p = replay_open(b->own);
  replay_team(p, pg_team(c->team, name));
  for (; n < WARM_UP; n++)
    replay_run(p, &c->writes[n % RECORDED]);
  for (double end = wait_for_start(g); now_us() < end; n++)
    replay_run(p, &c->writes[n % RECORDED]);
  replay_close(p);
  return n - WARM_UP;
}

/* Writes per second of all clients together. */
static double rate(struct bench *b, const struct client *clients, bool plain) {
  struct gates g;
  if (pipe(g.ready) != 0 || pipe(g.go) != 0 || pipe(g.done) != 0)
    fail("pipe");
  fflush(stdout);
  for (int i = 0; i < PG_CLIENTS; i++) {
    pid_t pid = fork();
    if (pid < 0)
      fail("fork");
    if (pid == 0) {
      int64_t n = plain ? write_floor(b, &clients[i], &g) : write_ours(b, &clients[i], &g);
      _exit(write(g.done[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
    }
  }
  char one;
  int64_t total = 0, n;
  close(g.ready[1]);
  close(g.done[1]);
  for (int i = 0; i < PG_CLIENTS; i++)
    if (read(g.ready[0], &one, 1) != 1)
      fail("a writer ended early");
  double began = now_us(), end = began + b->seconds * 1e6;
  for (int i = 0; i < PG_CLIENTS; i++)
    if (write(g.go[1], &end, sizeof(end)) != sizeof(end))
      fail("pipe");
  for (int i = 0; i < PG_CLIENTS; i++) {
    if (read(g.done[0], &n, sizeof(n)) != sizeof(n))
      fail("a writer ended early");
    total += n;
  }
  double took = (now_us() - began) / 1e6;
  for (int i = 0; i < PG_CLIENTS; i++)
    wait(NULL);
  close(g.ready[0]);
  close(g.go[0]);
  close(g.go[1]);
  close(g.done[0]);
  return (double)total / took;
}

static void record_writes(struct bench *b, struct client *c, struct arena *a, struct trips *t) {
  struct cairn *db = open_team(b->through, c->team);
  int64_t first = next_numbers(b, RECORDED + 2);
  for (int i = -2; i < RECORDED; i++) {
    recorder_begin(b->recorder, a);
    remember(b, db, first + 2 + i);
    struct recording r = recorder_end(b->recorder);
    if (i < 0)
      continue;
    c->writes[i] = r;
    if (i == 0 && t->trips.n == 0)
      show("remember", &r);
    count_trips(t, &r);
  }
  cairn_close(&db);
}

/* The time of one write, without other clients. */
static void write_alone(struct bench *b, const struct client *c) {
  static struct samples ours, floors;
  char name[100];
  ours.n = floors.n = 0;
  struct cairn *db = open_team(b->own, c->team);
  struct replay *p = replay_open(b->own);
  replay_team(p, pg_team(c->team, name));
  int64_t first = next_numbers(b, 3 * RECORDED);
  for (int i = 0; i < 3 * RECORDED; i++) {
    double t0 = now_us();
    remember(b, db, first + i);
    double t1 = now_us();
    replay_run(p, &c->writes[i % RECORDED]);
    double t2 = now_us();
    if (i < RECORDED)
      continue;
    samples_add(&ours, (t1 - t0) / 1000);
    samples_add(&floors, (t2 - t1) / 1000);
  }
  replay_close(p);
  cairn_close(&db);
  snprintf(name, sizeof(name), "one write at %lld, on disk", (long long)b->size);
  report_tail(name, &ours, "ms", "");
  report_tail("  floor: its statements alone, in turn with it", &floors, "ms", "");
  report_ratio("  ratio to the floor", &ours, &floors, "target: 1.5 or less");
}

static void rates(struct bench *b, struct client *clients, const char *where) {
  static struct samples ours, floors;
  char name[100];
  ours.n = floors.n = 0;
  for (int run = 0; run < RATE_RUNS; run++) {
    for (int i = 0; i < PG_CLIENTS; i++)
      clients[i].first = next_numbers(b, 1000000);
    samples_add(&ours, rate(b, clients, false));
    samples_add(&floors, rate(b, clients, true));
  }
  snprintf(name, sizeof(name), "writes at %lld, %d clients %s", (long long)b->size, PG_CLIENTS, where);
  report(name, &ours, "/s", "");
  report("  floor: their statements alone", &floors, "/s", "");
  report_text("  ratio to the floor", "%9.2f   target: 1.5 or less", samples_at(&floors, 0.5) / samples_at(&ours, 0.5));
}

/* The teams that are written to use the hashing embedder, to measure only the store. */
static void writes(struct bench *b) {
  static struct client clients[PG_CLIENTS];
  static struct trips trips;
  static struct arena a;
  char name[40];
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  for (int one = 0; one < 2; one++) {
    trips = (struct trips){0};
    for (int i = 0; i < PG_CLIENTS; i++) {
      clients[i].team = one ? PG_SEARCHED : PG_SEARCHED + i;
      record_writes(b, &clients[i], &a, &trips);
    }
    if (!one) {
      write_alone(b, &clients[0]);
      report("  statements of a write", &trips.statements, "", "");
      snprintf(name, sizeof(name), "target: %d or less", WRITE_TRIPS);
      report("  round trips of a write", &trips.trips, "", name);
    }
    rates(b, clients, one ? "in one team" : "in a team each");
    arena_release(&a);
  }
}

/* ---- space ---- */

static double bytes_of(PGconn *conn, const char *what) {
  struct arena a = {0};
  int64_t n = pg_number(conn, arena_printf(&a,
                                           "SELECT coalesce(sum(CASE WHEN c.relkind = 'i' THEN pg_relation_size(c.oid)"
                                           " ELSE pg_table_size(c.oid) END), 0)::bigint FROM pg_class c LEFT JOIN"
                                           " pg_am m ON m.oid = c.relam WHERE c.relnamespace = 'cairn'::regnamespace"
                                           " AND c.relkind IN ('r', 'i') AND (%s)",
                                           what)
                                  .p);
  arena_release(&a);
  return (double)n;
}

static void sizes(struct bench *b) {
  static const struct {
    const char *name, *what;
  } parts[] = {
      {"  texts: memory, body, chunk", "c.relkind = 'r' AND c.relname ~ '^(memory|body|chunk)_p'"},
      {"  log: txn, event", "c.relkind = 'r' AND c.relname ~ '^(txn|event)_p'"},
      {"  words: chunk_text, term_count", "c.relkind = 'r' AND c.relname ~ '^(chunk_text_p|term_count)'"},
      {"  vectors: vec", "c.relkind = 'r' AND c.relname ~ '^vec_p'"},
      {"  GIN of the words", "c.relkind = 'i' AND m.amname = 'gin'"},
      {"  HNSW of the vectors", "c.relkind = 'i' AND m.amname = 'hnsw'"},
      {"  B-trees", "c.relkind = 'i' AND m.amname = 'btree'"},
  };
  char name[100];
  PGconn *conn = pg_connect(b->super);
  double n = (double)pg_number(conn, "SELECT count(*) FROM cairn.memory");
  snprintf(name, sizeof(name), "bytes a memory at %lld", (long long)b->size);
  report_text(name, "%9.0f   without the server's log", bytes_of(conn, "true") / n);
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
    report_text(parts[i].name, "%9.0f", bytes_of(conn, parts[i].what) / n);
  pg_library()->finish(conn);
}

/* ---- the program ---- */

/* Gives the ids of different tables different ranges, so a replay can tell them apart. */
static void part_ids(const char *url) {
  PGconn *conn = pg_connect(url);
  pg_run(conn, "SELECT setval(pg_get_serial_sequence('cairn.memory', 'id'), 2000000000),"
               " setval(pg_get_serial_sequence('cairn.chunk', 'id'), 3000000000),"
               " setval(pg_get_serial_sequence('cairn.txn', 'id'), 4000000000)");
  pg_library()->finish(conn);
}

/* Measure a copy, so the writes of a run do not remain. */
static void copy_database(struct bench *b, const char *url, const char *name, bool make) {
  PGconn *conn = pg_connect(url);
  pg_run(conn, arena_printf(&b->arena, "DROP DATABASE IF EXISTS %s_run", name).p);
  if (make)
    pg_run(conn, arena_printf(&b->arena, "CREATE DATABASE %s_run TEMPLATE %s OWNER " PG_ROLE " STRATEGY file_copy",
                              name, name)
                     .p);
  pg_library()->finish(conn);
}

static void connect_recorder(struct bench *b, const char *url) {
  char host[64];
  int port;
  const char *at = strchr(url, '@'), *from = at ? at + 1 : strstr(url, "://") + 3;
  if (sscanf(from, "%63[0-9.]:%d/", host, &port) != 2)
    fail("the recorder wants an address with numbers, 127.0.0.1:5432: %s", url);
  b->recorder = recorder_start(host, port);
}

int main(int argc, char **argv) {
  static struct bench b;
  double before = 0;
  int64_t size_before = 0;
  if (argc < 4)
    fail("usage: bench_pg URL SECONDS SIZE=DATABASE...");
  b.seconds = (int)strtol(argv[2], NULL, 10);
  connect_recorder(&b, argv[1]);
  topics_start(&b.topics);
  printf("\n  %-52s %9s   %8s .. %-8s\n", "", "median", "p95", "p99");
  printf("  %-52s %9s   %8s .. %-8s\n", "  (rates, statements, round trips", "median", "p10", "p90)");
  for (int i = 3; i < argc; i++) {
    char *equals = strchr(argv[i], '='), through[40];
    if (!equals)
      fail("not SIZE=DATABASE: %s", argv[i]);
    b.size = strtoll(argv[i], NULL, 10);
    copy_database(&b, argv[1], equals + 1, true);
    const char *copy = arena_printf(&b.arena, "%s_run", equals + 1).p;
    b.super = pg_address(&b.arena, argv[1], NULL, copy);
    b.own = pg_address(&b.arena, argv[1], PG_ROLE, copy);
    snprintf(through, sizeof(through), "postgresql://127.0.0.1:%d/", recorder_port(b.recorder));
    b.through =
        arena_printf(&b.arena, "%s?sslmode=disable&gssencmode=disable", pg_address(&b.arena, through, PG_ROLE, copy)).p;
    part_ids(b.super);
    sizes(&b);
    double median = searches(&b);
    writes(&b);
    if (before > 0)
      report_text("growth of the median of a search", "%9.1f   for %lld times the memories", median / before,
                  (long long)(b.size / size_before));
    copy_database(&b, argv[1], equals + 1, false);
    before = median;
    size_before = b.size;
  }
  return 0;
}
