/* fuzz_time.c: any text as a time or a duration; accepted values survive a write and a second read. */
#include "base/os/clock.h"

#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str s = {(const char *)data, size};
  int64_t ms, again;
  if (time_parse(s, &ms)) {
    char text[TIME_TEXT_SIZE];
    struct str written = time_format(ms, text);
    FUZZ_CHECK(written.n == 24);
    FUZZ_CHECK(time_parse(written, &again) && again == ms);
  }
  int64_t duration;
  if (duration_parse(s, &duration)) {
    FUZZ_CHECK(duration > 0 && duration <= 36525 * MS_PER_DAY);
    FUZZ_CHECK(!time_parse(s, &again));
  }
  int64_t now = INT64_C(1794743110123);
  if (time_or_duration_parse(s, now, -1, &ms))
    FUZZ_CHECK(time_parse(s, &again) || (duration_parse(s, &again) && ms == now - again));
  if (size >= sizeof(ms)) {
    char text[TIME_TEXT_SIZE];
    memcpy(&ms, data, sizeof(ms));
    FUZZ_CHECK(time_format(ms, text).n < TIME_TEXT_SIZE);
  }
  double number;
  (void)str_double(s, &number);
  (void)str_int64(s, &ms);
  return 0;
}
