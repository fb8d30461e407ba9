/* test_lexical_engines.c: full-text search returns the same hits, order and scores from an SQLite file and from the
 * store under test. */
#include "fixture.h"
#include "store/search/entities.h"
#include "store/search/lexical.h"
#include "store/sqlite/fts.h"

enum { TEXTS = 300, QUERIES = 80, LIMIT = 20 };

struct pair {
  struct fixture f; /* the store under test */
  struct store *file;
  LIST(int64_t) ids, file_ids; /* memories in the order of storage */
  uint32_t state;
  int estimated; /* answers whose scores may differ */
};

static uint32_t roll(struct pair *p, uint32_t below) {
  p->state = p->state * 1664525u + 1013904223u;
  return (p->state >> 8) % below;
}

/* Words of many scripts, enough that each is in few texts. */
static void add_word(struct pair *p, struct buf *b, uint32_t kind) {
  static const char *const stems[] = {"harbor", "Größe", "naïve", "точка",  "λόγος",
                                      "cafés",  "İzmir", "שלום",  "running"};
  static const char *const han[] = {"東", "京", "都", "庁", "会", "議", "山", "川", "海", "空"};
  static const char *const thai[] = {"กิน", "ข้าว", "บ้าน", "น้ำ", "แมว", "ที่"};
  uint32_t n = roll(p, 40), m = roll(p, 40);
  char x = (char)('a' + n % 20), y = (char)('a' + m % 20), z = (char)('a' + roll(p, 20));
  switch (kind) {
  case 0:
    buf_addf(b, "zo%c%cnk%c ", x, y, (char)('a' + roll(p, 3)));
    break;
  case 1:
    buf_addf(b, "%s%c%c ", stems[n % ARRAY_LEN(stems)], y, z);
    break;
  case 2:
    buf_addf(b, "pa%c%c_%c%cs_tt%c%u ", z, y, x, z, y, m);
    break;
  case 3:
    buf_addf(b, "o%c%cpStr%c%cFi%c%ck ", x, y, z, x, y, z);
    break;
  case 4:
    buf_addf(b, "s%c%c/q%c%c/z%c%cb%u.h%c%c ", y, z, x, z, x, y, m, y, x);
    break;
  case 5:
    buf_addf(b, "%u.%u.%u ", n, m, roll(p, 10));
    break;
  case 6:
    for (uint32_t i = 0; i < 2 + n % 4; i++)
      buf_adds(b, roll(p, 3) ? han[roll(p, ARRAY_LEN(han))] : thai[roll(p, ARRAY_LEN(thai))]);
    buf_addc(b, ' ');
    break;
  default:
    buf_addf(b, "%x%05x ", 10 + n % 6, roll(p, 1 << 20));
  }
}

/* Few words of scripts without spaces: their characters soon occur in many texts. */
static uint32_t some_kind(struct pair *p) {
  return roll(p, 30) == 0 ? 6 : roll(p, 40) == 0 ? 5 : (uint32_t[]){0, 0, 0, 1, 2, 3, 4, 7}[roll(p, 8)];
}

static struct str some_text(struct pair *p, size_t words) {
  struct buf b = BUF(&p->f.arena);
  for (size_t i = 0; i < words; i++) {
    size_t from = b.n;
    add_word(p, &b, some_kind(p));
    for (uint32_t again = roll(p, 6); again > 3; again--)
      buf_add(&b, arena_dup(&p->f.arena, str_slice(buf_str(&b), from, b.n)));
  }
  return buf_str(&b);
}

/* The other store as a fixture with its own arena; arena_release() it. */
static struct fixture other_of(const struct pair *p) {
  struct fixture other = p->f;
  other.store = p->file;
  arena_init(&other.arena);
  return other;
}

static struct pair pair_new(struct strs *texts) {
  struct pair p = {.f = fixture_new(), .state = 11};
  struct store_options o = {.path = path_join(test_dir(), "other.db"), .now = p.f.now};
  CHECK_OK(store_open(&o, &p.file, &p.f.err), &p.f.err);
  struct fixture other = other_of(&p);
  struct txn one = fixture_begin(&p.f), two = fixture_begin(&other);
  CHECK_OK(lexical_hold(&one, &p.f.err), &p.f.err);
  for (size_t i = 0; i < TEXTS; i++) {
    struct str text = some_text(&p, 3 + roll(&p, 14)), project = i % 3 ? STR("") : STR("side");
    if (i == TEXTS / 2) /* the rest is stored one by one */
      CHECK_OK(lexical_release(&one, &p.f.err), &p.f.err);
    list_push(&p.f.arena, &p.ids, fixture_fact(&p.f, &one, project, text, NULL).id);
    list_push(&p.f.arena, &p.file_ids, fixture_fact(&other, &two, project, text, NULL).id);
    strs_push(&p.f.arena, texts, text);
  }
  fixture_commit(&p.f, &one);
  fixture_commit(&other, &two);
  arena_release(&other.arena);
  return p;
}

static void pair_close(struct pair *p) {
  store_close(&p->file);
  fixture_close(&p->f);
}

/* Two or three adjacent words of one text, and some words of others. */
static struct str some_query(struct pair *p, const struct strs *texts, int i) {
  struct buf b = BUF(&p->f.arena);
  for (uint32_t n = 1 + roll(p, 4); n > 0; n--) {
    struct str rest = texts->v[roll(p, TEXTS)], word;
    for (uint32_t skip = roll(p, 8); skip > 0 && str_next(&rest, ' ', &word);)
      skip--;
    buf_addc(&b, i % 4 == 0 ? '"' : ' ');
    for (uint32_t take = 1 + roll(p, 3); take > 0 && str_next(&rest, ' ', &word); take--)
      buf_addf(&b, "%.*s ", STR_ARG(word));
    buf_addc(&b, i % 4 == 0 ? '"' : ' ');
  }
  return buf_str(&b);
}

