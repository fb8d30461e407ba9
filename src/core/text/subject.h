/* subject.h: what a text is about, as far as capital letters tell. */
#pragma once

#include "base/buf.h"

struct subjects;

struct subjects *subject_new(struct arena *a);
/* Reads prose (no code, no links). The text must live as long as the subjects. */
void subject_read(struct subjects *subjects, struct str prose);
/* The first `max` of: names of two to four words; single words of a form that only names have (PostgreSQL, AWS, S3);
 * capitalised words that were seen at least twice, once of these inside a sentence. In order of appearance, copied. */
void subject_list(struct arena *a, const struct subjects *subjects, size_t max, struct strs *ret);
