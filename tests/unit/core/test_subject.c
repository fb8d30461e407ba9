/* test_subject.c: extraction of topics by capital letters. */
#include "core/text/subject.h"

#include "support/harness.h"

static void check_subjects(const char *prose, const char *want) {
  struct arena a;
  arena_init(&a);
  struct subjects *subjects = subject_new(&a);
  subject_read(subjects, str_from(prose));
  struct strs list = {0};
  subject_list(&a, subjects, 10, &list);
  struct buf out = BUF(&a);
  for (size_t i = 0; i < list.n; i++) {
    if (i)
      buf_addc(&out, '|');
    buf_add(&out, list.v[i]);
  }
  CHECK_STR(buf_str(&out), want);
  arena_release(&a);
}

/* The table of common words is searched by bisection: words from all parts of it must be found. */
TEST(common_words_are_not_names) {
  static const char *const words[] = {"A",     "About",    "Because", "Context", "Decision",  "Friday",
                                      "I'm",   "January",  "Let's",   "Never",   "Otherwise", "Problem",
                                      "Since", "Tomorrow", "Update",  "Warning", "Yours",     "DON’T"};
  for (size_t i = 0; i < ARRAY_LEN(words); i++) {
    struct arena a;
    arena_init(&a);
    struct buf text = BUF(&a);
    buf_addf(&text, "they say %s and then %s too", words[i], words[i]);
    check_subjects(text.p, "");
    arena_release(&a);
  }
}

TEST(repetition_makes_a_name) {
  check_subjects("we asked Zanzibar twice", "");
  check_subjects("we asked Zanzibar and Zanzibar again", "Zanzibar");
  check_subjects("Zanzibar fell. Zanzibar rose.", "");
  check_subjects("Zanzibar fell. They like ZANZIBAR", "Zanzibar");
}

TEST(longer_names_hide_their_parts) {
  check_subjects("we met Ada Lovelace. Ada was early, said Ada", "Ada Lovelace");
  check_subjects("the Big Red Dog House and so on", "Big Red Dog House");
  check_subjects("One Very Long Title Of Many Capital Words Here", "Very Long Title|Capital Words");
  check_subjects("five Alpha Beta Gamma Delta Epsilon in a row", "");
}

TEST(some_word_forms_are_always_names) {
  check_subjects("we run MySQL, eBay and EC2 on x86", "MySQL|eBay|EC2");
  check_subjects("id aB3xK9dE2 and MAX_LEN and foo.Bar", "");
  check_subjects("Élan vital, said ÉLAN; mais Élan", "Élan");
}

TEST(the_number_of_names_is_limited) {
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  for (int i = 0; i < 5000; i++)
    buf_addf(&text, "a%c%c%cBar, ", 'A' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676);
  struct subjects *subjects = subject_new(&a);
  subject_read(subjects, buf_str(&text));
  struct strs list = {0};
  subject_list(&a, subjects, 10, &list);
  CHECK_INT(list.n, 10);
  CHECK_STR(list.v[0], "aAaaBar");
  arena_release(&a);
}
