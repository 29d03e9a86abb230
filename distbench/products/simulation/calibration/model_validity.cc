// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/calibration/model_validity.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/simulation/model/costs.h"

namespace distbench::simulation {
namespace {

// What docs/products/simulation.md compares with real runs, and was not far off
// there. Cliques of 10 and messages of 256 KiB were.
constexpr int kMaxHosts = 2;
constexpr int kMaxInstances = 8;
constexpr int64_t kMaxBytes = 1024;
constexpr double kMaxCpuShare = 0.9;
constexpr absl::string_view kDrivers[] = {"grpc", "tcp"};

// How the sources of costs begin that are not the user's own.
constexpr absl::string_view kReferenceSource = "the reference machine";
constexpr absl::string_view kNoSource = "placeholder";

// How the sources of costs begin that were measured without a network.
constexpr absl::string_view kOneHost = "measured between processes of one host";

int64_t LargestOf(const DistributionConfig& config) {
  int64_t largest = 0;
  for (const PmfPoint& point : config.pmf_points()) {
    for (const DataPoint& data : point.data_points()) {
      largest = std::max({largest, data.exact(), data.upper()});
    }
  }
  for (const CdfPoint& point : config.cdf_points()) {
    largest = std::max(largest, point.value());
  }
  return largest;
}

class ValidityCheck {
 public:
  explicit ValidityCheck(const TestResult& result)
      : test_(result.traffic_config()),
        fabric_(result.simulation().fabric()),
        host_count_(result.simulation().host_count()),
        run_(result.run_info()),
        nodes_(result.resource_usage_logs().node_resources()) {}

  std::vector<std::string> Run() && {
    for (const StackCosts& costs : fabric_.stacks()) CheckCosts(costs);
    CheckSize();
    CheckDrivers();
    CheckModel();
    CheckLoad();
    return std::move(sentences_);
  }

 private:
  // Adds a sentence, put together as by absl::StrCat().
  template <typename... Parts>
  void Say(const Parts&... parts) {
    sentences_.push_back(absl::StrCat(parts...));
  }

  void CheckCosts(const StackCosts& costs) {
    const std::string driver = absl::StrCat("driver ", costs.driver());
    if (!absl::c_linear_search(kDrivers, costs.driver())) {
      Say(driver, " was not compared with real runs");
    }
    if (absl::StartsWith(costs.source(), kNoSource)) {
      Say("the costs of ", driver,
          " are not measured; measure them (--calibrate_from)");
    } else if (absl::StartsWith(costs.source(), kReferenceSource)) {
      Say("the costs of ", driver,
          " are those of another machine; measure yours (--calibrate_from)");
    } else if (!costs.client_send().has_fixed_error_ns()) {
      Say("the costs of ", driver, " are given, not measured");
    } else if (host_count_ > 1 && absl::StartsWith(costs.source(), kOneHost)) {
      Say("the costs of ", driver,
          " were measured between processes of one host, and there are ",
          host_count_, "; measure them between two hosts");
    }
  }

  void CheckSize() {
    if (host_count_ > kMaxHosts) {
      Say("there are ", host_count_, " hosts; up to ", kMaxHosts,
          " were compared with real runs");
    }
    int instances = 0;
    for (const ServiceSpec& service : test_.services()) {
      instances += service.count();
    }
    if (instances > kMaxInstances) {
      Say("there are ", instances, " instances; with more than ", kMaxInstances,
          ", simulated medians were up to 73 % shorter than real ones");
    }
    for (const PayloadSpec& payload : test_.payload_descriptions()) {
      CheckBytes("payload ", payload.name(), payload.size());
    }
    for (const auto* sizes :
         {&test_.size_distribution_configs(), &test_.distribution_config()}) {
      for (const DistributionConfig& config : *sizes) {
        CheckBytes("distribution ", config.name(), LargestOf(config));
      }
    }
  }

  void CheckBytes(absl::string_view what, absl::string_view name,
                  int64_t bytes) {
    if (bytes <= kMaxBytes) return;
    Say(what, name, " has ", bytes, " bytes; with more than ", kMaxBytes,
        ", simulated rates were up to 67 % higher than real ones");
  }

  // Of the services' drivers: how they wait, and what else their settings say.
  void CheckDrivers() {
    // The most CPUs that an instance has to itself, if all have equal shares.
    int most_cpus = 1;
    for (const auto& [name, node] : nodes_) {
      const int instances = std::max<int>(1, node.engine_usages_size());
      most_cpus = std::max(most_cpus, fabric_.host().cpus() / instances);
    }
    const int workers = test_.workers_per_instance() > 0
                            ? test_.workers_per_instance()
                            : most_cpus;
    if (workers > 1) {
      Say("instances have ", workers,
          " workers; one each was compared with real runs "
          "(workers_per_instance: 1)");
    }
    std::set<std::string> settings;
    bool polls = false;
    for (const ServiceSpec& service : test_.services()) {
      const UsedDriver driver = UsedDriverOf(test_, service);
      settings.insert(driver.settings.begin(), driver.settings.end());
      polls |= driver.spin_us > 0 ||
               (driver.spin_us == config::kSpinByCpus && workers < most_cpus);
    }
    if (polls) {
      Say("idle workers of the real test would poll (spin_us), and simulated "
          "ones sleep at once");
    }
    if (!settings.empty()) {
      Say("drivers have settings (", absl::StrJoin(settings, ", "),
          ") that are not simulated, except for their part in measured costs");
    }
  }

  void CheckModel() {
    if (!test_.activity_configs().empty()) {
      Say("services have activities, which were not compared with real runs");
    }
    if (!test_.server_faults().empty()) {
      Say("servers have faults, which were not compared with real runs");
    }
  }

  // Of the busiest host.
  void CheckLoad() {
    const double seconds = static_cast<double>(run_.end_timestamp_ns() -
                                               run_.start_timestamp_ns()) /
                           1e9;
    if (seconds <= 0) return;
    double most = 0;
    for (const auto& [name, node] : nodes_) {
      double used_seconds = 0;
      for (const auto& [instance, usage] : node.engine_usages()) {
        used_seconds += usage.user_cpu_time_seconds();
      }
      most = std::max(most, used_seconds / seconds / fabric_.host().cpus());
    }
    if (most <= kMaxCpuShare) return;
    Say(absl::StrFormat(
        "the CPUs of a host are %.0f %% busy; above %.0f %% latencies depend "
        "on the operating system's scheduler, which is not simulated",
        100 * most, 100 * kMaxCpuShare));
  }

  const DistributedSystemDescription& test_;
  const SimulatedFabric& fabric_;
  const int host_count_;
  const RunInfo& run_;
  const google::protobuf::Map<std::string, NodeResources>& nodes_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> OutsideOfValidation(const TestResult& result) {
  return ValidityCheck(result).Run();
}

}  // namespace distbench::simulation
