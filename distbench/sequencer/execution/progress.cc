#include "distbench/sequencer/execution/progress.h"

#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {
namespace {

void AddTimes(const Histogram& from, Histogram& into) {
  LogHistogram sum;
  AddHistogram(from, sum).IgnoreError();
  AddHistogram(into, sum).IgnoreError();
  EncodeHistogram(sum, into);
}

void AddRecentTimes(const TrafficProgress& from, TrafficProgress& into) {
  if (from.has_recent_service_time_ns()) {
    AddTimes(from.recent_service_time_ns(),
             *into.mutable_recent_service_time_ns());
  }
  if (from.has_recent_response_time_ns()) {
    AddTimes(from.recent_response_time_ns(),
             *into.mutable_recent_response_time_ns());
  }
}

}  // namespace

void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress) {
  progress.set_succeeded_count(newer.succeeded_count());
  progress.set_failed_count(newer.failed_count());
  progress.set_in_flight_count(newer.in_flight_count());
  progress.set_offered_count(newer.offered_count());
  progress.set_open_loop_ended_count(newer.open_loop_ended_count());
  AddRecentTimes(newer, progress);
}

void AddProgress(const TrafficProgress& part, TrafficProgress& sum) {
  sum.set_succeeded_count(
      SaturatingAdd(sum.succeeded_count(), part.succeeded_count()));
  sum.set_failed_count(SaturatingAdd(sum.failed_count(), part.failed_count()));
  sum.set_in_flight_count(
      SaturatingAdd(sum.in_flight_count(), part.in_flight_count()));
  sum.set_offered_count(
      SaturatingAdd(sum.offered_count(), part.offered_count()));
  sum.set_open_loop_ended_count(SaturatingAdd(sum.open_loop_ended_count(),
                                              part.open_loop_ended_count()));
  AddRecentTimes(part, sum);
}

}  // namespace distbench
