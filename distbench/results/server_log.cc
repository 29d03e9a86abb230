#include "distbench/results/server_log.h"

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"

namespace distbench::results {
namespace {

absl::Status MergeFault(const FaultLog& from, FaultLog& into) {
  if (from.request_count() < 0 || from.connection_count() < 0) {
    return absl::InvalidArgumentError(
        "has a negative count; all are at least 0");
  }
  into.set_request_count(
      base::SaturatingAdd(into.request_count(), from.request_count()));
  into.set_connection_count(
      base::SaturatingAdd(into.connection_count(), from.connection_count()));
  for (const FaultTime& time : from.times()) {
    if (time.end_timestamp_ns() < time.begin_timestamp_ns()) {
      return absl::InvalidArgumentError(
          "has a time that ends before it begins");
    }
    if (into.times_size() < kMaxFaultTimes) *into.add_times() = time;
  }
  return absl::OkStatus();
}

absl::Status MergeAdmission(const AdmissionLog& from, AdmissionLog& into) {
  if (from.admitted_count() < 0 || from.refused_count() < 0) {
    return absl::InvalidArgumentError(
        "the log of admission has a negative count; all are at least 0");
  }
  if (from.has_wait_ns()) {
    if (absl::Status status = ValidateHistogram(from.wait_ns()); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("wait_ns of admission: ", status.message()));
    }
    MergeHistogram(from.wait_ns(), *into.mutable_wait_ns());
  }
  into.set_admitted_count(
      base::SaturatingAdd(into.admitted_count(), from.admitted_count()));
  into.set_refused_count(
      base::SaturatingAdd(into.refused_count(), from.refused_count()));
  return absl::OkStatus();
}

}  // namespace

absl::Status MergeServerLog(const ServicePerformanceLog& from,
                            ServicePerformanceLog& into) {
  for (const auto& [name, fault] : from.fault_logs()) {
    const absl::Status status =
        MergeFault(fault, (*into.mutable_fault_logs())[name]);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the log of fault ", name, " ", status.message()));
  }
  if (!from.has_admission_log()) return absl::OkStatus();
  return MergeAdmission(from.admission_log(), *into.mutable_admission_log());
}

}  // namespace distbench::results
