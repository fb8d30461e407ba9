/* stdio.c: stdio transport: one message per line on standard input and output.
 *
 * The calling thread reads and runs quick methods (handshake, lists, ping, cancellation), so calls never delay
 * them. Workers, started on demand, run the calls. Standard output carries only the protocol: descriptor 1 is
 * redirected to standard error before anything can print. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "mcp/protocol/housekeeping.h"
#include "mcp/protocol/server.h"

enum {
  WORKERS_MAX = 16,
  QUEUE_MAX = 1000,
  WRITE_PIECE = 4096, /* PIPE_BUF: after poll() this much can be written without blocking */
  READ_PIECE = 64 * 1024,
  DRAIN_MS = 1000, /* grace period for running calls when the input ends */
  STOP_MS = 1000,
  STACK_BYTES = 16 * 1024, /* stack that may hold secrets after a call: at most saved registers */
};

/* A queued call, with the arena of its message. */
struct job {
  struct job *next;
  struct arena arena;
  struct rpc_message in;
  atomic_bool cancelled;
};

struct stdio {
  struct mcp_server *server;
  const struct mcp_sender *sender;
  struct mcp_out out;
  struct housekeeping *keeper;

  int fd; /* output */
  pthread_mutex_t writing;
  char *piece; /* WRITE_PIECE bytes from mem_secret(), like `line` */
  atomic_bool broken, ending;

  pthread_mutex_t lock;
  pthread_cond_t more, done;
  struct job *first, **last;
  size_t queued, workers, idle_workers, busy;
  bool stop;
  pthread_t threads[WORKERS_MAX];
  struct job *running[WORKERS_MAX];

  char *line; /* input that is not a complete line yet */
  size_t n, cap;
  bool skipping; /* skips the rest of a line that is too long */
};

static const struct mcp_head no_head;

/* ---- writing ---- */

/* False if the client has closed the pipe. While the process ends, does not wait for a client that does not read. */
static bool write_piece(struct stdio *io, const char *p, size_t n, size_t *ret_written) {
  struct pollfd out = {.fd = io->fd, .events = POLLOUT};
  int ready = poll(&out, 1, 100);
  *ret_written = 0;
  if (ready < 0)
    return errno == EINTR;
  if (ready == 0)
    return !atomic_load(&io->ending);
  ssize_t written = write(io->fd, p, n < WRITE_PIECE ? n : WRITE_PIECE);
  if (written < 0)
    return errno == EINTR || errno == EAGAIN;
  *ret_written = (size_t)written;
  return true;
}

static void write_all(struct stdio *io, struct str text) {
  while (text.n && !atomic_load(&io->broken)) {
    size_t written;
    if (!write_piece(io, text.p, text.n, &written))
      atomic_store(&io->broken, true);
    text = str_slice(text, written, text.n);
  }
}

static void send_line(void *arg, struct str json, bool last UNUSED) {
  struct stdio *io = arg;
  if (!json.p)
    return;
  pthread_mutex_lock(&io->writing);
  /* A short message and its newline are written in one piece. */
  if (io->piece && json.n < WRITE_PIECE) {
    memcpy(io->piece, json.p, json.n);
    io->piece[json.n] = '\n';
    write_all(io, (struct str){io->piece, json.n + 1});
    sodium_memzero(io->piece, json.n);
  } else {
    write_all(io, json);
    write_all(io, STR("\n"));
  }
  pthread_mutex_unlock(&io->writing);
}

/* ---- running ---- */

static void run_job(struct stdio *io, struct job *job) {
  struct mcp_reply reply = {0};
  struct mcp_out out = io->out;
  server_dispatch(io->server, io->sender, &no_head, &job->arena, &job->in, &out, &reply);
}

static void free_job(struct job *job) {
  arena_release(&job->arena);
  mem_free(job);
}

static void mark(struct job *job, yyjson_val *id) {
  if (job && rpc_same_id(job->in.id, id))
    atomic_store(&job->cancelled, true);
}

/* Cancels queued calls; the dispatcher cancels running ones. */
static void cancel_queued(struct stdio *io, const struct rpc_message *in) {
  yyjson_val *id = yyjson_obj_get(in->params, "requestId");
  if (in->kind != RPC_NOTIFICATION || !str_is(in->method, "notifications/cancelled") || !id)
    return;
  pthread_mutex_lock(&io->lock);
  for (struct job *job = io->first; job; job = job->next)
    mark(job, id);
  for (size_t i = 0; i < WORKERS_MAX; i++)
    mark(io->running[i], id);
  pthread_mutex_unlock(&io->lock);
}

