/* watch.c: looks at the files of the certificate now and then, and tells what came of it. */
#include "http/tls/watch.h"

#include "base/alloc.h"
#include "base/os/thread.h"
#include "http/server/event.h"

enum { LOOK_MS = 2000 };

struct tls_watch {
  const struct http_server *server;
  struct tls_keeper *keeper;
  void (*say)(const char *line);
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool quit;
};

static void tell(const struct tls_watch *w, enum tls_news news, const struct error *why) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    bool broken = news == TLS_BROKEN;
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *detail = yyjson_mut_obj(doc);
    if (broken)
      json_put(doc, detail, "error", str_from(why->message));
    struct event e = {.action = broken ? STR("tls:broken") : STR("tls:renewed"),
                      .detail = json_write(&a, detail, false)};
    if (broken)
      w->say(arena_printf(&a, "%s; the certificate from before stays in use", why->message).p);
    server_event(w->server, &e);
  }
  arena_release(&a);
}

/* False when it is time to end. */
static bool sleep_a_while(struct tls_watch *w) {
  pthread_mutex_lock(&w->lock);
  if (!w->quit)
    cond_wait_ms(&w->wake, &w->lock, LOOK_MS);
  bool go_on = !w->quit;
  pthread_mutex_unlock(&w->lock);
  return go_on;
}

static void *watch_loop(void *arg) {
  struct tls_watch *w = arg;
  while (sleep_a_while(w)) {
    struct error err;
    enum tls_news news = tls_keeper_look(w->keeper, &err);
    if (news != TLS_NO_NEWS)
      tell(w, news, &err);
  }
  return NULL;
}

enum status tls_watch_start(const struct http_server *shared, struct tls_keeper *keeper, void (*say)(const char *line),
                            struct tls_watch **ret_watch, struct error *err) {
  struct tls_watch *w = mem_zalloc(sizeof(*w));
  if (!w)
    return error_set(err, STATUS_NOMEM, "out of memory");
  *w = (struct tls_watch){.server = shared, .keeper = keeper, .say = say};
  pthread_mutex_init(&w->lock, NULL);
  cond_init(&w->wake);
  int failed = thread_start(&w->thread, watch_loop, w);
  if (failed) {
    mem_free(w);
    return error_errno(err, failed, "no thread could be started");
  }
  *ret_watch = w;
  return STATUS_OK;
}

void tls_watch_stop(struct tls_watch **watch) {
  struct tls_watch *w = *watch;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->quit = true;
  pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  pthread_mutex_destroy(&w->lock);
  pthread_cond_destroy(&w->wake);
  mem_free(w);
  *watch = NULL;
}
