/* body.c: request bodies.
 *
 * Any body may contain a value for the vault, which is known only after it has arrived. So bodies are collected in
 * locked memory, up to the size that such a value can have, and wiped at the end. The library's buffers cannot be in
 * locked memory: they are overwritten as soon as their content is copied. */
#include <assert.h>
#include <sodium.h>

#include "base/alloc.h"
#include "base/secret_pool.h"
#include "http/internal.h"

enum { GROWTH = 4 };

static struct http_body allocate(struct http_exchange *x, size_t room) {
  struct secret_pool *pieces = x->daemon->pieces;
  char *piece = room <= SECRET_PIECE && pieces ? secret_pool_take(pieces) : NULL;
  if (piece)
    return (struct http_body){piece, SECRET_PIECE, BODY_PIECE};
  if (room <= MCP_GUARDED_MAX)
    return (struct http_body){mem_secret(room), room, BODY_SECRET};
  return (struct http_body){mem_alloc(room), room, BODY_PLAIN};
}

static void release(struct http_exchange *x, struct http_body *b) {
  switch (b->kind) {
  case BODY_PIECE:
    secret_pool_give(x->daemon->pieces, b->p, b->room);
    break;
  case BODY_SECRET:
    mem_secret_free(b->p);
    break;
  case BODY_PLAIN:
    sodium_memzero(b->p, b->room);
    mem_free(b->p);
    break;
  case BODY_NONE:
    break;
  }
  *b = (struct http_body){0};
}

/* Includes space for the terminating NUL. */
static bool grow(struct http_exchange *x, size_t kept, size_t needed) {
  assert(kept <= x->body.room && needed <= HTTP_BODY_MAX);
  size_t room = x->body.room ? x->body.room * GROWTH : SECRET_PIECE;
  while (room <= needed)
    room *= GROWTH;
  if (room > MCP_GUARDED_MAX && needed < MCP_GUARDED_MAX)
    room = MCP_GUARDED_MAX;
  assert(room > needed);
  struct http_body b = allocate(x, room);
  if (!b.p)
    return false;
  if (kept)
    memcpy(b.p, x->body.p, kept);
  release(x, &x->body);
  x->body = b;
  return true;
}

bool body_add(struct http_exchange *x, const char *data, size_t n) {
  assert(n > 0 && x->received >= n);
  size_t kept = x->received - n;
  if (x->received >= x->body.room && !grow(x, kept, x->received))
    return false;
  assert(x->received < x->body.room); /* the NUL fits, too */
  memcpy(x->body.p + kept, data, n);
  x->body.p[x->received] = 0;
  return true;
}

void body_release(struct http_exchange *x) { release(x, &x->body); }
