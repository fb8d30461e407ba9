/* builtin.c: embedders that run an encoder in this process: tokenise, encode, quantise. */
#include "embed/builtin.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "embed/encoder/encoder.h"
#include "embed/encoder/wordpiece.h"
#include "embed/vec.h"

/* Texts per encoder run; bounds the memory of a call. */
enum { CHUNK_TEXTS = 512 };

struct state {
  struct embedder embedder;
  struct model model;
  struct wordpiece vocabulary;
  const struct kernel *kernel;
};

static void tokenise(const struct state *s, struct arena *a, enum embed_use use, struct str text,
                     struct encoder_text *ret_text) {
  struct str prefix = use == EMBED_QUERY ? s->model.query_prefix : s->model.text_prefix;
  if (prefix.n)
    text = arena_printf(a, "%.*s%.*s", STR_ARG(prefix), STR_ARG(text));
  int32_t *ids = arena_alloc(a, (size_t)s->model.shape.max_tokens * sizeof(*ids));
  wordpiece_ids(&s->vocabulary, a, text, s->model.shape.max_tokens, ids, &ret_text->n);
  assert(ret_text->n <= (size_t)s->model.shape.max_tokens);
  ret_text->ids = ids;
}

static enum status embed_chunk(const struct state *s, struct arena *a, enum embed_use use, const struct str *texts,
                               size_t n, int8_t *ret_vectors, struct error *err) {
  size_t dims = (size_t)s->model.shape.dims;
  assert(n > 0 && n <= CHUNK_TEXTS);
  struct encoder_text *tokens = arena_array(a, struct encoder_text, n);
  for (size_t i = 0; i < n; i++)
    tokenise(s, a, use, texts[i], &tokens[i]);
  float *vectors = arena_alloc(a, arena_mul(a, n * dims, sizeof(float)));
  TRY(encoder_run(&s->model, a, &(struct encoder_input){.texts = tokens, .n = n, .kernel = s->kernel}, vectors, err));
  for (size_t i = 0; i < n; i++)
    vec_quantise(vectors + i * dims, (int)dims, ret_vectors + i * dims);
  return STATUS_OK;
}

static enum status embed(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts,
                         size_t n, int8_t *ret_vectors, struct error *err) {
  assert(e->dims == ((const struct state *)e->state)->model.shape.dims);
  for (size_t i = 0; i < n; i += CHUNK_TEXTS) {
    struct arena *scratch = arena_child(a);
    enum status s = embed_chunk(e->state, scratch, use, texts + i, n - i < CHUNK_TEXTS ? n - i : CHUNK_TEXTS,
                                ret_vectors + i * (size_t)e->dims, err);
    arena_release(scratch);
    TRY(s);
  }
  return STATUS_OK;
}

const struct model *embedder_model(const struct embedder *e) {
  const struct state *s = e->state;
  return e->embed == embed ? &s->model : NULL;
}

/* Sets up the vocabulary, kernel and embedder of an open model. */
static enum status init_embedder(struct state *s, struct error *err) {
  TRY(wordpiece_init(&s->vocabulary, s->model.vocabulary, err));
  if (s->vocabulary.count > s->model.shape.vocab)
    return error_set(err, STATUS_CORRUPT, "the model's vocabulary has %d entries, but its word table has %d",
                     s->vocabulary.count, s->model.shape.vocab);
  s->kernel = kernel_best();
  s->embedder = (struct embedder){.model = s->model.name,
                                  .dims = s->model.shape.dims,
                                  .calibration = &s->model.calibration,
                                  .embed = embed,
                                  .state = s};
  return STATUS_OK;
}

#ifdef CAIRN_MODEL_FILE
__asm__(".pushsection .rodata\n.balign 64\n.global cairn_builtin_model\n.global cairn_builtin_model_end\n"
        "cairn_builtin_model:\n.incbin \"" CAIRN_MODEL_FILE "\"\ncairn_builtin_model_end:\n.byte 0\n.popsection\n");
extern const char cairn_builtin_model[] __attribute__((visibility("hidden")));
extern const char cairn_builtin_model_end[] __attribute__((visibility("hidden")));

/* Set once per process, then read-only. */
static struct {
  struct state state;
  enum status status;
  struct error err;
} builtin;

static void open_builtin(void) {
  struct str bytes = {cairn_builtin_model, (size_t)(cairn_builtin_model_end - cairn_builtin_model)};
  builtin.status = model_file_open_trusted(bytes, &builtin.state.model, &builtin.err);
  if (builtin.status == STATUS_OK)
    builtin.status = init_embedder(&builtin.state, &builtin.err);
}

enum status embedder_builtin(const struct embedder **ret_embedder, struct error *err) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_builtin);
  if (builtin.status != STATUS_OK) {
    *err = builtin.err;
    return error_never_ok(builtin.status);
  }
  *ret_embedder = &builtin.state.embedder;
  return STATUS_OK;
}
#else
enum status embedder_builtin(const struct embedder **ret_embedder, struct error *err) {
  (void)ret_embedder;
  error_set(err, STATUS_NOT_FOUND, "this cairn was built without its embedding model");
  return error_fix(err, "Create model/cairn-embed-v2.cairn (see model/README.md) and build again.");
}
#endif

static void close_file(struct embedder *e) {
  struct state *s = e->state;
  munmap((void *)(uintptr_t)s->model.bytes.p, s->model.bytes.n);
  mem_free(s);
}

static enum status map_file(const char *path, struct str *ret_bytes, struct error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return error_errno(err, errno, "cannot open the model %s", path);
  struct stat st;
  void *p = MAP_FAILED;
  int failed = fstat(fd, &st) != 0 ? errno : 0;
  if (!failed && (!S_ISREG(st.st_mode) || st.st_size < MODEL_HEADER_SIZE)) {
    close(fd);
    return error_set(err, STATUS_CORRUPT, "%s is not a Cairn model file", path);
  }
  if (!failed && (p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
    failed = errno;
  close(fd);
  if (failed)
    return error_errno(err, failed, "cannot read the model %s", path);
  *ret_bytes = (struct str){p, (size_t)st.st_size};
  return STATUS_OK;
}

static enum status open_mapped(struct state *s, struct str bytes, struct error *err) {
  if (!s)
    return error_set(err, STATUS_NOMEM, "out of memory");
  TRY(model_file_open(bytes, &s->model, err));
  return init_embedder(s, err);
}

enum status embedder_file_open(const char *path, struct embedder **ret_embedder, struct error *err) {
  struct str bytes;
  TRY(map_file(path, &bytes, err));
  struct state *s = mem_zalloc(sizeof(*s));
  enum status status = open_mapped(s, bytes, err);
  if (status != STATUS_OK) {
    munmap((void *)(uintptr_t)bytes.p, bytes.n);
    mem_free(s);
    return status;
  }
  s->embedder.close = close_file;
  *ret_embedder = &s->embedder;
  return STATUS_OK;
}

enum status embedder_bytes_open(struct arena *a, struct str bytes, const struct embedder **ret_embedder,
                                struct error *err) {
  struct state *s = arena_array(a, struct state, 1);
  char *copy = arena_alloc(a, bytes.n + MODEL_ALIGN);
  copy += -(uintptr_t)copy % MODEL_ALIGN;
  memcpy(copy, bytes.p, bytes.n);
  TRY(model_file_open_trusted((struct str){copy, bytes.n}, &s->model, err));
  TRY(init_embedder(s, err));
  *ret_embedder = &s->embedder;
  return STATUS_OK;
}
