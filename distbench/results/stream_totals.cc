#include "distbench/results/stream_totals.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"

namespace distbench::results {
namespace {

struct CountField {
  int64_t StreamTotals::*total;
  int64_t (StreamStatistics::*get)() const;
  void (StreamStatistics::*set)(int64_t value);
};

constexpr CountField kCounts[] = {
    {&StreamTotals::stream_count, &StreamStatistics::stream_count,
     &StreamStatistics::set_stream_count},
    {&StreamTotals::request_messages, &StreamStatistics::request_messages,
     &StreamStatistics::set_request_messages},
    {&StreamTotals::response_messages, &StreamStatistics::response_messages,
     &StreamStatistics::set_response_messages},
    {&StreamTotals::request_bytes, &StreamStatistics::request_bytes,
     &StreamStatistics::set_request_bytes},
    {&StreamTotals::response_bytes, &StreamStatistics::response_bytes,
     &StreamStatistics::set_response_bytes}};

struct HistogramField {
  absl::string_view name;
  stats::LogHistogram StreamTotals::*total;
  bool (StreamStatistics::*has)() const;
  const Histogram& (StreamStatistics::*get)() const;
  Histogram* (StreamStatistics::*mutable_field)();
};

constexpr HistogramField kHistograms[] = {
    {"first_message_ns", &StreamTotals::first_message_ns,
     &StreamStatistics::has_first_message_ns,
     &StreamStatistics::first_message_ns,
     &StreamStatistics::mutable_first_message_ns},
    {"gap_ns", &StreamTotals::gap_ns, &StreamStatistics::has_gap_ns,
     &StreamStatistics::gap_ns, &StreamStatistics::mutable_gap_ns},
    {"round_trip_ns", &StreamTotals::round_trip_ns,
     &StreamStatistics::has_round_trip_ns, &StreamStatistics::round_trip_ns,
     &StreamStatistics::mutable_round_trip_ns},
    {"client_blocked_ns", &StreamTotals::client_blocked_ns,
     &StreamStatistics::has_client_blocked_ns,
     &StreamStatistics::client_blocked_ns,
     &StreamStatistics::mutable_client_blocked_ns},
    {"server_blocked_ns", &StreamTotals::server_blocked_ns,
     &StreamStatistics::has_server_blocked_ns,
     &StreamStatistics::server_blocked_ns,
     &StreamStatistics::mutable_server_blocked_ns}};

absl::Status Validate(const StreamStatistics& statistics) {
  for (const CountField& field : kCounts) {
    if ((statistics.*field.get)() >= 0) continue;
    return absl::InvalidArgumentError(
        "statistics of streams have a negative count; all are at least 0");
  }
  for (const HistogramField& field : kHistograms) {
    if (!(statistics.*field.has)()) continue;
    const absl::Status status = ValidateHistogram((statistics.*field.get)());
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field.name, " of streams: ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace

void StreamTotals::Merge(const StreamTotals& other) {
  for (const CountField& field : kCounts) {
    this->*field.total =
        base::SaturatingAdd(this->*field.total, other.*field.total);
  }
  for (const HistogramField& field : kHistograms) {
    (this->*field.total).Merge(other.*field.total);
  }
}

absl::Status StreamTotals::Add(const StreamStatistics& statistics) {
  if (absl::Status status = Validate(statistics); !status.ok()) return status;
  for (const CountField& field : kCounts) {
    this->*field.total =
        base::SaturatingAdd(this->*field.total, (statistics.*field.get)());
  }
  for (const HistogramField& field : kHistograms) {
    if (!(statistics.*field.has)()) continue;
    // Adding valid histograms cannot fail.
    AddHistogram((statistics.*field.get)(), this->*field.total).IgnoreError();
  }
  return absl::OkStatus();
}

void StreamTotals::Encode(StreamStatistics& statistics) const {
  statistics.Clear();
  for (const CountField& field : kCounts) {
    (statistics.*field.set)(this->*field.total);
  }
  for (const HistogramField& field : kHistograms) {
    const stats::LogHistogram& histogram = this->*field.total;
    if (histogram.count() == 0) continue;
    EncodeHistogram(histogram, *(statistics.*field.mutable_field)());
  }
}

absl::Status MergeStreamStatistics(const StreamStatistics& from,
                                   StreamStatistics& into) {
  StreamTotals totals;
  absl::Status status = totals.Add(into);
  if (status.ok()) status = totals.Add(from);
  if (status.ok()) totals.Encode(into);
  return status;
}

}  // namespace distbench::results
