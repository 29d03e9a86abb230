// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Builds all tests of a command line: sweeps x configs x value lists.

#ifndef TEST_BUILDER_BUILDING_TEST_LIST_H_
#define TEST_BUILDER_BUILDING_TEST_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// Sweeps: parameter_sweep NAME START STEP END.

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

struct NamedTest {
  DistributedSystemDescription test;

  // Parameters that differ between this test and its siblings.
  ValueMap varied;
};

// Gives each test a unique name, because results are stored by name. Where
// names would be equal, "-PARAMETER_VALUE" is appended for the parameters that
// differ. Of tests that differ only in their label, one is kept, with a note.
// The error says how tests differ that would have to share a name.
absl::StatusOr<std::vector<DistributedSystemDescription>> GiveOwnNames(
    std::vector<NamedTest> tests, Notes& notes);

// Whether the tests are equal, apart from the label of their config.
bool EqualButForLabels(const DistributedSystemDescription& a,
                       const DistributedSystemDescription& b);

struct TestListRequest {
  // Each config stands for one or more tests, and each sweep multiplies their
  // number.
  std::vector<std::string> configs;
  std::vector<Sweep> sweeps;

  // "" or "PART:PART:", which precedes each config.
  std::string prefix;

  // Precedes each config's label.
  std::string label;

  // In seconds, for configs without their own test_duration.
  std::string duration = "30";

  // Accept names that look like typing errors, and sweeps over names that are
  // no parameters, as attributes.
  bool allow_extra = false;
};

// Builds the tests and gives them unique names. The first sweep varies slowest,
// then the configs, then the value lists of a config. Where names would be
// equal, the swept parameters that differ are appended. Duplicate tests are
// dropped with a note. The error lists the problems of all configs, one per
// line.
absl::StatusOr<std::vector<DistributedSystemDescription>> BuildTests(
    const TestListRequest& request, Notes& notes);

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_BUILDING_TEST_LIST_H_
