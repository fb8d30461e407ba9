/* server.h: declarations shared by the dispatcher's files: the server, legacy sessions, one exchange, streams. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/mcp.h"
#include "mcp/protocol/rpc.h"

/* Error codes of MCP, in addition to those of JSON-RPC. */
enum {
  MCP_HEADER_MISMATCH = -32020,
  MCP_NO_CAPABILITY = -32021,
  MCP_NO_VERSION = -32022,
  MCP_NO_RESOURCE = -32002, /* legacy; -32602 since 2026-07-28 */
};

#define MCP_MODERN "2026-07-28"
#define MCP_META "io.modelcontextprotocol/"
/* Member of _meta in modern requests: the memory session. */
#define MCP_META_SESSION "cairn/session"

enum { MCP_SECRET_SIZE = 32, MCP_HANDLE_SIZE = 80, MCP_PROJECT_SIZE = 256 };

/* A subscribed resource. */
struct resource;
struct watched {
  struct watched *next;
  int64_t told;  /* transaction of the last notification */
  uint64_t seen; /* number of the last change it was compared with */
  const struct resource *resource;
  int64_t memory_id;        /* current version of a memory that is watched by its key; 0 if unknown */
  struct str uri, variable; /* allocated with the struct */
};

/* A legacy client after initialize; on stdio there is one per process. The texts never change; the server's lock
 * protects everything else. */
struct mcp_session {
  struct mcp_session *next;
  int refs;
  bool ended;
  int64_t used;
  struct str team, version, client, client_version, capabilities; /* capabilities: JSON */
  struct watched *watched;
  char id[MCP_SESSION_SIZE];
  char handle[MCP_HANDLE_SIZE]; /* memory session that a boot on this connection has begun */
  int log_level;                /* index of the level; -1: not set */
  bool roots_known;
  char root[MCP_PROJECT_SIZE]; /* project that the client's roots name; "": none */
  struct caller caller;        /* as of initialize, for ending the handle */
  struct principal *who;       /* owner; NULL: the local user */
};

struct question;
struct follower;

/* A memory session that ends with a stream of its client. */
struct lost {
  struct lost *next;
  struct str team, handle; /* point into text */
  char text[];
};

struct mcp_server {
  struct mcp_options options;
  uint8_t secret[MCP_SECRET_SIZE];  /* key of the process; see state.c */
  struct secret_pool *message_pool; /* locked memory for parsing messages; NULL: none available */
  pthread_mutex_t lock;             /* protects everything below */
  pthread_cond_t answered;
  struct mcp_session *sessions;
  size_t session_count;
  struct mcp_stream *streams;
  struct exchange *running;
  struct question *questions;
  uint64_t asked, news;      /* counters */
  bool closing, input_ended; /* input_ended: clients cannot answer any more */
  pthread_mutex_t following; /* protects the followers; taken before the feed's own lock */
  struct follower *followers;
  struct lost *lost; /* queue of sessions to end; under `lock` */
  pthread_cond_t lost_more;
  pthread_t lost_thread;
  bool lost_started, lost_quit;
};

/* One message being processed. */
struct exchange {
  struct exchange *next;
  struct mcp_server *server;
  const struct mcp_sender *sender;
  const struct profile *profile;
  const struct mcp_head *head;
  struct mcp_out *out;
  struct mcp_reply *reply;
  struct arena *arena;
  yyjson_mut_doc *doc;
  struct rpc_message *in;

  bool modern;
  struct mcp_session *session; /* legacy session of the client; NULL: none yet */
  struct str version;          /* protocol revision */
  yyjson_val *capabilities;    /* the client's; NULL: unknown */
  struct caller caller;        /* the sender's, plus the client's name and version */
  struct origin origin;

  struct engine *engine; /* see exchange_borrow() */

  /* For the record of calls. */
  int64_t began;        /* ticks */
  const char *method;   /* NULL: unknown */
  bool quick;           /* the method is no call: recorded only if it is refused */
  bool unfinished;      /* the client was asked something and repeats its request */
  bool recorded;        /* by the tool's call */
  struct error failure; /* code STATUS_OK: none */

  pthread_mutex_t sending;
  bool answered;
  atomic_bool cancelled;
  yyjson_val *progress_token;
  double progress;       /* last value sent */
  int64_t progress_tick; /* time of the last notification, in ticks */
};

/* ---- server.c ---- */

