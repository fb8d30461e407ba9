/* check_postgres.c: to be written. */
#include "store/engine.h"

const struct named_check postgres_checks[] = {{0}};
