#include "distbench/report/measurements/planned_faults.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/merge.h"

namespace distbench::report {
namespace {

std::string EffectOf(const ServerFault& fault) {
  switch (fault.fault_case()) {
    case ServerFault::kErrorCode:
      return absl::StrCat("fails with ", fault.error_code());
    case ServerFault::kExtraLatency:
      return absl::StrCat("answers ", fault.extra_latency(), " later");
    case ServerFault::kExtraLatencyDistribution:
      return absl::StrCat("answers later, by \"",
                          fault.extra_latency_distribution(), "\"");
    case ServerFault::kFreeze:
      return "stands still";
    case ServerFault::kResetConnections:
      return "breaks its connections";
    case ServerFault::FAULT_NOT_SET:
      break;
  }
  return "fails";
}

std::string DescriptionOf(const ServerFault& fault) {
  std::string text = fault.service();
  if (!fault.instances().empty()) {
    absl::StrAppend(&text, " (instances ",
                    absl::StrJoin(fault.instances(), ", "), ")");
  }
  absl::StrAppend(&text, " ", EffectOf(fault));
  if (!fault.rpc_name().empty()) {
    absl::StrAppend(&text, ", in RPC ", fault.rpc_name());
  }
  if (fault.probability() < 1) {
    absl::StrAppend(&text, ", with probability ", fault.probability());
  }
  return text;
}

// Within this time, moments of several instances are one. Their hosts' clocks
// may differ.
int64_t SlackOf(const ServerFault& fault) {
  if (!fault.reset_connections()) return 0;
  return fault.has_repeat_ns() ? fault.repeat_ns() / 2
                               : std::numeric_limits<int64_t>::max();
}

// Instances have almost the same times.
std::vector<FaultSpan> Unite(std::vector<FaultSpan> spans, int64_t slack_ns) {
  std::sort(spans.begin(), spans.end(),
            [](const FaultSpan& a, const FaultSpan& b) {
              return a.begin_ns < b.begin_ns;
            });
  std::vector<FaultSpan> united;
  for (const FaultSpan& span : spans) {
    if (united.empty() ||
        span.begin_ns > base::SaturatingAdd(united.back().end_ns, slack_ns)) {
      united.push_back(span);
    } else if (slack_ns == 0) {
      united.back().end_ns = std::max(united.back().end_ns, span.end_ns);
    }
  }
  return united;
}

}  // namespace

std::vector<PlannedFault> PlannedFaultsOf(const TestResult& result) {
  std::vector<PlannedFault> faults;
  for (const ServerFault& config : result.traffic_config().server_faults()) {
    PlannedFault& fault = faults.emplace_back();
    fault.name = config.name();
    fault.description = DescriptionOf(config);
    bool has_log = false;
    for (const auto& [instance, log] : result.service_logs().instance_logs()) {
      const auto found = log.fault_logs().find(config.name());
      if (found == log.fault_logs().end()) continue;
      has_log = true;
      fault.has_more_spans |=
          found->second.times_size() >= results::kMaxFaultTimes;
      base::SaturatingAddTo(fault.request_count, found->second.request_count());
      base::SaturatingAddTo(fault.connection_count,
                            found->second.connection_count());
      for (const FaultTime& time : found->second.times()) {
        fault.spans.push_back(
            {time.begin_timestamp_ns(), time.end_timestamp_ns()});
      }
    }
    fault.spans = Unite(std::move(fault.spans), SlackOf(config));
    fault.was_missed = has_log && fault.spans.empty();
  }
  return faults;
}

bool AnyHappened(const std::vector<PlannedFault>& faults) {
  return std::any_of(
      faults.begin(), faults.end(),
      [](const PlannedFault& fault) { return !fault.was_missed; });
}

std::vector<ServiceAdmission> AdmissionsOf(const TestResult& result) {
  std::map<std::string, ServiceAdmission> by_service;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    if (!log.has_admission_log()) continue;
    const std::string service = instance.substr(0, instance.find('/'));
    ServiceAdmission& admission = by_service[service];
    admission.service = service;
    const AdmissionLog& counts = log.admission_log();
    base::SaturatingAddTo(admission.admitted_count, counts.admitted_count());
    base::SaturatingAddTo(admission.refused_count, counts.refused_count());
    results::AddHistogram(counts.wait_ns(), admission.wait_ns).IgnoreError();
  }
  std::vector<ServiceAdmission> admissions;
  for (auto& [service, admission] : by_service) {
    admissions.push_back(std::move(admission));
  }
  return admissions;
}

}  // namespace distbench::report
