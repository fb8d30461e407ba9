/* subject.h: extraction of the topics of a text by capital letters. */
#pragma once

#include "base/buf.h"

struct subjects;

struct subjects *subject_new(struct arena *a);
/* Reads prose (no code, no links). The text must outlive the subjects. */
void subject_read(struct subjects *subjects, struct str prose);
/* Lists at most `max` subjects in order of appearance: names of two to four words; single words that look like names
 * (PostgreSQL, AWS, S3); capitalized words seen at least twice, at least once inside a sentence. */
void subject_list(struct arena *a, const struct subjects *subjects, size_t max, struct strs *ret);