typedef void (*method_fn)(struct exchange *x);
/* Runs a parsed message; the second half of mcp_handle(). */
void server_dispatch(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                     struct arena *arena, struct rpc_message *in, struct mcp_out *out, struct mcp_reply *reply);
/* rpc_read() with its own out-of-memory boundary; out of memory makes a bad message, too. The arena must be new; it
 * stays guarded if the message may hold a secret. */
void rpc_read_guarded(struct mcp_server *server, struct arena *a, struct str text, struct rpc_message *ret_message);
/* True if the method neither opens the store nor blocks: a transport may run it on its reading thread. */
bool server_is_quick(const struct rpc_message *in);
/* Cancels all running calls, and all later ones. */
void server_cancel_all(struct mcp_server *server);

/* ---- exchange.c ---- */

/* Sets x->engine to an engine of the pool, for code that allocates while it has it: after an out-of-memory jump the
 * engine returns to the pool with the exchange. */
NODISCARD enum status exchange_borrow(struct exchange *x, struct error *err);
void exchange_give_back(struct exchange *x);
void exchange_result(struct exchange *x, yyjson_mut_val *result);
/* Adds ttlMs and cacheScope in modern responses. */
void exchange_cached(struct exchange *x, yyjson_mut_val *result, int64_t ttl_ms);
/* A protocol error; `http` is the HTTP status. data may be NULL. */
void exchange_error(struct exchange *x, int http, int code, yyjson_mut_val *data, const char *fmt, ...)
    PRINTF_FMT(5, 6);
/* An internal error with the message of `err`. */
void exchange_failed(struct exchange *x, const struct error *err);
/* Notification on the exchange's own stream, unless the exchange is answered or cancelled. */
void exchange_notify(struct exchange *x, const char *method, yyjson_mut_val *params);
bool exchange_cancelled(struct exchange *x);
void exchange_progress(struct exchange *x, const char *what, double done, double total);
/* Runs an operation as the exchange's caller. `args` is JSON. */
enum status exchange_op(struct exchange *x, const char *name, struct str args, yyjson_val **ret_result,
                        struct error *err);
/* The same for an operation that is not in the table. */
enum status exchange_call(struct exchange *x, const struct op *op, struct str args, yyjson_val **ret_result,
                          struct error *err);
/* The caller's principal, for filtering lists; NULL: the local user. False: it failed, and the error is sent. */
bool exchange_principal(struct exchange *x, const struct principal **ret_who);
/* The client's capability, such as "elicitation"; NULL: not declared. */
yyjson_val *exchange_capability(const struct exchange *x, const char *name);
bool exchange_can_elicit(const struct exchange *x);

/* ---- era.c ---- */

/* Sets era, session, version and caller; false: refused, and the error is sent. */
bool era_determine(struct exchange *x);
bool era_is_legacy(struct str version);
/* Compares an Mcp-Name header, which may be base64, with the value in the body. */
bool era_name_matches(struct arena *a, struct str header, struct str value);

/* ---- legacy.c ---- */

void legacy_initialize(struct exchange *x);
void legacy_set_level(struct exchange *x);
/* The caller's session with this id; adds a reference. */
struct mcp_session *mcp_session_find(struct mcp_server *server, struct str id, const struct caller *caller);
void mcp_session_drop(struct mcp_server *server, struct mcp_session *session);
void mcp_session_end(struct mcp_server *server, struct mcp_session *session);
/* The only session of a server with one connection; created if there is none. */
struct mcp_session *mcp_session_only(struct mcp_server *server);
yyjson_mut_val *server_capabilities(struct exchange *x);
yyjson_mut_val *server_info(const struct exchange *x, yyjson_mut_doc *doc);

/* ---- lists.c ---- */

void list_tools(struct exchange *x);
void list_prompts(struct exchange *x);
void list_resources(struct exchange *x);
void list_templates(struct exchange *x);

/* ---- the other methods ---- */

void method_tools_call(struct exchange *x);
void method_prompts_get(struct exchange *x);
void method_resources_read(struct exchange *x);
void method_complete(struct exchange *x);
void method_subscribe(struct exchange *x);
void method_unsubscribe(struct exchange *x);
void method_listen(struct exchange *x);

/* ---- questions.c: requests to a legacy client ---- */

enum { QUESTION_PERSON_MS = 600 * 1000 }; /* a person may need minutes to answer */
/* Sends a request on the exchange's stream and blocks until the response, at most `wait_ms`. `params` may be NULL. The
 * result is NULL if the client responds with an error. */
