/* key.c: lookup and creation of master keys. */
#include "op/vault/key.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "base/os/process.h"
#include "base/utf8.h"
#include "file/key_file.h"

#define PROOF_TEXT STR("cairn")

enum { RING_KEYS = 8, PASSPHRASE_MIN = 12 };

/* Cache of keys derived from passphrases, right or wrong: deriving one takes most of a second, and every call may need
 * it. */
struct key_ring {
  size_t n; /* keys ever added; the oldest is overwritten */
  struct stretched {
    uint8_t of[32]; /* hash of the passphrase and its parameters */
    struct master_key key;
  } v[RING_KEYS];
};

void key_ring_free(struct key_ring **ring) {
  if (*ring)
    mem_secret_free(*ring);
  *ring = NULL;
}

/* An empty variable counts as unset. */
static struct str env_str(const char *name) {
  struct str value = str_from(getenv(name));
  return value.n ? value : STR_NONE;
}

enum status vault_key_file_path(struct arena *a, struct str *ret_path, struct error *err) {
  struct str path = env_str("CAIRN_VAULT_KEY_FILE");
  if (!path.p)
    return fs_xdg(a, XDG_CONFIG, "cairn/vault.key", ret_path, err);
  *ret_path = path;
  return STATUS_OK;
}

static enum status key_path(const struct key_search *in, const char **ret_path) {
  struct str path;
  TRY(vault_key_file_path(in->a, &path, in->err));
  *ret_path = path.p;
  return STATUS_OK;
}

/* ---- passphrases ---- */

static enum status stretch_key(const struct key_search *in, struct str passphrase, const struct stretch *how,
                               struct master_key *ret_key) {
  if (!in->engine->keys) {
    in->engine->keys = mem_secret(sizeof(struct key_ring));
    if (!in->engine->keys)
      return error_set(in->err, STATUS_NOMEM, "out of memory");
    *in->engine->keys = (struct key_ring){0};
  }
  struct key_ring *ring = in->engine->keys;
  struct stretched made;
  crypto_generichash(made.of, sizeof(made.of), (const uint8_t *)passphrase.p, passphrase.n, (const uint8_t *)how,
                     sizeof(*how));
  for (size_t i = 0; i < RING_KEYS && i < ring->n; i++)
    if (memcmp(ring->v[i].of, made.of, sizeof(made.of)) == 0) {
      *ret_key = ring->v[i].key;
      return STATUS_OK;
    }
  if (!master_stretch(passphrase, how, &made.key))
    return error_set(in->err, STATUS_NOMEM, "not enough memory to derive a key from the passphrase");
  ring->v[ring->n++ % RING_KEYS] = made;
  *ret_key = made.key;
  sodium_memzero(&made, sizeof(made));
  return STATUS_OK;
}

static bool find_in_ring(const struct key_search *in, const char *id, struct master_key *ret_key) {
  const struct key_ring *ring = in->engine->keys;
  for (size_t i = 0; ring && i < RING_KEYS && i < ring->n; i++)
    if (strcmp(ring->v[i].key.id, id) == 0) {
      *ret_key = ring->v[i].key;
      return true;
    }
  return false;
}

/* From the environment variable, else typed by a person; absent if there is neither. */
static struct str get_passphrase(const struct key_search *in, const char *name, const char *prompt) {
  struct str given = env_str(name), typed;
  if (given.p || !prompt || !in->hooks || !in->hooks->ask)
    return given;
  return in->hooks->ask(in->hooks->arg, prompt, in->a, &typed) ? typed : STR_NONE;
}

/* ---- the existing key ---- */

static enum status refuse_unavailable(const struct key_search *in, const struct vault_key *row) {
  const char *path = "vault.key";
  struct error ignored;
  struct key_search quiet = *in;
  quiet.err = &ignored;
  if (key_path(&quiet, &path) != STATUS_OK)
    path = "vault.key";
  error_set(in->err, STATUS_UNAVAILABLE, "the secrets of team '%.*s' are encrypted with key %s, which is not available",
            STR_ARG(in->team), row->id);
  if (row->passphrase)
    return error_fix(in->err, "set CAIRN_VAULT_PASSPHRASE to the passphrase of the vault, or run the command at a "
                              "terminal and type it");
  return error_fix(in->err, "restore the key file from your backup (%s), or set CAIRN_VAULT_KEY", path);
}

static enum status refuse_variable(const struct key_search *in, const char *name) {
  error_set(in->err, STATUS_USAGE, "%s is not a key: neither 64 hex digits nor base64 of 32 bytes", name);
  return error_fix(in->err, "make one with: openssl rand -hex 32");
}

static enum status open_with_passphrase(const struct key_search *in, const struct vault_key *row,
                                        struct master_key *ret_key) {
  if (find_in_ring(in, row->id, ret_key))
    return STATUS_OK;
  struct str passphrase = get_passphrase(in, "CAIRN_VAULT_PASSPHRASE", "Passphrase of the vault: ");
  if (!passphrase.p)
    return refuse_unavailable(in, row);
  TRY(stretch_key(in, passphrase, &row->how, ret_key));
  if (strcmp(ret_key->id, row->id) == 0)
    return STATUS_OK;
  error_set(in->err, STATUS_UNAVAILABLE, "this is not the passphrase of the vault of team '%.*s'", STR_ARG(in->team));
  return error_fix(in->err, "set CAIRN_VAULT_PASSPHRASE to the one that the secrets were stored with");
}

