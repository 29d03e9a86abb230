// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/calibration/model_validity.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/simulation/model/given_costs.h"

namespace distbench::simulation {
namespace {

// What docs/products/simulation.md compares with real runs.
constexpr int kMaxHosts = 2;
constexpr int kMaxInstances = 10;
constexpr int64_t kMaxBytes = 262144;
constexpr double kMaxCpuShare = 0.9;
constexpr absl::string_view kDrivers[] = {"grpc", "tcp"};

// How the sources of costs begin that are not the user's own.
constexpr absl::string_view kReferenceSource = "the reference machine";
constexpr absl::string_view kNoSource = "placeholder";

// How the sources of costs begin that were measured without a network.
constexpr absl::string_view kOneHost = "measured between processes of one host";

using Sentences = std::vector<std::string>;

void CheckCosts(const SimulatedFabric& fabric, int host_count,
                Sentences& sentences) {
  for (const StackCosts& costs : fabric.stacks()) {
    const std::string driver = absl::StrCat("driver ", costs.driver());
    if (std::find(std::begin(kDrivers), std::end(kDrivers), costs.driver()) ==
        std::end(kDrivers)) {
      sentences.push_back(
          absl::StrCat(driver, " was not compared with real runs"));
    }
    if (absl::StartsWith(costs.source(), kNoSource)) {
      sentences.push_back(
          absl::StrCat("the costs of ", driver,
                       " are not measured; measure them (--calibrate_from)"));
    } else if (absl::StartsWith(costs.source(), kReferenceSource)) {
      sentences.push_back(absl::StrCat(
          "the costs of ", driver,
          " are those of another machine; measure yours (--calibrate_from)"));
    } else if (!costs.client_send().has_fixed_error_ns()) {
      sentences.push_back(
          absl::StrCat("the costs of ", driver, " are given, not measured"));
    } else if (host_count > 1 && absl::StartsWith(costs.source(), kOneHost)) {
      sentences.push_back(absl::StrCat(
          "the costs of ", driver,
          " were measured between processes of one host, and there are ",
          host_count, "; measure them between two hosts"));
    }
  }
}

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

void CheckSize(const DistributedSystemDescription& test, int host_count,
               Sentences& sentences) {
  if (host_count > kMaxHosts) {
    sentences.push_back(absl::StrCat("there are ", host_count, " hosts; up to ",
                                     kMaxHosts,
                                     " were compared with real runs"));
  }
  int instances = 0;
  for (const ServiceSpec& service : test.services()) {
    instances += service.count();
  }
  if (instances > kMaxInstances) {
    sentences.push_back(absl::StrCat(
        "there are ", instances, " instances; with more than ", kMaxInstances,
        ", simulated latencies were up to 73 % shorter than real ones"));
  }
  const auto check_bytes = [&](absl::string_view what, int64_t bytes) {
    if (bytes <= kMaxBytes) return;
    sentences.push_back(absl::StrCat(what, " has ", bytes,
                                     " bytes; costs were measured up to ",
                                     kMaxBytes, " bytes"));
  };
  for (const PayloadSpec& payload : test.payload_descriptions()) {
    check_bytes(absl::StrCat("payload ", payload.name()), payload.size());
  }
  for (const auto* sizes :
       {&test.size_distribution_configs(), &test.distribution_config()}) {
    for (const DistributionConfig& config : *sizes) {
      check_bytes(absl::StrCat("distribution ", config.name()),
                  LargestOf(config));
    }
  }
}

// Of the services' drivers: how they wait, and what else their settings say.
void CheckDrivers(const DistributedSystemDescription& test,
                  const SimulatedFabric& fabric, const TestResult& result,
                  Sentences& sentences) {
  // The most CPUs that an instance has to itself, if all have equal shares.
  int most_cpus = 1;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    const int instances =
        std::max(1, static_cast<int>(resources.engine_usages_size()));
    most_cpus = std::max(most_cpus, fabric.host().cpus() / instances);
  }
  const int workers =
      test.workers_per_instance() > 0 ? test.workers_per_instance() : most_cpus;
  if (workers > 1) {
    sentences.push_back(
        absl::StrCat("instances have ", workers,
                     " workers; one each was compared with real runs "
                     "(workers_per_instance: 1)"));
  }
  std::set<std::string> settings;
  bool polls = false;
  for (const ServiceSpec& service : test.services()) {
    const UsedDriver driver = UsedDriverOf(test, service);
    settings.insert(driver.settings.begin(), driver.settings.end());
    polls |= driver.spin_us > 0 ||
             (driver.spin_us == config::kSpinByCpus && workers < most_cpus);
  }
  if (polls) {
    sentences.push_back(
        "idle workers of the real test would poll (spin_us), and simulated "
        "ones sleep at once");
  }
  if (!settings.empty()) {
    sentences.push_back(absl::StrCat(
        "drivers have settings (", absl::StrJoin(settings, ", "),
        ") that are not simulated, except for their part in measured costs"));
  }
}

void CheckModel(const DistributedSystemDescription& test,
                Sentences& sentences) {
  if (!test.activity_configs().empty()) {
    sentences.push_back(
        "services have activities, which were not compared with real runs");
  }
  if (!test.server_faults().empty()) {
    sentences.push_back(
        "servers have faults, which were not compared with real runs");
  }
}

// Of the busiest host.
void CheckLoad(const SimulatedFabric& fabric, const TestResult& result,
               Sentences& sentences) {
  const RunInfo& info = result.run_info();
  const double seconds =
      static_cast<double>(info.end_timestamp_ns() - info.start_timestamp_ns()) /
      1e9;
  if (seconds <= 0) return;
  double most = 0;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    double used_seconds = 0;
    for (const auto& [instance, usage] : resources.engine_usages()) {
      used_seconds += usage.user_cpu_time_seconds();
    }
    most = std::max(most, used_seconds / seconds / fabric.host().cpus());
  }
  if (most <= kMaxCpuShare) return;
  sentences.push_back(absl::StrFormat(
      "the CPUs of a host are %.0f %% busy; above %.0f %% latencies depend on "
      "the operating system's scheduler, which is not simulated",
      100 * most, 100 * kMaxCpuShare));
}

}  // namespace

std::vector<std::string> OutsideOfValidation(
    const DistributedSystemDescription& test, const SimulatedFabric& fabric,
    int host_count, const TestResult& result) {
  Sentences sentences;
  CheckCosts(fabric, host_count, sentences);
  CheckSize(test, host_count, sentences);
  CheckDrivers(test, fabric, result, sentences);
  CheckModel(test, sentences);
  CheckLoad(fabric, result, sentences);
  return sentences;
}

}  // namespace distbench::simulation
