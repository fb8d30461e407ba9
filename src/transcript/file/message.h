/* message.h: one message of a transcript: a line of JSON, read and written. */
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
  SPEAKER_SUMMARY, /* stands for messages that compaction has taken out */
  SPEAKER_COUNT
};
extern const char
    *const speaker_names[SPEAKER_COUNT + 1]; /* "user", "assistant", "system", "tool_call", ...; NULL at the end */
bool speaker_parse(struct str name, enum speaker *ret_role);

/* Texts that are absent are not written. */
struct message {
  struct str id; /* the call of a tool and its result share one; absent: transcript_append() makes one */
  enum speaker role;
  struct str name;    /* of the tool */
  struct str input;   /* of the tool: JSON text */
  struct str content; /* plain text */
  int64_t at;         /* ms; 0: transcript_append() takes the present */
  struct str extra;   /* a JSON object with further members of the line, which are kept as they are; absent: none */
  struct str raw;     /* of a message that was read: its line, without the line end */
  bool damaged;       /* of a line that was read: it is no message, and only raw means something */
};
struct messages {
  struct message *v;
  size_t n, cap;
};

/* Reads a line: a JSON object with a role and content, name or input. Content that is no text is taken as its JSON
 * text. What is wrong is said in one sentence. */
NODISCARD enum status message_read(struct arena *a, struct str line, struct message *ret_message, struct error *err);
/* The line of a message, without a line end. */
struct str message_line(struct arena *a, const struct message *m);
/* An estimate, for thresholds: of content, name and input, and a few for the message itself. */
size_t message_tokens(const struct message *m);
/* Takes secrets out of every text of it, those inside input and extra too; returns how many there were. */
int64_t message_redact(struct arena *a, const struct redactor *what, struct message *m);
