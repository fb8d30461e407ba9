/* two_stores.c: copies the decisions of one store to another, with both open at the same time.
 *
 *   cc two_stores.c $(pkg-config --cflags --libs cairn) -o two_stores
 *   ./two_stores /tmp/mine.db /tmp/team.db */
#include <cairn.h>
#include <stdio.h>

static int fail(struct cairn *db, const char *what) {
  struct cairn_error error;
  cairn_last_error(db, &error);
  fprintf(stderr, "%s: %s (%s)\n", what, error.message, cairn_status_name(error.code));
  return error.code;
}

static int note(struct cairn *db, const char *type, const char *headline, const char *text) {
  struct cairn_draft draft = {.size = sizeof(draft), .type = type, .headline = headline, .text = text};
  int status = cairn_remember(db, &draft, NULL);
  return status == CAIRN_OK ? status : fail(db, "remember");
}

/* The uid of a memory never changes. As the idempotency key of the copy it makes this program safe to repeat. */
static int copy(struct cairn *to, const char *ref, struct cairn *from) {
  struct cairn_memory *memory;
  if (cairn_get(from, ref, &memory) != CAIRN_OK)
    return fail(from, "get");
  struct cairn_draft draft = {.size = sizeof(draft),
                              .type = memory->type,
                              .headline = memory->headline,
                              .text = memory->body,
                              .text_n = memory->body_n,
                              .tags = memory->tags,
                              .idempotency_key = memory->uid};
  int status = cairn_remember(to, &draft, NULL);
  cairn_memory_free(memory);
  return status == CAIRN_OK ? status : fail(to, "remember");
}

static int copy_decisions(struct cairn *from, struct cairn *to) {
  struct cairn_search_options only = {.size = sizeof(only), .type = "decision", .limit = 100};
  struct cairn_results *found;
  if (cairn_search(from, "decision", &only, &found) != CAIRN_OK)
    return fail(from, "search");
  int status = CAIRN_OK;
  for (size_t i = 0; status == CAIRN_OK && i < found->count; i++)
    status = copy(to, found->items[i].uid, from);
  cairn_results_free(found);
  return status;
}

/* Every change is logged as an event, so other programs can follow a store. */
static int print_change(void *arg, const struct cairn_event *event) {
  (void)arg;
  if (event->txn)
    printf("%s by %s\n", event->action, event->source);
  return 0;
}

static int run(struct cairn *mine, struct cairn *team) {
  int status = note(mine, "decision", "Decision: sessions live in Redis",
                    "Decision: user sessions live in Redis, so that web servers can be replaced at any time.");
  if (status == CAIRN_OK)
    status = note(mine, "fact", "The office printer is on the third floor", "The printer is next to the kitchen.");
  if (status == CAIRN_OK)
    status = copy_decisions(mine, team);
  if (status == CAIRN_OK && cairn_events(team, 0, print_change, NULL, NULL) != CAIRN_OK)
    status = fail(team, "events");
  /* Operations without a C function are called by name. */
  char *json = NULL;
  if (status == CAIRN_OK && cairn_call(team, "list", "{\"limit\": 5}", 0, &json, NULL) != CAIRN_OK)
    status = fail(team, "list");
  if (json)
    printf("%s\n", json);
  cairn_free(json);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: two_stores FROM TO\n");
    return 2;
  }
  struct cairn_options first = {.size = sizeof(first), .path = argv[1], .source = "example"};
  struct cairn_options second = {.size = sizeof(second), .path = argv[2], .source = "copier"};
  struct cairn *mine = NULL, *team = NULL;
  int status = cairn_open(&first, &mine);
  if (status != CAIRN_OK) {
    fail(mine, "open");
  } else if ((status = cairn_open(&second, &team)) != CAIRN_OK) {
    fail(team, "open");
  } else {
    status = run(mine, team);
  }
  cairn_close(&mine);
  cairn_close(&team);
  return status == CAIRN_OK ? 0 : 1;
}
