/* pair.c: the cross-encoder: tokenise both texts into one sequence, encode, compare the answers. */
#include "embed/pair.h"

#include <assert.h>
#include <pthread.h>

#include "embed/builtin.h"
#include "embed/encoder/encoder.h"
#include "embed/encoder/wordpiece.h"

/* Order of the answers in the model's output. */
enum { ANSWER_COMPATIBLE, ANSWER_SAME, ANSWER_CONTRADICTION, ANSWERS };

#ifdef CAIRN_PAIR_FILE
__asm__(".pushsection .rodata\n.balign 64\n.global cairn_pair_model\n.global cairn_pair_model_end\n"
        "cairn_pair_model:\n.incbin \"" CAIRN_PAIR_FILE "\"\ncairn_pair_model_end:\n.byte 0\n.popsection\n");
extern const char cairn_pair_model[] __attribute__((visibility("hidden")));
extern const char cairn_pair_model_end[] __attribute__((visibility("hidden")));

bool pair_is_built_in(void) { return true; }

/* Set once per process, then read-only. */
static struct {
  struct model model;
  struct wordpiece vocabulary;
  enum status status;
  struct error err;
} pair;

static enum status open_model(struct error *err) {
  struct str bytes = {cairn_pair_model, (size_t)(cairn_pair_model_end - cairn_pair_model)};
  const struct embedder *e = NULL;
  TRY(embedder_builtin(&e, err));
  TRY(model_file_open_trusted(bytes, &pair.model, err));
  const struct model *words = embedder_model(e);
  assert(words->shape.hidden == pair.model.shape.hidden && pair.model.shape.dims == ANSWERS);
  pair.model.words = words->words;
  pair.model.word_scale = words->word_scale;
  pair.model.shape.vocab = words->shape.vocab;
  return wordpiece_init(&pair.vocabulary, words->vocabulary, err);
}

static void open_once(void) { pair.status = open_model(&pair.err); }

static enum status open_pair(struct error *err) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_once);
  if (pair.status != STATUS_OK) {
    *err = pair.err;
    return error_never_ok(pair.status);
  }
  return STATUS_OK;
}

/* [CLS] first [SEP] second [SEP] */
static struct encoder_text join(struct arena *a, struct str first, struct str second) {
  int32_t *ids = arena_array(a, int32_t, 2 * (PAIR_TOKENS + 2));
  size_t n, more;
  wordpiece_ids(&pair.vocabulary, a, first, PAIR_TOKENS + 2, ids, &n);
  wordpiece_ids(&pair.vocabulary, a, second, PAIR_TOKENS + 2, ids + n, &more);
  memmove(ids + n, ids + n + 1, (more - 1) * sizeof(*ids)); /* only the first text has a [CLS] */
  return (struct encoder_text){.ids = ids, .n = n + more - 1, .second = n};
}

enum status pair_compare(struct arena *a, struct str text, const struct str *others, size_t n, bool *ret_contradicts,
                         struct error *err) {
  TRY(open_pair(err));
  if (n == 0)
    return STATUS_OK;
  struct arena *scratch = arena_child(a);
  struct encoder_text *texts = arena_array(scratch, struct encoder_text, n);
  float *answers = arena_array(scratch, float, n *ANSWERS);
  for (size_t i = 0; i < n; i++)
    texts[i] = join(scratch, others[i], text);
  enum status s = encoder_run(&pair.model, scratch, &(struct encoder_input){.texts = texts, .n = n}, answers, err);
  for (size_t i = 0; i < n && s == STATUS_OK; i++) {
    const float *z = answers + i * ANSWERS;
    ret_contradicts[i] = z[ANSWER_CONTRADICTION] > z[ANSWER_SAME] && z[ANSWER_CONTRADICTION] > z[ANSWER_COMPATIBLE];
  }
  arena_release(scratch);
  return s;
}
#else
bool pair_is_built_in(void) { return false; }

enum status pair_compare(struct arena *a, struct str text, const struct str *others, size_t n, bool *ret_contradicts,
                         struct error *err) {
  (void)a, (void)text, (void)others, (void)n, (void)ret_contradicts;
  return error_set(err, STATUS_NOT_FOUND, "this cairn was built without its model of contradictions");
}
#endif
