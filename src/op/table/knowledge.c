/* knowledge.c: rows of the operations on sources, extracted items, files and the knowledge graph. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const struct param source_add_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder to index"), END
};
static const struct param source_refresh_params[] = {
  TEXT("dir", PARAM_POSITIONAL | PARAM_PATH, "DIR", "only this source"), END
};
static const struct param source_remove_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "the folder, as shown by 'cairn source list'"), END
};
static const struct param extract_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder to read; all or part of a git repository"),
  TEXT("out", PARAM_PATH, "FILE", "output file (default: items.json in the project's folder)"),
  FLAG("force", "replace the output file even if something else wrote it"),
  END
};
#define GRAPH_LINES(flags, help) {"lines", PARAM_LIST, PARAM_SECRETS | (flags), NULL, "LINE", NULL, help}
static const struct param graph_read_params[] = {
  {"names", PARAM_LIST, PARAM_POSITIONAL, NULL, "NAME", NULL, "entities (default: all)"},
  TEXT("query", 0, "TEXT", "entities whose name, type or observations contain or mean this text"),
  END
};
static const struct param graph_create_params[] = {
  GRAPH_LINES(REQ_POS, "an entity or a relation, as in memory.jsonl"), END
};
static const struct param graph_observe_params[] = {
  GRAPH_LINES(REQ_POS, "{\"entityName\":NAME,\"contents\":[TEXT]}"), END
};
static const struct param graph_delete_params[] = {
  GRAPH_LINES(PARAM_POSITIONAL, "{\"entityName\":NAME,\"observations\":[TEXT]}, or a relation"),
  MANY("entities", "entity", "NAME", "entity to delete, with its observations and relations; may be repeated"),
  END
};
#define FILE_PATH(name, help) TEXT(name, REQ_POS, "PATH", help)
static const struct param file_view_params[] = {
  TEXT("path", PARAM_POSITIONAL, "PATH", "a file or folder (default /memories)"),
  INT("from", "LINE", "first line to show (default 1)"),
  INT("to", "LINE", "last line to show; -1 is the end (default)"),
  FLAG("raw", "the raw content: no line numbers, not truncated"),
  END
};
static const struct param file_create_params[] = {
  FILE_PATH("path", "path below /memories"),
  TEXT("file_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "the content, stored byte for byte"),
  FLAG("overwrite", "replace an existing file; the old content stays in its history"),
  END
};
static const struct param file_str_replace_params[] = {
  FILE_PATH("path", "the file"),
  TEXT("old_str", REQ_POS | PARAM_SECRETS, "OLD", "text that occurs exactly once"),
  TEXT("new_str", PARAM_POSITIONAL | PARAM_SECRETS, "NEW", "replacement (default: nothing)"),
  END
};
static const struct param file_insert_params[] = {
  FILE_PATH("path", "the file"),
  {"insert_line", PARAM_INT, REQ_POS, NULL, "LINE", NULL, "insert after this line; 0 is the top"},
  TEXT("insert_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "text to insert"),
  END
};
static const struct param file_delete_params[] = {FILE_PATH("path", "a file, or a folder with its contents"), END};
static const struct param file_rename_params[] = {
  FILE_PATH("old_path", "a file or folder"), FILE_PATH("new_path", "its new name"), END
};

#define FILE_WRITTEN "path id:int uid size:int lines:int trust suspect? untrusted?:bool text txn?:int degraded?:advice warnings?:[@warning]"

const struct op knowledge_ops[] = {
  {.name = "source add", .group = "Knowledge", .summary = "Index the files of a folder for search",
   .help = "Splits text files into chunks that 'cairn search --in sources' finds, with file and line. They are not memories. "
   "Skips binary files, huge files and files that .gitignore names. Secrets are replaced with a placeholder. "
   "Duplicates are stored once.",
   .example = "cairn source add .\ncairn search --in sources 'how are releases made'",
   .params = source_add_params, .flags = OP_WRITE | OP_NO_TXN,
   .local = "reads a directory on the server",
   .result = "sources:[@folder] embedded?:int waiting?:bool degraded?:advice",
   .run = op_source_add},
  {.name = "source list", .group = "Knowledge", .summary = "List the source folders of the project",
   .help = "",
   .example = "cairn source list",
   .params = no_params,
   .result = "sources:[@folder] count:int",
   .run = op_source_list},
  {.name = "source refresh", .group = "Knowledge", .summary = "Reindex changed files of the sources",
   .help = "Reads only changed files and removes deleted ones. If a folder is missing, its index is kept.",
   .example = "cairn source refresh",
   .params = source_refresh_params, .flags = OP_WRITE | OP_NO_TXN,
   .result = "sources:[@folder] embedded?:int waiting?:bool degraded?:advice",
   .run = op_source_refresh},
  {.name = "source remove", .group = "Knowledge", .summary = "Remove a source folder from search",
   .help = "The files themselves are not touched.",
   .example = "cairn source remove docs",
   .params = source_remove_params, .flags = OP_WRITE | OP_NO_TXN,
   .local = "names a directory on the server",
   .result = "folder files:int removed:int",
   .run = op_source_remove},
  {.name = "extract", .group = "Knowledge", .summary = "Find decisions, tasks, claims and notes in files",
   .help = "Reads Markdown, plain text and source comments: labels such as DECISION: and TODO:, open check boxes, headings, "
   "sentences that decide or define, names of entities. Each item has its file, its line and a confidence. Items are "
   "not memories: 'cairn search --in items' finds them and items.json lists them. Only changed files are read again; "
   "items of deleted files are removed. Skips binary files, huge files and files that .gitignore names. Secrets are "
   "replaced with a placeholder.",
   .example = "cairn extract .\ncairn extract docs --out items.json",
   .params = extract_params, .flags = OP_WRITE,
   .local = "reads a directory on the server",
   .result = "folder project file items:int types:{int} written:bool files:int read:int unchanged:int gone:int added:int "
   "changed:int removed:int redacted?:int skipped:{int} embedded?:int waiting?:bool degraded?:advice txn?:int",
   .run = op_extract},
  {.name = "file view", .group = "Files", .summary = "Show a file below /memories, or list a folder",
   .help = "Agents keep files below /memories. Each file is one memory: searched, versioned and backed up like any other. A "
   "folder is listed two levels deep, with sizes, without hidden entries and node_modules. A file is shown with line "
   "numbers, at most 16,000 characters.",
   .example = "cairn file view\ncairn file view /memories/notes.md --from 10 --to 20",
   .params = file_view_params, .flags = OP_PROJECT,
   .result = "path directory:bool text entries?:[(path size:int directory:bool untrusted?:bool)] id?:int uid? "
   "size?:int lines?:int "
   "truncated?:bool raw?:bool " TRUST_MEMBERS,
   .run = op_file_view},
  {.name = "file create", .group = "Files", .summary = "Create a file",
   .help = "An existing file is not changed unless --overwrite is given.",
   .example = "cairn file create /memories/notes.md 'Meeting notes'\ndate | cairn file create /memories/today.txt -",
   .params = file_create_params, .flags = OP_WRITE | OP_PROJECT,
   .result = FILE_WRITTEN,
   .run = op_file_create},
  {.name = "file str_replace", .group = "Files", .summary = "Replace text in a file",
   .help = "The text must occur exactly once. All versions are kept; 'cairn history PATH' lists them.",
   .example = "cairn file str_replace /memories/notes.md 'colour: blue' 'colour: green'",
   .params = file_str_replace_params, .flags = OP_WRITE | OP_PROJECT,
   .result = FILE_WRITTEN,
   .run = op_file_str_replace},
  {.name = "file insert", .group = "Files", .summary = "Insert lines into a file",
   .help = "",
   .example = "cairn file insert /memories/notes.md 0 '# Notes'",
   .params = file_insert_params, .flags = OP_WRITE | OP_PROJECT,
   .result = FILE_WRITTEN,
   .run = op_file_insert},
  {.name = "file delete", .group = "Files", .summary = "Delete a file or folder",
   .help = "Its content is forgotten; 'cairn undo' restores it.",
   .example = "cairn file delete /memories/old",
   .params = file_delete_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "path files:int text txn?:int",
   .run = op_file_delete},
  {.name = "file rename", .group = "Files", .summary = "Rename or move a file or folder",
   .help = "",
   .example = "cairn file rename /memories/draft.md /memories/final.md",
   .params = file_rename_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "path files:int text txn?:int",
   .run = op_file_rename},
  {.name = "graph read", .group = "Graph", .summary = "Show entities with observations and relations",
   .help = "The knowledge graph in the memories: imported from memory.jsonl, or stored by the tools of the profile 'graph'. "
   "Relations that start or end at a shown entity are included.",
   .example = "cairn graph read\ncairn graph read 'Alice Smith' --json\ncairn graph read --query spanish",
   .params = graph_read_params, .flags = OP_PROJECT | OP_READS,
   .result = "entities:[@entity] relations:[@relation]",
   .run = op_graph_read},
  {.name = "graph create", .group = "Graph", .summary = "Add entities and relations",
   .help = "Existing entities are not changed.",
   .example = "cairn graph create '{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[\"Makes "
   "anvils\"]}'",
   .params = graph_create_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "entities:[@entity] relations:[@relation] txn?:int warnings?:[@warning]",
   .run = op_graph_create},
  {.name = "graph observe", .group = "Graph", .summary = "Add observations to entities",
   .help = "Each observation is a memory. Known ones are skipped.",
   .example = "cairn graph observe '{\"entityName\":\"Acme\",\"contents\":[\"Has 12 employees\"]}'",
   .params = graph_observe_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "results:[(entityName addedObservations:[text])] txn?:int warnings?:[@warning]",
   .run = op_graph_observe},
  {.name = "graph delete", .group = "Graph", .summary = "Delete entities, observations or relations",
   .help = "Missing ones are not an error. Observations are forgotten; 'cairn undo' restores them.",
   .example = "cairn graph delete --entity Acme",
   .params = graph_delete_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "memories:int txn?:int",
   .run = op_graph_delete},
  END
};
