/* stream.c: Streamable HTTP: reads the request headers, tells legacy from modern revisions, and calls the dispatcher.
 */
#include "http/mcp/stream.h"

#include <assert.h>

#include "http/access/project.h"
#include "http/mcp/channel.h"
#include "op/access/authenticate.h"

/* Revisions with sessions, and clients that name no revision. */
static bool is_legacy(struct str version) {
  static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
  for (size_t i = 0; i < ARRAY_LEN(versions); i++)
    if (str_is(version, versions[i]))
      return true;
  return str_empty(version);
}

static struct mcp_head head_of(const struct http_call *call) {
  return (struct mcp_head){.http = true,
                           .version = http_header(call, "mcp-protocol-version"),
                           .method = http_header(call, "mcp-method"),
                           .name = http_header(call, "mcp-name"),
                           .session = http_header(call, "mcp-session-id")};
}

/* A token that names a profile is limited to it, on any path. */
static bool profile_of_token(struct http_call *call, struct str *name) {
  struct str own = call->caller.principal ? call->caller.principal->profile : STR_NONE;
  if (!own.p)
    return true;
  if (!name->p)
    *name = own;
  if (str_eq(*name, own) && profile_find(own))
    return true;
  struct str why = arena_printf(call->arena, "this token is limited to the profile '%.*s'", STR_ARG(own));
  http_reply_problem_status(call, 403, "Forbidden", why.p);
  return false;
}

/* The profile is part of the path and the project part of the query, so one server offers all of them. */
static bool sender_of(struct http_call *call, struct mcp_sender *ret_sender) {
  assert(call->server->mcp && call->server->hub);
  struct mcp_sender sender = {.caller = call->caller};
  sender.caller.source = call->server->caller.source; /* absent: the client names itself */
  struct str name = http_path_part(call, "profile");
  struct error err;
  if (!profile_of_token(call, &name))
    return false;
  if (project_of_request(call, &sender.caller, &sender.project_named, &err) != STATUS_OK) {
    http_reply_problem(call, &err);
    return false;
  }
  if (name.p && !(sender.profile = profile_find(name))) {
    struct buf b = BUF(call->arena);
    buf_adds(&b, "no such profile; available:");
    for (const struct profile *const *p = profiles; *p; p++)
      buf_addf(&b, " %s", (*p)->name);
    http_reply_problem_status(call, 404, "Not Found", b.p);
    return false;
  }
  *ret_sender = sender;
  return true;
}

static bool contains(struct str list, const char *type) {
  return list.p && str_find(list, str_from(type), 0) != SIZE_MAX;
}

/* Missing headers are accepted; we refuse only clients that cannot read any of our replies. */
static bool is_acceptable(struct http_call *call) {
  struct str type = http_header(call, "content-type"), accept = http_header(call, "accept");
  struct str lower = type.p ? arena_lower(call->arena, type) : type;
  if (type.n && !contains(lower, "json")) {
    http_reply_problem_status(call, 415, "Unsupported Media Type", "messages must be application/json");
    return false;
  }
  lower = accept.p ? arena_lower(call->arena, accept) : accept;
  if (accept.n && !contains(lower, "*/*") && !contains(lower, "application/") &&
      !contains(lower, "text/event-stream")) {
    http_reply_problem_status(call, 406, "Not Acceptable", "answers are application/json or text/event-stream");
    return false;
  }
  return true;
}

static void reply_no_memory(struct http_call *call) {
  struct error err;
  error_set(&err, STATUS_NOMEM, "out of memory");
  http_reply_problem(call, &err);
}

void mcp_post(struct http_call *call) {
  struct mcp_sender sender;
  struct mcp_head head = head_of(call);
  if (!is_acceptable(call) || !sender_of(call, &sender))
    return;
  bool legacy = is_legacy(head.version);
  struct channel_options options = {
      .session = legacy ? head.session : STR_NONE, .modern = !legacy, .primed = str_is(head.version, "2025-11-25")};
  struct mcp_channel *c = channel_new(call->server->hub, call, &options);
  if (!c) {
    reply_no_memory(call);
    return;
  }
  struct mcp_reply reply = {0};
  call->recorded = true; /* by the dispatcher */
  mcp_handle(call->server->mcp, &sender, &head, call->body, channel_out(c), &reply);
  channel_finish(c, &reply);
}

/* Modern clients neither listen with GET nor end sessions. */
static bool legacy_only(struct http_call *call, const struct mcp_head *head) {
  if (is_legacy(head->version))
    return true;
  http_add_header(call, "Allow", STR("POST, OPTIONS"));
  http_reply_problem_status(call, 405, "Method Not Allowed", "since 2026-07-28 every message is a POST");
  return false;
}

void mcp_get(struct http_call *call) {
  struct mcp_sender sender;
  struct mcp_head head = head_of(call);
  if (!legacy_only(call, &head) || !sender_of(call, &sender))
    return;
  struct str accept = http_header(call, "accept"), last = http_header(call, "last-event-id");
  if (!head.session.n && !contains(accept, "text/event-stream")) {
    http_add_header(call, "Allow", STR("POST, OPTIONS"));
    http_reply_problem_status(call, 405, "Method Not Allowed", "MCP clients POST their messages here");
    return;
  }
  if (head.session.n && !mcp_has_session(call->server->mcp, &sender, head.session)) {
    http_reply_problem_status(call, 404, "Not Found", "no such session; start over with initialize");
    return;
  }
  if (last.n && channel_resume(call->server->hub, call, head.session, last))
    return;
  struct channel_options options = {
      .session = head.session, .listening = true, .primed = str_is(head.version, "2025-11-25")};
  struct mcp_channel *c = channel_new(call->server->hub, call, &options);
  if (!c) {
    reply_no_memory(call);
    return;
  }
  struct mcp_reply reply = {0};
  mcp_listen(call->server->mcp, &sender, &head, channel_out(c), &reply);
  channel_finish(c, &reply);
}

void mcp_delete(struct http_call *call) {
  struct mcp_sender sender;
  struct mcp_head head = head_of(call);
  if (!legacy_only(call, &head) || !sender_of(call, &sender))
    return;
  int status = mcp_end_session(call->server->mcp, &sender, &head);
  if (status < 400) {
    channels_close(call->server->hub, head.session);
    http_reply_text(call, status, NULL, STR(""));
  } else {
    http_reply_problem_status(call, status, status == 404 ? "Not Found" : "Bad Request",
                              status == 404 ? "there is no such session" : "the Mcp-Session-Id header is missing");
  }
}
