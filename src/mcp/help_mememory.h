/* help_mememory.h: what the tool `help` of the profile mememory says. */
#ifndef CAIRN_MCP_HELP_MEMEMORY_H
#define CAIRN_MCP_HELP_MEMEMORY_H

struct help_topic {
  const char *name, *text;
};
extern const struct help_topic help_mememory[]; /* ends with name == NULL */
extern const char *const help_mememory_topics[];

#endif
