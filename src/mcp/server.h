/* server.h: what the files of the dispatcher share: the server, legacy sessions, one exchange, streams. */
#ifndef CAIRN_MCP_SERVER_H
#define CAIRN_MCP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/mcp.h"
#include "mcp/rpc.h"

/* Codes of the protocol, beside those of JSON-RPC. */
enum {
  MCP_HEADER_MISMATCH = -32020,
  MCP_NO_CAPABILITY = -32021,
  MCP_NO_VERSION = -32022,
  MCP_NO_RESOURCE = -32002, /* legacy; -32602 since 2026-07-28 */
};

#define MCP_MODERN "2026-07-28"
#define MCP_META "io.modelcontextprotocol/"
/* Of ours: in _meta of a modern request, the session of memories that it belongs to. */
#define MCP_META_SESSION "cairn/session"

enum { MCP_SECRET_SIZE = 32, MCP_HANDLE_SIZE = 80 };

/* A resource that a legacy session wants to hear of. */
struct resource;
struct watched {
  struct watched *next;
  int64_t told;  /* the transaction that it was last told of */
  uint64_t seen; /* the news that it was last compared with */
  const struct resource *resource;
  struct str uri, variable; /* behind it in memory */
};

/* A legacy client from its initialize on; on stdio there is one, for the process. Everything but the texts, which stay
 * as they were made, belongs to the server's lock. */
struct mcp_session {
  struct mcp_session *next;
  int refs;
  bool ended;
  int64_t used;
  struct str team, version, client, client_version, capabilities; /* capabilities: JSON */
  struct watched *watched;
  char id[MCP_SESSION_SIZE];
  char handle[MCP_HANDLE_SIZE]; /* of the session of memories that a boot on this connection began */
  int log_level;                /* index into log levels; -1: not set */
  struct caller caller;         /* as it was at the initialize, for ending the handle */
  struct principal *who;        /* whose session it is; NULL: the local user's */
};

struct question;
struct follower;

/* A session of memories that ends with a stream of its client. */
struct lost {
  struct lost *next;
  struct str team, handle; /* behind it in memory */
  char text[];
};

struct mcp_server {
  struct mcp_options options;
  uint8_t secret[MCP_SECRET_SIZE]; /* of the process; see state.c */
  struct secret_pool *pieces;      /* for messages that are being read; NULL: none could be had */
  pthread_mutex_t lock;            /* for all below */
  pthread_cond_t answered;
  struct mcp_session *sessions;
  size_t session_count;
  struct mcp_stream *streams;
  struct exchange *running;
  struct question *questions;
  uint64_t asked, news;      /* counters */
  bool closing, deaf;        /* deaf: no client can answer any more */
  pthread_mutex_t following; /* for the followers; taken before the feed's own lock */
  struct follower *followers;
  struct lost *lost; /* to be ended; of `lock` */
  pthread_cond_t lost_more;
  pthread_t lost_thread;
  bool lost_started, lost_quit;
};

/* One message on its way through the dispatcher. */
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
  struct mcp_session *session; /* legacy: of this client; NULL: none yet */
  struct str version;          /* of the protocol */
  yyjson_val *capabilities;    /* of the client; NULL: unknown */
  struct caller caller;        /* the sender's, with what the client says of itself */
  struct origin origin;

  pthread_mutex_t sending;
  bool answered;
  atomic_bool cancelled;
  yyjson_val *progress_token;
  double progress;       /* the last value told */
  int64_t progress_tick; /* when */
};

/* ---- server.c ---- */

typedef void (*method_fn)(struct exchange *x);
/* Runs a message that was parsed; what mcp_handle() does after parsing. */
void server_dispatch(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                     struct arena *arena, struct rpc_message *in, struct mcp_out *out, struct mcp_reply *reply);
/* rpc_read() where no boundary for want of memory is set: that is a bad message, too. The arena is new; it stays
 * guarded while the message may hold a secret. */
void rpc_read_guarded(struct mcp_server *server, struct arena *a, struct str text, struct rpc_message *ret_message);
/* Methods that neither open the store nor wait: a transport may run them where it reads. */
bool server_is_quick(const struct rpc_message *in);
/* Tells the calls of a session, or all with session == NULL, to stop. */
void server_cancel_all(struct mcp_server *server);

/* ---- exchange.c: what a method answers ---- */

void exchange_result(struct exchange *x, yyjson_mut_val *result);
/* With ttlMs and cacheScope, which modern lists and reads carry. */
void exchange_cached(struct exchange *x, yyjson_mut_val *result, int64_t ttl_ms);
/* An error of the protocol; `http` is its status there. data may be NULL. */
void exchange_error(struct exchange *x, int http, int code, yyjson_mut_val *data, const char *fmt, ...)
    PRINTF_FMT(5, 6);
/* The status as an error of the protocol: for what is neither a tool's nor the client's fault. */
void exchange_failed(struct exchange *x, const struct error *err);
/* A notification on the exchange's own stream, unless it is answered or cancelled. */
void exchange_notify(struct exchange *x, const char *method, yyjson_mut_val *params);
bool exchange_cancelled(struct exchange *x);
void exchange_progress(struct exchange *x, const char *what, double done, double total);
/* Runs an operation with an engine of the pool, as the exchange's caller. `args` is JSON. */
enum status exchange_op(struct exchange *x, const char *name, struct str args, yyjson_val **ret_result,
                        struct error *err);
