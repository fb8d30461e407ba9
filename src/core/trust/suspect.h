/* suspect.h: detector of prompt injection in stored text.
 *
 * Memories legitimately say what to do ("Never force-push to main"), so an imperative does not count. The findings are
 * typical of injections: revoking earlier instructions, assigning another role, secrecy from the user, imitated tags
 * and tool calls, hidden text, exfiltration, remote code, checks that stay off. Each finding has a stable name and a
 * weight; a text is suspect if the sum of the weights is high enough. Evasions (case, look-alike letters, digits for
 * letters, s p a c i n g, invisible characters, base64) are undone first.
 *
 * Pure and deterministic; takes linear time. A suspect text is labeled and needs promotion by a person. The result is
 * not a proof in either direction: docs/security.md has the detection rates. */
#pragma once

#include "core/memory/memory.h"

/* Version of the rules. Increment it if their findings change, so stored texts are checked again. Texts older than
 * version 1 were never checked. */
enum { SUSPECT_VERSION = 5 };

/* Names of the findings, separated by blanks ("override secrecy"); absent if the text is not suspect. */
struct str suspect_text(struct arena *a, struct str text);
/* Checks everything that readers of a memory see: headline, body, other text fields, lists. */
struct str suspect_memory(struct arena *a, const struct memory *m);
