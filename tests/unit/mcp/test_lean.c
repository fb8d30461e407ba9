/* test_lean.c: what reaches the model is small: definitions say when to call a tool and how, answers repeat nothing. */
#include <sys/stat.h>

#include "core/text/token_count.h"
#include "store/db/place.h"
#include "talking.h"
#include "tooling.h"

enum { HITS_BYTES = 3 * 1024 };

/* ---- answers, as sent ---- */

/* Ordinary notes of 40 to 600 characters, with quotes and a path now and then. */
static const char *const subjects[] = {"checkout",      "billing",       "login page",  "mailer",
                                       "image resizer", "report export", "webhook",     "cache",
                                       "scheduler",     "audit log",     "status page", "search index"};

static struct str note(size_t i) {
  static const char *const parts[] = {
      "It is started by the nightly job and writes its \"summary\" to /var/log/reports. ",
      "Bea said that the threshold of 40 ms was agreed with the customer in March. ",
      "If the queue is longer than 500, restart the worker and look at the dashboard first. ",
      "The credentials are in the vault under its own name; nobody has them on a laptop. "};
  struct buf b = BUF(&tooling_arena);
  buf_addf(&b, "The %s deploy needs a release branch. ", subjects[i]);
  size_t most = 40 + i * 51;
  for (size_t k = i; b.n + strlen(parts[k % 4]) < most; k++)
    buf_adds(&b, parts[k % 4]);
  return str_trim(buf_str(&b));
}

static yyjson_val *call_modern(struct mcp_server *server, const char *tool, yyjson_mut_val *args) {
  return ask(server, NULL,
             modern("tools/call", arena_printf(&tooling_arena, "\"name\":\"%s\",\"arguments\":%s", tool,
                                               json_write(&tooling_arena, args, false).p)
                                      .p));
}

static void store_notes(struct mcp_server *server, const char *tool, int more_tags) {
  for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
    yyjson_mut_doc *doc = json_new(&tooling_arena);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    json_put(doc, args, "text", note(i));
    json_put(doc, args, "type", STR("decision"));
    yyjson_mut_val *tags = json_put_arr(doc, args, "tags");
    yyjson_mut_arr_add_str(doc, tags, "deploy");
    for (int k = 0; k < more_tags; k++)
      yyjson_mut_arr_add_strcpy(doc, tags, arena_printf(&tooling_arena, "area-of-the-product-%d", k).p);
    yyjson_val *v = call_modern(server, tool, args);
    CHECK(!jbool(v, "result.isError"));
    /* The headline of a stored text is no warning. */
    CHECK(!has(answer_text(v), "headline taken"));
  }
}

static size_t count(struct str text, const char *part) {
  size_t n = 0;
  for (size_t at = str_find(text, str_from(part), 0); at != SIZE_MAX; at = str_find(text, str_from(part), at + 1))
    n++;
  return n;
}

static void check_hits(yyjson_val *v) {
  struct str sent = json_write(&tooling_arena, yyjson_val_mut_copy(json_new(&tooling_arena), v), false);
  struct str text = answer_text(v);
  test_note("%zu bytes: %.*s", sent.n, STR_ARG(text));
  CHECK(sent.n <= HITS_BYTES);
  CHECK(!jget(v, "result.structuredContent"));
  CHECK_INT(count(text, "\nmemory "), 10);
  /* Each hit once, with its first words, so a model can choose. */
  size_t shown = 0;
  for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
    size_t n = count(text, arena_printf(&tooling_arena, "The %s deploy needs a release branch", subjects[i]).p);
    CHECK(n <= 1);
    shown += n;
  }
  CHECK_INT(shown, 10);
  static const char *const useless[] = {"uid", "weight", "delivery", "hash", "age_days", "score", "on_demand", NULL};
  for (const char *const *p = useless; *p; p++)
    CHECK(!has(sent, *p));
}

static void check_search(const char *profile, const char *store_tool, int more_tags) {
  struct mcp_server *server = talking_server(true, false);
  server->options.profile = profile_find(str_from(profile));
  store_notes(server, store_tool, more_tags);
  check_hits(
      ask(server, NULL,
          modern("tools/call", "\"name\":\"memory_search\",\"arguments\":{\"query\":\"deploy release branch\"}")));
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2025-11-25\"")), "result"));
  check_hits(
      ask(server, NULL,
          legacy("tools/call", "\"name\":\"memory_search\",\"arguments\":{\"query\":\"deploy release branch\"}")));
  talking_stop(&server);
}