static void *work(void *arg) {
  struct stdio *io = arg;
  pthread_mutex_lock(&io->lock);
  for (;;) {
    while (!io->first && !io->stop) {
      io->idle_workers++;
      pthread_cond_wait(&io->more, &io->lock);
      io->idle_workers--;
    }
    struct job *job = io->first;
    if (!job)
      break;
    assert(io->queued > 0);
    io->first = job->next;
    if (!io->first)
      io->last = &io->first;
    io->queued--;
    io->busy++;
    size_t place = 0;
    while (io->running[place])
      place++;
    assert(place < WORKERS_MAX);
    io->running[place] = job;
    pthread_mutex_unlock(&io->lock);
    housekeeping_call_begin(io->keeper);
    run_job(io, job);
    housekeeping_call_end(io->keeper);
    pthread_mutex_lock(&io->lock);
    io->running[place] = NULL;
    pthread_mutex_unlock(&io->lock);
    bool secret = job->arena.guarded;
    free_job(job);
    if (secret)
      sodium_stackzero(STACK_BYTES);
    pthread_mutex_lock(&io->lock);
    assert(io->busy > 0 && io->busy <= io->workers);
    io->busy--;
    pthread_cond_broadcast(&io->done);
  }
  pthread_mutex_unlock(&io->lock);
  return NULL;
}

/* Starts a worker if all are busy. */
static void enqueue(struct stdio *io, struct job *job) {
  pthread_mutex_lock(&io->lock);
  while (io->queued >= QUEUE_MAX)
    pthread_cond_wait(&io->done, &io->lock); /* backpressure: the input is not read meanwhile */
  assert(!job->next && !io->first == (io->queued == 0));
  *io->last = job;
  io->last = &job->next;
  io->queued++;
  bool start = io->queued > io->idle_workers && io->workers < WORKERS_MAX;
  if (start && pthread_create(&io->threads[io->workers], NULL, work, io) == 0)
    io->workers++;
  bool alone = io->workers == 0;
  pthread_cond_signal(&io->more);
  if (alone) { /* no thread could be started */
    assert(io->first == job && io->queued == 1);
    io->first = NULL;
    io->last = &io->first;
    io->queued = 0;
  }
  pthread_mutex_unlock(&io->lock);
  if (alone) {
    run_job(io, job);
    free_job(job);
  }
}

static void handle(struct stdio *io, struct str text) {
  struct job *job = mem_zalloc(sizeof(*job));
  if (!job) {
    send_line(io, STR("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}"), true);
    return;
  }
  arena_init(&job->arena);
  rpc_read_guarded(io->server, &job->arena, text, &job->in);
  job->in.cancelled = &job->cancelled;
  if (!server_is_quick(&job->in)) {
    enqueue(io, job);
    return;
  }
  cancel_queued(io, &job->in);
  run_job(io, job);
  free_job(job);
}

/* ---- reading ---- */

static void take_line(struct stdio *io, struct str line) {
  if (str_starts(line, STR("\xEF\xBB\xBF")))
    line = str_slice(line, 3, line.n);
  line = str_trim(line);
  if (line.n)
    handle(io, line);
}

static void refuse_long(struct stdio *io) {
  send_line(
      io,
      STR("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Invalid request: a message holds at most "
          "10 MB; this line was skipped\"}}"),
      true);
}

/* Handles the complete lines of the input and keeps the incomplete one. */
static void take_lines(struct stdio *io) {
  size_t from = 0;
  for (;;) {
    const char *end = memchr(io->line + from, '\n', io->n - from);
    if (!end)
      break;
    size_t to = (size_t)(end - io->line);
    if (!io->skipping)
      take_line(io, (struct str){io->line + from, to - from});
    io->skipping = false;
    from = to + 1;
  }
  assert(from <= io->n);
  io->n -= from;
  memmove(io->line, io->line + from, io->n);
  sodium_memzero(io->line + io->n, from); /* it may hold a secret */
  if (io->n > MCP_MESSAGE_MAX && !io->skipping) {
    refuse_long(io);
    io->skipping = true;
  }
  if (io->skipping)
    io->n = 0;
}

/* Buffers larger than any message with a secret are in ordinary memory. */
static void free_line(struct stdio *io) {
  if (io->cap > MCP_GUARDED_MAX) {
    sodium_memzero(io->line, io->cap);
    mem_free(io->line);
  } else {
    mem_secret_free(io->line);
  }
  io->line = NULL;
}

