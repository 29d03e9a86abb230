// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares ways to deploy a service on the NUMA nodes of a host, by the loads
// that it carries: a plan of deployments, searches on each, in turn, and what
// the shared comparison of searches says of them.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARE_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/numa_compare/report.pb.h"
#include "distbench/products/search/search_plan.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa_compare {

struct NumaOptions {
  // The service to deploy in different ways; all others generate its load. If
  // empty, the only service that serves RPCs and has no main list.
  std::string service;

  // NUMA nodes for the service, as a list: "0-1". If empty, all that have CPUs
  // and memory.
  std::string numa_nodes;

  // CPUs of the load generators. If empty, those of other nodes; if there are
  // none, generators share the CPUs with the service.
  std::string generator_cpus;

  // Instances in all deployments but the first. If 0, one per node, or two on a
  // single node.
  int instances = 0;

  // Workers of all instances together. If 0, one per CPU of the service.
  int workers = 0;

  // What is searched for: the load at which the host's CPUs are this busy, and
  // unless it is empty, the highest load that meets an objective.
  double cpu_percent = 60;
  std::string objective;

  // The settings of each search but its objective. It varies the rate.
  LoadSearchSpec search;
};

struct PlannedDeployment {
  // Its name, instances and workers.
  NumaDeployment description;

  // Flags of the node managers: node0 hosts the generators, and nodeN hosts the
  // service's instance N - 1.
  std::vector<std::vector<std::string>> node_flags;

  // Of the test so deployed: for the CPU target, and for the objective if there
  // is one.
  std::vector<search::SearchPlan> searches;
};

struct NumaPlan {
  std::vector<PlannedDeployment> deployments;

  // Comparisons that this host does not allow, or not well; one sentence each.
  std::vector<std::string> omissions;
};

// Plans the deployments of a canonical test. All of them have the same CPUs,
// the same total of workers and the same load: each RPC to the service goes to
// one of its instances. Returns INVALID_ARGUMENT or FAILED_PRECONDITION if the
// test, the options and the host do not fit together.
absl::StatusOr<NumaPlan> PlanNumaComparison(
    const DistributedSystemDescription& test, NumaOptions options,
    const HostTopology& topology);

// Makes one search on a deployment, which it starts afresh each time. `title`
// says which search it is. Returns the results (search_run.h), of which the
// last run is the one on which the answer is based. CANCELLED ends the
// comparison; other errors are recorded as the outcome of the search.
using CapacitySearch = std::function<absl::StatusOr<TestSequenceResults>(
    const PlannedDeployment& deployment, const search::SearchPlan& search,
    const std::string& title)>;

// The verdict of a failed search, whose evidence is the error.
inline constexpr char kFailedVerdict[] = "failed";

// Runs all searches in each repetition, shuffled by the seed, so that changes
// over time do not favour a deployment. Adds to the results as it goes, so that
// they keep what was found before an error; makes the searches that they do not
// have, or that failed. The error is that of a cancelled search, says how many
// searches failed, or names what differs (FAILED_PRECONDITION) if the results
// are of other deployments.
absl::Status RunNumaComparison(const NumaPlan& plan, int repetitions,
                               uint64_t seed, const CapacitySearch& search,
                               TestSequenceResults& results);

// Searches on local clusters of fresh processes of `program`, distbench itself.
// A run that failed is an error, because the deployment was not measured.
// `say` receives the title of each search and a line after each of its probes.
// `set_stop_handler` sets what a request to stop does, at once if it has come
// before; {} for nothing.
CapacitySearch SearchLocally(
    std::string program, std::function<void(const std::string& line)> say,
    std::function<void(std::function<void()> handler)> set_stop_handler);

// Returns an element of the key "numa_comparisons" of reports. Of the searches
// of a deployment, those that converged count. Loads and latencies are
// geometric means over these; ratios, to the first deployment, have intervals
// if both have at least two.
ReportedNumaComparison ReportNumaComparison(const NumaComparison& comparison);

// Describes what each deployment carried, how it compares with the first, where
// it ran, and what was left out.
std::string RenderNumaComparison(const NumaComparison& comparison);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARE_H_
