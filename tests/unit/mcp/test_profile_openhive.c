/* test_profile_openhive.c: conversation with the eight tools of openhive, as documented. */
#include "support/harness.h"
#include "tooling.h"

static struct tool_run run;
static struct engine *engine;
static const struct profile *profile;

static void begin(void) {
  engine = tooling_engine();
  profile = profile_find(STR("openhive"));
  CHECK(profile != NULL);
}

/* The text as JSON. */
static yyjson_val *shown(void) {
  yyjson_val *v;
  CHECK_OK(json_read(&tooling_arena, run.text, &v, &tooling_error), &tooling_error);
  return v;
}

static yyjson_val *call(const char *tool, const char *json) {
  tooling_ok(&run, profile, engine, tool, json);
  return shown();
}

static yyjson_val *refused(const char *tool, const char *json) {
  CHECK_OK(tooling_call(&run, profile, engine, tool, json), &tooling_error);
  CHECK(run.is_error);
  yyjson_val *v = shown();
  CHECK(!json_bool(v, "success", true));
  CHECK(json_str(v, "error").n > 0);
  return v;
}

static yyjson_val *find(yyjson_val *list, const char *name, const char *value) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(list, i, n, v) {
    if (str_is(json_str(v, name), value))
      return v;
  }
  return NULL;
}

TEST(there_are_eight_tools) {
  static const char *const names[] = {"memory_save", "memory_delete", "memory_search", "memory_list",
                                      "vault_set",   "vault_get",     "vault_list",    "vault_delete"};
  begin();
  size_t n = 0;
  for (const struct tool *t = profile->tools; t->name; t++)
    n++;
  CHECK_INT(n, ARRAY_LEN(names));
  for (size_t i = 0; i < n; i++)
    CHECK(tool_find(profile, str_from(names[i])) != NULL);
  engine_close(&engine);
}

TEST(an_entry_is_saved_superseded_and_deleted) {
  begin();
  yyjson_val *r = call("memory_save", "{\"key\":\"auth-approach\",\"content\":\"We use JWT with 1h expiry and refresh "
                                      "tokens\",\"type\":\"decision\"}");
  CHECK(json_bool(r, "success", false));
  yyjson_val *entry = yyjson_obj_get(r, "entry");
  CHECK_STR(json_str(entry, "key"), "auth-approach");
  CHECK_STR(json_str(entry, "content"), "We use JWT with 1h expiry and refresh tokens");
  CHECK_STR(json_str(entry, "type"), "decision");
  CHECK(json_bool(entry, "is_active", false));
  CHECK_STR(json_str(entry, "team_name"), "default");
  CHECK_STR(json_str(entry, "updated_by"), "test");
  CHECK(yyjson_is_null(yyjson_obj_get(entry, "supersedes_id")));
  CHECK(yyjson_is_null(yyjson_obj_get(entry, "supersede_reason")));
  CHECK(json_str(entry, "created_at").n > 0 && json_str(entry, "updated_at").n > 0);
  int64_t first = json_int(entry, "id", 0);

  /* Without a reason it is refused and shows the current entry, even if the text is the same. */
  r = refused("memory_save", "{\"key\":\"auth-approach\",\"content\":\"Sessions in Redis\",\"type\":\"decision\"}");
  CHECK(tooling_has(json_str(r, "error"), "supersede_reason required"));
  CHECK(tooling_has(json_str(r, "error"), "We use JWT with 1h expiry"));
  refused("memory_save", "{\"key\":\"auth-approach\",\"content\":\"We use JWT with 1h expiry and refresh tokens\"}");

  r = call("memory_save",
           "{\"key\":\"auth-approach\",\"content\":\"We use opaque session tokens\",\"type\":\"decision\","
           "\"supersede_reason\":\"JWT could not be revoked\"}");
  entry = yyjson_obj_get(r, "entry");
  CHECK_INT(json_int(entry, "supersedes_id", 0), first);
  CHECK_STR(json_str(entry, "supersede_reason"), "JWT could not be revoked");

  /* The list has the active entry; a search has both, with is_active. */
  r = call("memory_list", "{}");
  CHECK_INT(yyjson_arr_size(r), 1);
  CHECK_STR(json_str(yyjson_arr_get(r, 0), "content"), "We use opaque session tokens");
  CHECK_INT(json_int(yyjson_arr_get(r, 0), "supersedes_id", 0), first);
  CHECK_STR(json_str(yyjson_arr_get(r, 0), "updated_by"), "test");
  r = call("memory_search", "{\"query\":\"JWT expiry and refresh tokens\"}");
  CHECK_STR(json_str(r, "search_mode"), "hybrid");
  yyjson_val *old = NULL, *e, *list = yyjson_obj_get(r, "results");
  size_t i, n;
  yyjson_arr_foreach(list, i, n, e) {
    CHECK(json_str(e, "key").n && json_str(e, "type").n && yyjson_is_num(yyjson_obj_get(e, "score")));
    CHECK(str_is(json_str(e, "source"), "hybrid") || str_is(json_str(e, "source"), "keyword"));
    if (tooling_has(json_str(e, "snippet"), "JWT"))
      old = e;
  }
  CHECK(old && !json_bool(old, "is_active", true));

  r = call("memory_delete", "{\"key\":\"auth-approach\"}");
  CHECK(json_bool(r, "success", false) && json_bool(r, "deleted", false));
  r = call("memory_delete", "{\"key\":\"auth-approach\"}");
  CHECK(json_bool(r, "success", false) && !json_bool(r, "deleted", true));
  r = call("memory_search", "{\"query\":\"opaque session tokens\"}");
  list = yyjson_obj_get(r, "results");
  yyjson_arr_foreach(list, i, n, e) {
    CHECK(!tooling_has(json_str(e, "snippet"), "opaque"));
  }
  engine_close(&engine);
}

