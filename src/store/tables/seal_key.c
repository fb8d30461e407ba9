/* seal_key.c: key that signs cursors and other state sent to clients. */
#include "store/tables/seal_key.h"

#include <sodium.h>

#include "store/store_internal.h"

enum { HEX_SIZE = 2 * STATE_KEY_SIZE + 1 };

static enum status read_key(struct store *st, uint8_t ret_key[STATE_KEY_SIZE], bool *ret_found, struct error *err) {
  struct rows r;
  size_t n = 0;
  bool found = false, whole = false;
  db_query(st->db, &r, err, "SELECT value FROM meta WHERE name = 'door_key'", NULL);
  if (rows_next(&r)) {
    struct str hex = rows_text(&r, 0);
    found = true;
    whole = sodium_hex2bin(ret_key, STATE_KEY_SIZE, hex.p, hex.n, NULL, &n, NULL) == 0 && n == STATE_KEY_SIZE;
  }
  TRY(rows_end(&r));
  if (found && !whole)
    return error_set(err, STATUS_CORRUPT, "the store's key for cursors is damaged");
  *ret_found = found;
  return STATUS_OK;
}

enum status state_key_load(struct store *st, uint8_t ret_key[STATE_KEY_SIZE], struct error *err) {
  uint8_t key[STATE_KEY_SIZE];
  char hex[HEX_SIZE];
  bool found = false;
  enum status s = read_key(st, key, &found, err);
  if (s == STATUS_OK && !found) {
    randombytes_buf(key, sizeof(key));
    sodium_bin2hex(hex, sizeof(hex), key, sizeof(key));
    s = db_exec(st->db, err, "INSERT INTO meta (name, value) VALUES ('door_key', ?1) ON CONFLICT (name) DO NOTHING",
                "s", (struct str){hex, sizeof(hex) - 1});
    if (s == STATUS_OK)
      s = read_key(st, key, &found, err);
    sodium_memzero(hex, sizeof(hex));
  }
  if (s == STATUS_OK)
    memcpy(ret_key, key, sizeof(key));
  sodium_memzero(key, sizeof(key));
  return s;
}
