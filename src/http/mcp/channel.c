/* channel.c: channels between the MCP dispatcher and HTTP, and their replay. */
#include "http/mcp/channel.h"

#include <assert.h>

#include "base/alloc.h"

enum {
  REPLAY_MESSAGES = 256, /* messages per channel for replay */
  REPLAY_BYTES = 512 << 10,
  CHANNELS_MAX = 256, /* channels kept without a client */
};
#define AWAY_US (INT64_C(120) * 1000 * 1000) /* time for a client to come back */

struct message {
  struct message *next;
  uint64_t number;
  size_t n;
  char text[];
};

struct mcp_channel {
  struct mcp_hub *hub;
  struct mcp_channel *next; /* in the hub's list, if resumable */
  bool listed;
  pthread_mutex_t lock; /* recursive: a stream may close while it is being opened. Guards all members below. */
  int refs;
  uint64_t number, sent;
  bool listening, modern, primed;
  struct mcp_out out;
  struct http_call *call; /* set while the dispatcher runs */
  struct str answer;      /* the only message, in the call's arena */
  bool no_memory;         /* out of memory for the answer */
  struct str instead;     /* replayed instead of an answer that holds a secret; valid as long as `call` */
  bool begun;             /* a stream was opened */
  bool done;              /* the last message was sent */
  bool gone;              /* the client left and cannot resume */
  int64_t left;           /* ticks when the client left */
  struct http_stream *stream;
  struct mcp_stream *mcp;
  struct message *first, *last;
  size_t kept, bytes;
  size_t session_n;
  char session[];
};

struct mcp_hub {
  pthread_mutex_t lock; /* acquired before a channel's lock */
  struct mcp_server *mcp;
  struct mcp_channel *channels;
  size_t count;
  uint64_t numbers;
};

/* The channel of a stream. */
struct attachment {
  struct mcp_channel *channel;
  struct http_stream *stream;
};

/* ---- the hub ---- */

enum status mcp_hub_new(struct mcp_server *mcp, struct mcp_hub **ret_hub, struct error *err) {
  struct mcp_hub *hub = mem_zalloc(sizeof(*hub));
  if (!hub)
    return error_set(err, STATUS_NOMEM, "out of memory");
  hub->mcp = mcp;
  pthread_mutex_init(&hub->lock, NULL);
  *ret_hub = hub;
  return STATUS_OK;
}

static void unref(struct mcp_channel *c) {
  pthread_mutex_lock(&c->lock);
  assert(c->refs > 0);
  bool last = --c->refs == 0;
  pthread_mutex_unlock(&c->lock);
  if (!last)
    return;
  for (struct message *m = c->first, *next; m; m = next) {
    next = m->next;
    mem_free(m);
  }
  pthread_mutex_destroy(&c->lock);
  mem_free(c);
}

static void ref(struct mcp_channel *c) {
  pthread_mutex_lock(&c->lock);
  assert(c->refs > 0 && c->listed); /* the list holds a reference */
  c->refs++;
  pthread_mutex_unlock(&c->lock);
}

/* Notifies the dispatcher, once, that the client disconnected. Call it without locks: it waits for a message that is
 * being sent. */
static void hang_up(struct mcp_channel *c) {
  pthread_mutex_lock(&c->lock);
  struct mcp_stream *stream = c->mcp;
  c->mcp = NULL;
  c->gone = true;
  pthread_mutex_unlock(&c->lock);
  if (stream)
    mcp_hang_up(c->hub->mcp, stream);
}

/* Requires the hub's lock; the list's reference passes to the caller. */
static struct mcp_channel *unlist(struct mcp_hub *hub, struct mcp_channel **at) {
  struct mcp_channel *c = *at;
  assert(c->listed && hub->count > 0);
  *at = c->next;
  c->listed = false;
  hub->count--;
  return c;
}

static bool is_away(struct mcp_channel *c, int64_t since) {
  pthread_mutex_lock(&c->lock);
  bool away = !c->stream && !c->call && c->left && c->left <= since;
  pthread_mutex_unlock(&c->lock);
  return away;
}

