/* mememory_help.h: texts of the tool `help` of the profile mememory. */
#pragma once

struct help_topic {
  const char *name, *text;
};
extern const struct help_topic help_mememory[]; /* ends with name == NULL */
extern const char *const help_mememory_topics[];
