// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer on which a job runs its tests.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_CLUSTER_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_CLUSTER_H_

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/cli/local_cluster.h"
#include "distbench/client/test_client.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/search/search_run.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// How many nodes a test needs: one for each bundle, and one for each instance
// outside bundles; more if a bundle names a later node, such as "node7". At
// most INT_MAX.
int NodesNeeded(const DistributedSystemDescription& test);

// Puts all instances of a test without bundles on one node, so that one node
// manager holds all control groups of the host.
void ShareNode(DistributedSystemDescription& test);

// The names of the hosts on which tests run: those of the sequencer's nodes or,
// without a sequencer, this one's. Empty if no node is registered.
absl::StatusOr<std::set<std::string>> HostsOf(
    const JobEnvironment& environment);

// A connection to the environment's sequencer or, if it has none, to one that
// was started for the job, with as many node managers as its tests need.
class JobCluster {
 public:
  // `tests` are those that will be run.
  static absl::StatusOr<std::unique_ptr<JobCluster>> Start(
      const JobEnvironment& environment, const TestSequence& tests);

  client::TestClient& client() { return *client_; }

 private:
  JobCluster() = default;

  // In this order: the client is destroyed before the cluster.
  std::unique_ptr<cli::LocalCluster> local_;
  std::unique_ptr<client::TestClient> client_;
  std::optional<Cancellation::Scope> cancel_client_;
};

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_CLUSTER_H_