static const char *numbered(int64_t id) { return arena_printf(&tooling_arena, "{\"key\":\"%lld\"}", (long long)id).p; }

static int64_t saved(const char *key) {
  const char *json = arena_printf(&tooling_arena, "{\"key\":\"%s\",\"content\":\"The text of %s\"}", key, key).p;
  return json_int(yyjson_obj_get(call("memory_save", json), "entry"), "id", 0);
}

/* Stores a memory without a key, as other interfaces do. */
static int64_t remembered(const char *text) {
  struct tool_run other = {0};
  tooling_ok(&other, profile_find(STR("default")), engine, "memory_store",
             arena_printf(&tooling_arena, "{\"text\":\"%s\"}", text).p);
  return yyjson_mut_get_sint(yyjson_mut_obj_get(other.result, "id"));
}

TEST(a_number_deletes_only_memories_of_the_project_without_a_key) {
  begin();
  int64_t global = remembered("The office is in Oslo"), global_keyed = saved("global-plan");
  tooling_project = STR("ra");
  int64_t keyed = saved("secret-plan"), bare = remembered("The build takes nine minutes");
  const int64_t kept[] = {global, global_keyed, keyed, 9999};
  for (size_t i = 0; i < ARRAY_LEN(kept); i++)
    CHECK(!json_bool(call("memory_delete", numbered(kept[i])), "deleted", true));
  tooling_project = STR("rb");
  CHECK(!json_bool(call("memory_delete", numbered(keyed)), "deleted", true));
  CHECK(!json_bool(call("memory_delete", numbered(bare)), "deleted", true));
  tooling_project = STR("ra");
  CHECK_INT(yyjson_arr_size(call("memory_list", "{}")), 4);
  CHECK(json_bool(call("memory_delete", numbered(bare)), "deleted", false));
  CHECK_INT(yyjson_arr_size(call("memory_list", "{}")), 3);
  refused("memory_save", "{\"key\":\"7\",\"content\":\"A number is not a key\"}");
  engine_close(&engine);
}

TEST(the_same_text_with_another_type_is_a_new_entry) {
  begin();
  yyjson_val *r = call("memory_save", "{\"key\":\"gateway\",\"content\":\"The payment gateway is ours\"}");
  int64_t first = json_int(yyjson_obj_get(r, "entry"), "id", 0);
  r = call("memory_save", "{\"key\":\"gateway\",\"content\":\"The payment gateway is ours\",\"type\":\"identity\","
                          "\"supersede_reason\":\"it is part of our role\"}");
  yyjson_val *entry = yyjson_obj_get(r, "entry");
  CHECK_STR(json_str(entry, "type"), "identity");
  CHECK_INT(json_int(entry, "supersedes_id", 0), first);
  CHECK_STR(json_str(entry, "supersede_reason"), "it is part of our role");
  CHECK_INT(yyjson_arr_size(call("memory_list", "{\"type\":\"identity\"}")), 1);
  CHECK_INT(yyjson_arr_size(call("memory_list", "{\"type\":\"context\"}")), 0);
  /* also with the same type: the reason is part of the entry */
  int64_t second = json_int(entry, "id", 0);
  r = call("memory_save", "{\"key\":\"gateway\",\"content\":\"The payment gateway is ours\",\"type\":\"identity\","
                          "\"supersede_reason\":\"confirmed by the owner\"}");
  entry = yyjson_obj_get(r, "entry");
  CHECK_INT(json_int(entry, "supersedes_id", 0), second);
  CHECK_STR(json_str(entry, "supersede_reason"), "confirmed by the owner");
  engine_close(&engine);
}

