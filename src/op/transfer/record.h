/* record.h: records of an export: one JSON object per line; see docs/export-format.md.
 *
 * Pure: no store, no clock. record_read() accepts what record_write() writes, and writing it again gives the same
 * bytes.
 */
#pragma once

#include "store/copy/transfer.h"

struct redactor;

enum { EXPORT_VERSION = 1 };

/* In the order in which an import stores them; an export writes tombstones after links. */
enum record_kind {
  RECORD_HEADER,
  RECORD_TOMBSTONE,
  RECORD_MEMORY,
  RECORD_LINK,
  RECORD_TXN,
  RECORD_EVENT,
  RECORD_KINDS
};

struct record {
  enum record_kind kind;
  int64_t version, schema; /* of a header */
  struct memory m;
  struct notes notes;
  struct link link; /* by src_uid and dst_uid; prior is JSON */
  struct tombstone tombstone;
  struct txn_record txn;
  struct event_record event;
};

/* Compact JSON on one line, without its line end. */
struct str record_write(struct arena *a, const struct record *r);

/* Reads one line strictly: one object, known members only, none twice, each of its type. Texts may point into the
 * parsed document, which lives in the arena. A header of a newer version is STATUS_SCHEMA. */
NODISCARD enum status record_read(struct arena *a, struct str line, struct record *ret_record, struct error *err);

/* Checks that the record can be stored: enumerations, dependent fields, the gate's rules for texts. */
NODISCARD enum status record_check(struct arena *a, const struct record *r, struct error *err);

/* Redacts and counts the secrets in its texts, or refuses them. */
NODISCARD enum status record_scrub(struct arena *a, struct record *r, const struct redactor *what, bool redact,
                                   int64_t *count, struct error *err);
