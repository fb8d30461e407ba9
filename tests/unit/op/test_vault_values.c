/* test_vault_values.c: the cached vault values: always current, and only in locked memory. */
#include "op/run/vault_values.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "op/vault/key.h"
#include "support/cli.h"
#include "support/scan.h"

static struct arena a;
static struct caller caller;
static struct error err;

static _Atomic uint64_t *shared_writes;

static struct engine *open_engine(void) {
  struct engine *engine;
  struct engine_options o = {
      .path = test_store("store.db"), .clock = {.fixed = INT64_C(1800000000000)}, .writes = shared_writes};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  caller = (struct caller){.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  return engine;
}

static yyjson_mut_val *run(struct engine *e, const char *op, const char *args) {
  yyjson_val *v;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, str_from(args), &v, &err), &err);
  CHECK_OK(op_run(e, op_find(str_from(op)), &caller, NULL, &a, v, &result, &err), &err);
  return result;
}

/* A sanitizer does not look for pointers in locked memory. */
static void close_engine(struct engine **e) {
  engine_close(e);
  arena_release(&a);
}

static void set(struct engine *e, const char *key, const char *value) {
  run(e, "vault set", textf("{\"key\":\"%s\",\"value\":\"%s\",\"secret\":true}", key, value));
}

static const struct strs *current(struct engine *e, struct str team) {
  uint64_t version;
  return vault_values_versioned(e, team, false, &version);
}

static bool knows(struct engine *e, const char *value) { return strs_has(current(e, caller.team), str_from(value)); }

TEST(set_replaced_and_deleted_values_are_known_at_once) {
  struct engine *one = open_engine(), *two = open_engine();
  CHECK_INT(current(one, caller.team)->n, 0);
  set(one, "a", "first value");
  run(one, "vault set", "{\"key\":\"plain\",\"value\":\"no secret\"}");
  CHECK(knows(one, "first value") && knows(two, "first value"));
  CHECK_INT(current(one, caller.team)->n, 1);
  set(two, "a", "other value"); /* at the same time: the clock is fixed */
  CHECK(knows(one, "other value") && !knows(one, "first value"));
  set(two, "b", "second");
  CHECK_INT(current(one, caller.team)->n, 2);
  run(two, "vault delete", "{\"key\":\"a\"}");
  CHECK(!knows(one, "other value") && knows(one, "second"));
  CHECK_INT(current(one, STR("another-team"))->n, 0);
  CHECK(knows(one, "second"));
  close_engine(&one);
  close_engine(&two);
}

static bool knew_lately(struct engine *e, const char *value) {
  uint64_t number;
  return strs_has(vault_values_versioned(e, caller.team, true, &number), str_from(value));
}

/* Two engines that share nothing behave like two processes. */
TEST(values_of_another_process_are_known_before_a_write) {
  struct engine *one = open_engine(), *two = open_engine();
  set(two, "a", "first value");
  CHECK(knew_lately(one, "first value"));
  set(two, "b", "second value");
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, STR("{\"text\":\"They say second value there\"}"), &args, &err), &err);
  CHECK_INT(op_run(one, op_find(STR("remember")), &caller, NULL, &a, args, &result, &err), STATUS_SECRET);
  set(two, "c", "third value");
  int64_t until = clock_ticks_us() + INT64_C(15000000) * test_slowness();
  while (!knew_lately(one, "third value") && clock_ticks_us() < until)
    usleep(20000);
  CHECK(knew_lately(one, "third value"));
  close_engine(&one);
  close_engine(&two);
}

TEST(values_of_one_engine_are_known_to_its_process_at_once) {
  static _Atomic uint64_t writes;
  shared_writes = &writes;
  struct engine *one = open_engine(), *two = open_engine();
  for (int i = 0; i < 20; i++) {
    const char *value = textf("value number %d", i);
    CHECK(!knew_lately(one, value));
    set(two, "a", value);
    CHECK(knew_lately(one, value));
  }
  close_engine(&one);
  close_engine(&two);
}

TEST(an_unchanged_list_keeps_its_number) {
  struct engine *e = open_engine();
  uint64_t first, again, later;
  set(e, "a", "first value");
  vault_values_versioned(e, caller.team, false, &first);
  run(e, "remember", "{\"text\":\"The build machine has 64 cores\"}");
  const struct strs *list = vault_values_versioned(e, caller.team, false, &again);
  CHECK_INT(list->n, 1);
  CHECK(first == again);
  set(e, "a", "other value");
  vault_values_versioned(e, caller.team, false, &later);
  CHECK(later != first);
  close_engine(&e);
}

