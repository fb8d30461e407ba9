/* statement_check.h: checks from its text that a statement stays within one team, on both engines.
 *
 * Every table with a column `team`, under each alias in the statement, must be bound to one team: its team is compared
 * with a bound value or with the team of a table that is bound. In a file, where ids are unique and foreign keys
 * contain the team, a row joined by the id of a memory or of a chunk is bound with it.
 *
 * A statement about the whole store begins with a comment that says so: all teams, a colon, the reason. On a statement
 * that is bound, such a comment is an error, too.
 *
 * Linked into the tests and into the program of test builds. With CAIRN_CHECK_STATEMENTS in the environment every
 * statement is checked before it runs, and one that is not bound ends the process. */
#pragma once

#include "store/db/db.h"

/* What is wrong with the statement, or with one of several; absent: nothing. */
struct str statement_fault(struct arena *a, struct str sql, enum db_engine engine);

/* The tables with a team that it names. */
void statement_tables(struct arena *a, struct str sql, struct strs *ret_names);

/* Tables with a column `team` that tables.h does not list, because the engines make them; ends with NULL. */
extern const char *const engine_tables[];
