/* bench_serve.c: the servers: searches over HTTP on 64 connections, over stdio one by one, cold starts, memory; and
 * the official memory server with the same calls on the same graph.
 *
 * Usage: bench_serve PROGRAM SIZE STORE FOLDER SECONDS [NODE SERVER_MEMORY]
 * STORE is one of bench_search_make and is not changed (a copy is served); FOLDER is for generated files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "support/child.h"
#include "support/load.h"
#include "support/searchable.h"

enum {
  CONNECTIONS = 64,
  FEW = 4,
  REPEATED = 50,
  STDIO = 200,
  WARM_UP = 20,
  STARTS = 10,
  ENTITIES = 10000,
  GRAPH_CALLS = 60
};

#define META                                                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                             \
  "\"io.modelcontextprotocol/clientCapabilities\":{},"                                                                 \
  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}"
#define INITIALIZE                                                                                                     \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","            \
  "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

struct questions {
  struct searchable *s;
  long repeat; /* number of different questions, repeated; 0: all are different */
  long first;
  struct arena arena;
};

static struct str search_body(struct questions *q, long number, bool modern) {
  struct str text = topics_query(&q->s->topics, q->first + (q->repeat ? number % q->repeat : number), &q->arena);
  return arena_printf(
      &q->arena,
      "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{%s%s\"name\":\"memory_search\","
      "\"arguments\":{\"query\":\"%.*s\",\"limit\":10,\"fields\":{\"all_projects\":true}}}}",
      number + 10, modern ? META : "", modern ? "," : "", STR_ARG(text));
}

static const char *http_search(void *arg, long number, size_t *ret_size) {
  struct questions *q = arg;
  arena_release(&q->arena);
  struct str body = search_body(q, number, true);
  struct str all = arena_printf(&q->arena,
                                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                                "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                                "Mcp-Method: tools/call\r\nMcp-Name: memory_search\r\nContent-Length: %zu\r\n\r\n%.*s",
                                body.n, STR_ARG(body));
  *ret_size = all.n;
  return all.p;
}

/* ---- over HTTP ---- */

static int port_of(struct child *c) {
  for (;;) {
    const char *line = child_line(c), *at = strstr(line, "http://127.0.0.1:");
    if (at)
      return (int)strtol(at + 17, NULL, 10);
  }
}

static void report_load(const char *name, struct load *load, double seconds, const char *rate, const char *tail) {
  report_text(name, "%9.0f   a second, %ld answers, %ld errors; %s", (double)load->answers / seconds, load->answers,
              load->errors, rate);
  report_tail("  latency", &load->ms, "ms", tail);
}

static void over_http(struct searchable *s, const char *program, const char *store, double seconds) {
  static struct load load;
  struct child c;
  struct questions q = {.s = s, .first = 5000};
  const char *const command[] = {program, "--db", store, "serve", "--port", "0", NULL};
  arena_init(&q.arena);
  child_start(&c, command);
  int port = port_of(&c);
  usleep(500000);
  report_text("memory of an idle cairn serve", "%9.1f   MB   target: under 60 MB", child_memory(c.pid));
  load = (struct load){.port = port,
                       .connections = CONNECTIONS,
                       .seconds = seconds / 4,
                       .request = http_search,
                       .arg = &q,
                       .expect = "\"structuredContent\""};
  load_run(&load);
  double before = child_memory(c.pid);
  load.seconds = seconds;
  q.first += load.answers;
  load_run(&load);
  report_load("searches over HTTP, each another question", &load, seconds, "target: 300 and more", "64 connections");
  report_text("  memory before and after", "%9.1f   %.1f MB", before, child_memory(c.pid));
  /* With 64 connections, latency is mostly queueing, so measure it again with few. */
  q.first += load.answers;
  load.connections = FEW;
  load.seconds = seconds / 4;
  load_run(&load);
  report_tail("  latency at 4 connections", &load.ms, "ms", "target: p99 under 50 ms");
  q.repeat = REPEATED;
  load.connections = CONNECTIONS;
  load.seconds = seconds / 2;
  load_run(&load);
  report_load("the same, 50 questions again and again", &load, load.seconds, "target: 3,000 and more",
              "target: p99 under 50 ms");
  child_end(&c);
  arena_release(&q.arena);
}

/* ---- over stdio ---- */

static void start_mcp(struct child *c, const char *program, const char *store, const char *profile) {
  const char *const command[] = {program, "--db", store, "mcp", "--profile", profile, NULL};
  child_start(c, command);
}

static void cold_start(const char *name, const char *const *command) {
  static struct samples times;
  times.n = 0;
  for (int i = 0; i < STARTS; i++) {
    struct child c;
    double began = now_us();
    child_start(&c, command);
    child_ask(&c, INITIALIZE, 1);
    samples_add(&times, (now_us() - began) / 1000);
    child_end(&c);
  }
  report(name, &times, "ms", "");
}

static void over_stdio(struct searchable *s, const char *program, const char *store) {
  static struct samples times;
  struct questions q = {.s = s, .first = 100000};
  struct child c;
  times.n = 0;
  arena_init(&q.arena);
  start_mcp(&c, program, store, "default");
  child_ask(&c, INITIALIZE, 1);
  child_tell(&c, INITIALIZED);
  for (long i = 0; i < STDIO + WARM_UP; i++) {
    struct str message = search_body(&q, i, false);
    double began = now_us();
    if (!strstr(child_ask(&c, message.p, i + 10), "structuredContent"))
      fail("no answer: %.300s", c.line);
    if (i >= WARM_UP)
      samples_add(&times, (now_us() - began) / 1000);
    arena_release(&q.arena);
  }
  report_tail("search over stdio, there and back", &times, "ms", "target: p50 under 8 ms");
  child_end(&c);
}

