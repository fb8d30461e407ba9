/* authenticate.h: verified callers: turns a token into the principal that makes the call.
 *
 * A principal is made from the row of a token or from an identity provider's signed token, never from an argument.
 * Its team is the team of all its calls; roles.h turns the rest into what the call can reach. Without a principal the
 * caller is the one that started the process: the local user, or the agent that the process is bound to. */
#pragma once

#include "op/run/engine.h"

struct principal {
  struct str name; /* for the log and for grants: "token:ci-bot", "oauth:alice" */
  struct str team;
  enum role role;
  struct strs projects; /* of ROLE_PROJECT, at least one */
  bool read_only;
  struct str profile; /* MCP tool profile, for every endpoint; absent: the server's */
  int64_t expires_at; /* 0: never */
  struct str token;   /* id of its row, to notice a revocation while a stream is open; absent: no row */
};

/* This profile promises a read-only caller, so it is one on every interface. */
#define PROFILE_READ_ONLY "readonly"

/* Looks up a token. An unknown, malformed, expired or revoked token, or a wrong secret, is always the same
 * STATUS_UNKNOWN_CALLER; errors of the store keep their status. The principal lives in `a`. */
NODISCARD enum status authenticate_token(struct engine *engine, struct str token, struct arena *a,
                                         struct principal *ret_principal, struct error *err);

/* Valid as long as the principal is. */
struct reach principal_reach(const struct principal *p);
/* True unless it has expired or was revoked; for streams that stay open after a call. */
NODISCARD enum status principal_is_live(struct store *st, const struct principal *p, int64_t now, bool *ret_live,
                                        struct error *err);
/* Copy in one allocation, for mem_free(); NULL if out of memory. */
struct principal *principal_dup(const struct principal *p);
