#include "distbench/engine/property_testing/random_units.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace distbench {
namespace {

constexpr double kChance = 0.3;
constexpr int64_t kNsPerMinute = 60'000'000'000;

std::string DurationText(RandomSource& random, absl::Duration duration) {
  return random.Chance(0.5)
             ? absl::FormatDuration(duration)
             : absl::StrCat(absl::ToInt64Nanoseconds(duration), "ns");
}

// Returns an empty string if no whole rate has the interval.
std::string RateText(RandomSource& random, int64_t interval_ns) {
  if (interval_ns <= 0 || kNsPerMinute % interval_ns != 0) return "";
  const int64_t per_minute = kNsPerMinute / interval_ns;
  if (per_minute % 60 != 0 || random.Chance(0.5)) {
    return absl::StrCat(per_minute, "/min");
  }
  const int64_t per_second = per_minute / 60;
  return per_second % 1'000'000 == 0
             ? absl::StrCat(per_second / 1'000'000, "M/s")
             : absl::StrCat(per_second, "/s");
}

void WriteIterations(RandomSource& random, Iterations& iterations) {
  if (iterations.has_open_loop_interval_ns() && random.Chance(kChance)) {
    const std::string rate =
        RateText(random, iterations.open_loop_interval_ns());
    if (!rate.empty()) {
      iterations.set_rate(rate);
      iterations.clear_open_loop_interval_ns();
    }
  }
  if (iterations.has_max_duration_us() && random.Chance(kChance)) {
    iterations.set_max_duration(
        DurationText(random, absl::Microseconds(iterations.max_duration_us())));
    iterations.clear_max_duration_us();
  }
  if (iterations.has_warmup_ns() && random.Chance(kChance)) {
    iterations.set_warmup(
        DurationText(random, absl::Nanoseconds(iterations.warmup_ns())));
    iterations.clear_warmup_ns();
  }
}

void WriteStream(RandomSource& random, StreamSpec& stream) {
  if (stream.has_client_interval_ns() && random.Chance(kChance)) {
    stream.set_client_interval(
        DurationText(random, absl::Nanoseconds(stream.client_interval_ns())));
    stream.clear_client_interval_ns();
  }
  if (stream.has_server_interval_ns() && random.Chance(kChance)) {
    stream.set_server_interval(
        DurationText(random, absl::Nanoseconds(stream.server_interval_ns())));
    stream.clear_server_interval_ns();
  }
}

}  // namespace

void WriteSomeWithUnits(RandomSource& random,
                        DistributedSystemDescription& test) {
  for (PayloadSpec& payload : *test.mutable_payload_descriptions()) {
    if (!payload.has_size() || !random.Chance(kChance)) continue;
    payload.set_size_with_unit(absl::StrCat(payload.size(), "B"));
    payload.clear_size();
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (rpc.has_stream()) WriteStream(random, *rpc.mutable_stream());
    if (!rpc.has_deadline_us() || !random.Chance(kChance)) continue;
    rpc.set_deadline(
        DurationText(random, absl::Microseconds(rpc.deadline_us())));
    rpc.clear_deadline_us();
  }
  for (Action& action : *test.mutable_actions()) {
    if (!action.has_iterations()) continue;
    WriteIterations(random, *action.mutable_iterations());
  }
}

}  // namespace distbench
