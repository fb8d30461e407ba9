/* wording_features.c: prints the features of each line of the input, for model/training/wording.py. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "core/trust/present.h"
#include "core/trust/suspect_wording.h"

int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof(line), stdin)) {
    struct arena a;
    struct wording_features f = {0};
    arena_init(&a);
    struct str text = {line, strcspn(line, "\n")};
    wording_features(&a, utf8_fold(&a, present_visible(&a, text)), &f);
    for (size_t i = 0; i < f.n; i++)
      printf("%s%u", i ? " " : "", (unsigned)f.v[i]);
    printf("\n");
    arena_release(&a);
  }
  return 0;
}