enum status question_ask(struct exchange *x, const char *method, yyjson_mut_val *params, int64_t wait_ms,
                         yyjson_val **ret_result, struct error *err);
/* Delivers a response; false if no call waits for it. */
bool question_answer(struct mcp_server *server, const struct mcp_session *session, const struct rpc_message *in,
                     struct arena *a);
/* The input has ended: wakes all calls that wait for a response. */
void questions_abort(struct mcp_server *server);

/* ---- roots.c: the project of an HTTP client ---- */

/* Sets the caller's project from the client's roots if nothing else names one; may ask the client. */
void roots_find_project(struct exchange *x);
/* The client's roots have changed: asks again when they are needed. */
void roots_changed(struct exchange *x);

/* ---- input.c: questions to the user, in both eras ---- */

enum input_answer { INPUT_YES, INPUT_NO, INPUT_PENDING, INPUT_IMPOSSIBLE };
/* Asks for consent. PENDING: the exchange is answered already (modern: the client asks and repeats the request; or the
 * call was cancelled). IMPOSSIBLE: the client cannot ask. */
enum input_answer input_confirm(struct exchange *x, struct str message);
/* Checks inputResponses and requestState of a modern request; false: refused, and the error is sent. ret_state is the
 * payload of the state, absent if there is none. */
bool input_check(struct exchange *x, struct str *ret_state);
/* The client's answer for a key; NULL: none. */
yyjson_val *input_response(const struct exchange *x, const char *key);
/* Answers a modern request with questions: `requests` maps keys to requests; `state` may be absent. */
void input_required(struct exchange *x, yyjson_mut_val *requests, struct str state);

/* ---- state.c: authenticated state that clients return ---- */

/* Opaque text with `payload`, valid only for this purpose, until `expires` (0: forever), on every server of the store.
 * The purpose must include the team and the caller. The calling thread must not hold an engine of the pool. */
struct str state_seal(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                      struct str payload, int64_t expires);
bool state_open(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                struct str sealed, int64_t now, struct str *ret_payload);

/* ---- subscriptions.c ---- */

/* Follows the events of a team, unless it is followed already. */
enum status subscriptions_follow(struct mcp_server *server, struct str team, struct error *err);
/* Notifies that a list has changed: "tools", "prompts", "resources". For the conformance fixtures. */
void subscriptions_list_changed(struct mcp_server *server, struct str team, const char *list);
/* Ends the listen request with that id; false if there is none. */
bool subscriptions_cancel(struct mcp_server *server, struct arena *a, yyjson_val *id);
void subscriptions_end(struct mcp_server *server);
/* Ends the streams of a session. */
void subscriptions_end_session(struct mcp_server *server, const struct mcp_session *session);

/* True if an open stream keeps the memory session alive. */
bool subscriptions_holds_session(struct mcp_server *server, struct str team, struct str handle);

/* ---- lost.c: memory sessions that end with a stream ---- */

/* NULL if out of memory. */
struct lost *lost_new(struct str team, struct str handle);
/* Starts the thread. Called before a stream with a memory session is opened; false: the stream cannot keep one. */
bool lost_start(struct mcp_server *server);
/* Queues the session of a closed stream to be ended. Takes ownership; NULL is ignored. */
void lost_enqueue(struct mcp_server *server, struct lost *l);
/* Reopens a session that a new stream keeps alive, in case it was ended meanwhile. */
void lost_reopen(struct mcp_server *server, struct str team, struct str handle);
void lost_stop(struct mcp_server *server);

/* ---- fixtures of the official conformance suite ---- */

/* tests/program/conformance.c defines them; only builds with tests have them. */
struct mcp_fixtures {
  void (*list_tools)(struct exchange *x, yyjson_mut_val *list);
  void (*list_prompts)(struct exchange *x, yyjson_mut_val *list);
  void (*list_resources)(struct exchange *x, yyjson_mut_val *list);
  void (*list_templates)(struct exchange *x, yyjson_mut_val *list);
  /* False if there is no such tool, prompt or resource. */
  bool (*call)(struct exchange *x, struct str name);
  bool (*get_prompt)(struct exchange *x, struct str name, yyjson_val *args);
  bool (*read)(struct exchange *x, struct str uri);
};
extern const struct mcp_fixtures *mcp_fixtures; /* NULL: none; the option `conformance` has no effect */