/* Updates on lines of their own are refused. */
TEST(updates_within_a_line_are_stored_and_reported) {
  begin();
  refused("memory_save",
          "{\"key\":\"tool\",\"content\":\"We use yarn.\\nUpdate: we use pnpm.\\nUpdate: we use bun.\"}");
  yyjson_val *r =
      call("memory_save", "{\"key\":\"tool\",\"content\":\"We use yarn. Update: pnpm. Update: we use bun.\"}");
  CHECK(json_bool(r, "success", false));
  CHECK(
      str_starts(json_str(r, "warning"), STR("the text stacks updates into one memory: store only the current state")));
  r = call("memory_save", "{\"key\":\"lint\",\"content\":\"We lint with biome\"}");
  CHECK(!yyjson_obj_get(r, "warning"));
  engine_close(&engine);
}

TEST(max_results_has_bounds) {
  begin();
  for (int i = 0; i < 7; i++)
    call("memory_save",
         arena_printf(&tooling_arena, "{\"key\":\"crane-%d\",\"content\":\"Crane %d lifts %d tons\"}", i, i, i * 10).p);
  CHECK_INT(
      yyjson_arr_size(yyjson_obj_get(call("memory_search", "{\"query\":\"crane\",\"max_results\":0}"), "results")), 5);
  CHECK_INT(
      yyjson_arr_size(yyjson_obj_get(call("memory_search", "{\"query\":\"crane\",\"max_results\":5000}"), "results")),
      7);
  engine_close(&engine);
}

TEST(types_have_aliases) {
  static const char *const pairs[][2] = {{"warning", "lesson"},      {"insight", "lesson"},    {"learning", "lesson"},
                                         {"core", "identity"},       {"self", "identity"},     {"choice", "decision"},
                                         {"commitment", "decision"}, {"note", "decision"},     {"active", "context"},
                                         {"background", "context"},  {"pointer", "reference"}, {"link", "reference"},
                                         {"archive", "historical"},  {"past", "historical"},   {"", "context"},
                                         {" Warning ", "lesson"}};
  begin();
  for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
    test_note("%s", pairs[i][0]);
    yyjson_val *r =
        call("memory_save", arena_printf(&tooling_arena,
                                         "{\"key\":\"k%zu\",\"content\":\"%s number %zu was seen\",\"type\":"
                                         "\"%s\"}",
                                         i, pairs[i][0], i * 7, pairs[i][0])
                                .p);
    CHECK_STR(json_str(yyjson_obj_get(r, "entry"), "type"), pairs[i][1]);
  }
  yyjson_val *r =
      call("memory_save", "{\"key\":\"plain\",\"content\":\"The migration of the payment gateway is next\"}");
  CHECK_STR(json_str(yyjson_obj_get(r, "entry"), "type"), "context");
  CHECK(
      tooling_has(json_str(refused("memory_save", "{\"key\":\"x\",\"content\":\"y is z\",\"type\":\"poem\"}"), "error"),
                  "Unknown memory type: poem"));
  CHECK_INT(yyjson_arr_size(call("memory_list", "{\"type\":\"lesson\"}")), 4);
  CHECK_INT(yyjson_arr_size(call("memory_list", "{\"type\":\"warning\"}")), 4);
  CHECK_INT(yyjson_arr_size(call("memory_list", "{}")), ARRAY_LEN(pairs) + 1);
  engine_close(&engine);
}

TEST(two_keys_are_two_entries_even_with_the_same_text) {
  begin();
  call("memory_save", "{\"key\":\"a\",\"content\":\"Never deploy on Fridays\",\"type\":\"lesson\"}");
  call("memory_save", "{\"key\":\"b\",\"content\":\"Never deploy on Fridays\",\"type\":\"lesson\"}");
  call("memory_save",
       "{\"key\":\"c\",\"content\":\"Never deploy on Fridays, it caused an incident\",\"type\":\"lesson\"}");
  yyjson_val *list = call("memory_list", "{\"type\":\"lesson\"}");
  CHECK_INT(yyjson_arr_size(list), 3);
  CHECK(find(list, "key", "a") && find(list, "key", "b") && find(list, "key", "c"));
  engine_close(&engine);
}

TEST(max_results_limits_a_search) {
  begin();
  for (int i = 0; i < 8; i++)
    call("memory_save",
         arena_printf(&tooling_arena,
                      "{\"key\":\"server-%d\",\"content\":\"Server number %d stands in rack %d of the hall\"}", i, i,
                      i * 3)
             .p);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(call("memory_search", "{\"query\":\"server rack\"}"), "results")), 5);
  CHECK_INT(yyjson_arr_size(
                yyjson_obj_get(call("memory_search", "{\"query\":\"server rack\",\"max_results\":2}"), "results")),
            2);
  engine_close(&engine);
}

