/* test_chunk.c: chunks cover the body, in order, within their size, overlapping. */
#include "core/memory/chunk.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/token_count.h"
#include "support/harness.h"

static struct str chunk_text(struct str body, struct chunk c) { return str_slice(body, c.start, c.start + c.len); }

/* Invariants of every body. */
static void check_chunks(struct str body, const struct chunks *chunks) {
  size_t covered = 0, start = 0;
  for (size_t i = 0; i < chunks->n; i++) {
    struct chunk c = chunks->v[i];
    struct str text = chunk_text(body, c);
    CHECK(c.len > 0 && c.start + c.len <= body.n);
    CHECK(i == 0 || (c.start > start && c.start + c.len > covered));
    if (c.start > covered)
      CHECK_INT(str_trim(str_slice(body, covered, c.start)).n, 0);
    CHECK_INT(str_trim(text).n, text.n);
    CHECK_INT(utf8_check(text), text.n);
    CHECK(tokens_estimate(text) <= CHUNK_MAX);
    covered = c.start + c.len;
    start = c.start;
  }
  CHECK_INT(str_trim(str_slice(body, covered, body.n)).n, 0);
}

static void split(struct arena *a, struct str body, struct chunks *ret) {
  chunk_split(a, body, ret);
  check_chunks(body, ret);
}

static size_t overlap(const struct chunks *chunks, size_t i) {
  size_t end = chunks->v[i - 1].start + chunks->v[i - 1].len;
  return end > chunks->v[i].start ? end - chunks->v[i].start : 0;
}

TEST(blank_bodies_have_no_chunk) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  split(&a, STR(""), &chunks);
  CHECK_INT(chunks.n, 0);
  split(&a, STR(" \r\n\t\n "), &chunks);
  CHECK_INT(chunks.n, 0);
  arena_release(&a);
}

TEST(a_short_body_is_one_chunk) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct str body = STR("\n First paragraph.\n\nSecond paragraph, with more.\n");
  split(&a, body, &chunks);
  CHECK_INT(chunks.n, 1);
  CHECK_STR(chunk_text(body, chunks.v[0]), "First paragraph.\n\nSecond paragraph, with more.");
  arena_release(&a);
}

/* Paragraphs of 75 words (100 tokens) each: four to a chunk, less the overlap. */
static struct str paragraphs(struct arena *a, int n) {
  struct buf out = BUF(a);
  for (int p = 0; p < n; p++) {
    for (int s = 0; s < 5; s++)
      for (int w = 0; w < 15; w++)
        buf_addf(&out, w == 14 ? "w%d. " : "ab ", p);
    buf_adds(&out, "\n\n");
  }
  return buf_str(&out);
}

TEST(chunks_end_with_paragraphs_and_repeat_a_little) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct str body = paragraphs(&a, 40);
  split(&a, body, &chunks);
  CHECK(chunks.n >= 10 && chunks.n <= 20);
  for (size_t i = 0; i < chunks.n; i++) {
    struct chunk c = chunks.v[i];
    struct str rest = str_slice(body, c.start + c.len, body.n);
    CHECK(str_starts(rest, STR(" \n\n")));
    size_t tokens = tokens_estimate(chunk_text(body, c));
    CHECK(i + 1 == chunks.n || (tokens >= 200 && tokens <= 400));
    if (i > 0) {
      size_t shared = tokens_estimate(str_slice(body, c.start, c.start + overlap(&chunks, i)));
      CHECK(shared >= 40 && shared <= 80);
    }
  }
  arena_release(&a);
}

TEST(a_long_paragraph_is_split_between_sentences) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 200; i++)
    buf_addf(&body, "Sentence number %d has a few words in it. ", i);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 3);
  for (size_t i = 0; i < chunks.n; i++) {
    struct str text = chunk_text(buf_str(&body), chunks.v[i]);
    CHECK(str_starts(text, STR("Sentence number ")));
    CHECK(str_ends(text, STR("it.")));
    CHECK(i == 0 || overlap(&chunks, i) > 0);
  }
  arena_release(&a);
}

TEST(a_long_sentence_is_split_between_words) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 5000; i++)
    buf_adds(&body, "abcdefg ");
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  for (size_t i = 0; i < chunks.n; i++)
    CHECK_INT((chunks.v[i].len + 1) % 8, 0);
  arena_release(&a);
}

