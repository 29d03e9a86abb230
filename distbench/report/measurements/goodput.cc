#include "distbench/report/measurements/goodput.h"

#include <algorithm>
#include <limits>

#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"

namespace distbench::report {
namespace {

// When requests were sent, by intervals.
struct SendingTime {
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t warmup_begin_ns = -1;  // of the last interval with warm-up
  int64_t warmup_end_ns = -1;
  int64_t end_ns = -1;
  int64_t width_ns = 0;
};

void AddSendingTime(const RpcTimeSeries& series, SendingTime& time) {
  const int64_t width_ns = series.interval_ns();
  if (width_ns <= 0) return;
  for (const RpcInterval& interval : series.intervals()) {
    if (interval.index() < 0) continue;
    const int64_t begin_ns =
        base::SaturatingMultiply(interval.index(), width_ns);
    const int64_t end_ns = base::SaturatingAdd(begin_ns, width_ns);
    time.begin_ns = std::min(time.begin_ns, begin_ns);
    if (interval.warmup_count() > 0 && end_ns > time.warmup_end_ns) {
      time.warmup_begin_ns = begin_ns;
      time.warmup_end_ns = end_ns;
    }
    if (interval.offered_count() > 0 || interval.sent_count() > 0) {
      time.end_ns = std::max(time.end_ns, end_ns);
    }
    time.width_ns = std::max(time.width_ns, width_ns);
  }
}

// A bound of an interval, or the event within it that is the real bound.
int64_t BoundWithin(int64_t event_ns, int64_t begin_ns, int64_t end_ns,
                    int64_t bound_ns) {
  return event_ns > begin_ns && event_ns < end_ns ? event_ns : bound_ns;
}

}  // namespace

std::optional<int64_t> DeadlineOf(const TestResult& result, int rpc_index) {
  const auto& rpcs = result.traffic_config().rpc_descriptions();
  if (rpc_index < 0 || rpc_index >= rpcs.size() ||
      rpcs[rpc_index].deadline_us() <= 0) {
    return std::nullopt;
  }
  return base::SaturatingMultiply(rpcs[rpc_index].deadline_us(),
                                  base::kNsPerUs);
}

int64_t GoodputOf(int64_t succeeded_count,
                  const stats::LogHistogram& response_time_ns,
                  std::optional<int64_t> deadline_ns) {
  if (!deadline_ns || response_time_ns.count() == 0) return succeeded_count;
  return std::min(
      succeeded_count,
      static_cast<int64_t>(response_time_ns.CountAtMost(*deadline_ns)));
}

int64_t MeasuredNs(const TestResult& result, int rpc_index,
                   const results::RpcCounts& counts) {
  SendingTime time;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    const auto found = log.rpc_time_series().find(rpc_index);
    if (found != log.rpc_time_series().end()) {
      AddSendingTime(found->second, time);
    }
  }
  if (time.end_ns <= time.begin_ns) return counts.duration_ns();
  const RunInfo& run = result.run_info();
  const int64_t begin_ns =
      time.warmup_end_ns >= 0
          ? BoundWithin(counts.first_start_timestamp_ns, time.warmup_begin_ns,
                        time.warmup_end_ns, time.warmup_end_ns)
          : BoundWithin(run.start_timestamp_ns(), time.begin_ns,
                        base::SaturatingAdd(time.begin_ns, time.width_ns),
                        time.begin_ns);
  const int64_t last_begin_ns =
      base::SaturatingSubtract(time.end_ns, time.width_ns);
  int64_t end_ns = BoundWithin(run.end_timestamp_ns(), last_begin_ns,
                               time.end_ns, time.end_ns);
  end_ns =
      BoundWithin(counts.last_end_timestamp_ns, last_begin_ns, end_ns, end_ns);
  return std::max<int64_t>(0, base::SaturatingSubtract(end_ns, begin_ns));
}

}  // namespace distbench::report