/* Unlists one stale channel: of the given session, or any whose client was away for too long. */
static struct mcp_channel *unlist_stale(struct mcp_hub *hub, struct str session, bool all) {
  struct mcp_channel *found = NULL;
  int64_t now = clock_ticks_us();
  pthread_mutex_lock(&hub->lock);
  bool over_limit = hub->count > CHANNELS_MAX;
  for (struct mcp_channel **at = &hub->channels; *at && !found; at = &(*at)->next) {
    bool ours = session.n && str_eq(session, (struct str){(*at)->session, (*at)->session_n});
    if ((ours && (all || ((*at)->listening && is_away(*at, now)))) || is_away(*at, over_limit ? now : now - AWAY_US)) {
      found = unlist(hub, at);
      break;
    }
  }
  pthread_mutex_unlock(&hub->lock);
  return found;
}

static void close_stale(struct mcp_hub *hub, struct str session, bool all) {
  for (struct mcp_channel *c = unlist_stale(hub, session, all); c; c = unlist_stale(hub, session, all)) {
    if (is_away(c, INT64_MAX))
      hang_up(c);
    unref(c);
  }
}

void channels_close(struct mcp_hub *hub, struct str session) {
  assert(session.n > 0);
  close_stale(hub, session, true);
}

void mcp_hub_free(struct mcp_hub **hub) {
  struct mcp_hub *h = *hub;
  if (!h)
    return;
  while (h->channels)
    unref(unlist(h, &h->channels));
  assert(h->count == 0);
  pthread_mutex_destroy(&h->lock);
  mem_free(h);
  *hub = NULL;
}

/* ---- sending ---- */

static bool can_resume(const struct mcp_channel *c) { return c->session_n > 0; }

static void retain(struct mcp_channel *c, struct str json) {
  struct message *m = mem_alloc(sizeof(*m) + json.n);
  if (!m)
    return;
  m->next = NULL;
  m->number = c->sent;
  m->n = json.n;
  memcpy(m->text, json.p, json.n);
  if (c->last)
    c->last->next = m;
  else
    c->first = m;
  c->last = m;
  c->kept++;
  c->bytes += m->n;
  while (c->first != m && (c->kept > REPLAY_MESSAGES || c->bytes > REPLAY_BYTES)) {
    struct message *old = c->first;
    assert(c->kept > 1 && c->bytes >= old->n);
    c->first = old->next;
    c->kept--;
    c->bytes -= old->n;
    mem_free(old);
  }
  assert(c->last == m && (c->first == m) == (c->kept == 1));
}

static void write_message(struct mcp_channel *c, uint64_t number, struct str event, struct str json) {
  char text[64];
  int n = snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)c->number, (unsigned long long)number);
  assert(n > 0 && (size_t)n < sizeof(text));
  if (c->stream)
    http_stream_send(c->stream, can_resume(c) ? (struct str){text, (size_t)n} : STR_NONE, event, json);
}

/* Drops our reference to the stream, which closes once all is written. */
static void release_stream(struct mcp_channel *c) {
  struct http_stream *stream = c->stream;
  c->stream = NULL;
  if (stream)
    http_stream_end(stream);
}

static void on_close(void *arg) {
  struct attachment *at = arg;
  struct mcp_channel *c = at->channel;
  pthread_mutex_lock(&c->lock);
  bool present = c->stream == at->stream;
  if (present) {
    c->left = clock_ticks_us();
    c->gone = !can_resume(c) || c->modern;
    release_stream(c);
  }
  bool final = c->mcp && (c->done || c->gone);
  pthread_mutex_unlock(&c->lock);
  mem_free(at);
  if (final)
    hang_up(c);
  unref(c);
}

/* Running out of memory in the call's arena must not jump to the call's boundary here: that would abandon the
 * dispatcher halfway and leave the channel locked. */
static const struct str no_memory_text =
    STR_INIT("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}");

static bool dup_for_call(struct http_call *call, struct str text, struct str *ret_copy) {
  jmp_buf oom, *outer = call->arena->oom;
  volatile bool done = false;
  if (!ARENA_BOUNDARY(call->arena, oom)) {
    *ret_copy = arena_dup(call->arena, text);
    done = true;
  }
  call->arena->oom = outer;
  return done;
}