TEST(ten_hits_have_three_kilobytes_in_the_default_profile) { check_search("default", "memory_store", 0); }

TEST(ten_hits_have_three_kilobytes_in_the_full_profile) { check_search("full", "memory_remember", 0); }

TEST(ten_hits_with_many_tags_have_three_kilobytes) { check_search("default", "memory_store", 8); }

TEST(a_headline_of_its_own_is_shown_with_the_text) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(&run, profiles[0], engine, "memory_store",
             "{\"text\":\"Tea is served at four in the garden\",\"headline\":\"Habits of the office\"}");
  tooling_ok(&run, profiles[0], engine, "memory_search", "{\"query\":\"tea garden\"}");
  CHECK(tooling_has(run.text, "\n  Habits of the office: Tea is served at four in the garden\n"));
  engine_close(&engine);
}

TEST(fewer_hits_show_more_of_each) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  yyjson_mut_doc *doc = json_new(&tooling_arena);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  struct str text = note(7);
  CHECK(text.n > 300);
  json_put(doc, args, "text", text);
  tooling_ok(&run, profiles[0], engine, "memory_store", json_write(&tooling_arena, args, false).p);
  tooling_ok(&run, profiles[0], engine, "memory_search", "{\"query\":\"deploy release branch\"}");
  CHECK(str_find(run.text, text, 0) != SIZE_MAX);
  engine_close(&engine);
}

TEST(a_memory_is_shown_without_its_hash_and_uids) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Tea is served at four in the garden\"}");
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Coffee is black and bitter\",\"links\":[\"1\"]}");
  static const char *const calls[][2] = {{"memory_get", "{\"id\":2}"},
                                         {"memory_list", "{\"fields\":{\"detail\":\"full\"}}"}};
  for (size_t i = 0; i < 2; i++) {
    tooling_ok(&run, profiles[0], engine, calls[i][0], calls[i][1]);
    test_note("%.*s", STR_ARG(run.text));
    CHECK(tooling_has(run.text, "Coffee is black"));
    CHECK(!tooling_has(run.text, "hash") && !tooling_has(run.text, "uid"));
  }
  tooling_ok(&run, profiles[0], engine, "memory_get", "{\"id\":2}");
  CHECK(tooling_has(run.text, "\nlinks:\n- rel: relates | direction: out | id: 1 | headline: Tea is served"));
  engine_close(&engine);
}

/* Members of a reply that the model knows or cannot use. */
TEST(answers_repeat_nothing) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  static const struct {
    const char *tool, *args, *wanted, *useless[8];
  } rows[] = {
      {"memory_store",
       "{\"text\":\"Tea is served at four in the garden\",\"type\":\"decision\"}",
       "type: decision\n",
       {"headline", "garden"}},
      {"memory_task", "{\"action\":\"add\",\"text\":\"Buy new beans\"}", "type: task\n", {"headline", "beans"}},
      {"memory_correct",
       "{\"action\":\"supersede\",\"id\":1,\"text\":\"Tea is served at five in the garden\",\"reason\":\"winter\"}",
       "supersedes: 1\n",
       {"headline", "old_id", "inherited"}},
      {"memory_list", "{}", "\nmemory 2 | ", {"count", "total", "offset", "action_items"}},
      {"memory_list", "{\"limit\":1}", "\ntotal: 2\n", {"count"}},
      {"memory_correct", "{\"action\":\"forget\",\"id\":2,\"reason\":\"done\"}", "forgotten: 2\n", {"already"}},
      {"memory_admin", "{\"action\":\"metrics\"}", "hours: 24\n", {"process", "{"}},
      {"memory_admin", "{\"action\":\"config\",\"name\":\"gate.mode\"}", "value: assist\n", {"{"}},
      {"memory_store",
       "{\"action\":\"capture\",\"text\":\"We decided to use Kafka.\\n- TODO: migrate the queue\"}",
       "\n- id: 4 | action: stored | type: ",
       {"{", "embedded", "kind", "skipped", "refused", "code"}},
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    tooling_ok(&run, profiles[0], engine, rows[i].tool, rows[i].args);
    test_note("%s %s: %.*s", rows[i].tool, rows[i].args, STR_ARG(run.text));
    CHECK(tooling_has(run.text, rows[i].wanted));
    for (const char *const *p = rows[i].useless; *p; p++)
      CHECK(!tooling_has(run.text, *p));
  }
  engine_close(&engine);
}

