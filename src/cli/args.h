/* args.h: parses the command line into the arguments of an operation, using the table of operations. No I/O. */
#pragma once

#include "op/op.h"

enum cli_command { CLI_OPERATION, CLI_HELP, CLI_VERSION, CLI_MANUAL, CLI_COMPLETION };

/* Commands that are not operations. */
struct builtin {
  const char *name;
  enum cli_command command;
  const char *arguments, *summary;
  const struct param *params; /* its options; NULL: none */
};
extern const struct builtin builtins[]; /* ends with name == NULL */

/* Options of the program itself, described as parameters. */
extern const struct param global_params[];

/* A parsed command line. */
struct cli_args {
  enum cli_command command;
  const struct op *op;         /* the operation, or the one to explain; NULL: none */
  const struct builtin *topic; /* built-in command to explain; NULL: none */
  struct str words;            /* after help: a family of operations ("task"); after completion: the shell */
  yyjson_mut_doc *doc;         /* owns both objects */
  yyjson_mut_val *args;        /* arguments of the operation or builtin, by parameter name */
  yyjson_mut_val *globals;     /* global options, by name */
  const struct param *input;   /* parameter to read from standard input; NULL: none */
  bool input_asked;            /* "-" was given explicitly */
};

/* Parses argv[1..]; errors name the argument at fault. */
NODISCARD enum status args_parse(struct arena *a, int argc, const char *const *argv, struct cli_args *ret_args,
                                 struct error *err);
/* True if --json is given. Checked before parsing, so parse errors have the right format. */
bool args_want_json(int argc, const char *const *argv);

/* Sets the parameter args->input to the text of standard input. */
NODISCARD enum status args_set_input(struct cli_args *args, struct str text, struct error *err);
/* Checks required arguments; args->input counts as present. */
NODISCARD enum status args_check(struct arena *a, const struct cli_args *args, struct error *err);

/* Readers of the objects; absent if not given. */
struct str args_text(yyjson_mut_val *obj, const char *name);
bool args_flag(yyjson_mut_val *obj, const char *name);

/* Option name of a parameter ("tag" for --tag), and the placeholder of its value ("ID", "PRIORITY"). */
struct str args_spelling(struct arena *a, const struct param *p);
struct str args_placeholder(struct arena *a, const struct param *p);
/* True if an operation's name starts with this word. */
bool args_is_family(struct str word);
