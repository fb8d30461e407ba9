/* fts.c: FTS5 for lexical search: tokeniser, row counts, and a custom auxiliary function that scores. */
#include "store/sqlite/fts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "core/text/terms.h"
#include "store/sqlite/internal.h"

/* Cache of recent frequencies, indexed by key modulo its size. It is large enough that words of a busy server rarely
 * collide; pages never written cost nothing. */
enum { REMEMBERED = 1 << 16 };
struct remembered {
  uint64_t key; /* hash of expression and version; 0: empty */
  double rows;
};

/* Cache of row lengths, which a search looks up by the hundred, for one version of the index: v[chunk id] is the length
 * plus 1, or 0 if unknown. */
enum { LENGTHS_LEAST = 1 << 12, LENGTHS_MOST = 1 << 22 };
struct lengths {
  uint64_t version;
  size_t n;
  uint32_t *v;
};

struct sqlite_fts {
  struct tokeniser *tokeniser;
  const struct fts_scan *scan; /* the active scan */
  double threshold;            /* rows that cannot exceed it are skipped */
  uint8_t tf[FTS_WEIGHED];     /* weighted frequencies in the last scored row */
  struct lengths lengths;
  struct remembered remembered[REMEMBERED];
};

/* ---- scoring ---- */

/* Encodes a weighted count in quarters, in one byte. */
static uint8_t packed(double tf) { return tf < 63 ? (uint8_t)(tf * 4) : 252; }
static double unpacked(uint8_t tf) { return tf / 4.0; }

static double score_of(const struct fts_scan *scan, const uint8_t *tf, double length) {
  double score = 0;
  for (size_t i = 0; i < scan->weighed; i++)
    if (tf[i])
      score += scan->idf[i] * bm25_part(unpacked(tf[i]), length / scan->totals.average);
  return score;
}

/* Counts each phrase in the row; returns the minimum row length that the positions imply. */
static int read_row(const Fts5ExtensionApi *api, Fts5Context *fts, const struct fts_scan *scan, uint8_t *tf) {
  int least = 0;
  memset(tf, 0, FTS_WEIGHED);
  for (size_t i = 0; i < scan->weighed; i++) {
    Fts5PhraseIter at;
    int column, offset;
    double sum = 0;
    if (api->xPhraseFirst(fts, (int)(scan->first + i), &at, &column, &offset) != SQLITE_OK)
      return 0;
    for (; column >= 0; api->xPhraseNext(fts, &at, &column, &offset)) {
      sum += column < BM25_COLUMNS ? bm25_weights[column] : 0;
      if (column < BM25_MEASURED && offset >= least)
        least = offset + 1;
    }
    tf[i] = packed(sum);
  }
  return least;
}

/* cairn_score(chunk_fts): upper bound of the row's score; NULL if too low. The row length is a lookup in another table,
 * which costs more than everything else here, so it is left for the best rows. */
static void score(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n UNUSED,
                  sqlite3_value **args UNUSED) {
  struct sqlite_fts *state = api->xUserData(fts);
  if (!state->scan)
    return;
  int least = read_row(api, fts, state->scan, state->tf);
  double most = score_of(state->scan, state->tf, least);
  if (most > state->threshold)
    sqlite3_result_double(ctx, most);
}

/* ---- derived terms ---- */

/* cairn_terms(project, headline, body, extra[, corpus]): for texts stored before derived terms existed, and for checks.
 * An arena that runs out of memory jumps to here. */
