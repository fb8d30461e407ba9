/* args.h: the command line, read by the table of operations into the arguments of one of them. No I/O. */
#pragma once

#include "op/op.h"

enum cli_command { CLI_OPERATION, CLI_HELP, CLI_VERSION, CLI_MANUAL, CLI_COMPLETION };

/* Commands that are no operations. */
struct builtin {
  const char *name;
  enum cli_command command;
  const char *arguments, *summary;
  const struct param *params; /* its options; NULL: none */
};
extern const struct builtin builtins[]; /* ends with name == NULL */

/* Options of the program itself, in the form of parameters. */
extern const struct param global_params[];

/* What a command line asks for. */
struct cli_args {
  enum cli_command command;
  const struct op *op;       /* the operation, or the one that help is wanted for; NULL: none */
  struct str words;          /* after help: a family of operations ("task"); after completion: the shell */
  yyjson_mut_doc *doc;       /* both objects belong to it */
  yyjson_mut_val *args;      /* of the operation or builtin, by its parameters' names */
  yyjson_mut_val *globals;   /* by the names in global_params */
  const struct param *input; /* the parameter that standard input is to fill; NULL: none */
  bool input_asked;          /* by "-", and not by leaving it out */
};

/* Reads argv[1..]; every error names the argument at fault. */
NODISCARD enum status args_parse(struct arena *a, int argc, const char *const *argv, struct cli_args *ret_args,
                                 struct error *err);
/* Is --json among the arguments? Known before they are parsed, so that errors come out in the right form. */
bool args_want_json(int argc, const char *const *argv);

/* Sets args->input to what standard input held. */
NODISCARD enum status args_set_input(struct cli_args *args, struct str text, struct error *err);
/* Is everything there that the operation requires? What args->input names is taken to be there. */
NODISCARD enum status args_check(struct arena *a, const struct cli_args *args, struct error *err);

/* Readers of the objects; absent when not given. */
struct str args_text(yyjson_mut_val *obj, const char *name);
bool args_flag(yyjson_mut_val *obj, const char *name);

/* How a parameter is spelled: "tag" of --tag; and what stands for its value: "ID", "PRIORITY". */
struct str args_spelling(struct arena *a, const struct param *p);
struct str args_placeholder(struct arena *a, const struct param *p);
/* Is there an operation whose first word this is? */
bool args_is_family(struct str word);
