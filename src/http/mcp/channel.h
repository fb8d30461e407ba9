/* channel.h: where the messages of one MCP exchange over HTTP go: into one JSON answer, or onto a stream; and, for
 * legacy sessions, what a client gets again that was cut off and comes back with Last-Event-ID.
 *
 * A channel is one exchange: a POST and its answer, or a GET. It knows at most one stream at a time; another may take
 * its place when the client comes back. Event ids are CHANNEL-MESSAGE, unique in the server. */
#pragma once

#include "http/http.h"

struct mcp_channel;

NODISCARD enum status mcp_hub_new(struct mcp_server *mcp, struct mcp_hub **ret_hub, struct error *err);
/* After http_stop() and mcp_close(), which may still write to channels. */
void mcp_hub_free(struct mcp_hub **hub);

struct channel_options {
  struct str session; /* of a legacy client: its messages can be sent again; absent: they cannot */
  bool listening;     /* a GET */
  bool modern;        /* who closes the stream cancels the call */
  bool primed; /* the client knows events without data (2025-11-25): the first gives it an id to come back with */
};

/* NULL without memory. The caller holds a reference until channel_finish(). */
struct mcp_channel *channel_new(struct mcp_hub *hub, struct http_call *call, const struct channel_options *options);
/* What the dispatcher writes to. */
struct mcp_out *channel_out(struct mcp_channel *c);
/* The dispatcher has returned: gives the JSON answer as the call's reply, or leaves the stream to live on. */
void channel_finish(struct mcp_channel *c, const struct mcp_reply *reply);

/* Takes a broken stream up again: what came after `last` (CHANNEL-MESSAGE), then what is still to come. False when
 * there is nothing of that name in the session. */
bool channel_resume(struct mcp_hub *hub, struct http_call *call, struct str session, struct str last);
/* The session is over, or begins to listen anew: what nobody listens to is given up. */
void channels_forget(struct mcp_hub *hub, struct str session);

/* "12-7"; false for everything else. */
bool event_id_parse(struct str id, uint64_t *ret_channel, uint64_t *ret_message);
