/* message.h: reading and writing a transcript message, a line of JSON. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "core/secrets/redact.h"

enum speaker {
  SPEAKER_USER,
  SPEAKER_ASSISTANT,
  SPEAKER_SYSTEM,
  SPEAKER_TOOL_CALL,
  SPEAKER_TOOL_RESULT,
  SPEAKER_SUMMARY, /* replaces messages removed by compaction */
  SPEAKER_COUNT
};
extern const char *const speaker_names[SPEAKER_COUNT + 1]; /* "user", "assistant", ...; NULL-terminated */
bool speaker_parse(struct str name, enum speaker *ret_role);

/* Absent texts are not written. */
struct message {
  struct str id; /* shared by a tool call and its result; transcript_append() sets a missing one */
  enum speaker role;
  struct str name;    /* of the tool */
  struct str input;   /* of the tool: JSON text */
  struct str content; /* plain text */
  int64_t at;         /* ms; 0: transcript_append() sets the current time */
  struct str extra;   /* JSON object with unknown members of the line; absent if none */
  struct str raw;     /* the line that was read, without the newline */
  bool damaged;       /* the line is not a message; only raw is valid */
};
struct messages {
  struct message *v;
  size_t n, cap;
};

/* Parses a line: a JSON object with a role and content, name or input. Content other than a string is kept as JSON. */
NODISCARD enum status message_read(struct arena *a, struct str line, struct message *ret_message, struct error *err);
/* The line of a message, without the newline. */
struct str message_line(struct arena *a, const struct message *m);
/* Estimated tokens of content, name, input and overhead; for thresholds. */
size_t message_tokens(const struct message *m);
/* Redacts secrets in all texts, including input and extra; returns the number of secrets. */
int64_t message_redact(struct arena *a, const struct redactor *what, struct message *m);
