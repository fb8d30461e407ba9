/* wall.h: does a statement stay within one team? Read from its text, on both engines.
 *
 * Every table that has a column `team`, under each name that the statement gives it, must be held to one team: its team
 * is compared with a bound value or with the team of a table that is held. In a file, where ids are unique and foreign
 * keys carry the team, a row that is joined by the id of a memory or of a text is held with it.
 *
 * What is about the whole store begins with a comment that says so, and why: all teams, a colon, the reason. On a
 * statement that is held such a comment is wrong, too.
 *
 * The program does not need this; tests do. With CAIRN_WALL in the environment db.c reads every statement before it is
 * run, and one that is not held ends the process. */
#pragma once

#include "store/db/db.h"

/* What is wrong with the statement, or with one of several; absent: nothing. */
struct str wall_breach(struct arena *a, struct str sql, enum db_engine engine);

/* The tables with a team that it names. */
void wall_tables(struct arena *a, struct str sql, struct strs *ret_names);

/* For db.c: whether CAIRN_WALL is set, and the end of a process whose statement is not held. */
bool wall_asked(void);
void wall_hold(const char *sql, enum db_engine engine);

/* Tables with a column `team` that tables.h does not list, because the engines make them; ends with NULL. */
extern const char *const walled_derived[];
