#include "distbench/simulation/calibration/outside_of_validation.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench {

namespace {

// What docs/simulation.md compares with real runs.
constexpr int kMaxHosts = 2;
constexpr int kMaxInstances = 40;
constexpr int64_t kMaxBytes = 262144;
constexpr double kMaxCpuShare = 0.9;
constexpr absl::string_view kDrivers[] = {"grpc", "tcp"};

// How the sources of costs begin that are not the user's own.
constexpr absl::string_view kReferenceSource = "the reference machine";
constexpr absl::string_view kNoSource = "placeholder";

using Sentences = std::vector<std::string>;

void CheckCosts(const SimulatedFabric& fabric, Sentences& sentences) {
  for (const StackCosts& costs : fabric.stacks()) {
    const std::string driver = absl::StrCat("driver ", costs.driver());
    if (std::find(std::begin(kDrivers), std::end(kDrivers), costs.driver()) ==
        std::end(kDrivers)) {
      sentences.push_back(
          absl::StrCat(driver, " was not compared with real runs"));
    }
    if (absl::StartsWith(costs.source(), kNoSource)) {
      sentences.push_back(absl::StrCat(
          "the costs of ", driver,
          " are not measured; measure them (--calibrate_from)"));
    } else if (absl::StartsWith(costs.source(), kReferenceSource)) {
      sentences.push_back(absl::StrCat(
          "the costs of ", driver,
          " are those of another machine; measure yours (--calibrate_from)"));
    } else if (!costs.client_send().has_fixed_error_ns()) {
      sentences.push_back(absl::StrCat("the costs of ", driver,
                                       " are given, not measured"));
    }
  }
}

void CheckSize(const DistributedSystemDescription& test, int host_count,
               Sentences& sentences) {
  if (host_count > kMaxHosts) {
    sentences.push_back(
        absl::StrCat("there are ", host_count, " hosts; up to ", kMaxHosts,
                     " were compared with real runs"));
  }
  int instances = 0;
  for (const ServiceSpec& service : test.services()) {
    instances += service.count();
  }
  if (instances > kMaxInstances) {
    sentences.push_back(
        absl::StrCat("there are ", instances, " instances; up to ",
                     kMaxInstances, " were compared with real runs"));
  }
  for (const PayloadSpec& payload : test.payload_descriptions()) {
    if (payload.size() <= kMaxBytes) continue;
    sentences.push_back(absl::StrCat(
        "payload ", payload.name(), " has ", payload.size(),
        " bytes; costs were measured up to ", kMaxBytes, " bytes"));
  }
}

void CheckModel(const DistributedSystemDescription& test,
                const SimulatedFabric& fabric, Sentences& sentences) {
  if (fabric.transport().kind() != SimulatedTransport::MESSAGES) {
    sentences.push_back(
        "the transport sends packets, which were compared with theory and "
        "published measurements, not with real runs");
  }
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
  const double seconds = static_cast<double>(info.end_timestamp_ns() -
                                             info.start_timestamp_ns()) /
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
  CheckCosts(fabric, sentences);
  CheckSize(test, host_count, sentences);
  CheckModel(test, fabric, sentences);
  CheckLoad(fabric, result, sentences);
  return sentences;
}

}  // namespace distbench
