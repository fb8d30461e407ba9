/* databases.h: databases on a PostgreSQL server, made for a time and dropped again. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* The same server and the same user, another database. */
struct str database_url(struct arena *a, struct str url, struct str name);
/* An empty one beside the database that the URL names; `name` is of letters, digits and '_'. */
NODISCARD enum status database_create(const char *url, struct str name, struct error *err);
/* With all that is in it, whoever uses it. One that is not there is no error. */
NODISCARD enum status database_drop(const char *url, struct str name, struct error *err);
