/* recorder.h: a proxy between the program and a server that records the statements of an operation with their
 * values, and replays them without the program.
 *
 * The replay is the floor of the operation: the same prepared statements with the same values, in the same groups,
 * so that the number of round trips is the same. Ids that the server generated in the recording are replaced by
 * those of the replay, and every uid by a new one, so a write can be replayed. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "store/postgres/libpq.h"

enum { RECORDED_VALUES = 160 };

struct recorded_value {
  bool null, binary;
  struct str bytes;
};

struct recorded {
  struct str sql;
  Oid types[RECORDED_VALUES];
  struct recorded_value values[RECORDED_VALUES];
  int n;
  int trip;      /* number of its round trip */
  bool answered; /* the first column of its first row is a bigint, `answer` */
  int64_t answer;
};

/* The statements of one operation. */
struct recording {
  struct recorded *v;
  size_t n, cap;
  int trips;
};

struct recorder;

/* Listens on its own port; connections to it are forwarded to `host`:`port`. */
struct recorder *recorder_start(const char *host, int port);
int recorder_port(const struct recorder *r);
/* Records statements until recorder_end(). They live in the arena. */
void recorder_begin(struct recorder *r, struct arena *a);
struct recording recorder_end(struct recorder *r);

/* ---- replay ---- */

struct replay;
struct replay *replay_open(const char *url);
/* Sets the team for row-level security; not timed. */
void replay_team(struct replay *p, const char *team);
void replay_run(struct replay *p, const struct recording *r);
int replay_backend(struct replay *p);
void replay_close(struct replay *p);