/* ---- the official memory server ---- */

static const char *const words[] = {"queue", "cache", "deploy", "index", "token", "backup", "schema", "router"};

static void write_graph(const char *path) {
  FILE *f = fopen(path, "we");
  if (!f)
    fail("cannot write %s", path);
  for (int i = 0; i < ENTITIES; i++)
    fprintf(
        f,
        "{\"type\":\"entity\",\"name\":\"service-%d\",\"entityType\":\"service\",\"observations\":[\"runs the %s of "
        "group %d\",\"its owner is team%d\",\"note number n%dx about the %s\"]}\n",
        i, words[i % 8], i / 100, i % 37, i, words[i / 8 % 8]);
  for (int i = 1; i < ENTITIES; i += 2)
    fprintf(f, "{\"type\":\"relation\",\"from\":\"service-%d\",\"to\":\"service-%d\",\"relationType\":\"calls\"}\n", i,
            i - 1);
  fclose(f);
}

struct graph_figures {
  double start, search, write, memory;
};

/* The arguments are `before`, a number, and `after`. */
static double median_of_calls(struct child *c, const char *tool, const char *before, const char *after, long *id) {
  static struct samples times;
  times.n = 0;
  for (int i = 0; i < GRAPH_CALLS; i++, ++*id) {
    char given[400], message[700];
    snprintf(given, sizeof(given), "%s%d%s", before, 137 * i + 11, after);
    snprintf(message, sizeof(message),
             "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
             *id, tool, given);
    double began = now_us();
    if (strstr(child_ask(c, message, *id), "\"isError\":true") || strstr(c->line, "\"error\":{"))
      fail("%s: %.300s", tool, c->line);
    samples_add(&times, (now_us() - began) / 1000);
  }
  return samples_at(&times, 0.5);
}

static struct graph_figures graph(const char *const *command) {
  static struct samples starts;
  struct graph_figures f;
  struct child c;
  long id = 10;
  starts.n = 0;
  for (int i = 0; i < STARTS; i++) {
    double began = now_us();
    child_start(&c, command);
    child_ask(&c, INITIALIZE, 1);
    samples_add(&starts, (now_us() - began) / 1000);
    if (i + 1 < STARTS)
      child_end(&c);
  }
  child_tell(&c, INITIALIZED);
  f.start = samples_at(&starts, 0.5);
  f.search = median_of_calls(&c, "search_nodes", "{\"query\":\"n", "x\"}", &id);
  f.write =
      median_of_calls(&c, "create_entities", "{\"entities\":[{\"name\":\"new-",
                      "\",\"entityType\":\"service\",\"observations\":[\"was made up for a measurement\"]}]}", &id);
  f.memory = child_memory(c.pid);
  child_end(&c);
  return f;
}

static void compare_graphs(const char *program, const char *folder, const char *node, const char *server) {
  char file[4200], store[4200];
  snprintf(file, sizeof(file), "%s/graph.jsonl", folder);
  snprintf(store, sizeof(store), "%s/graph.db", folder);
  remove_store(store);
  write_graph(file);
  const char *const fill[] = {program, "--db", store, "import", file, "--format", "graph", "--quiet", NULL};
  run_command(fill, NULL);
  const char *const ours[] = {program, "--db", store, "mcp", "--profile", "graph", NULL};
  const char *const theirs[] = {node, server, NULL};
  struct graph_figures a = graph(ours);
  setenv("MEMORY_FILE_PATH", file, 1);
  struct graph_figures b = graph(theirs);
  printf("\n  %-40s %12s %16s %10s\n", "a graph of 10,000 entities, stdio", "cairn", "official server", "ratio");
  printf("  %-40s %9.2f ms %13.2f ms %9.1fx\n", "cold start to the first answer", a.start, b.start, b.start / a.start);
  printf("  %-40s %9.2f ms %13.2f ms %9.1fx\n", "search_nodes", a.search, b.search, b.search / a.search);
  printf("  %-40s %9.2f ms %13.2f ms %9.1fx\n", "create_entities", a.write, b.write, b.write / a.write);
  printf("  %-40s %9.1f MB %13.1f MB %9.1fx\n", "memory", a.memory, b.memory, b.memory / a.memory);
  remove_store(store);
  unlink(file);
}

int main(int argc, char **argv) {
  static struct searchable s;
  char copy[4200];
  if (argc != 6 && argc != 8)
    fail("usage: bench_serve PROGRAM SIZE STORE FOLDER SECONDS [NODE SERVER_MEMORY]");
  const char *program = argv[1];
  snprintf(copy, sizeof(copy), "%s/served.db", argv[4]);
  copy_store(argv[3], copy);
  searchable_open(&s, copy, strtoll(argv[2], NULL, 10));
  printf("\n  %-52s %9s   %8s .. %-8s\n", "", "median", "p10/p95", "p90/p99");
  const char *const mcp[] = {program, "--db", copy, "mcp", NULL};
  cold_start("cairn mcp: first reply from a cold start", mcp);
  over_stdio(&s, program, copy);
  over_http(&s, program, copy, strtod(argv[5], NULL));
  searchable_close(&s);
  remove_store(copy);
  if (argc == 8)
    compare_graphs(program, argv[4], argv[6], argv[7]);
  return 0;
}