static enum status open_with_key(const struct key_search *in, const struct vault_key *row, struct master_key *ret_key) {
  struct str given = env_str("CAIRN_VAULT_KEY");
  struct master_keys keys = {0};
  const char *path;
  if (given.p && !master_parse(given, ret_key))
    return refuse_variable(in, "CAIRN_VAULT_KEY");
  if (given.p && strcmp(ret_key->id, row->id) == 0)
    return STATUS_OK;
  TRY(key_path(in, &path));
  TRY(key_file_read(in->a, path, &keys, in->err));
  for (size_t i = 0; i < keys.n; i++)
    if (strcmp(keys.v[i].id, row->id) == 0) {
      *ret_key = keys.v[i];
      return STATUS_OK;
    }
  return refuse_unavailable(in, row);
}

enum status key_open(const struct key_search *in, const struct vault_key *row, struct master_key *ret_key) {
  assert(in->a->guarded);
  struct master_key key;
  struct str proof;
  process_protect_memory();
  enum status s = row->passphrase ? open_with_passphrase(in, row, &key) : open_with_key(in, row, &key);
  if (s == STATUS_OK && !unseal(in->a, &key, in->team, STR(""), row->proof, &proof)) {
    error_set(in->err, STATUS_CORRUPT, "the store's record of the vault key is damaged");
    s = error_fix(in->err, "restore a backup with 'cairn restore'");
  }
  if (s == STATUS_OK)
    *ret_key = key;
  sodium_memzero(&key, sizeof(key));
  return s;
}

/* ---- a new key ---- */

static enum status refuse_short_passphrase(const struct key_search *in) {
  error_set(in->err, STATUS_REFUSED, "a vault passphrase needs at least %d characters", PASSPHRASE_MIN);
  return error_fix(in->err, "use several unrelated words");
}

static enum status key_of_passphrase(const struct key_search *in, struct str passphrase, struct vault_key *ret_row,
                                     struct master_key *ret_key) {
  if (passphrase.n < PASSPHRASE_MIN)
    return refuse_short_passphrase(in);
  stretch_new(&ret_row->how);
  ret_row->passphrase = true;
  return stretch_key(in, passphrase, &ret_row->how, ret_key);
}

/* Where a new key comes from. */
struct key_source {
  const char *key, *passphrase; /* names of environment variables */
  bool ask;                     /* ask for a passphrase if its variable is unset */
  enum status (*in_file)(struct arena *a, const char *path, struct master_key *ret_key, struct error *err);
};

static enum status ask_twice(const struct key_search *in, struct str *ret_passphrase) {
  struct str first = get_passphrase(in, "CAIRN_VAULT_NEW_PASSPHRASE", "New passphrase of the vault: ");
  struct str again = first.p ? get_passphrase(in, "CAIRN_VAULT_NEW_PASSPHRASE", "Repeat the passphrase: ") : STR_NONE;
  if (first.p && str_eq(first, again)) {
    *ret_passphrase = first;
    return STATUS_OK;
  }
  error_set(in->err, STATUS_USAGE, first.p ? "the two passphrases differ" : "no terminal to ask for a passphrase");
  return error_fix(in->err, "set CAIRN_VAULT_NEW_PASSPHRASE, or run the command at a terminal");
}

static enum status make_key(const struct key_search *in, const struct key_source *from, struct vault_key *row,
                            struct master_key *key) {
  struct str given = env_str(from->key), passphrase = env_str(from->passphrase);
  const char *path;
  if (given.p)
    return master_parse(given, key) ? STATUS_OK : refuse_variable(in, from->key);
  if (!passphrase.p && from->ask)
    TRY(ask_twice(in, &passphrase));
  if (passphrase.p)
    return key_of_passphrase(in, passphrase, row, key);
  TRY(key_path(in, &path));
  enum status s = from->in_file(in->a, path, key, in->err);
  if (s == STATUS_READONLY) /* a server in its sandbox, for example */
    return error_fix(in->err, "a person creates the key with the first secret: cairn vault set KEY --secret");
  return s;
}

static enum status new_key(const struct key_search *in, const struct key_source *from, struct vault_key *ret_row,
                           struct master_key *ret_key) {
  assert(in->a->guarded);
  struct vault_key row = {0};
  struct master_key key;
  process_protect_memory();
  enum status s = make_key(in, from, &row, &key);
  if (s == STATUS_OK) {
    memcpy(row.id, key.id, sizeof(row.id));
    row.proof = seal(in->a, &key, in->team, STR(""), PROOF_TEXT);
    *ret_row = row;
    *ret_key = key;
  }
  sodium_memzero(&key, sizeof(key));
  return s;
}

enum status key_first(const struct key_search *in, struct vault_key *ret_row, struct master_key *ret_key) {
  struct key_source from = {"CAIRN_VAULT_KEY", "CAIRN_VAULT_PASSPHRASE", false, key_file_first};
  return new_key(in, &from, ret_row, ret_key);
}

enum status key_next(const struct key_search *in, bool ask, struct vault_key *ret_row, struct master_key *ret_key) {
  struct key_source from = {"CAIRN_VAULT_NEW_KEY", "CAIRN_VAULT_NEW_PASSPHRASE", ask, key_file_add};
  return new_key(in, &from, ret_row, ret_key);
}
