/* games.h: the torture test's stores, on the engine under test, and what else is disturbed there. */
#pragma once

#include "support/torture.h"

/* On the test's store of this name. */
struct torture game(const char *name, int seconds);
/* On PostgreSQL: the game moves to a database on a server of its own, whose connections are cut and which crashes in
 * the middle; where no server can be started, connections on that of the run are cut. In a file there is nothing more
 * to disturb. */
void game_disturb(struct torture *t);
/* Where stores that nobody has created yet are. */
const char *(*game_new_place(void))(int round);
