/* channel.h: output channel of one MCP exchange over HTTP: one JSON reply, or an event stream. Legacy sessions can
 * resume a broken stream with Last-Event-ID.
 *
 * A channel is one exchange: a POST and its reply, or a GET. It has at most one stream at a time; a client that resumes
 * attaches a new one. Event ids are CHANNEL-MESSAGE, unique in the server. */
#pragma once

#include "http/http.h"

struct mcp_channel;

NODISCARD enum status mcp_hub_new(struct mcp_server *mcp, struct mcp_hub **ret_hub, struct error *err);
/* Call it after http_stop() and mcp_close(), which may still write to channels. */
void mcp_hub_free(struct mcp_hub **hub);

struct channel_options {
  struct str session; /* session of a legacy client, whose messages can be replayed; absent: no replay */
  bool listening;     /* a GET */
  bool modern;        /* closing the stream cancels the call */
  bool primed; /* the client accepts events without data (2025-11-25): the first one gives it an id to resume from */
};

/* NULL on out of memory. The caller holds a reference until channel_finish(). */
struct mcp_channel *channel_new(struct mcp_hub *hub, struct http_call *call, const struct channel_options *options);
/* The dispatcher's output. */
struct mcp_out *channel_out(struct mcp_channel *c);
/* Called after the dispatcher returned: sets the call's JSON reply, or leaves the stream open. */
void channel_finish(struct mcp_channel *c, const struct mcp_reply *reply);

/* Resumes a broken stream: replays the messages after `last` (CHANNEL-MESSAGE), then continues. False if the session
 * has no such channel. */
bool channel_resume(struct mcp_hub *hub, struct http_call *call, struct str session, struct str last);
/* Closes all channels of a session that ended. */
void channels_close(struct mcp_hub *hub, struct str session);

/* Parses "12-7"; false if malformed. */
bool event_id_parse(struct str id, uint64_t *ret_channel, uint64_t *ret_message);