static bool make_room(struct stdio *io) {
  if (io->cap - io->n >= READ_PIECE)
    return true;
  size_t cap = io->cap ? io->cap * 2 : 2 * READ_PIECE;
  char *p = cap > MCP_GUARDED_MAX ? mem_alloc(cap) : mem_secret(cap);
  if (!p)
    return false;
  if (io->n)
    memcpy(p, io->line, io->n);
  free_line(io);
  io->line = p;
  io->cap = cap;
  assert(cap - io->n >= READ_PIECE);
  return true;
}

/* Shrinks the buffer after a large message. */
static void shrink_line(struct stdio *io) {
  if (io->n || io->cap <= 16 * READ_PIECE)
    return;
  free_line(io);
  io->cap = 0;
}

static void read_until_end(struct stdio *io, int signals) {
  struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
  while (!atomic_load(&io->broken)) {
    if (poll(fds, signals < 0 ? 1 : 2, -1) < 0 && errno != EINTR)
      break;
    if (signals >= 0 && (fds[1].revents & POLLIN))
      break;
    if (!(fds[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)))
      continue;
    if (!make_room(io))
      break;
    ssize_t got = read(STDIN_FILENO, io->line + io->n, READ_PIECE);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (got <= 0)
      break;
    io->n += (size_t)got;
    take_lines(io);
    sodium_stackzero(STACK_BYTES);
    shrink_line(io);
  }
  if (io->n && !io->skipping) /* the last line may lack its newline */
    take_line(io, (struct str){io->line, io->n});
}

/* ---- the end ---- */

/* Waits until nothing is queued or running; false on timeout. */
static bool drain(struct stdio *io, int ms) {
  int64_t until = clock_ticks_us() + (int64_t)ms * 1000;
  pthread_mutex_lock(&io->lock);
  while ((io->queued || io->busy) && cond_wait_until(&io->done, &io->lock, until))
    continue;
  bool empty = !io->queued && !io->busy;
  pthread_mutex_unlock(&io->lock);
  return empty;
}

static void join(struct stdio *io) {
  pthread_mutex_lock(&io->lock);
  io->stop = true;
  pthread_cond_broadcast(&io->more);
  pthread_mutex_unlock(&io->lock);
  for (size_t i = 0; i < io->workers; i++)
    pthread_join(io->threads[i], NULL);
}

/* Lets running calls finish for a moment, then cancels them. A call that does not stop is abandoned: the process ends,
 * and the store rolls back its transaction. */
static void finish(struct stdio *io) {
  questions_abort(io->server);
  bool empty = drain(io, DRAIN_MS);
  atomic_store(&io->ending, true);
  mcp_stop(io->server);
  if (!empty && !drain(io, STOP_MS))
    _exit(0);
  join(io);
  housekeeping_stop(&io->keeper);
}

/* ---- descriptors and signals ---- */

/* Reserves standard output for the protocol. */
static int take_stdout(void) {
  int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
      dup2(null, STDOUT_FILENO);
  }
  return fd;
}

/* SIGTERM and SIGINT act like the end of the input. SIGPIPE is ignored: a closed pipe is a write error. */
static int take_signals(sigset_t *former) {
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigset_t set;
  sigaction(SIGPIPE, &ignore, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, former);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int mcp_stdio(struct mcp_server *server, const struct mcp_sender *sender) {
  struct stdio io = {.server = server, .sender = sender, .fd = take_stdout()};
  if (io.fd < 0) {
    fprintf(stderr, "cairn: standard output is closed: the client must read it\n");
    return status_exit_code(STATUS_IO);
  }
  sigset_t former;
  int signals = take_signals(&former);
  io.last = &io.first;
  io.out = (struct mcp_out){.arg = &io, .send = send_line};
  io.piece = mem_secret(WRITE_PIECE);
  pthread_mutex_init(&io.writing, NULL);
  pthread_mutex_init(&io.lock, NULL);
  cond_init(&io.more);
  cond_init(&io.done);
  struct mcp_reply reply;
  mcp_listen(server, sender, &no_head, &io.out, &reply);
  io.keeper = server->options.no_maintain ? NULL : housekeeping_new(server->options.pool, &sender->caller);
  read_until_end(&io, signals);
  finish(&io);
  if (signals >= 0) {
    struct signalfd_siginfo taken; /* a pending signal would kill the process once it is unblocked */
    while (read(signals, &taken, sizeof(taken)) == (ssize_t)sizeof(taken))
      continue;
    close(signals);
  }
  close(io.fd);
  free_line(&io);
  mem_secret_free(io.piece);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  return 0;
}