/* Returns NULL with the reason as the call's reply. */
static struct http_stream *begin_stream(struct http_call *call) {
  jmp_buf oom, *outer = call->arena->oom;
  struct http_stream *volatile stream = NULL;
  if (!ARENA_BOUNDARY(call->arena, oom)) {
    stream = http_stream_begin(call);
  } else {
    call->header_count = 0;
    http_reply_json(call, 503, no_memory_text);
  }
  call->arena->oom = outer;
  return stream;
}

/* Turns the call into a stream of this channel. Requires the lock. */
static bool attach(struct mcp_channel *c, struct http_call *call) {
  struct attachment *at = mem_zalloc(sizeof(*at));
  struct http_stream *stream = at ? begin_stream(call) : NULL;
  if (!stream) {
    mem_free(at);
    return false;
  }
  release_stream(c);
  at->channel = c;
  c->refs++;
  c->begun = true;
  c->left = 0;
  c->stream = at->stream = stream;
  http_stream_on_close(stream, on_close, at);
  return true;
}

static bool begin(struct mcp_channel *c) {
  if (!attach(c, c->call))
    return false;
  if (can_resume(c) && c->primed) /* lets the client resume even if the connection breaks before the first message */
    write_message(c, 0, STR_NONE, STR(""));
  return true;
}

static void send(void *arg, struct str json, bool last) {
  struct mcp_channel *c = arg;
  assert(json.p || last);
  pthread_mutex_lock(&c->lock);
  if (!c->begun && last && c->call && !c->listening) {
    c->no_memory = !dup_for_call(c->call, json, &c->answer);
    if (c->no_memory)
      c->answer = no_memory_text;
  } else if (json.p && !c->done && (c->begun || (c->call && begin(c)))) {
    c->sent++;
    if (can_resume(c))
      retain(c, last && c->instead.p ? c->instead : json);
    write_message(c, c->sent, STR("message"), json);
  }
  if (last) {
    c->done = true;
    c->left = clock_ticks_us();
    release_stream(c);
  }
  pthread_mutex_unlock(&c->lock);
}

/* The answer is sent as one JSON reply from the call's arena, or through a stream, which wipes its buffers. For a
 * client that resumes, `instead` is replayed. */
static void protect_secret(void *arg, struct str instead) {
  struct mcp_channel *c = arg;
  pthread_mutex_lock(&c->lock);
  if (c->call) {
    arena_guard(c->call->arena);
    if (!dup_for_call(c->call, instead, &c->instead))
      c->instead = no_memory_text; /* anything but the secret */
  }
  pthread_mutex_unlock(&c->lock);
}

/* A legacy client that disconnects still wants its answer and comes back for it. */
static bool is_gone(void *arg) {
  struct mcp_channel *c = arg;
  pthread_mutex_lock(&c->lock);
  bool left = c->gone;
  if (!left && c->call)
    left = c->modern ? http_client_gone(c->call) : http_stopping(c->call);
  pthread_mutex_unlock(&c->lock);
  return left;
}

/* ---- life ---- */

struct mcp_channel *channel_new(struct mcp_hub *hub, struct http_call *call, const struct channel_options *o) {
  struct str session = o->session.n > MCP_SESSION_SIZE ? STR_NONE : o->session;
  assert(call && !(o->modern && (o->listening || o->session.n))); /* modern clients have no sessions */
  close_stale(hub, o->listening ? session : STR_NONE, false);
  struct mcp_channel *c = mem_zalloc(sizeof(*c) + session.n + 1);
  if (!c)
    return NULL;
  c->hub = hub;
  c->refs = 1;
  c->listening = o->listening;
  c->modern = o->modern;
  c->primed = o->primed;
  c->out = (struct mcp_out){.arg = c, .send = send, .gone = is_gone, .secret = protect_secret};
  c->call = call;
  c->session_n = session.n;
  if (session.n)
    memcpy(c->session, session.p, session.n);
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&c->lock, &attr);
  pthread_mutexattr_destroy(&attr);
  pthread_mutex_lock(&hub->lock);
  c->number = ++hub->numbers;
  if (can_resume(c)) {
    c->refs++;
    c->listed = true;
    c->next = hub->channels;
    hub->channels = c;
    hub->count++;
  }
  pthread_mutex_unlock(&hub->lock);
  return c;
}

