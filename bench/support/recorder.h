/* recorder.h: stands between the program and a server, passes everything on, and keeps the statements that an operation
 * sends, with their values; and sends them again, without the program.
 *
 * What is sent again is the floor of the operation: the same statements, prepared, with the same values, in the same
 * groups, so that there are as many round trips. Ids that the server has given in the recording are replaced by those
 * that it gives in the replay, and every uid by a new one, so that a write can be replayed. */
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
  int trip;      /* number of the round trip in which it went */
  bool answered; /* the first column of its first row is a bigint: */
  int64_t answer;
};

/* What one operation has sent. */
struct recording {
  struct recorded *v;
  size_t n, cap;
  int trips;
};

struct recorder;

/* Listens on a port of its own; connections to it reach `host`:`port`. */
struct recorder *recorder_start(const char *host, int port);
int recorder_port(const struct recorder *r);
/* From now on statements are kept, until the end. Kept things live in the arena. */
void recorder_begin(struct recorder *r, struct arena *a);
struct recording recorder_end(struct recorder *r);

/* ---- replay ---- */

struct replay;
struct replay *replay_open(const char *url);
/* As a team of the store, for row-level security: not timed. */
void replay_team(struct replay *p, const char *team);
void replay_run(struct replay *p, const struct recording *r);
int replay_backend(struct replay *p);
void replay_close(struct replay *p);