TEST(text_without_any_boundary_is_split_between_characters) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct buf body = BUF(&a);
  for (int i = 0; i < 3000; i++)
    buf_adds(&body, "\xe4\xb8\x96");
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n >= 3000 / 400 && chunks.n <= 3000 / 300 + 1);
  body = BUF(&a);
  for (int i = 0; i < 20000; i++)
    buf_adds(&body, "x\xc3\xa4");
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 10);
  arena_release(&a);
}

TEST(wide_gaps_do_not_make_wide_chunks) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 10; i++) {
    buf_adds(&body, "word. ");
    for (int k = 0; k < 20000; k++)
      buf_addc(&body, k % 50 ? ' ' : '\n');
  }
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 10);
  arena_release(&a);
}

TEST(crlf_and_code_are_covered) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 300; i++)
    buf_addf(&body, "\tif (x[%d] != NULL) {\r\n\t\treturn f(%d);\r\n\t}\r\n%s", i, i, i % 10 ? "" : "\r\n");
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 10);
  arena_release(&a);
}

TEST(a_megabyte_of_anything_is_fast, .slow = true) {
  static const char *const units[] = {"x",     "\n", "a ", "A\n", ". ", "a.", "\xe4\xb8\x96", "\xf0\x9f\x8e\x89 ",
                                      "- a\n", "\t"};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct buf body = BUF(&a);
    while (body.n < 1 << 20)
      buf_adds(&body, units[i]);
    struct chunks chunks;
    split(&a, buf_str(&body), &chunks);
    arena_release(&a);
  }
}

/* ---- conversations */

/* A turn of `words` words after its label; each word is 4/3 of a token, including the label. */
static void say(struct buf *out, const char *label, const char *first, int words) {
  buf_addf(out, "%s %s", label, first);
  for (int i = 1; i < words; i++)
    buf_adds(out, " word");
  buf_adds(out, ".\n\n");
}

static bool begins_turn(struct str text) {
  return str_starts(text, STR("user: ")) || str_starts(text, STR("assistant: ")) ||
         str_starts(text, STR("Caroline: ")) || str_starts(text, STR("Melanie: "));
}

TEST(a_question_shares_a_chunk_with_its_long_answer) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  say(&body, "user:", "rust", 10);
  say(&body, "assistant:", "first", 200);
  say(&body, "user:", "dog", 12);
  say(&body, "assistant:", "second", 900);
  say(&body, "user:", "thanks", 5);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n >= 5);
  CHECK(str_starts(chunk_text(buf_str(&body), chunks.v[0]), STR("user: rust")));
  CHECK(str_find(chunk_text(buf_str(&body), chunks.v[0]), STR("assistant: first"), 0) != SIZE_MAX);
  CHECK(str_find(chunk_text(buf_str(&body), chunks.v[0]), STR("user: dog"), 0) == SIZE_MAX);
  CHECK(str_starts(chunk_text(buf_str(&body), chunks.v[1]), STR("user: dog")));
  CHECK(str_find(chunk_text(buf_str(&body), chunks.v[1]), STR("assistant: second"), 0) != SIZE_MAX);
  CHECK_INT(overlap(&chunks, 1), 0);
  CHECK(str_starts(chunk_text(buf_str(&body), chunks.v[chunks.n - 1]), STR("user: thanks")));
  arena_release(&a);
}

TEST(a_long_statement_does_not_share_a_chunk_with_its_long_answer) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 4; i++)
    say(&body, i % 2 ? "assistant:" : "user:", "long", 100);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 4);
  for (size_t i = 0; i < 4; i++)
    CHECK(begins_turn(chunk_text(buf_str(&body), chunks.v[i])));
  arena_release(&a);
}

/* 21 words with the label are 28 or 29 tokens: three turns fill a chunk, and the last one is repeated in the next. */
TEST(short_turns_are_packed_and_one_is_repeated) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 31; i++)
    say(&body, i % 2 ? "Melanie:" : "Caroline:", "well", 20);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 15);
  for (size_t i = 0; i < chunks.n; i++) {
    struct str text = chunk_text(buf_str(&body), chunks.v[i]);
    CHECK(tokens_estimate(text) <= CHUNK_TURNS);
    CHECK(str_starts(text, STR("Caroline: ")));
    struct str shared = str_slice(text, 0, i > 0 ? overlap(&chunks, i) : 0);
    CHECK(i == 0 || str_ends(shared, STR("word.")));
    CHECK(str_find(shared, STR("Melanie: "), 0) == SIZE_MAX && shared.n < 120);
  }
  arena_release(&a);
}