static void terms(sqlite3_context *ctx, int n, sqlite3_value **args) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom)) {
    sqlite3_result_error_nomem(ctx);
  } else {
    struct str text[5] = {0};
    for (int i = 0; i < n && i < (int)ARRAY_LEN(text); i++) {
      const void *p = sqlite3_value_text(args[i]);
      text[i] = (struct str){p ? p : "", (size_t)sqlite3_value_bytes(args[i])};
    }
    struct str all = terms_of_text(&a, text[4], text[0], text[1], text[2], text[3]);
    sqlite3_result_text64(ctx, all.p, all.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  arena_release(&a);
}

/* ---- registration ---- */

int sqlite_fts_open(sqlite3 *handle, struct sqlite_fts **ret) {
  struct sqlite_fts *fts = mem_zalloc(sizeof(*fts));
  if (!fts)
    return SQLITE_NOMEM;
  fts5_api *api = sqlite_fts_api(handle);
  int rc = api ? sqlite_tokeniser(handle, &fts->tokeniser) : SQLITE_ERROR;
  if (rc == SQLITE_OK)
    rc = api->xCreateFunction(api, "cairn_score", fts, score, NULL);
  for (int n = 4; rc == SQLITE_OK && n <= 5; n++)
    rc = sqlite3_create_function(handle, "cairn_terms", n, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                 terms, NULL, NULL);
  if (rc != SQLITE_OK)
    sqlite_fts_close(&fts);
  else
    *ret = fts;
  return rc;
}

void sqlite_fts_close(struct sqlite_fts **fts) {
  if (!*fts)
    return;
  tokeniser_close(&(*fts)->tokeniser);
  mem_free((*fts)->lengths.v);
  mem_free(*fts);
  *fts = NULL;
}

/* ---- tokens ---- */

enum status fts_tokenise(struct db *db, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                         struct error *err) {
  return tokenise(sqlite_fts_of(db)->tokeniser, text, a, ret_tokens, err);
}

void fts_quote(struct buf *b, struct str text) {
  buf_addc(b, '"');
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '"')
      buf_addc(b, '"');
    if (text.p[i]) /* an expression ends at a zero byte */
      buf_addc(b, text.p[i]);
  }
  buf_addc(b, '"');
}

/* ---- totals and frequencies ---- */

/* FTS5's variable-length integers: seven bits per byte, most significant first. */
static bool next_varint(struct str s, size_t *pos, double *ret) {
  uint64_t value = 0;
  for (int i = 0; i < 9 && *pos < s.n; i++) {
    unsigned char byte = (unsigned char)s.p[(*pos)++];
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) {
      *ret = (double)value;
      return true;
    }
  }
  return false;
}

/* The averages record holds the number of rows, then the words per column. The structure record holds a write counter.
 */
enum status fts_totals(struct db *db, struct fts_totals *ret_totals, struct error *err) {
  double rows = 0, words = 0, size = 0;
  uint64_t version = STR_HASH;
  bool sound = true;
  struct rows r;
  db_query(db, &r, err, "SELECT id, block FROM chunk_fts_data WHERE id IN (1, 10) ORDER BY id", NULL);
  while (rows_next(&r)) {
    struct str block = rows_text(&r, 1);
    size_t pos = 0;
    version = str_hash(version, block);
    if (rows_int(&r, 0) != 1 || block.n == 0)
      continue;
    sound = next_varint(block, &pos, &rows);
    for (int i = 0; sound && i < BM25_MEASURED; i++, words += size)
      sound = next_varint(block, &pos, &size);
  }
  TRY(rows_end(&r));
  if (!sound)
    return error_set(err, STATUS_CORRUPT, "the full-text index is damaged");
  *ret_totals = (struct fts_totals){rows, rows > 0 && words > 0 ? words / rows : 1, version};
  return STATUS_OK;
}

/* If there are more than FTS_EXACT rows, the rest is counted too if it is small, judged by the id range or by the
 * density of the first rows, up to COUNTED. Otherwise it is sampled in BLOCKS spread evenly over the ids: texts stored
 * together are about the same topic, so the first and last rows of a term do not tell how many lie between. FTS5 seeks
 * in a short list by reading it from the start, so counting it costs no more. */
enum { COUNTED = 8192, FEW = 3000, BLOCKS = 3, BLOCK_LEAST = 128, BLOCK_MOST = 4096, BLOCK_ROWS = 64 };

/* The first rows, up to FTS_EXACT. */
struct first {
  int64_t n, first, last;
};
static enum status count_first(struct db *db, struct str expression, struct first *ret, struct error *err) {
  struct rows r;
  struct first f = {0};
  db_query(db, &r, err,
           "SELECT count(*), min(id), max(id) FROM"
           " (SELECT rowid AS id FROM chunk_fts WHERE chunk_fts MATCH ?1 ORDER BY rowid LIMIT ?2)",
           "si", expression, (int64_t)FTS_EXACT);
  if (rows_next(&r))
    f = (struct first){rows_int(&r, 0), rows_int(&r, 1), rows_int(&r, 2)};
  *ret = f;
  return rows_end(&r);
}

