#include "distbench/results/rpc_totals.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/moments_proto.h"

namespace distbench::results {
namespace {

absl::Status ValidateCounts(const RpcStatistics& statistics) {
  int64_t least = 0;
  for (int64_t count :
       {statistics.succeeded_count(), statistics.failed_count(),
        statistics.warmup_count(), statistics.request_bytes(),
        statistics.response_bytes(), statistics.dropped_sample_count(),
        statistics.first_start_timestamp_ns(),
        statistics.last_end_timestamp_ns()}) {
    least = std::min(least, count);
  }
  for (const auto& [error_index, count] : statistics.failures_by_error()) {
    least = std::min(least, count);
  }
  if (least < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "statistics hold ", least, ", but all their numbers are at least 0"));
  }
  return absl::OkStatus();
}

absl::Status ValidateField(absl::string_view field,
                           const Histogram& histogram) {
  const absl::Status status = ValidateHistogram(histogram);
  if (status.ok()) {
    return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", status.message()));
}

// The field of a time part.
struct TimePartField {
  absl::string_view name;
  bool (RpcStatistics::*has)() const;
  const Histogram& (RpcStatistics::*get)() const;
  Histogram* (RpcStatistics::*mutable_field)();
};

const TimePartField& FieldOf(TimePart part) {
  static constexpr TimePartField kServerQueue = {
      "server_queue_ns", &RpcStatistics::has_server_queue_ns,
      &RpcStatistics::server_queue_ns, &RpcStatistics::mutable_server_queue_ns};
  static constexpr TimePartField kServerHandler = {
      "server_handler_ns", &RpcStatistics::has_server_handler_ns,
      &RpcStatistics::server_handler_ns,
      &RpcStatistics::mutable_server_handler_ns};
  static constexpr TimePartField kNetwork = {
      "network_ns", &RpcStatistics::has_network_ns, &RpcStatistics::network_ns,
      &RpcStatistics::mutable_network_ns};
  switch (part) {
    case TimePart::kServerQueue:
      return kServerQueue;
    case TimePart::kServerHandler:
      return kServerHandler;
    case TimePart::kNetwork:
      break;
  }
  return kNetwork;
}

absl::Status ValidateTimeParts(const RpcStatistics& statistics) {
  for (const TimePart part : kTimeParts) {
    const TimePartField& field = FieldOf(part);
    if (!(statistics.*field.has)()) continue;
    absl::Status status = ValidateField(field.name, (statistics.*field.get)());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void MoveToMoments(stats::LogHistogram& histogram,
                   stats::RunningMoments& moments) {
  moments.Merge(stats::RunningMoments(histogram));
  histogram = stats::LogHistogram();
}

}  // namespace

absl::string_view NameOf(TimePart part) {
  absl::string_view name = FieldOf(part).name;
  name.remove_suffix(absl::string_view("_ns").size());
  return name;
}

void RpcCounts::Add(const RpcCounts& other) {
  for (int64_t RpcCounts::*count :
       {&RpcCounts::succeeded_count, &RpcCounts::failed_count,
        &RpcCounts::warmup_count, &RpcCounts::request_bytes,
        &RpcCounts::response_bytes, &RpcCounts::dropped_sample_count}) {
    this->*count = base::SaturatingAdd(this->*count, other.*count);
  }
  first_start_timestamp_ns =
      std::min(first_start_timestamp_ns, other.first_start_timestamp_ns);
  last_end_timestamp_ns =
      std::max(last_end_timestamp_ns, other.last_end_timestamp_ns);
}

bool RpcCounts::has_timestamps() const {
  return first_start_timestamp_ns <= last_end_timestamp_ns;
}

int64_t RpcCounts::duration_ns() const {
  return has_timestamps() ? last_end_timestamp_ns - first_start_timestamp_ns
                          : 0;
}

RpcCounts CountsOf(const RpcStatistics& statistics) {
  RpcCounts counts;
  counts.succeeded_count = statistics.succeeded_count();
  counts.failed_count = statistics.failed_count();
  counts.warmup_count = statistics.warmup_count();
  counts.request_bytes = statistics.request_bytes();
  counts.response_bytes = statistics.response_bytes();
  counts.dropped_sample_count = statistics.dropped_sample_count();
  if (statistics.has_first_start_timestamp_ns() &&
      statistics.has_last_end_timestamp_ns()) {
    counts.first_start_timestamp_ns = statistics.first_start_timestamp_ns();
    counts.last_end_timestamp_ns = statistics.last_end_timestamp_ns();
  }
  return counts;
}

absl::Status ValidateStatistics(const RpcStatistics& statistics) {
  absl::Status status = ValidateCounts(statistics);
  if (status.ok() && statistics.has_service_time_ns()) {
    status = ValidateField("service_time_ns", statistics.service_time_ns());
  }
  if (status.ok() && statistics.has_response_time_ns()) {
    status = ValidateField("response_time_ns", statistics.response_time_ns());
  }
  if (status.ok() && statistics.has_lateness_ns()) {
    status = ValidateField("lateness_ns", statistics.lateness_ns());
  }
  if (status.ok()) status = ValidateTimeParts(statistics);
  for (const ValueMoments* moments :
       {&statistics.service_time_moments(), &statistics.response_time_moments(),
        &statistics.lateness_moments()}) {
    if (status.ok()) status = ValidateMoments(*moments);
  }
  return status;
}

absl::Status RpcTotals::Add(const RpcStatistics& statistics) {
  if (absl::Status status = ValidateStatistics(statistics); !status.ok()) {
    return status;
  }
  counts.Add(CountsOf(statistics));
  // Adding valid histograms cannot fail.
  if (statistics.has_service_time_ns()) {
    AddHistogram(statistics.service_time_ns(), service_time_ns).IgnoreError();
  }
  if (statistics.has_response_time_ns()) {
    AddHistogram(statistics.response_time_ns(), response_time_ns).IgnoreError();
  }
  if (statistics.has_lateness_ns()) {
    AddHistogram(statistics.lateness_ns(), lateness_ns).IgnoreError();
  }
  for (const TimePart part : kTimeParts) {
    const TimePartField& field = FieldOf(part);
    if (!(statistics.*field.has)()) continue;
    AddHistogram((statistics.*field.get)(), time_parts_ns[part]).IgnoreError();
  }
  AddMoments(statistics.service_time_moments(), moments.service_time_ns);
  AddMoments(statistics.response_time_moments(), moments.response_time_ns);
  AddMoments(statistics.lateness_moments(), moments.lateness_ns);
  for (const auto& [error_index, count] : statistics.failures_by_error()) {
    int64_t& total = failures_by_error[error_index];
    total = base::SaturatingAdd(total, count);
  }
  return absl::OkStatus();
}

void RpcTotals::MergeHistograms(const RpcTotals& other) {
  service_time_ns.Merge(other.service_time_ns);
  response_time_ns.Merge(other.response_time_ns);
  lateness_ns.Merge(other.lateness_ns);
  for (const auto& [part, times_ns] : other.time_parts_ns) {
    time_parts_ns[part].Merge(times_ns);
  }
}

void RpcTotals::DropHistograms() {
  MoveToMoments(service_time_ns, moments.service_time_ns);
  MoveToMoments(response_time_ns, moments.response_time_ns);
  MoveToMoments(lateness_ns, moments.lateness_ns);
  time_parts_ns.clear();
}

int64_t RpcTotals::memory_bytes() const {
  int64_t bytes = static_cast<int64_t>(sizeof(RpcTotals)) +
                  service_time_ns.allocated_bytes() +
                  response_time_ns.allocated_bytes() +
                  lateness_ns.allocated_bytes();
  for (const auto& [part, times_ns] : time_parts_ns) {
    bytes += static_cast<int64_t>(sizeof(stats::LogHistogram)) +
             times_ns.allocated_bytes();
  }
  return bytes;
}

void RpcTotals::Encode(RpcStatistics& statistics) const {
  statistics.Clear();
  statistics.set_succeeded_count(counts.succeeded_count);
  statistics.set_failed_count(counts.failed_count);
  statistics.set_warmup_count(counts.warmup_count);
  statistics.set_request_bytes(counts.request_bytes);
  statistics.set_response_bytes(counts.response_bytes);
  statistics.set_dropped_sample_count(counts.dropped_sample_count);
  if (counts.has_timestamps()) {
    statistics.set_first_start_timestamp_ns(counts.first_start_timestamp_ns);
    statistics.set_last_end_timestamp_ns(counts.last_end_timestamp_ns);
  }
  if (service_time_ns.count() > 0) {
    EncodeHistogram(service_time_ns, *statistics.mutable_service_time_ns());
  }
  if (response_time_ns.count() > 0) {
    EncodeHistogram(response_time_ns, *statistics.mutable_response_time_ns());
  }
  if (lateness_ns.count() > 0) {
    EncodeHistogram(lateness_ns, *statistics.mutable_lateness_ns());
  }
  for (const auto& [part, times_ns] : time_parts_ns) {
    if (times_ns.count() == 0) continue;
    EncodeHistogram(times_ns, *(statistics.*FieldOf(part).mutable_field)());
  }
  if (moments.service_time_ns.count > 0) {
    EncodeMoments(moments.service_time_ns,
                  *statistics.mutable_service_time_moments());
  }
  if (moments.response_time_ns.count > 0) {
    EncodeMoments(moments.response_time_ns,
                  *statistics.mutable_response_time_moments());
  }
  if (moments.lateness_ns.count > 0) {
    EncodeMoments(moments.lateness_ns, *statistics.mutable_lateness_moments());
  }
  for (const auto& [error_index, count] : failures_by_error) {
    (*statistics.mutable_failures_by_error())[error_index] = count;
  }
}

}  // namespace distbench::results
