/* agents.c: rows of the operations on agents and access tokens. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const char *const agent_roles[] = {"admin", "project", "skill", NULL};
static const struct param agent_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 characters: A-Z a-z 0-9 _ . -"),
  {"role", PARAM_TEXT, PARAM_REQUIRED, NULL, NULL, agent_roles, "access level"},
  TEXT("note", 0, "TEXT", "its purpose"),
  END
};
static const char *const token_profiles[] = {"default", "full", "readonly", "openbrain", "openbrain2", "anthropic",
                                             "graph", "mememory", "openhive", NULL};
static const struct param token_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 characters: A-Z a-z 0-9 _ . -"),
  CHOICE("role", agent_roles, "access level (default: project with --project, else admin)"),
  MANY("projects", "project", "NAME", "limit it to this project; may be repeated, up to 32 times"),
  FLAG("read", "read-only"),
  CHOICE("profile", token_profiles, "MCP tool profile for this token (default: the server's)"),
  TEXT("ttl", 0, "TIME", "expiry: 12h, 30d, a timestamp, or never (default 90d)"),
  END
};
static const struct param token_name_params[] = {TEXT("name", REQ_POS, "NAME", "name or id of the token"), END};
static const struct param agent_name_params[] = {TEXT("name", REQ_POS, "NAME", "name of the agent"), END};
static const struct param agent_message_params[] = {
  TEXT("from", REQ_POS, "FROM", "sending agent"),
  TEXT("to", REQ_POS, "TO", "receiving agent"),
  TEXT("action", PARAM_REQUIRED, "TEXT", "what it should do"),
  TEXT("task", 0, "TEXT", "more detail, used to find relevant memories"),
  TEXT("snippet", 0, "TEXT", "text to put first, in any case"),
  INT("budget", "TOKENS", "maximum size of the context, 50 to 20000 (default 1000)"),
  END
};

const struct op agents_ops[] = {
  {.name = "agent add", .group = "Agents", .summary = "Declare an agent with a role",
   .help = "A process started with --agent NAME or CAIRN_AGENT is that agent and has the access of its role. admin: "
   "everything. project: reads memories of its project (--project) and global ones, writes to its project. skill: no "
   "access; it works with the context in a message. A process without an agent name belongs to its user, who is "
   "admin. Refused calls are logged as scope:refused.",
   .example = "cairn agent add planner --role admin\ncairn agent add web --role project --project website\n"
   "cairn agent add seo --role skill --note 'reads headlines'",
   .params = agent_add_params, .flags = OP_WRITE | OP_NO_TXN,
   .local = "changes access rights: available only on the store's machine",
   .result = AGENT " txn?:int",
   .run = op_agent_add},
  {.name = "agent list", .group = "Agents", .summary = "List the declared agents",
   .help = "",
   .example = "cairn agent list",
   .params = no_params,
   .result = "agents:[@agent] count:int",
   .run = op_agent_list},
  {.name = "agent remove", .group = "Agents", .summary = "Remove an agent",
   .help = "It loses all access from its next call on. Its memories stay.",
   .example = "cairn agent remove seo",
   .params = agent_name_params, .flags = OP_WRITE | OP_NO_TXN,
   .local = "changes access rights: available only on the store's machine",
   .result = AGENT " txn?:int",
   .run = op_agent_remove},
  {.name = "agent message", .group = "Agents", .summary = "Write a message with context for another agent",
   .help = "Gathers the context with a search for the task, limited to what the sender may read and to a token budget, plus "
   "the rules of its project. Prints the message; nothing is sent. A project agent can write messages only from "
   "itself.",
   .example = "cairn agent message web seo --action analyze --task 'headlines of the blog'",
   .params = agent_message_params, .flags = OP_PROJECT,
   .result = "message:(from to type payload:(action context:(memory_snippet project_context))) memories?:[int] "
   "left_out:int tokens:int txn?:int",
   .run = op_agent_message},
  {.name = "token add", .group = "Tokens", .summary = "Create an access token for a remote client",
   .help = "Prints the token once; the store keeps only a hash. It belongs to this team. Its role sets its access, as for "
   "agents; --project limits it to projects, --read makes it read-only. Clients send it to 'cairn serve' as "
   "'Authorization: Bearer TOKEN' and appear as token:NAME in the log and in grants.",
   .example = "cairn token add ci-bot --project website --ttl 30d\ncairn token add dashboard --read --profile readonly",
   .params = token_add_params, .flags = OP_WRITE | OP_NO_TXN,
   .reveals = "token",
   .result = TOKEN " token txn?:int",
   .routes = ROUTES(ROUTE("POST", "/tokens")),
   .run = op_token_add},
  {.name = "token list", .group = "Tokens", .summary = "List the tokens of the team",
   .help = "Includes expired and revoked tokens; never shows their secrets.",
   .example = "cairn token list",
   .params = no_params,
   .result = "tokens:[@token] count:int",
   .routes = ROUTES(ROUTE("GET", "/tokens")),
   .run = op_token_list},
  {.name = "token revoke", .group = "Tokens", .summary = "Revoke a token",
   .help = "Takes effect at its next call; open streams stop. Also revokes the tokens that were created with it.",
   .example = "cairn token revoke ci-bot",
   .params = token_name_params, .flags = OP_WRITE | OP_NO_TXN,
   .result = TOKEN " also_revoked?:[text] txn?:int",
   .routes = ROUTES(ROUTE("POST", "/tokens/{name}/revoke", .to = "name")),
   .run = op_token_revoke},
  {.name = "token delete", .group = "Tokens", .summary = "Delete a revoked or expired token",
   .help = "Revoke a valid token first. The log keeps a record of it.",
   .example = "cairn token revoke dashboard\ncairn token delete dashboard",
   .params = token_name_params, .flags = OP_WRITE | OP_NO_TXN,
   .result = TOKEN " deleted?:bool txn?:int",
   .routes = ROUTES(ROUTE("DELETE", "/tokens/{name}", .to = "name")),
   .run = op_token_delete},
  END
};
