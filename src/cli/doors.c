/* doors.c: the table of servers and of the live view. */
#include "cli/doors.h"

const struct door doors[] = {
    {{"serve", "Servers", "Serve MCP, REST and events over HTTP",
      "Listens on loopback, or on a socket file, until it is stopped by Ctrl-C or SIGTERM; then calls that are under "
      "way are finished and streams are ended. Prints its address, and the line that connects a client. MCP is at "
      "/mcp, "
      "and at /mcp/PROFILE for another set of tools; REST at /api/v1, changes at /events, and /healthz, /readyz and "
      "/metrics for whoever watches the server. Callers on this machine need no token, unless --require-token says so; "
      "who brings one ('cairn token add') is its bearer. Another address than loopback needs TLS or a proxy that ends "
      "it, and a token from everybody else. Requests whose Host or Origin does not name the server are refused.",
      "cairn serve\ncairn serve --port 0 --profile readonly\ncairn serve --socket /tmp/cairn.sock", serve_params, 0,
      NULL},
     run_serve},
    {{"mcp", "Servers", "Serve MCP on standard input and output, for clients that start their servers",
      "The client writes requests to standard input and reads the answers from standard output, until it closes the "
      "input. Nothing is opened before a call needs the store. Who writes is the client's name, unless --source says "
      "otherwise.",
      "cairn mcp\ncairn mcp --profile readonly --project web", mcp_params, 0, NULL},
     run_mcp},
    {{"top", "Servers", "Watch sessions, calls and events as they happen",
      "A view that is drawn anew every second: live sessions, calls a second, counts and latencies of each tool, and "
      "the last events, of all processes that use the store. q or Ctrl-C ends it. Without a terminal, and with --once "
      "or --json, one picture is printed.",
      "cairn top --once\ncairn top --once --minutes 60 --json", top_params, 0, NULL},
     run_top},

    {{0}, NULL},
};

const struct door *door_of(const struct op *op) {
  for (const struct door *d = doors; d->op.name; d++)
    if (op == &d->op)
      return d;
  return NULL;
}

const struct op *command_find(struct str name) {
  for (const struct door *d = doors; d->op.name; d++)
    if (str_is(name, d->op.name))
      return &d->op;
  return op_find(name);
}
