/* vault.c: rows of the operations on the vault. Data only. */
#include "op/table/row.h"

/* clang-format off */

#define VAULT_KEY TEXT("key", REQ_POS, "KEY", "name of the value")
static const struct param vault_key_params[] = {VAULT_KEY, END};
static const struct param vault_set_params[] = {
  VAULT_KEY,
  TEXT("value", REQ_POS | PARAM_STDIN | PARAM_SECRETS, "VALUE", "any text; pass a secret on standard input, where other users cannot see it"),
  FLAG("secret", "encrypt it; agents need a grant to read it; stays a secret until deleted"),
  END
};
static const struct param vault_get_params[] = {
  VAULT_KEY, FLAG("reveal", "show a secret's value and record it in the event log; agents need a grant"), END
};
#define GRANT_TO TEXT("to", PARAM_REQUIRED, "NAME", \
  "an agent's name, token:NAME for a token, 'agent' for unnamed agents, or '*' for the whole team")
static const struct param vault_grant_params[] = {
  VAULT_KEY,
  GRANT_TO,
  TEXT("ttl", 0, "TIME", "expiry: '1h', '7d', or a date (default: until revoked)"),
  INT("uses", "N", "maximum number of reads (default: unlimited)"),
  END
};
static const struct param vault_grants_params[] = {
  TEXT("key", PARAM_POSITIONAL, "KEY", "only grants for this secret"), END
};
static const struct param vault_revoke_params[] = {VAULT_KEY, GRANT_TO, END};
static const struct param vault_rotate_params[] = {
  FLAG("passphrase", "use a passphrase from now on; asks for it at the terminal"), END
};
static const struct param vault_list_params[] = {
  TEXT("prefix", PARAM_POSITIONAL, "PREFIX", "only keys with this prefix"), END
};
static const struct param vault_add_params[] = {
  VAULT_KEY, {"by", PARAM_INT, PARAM_POSITIONAL, NULL, "N", NULL, "amount, may be negative (default 1)"}, END
};

const struct op vault_ops[] = {
  {.name = "vault set", .group = "Vault", .summary = "Store a named value",
   .help = "For state that programs read by name: counters, flags, progress, caches. Vault values are never searched and "
   "never added to a prompt. The log records the key but not the value, so there is no undo.\n\nWith --secret the "
   "value is encrypted. The key comes from CAIRN_VAULT_KEY, CAIRN_VAULT_PASSPHRASE, or the key file "
   "(CAIRN_VAULT_KEY_FILE, else cairn/vault.key in the XDG configuration folder), which is created with the first "
   "secret: keep a copy of it. At a terminal, a secret without VALUE is prompted for and not shown. The reply lists "
   "memories that already contain the value. Text that looks like a secret is refused without --secret.",
   .example = "cairn vault set reports:last-run 2026-03-31\ndate | cairn vault set cache:now -\n"
   "printf %s 'correct horse battery' | cairn vault set db:password - --secret",
   .params = vault_set_params, .flags = OP_WRITE | OP_SECRET,
   .result = SEALED " action=created|updated held_by?:[int] warnings?:[@warning] txn?:int",
   .run = op_vault_set},
  {.name = "vault get", .group = "Vault", .summary = "Show a named value",
   .help = "For a secret, shows its handle, vault:KEY, which agents can use to refer to it. --reveal shows the value: to a "
   "person at the command line, and to an agent with a grant. Every attempt is logged, including refused ones.",
   .example = "cairn vault get reports:last-run\ncairn vault get db:password --reveal",
   .params = vault_get_params, .flags = OP_SECRET | OP_READS,
   .reveals = "value",
   .result = SEALED,
   .run = op_vault_get},
  {.name = "vault list", .group = "Vault", .summary = "List named values",
   .help = "",
   .example = "cairn vault list\ncairn vault list reports:",
   .params = vault_list_params,
   .result = "entries:[@sealed] count:int",
   .run = op_vault_list},
  {.name = "vault add", .group = "Vault", .summary = "Add to a counter",
   .help = "Atomic: concurrent increments are never lost. A missing key starts at 0.",
   .example = "cairn vault add reports:sent\ncairn vault add quota:left -5",
   .params = vault_add_params, .flags = OP_WRITE,
   .result = "key value:int txn?:int",
   .run = op_vault_add},
  {.name = "vault delete", .group = "Vault", .summary = "Delete a named value",
   .help = "A secret is deleted with its grants. Agents cannot delete secrets.",
   .example = "cairn vault delete reports:last-run",
   .params = vault_key_params, .flags = OP_WRITE,
   .result = "key deleted:bool txn?:int",
   .run = op_vault_delete},
  {.name = "vault grant", .group = "Vault", .summary = "Allow an agent to read a secret",
   .help = "The agent can then reveal the value until the grant expires or is revoked. A new grant to the same name replaces "
   "the old one. Agents cannot grant; a token with the role admin can.",
   .example = "cairn vault grant db:password --to deployer --ttl 1h --uses 3",
   .params = vault_grant_params, .flags = OP_WRITE,
   .result = "+grant txn?:int",
   .run = op_vault_grant},
  {.name = "vault grants", .group = "Vault", .summary = "List who may read which secret",
   .help = "",
   .example = "cairn vault grants\ncairn vault grants db:password",
   .params = vault_grants_params,
   .result = "grants:[@grant] count:int",
   .run = op_vault_grants},
  {.name = "vault revoke", .group = "Vault", .summary = "Revoke a grant",
   .help = "",
   .example = "cairn vault revoke db:password --to deployer",
   .params = vault_revoke_params, .flags = OP_WRITE,
   .result = "key to revoked:bool txn?:int",
   .run = op_vault_revoke},
  {.name = "vault rotate", .group = "Vault", .summary = "Re-encrypt all secrets of the team with a new key",
   .help = "One transaction. The new key is CAIRN_VAULT_NEW_KEY (64 hex digits, or base64 of 32 bytes), "
   "CAIRN_VAULT_NEW_PASSPHRASE, a passphrase entered at the terminal (--passphrase), or a new key in the key file. "
   "The old key stays in the key file: older backups need it.",
   .example = "cairn vault rotate",
   .params = vault_rotate_params, .flags = OP_WRITE | OP_SECRET,
   .result = "secrets:int from to way=key|passphrase txn?:int",
   .run = op_vault_rotate},
  END
};