TEST(a_text_without_letters_is_found_by_its_key) {
  begin();
  call("memory_save", "{\"key\":\"port\",\"content\":\"5433\"}");
  call("memory_save", "{\"key\":\"9-9\",\"content\":\"12:30 - 14:00\"}");
  refused("memory_save", "{\"key\":\"port\",\"content\":\"5434\"}");
  yyjson_val *r = call("memory_search", "{\"query\":\"port\",\"max_results\":1}");
  CHECK_STR(json_str(yyjson_arr_get(yyjson_obj_get(r, "results"), 0), "snippet"), "5433");
  engine_close(&engine);
}

TEST(a_snippet_is_the_passage_that_matched) {
  begin();
  struct buf b = BUF(&tooling_arena);
  buf_adds(&b, "{\"key\":\"report\",\"type\":\"reference\",\"content\":\"");
  for (int i = 0; i < 12; i++) {
    for (int k = 0; k < 80; k++)
      buf_addf(&b, "word%dx%d ", i, k);
    buf_addf(&b, "%s\\n\\n", i == 6 ? "zanzibar" : "end");
  }
  buf_adds(&b, "\"}");
  call("memory_save", b.p);
  yyjson_val *r = call("memory_search", "{\"query\":\"zanzibar\",\"max_results\":1}");
  struct str snippet = json_str(yyjson_arr_get(yyjson_obj_get(r, "results"), 0), "snippet");
  CHECK(tooling_has(snippet, "zanzibar"));
  CHECK(snippet.n > 800 && snippet.n < 4000);
  engine_close(&engine);
}

TEST(the_vault_keeps_values_and_hides_secrets) {
  begin();
  yyjson_val *r = call("vault_set", "{\"key\":\"reported_posts\",\"value\":\"[1,2]\"}");
  CHECK(json_bool(r, "success", false));
  CHECK_STR(json_str(yyjson_obj_get(r, "entry"), "key"), "reported_posts");
  call("vault_set", "{\"key\":\"reported_posts\",\"value\":\"[1,2,3]\"}");
  call("vault_set", "{\"key\":\"cursor\",\"value\":17}");
  r = call("vault_get", "{\"key\":\"reported_posts\"}");
  CHECK(json_bool(r, "success", false));
  CHECK_STR(json_str(r, "value"), "[1,2,3]");
  r = call("vault_list", "{}");
  CHECK_INT(yyjson_arr_size(r), 2);
  yyjson_val *e = find(r, "key", "cursor");
  CHECK(e && !json_bool(e, "isSecret", true));
  CHECK_STR(json_str(e, "value"), "17");
  CHECK_INT(yyjson_arr_size(call("vault_list", "{\"prefix\":\"rep\"}")), 1);
  CHECK(json_bool(call("vault_delete", "{\"key\":\"cursor\"}"), "deleted", false));
  refused("vault_get", "{\"key\":\"cursor\"}");
  CHECK(!json_bool(call("vault_delete", "{\"key\":\"cursor\"}"), "deleted", true));
  tooling_trust = STR("agent");
  r = call("vault_set", "{\"key\":\"db\",\"value\":\"correct horse battery\",\"is_secret\":true}");
  CHECK(json_bool(yyjson_obj_get(r, "entry"), "isSecret", false));
  CHECK(!tooling_has(run.text, "correct horse"));
  CHECK_STR(json_str(find(call("vault_list", "{}"), "key", "db"), "handle"), "vault:db");
  CHECK(!tooling_has(run.text, "correct horse"));
  refused("vault_get", "{\"key\":\"db\"}"); /* not granted */
  CHECK(!tooling_has(run.text, "correct horse"));
  refused("vault_delete", "{\"key\":\"db\"}");
  r = refused("vault_set", "{\"key\":\"token\",\"value\":\"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"}");
  CHECK(!tooling_has(run.text, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"));
  CHECK_STR(json_str(r, "fix"),
            "if it is one, store it encrypted: vault_set {\"key\":\"KEY\",\"value\":\"VALUE\",\"is_secret\":true}");
  /* Values are not memories. */
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(call("memory_search", "{\"query\":\"reported posts\"}"), "results")), 0);
  CHECK_INT(yyjson_arr_size(call("memory_list", "{}")), 0);
  engine_close(&engine);
  arena_release(&tooling_arena); /* a sanitizer does not look for pointers in locked memory */
}

TEST(missing_arguments_and_keys_are_named) {
  begin();
  CHECK_STATUS(tooling_call(&run, profile, engine, "memory_save", "{\"key\":\"a\"}"), STATUS_USAGE);
  CHECK_STATUS(tooling_call(&run, profile, engine, "memory_search", "{}"), STATUS_USAGE);
  CHECK_STATUS(tooling_call(&run, profile, engine, "vault_set", "{\"key\":\"a\"}"), STATUS_USAGE);
  refused("memory_save", "{\"key\":\"a\",\"content\":\"  \"}");
  refused("memory_save", "{\"key\":\"t\",\"content\":\"The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a\"}");
  engine_close(&engine);
}