/* The same with an operation that is not in the table. */
enum status exchange_call(struct exchange *x, const struct op *op, struct str args, yyjson_val **ret_result,
                          struct error *err);
/* Who calls, for lists of what there is; NULL: the local user. False: it cannot be found out, and that is answered. */
bool exchange_who(struct exchange *x, const struct principal **ret_who);
/* The client's capability by path, as "elicitation"; NULL: not declared. */
yyjson_val *exchange_capability(const struct exchange *x, const char *name);
bool exchange_can_elicit(const struct exchange *x);

/* ---- era.c ---- */

/* Settles era, session, version, caller; false: refused, and answered. */
bool era_settle(struct exchange *x);
bool era_is_legacy(struct str version);
/* Compares an Mcp-Name header, which may be base64, with the value of the body. */
bool era_name_matches(struct arena *a, struct str header, struct str value);

/* ---- legacy.c ---- */

void legacy_initialize(struct exchange *x);
void legacy_set_level(struct exchange *x);
/* Of this caller; holds a reference. */
struct mcp_session *mcp_session_find(struct mcp_server *server, struct str id, const struct caller *caller);
void mcp_session_drop(struct mcp_server *server, struct mcp_session *session);
void mcp_session_end(struct mcp_server *server, struct mcp_session *session);
/* The only one of a server with one connection; made when there is none. */
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

/* Sends a request on the exchange's stream and waits for the answer. The result is NULL when the client answered with
 * an error. */
enum status question_ask(struct exchange *x, const char *method, yyjson_mut_val *params, yyjson_val **ret_result,
                         struct error *err);
/* A response came in: true when somebody waits for it. */
bool question_answer(struct mcp_server *server, const struct mcp_session *session, const struct rpc_message *in,
                     struct arena *a);
/* No answer will come any more. */
void questions_end(struct mcp_server *server);

/* ---- input.c: what the user is asked, in both eras ---- */

enum input_answer { INPUT_YES, INPUT_NO, INPUT_PENDING, INPUT_IMPOSSIBLE };
/* Asks whether to go on. PENDING: the exchange is answered already (modern: the client asks and comes back; or the call
 * was cancelled). IMPOSSIBLE: the client cannot ask. */
enum input_answer input_confirm(struct exchange *x, struct str message);
/* Checks inputResponses and requestState of a modern request; false: refused, and answered. ret_state is what the state
 * carried, absent when there was none. */
bool input_check(struct exchange *x, struct str *ret_state);
/* The client's answer for a key; NULL: none. */
yyjson_val *input_response(const struct exchange *x, const char *key);
/* Answers a modern request by asking: `requests` maps keys to requests; `state` may be absent. */
void input_required(struct exchange *x, yyjson_mut_val *requests, struct str state);

/* ---- state.c: texts that come back from a client and must not have been changed ---- */

/* Opaque text that carries `payload`, valid for this purpose alone, for so long (0: for good), at every server of the
 * store. The purpose names the team and the caller, too; no engine of the pool may be held. */
struct str state_seal(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                      struct str payload, int64_t expires);
bool state_open(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                struct str sealed, int64_t now, struct str *ret_payload);

/* ---- subscriptions.c ---- */

/* Begins to follow the events of a team, unless it is followed already. */
enum status subscriptions_follow(struct mcp_server *server, struct str team, struct error *err);
/* A list has changed: "tools", "prompts", "resources". For conformance fixtures, and for skills. */
void subscriptions_list_changed(struct mcp_server *server, struct str team, const char *list);
void subscriptions_updated(struct mcp_server *server, struct str team, struct str uri);
/* The client cancels a listen: true when there was one with that id. */
bool subscriptions_cancel(struct mcp_server *server, struct arena *a, yyjson_val *id);
void subscriptions_end(struct mcp_server *server);
/* The streams of a session end with it. */
void subscriptions_end_session(struct mcp_server *server, const struct mcp_session *session);

/* Does an open stream hold this session? */
bool subscriptions_hold(struct mcp_server *server, struct str team, struct str handle);

/* ---- lost.c: sessions of memories that end with a stream ---- */

/* NULL: no memory. */
struct lost *lost_new(struct str team, struct str handle);
/* Before a stream is opened that holds a session; false: it cannot be held. */
bool lost_start(struct mcp_server *server);
/* The stream is gone; takes the note (NULL: there was none). */
void lost_note(struct mcp_server *server, struct lost *l);
/* A session that is held is live, whatever was noted before. */
void lost_back(struct mcp_server *server, struct str team, struct str handle);
void lost_stop(struct mcp_server *server);

/* ---- fixtures.c: for the official conformance suite, with --conformance alone ---- */

void fixture_tools(struct exchange *x, yyjson_mut_val *list);
void fixture_prompts(struct exchange *x, yyjson_mut_val *list);
void fixture_resources(struct exchange *x, yyjson_mut_val *list);
void fixture_templates(struct exchange *x, yyjson_mut_val *list);
bool fixture_call(struct exchange *x, struct str name, yyjson_val *args);
bool fixture_prompt(struct exchange *x, struct str name, yyjson_val *args);
bool fixture_read(struct exchange *x, struct str uri);

#endif