TEST(without_a_key_nothing_is_known_and_no_call_fails) {
  struct engine *e = open_engine();
  set(e, "a", "first value");
  close_engine(&e);
  setenv("CAIRN_VAULT_KEY_FILE", path_join(NULL, "no such file"), 1);
  e = open_engine();
  CHECK_INT(current(e, caller.team)->n, 0);
  run(e, "remember", "{\"text\":\"The build machine has 64 cores\"}");
  struct str fault, fix;
  CHECK_OK(vault_values_check(e, caller.team, &a, &fault, &fix, &err), &err);
  CHECK(has(fault, "1 secret cannot be decrypted") && has(fix, "no such file"));
  close_engine(&e);
  unsetenv("CAIRN_VAULT_KEY_FILE");
  e = open_engine();
  CHECK(knows(e, "first value"));
  close_engine(&e);
}

/* ---- memory ---- */

/* "hush-3f9a-quiet-77c1-still", masked. */
static const char masked[] = "\x3d\x20\x26\x3d\x78\x66\x33\x6c\x34\x78\x24\x20\x3c\x30\x21\x78\x62\x62\x36\x64\x78\x26"
                             "\x21\x3c\x39\x39";

static yyjson_val *args_with_secret(struct arena *memory) {
  struct buf b = BUF(memory);
  yyjson_val *v;
  buf_adds(&b, "{\"key\":\"k\",\"secret\":true,\"value\":\"");
  for (size_t i = 0; i < sizeof(masked) - 1; i++)
    buf_addc(&b, (char)(masked[i] ^ SCAN_MASK));
  buf_adds(&b, "\"}");
  CHECK_OK(json_read(memory, buf_str(&b), &v, &err), &err);
  return v;
}

static void check_memory(bool none) {
  struct scan found = scan_memory(0, (struct str){masked, sizeof(masked) - 1});
  CHECK(found.readable);
  CHECK_INT(found.risky, 0);
  CHECK(none ? found.safe == 0 : found.safe > 0);
}

TEST(a_secret_is_only_in_locked_memory, .seconds = 60) {
  struct engine *e = open_engine();
  struct arena memory;
  yyjson_mut_val *result;
  run(e, "remember", "{\"text\":\"The build machine has 64 cores\"}"); /* a text that is checked for the value */
  arena_init(&memory);
  arena_guard(&memory);
  CHECK_OK(op_run(e, op_find(STR("vault set")), &caller, NULL, &memory, args_with_secret(&memory), &result, &err),
           &err);
  check_memory(false);
  arena_release(&memory);
  arena_guard(&memory);
  yyjson_val *args;
  CHECK_OK(json_read(&memory, STR("{\"key\":\"k\",\"reveal\":true}"), &args, &err), &err);
  CHECK_OK(op_run(e, op_find(STR("vault get")), &caller, NULL, &memory, args, &result, &err), &err);
  CHECK_INT(yyjson_mut_get_len(yyjson_mut_obj_get(result, "value")), sizeof(masked) - 1);
  CHECK_INT(current(e, caller.team)->n, 1);
  check_memory(false);
  arena_release(&memory);
  run(e, "vault rotate", "{}");
  close_engine(&e);
  check_memory(true);
}

TEST(a_process_with_a_key_leaves_no_core_dump) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
  struct engine *e = open_engine();
  set(e, "a", "first value");
  CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
  CHECK_INT(limit.rlim_cur, 0);
  CHECK_INT(limit.rlim_max, 0);
  close_engine(&e);
}

static void look_again(void *e) { (void)current(e, caller.team); }

/* Cached values stay, and the next check reads the current vault. */
TEST(out_of_memory_in_a_vault_read_leaves_no_snapshot) {
  no_statement_check();
  struct engine *one = open_engine(), *two = open_engine();
  set(two, "a", "first value");
  CHECK(knows(one, "first value"));
  CHECK(check_leaves_no_snapshot(one->store, test_store("store.db"), look_again, one) >= 1);
  set(two, "b", "second value");
  CHECK(knows(one, "first value") && knows(one, "second value"));
  close_engine(&one);
  close_engine(&two);
}
