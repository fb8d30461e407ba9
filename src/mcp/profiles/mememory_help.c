/* mememory_help.c: texts of the tool `help` of the profile mememory. */
#include "mcp/profiles/mememory_help.h"

#include <stddef.h>

const char *const help_mememory_topics[] = {"overview", "tools", "scopes", "types", "examples", "best-practices", NULL};

const struct help_topic help_mememory[] = {
    {"overview",
     "# Overview\n\nThis memory outlives the conversation. Text is stored with remember, found again by meaning "
     "and by words with recall, replaced with update or supersedes, and taken away with forget. What is "
     "replaced stays in the history; secrets are refused."},
    {"tools",
     "# Tools\n\n"
     "- help(topic): this text\n"
     "- remember(content, scope, project, type, delivery, tags, ttl, weight, supersedes): store a memory; tags are "
     "separated by commas, ttl is 24h, 7d or 720h, weight is 0.1 to 1.0\n"
     "- recall(query, scope, project, limit): search; limit is 5 unless given\n"
     "- forget(id): delete\n"
     "- update(id, content): replace the text; the new version has an id of its own, and the former id still "
     "leads to it\n"
     "- list(scope, project, type, delivery, limit): newest first; limit is 20 unless given\n"
     "- stats(): counts"},
    {"scopes",
     "# Scopes\n\n"
     "- global: seen in every project\n"
     "- project: seen only in the named project\n\n"
     "recall with a project searches that project and what is global. A memory of a project that supersedes a "
     "global one hides it in that project and nowhere else."},
    {"types",
     "# Types\n\n"
     "- fact: something that is so\n- rule: something that must be followed, with its reason\n"
     "- decision: a choice and why it was made\n- feedback: a correction by the user\n"
     "- context: what holds for now, best with a ttl\n- bootstrap: a rule that every session starts with\n\n"
     "delivery says when a memory comes by itself: bootstrap at the start of a session, pinned with every turn, "
     "on_demand when it is recalled."},
    {"examples", "# Examples\n\n"
                 "remember(content=\"pnpm only: CI enforces the lockfile\", type=\"rule\")\n"
                 "remember(content=\"The demo is on April 5\", type=\"context\", scope=\"project\", project=\"match\", "
                 "ttl=\"7d\")\n"
                 "remember(content=\"Zustand replaced Redux\", type=\"decision\", supersedes=\"<old id>\")\n"
                 "recall(query=\"which package manager\", project=\"match\")"},
    {"best-practices",
     "# Best practices\n\n"
     "1. Recall before you assert.\n2. One idea for each memory, complete in itself.\n"
     "3. Say why, not only what.\n4. Ask the user when a contradiction is reported.\n"
     "5. Use supersedes when a view has changed, a low weight when it is uncertain, a ttl when it will "
     "pass.\n6. Keep bootstrap and pinned memories few and short."},
    {NULL, NULL},
};