struct mcp_out *channel_out(struct mcp_channel *c) { return &c->out; }

/* A single JSON reply needs no replay. */
static void drop_from_hub(struct mcp_channel *c) {
  struct mcp_hub *hub = c->hub;
  bool found = false;
  pthread_mutex_lock(&hub->lock);
  for (struct mcp_channel **at = &hub->channels; *at && !found; at = &(*at)->next)
    if (*at == c) {
      unlist(hub, at);
      found = true;
      break;
    }
  pthread_mutex_unlock(&hub->lock);
  if (found)
    unref(c);
}

static void reply_json_once(struct str answer, const struct mcp_reply *reply, struct http_call *call) {
  if (reply->session[0])
    http_add_header(call, "Mcp-Session-Id", str_from(reply->session));
  if (answer.p)
    http_reply_json(call, reply->status ? reply->status : 200, answer);
  else if (reply->status >= 400)
    http_reply_problem_status(call, reply->status, reply->status == 404 ? "Not Found" : "Bad Request",
                              reply->status == 404 ? "there is no such session"
                                                   : "the Mcp-Session-Id header is missing");
  else
    http_reply_text(call, reply->status ? reply->status : 202, NULL, STR(""));
}

/* The reply comes last: it allocates, and may leave by a jump. */
void channel_finish(struct mcp_channel *c, const struct mcp_reply *reply) {
  pthread_mutex_lock(&c->lock);
  assert(c->call && (c->begun || !c->stream));
  struct http_call *call = c->call;
  struct str answer = c->answer;
  bool no_memory = c->no_memory;
  c->mcp = reply->stream;
  if (c->mcp && !c->begun && !c->done)
    c->gone = !begin(c); /* begin() has set the reply */
  bool begun = c->begun, final = c->mcp && (c->gone || c->done), json_once = !begun && !c->gone;
  c->call = NULL;
  c->instead = STR_NONE;
  if (begun && !c->mcp)
    release_stream(c); /* no more messages */
  if (!c->left && !c->stream)
    c->left = clock_ticks_us();
  pthread_mutex_unlock(&c->lock);
  if (!begun)
    drop_from_hub(c);
  if (final)
    hang_up(c);
  unref(c);
  if (json_once && no_memory)
    http_reply_json(call, 503, answer);
  else if (json_once)
    reply_json_once(answer, reply, call);
}

/* ---- coming back ---- */

bool event_id_parse(struct str id, uint64_t *ret_channel, uint64_t *ret_message) {
  struct str rest = id, first;
  int64_t channel, message;
  if (!str_next(&rest, '-', &first) || first.n == 0 || rest.n == 0 || !ascii_digit(first.p[0]) ||
      !ascii_digit(rest.p[0]) || !str_int64(first, &channel) || !str_int64(rest, &message))
    return false;
  *ret_channel = (uint64_t)channel;
  *ret_message = (uint64_t)message;
  return true;
}

static struct mcp_channel *find(struct mcp_hub *hub, struct str session, uint64_t number) {
  pthread_mutex_lock(&hub->lock);
  struct mcp_channel *c = hub->channels;
  while (c && (c->number != number || !str_eq(session, (struct str){c->session, c->session_n})))
    c = c->next;
  if (c)
    ref(c);
  pthread_mutex_unlock(&hub->lock);
  return c;
}

bool channel_resume(struct mcp_hub *hub, struct http_call *call, struct str session, struct str last) {
  uint64_t number, after;
  struct mcp_channel *c = session.n && event_id_parse(last, &number, &after) ? find(hub, session, number) : NULL;
  if (!c)
    return false;
  pthread_mutex_lock(&c->lock);
  /* Without a dispatcher no message can follow. */
  bool alive = c->begun && !c->gone && (c->done || c->call || c->mcp);
  if (alive && attach(c, call)) {
    for (const struct message *m = c->first; m; m = m->next)
      if (m->number > after)
        write_message(c, m->number, STR("message"), (struct str){m->text, m->n});
    if (c->done) {
      c->left = clock_ticks_us();
      release_stream(c);
    }
  }
  pthread_mutex_unlock(&c->lock);
  unref(c);
  return alive;
}
