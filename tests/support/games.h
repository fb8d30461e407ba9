/* games.h: the stores of the torture test on the engine under test, and what is disturbed there. */
#pragma once

#include "support/torture.h"

/* A torture test on the test's store of this name. */
struct torture game(const char *name, int seconds);
/* On PostgreSQL: moves the test to a database on its own server, whose connections are cut and which crashes during
 * the test. If no server can be started, connections on the run's server are cut. On SQLite: does nothing. */
void game_disturb(struct torture *t);
/* Returns the function that names stores to be created. */
const char *(*game_new_place(void))(int round);
