/* commands.c: table of long-running commands. */
#include "cli/commands.h"

const struct command commands[] = {
    {{.name = "serve",
      .group = "Servers",
      .summary = "Serve MCP, REST and events over HTTP",
      .help =
          "Listens on loopback or a socket file until Ctrl-C or SIGTERM, then finishes running calls and ends streams. "
          "Prints its address and the command that connects a client. Endpoints: /mcp, and /mcp/PROFILE for another "
          "tool "
          "profile; REST at /api/v1; changes at /events; /healthz, /readyz and /metrics for monitoring. Local clients "
          "need "
          "no token unless --require-token is given; a client that sends a token ('cairn token add') has the access of "
          "that token. An address other than loopback requires TLS, or a proxy that terminates it, and a token from "
          "every "
          "remote client. Requests whose Host or Origin does not name the server are refused.",
      .example = "cairn serve\ncairn serve --port 0 --profile readonly\ncairn serve --socket /tmp/cairn.sock",
      .params = serve_params,
      .flags = OP_EVERYDAY},
     run_serve},
    {{.name = "mcp",
      .group = "Servers",
      .summary = "Serve MCP on stdio, to the client that starts it",
      .help =
          "Reads requests from standard input and writes replies to standard output, until the input is closed. The "
          "store "
          "is opened by the first call that needs it. The source of writes is the client's name, unless --source is "
          "given.",
      .example = "cairn mcp\ncairn mcp --profile readonly --project web",
      .params = mcp_params,
      .flags = OP_EVERYDAY},
     run_mcp},
    {{.name = "top",
      .group = "Servers",
      .summary = "Watch sessions, calls and events as they happen",
      .help =
          "Refreshes every second: live sessions, calls per second, counts and latencies per tool, and recent events, "
          "of "
          "all processes that use the store. Press q or Ctrl-C to quit. Without a terminal, or with --once or --json, "
          "prints one snapshot.",
      .example = "cairn top --once\ncairn top --once --minutes 60 --json",
      .params = top_params,
      .flags = 0},
     run_top},

    {{0}, NULL},
};

const struct command *command_of(const struct op *op) {
  for (const struct command *d = commands; d->op.name; d++)
    if (op == &d->op)
      return d;
  return NULL;
}

const struct op *command_find(struct str name) {
  for (const struct command *d = commands; d->op.name; d++)
    if (str_is(name, d->op.name))
      return &d->op;
  return op_find(name);
}
