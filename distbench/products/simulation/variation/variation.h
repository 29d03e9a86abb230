// What `distbench simulate --vary` does: tests that differ in one thing or in
// several, as a sweep.
//
//   config string ──BuildTests──▶ tests ─┐   for each combination of values:
//   config file ─────────────────────────┴──▶ fields set, checked ──▶ points
//
// A variation is called
//
//   leaf_count             a parameter of the pattern, the protocol or any test
//                          of test_builder
//   service.NAME           the number of instances of a service
//   test.PATH              any field of the config (field_path.h)
//   fabric.PATH            any field of the fabric
//
// Reports know a sweep by the tests' attributes: each point has its values in
// attributes of the variations' names, beside those that test_builder gives.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_VARIATION_VARIATION_H_
#define DISTBENCH_PRODUCTS_SIMULATION_VARIATION_VARIATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/test_factory.h"

namespace distbench::simulation {

struct Variation {
  std::string name;
  std::vector<std::string> values;
};

// Parses "NAME=VALUE,VALUE". INVALID_ARGUMENT if a part is missing or a value
// is there twice.
absl::StatusOr<Variation> ParseVariation(absl::string_view text);

struct VariationRequest {
  // A config string of test_builder. If it is empty, `tests` counts instead:
  // tests as they were read.
  std::string pattern;
  TestSequence tests;

  SimulatedFabric fabric;
  std::vector<Variation> variations;  // none: the tests as they are
};

struct VariedTests {
  TestSequence sequence;                 // canonical
  std::vector<SimulatedFabric> fabrics;  // by test
};

// All combinations; the first variation varies slowest, but parameters of
// patterns slower than all others. Names of tests are unique.
// INVALID_ARGUMENT says which variation is wrong, or all problems of the first
// combination that is not a test. Fabrics are not checked.
absl::StatusOr<VariedTests> VaryTests(VariationRequest request,
                                      test_builder::Notes& notes);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_VARIATION_VARIATION_H_
