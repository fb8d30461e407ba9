/* test_backup_postgres.c: names of backups of a server. */
#include "store/backup_postgres.h"

#include "support/harness.h"

TEST(a_backup_is_named_after_server_and_database) {
  static const char *const names[][2] = {
      {"postgresql://db.example.org/cairn", "db.example.org_cairn"},
      {"postgresql://alice@db.example.org:5433/cairn", "db.example.org_5433_cairn"},
      {"postgres://alice:s3cr%40t@db.example.org/cairn", "db.example.org_cairn"},
      {"postgresql://alice:p@ss@db.example.org/cairn?sslmode=require", "db.example.org_cairn"},
      {"postgresql://alice@/cairn?host=/run/postgresql&password=secret", "_cairn__run_postgresql"},
      {"postgresql://h/../../etc", "h_.._.._etc"},
      {"postgresql://", ""},
  };
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    test_note("%s", names[i][0]);
    CHECK_STR(postgres_backup_name(&a, names[i][0]), names[i][1]);
  }
  arena_release(&a);
}
