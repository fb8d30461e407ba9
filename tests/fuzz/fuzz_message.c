/* fuzz_message.c: a line that parses as a message survives a write and a second read unchanged; summaries of any
 * text are within the limit. */
#include "core/secrets/redact.h"
#include "core/text/token_count.h"
#include "support/fuzz.h"
#include "transcript/file/message.h"
#include "transcript/file/summary.h"

static void check_same(const struct message *x, const struct message *y) {
  FUZZ_CHECK(x->role == y->role && x->at == y->at);
  FUZZ_CHECK(str_eq(x->id, y->id) && str_eq(x->name, y->name) && str_eq(x->content, y->content));
  FUZZ_CHECK(str_eq(x->input, y->input) && str_eq(x->extra, y->extra));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size};
  struct message m, again;
  struct error err;
  struct arena a;
  arena_init(&a);
  if (message_read(&a, text, &m, &err) == STATUS_OK) {
    struct str line = message_line(&a, &m);
    FUZZ_CHECK(memchr(line.p, '\n', line.n) == NULL);
    FUZZ_CHECK(message_read(&a, line, &again, &err) == STATUS_OK);
    check_same(&m, &again);
    FUZZ_CHECK(message_redact(&a, NULL, &again) >= 0);
    struct message clean = again;
    FUZZ_CHECK(message_redact(&a, NULL, &again) == 0);
    check_same(&clean, &again);
    line = message_line(&a, &clean);
    FUZZ_CHECK(message_read(&a, line, &again, &err) == STATUS_OK);
  } else {
    m = (struct message){.id = STR("x"), .role = SPEAKER_USER, .content = text};
  }
  struct str summary = summary_make(&a, &m, 1, 300);
  FUZZ_CHECK(tokens_estimate(summary) <= 300);
  arena_release(&a);
  return 0;
}
