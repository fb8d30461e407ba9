/* authenticate.h: who calls, when a door has verified it: the bearer of a token.
 *
 * A principal is made from what the store knows of a token, or from what an issuer has signed, never from an argument.
 * Its team is the team of every call that it makes; roles.h turns the rest into the reach of the call. Without a
 * principal the caller is who started the process: the local user, or the agent that the process is bound to. */
#pragma once

#include "op/run/engine.h"

struct principal {
  struct str name; /* for the log and for grants: "token:ci-bot", "oauth:alice" */
  struct str team;
  enum role role;
  struct strs projects; /* of ROLE_PROJECT, at least one */
  bool read_only;
  struct str profile; /* the MCP tools that it is offered, whatever path it comes by; absent: as the server says */
  int64_t expires_at; /* 0: never */
  struct str token;   /* the id of its row, by which a revocation is noticed while a stream is open; absent: no row */
};

/* The bearer of a token. Whatever is wrong with it (unknown, malformed, expired, revoked, another secret) is one and
 * the same STATUS_UNKNOWN_CALLER; what is wrong with the store keeps its own status. Lives in `a`. */
NODISCARD enum status identity_of_token(struct engine *engine, struct str token, struct arena *a,
                                        struct principal *ret_principal, struct error *err);

/* Valid as long as the principal is. */
struct reach principal_reach(const struct principal *p);
/* Whether it is still what it was, for what stays open behind a call. */
NODISCARD enum status principal_is_live(struct store *st, const struct principal *p, int64_t now, bool *ret_live,
                                        struct error *err);
/* A copy that outlives the call, for mem_free(); NULL without memory. */
struct principal *principal_keep(const struct principal *p);