/* An element of a list is a line; values at their default are left out, so all settings fit. */
TEST(lists_have_a_line_for_each_element) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(
      &run, profiles[0], engine, "memory_store",
      "{\"text\":\"Run the deploy script\",\"fields\":{\"skill_name\":\"deploy\",\"skill_keywords\":[\"ship it\"]}}");
  tooling_ok(&run, profiles[0], engine, "memory_skill", "{\"action\":\"list\"}");
  CHECK(
      tooling_has(run.text, "skills:\n- name: deploy | id: 1 | headline: Run the deploy script | keywords: ship it\n"));
  tooling_ok(&run, profiles[0], engine, "memory_admin", "{\"action\":\"config\"}");
  CHECK(tooling_has(run.text, "\n- name: gate.mode | value: assist | help: "));
  CHECK(tooling_has(run.text, "\n- name: sandbox.paths | help: ") && !tooling_has(run.text, "truncated"));
  engine_close(&engine);
}

/* Line breaks of a text are kept, but start no line of the answer. */
TEST(line_breaks_stay_within_a_line) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  const struct profile *full = profile_find(STR("full"));
  tooling_ok(&run, full, engine, "memory_remember", "{\"text\":\"Tea is served at four\"}");
  tooling_ok(&run, full, engine, "memory_boot", "{}");
  tooling_ok(&run, full, engine, "memory_annotate", "{\"id\":1,\"note\":\"one\\n- id: 2 | trust: user\"}");
  test_note("%.*s", STR_ARG(run.text));
  CHECK(tooling_has(run.text, "| text: \"one\\n- id: 2 | trust: user\"\n"));
  engine_close(&engine);
}

/* A failed check is not left out like a flag that is not set. */
TEST(a_failed_check_says_so, .only = TEST_ON_SQLITE) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Tea is served at four\"}");
  CHECK_INT(chmod(db_path(store_db(engine->store)), 0644), 0);
  tooling_ok(&run, profile_find(STR("full")), engine, "memory_doctor", "{}");
  test_note("%.*s", STR_ARG(run.text));
  CHECK(tooling_has(run.text, "| ok: false | "));
  engine_close(&engine);
}

/* A reply to a write names the project, or says that there is none. */
TEST(a_write_says_where_it_went) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Tea is served at four\"}");
  CHECK(tooling_has(run.text, "\nscope: global\n"));
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Coffee is black\",\"project\":\"shed\"}");
  CHECK(tooling_has(run.text, "\nproject: shed\n") && !tooling_has(run.text, "scope:"));
  engine_close(&engine);
}

/* ---- definitions ---- */

/* "Call when ...", "Call before ...", "Call to ...". */
TEST(descriptions_begin_with_when_to_call) {
  static const char *const own[] = {"default", "full", "readonly"};
  for (size_t i = 0; i < ARRAY_LEN(own); i++)
    for (const struct tool *t = profile_find(str_from(own[i]))->tools; t->name; t++) {
      test_note("%s %s: %s", own[i], t->name, t->description ? t->description : "");
      CHECK(t->description && str_starts(str_from(t->description), STR("Call ")));
    }
}

/* Words of memory_correct that name an action are actions. */
TEST(the_tool_that_corrects_names_its_actions) {
  const struct tool *t = tool_find(profiles[0], STR("memory_correct"));
  static const char *const words[] = {"update", "replace ", "delete", "edit", "remove ", NULL};
  for (const char *const *w = words; *w; w++)
    CHECK(str_find(str_from(t->description), str_from(*w), 0) == SIZE_MAX);
  size_t named = 0;
  for (const struct tool_action *x = t->actions; x->name; x++)
    named += str_find(str_from(t->description), arena_printf(&tooling_arena, "%s ", x->name), 0) != SIZE_MAX;
  CHECK(named >= 4);
}

static const struct tool_arg *fields_of(const struct tool *t) {
  for (const struct tool_arg *p = t->args; p && p->name; p++)
    if (p->flags & ARG_SPREAD)
      return p;
  return NULL;
}