/* Counts up to COUNTED. */
static enum status count_between(struct db *db, struct str expression, int64_t from, int64_t to, int64_t *ret_rows,
                                 struct error *err) {
  return db_int(db, ret_rows, NULL, err,
                "SELECT count(*) FROM"
                " (SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT ?4)",
                "siii", expression, from, to, (int64_t)COUNTED);
}

static enum status count_blocks(struct db *db, struct str expression, int64_t from, int64_t part, int64_t block,
                                int64_t *ret_rows, struct error *err) {
  int64_t sum = 0, n = 0;
  enum status s = STATUS_OK;
  from += (part - block) / 2;
  for (int i = 0; s == STATUS_OK && i < BLOCKS; i++, from += part, sum += n)
    s = count_between(db, expression, from, from + block - 1, &n, err);
  *ret_rows = sum;
  return s;
}

/* Estimates the rows after the first. If the density differs from the first rows, larger blocks are sampled. */
static enum status count_rest(struct db *db, struct str expression, const struct first *f, int64_t newest,
                              double *ret_rows, struct error *err) {
  enum status s = STATUS_OK;
  assert(f->n > 0 && newest > f->last);
  if (f->first < 1 || f->last - f->first < f->n - 1)
    return error_set(err, STATUS_CORRUPT, "the full-text index is damaged");
  int64_t from = f->last + 1, span = newest - f->last, apart = (f->last - f->first + 1) / f->n, n = 0;
  if (span <= COUNTED || span / apart <= FEW) {
    s = count_between(db, expression, from, newest, &n, err);
    *ret_rows = (double)n;
    if (s != STATUS_OK || n < COUNTED || span <= COUNTED)
      return s;
  }
  int64_t part = span / BLOCKS, most = part < BLOCK_MOST ? part : BLOCK_MOST, block = apart * BLOCK_ROWS;
  block = block < BLOCK_LEAST ? BLOCK_LEAST : block > most ? most : block;
  s = count_blocks(db, expression, from, part, block, &n, err);
  if (s == STATUS_OK && n < BLOCK_ROWS && block < most) {
    block = most;
    s = count_blocks(db, expression, from, part, block, &n, err);
  }
  *ret_rows = (double)n * (double)span / (double)(BLOCKS * block);
  return s;
}

static enum status count_rows(struct db *db, struct str expression, double *ret_rows, struct error *err) {
  struct first f = {0};
  int64_t newest = 0;
  double rest = 0;
  TRY(count_first(db, expression, &f, err));
  if (f.n >= FTS_EXACT)
    TRY(db_int(db, &newest, NULL, err, "/* all teams: one index of words */ SELECT max(id) FROM chunk", NULL));
  if (newest > f.last)
    TRY(count_rest(db, expression, &f, newest, &rest, err));
  *ret_rows = (double)f.n + rest;
  return STATUS_OK;
}

enum status fts_frequency(struct db *db, const struct fts_totals *totals, struct str expression, double *ret_rows,
                          struct error *err) {
  if (db_writing(db)) /* rows added in this transaction are not in the records yet */
    return count_rows(db, expression, ret_rows, err);
  uint64_t key = str_hash(totals->version, expression) | 1;
  struct remembered *known = &sqlite_fts_of(db)->remembered[(key >> 32) % REMEMBERED];
  if (known->key == key) {
    *ret_rows = known->rows;
    return STATUS_OK;
  }
  double rows;
  TRY(count_rows(db, expression, &rows, err));
  *known = (struct remembered){key, rows};
  *ret_rows = rows;
  return STATUS_OK;
}

enum status fts_probe(struct db *db, struct arena *a, struct error *err) {
  struct rows r;
  struct fts_tokens tokens = {0};
  int64_t id = 0, one = 0;
  bool found = true;
  struct str text = STR("");
  /* A transaction that holds new texts has this record only if there was none before. */
  db_query(db, &r, err,
           "/* all teams: one index of words */ "
           "SELECT id, headline FROM chunk WHERE id = (SELECT min(id) FROM chunk)"
           " AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held')",
           NULL);
  if (rows_next(&r)) {
    id = rows_int(&r, 0);
    text = rows_dup(&r, 1, a);
  }
  enum status s = rows_end(&r);
  if (s == STATUS_OK)
    s = fts_tokenise(db, text, a, &tokens, err);
  struct buf b = BUF(a);
  if (tokens.n)
    fts_quote(&b, str_slice(text, tokens.v[0].start, tokens.v[0].end));
  if (s == STATUS_OK && tokens.n)
    s = db_int(db, &one, &found, err, "SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ?1 AND rowid = ?2", "si",
               buf_str(&b), id);
  return s == STATUS_OK && !found ? error_set(err, STATUS_CORRUPT, "the full-text index is damaged") : s;
}

