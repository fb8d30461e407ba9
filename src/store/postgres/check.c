/* check.c: doctor's checks of a store in PostgreSQL. */
#include "store/engine.h"

/* Finds incomplete indexes, unvalidated constraints and disabled rules. */
static enum status check_schema(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  return check_count(st,
                     "SELECT (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
                     " WHERE c.relnamespace = 'cairn'::regnamespace AND NOT i.indisvalid)"
                     " + (SELECT count(*) FROM pg_constraint k WHERE k.connamespace = 'cairn'::regnamespace"
                     " AND NOT k.convalidated)"
                     " + (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
                     " WHERE c.relnamespace = 'cairn'::regnamespace AND t.tgenabled = 'D')",
                     "indexes, constraints or triggers of the schema are invalid or disabled", a, ret_fault, err);
}

/* Checks the sums that triggers maintain. */
static enum status check_counts(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  return check_count(st,
                     "/* all teams: doctor */ "
                     "SELECT (SELECT count(*) FROM chunk_count n FULL JOIN (SELECT team, count(*) AS n FROM chunk"
                     " GROUP BY team) c ON c.team = n.team WHERE coalesce(n.n, 0) <> coalesce(c.n, 0))"
                     " + (SELECT count(*) FROM vec_count n FULL JOIN (SELECT team, model, count(*) AS n FROM vec"
                     " GROUP BY team, model) v ON v.team = n.team AND v.model = n.model"
                     " WHERE coalesce(n.n, 0) <> coalesce(v.n, 0))",
                     "sums of chunks or vectors do not match their rows", a, ret_fault, err);
}

static enum status check_row_security(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  int64_t above;
  TRY(db_int(st->db, &above, NULL, err,
             "SELECT CASE WHEN rolsuper OR rolbypassrls THEN 1 ELSE 0 END FROM pg_roles"
             " WHERE rolname = current_user",
             NULL));
  if (above) {
    *ret_fault = STR("this user bypasses row-level security: teams are isolated only by the statements");
    return STATUS_OK;
  }
  return check_count(st,
                     "SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'cairn'::regnamespace"
                     " AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND"
                     " c.relforcerowsecurity) AND EXISTS (SELECT 1 FROM pg_attribute t"
                     " WHERE t.attrelid = c.oid AND t.attname = 'team')"
                     " AND c.relname !~ '^(chunk_text(_p[0-9]+)?|term_count)$'",
                     "team tables have no row-level security", a, ret_fault, err);
}

/* Is pgvector new enough for the searches? A server can be downgraded. */
static enum status check_extensions(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  struct rows r;
  bool fine = false;
  struct str version = STR("none");
  db_query(st->db, &r, err,
           "SELECT extversion, CASE WHEN split_part(extversion, '.', 1)::int > 0"
           " OR split_part(extversion, '.', 2)::int >= 8 THEN 1 ELSE 0 END FROM pg_extension WHERE extname = 'vector'",
           NULL);
  if (rows_next(&r)) {
    version = rows_dup(&r, 0, a);
    fine = rows_int(&r, 1);
  }
  TRY(rows_end(&r));
  *ret_fault = fine ? STR("") : arena_printf(a, "pgvector 0.8 or newer is needed, not %.*s", STR_ARG(version));
  return STATUS_OK;
}

#define ASK_ADMIN "ask an administrator; a pg_dump copy may have been restored only in part"

const struct named_check postgres_checks[] = {
    {"schema", ASK_ADMIN, check_schema},
    {"extensions", "ask an administrator to run ALTER EXTENSION vector UPDATE; in the database", check_extensions},
    {"row_security", "connect as the ordinary user that owns the schema 'cairn', not as an administrator",
     check_row_security},
    {"full_text", "run 'cairn doctor --repair' to rebuild the index from the texts", check_full_text},
    {"vectors", "run 'cairn doctor --repair' to repair it; 'cairn maintain' embeds lost vectors again", check_vectors},
    {"counts", "run 'cairn doctor --repair' to recount", check_counts},
    {"texts", ASK_ADMIN, check_chunks},
    {"chains", ASK_ADMIN, check_chains},
    {0},
};
