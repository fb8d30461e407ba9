/* libpq.h: libpq, loaded when a server store is first used.
 *
 * Linking it would load TLS, Kerberos and LDAP libraries at every start, even if the store is a file. So it is loaded
 * by name, and only its headers are needed to build. */
#pragma once

#include <libpq-fe.h>

#include "base/error.h"

/* Functions used: return type, name without "PQ", parameters. */
#define LIBPQ_FUNCTIONS(X)                                                                                             \
  X(PQconninfoOption *, conninfoParse, (const char *conninfo, char **ret_message))                                     \
  X(void, conninfoFree, (PQconninfoOption * options))                                                                  \
  X(PGconn *, connectStartParams, (const char *const *names, const char *const *values, int expand_dbname))            \
  X(PostgresPollingStatusType, connectPoll, (PGconn * conn))                                                           \
  X(PGconn *, connectdbParams, (const char *const *names, const char *const *values, int expand_dbname))               \
  X(void, finish, (PGconn * conn))                                                                                     \
  X(ConnStatusType, status, (const PGconn *conn))                                                                      \
  X(PGTransactionStatusType, transactionStatus, (const PGconn *conn))                                                  \
  X(const char *, parameterStatus, (const PGconn *conn, const char *name))                                             \
  X(int, serverVersion, (const PGconn *conn))                                                                          \
  X(int, backendPID, (const PGconn *conn))                                                                             \
  X(int, socket, (const PGconn *conn))                                                                                 \
  X(char *, errorMessage, (const PGconn *conn))                                                                        \
  X(char *, user, (const PGconn *conn))                                                                                \
  X(char *, db, (const PGconn *conn))                                                                                  \
  X(char *, pass, (const PGconn *conn))                                                                                \
  X(PGVerbosity, setErrorVerbosity, (PGconn * conn, PGVerbosity verbosity))                                            \
  X(PQnoticeReceiver, setNoticeReceiver, (PGconn * conn, PQnoticeReceiver receiver, void *arg))                        \
  X(int, setnonblocking, (PGconn * conn, int on))                                                                      \
  X(int, enterPipelineMode, (PGconn * conn))                                                                           \
  X(int, exitPipelineMode, (PGconn * conn))                                                                            \
  X(int, pipelineSync, (PGconn * conn))                                                                                \
  X(int, flush, (PGconn * conn))                                                                                       \
  X(int, consumeInput, (PGconn * conn))                                                                                \
  X(int, isBusy, (PGconn * conn))                                                                                      \
  X(PGnotify *, notifies, (PGconn * conn))                                                                             \
  X(void, freemem, (void *memory))                                                                                     \
  X(PGresult *, exec, (PGconn * conn, const char *sql))                                                                \
  X(int, sendPrepare, (PGconn * conn, const char *name, const char *sql, int n, const Oid *types))                     \
  X(int, sendQueryPrepared,                                                                                            \
    (PGconn * conn, const char *name, int n, const char *const *values, const int *lengths, const int *formats,        \
     int binary))                                                                                                      \
  X(int, sendQueryParams,                                                                                              \
    (PGconn * conn, const char *sql, int n, const Oid *types, const char *const *values, const int *lengths,           \
     const int *formats, int binary))                                                                                  \
  X(PGresult *, getResult, (PGconn * conn))                                                                            \
  X(ExecStatusType, resultStatus, (const PGresult *result))                                                            \
  X(char *, resultErrorField, (const PGresult *result, int field))                                                     \
  X(char *, resultErrorMessage, (const PGresult *result))                                                              \
  X(char *, cmdStatus, (PGresult * result))                                                                            \
  X(char *, cmdTuples, (PGresult * result))                                                                            \
  X(int, ntuples, (const PGresult *result))                                                                            \
  X(int, nfields, (const PGresult *result))                                                                            \
  X(Oid, ftype, (const PGresult *result, int column))                                                                  \
  X(int, getisnull, (const PGresult *result, int row, int column))                                                     \
  X(int, getlength, (const PGresult *result, int row, int column))                                                     \
  X(char *, getvalue, (const PGresult *result, int row, int column))                                                   \
  X(void, clear, (PGresult * result))

struct libpq {
#define X(type, name, params) type(*name) params;
  LIBPQ_FUNCTIONS(X)
#undef X
};

/* Loads libpq once per process; thread-safe. It stays loaded. Returns STATUS_UNAVAILABLE if the library is missing or
 * too old. */
NODISCARD enum status libpq_open(const struct libpq **ret_pq, struct error *err);