/* The initial content that FTS5 writes for a new index: no averages, a structure without segments, its version. */
enum status fts_reset(struct db *db, struct error *err) {
  sqlite3_db_config(sqlite_handle(db), SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
  enum status s = db_script(db, err,
                            "DELETE FROM chunk_fts_data; DELETE FROM chunk_fts_idx; DELETE FROM chunk_fts_docsize;"
                            "INSERT INTO chunk_fts_data (id, block) VALUES (1, x''), (10, x'00000000000000');"
                            "INSERT OR REPLACE INTO chunk_fts_config (k, v) VALUES ('version', 4)");
  sqlite3_db_config(sqlite_handle(db), SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  return s;
}

/* ---- search ---- */

static bool better(const struct fts_row *a, const struct fts_row *b) {
  return a->score > b->score || (a->score == b->score && a->chunk_id < b->chunk_id);
}

static int by_score(const void *a, const void *b) {
  const struct fts_row *x = a, *y = b;
  return better(x, y) ? -1 : better(y, x);
}

/* Min-heap: the root is the worst row kept. */
static void sink(struct fts_row *v, size_t n, size_t i) {
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && better(&v[child], &v[child + 1]))
      child++;
    if (!better(&v[i], &v[child]))
      return;
    struct fts_row t = v[i];
    v[i] = v[child];
    v[child] = t;
  }
}

static void keep(struct arena *a, struct fts_rows *rows, size_t most, const struct fts_row *row) {
  assert(rows->n <= most);
  if (rows->n < most) {
    list_push(a, rows, *row);
    if (rows->n == most)
      for (size_t i = most / 2; i-- > 0;)
        sink(rows->v, most, i);
  } else if (rows->n && better(row, &rows->v[0])) {
    rows->v[0] = *row;
    sink(rows->v, most, 0);
  }
}

static enum status scan_rows(struct db *db, const struct fts_scan *scan, struct arena *a, struct fts_rows *rows,
                             size_t *ret_seen, struct error *err) {
  struct sqlite_fts *fts = sqlite_fts_of(db);
  size_t seen = 0;
  assert(scan->weighed <= FTS_WEIGHED);
  struct rows r;
  fts->scan = scan;
  fts->threshold = 0;
  db_query(db, &r, err,
           scan->most
               ? "SELECT rowid, cairn_score(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ?1 ORDER BY rowid DESC"
               : "SELECT rowid, cairn_score(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ?1 ORDER BY rowid",
           "s", scan->expression);
  while ((scan->most == 0 || seen < scan->most) && rows_next(&r)) {
    seen++;
    if (rows_null(&r, 1))
      continue;
    struct fts_row row = {.chunk_id = rows_int(&r, 0), .score = rows_real(&r, 1)};
    memcpy(row.tf, fts->tf, sizeof(row.tf));
    keep(a, rows, scan->keep, &row);
    /* Rows come newest first; with equal scores the smaller id is better. */
    if (rows->n && rows->n == scan->keep && scan->most == 0)
      fts->threshold = rows->v[0].score;
  }
  fts->scan = NULL;
  *ret_seen = seen;
  return rows_end(&r);
}

/* Cache slot for the row's length; NULL if it is not worth the memory, or there is none. */
static uint32_t *length_place(struct lengths *kept, uint64_t version, int64_t chunk_id) {
  if (chunk_id < 0 || chunk_id >= LENGTHS_MOST)
    return NULL;
  if (kept->version != version && kept->n)
    memset(kept->v, 0, kept->n * sizeof(*kept->v));
  kept->version = version;
  if ((size_t)chunk_id >= kept->n) {
    size_t n = kept->n ? kept->n : LENGTHS_LEAST;
    while (n <= (size_t)chunk_id)
      n *= 2;
    uint32_t *grown = mem_realloc(kept->v, n * sizeof(*grown));
    if (!grown)
      return NULL;
    memset(grown + kept->n, 0, (n - kept->n) * sizeof(*grown));
    kept->v = grown;
    kept->n = n;
  }
  return &kept->v[chunk_id];
}

