// Sweeps: parameter_sweep NAME START STEP END.

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_SWEEP_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_SWEEP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::test_builder {

struct Sweep {
  // All of these parameters get the same value.
  std::vector<std::string> parameters;
  std::vector<std::string> values;
};

inline constexpr int kMaxSweepValues = 10000;

// `name` is a parameter, or several separated by commas. Values go from `start`
// up or down to `end`, inclusive, by adding `step` or, if it is "xF", by
// multiplying with F. They have as many decimals as `start` and `step`;
// multiplied values have as many as `start`, and duplicates due to rounding are
// dropped. The error says which part is wrong, and what it must be.
absl::StatusOr<Sweep> MakeSweep(absl::string_view name, absl::string_view start,
                                absl::string_view step, absl::string_view end);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_SWEEP_H_