/* 36 words are 48 tokens: two to a chunk, and none is short enough to be repeated. */
TEST(longer_turns_are_not_repeated) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 12; i++)
    say(&body, i % 2 ? "Melanie:" : "Caroline:", "well", 35);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 6);
  for (size_t i = 1; i < chunks.n; i++)
    CHECK_INT(overlap(&chunks, i), 0);
  arena_release(&a);
}

TEST(a_label_may_be_on_its_own_line) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 6; i++)
    say(&body, i % 2 ? "**Bob:**" : "**Ann:**", i % 2 ? "\n\nwell" : "\nwell", 70);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 6);
  for (size_t i = 0; i < chunks.n; i++)
    CHECK(str_starts(chunk_text(buf_str(&body), chunks.v[i]), i % 2 ? STR("**Bob:**") : STR("**Ann:**")));
  arena_release(&a);
}

TEST(a_short_conversation_is_one_chunk) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct str body = STR("user: My dog is called Rex.\nassistant: What a fine name for a dog!\n");
  split(&a, body, &chunks);
  CHECK_INT(chunks.n, 1);
  arena_release(&a);
}

/* Each of these writes a turn in another way; four turns of 70 words (95 tokens) are four chunks. */
TEST(conversations_are_recognized_by_their_labels) {
  static const char *const labels[][2] = {
      {"user:", "assistant:"},
      {"User:", "AI:"},
      {"**User**:", "**Assistant**:"},
      {"Caroline:", "Melanie:"},
      {"**Alice**:", "**Bob**:"},
      {"**Alice:**", "**Bob:**"},
      {"Speaker 1:", "Speaker 2:"},
      {"Dr. Mary Ann:", "Jean-Luc:"},
      {"Q:", "A:"},
      {"human:", "bot:"},
      {"\xc3\x89lodie:", "Zo\xc3\xab:"},
  };
  for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
    struct arena a;
    arena_init(&a);
    test_note("%s %s", labels[i][0], labels[i][1]);
    struct buf body = BUF(&a);
    buf_adds(&body, "Session of 8 May 2023\n\n");
    for (int k = 0; k < 4; k++)
      say(&body, labels[i][k % 2], "so", 70);
    struct chunks chunks;
    split(&a, buf_str(&body), &chunks);
    /* text above the first turn is packed with it or gets its own chunk */
    CHECK(chunks.n == 4 || chunks.n == 5);
    for (size_t k = chunks.n - 3; k < chunks.n; k++)
      CHECK(str_starts(chunk_text(buf_str(&body), chunks.v[k]), str_from(labels[i][(k - chunks.n + 4) % 2])));
    arena_release(&a);
  }
}

TEST(a_reply_may_have_paragraphs_lists_and_headings) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 3; i++) {
    buf_addf(&body, "user: How do I bake bread number %d?\n\nassistant: Gladly.\n\n", i);
    for (int k = 0; k < 20; k++)
      buf_addf(&body, "Ingredients: flour %d, and water.\n\nNote: this matters, and more than you may think.\n\n", k);
    buf_adds(&body, "1. Mix it.\n2. Bake it.\n\n");
  }
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  size_t questions = 0;
  for (size_t i = 0; i < chunks.n; i++)
    questions += str_starts(chunk_text(buf_str(&body), chunks.v[i]), STR("user: How do I bake"));
  CHECK_INT(questions, 3);
  arena_release(&a);
}

