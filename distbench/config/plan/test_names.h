// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The names that a test defines, and the positions of their elements.

#ifndef DISTBENCH_CONFIG_PLAN_TEST_NAMES_H_
#define DISTBENCH_CONFIG_PLAN_TEST_NAMES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Means "none" wherever an index is optional.
inline constexpr int kNone = -1;

// Maps names to positions. If a name is repeated, the first position counts.
class NameIndex {
 public:
  // Takes messages that have a name field.
  template <typename Elements>
  explicit NameIndex(const Elements& elements) {
    for (const auto& element : elements) Add(element.name());
  }

  explicit NameIndex(const std::vector<std::string>& names) {
    for (const std::string& name : names) Add(name);
  }

  // Returns kNone if there is no such element.
  int Find(absl::string_view name) const;

  // All names, by position.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void Add(const std::string& name);

  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, int> positions_;
};

// The name of a test, or else its attribute test_name; empty if it has neither.
std::string NameOf(const DistributedSystemDescription& test);

struct TestNames {
  explicit TestNames(const DistributedSystemDescription& test);

  // The names in the field of the test with this number; null if its elements
  // have none.
  const NameIndex* Of(int field_number) const;

  NameIndex services;
  NameIndex payloads;
  NameIndex rpcs;
  NameIndex actions;
  NameIndex lists;
  NameIndex driver_options;
  NameIndex activities;
  NameIndex activity_pools;
  NameIndex joint_distributions;
  NameIndex delay_distributions;
  NameIndex size_distributions;
  NameIndex replay_traces;
  NameIndex server_faults;
};

// Calls `visit` with each action of the list and of the lists that these run,
// each list once: lists may run themselves, which validation reports. Names
// that nothing has are passed over.
void ForEachActionOf(const DistributedSystemDescription& test,
                     const TestNames& names, const std::string& list,
                     absl::FunctionRef<void(const Action& action)> visit);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PLAN_TEST_NAMES_H_
