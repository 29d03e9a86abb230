#include "distbench/engine/property_testing/random_units.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"

namespace distbench::engine {
namespace {

constexpr double kChance = 0.3;
constexpr int64_t kNsPerMinute = 60'000'000'000;

std::string DurationText(fuzzing::RandomSource& random,
                         absl::Duration duration) {
  return random.Chance(0.5)
             ? absl::FormatDuration(duration)
             : absl::StrCat(absl::ToInt64Nanoseconds(duration), "ns");
}

// Returns an empty string if no whole rate has the interval.
std::string RateText(fuzzing::RandomSource& random, int64_t interval_ns) {
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

void WriteIterations(fuzzing::RandomSource& random, Iterations& iterations) {
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

void WriteStream(fuzzing::RandomSource& random, StreamSpec& stream) {
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

// Writes a time in nanoseconds with its unit, if the message has it.
void WriteTime(fuzzing::RandomSource& random, const char* number_field,
               const char* text_field, google::protobuf::Message& message) {
  const auto* type = message.GetDescriptor();
  const auto* reflection = message.GetReflection();
  const auto* number = type->FindFieldByName(number_field);
  if (!reflection->HasField(message, number) || !random.Chance(kChance)) return;
  reflection->SetString(
      &message, type->FindFieldByName(text_field),
      DurationText(random,
                   absl::Nanoseconds(reflection->GetInt64(message, number))));
  reflection->ClearField(&message, number);
}

void WritePolicy(fuzzing::RandomSource& random, CallPolicy& policy) {
  WriteTime(random, "attempt_deadline_ns", "attempt_deadline", policy);
  if (policy.has_retry()) {
    RetryPolicy& retry = *policy.mutable_retry();
    WriteTime(random, "initial_backoff_ns", "initial_backoff", retry);
    WriteTime(random, "max_backoff_ns", "max_backoff", retry);
    if (retry.has_budget()) {
      WriteTime(random, "window_ns", "window", *retry.mutable_budget());
    }
  }
  if (policy.has_hedging()) {
    HedgingPolicy& hedging = *policy.mutable_hedging();
    WriteTime(random, "delay_ns", "delay", hedging);
    if (hedging.has_budget()) {
      WriteTime(random, "window_ns", "window", *hedging.mutable_budget());
    }
  }
  if (policy.has_circuit_breaker()) {
    CircuitBreakerPolicy& breaker = *policy.mutable_circuit_breaker();
    WriteTime(random, "window_ns", "window", breaker);
    WriteTime(random, "open_ns", "open", breaker);
  }
}

void WriteModulation(fuzzing::RandomSource& random,
                     RateModulation& modulation) {
  if (modulation.has_sine()) {
    WriteTime(random, "period_ns", "period", *modulation.mutable_sine());
  }
  if (modulation.has_on_off()) {
    WriteTime(random, "on_ns", "on", *modulation.mutable_on_off());
    WriteTime(random, "off_ns", "off", *modulation.mutable_on_off());
  }
  if (modulation.has_schedule()) {
    for (RateSegment& segment :
         *modulation.mutable_schedule()->mutable_segments()) {
      WriteTime(random, "duration_ns", "duration", segment);
    }
  }
  if (modulation.has_markov()) {
    for (RateState& state : *modulation.mutable_markov()->mutable_states()) {
      WriteTime(random, "mean_duration_ns", "mean_duration", state);
    }
  }
}

void WriteArrivals(fuzzing::RandomSource& random, Arrivals& arrivals) {
  for (RateModulation& modulation : *arrivals.mutable_modulations()) {
    WriteModulation(random, modulation);
  }
  for (Arrivals& superposed : *arrivals.mutable_superposed()) {
    WriteArrivals(random, superposed);
  }
}

}  // namespace

void WriteSomeWithUnits(fuzzing::RandomSource& random,
                        DistributedSystemDescription& test) {
  for (PayloadSpec& payload : *test.mutable_payload_descriptions()) {
    if (!payload.has_size() || !random.Chance(kChance)) continue;
    payload.set_size_with_unit(absl::StrCat(payload.size(), "B"));
    payload.clear_size();
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (rpc.has_stream()) WriteStream(random, *rpc.mutable_stream());
    if (rpc.has_policy()) WritePolicy(random, *rpc.mutable_policy());
    if (!rpc.has_deadline_us() || !random.Chance(kChance)) continue;
    rpc.set_deadline(
        DurationText(random, absl::Microseconds(rpc.deadline_us())));
    rpc.clear_deadline_us();
  }
  for (Action& action : *test.mutable_actions()) {
    if (!action.has_iterations()) continue;
    WriteIterations(random, *action.mutable_iterations());
    if (!action.iterations().has_arrivals()) continue;
    WriteArrivals(random, *action.mutable_iterations()->mutable_arrivals());
  }
  for (ServerFault& fault : *test.mutable_server_faults()) {
    WriteTime(random, "start_ns", "start", fault);
    WriteTime(random, "duration_ns", "duration", fault);
    WriteTime(random, "repeat_ns", "repeat", fault);
  }
}

}  // namespace distbench::engine
