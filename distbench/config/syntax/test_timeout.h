#ifndef DISTBENCH_CONFIG_SYNTAX_TEST_TIMEOUT_H_
#define DISTBENCH_CONFIG_SYNTAX_TEST_TIMEOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

inline constexpr char kTestTimeoutAttribute[] = "test_timeout";
inline constexpr int64_t kDefaultTestTimeoutSeconds = 3600;
inline constexpr int64_t kMaxTestTimeoutSeconds = 1'000'000'000;

// The test's time limit in seconds, from its attribute, in [1,
// kMaxTestTimeoutSeconds]. INVALID_ARGUMENT says what is wrong with the
// attribute.
absl::StatusOr<int64_t> TestTimeoutSeconds(
    const DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_TEST_TIMEOUT_H_
