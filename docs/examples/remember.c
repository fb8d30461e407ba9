/* remember.c: stores a fact, corrects it, and searches for it.
 *
 *   cc remember.c $(pkg-config --cflags --libs cairn) -o remember
 *   ./remember /tmp/example.db */
#include <cairn.h>
#include <stdio.h>

/* The handle holds the reason of the last failed call. */
static int fail(struct cairn *db, const char *what) {
  struct cairn_error error;
  cairn_last_error(db, &error);
  fprintf(stderr, "%s: %s (%s)\n", what, error.message, cairn_status_name(error.code));
  if (error.fix[0])
    fprintf(stderr, "%s\n", error.fix);
  cairn_close(&db);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: remember STORE\n");
    return 2;
  }
  struct cairn_options options = {.size = sizeof(options), .path = argv[1], .project = "shop", .source = "example"};
  struct cairn *db;
  if (cairn_open(&options, &db) != CAIRN_OK)
    return fail(db, "open");

  /* The key identifies the memory, so the program need not remember its id. */
  const char *tags[] = {"staging", NULL};
  struct cairn_draft fact = {.size = sizeof(fact),
                             .headline = "Staging database port is 5433",
                             .text = "The staging database listens on port 5433.",
                             .key = "staging-port",
                             .tags = tags};
  struct cairn_written *written;
  if (cairn_remember(db, &fact, &written) != CAIRN_OK)
    return fail(db, "remember");
  printf("stored %s\n", written->headline);
  cairn_written_free(written);

  /* A correction supersedes the old memory, which is kept. */
  struct cairn_draft fix = {.size = sizeof(fix),
                            .headline = "Staging database port is 5434",
                            .text = "The staging database listens on port 5434.",
                            .reason = "another service took 5433",
                            .inherit_key = true};
  if (cairn_supersede(db, "staging-port", &fix, NULL) != CAIRN_OK)
    return fail(db, "supersede");

  struct cairn_memory *memory;
  if (cairn_get(db, "staging-port", &memory) != CAIRN_OK)
    return fail(db, "get");
  printf("now    %s\n", memory->body);
  for (size_t i = 0; i < memory->link_count; i++)
    printf("%s  %s: %s\n", memory->links[i].rel, memory->links[i].headline, memory->links[i].reason);
  cairn_memory_free(memory);

  struct cairn_results *results;
  if (cairn_search(db, "which port does the staging database use?", NULL, &results) != CAIRN_OK)
    return fail(db, "search");
  for (size_t i = 0; i < results->count; i++)
    printf("found  %s\n", results->items[i].headline);
  cairn_results_free(results);

  cairn_close(&db);
  return 0;
}
