#include "distbench/config/syntax/test_timeout.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench {

absl::StatusOr<int64_t> TestTimeoutSeconds(
    const DistributedSystemDescription& test) {
  const auto it = test.attributes().find(kTestTimeoutAttribute);
  if (it == test.attributes().end()) return kDefaultTestTimeoutSeconds;
  int64_t seconds;
  if (!absl::SimpleAtoi(it->second, &seconds) || seconds < 1 ||
      seconds > kMaxTestTimeoutSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(it->second),
                     " is not a timeout; must be a whole number "
                     "of seconds from 1 to ",
                     kMaxTestTimeoutSeconds));
  }
  return seconds;
}

}  // namespace distbench