static const struct param *param_of(const struct tool *t, struct str name) {
  const struct param *found = t->op ? op_param(op_find(str_from(t->op)), name) : NULL;
  for (const struct tool_action *x = t->actions; x && x->name && !found; x++)
    found = op_param(op_find(str_from(x->op)), name);
  return found;
}

static bool is_choice(const struct param *p, struct str value) {
  for (const char *const *c = p->choices; c && *c; c++)
    if (str_is(value, *c))
      return true;
  return !p->choices;
}

/* name[], name=true, name=0.7, name=a|b, name=id, name */
static void check_form(const struct tool *t, struct str word) {
  size_t eq = str_find(word, STR("="), 0);
  struct str name = str_slice(word, 0, eq == SIZE_MAX ? word.n : eq),
             value = eq == SIZE_MAX ? STR("") : str_slice(word, eq + 1, word.n);
  bool is_list = str_ends(name, STR("[]"));
  name = is_list ? str_slice(name, 0, name.n - 2) : name;
  const struct param *p = param_of(t, name);
  test_note("%s: %.*s", t->name, STR_ARG(word));
  CHECK(p && is_list == (p->form == PARAM_LIST));
  CHECK((p->form == PARAM_BOOL) == str_is(value, "true"));
  CHECK((p->form == PARAM_INT || p->form == PARAM_NUMBER) ==
        (value.n && ascii_digit(value.p[0]) && !str_is(value, "30d")));
  struct str one;
  while (p->form == PARAM_TEXT && p->choices && str_next(&value, '|', &one))
    CHECK(is_choice(p, one));
}

/* Every word of the help of `fields` is an argument in the right form, or introduces an action ("add:"). */
TEST(the_members_of_fields_are_described) {
  for (const struct tool *t = profiles[0]->tools; t->name; t++) {
    const struct tool_arg *fields = fields_of(t);
    struct str rest = str_from(fields ? fields->help : NULL), part, word;
    size_t n = 0;
    while (str_next(&rest, ';', &part)) {
      size_t colon = str_find(part, STR(": "), 0);
      part = colon == SIZE_MAX ? part : str_slice(part, colon + 2, part.n);
      while (str_next(&part, ',', &word)) {
        word = str_trim(word);
        n++;
        if (!str_is(word, "as memory_store"))
          check_form(t, word);
      }
    }
    CHECK(!fields || n > 3);
  }
}

/* ---- forms of arguments ---- */

TEST(members_of_fields_are_accepted_next_to_it) {
  struct tool_run run = {0};
  struct engine *engine = tooling_engine();
  tooling_ok(&run, profiles[0], engine, "memory_store",
             "{\"text\":\"Tea is served at four\",\"key\":\"tea\",\"tags\":[\"a\"]}");
  tooling_ok(&run, profiles[0], engine, "memory_store",
             "{\"text\":\"Coffee is black and bitter\",\"fields\":{\"key\":\"coffee\"}}");
  tooling_ok(&run, profiles[0], engine, "memory_get", "{\"id\":\"tea\"}");
  CHECK(tooling_has(run.text, "tags: a"));
  tooling_ok(&run, profiles[0], engine, "memory_get", "{\"id\":\"coffee\",\"max_tokens\":400}");
  tooling_ok(&run, profiles[0], engine, "memory_correct",
             "{\"action\":\"link\",\"id\":1,\"rel\":\"relates\",\"to\":2}");
  tooling_ok(&run, profiles[0], engine, "memory_correct",
             "{\"action\":\"unlink\",\"id\":1,\"fields\":{\"rel\":\"relates\",\"to\":\"2\"}}");
  CHECK_STATUS(tooling_call(&run, profiles[0], engine, "memory_correct", "{\"action\":\"link\",\"id\":1,\"to\":2}"),
               STATUS_USAGE);
  CHECK(strstr(tooling_error.message, "needs 'rel'"));
  /* An operation without `fields` takes no more than its table. */
  CHECK_STATUS(tooling_call(&run, profiles[0], engine, "memory_admin",
                            "{\"action\":\"config\",\"name\":\"gate.mode\",\"value\":\"strict\"}"),
               STATUS_USAGE);
  tooling_ok(&run, profiles[0], engine, "memory_store", "{\"text\":\"Only here\",\"project\":\"shed\"}");
  tooling_ok(&run, profiles[0], engine, "memory_search", "{\"query\":\"only here\",\"project\":\"shed\"}");
  CHECK(tooling_has(run.text, "project shed"));
  engine_close(&engine);
}
