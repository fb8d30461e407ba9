/* telemetry.c: counts calls, keeps the latest ones, and reports them. */
#include <assert.h>
#include <sodium.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "base/utf8.h"
#include "core/secrets/redact.h"
#include "op/telemetry/internal.h"

const int64_t telemetry_le_us[TELEMETRY_LES] = {100,   250,    500,    1000,   2500,    5000,    10000,   25000,
                                                50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};

enum status telemetry_new(const char *folder, struct telemetry **ret_telemetry, struct error *err) {
  struct telemetry *t = mem_zalloc(sizeof(*t));
  struct recorded_call *ring = mem_zalloc(RING * sizeof(*ring));
  enum status s = t && ring ? STATUS_OK : error_set(err, STATUS_NOMEM, "out of memory");
  if (s == STATUS_OK && sodium_init() < 0) /* for random ids */
    s = error_set(err, STATUS_INTERNAL, "the system's random number generator is not available");
  if (s == STATUS_OK && folder)
    s = telemetry_log_init(&t->log, folder, err);
  if (s != STATUS_OK) {
    mem_free(t);
    mem_free(ring);
    return s;
  }
  t->ring = ring;
  t->notifier = -1;
  t->began = clock_now(&(struct clock){0});
  t->began_ticks = clock_ticks_us();
  pthread_mutex_init(&t->lock, NULL);
  pthread_mutex_init(&t->engines_lock, NULL);
  cond_init(&t->wake);
  cond_init(&t->idle);
  *ret_telemetry = t;
  return STATUS_OK;
}

/* ---- recording ---- */

static void copy_text(char *to, size_t size, struct str s) {
  s = utf8_cut(s, size - 1);
  if (s.n)
    memcpy(to, s.p, s.n);
  to[s.n] = 0;
}

/* Replaces invalid UTF-8, so secrets around it are found. */
static struct str valid_utf8(struct arena *a, struct str s) {
  if (utf8_check(s) == s.n)
    return s;
  struct buf b = BUF(a);
  char out[4];
  for (size_t pos = 0; pos < s.n;)
    buf_add(&b, (struct str){out, utf8_put(utf8_next(s, &pos), out)});
  return buf_str(&b);
}

/* Copies the redacted message; none if out of memory, rather than one with secrets. */
static void copy_message(struct recorded_call *r, const struct error *error) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    struct str text = valid_utf8(&a, str_from(error->message));
    copy_text(r->message, sizeof(r->message), redact_all(&a, text, NULL));
  }
  arena_release(&a);
}

void telemetry_fill(struct recorded_call *r, const struct telemetry_call *call) {
  uuid7_new(call->at, r->event_id);
  r->at = call->at;
  r->duration_us = call->duration_us;
  r->code = call->error ? call->error->code : STATUS_OK;
  copy_text(r->name, sizeof(r->name), call->name);
  copy_text(r->op, sizeof(r->op), call->op);
  copy_text(r->team, sizeof(r->team), call->team);
  copy_text(r->source, sizeof(r->source), call->source);
  copy_text(r->session, sizeof(r->session), call->session);
  copy_text(r->project, sizeof(r->project), call->project);
  copy_text(r->client, sizeof(r->client), call->client);
  r->before_boot = false;
  r->message[0] = 0;
  if (call->error)
    copy_message(r, call->error);
}

