/* databases.h: temporary databases on a PostgreSQL server. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* Same server and user, another database. */
struct str database_url(struct arena *a, struct str url, struct str name);
/* Creates an empty database on the server of the URL; `name` consists of letters, digits and '_'. */
NODISCARD enum status database_create(const char *url, struct str name, struct error *err);
/* Drops it with all content, even if in use. A missing database is not an error. */
NODISCARD enum status database_drop(const char *url, struct str name, struct error *err);
