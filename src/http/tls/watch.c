/* watch.c: checks the certificate files periodically and reports changes. */
#include "http/tls/watch.h"

#include <assert.h>

#include "base/alloc.h"
#include "http/background/watcher.h"
#include "store/tables/events.h"

enum { CHECK_MS = 2000 };

struct tls_watch {
  struct watcher watcher;
  const struct http_server *server;
  struct tls_keeper *keeper;
  void (*say)(const char *line);
};

static void report(const struct tls_watch *w, enum tls_change change, const struct error *why) {
  struct arena a;
  jmp_buf oom;
  assert(change == TLS_RENEWED || change == TLS_BROKEN);
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    bool broken = change == TLS_BROKEN;
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *detail = yyjson_mut_obj(doc);
    if (broken)
      json_put(doc, detail, "error", str_from(why->message));
    struct event e = {.action = broken ? STR("tls:broken") : STR("tls:renewed"),
                      .detail = json_write(&a, detail, false)};
    if (broken)
      w->say(arena_printf(&a, "%s; keeping the previous certificate", why->message).p);
    server_event(w->server, &e);
  }
  arena_release(&a);
}

static void check(void *arg) {
  const struct tls_watch *w = arg;
  struct error err;
  enum tls_change change = tls_keeper_check(w->keeper, &err);
  if (change != TLS_UNCHANGED)
    report(w, change, &err);
}

enum status tls_watch_start(const struct http_server *shared, struct tls_keeper *keeper, void (*say)(const char *line),
                            struct tls_watch **ret_watch, struct error *err) {
  struct tls_watch *w = mem_zalloc(sizeof(*w));
  if (!w)
    return error_set(err, STATUS_NOMEM, "out of memory");
  *w = (struct tls_watch){
      .watcher = {.period_ms = CHECK_MS, .check = check, .arg = w}, .server = shared, .keeper = keeper, .say = say};
  if (watcher_open(&w->watcher, err) != STATUS_OK || watcher_start(&w->watcher, err) != STATUS_OK) {
    tls_watch_stop(&w);
    return err->code;
  }
  *ret_watch = w;
  return STATUS_OK;
}

void tls_watch_stop(struct tls_watch **watch) {
  struct tls_watch *w = *watch;
  if (!w)
    return;
  watcher_close(&w->watcher);
  mem_free(w);
  *watch = NULL;
}