/* Limited to TELEMETRY_NAMES: a client that invents names must not exhaust the memory. */
static struct tool *find_tool(struct telemetry *t, const char *name) {
  size_t low = 0, high = t->tool_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = strcmp(name, t->tools[middle]->name);
    if (order == 0)
      return t->tools[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  if (t->tool_count == TELEMETRY_NAMES)
    return t->tools[TELEMETRY_NAMES];
  struct tool *made = mem_zalloc(sizeof(*made));
  if (!made)
    return NULL;
  copy_text(made->name, sizeof(made->name), str_from(name));
  assert(t->tool_count < TELEMETRY_NAMES && low <= t->tool_count);
  assert(low == 0 || strcmp(t->tools[low - 1]->name, name) < 0);
  assert(low == t->tool_count || strcmp(name, t->tools[low]->name) < 0);
  memmove(&t->tools[low + 1], &t->tools[low], (t->tool_count - low) * sizeof(t->tools[0]));
  t->tools[low] = made;
  if (++t->tool_count == TELEMETRY_NAMES && (t->tools[TELEMETRY_NAMES] = mem_zalloc(sizeof(*made))))
    copy_text(t->tools[TELEMETRY_NAMES]->name, NAME_SIZE, STR("other"));
  return made;
}

static void count(struct telemetry *t, const struct recorded_call *r) {
  struct tool *tool = find_tool(t, r->name);
  t->errors += r->code != STATUS_OK;
  t->slow += r->duration_us > TELEMETRY_SLOW_US;
  if (!tool)
    return;
  tool->errors += r->code != STATUS_OK;
  histogram_add(&tool->durations, r->duration_us);
  for (size_t i = 0; i < TELEMETRY_LES; i++)
    if (r->duration_us <= telemetry_le_us[i]) {
      tool->le[i]++;
      break;
    }
}

void telemetry_count(struct telemetry *t, const struct recorded_call *r) {
  pthread_mutex_lock(&t->lock);
  count(t, r);
  t->unrecorded++;
  pthread_mutex_unlock(&t->lock);
}

void telemetry_push(struct telemetry *t, const struct recorded_call *r) {
  pthread_mutex_lock(&t->lock);
  count(t, r);
  t->ring[t->noted++ % RING] = *r;
  if (!t->dirty_at)
    t->dirty_at = clock_ticks_us();
  if (!t->started)
    t->started = thread_start(&t->thread, telemetry_run, t) == 0;
  pthread_cond_signal(&t->wake);
  pthread_mutex_unlock(&t->lock);
}

void telemetry_note(struct telemetry *t, const struct telemetry_call *call) {
  struct recorded_call r;
  if (!t)
    return;
  telemetry_fill(&r, call);
  telemetry_push(t, &r);
}

void telemetry_notify(struct telemetry *t) {
  int helper = notify_start();
  pthread_mutex_lock(&t->lock);
  t->notifier = helper;
  pthread_mutex_unlock(&t->lock);
}

void telemetry_set_sandbox(struct telemetry *t, const char *how) { t->sandbox = how; }

const char *telemetry_sandbox(const struct telemetry *t) { return t ? t->sandbox : NULL; }

void telemetry_close(struct telemetry **telemetry) {
  struct telemetry *t = *telemetry;
  if (!t)
    return;
  assert(!t->engines);
  pthread_mutex_lock(&t->lock);
  t->stop = true;
  pthread_cond_signal(&t->wake);
  pthread_mutex_unlock(&t->lock);
  if (t->started)
    pthread_join(t->thread, NULL);
  notify_stop(t->notifier);
  for (size_t i = 0; i <= TELEMETRY_NAMES; i++)
    mem_free(t->tools[i]);
  pthread_cond_destroy(&t->wake);
  pthread_cond_destroy(&t->idle);
  pthread_mutex_destroy(&t->lock);
  pthread_mutex_destroy(&t->engines_lock);
  mem_free(t->ring);
  mem_free(t);
  *telemetry = NULL;
}

/* ---- reporting ---- */

/* Allocates before locking: an out-of-memory jump must not leave the lock held. */
void telemetry_totals(struct telemetry *t, struct arena *a, struct telemetry_totals *ret_totals) {
  *ret_totals = (struct telemetry_totals){0};
  if (!t)
    return;
  struct str log = t->log.path[0] ? arena_dup(a, str_from(t->log.path)) : STR_NONE;
  pthread_mutex_lock(&t->lock);
  *ret_totals = (struct telemetry_totals){.started = t->began,
                                          .uptime_us = clock_ticks_us() - t->began_ticks,
                                          .calls = t->noted + t->unrecorded,
                                          .errors = t->errors,
                                          .slow = t->slow,
                                          .dropped = t->dropped,
                                          .log = log};
  pthread_mutex_unlock(&t->lock);
}

static void copy_tool(const struct tool *from, char *name, struct telemetry_tool *to) {
  const struct histogram *h = &from->durations;
  memcpy(name, from->name, sizeof(from->name));
  *to = (struct telemetry_tool){.name = str_from(name),
                                .calls = (int64_t)h->n,
                                .errors = from->errors,
                                .sum_us = h->sum,
                                .max_us = h->max,
                                .p50_us = histogram_quantile(h, 500),
                                .p95_us = histogram_quantile(h, 950),
                                .p99_us = histogram_quantile(h, 990)};
  uint64_t below = 0;
  for (size_t i = 0; i < TELEMETRY_LES; i++)
    to->le[i] = below += from->le[i];
  assert(below <= h->n);
}

void telemetry_list(struct telemetry *t, struct arena *a, struct telemetry_tools *ret_tools) {
  *ret_tools = (struct telemetry_tools){0};
  if (!t)
    return;
  struct telemetry_tool *v = arena_array(a, struct telemetry_tool, TELEMETRY_NAMES + 1);
  char *names = arena_alloc(a, (TELEMETRY_NAMES + 1) * NAME_SIZE);
  size_t n = 0;
  pthread_mutex_lock(&t->lock);
  for (size_t i = 0; i <= TELEMETRY_NAMES; i++)
    if (t->tools[i] && t->tools[i]->durations.n) {
      copy_tool(t->tools[i], names + n * NAME_SIZE, &v[n]);
      n++;
    }
  pthread_mutex_unlock(&t->lock);
  *ret_tools = (struct telemetry_tools){.v = v, .n = n, .cap = TELEMETRY_NAMES + 1};
}

void telemetry_recent(struct telemetry *t, struct arena *a, bool errors, size_t most, struct telemetry_entries *ret) {
  *ret = (struct telemetry_entries){0};
  if (!t || most == 0)
    return;
  if (most > TELEMETRY_RECENT)
    most = TELEMETRY_RECENT;
  struct recorded_call *copies = arena_alloc(a, most * sizeof(*copies));
  size_t n = 0;
  pthread_mutex_lock(&t->lock);
  int64_t oldest = t->noted > TELEMETRY_RECENT ? t->noted - TELEMETRY_RECENT : 0;
  for (int64_t i = t->noted - 1; i >= oldest && n < most; i--)
    if (!errors || t->ring[i % RING].code != STATUS_OK)
      copies[n++] = t->ring[i % RING];
  pthread_mutex_unlock(&t->lock);
  for (size_t i = 0; i < n; i++)
    list_push(a, ret, telemetry_entry_of(&copies[i]));
}