static enum status read_length(struct db *db, int64_t chunk_id, double *ret_length, struct error *err) {
  double size = 0, length = 0;
  size_t pos = 0;
  struct rows r;
  db_query(db, &r, err, "SELECT sz FROM chunk_fts_docsize WHERE id = ?1", "i", chunk_id);
  if (rows_next(&r)) {
    struct str sizes = rows_text(&r, 0);
    for (int i = 0; i < BM25_MEASURED && next_varint(sizes, &pos, &size); i++)
      length += size;
  }
  *ret_length = length;
  return rows_end(&r);
}

enum status fts_measure(struct db *db, const struct fts_scan *scan, struct fts_row *row, struct error *err) {
  uint32_t *known = NULL;
  double length;
  if (!db_writing(db)) /* as for frequencies */
    known = length_place(&sqlite_fts_of(db)->lengths, scan->totals.version, row->chunk_id);
  if (known && *known) {
    row->score = score_of(scan, row->tf, *known - 1);
    return STATUS_OK;
  }
  TRY(read_length(db, row->chunk_id, &length, err));
  if (known && length < UINT32_MAX - 1)
    *known = (uint32_t)length + 1;
  row->score = score_of(scan, row->tf, length);
  return STATUS_OK;
}

/* Measures rows, sorted by upper bound, until no further row can be among the best. */
static enum status measure(struct db *db, const struct fts_scan *scan, struct fts_rows *rows, struct arena *a,
                           size_t *ret_measured, struct error *err) {
  struct fts_rows best = {0};
  size_t i = 0;
  enum status s = STATUS_OK;
  for (; s == STATUS_OK && i < rows->n && i < scan->measure; i++) {
    struct fts_row *row = &rows->v[i];
    if (best.n && best.n >= scan->want && row->score < best.v[0].score)
      break;
    s = fts_measure(db, scan, row, err);
    keep(a, &best, scan->want, row);
  }
  *ret_measured = i;
  assert(i <= rows->n);
  for (; i < rows->n; i++)
    rows->v[i].score = score_of(scan, rows->v[i].tf, scan->totals.average);
  return s;
}

enum status fts_search(struct db *db, const struct fts_scan *scan, struct arena *a, struct fts_found *ret_found,
                       struct error *err) {
  struct fts_rows rows = {0};
  struct fts_found found = {0};
  enum status s = scan_rows(db, scan, a, &rows, &found.seen, err);
  if (s == STATUS_OK && rows.n) {
    qsort(rows.v, rows.n, sizeof(*rows.v), by_score);
    s = measure(db, scan, &rows, a, &found.measured, err);
    qsort(rows.v, found.measured, sizeof(*rows.v), by_score);
  }
  found.v = rows.v;
  found.n = rows.n;
  if (s == STATUS_OK)
    *ret_found = found;
  return s;
}

void fts_sort_rest(struct fts_found *found) {
  assert(found->measured <= found->n);
  if (found->measured < found->n)
    qsort(found->v + found->measured, found->n - found->measured, sizeof(*found->v), by_score);
}

bool fts_is_damage(enum status s) { return s == STATUS_CORRUPT || s == STATUS_INTERNAL; }

/* ---- query terms ---- */

static enum status source_tokenise(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err) {
  const struct fts_counted *c = arg;
  return fts_tokenise(c->db, text, a, ret_tokens, err);
}

static enum status count(void *arg, struct query_term *terms, size_t n, struct arena *a, double *ret_rows,
                         struct error *err) {
  const struct fts_counted *c = arg;
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < n; i++) {
    struct buf b = BUF(a);
    fts_quote(&b, terms[i].surface);
    s = fts_frequency(c->db, c->totals, buf_str(&b), &terms[i].df, err);
  }
  *ret_rows = c->totals->rows;
  return s;
}

struct term_source fts_source(struct fts_counted *counted) {
  return (struct term_source){counted, source_tokenise, count};
}

enum status fts_terms(struct db *db, const struct chunk_query *query, const struct fts_totals *totals, struct arena *a,
                      struct query_terms *ret_terms, struct error *err) {
  struct fts_counted counted = {db, totals};
  struct term_source source = fts_source(&counted);
  return query_terms(&source, query->text, query->completions, a, ret_terms, err);
}