/* Each of these has more than CHUNK_TURNS tokens and less than CHUNK_MAX: one chunk, unless it is misread. */
TEST(other_text_with_colons_is_not_a_conversation) {
  static const struct {
    const char *what, *text;
    int times;
  } bodies[] = {
      {"yaml", "name: build\non: push\njobs: all\nuser: root\nsteps: many of them in a row\nbot: false\n", 8},
      {"yaml of an assistant", "user: postgres\nassistant: gpt\nhost: localhost\n", 12},
      {"nested yaml", "user:\n  name: root\n  groups: wheel and more\nassistant:\n  model: some\n", 8},
      {"json", "{\n  \"Name\": \"a b c d e f g h\",\n  \"Text\": \"some more words\"\n}\n", 8},
      {"c", "switch (x) {\ncase A: return compute_the_value(a, b);\ndefault: break;\n}\n", 8},
      {"python", "class Point:\n    x: int\n    y: int\n\ndef f(a: int) -> str:\n    return a\n\n", 8},
      {"log", "INFO: the server started and listens\nERROR: the file was not found on this disk\n", 9},
      {"log with times", "2023-05-08 10:00:00 Server: started and ready\n10:00 Client: connected to it\n", 8},
      {"records", "Name: Ann Smith lives here\nCity: Rome and its outskirts too\nJob: writes code all day long\n\n", 8},
      {"short records", "Person: Ann\nYears: 31\n\n", 24},
      {"records with long values",
       "Place: the house on the hill by the sea\n  with its garden\nGuests: Ann, Bob and many of their friends\n\n", 8},
      {"records with fields left out",
       "Place: the house on the hill by the sea\nGuests: Ann, Bob and all of their friends\nFood: bread and butter\n\n"
       "Place: another house in the town below\nFood: cake and wine, as much as you like\n\n",
       4},
      {"headers", "Host: example.org\nAccept: text/html, text/plain\nUser-Agent: curl/8.1 on Linux\n", 6},
      {"letters", "From: Ann\nTo: Bob\nSubject: the plan for the next week\nDate: 8 May 2023\n\n", 6},
      {"report", "Problem: the disk was full again\nCause: no rotation of logs at all\nFix: rotate the logs\n\n", 7},
      {"examples", "Input: a list of numbers in any order\nOutput: the same numbers, sorted\n\n", 9},
      {"definitions",
       "Apple: a fruit that grows on trees\n\nBread: what bakers make of flour\n\nCider: a drink made of apples\n\n"
       "Dough: flour and water before the oven\n\n**Egg**: what a hen lays in the morning\n\nFlour: ground grain\n\n"
       "Grape: a fruit that becomes wine\n\nHoney: what bees make of flowers all summer\n\nIce: water that is cold\n\n"
       "Lard: the fat of a pig, which bakers used to like\n\nMalt: grain that has begun to grow, and was dried\n\n"
       "Jam: fruit and sugar, boiled for long\n\nKale: a cabbage that is healthy, they say\n\n",
       1},
      {"prose",
       "There is one rule: be kind. Ann said: do it. And so we did, for a long time, and nothing went wrong.\n\n"
       "Remember: it is late. We went home. There was nothing left to do but to wait for the morning to come.\n\n",
       4},
      {"links", "See: http://a.example/b for the first one\nhttps://c.example: the second\nC++: std::map, std::set\n",
       7},
  };
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
    struct arena a;
    arena_init(&a);
    test_note("%s", bodies[i].what);
    struct buf body = BUF(&a);
    for (int k = 0; k < bodies[i].times; k++)
      buf_adds(&body, bodies[i].text);
    size_t tokens = tokens_estimate(buf_str(&body));
    CHECK(tokens > CHUNK_TURNS && tokens <= CHUNK_MAX);
    struct chunks chunks;
    split(&a, buf_str(&body), &chunks);
    CHECK_INT(chunks.n, 1);
    arena_release(&a);
  }
}

TEST(a_document_that_starts_with_a_short_exchange_is_not_a_conversation) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  buf_adds(&body, "# Deploy notes\n\nUser: Can we ship today, or is it too late?\nAssistant: We ship on Monday.\n\n");
  buf_add(&body, paragraphs(&a, 3));
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 1);
  arena_release(&a);
}

TEST(a_document_that_quotes_a_conversation_is_not_a_conversation) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  buf_add(&body, paragraphs(&a, 3));
  buf_adds(&body, "user: How is the weather in Rome?\nassistant: It is warm and dry, as ever in June.\n");
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 1);
  arena_release(&a);
}

TEST(a_megabyte_of_turns_is_fast) {
  static const char *const turns[][2] = {{"user: x\n", "assistant: y\n"},
                                         {"Ann: a word or two, and some more of them\n", "Bob: well\n"},
                                         {"user: some words that are said here\n", "\n\n\n\n\n\n\n\n"}};
  for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
    struct arena a;
    arena_init(&a);
    struct buf body = BUF(&a);
    buf_adds(&body, "user: hello there, how are you today?\nassistant: well, and you? I hope all goes well.\n");
    for (int k = 0; body.n < 1 << 20; k++)
      buf_adds(&body, turns[i][k % 2]);
    struct chunks chunks;
    split(&a, buf_str(&body), &chunks);
    arena_release(&a);
  }
}
