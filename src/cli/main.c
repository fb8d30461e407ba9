/* main.c: program entry: parses arguments, then prints help or runs a command. */
#include <assert.h>
#include <stdio.h>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/run.h"
#include "store/db/db.h"

static int print_version(struct arena *a, struct output *out) {
  if (out->json) {
    yyjson_mut_doc *doc = json_new(a);
    yyjson_mut_val *obj = yyjson_mut_obj(doc);
    json_put(doc, obj, "name", STR("cairn"));
    json_put(doc, obj, "version", STR(CAIRN_VERSION));
    output_json_text(out, a, json_write(a, obj, false));
    return 0;
  }
  output_text(out, STR("cairn " CAIRN_VERSION "\n"));
  return 0;
}

/* Commands that do not open a store. */
static int print_builtin(struct arena *a, const struct cli_args *args, struct output *out) {
  struct buf b = BUF(a);
  struct error err;
  assert(args->command != CLI_OPERATION);
  switch (args->command) {
  case CLI_VERSION:
    return print_version(a, out);
  case CLI_MANUAL:
    manual_page(&b);
    break;
  case CLI_COMPLETION:
    if (completion_script(&b, args->words, &err) != STATUS_OK)
      return output_error(out, a, &err);
    break;
  case CLI_HELP:
  case CLI_OPERATION:
    if (args->op)
      help_operation(&b, &out->out.style, args->op);
    else if (args->topic)
      help_builtin(&b, &out->out.style, args->topic);
    else if (args->words.p)
      help_family(&b, &out->out.style, args->words);
    else if (args_flag(args->args, "all"))
      help_all(&b, &out->out.style);
    else
      help_program(&b, &out->out.style);
    break;
  }
  output_text(out, buf_str(&b));
  return 0;
}

static int run(struct arena *a, int argc, const char *const *argv, struct output *out) {
  if (argc >= 2 && strcmp(argv[1], "--complete") == 0) {
    struct buf b = BUF(a);
    completion_words(&b, argc - 2, argv + 2);
    output_text(out, buf_str(&b));
    return 0;
  }
  struct cli_args args;
  struct error err;
  out->json = args_want_json(argc, argv);
  if (args_parse(a, argc, argv, &args, &err) != STATUS_OK)
    return output_error(out, a, &err);
  output_set(out, out->json, args_flag(args.globals, "quiet"), args_flag(args.globals, "no_color"));
  const struct command *command = command_of(args.op);
  if (args.command == CLI_OPERATION)
    return command ? command->run(a, &args, out) : run_operation(a, &args, out);
  return print_builtin(a, &args, out);
}

int main(int argc, char **argv) {
  struct output out;
  struct arena arena;
  jmp_buf oom;
  db_disable_memstats();
  output_init(&out);
  arena_init(&arena);
  int code;
  if (ARENA_BOUNDARY(&arena, oom)) {
    fputs("cairn: out of memory\n", stderr);
    code = status_exit_code(STATUS_NOMEM);
  } else {
    code = run(&arena, argc, (const char *const *)argv, &out);
  }
  arena_release(&arena);
  return output_finish(&out, code);
}
