// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Helpers shared by the checks of a test.

#ifndef DISTBENCH_CONFIG_VALIDATE_TEST_VALIDATION_H_
#define DISTBENCH_CONFIG_VALIDATE_TEST_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/instance_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Limits that keep sums of times within an int64_t, and memory within reason.
inline constexpr int64_t kMaxSizeBytes = 2'147'483'647;
inline constexpr int64_t kMaxDelayNs = kMaxIntervalNs;
inline constexpr int64_t kMaxClosedLoopParallelism = 1'000'000;
inline constexpr int64_t kMaxInstances = 100'000;
inline constexpr int64_t kMaxNodes = 100'000;
// Conditions on instances, times the instances on which each is tried. The
// limit keeps a check within seconds, and the members of channels within
// memory.
inline constexpr int64_t kMaxConditionsTried = 2'000'000;
inline constexpr int kMaxListNesting = 100;

// Room for a name, its coordinates and some wildcards.
inline constexpr size_t kMaxGlobLength = 2 * kMaxNameLength;

// A test, its names, its path, and where to report its problems. All arguments
// must outlive this object.
class TestValidation {
 public:
  TestValidation(const DistributedSystemDescription& test, const Path& path,
                 Problems& problems)
      : test_(test), names_(test), path_(path), problems_(problems) {}

  const DistributedSystemDescription& test() const { return test_; }
  const TestNames& names() const { return names_; }
  const Path& path() const { return path_; }
  Problems& problems() const { return problems_; }

  template <typename... Parts>
  void Add(const Path& path, const Parts&... message) const {
    problems_.Add(path, message...);
  }

  // The path of an element of a repeated field of the test.
  Path Element(absl::string_view field, const NameIndex& index,
               int position) const {
    return ElementPath(path_.Field(field), index, position);
  }

  Path Service(int i) const { return Element("services", names_.services, i); }
  Path Rpc(int i) const { return Element("rpc_descriptions", names_.rpcs, i); }
  Path Action(int i) const { return Element("actions", names_.actions, i); }
  Path List(int i) const { return Element("action_lists", names_.lists, i); }

  // Returns the position of the element called `name`. If there is none, adds a
  // problem at `path`, which calls the element a `kind`, and returns kNone.
  int Resolve(const Path& path, absl::string_view kind, const std::string& name,
              const NameIndex& index) const;

  void CheckRange(const Path& path, int64_t value, int64_t minimum,
                  int64_t maximum) const {
    config::CheckRange(path, value, minimum, maximum, problems_);
  }

  // The service called `name`, with its grid. Returns nothing if there is no
  // such service, or if it has too many instances to enumerate; both are
  // reported elsewhere.
  struct ServiceGrid {
    const ServiceSpec* service;
    Grid grid;
  };
  std::optional<ServiceGrid> FindService(const std::string& name) const;

  // The drivers of the service called `name`, outermost first; none if there is
  // no such service, or they have a problem, which is reported elsewhere.
  std::vector<ResolvedDriver> DriversOf(const std::string& name) const;

  // Instances of all services; kMaxInstances + 1 if there are more than
  // kMaxInstances, which is reported elsewhere.
  int64_t InstanceCount() const;

 private:
  const DistributedSystemDescription& test_;
  const TestNames names_;
  const Path path_;
  Problems& problems_;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_TEST_VALIDATION_H_
