/* statement_check.h: checks from its text that a statement stays within one team, on both engines.
 *
 * Every table with a column `team`, under each alias in the statement, must be bound to one team: its team is
 * compared with a bound value or with the team of a bound table. In SQLite, ids are unique and foreign keys contain
 * the team, so a row joined by the id of a memory or of a chunk is bound with it.
 *
 * A statement about the whole store begins with a comment that says so: all teams, a colon, the reason. Such a
 * comment on a bound statement is an error, too.
 *
 * Linked into the tests and into the program of test builds. With CAIRN_CHECK_STATEMENTS in the environment every
 * statement is checked before it runs, and an unbound statement aborts the process. */
#pragma once

#include "store/db/db.h"

/* The first error in a list of statements; absent if there is none. */
struct str statement_fault(struct arena *a, struct str sql, enum db_engine engine);

/* The tables of the statement that have a team. */
void statement_tables(struct arena *a, struct str sql, struct strs *ret_names);

/* Tables with a column `team` that are not in tables.h, because the engines create them; ends with NULL. */
extern const char *const engine_tables[];
