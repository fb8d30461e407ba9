/* store.c: where a call goes besides the process's own memory: the engine's queue for the store, or the file
 * of those that came before boot. */
#include "op/telemetry/internal.h"

/* The session that this client booted, if it did; newest first. */
static bool find_session(struct telemetry *t, struct kept *k) {
  bool found = false;
  pthread_mutex_lock(&t->lock);
  for (size_t i = t->boot_count; !found && i > 0 && i + BOOTS > t->boot_count; i--) {
    const struct boot *b = &t->boots[(i - 1) % BOOTS];
    if (strcmp(b->client, k->client) == 0) {
      memcpy(k->session, b->session, sizeof(k->session));
      found = true;
    }
  }
  pthread_mutex_unlock(&t->lock);
  return found;
}

void telemetry_note_in(struct engine *e, const struct telemetry_call *call) {
  struct telemetry *t = e->telemetry;
  struct kept k;
  if (!t && !(e->record_calls && e->store))
    return;
  telemetry_fill(&k, call);
  if (t && k.client[0] && !k.session[0] && !find_session(t, &k))
    k.before_boot = e->store != NULL;
  if (e->store && !k.before_boot && k.team[0]) { /* a call that has ended its own team is nobody's */
    struct call_row row = telemetry_row_of(&k);
    calls_note(e->store, &row);
  }
  if (t)
    telemetry_push(t, &k);
}

/* Without a thread: one look whether there is such a file. */
static void move_now(struct engine *e) {
  struct arena a;
  struct store_boundary oom;
  struct error err;
  char path[BEFORE_BOOT_PATH];
  before_boot_path(db_path(store_db(e->store)), path);
  arena_init(&a);
  if (!STORE_BOUNDARY(e->store, &a, oom)) {
    int64_t now = clock_now(&e->clock);
    enum status s =
        before_boot_move(e->store, path, &a, STR_NONE, STR_NONE, now - BEFORE_BOOT_WAIT_MS, now, NULL, &err);
    (void)s; /* calls that are not recorded harm nobody */
  }
  arena_release(&a);
}

void telemetry_flush_before_boot(struct engine *e, struct str client, struct str session) {
  struct telemetry *t = e->telemetry;
  if (!e->store || db_read_only(store_db(e->store)))
    return;
  if (!t) {
    if (e->record_calls)
      move_now(e);
    return;
  }
  if (str_empty(client) || str_empty(session) || client.n >= KEPT_NAME || session.n >= KEPT_NAME)
    return;
  pthread_mutex_lock(&t->lock);
  struct boot *b = &t->boots[t->boot_count++ % BOOTS];
  *b = (struct boot){.pending = true};
  memcpy(b->client, client.p, client.n);
  memcpy(b->session, session.p, session.n);
  pthread_cond_signal(&t->wake);
  pthread_mutex_unlock(&t->lock);
}