static size_t place_of(const int64_t *v, size_t n, int64_t id) {
  for (size_t i = 0; i < n; i++)
    if (v[i] == id)
      return i;
  FAIL("memory %lld was never stored", (long long)id);
}

/* SQLite selects rows by this many terms only. It counts their frequencies exactly, because they are low. */
static bool is_exact(const struct lexical_hits *hits) { return !hits->terms || hits->terms->n <= FTS_WEIGHED; }

/* Equal scores may differ in the last bit, and so may their order; otherwise the order is the same. */
static void same_hit(struct pair *p, const struct lexical_hits *got, const struct lexical_hits *want, size_t i) {
  const struct lexical_hit *g = &got->v[i];
  size_t place = place_of(p->ids.v, p->ids.n, g->memory_id);
  CHECK_NEAR(g->score, want->v[i].score, 1e-6);
  for (size_t k = 0; k < want->n; k++) {
    bool tied = want->v[k].score - g->score < 1e-12 && g->score - want->v[k].score < 1e-12;
    if ((k == i || tied) && place_of(p->file_ids.v, p->file_ids.n, want->v[k].memory_id) == place)
      return;
  }
  CHECK_NEAR(g->score, want->v[want->n - 1].score, 1e-12); /* one of several ties at the end of the list */
}

static void same(struct pair *p, const struct lexical_hits *got, const struct lexical_hits *want) {
  CHECK_INT(got->n, want->n);
  CHECK_NEAR(got->bound, want->bound, 1e-6);
  CHECK(!got->damaged);
  for (size_t i = 0; i < got->n; i++)
    same_hit(p, got, want, i);
}

typedef enum status (*searcher)(struct store *st, const struct chunk_query *q, struct arena *a,
                                struct lexical_hits *ret_hits, struct error *err);

/* Compares with SQLite's complete search, because its other one is exact only for the best hits. PostgreSQL's is exact
 * for all of these. */
static size_t compare(struct pair *p, searcher search, const struct scope *scope, struct str query) {
  searcher complete = search == lexical_search && on_postgres() ? lexical_search_all : search;
  struct lexical_hits got = {0}, want = {0};
  struct filter any = {0};
  struct error *err = &p->f.err;
  struct chunk_query q = {.scope = scope, .filter = &any, .text = query, .limit = LIMIT};
  CHECK_OK(search(p->f.store, &q, &p->f.arena, &got, err), err);
  CHECK_OK(complete(p->file, &q, &p->f.arena, &want, err), err);
  if (!is_exact(&want)) {
    p->estimated++;
    return 0;
  }
  same(p, &got, &want);
  return got.n;
}

TEST(both_engines_find_the_same_words, .seconds = 120) {
  struct strs texts = {0};
  struct pair p = pair_new(&texts);
  struct scope side = p.f.scope;
  side.project = STR("side");
  size_t found = 0, things = 0;
  for (int i = 0; i < QUERIES; i++) {
    struct str query = some_query(&p, &texts, i);
    test_note("query %d: %.*s", i, STR_ARG(query));
    const struct scope *scope = i % 5 ? &side : &p.f.scope;
    found += compare(&p, lexical_search, scope, query);
    found += compare(&p, lexical_search_all, scope, query);
    things += compare(&p, entity_search, scope, query);
  }
  CHECK(found > QUERIES * 2); /* otherwise nothing was compared */
  CHECK(things > QUERIES);
  CHECK(p.estimated < QUERIES);
  pair_close(&p);
}

/* Unusual texts: long words, thousands of words, the same word repeated. */
TEST(odd_texts_are_the_same_words_in_both_engines) {
  struct strs texts = {0};
  struct pair p = pair_new(&texts);
  struct fixture other = other_of(&p);
  struct buf longest = BUF(&p.f.arena), again = BUF(&p.f.arena), quotes = BUF(&p.f.arena);
  for (int i = 0; i < 1500; i++)
    buf_addc(&longest, (char)('a' + i % 7));
  for (int i = 0; i < 600; i++)
    buf_adds(&again, "echo ");
  buf_adds(&quotes, "it's a \\back\\slash 'quoted' \"twice\" : & | ! <-> * {curly, braces} $1 ?2");
  struct str odd[] = {buf_str(&longest), buf_str(&again), buf_str(&quotes)};
  struct txn one = fixture_begin(&p.f), two = fixture_begin(&other);
  for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
    list_push(&p.f.arena, &p.ids, fixture_fact(&p.f, &one, STR(""), odd[i], NULL).id);
    list_push(&p.f.arena, &p.file_ids, fixture_fact(&other, &two, STR(""), odd[i], NULL).id);
  }
  fixture_commit(&p.f, &one);
  fixture_commit(&other, &two);
  arena_release(&other.arena);
  CHECK_INT(compare(&p, lexical_search, &p.f.scope, odd[0]), 1);
  CHECK(compare(&p, lexical_search, &p.f.scope, STR("echo")) >= 1);
  CHECK(compare(&p, lexical_search, &p.f.scope, odd[2]) >= 1);
  CHECK_INT(compare(&p, entity_search, &p.f.scope, STR("\"back slash quoted twice\"")), 1);
  bool ok = false;
  CHECK_OK(lexical_check(p.f.store, &ok, &p.f.err), &p.f.err);
  CHECK(ok);
  pair_close(&p);
}
