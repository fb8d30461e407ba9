/* postgres.c: to be written. */
#include "store/db_driver.h"

static enum status open_connection(const struct db_options *o UNUSED, struct db **ret_db UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

const struct db_driver postgres_driver = {.engine = DB_POSTGRES, .open = open_connection};
