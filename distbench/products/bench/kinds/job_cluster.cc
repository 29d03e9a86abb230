// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/job_cluster.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/search/resumption.h"

namespace distbench::bench {
namespace {

// No more than a host can carry as processes, whatever a test asks for.
constexpr int kMaxLocalNodes = 100;

absl::StatusOr<std::unique_ptr<cli::LocalCluster>> StartLocal(
    const JobEnvironment& environment, const TestSequence& tests) {
  int nodes = 1;
  for (const DistributedSystemDescription& test : tests.tests()) {
    nodes = std::max(nodes, NodesNeeded(test));
  }
  if (nodes > kMaxLocalNodes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the tests need ", nodes, " nodes, more than the ", kMaxLocalNodes,
        " that are started on one host; start the nodes yourself and name "
        "their sequencer by --test_sequencer"));
  }
  return cli::LocalCluster::Start(
      environment.program, std::vector<std::vector<std::string>>(nodes));
}

}  // namespace

int NodesNeeded(const DistributedSystemDescription& test) {
  std::set<std::string> bundled;
  int64_t last_named = 0;
  for (const auto& [node, bundle] : test.node_service_bundles()) {
    bundled.insert(bundle.services().begin(), bundle.services().end());
    int64_t number = 0;
    absl::string_view rest = node;
    if (absl::ConsumePrefix(&rest, "node") && absl::SimpleAtoi(rest, &number)) {
      last_named = std::max(last_named, base::SaturatingAdd(number, 1));
    }
  }
  auto nodes = static_cast<int64_t>(test.node_service_bundles().size());
  for (const ServiceSpec& service : test.services()) {
    if (!config::IsOutside(service)) nodes += service.count();
  }
  nodes -= static_cast<int64_t>(bundled.size());
  return static_cast<int>(
      std::clamp<int64_t>(std::max(nodes, last_named), 1, INT_MAX));
}

void ShareNode(DistributedSystemDescription& test) {
  if (!test.node_service_bundles().empty()) return;
  ServiceBundle& bundle = (*test.mutable_node_service_bundles())["node0"];
  for (const ServiceSpec& service : test.services()) {
    for (const std::string& instance : config::InstanceNames(service)) {
      bundle.add_services(instance);
    }
  }
}

absl::StatusOr<std::set<std::string>> HostsOf(
    const JobEnvironment& environment) {
  if (environment.test_sequencer.empty()) {
    return std::set{ReadHostSystem(environment.host_root).hostname()};
  }
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(environment.test_sequencer, environment.tls);
  if (!client.ok()) return client.status();
  const absl::StatusOr<GetStatusResponse> status = (*client)->GetStatus();
  if (!status.ok()) return status.status();
  return search::HostsOf(*status);
}

absl::StatusOr<std::unique_ptr<JobCluster>> JobCluster::Start(
    const JobEnvironment& environment, const TestSequence& tests) {
  auto cluster = absl::WrapUnique(new JobCluster());
  std::string address = environment.test_sequencer;
  security::TlsFiles tls = environment.tls;
  if (address.empty()) {
    absl::StatusOr<std::unique_ptr<cli::LocalCluster>> local =
        StartLocal(environment, tests);
    if (!local.ok()) return local.status();
    cluster->local_ = *std::move(local);
    address = cluster->local_->address();
    // Certificates that the user has are for a sequencer of theirs.
    tls = cluster->local_->tls();
  }
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address, tls);
  if (!client.ok()) return client.status();
  cluster->client_ = *std::move(client);
  cluster->cancel_client_.emplace(
      *environment.cancellation,
      [client = cluster->client_.get()] { client->Cancel(); });
  return cluster;
}

}  // namespace distbench::bench
