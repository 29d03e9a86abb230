// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Searches whose objectives are on isolation: how a service fares beside an
// antagonist. Their probes are runs of a cell of the test's experiment, which
// another product knows how to make and to measure: it adds a
// base::Plugin<search::IsolationPart>.

#ifndef DISTBENCH_PRODUCTS_SEARCH_ISOLATION_PART_H_
#define DISTBENCH_PRODUCTS_SEARCH_ISOLATION_PART_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/products/search/search_plan.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// The cell that probes are runs of. A name may be empty if there is no choice.
struct CellChoice {
  std::string controls;
  std::string antagonist;
};

class IsolationPart {
 public:
  virtual ~IsolationPart() = default;

  // Completes an objective on isolation by the test's experiment, which there
  // has to be: whose isolation, and what counts as served.
  virtual absl::Status Complete(const DistributedSystemDescription& test,
                                config::Objective& objective) const = 0;

  // Plans a search, as PlanSearch() does, whose objectives include isolation,
  // on the nodes of the status. INVALID_ARGUMENT also if the choice is not
  // clear.
  virtual absl::StatusOr<SearchPlan> Plan(
      const LoadSearchSpec& spec, const DistributedSystemDescription& test,
      const CellChoice& choice, const GetStatusResponse& status) const = 0;

  // Whether the run failed because the subject did not survive its antagonist,
  // which is the clearest of misses.
  virtual bool LostSubject(const TestResult& result) const = 0;
};

// Fails if nothing in this program measures isolation.
absl::StatusOr<const IsolationPart*> FindIsolationPart();

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_ISOLATION_PART_H_
