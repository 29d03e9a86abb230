// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/property_testing/random_parts.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"

namespace distbench::engine {
namespace {

RateModulation AnyModulation(fuzzing::RandomSource& random) {
  RateModulation modulation;
  const int64_t time_ns = random.OneOf<int64_t>({1'000'000, 30'000'000});
  switch (random.Between(0, 3)) {
    case 0:
      modulation.mutable_sine()->set_period_ns(time_ns);
      if (random.Chance(0.5)) modulation.mutable_sine()->set_amplitude(0.9);
      if (random.Chance(0.5)) modulation.mutable_sine()->set_phase(0.25);
      break;
    case 1: {
      OnOffRate& on_off = *modulation.mutable_on_off();
      on_off.set_on_ns(time_ns);
      on_off.set_off_ns(3 * time_ns);
      if (random.Chance(0.5)) on_off.set_times("exponential");
      if (random.Chance(0.5)) on_off.set_off_factor(0.2);
      break;
    }
    case 2: {
      RateSchedule& schedule = *modulation.mutable_schedule();
      RateSegment& ramp = *schedule.add_segments();
      ramp.set_duration_ns(time_ns);
      ramp.set_factor(0);
      ramp.set_to_factor(random.OneOf<double>({0.5, 3}));
      schedule.set_repeat(random.Chance(0.5));
      break;
    }
    default:
      for (const double factor : {0.0, 1.0, 5.0}) {
        RateState& state = *modulation.mutable_markov()->add_states();
        state.set_factor(factor);
        state.set_mean_duration_ns(time_ns);
      }
  }
  if (random.Chance(0.3)) modulation.set_client_phase("none");
  return modulation;
}

Arrivals AnySource(fuzzing::RandomSource& random) {
  Arrivals source;
  source.set_process(random.OneOf<std::string>(
      {"", "constant", "exponential", "gamma", "recorded"}));
  if (source.process() == "gamma") {
    source.set_coefficient_of_variation(random.OneOf<double>({0.1, 4}));
  }
  if (source.process() == "recorded") {
    source.mutable_recorded()->set_times("1\n2\n2\n5\n");
    if (random.Chance(0.5)) source.mutable_recorded()->set_repeat(true);
  }
  if (random.Chance(0.3)) source.set_kept_share(0.3);
  if (random.Chance(0.3)) {
    source.set_client_phase(random.OneOf<std::string>({"random", "spread"}));
  }
  for (int64_t i = random.Between(0, 2); i > 0; --i) {
    *source.add_modulations() = AnyModulation(random);
  }
  return source;
}

}  // namespace

NamedSetting MakeSetting(const std::string& name, const std::string& value) {
  NamedSetting setting;
  setting.set_name(name);
  setting.set_string_value(value);
  return setting;
}

NamedSetting MakeSetting(const std::string& name, int64_t value) {
  NamedSetting setting;
  setting.set_name(name);
  setting.set_int64_value(value);
  return setting;
}

ConstraintList AnyConstraints(const std::vector<std::string>& attributes,
                              fuzzing::RandomSource& random) {
  ConstraintList list;
  for (int64_t i = random.Between(0, 2); i > 0; --i) {
    ConstraintSet& set = *list.add_constraint_sets();
    for (int64_t j = random.Between(1, 2); j > 0; --j) {
      Constraint& constraint = *set.add_constraints();
      constraint.set_attribute_name(random.OneOf(attributes));
      constraint.set_relation(static_cast<Constraint::Relation>(
          random.Between(Constraint::EQUAL, Constraint::MODULO_NOT_EQUAL)));
      if (constraint.relation() == Constraint::MODULO_EQUAL ||
          constraint.relation() == Constraint::MODULO_NOT_EQUAL) {
        constraint.set_modulus(random.Between(1, 4));
        constraint.add_int64_values(
            random.Between(0, constraint.modulus() - 1));
      } else if (random.Chance(0.5)) {
        constraint.add_int64_values(random.Between(-1, 3));
      } else {
        constraint.add_string_values("a");
      }
      if (constraint.relation() == Constraint::EQUAL) {
        constraint.add_string_values("b");
      }
    }
  }
  return list;
}

DistributionConfig AnyDistribution(const std::string& name,
                                   const std::vector<std::string>& fields,
                                   int64_t max_value,
                                   fuzzing::RandomSource& random) {
  // Binary fractions, so that their sums are exact.
  constexpr float kParts[] = {0.5f, 0.25f, 0.125f, 0.125f};
  DistributionConfig config;
  config.set_name(name);
  for (const std::string& field : fields) config.add_field_names(field);
  if (random.Chance(0.5)) {
    int64_t value = random.Between(0, max_value / 8);
    float sum = random.Chance(0.5) ? 0.0f : kParts[3];
    for (const float part : {0.0f, kParts[0], kParts[1], 1.0f}) {
      sum = std::min(1.0f, sum + part);
      CdfPoint& point = *config.add_cdf_points();
      point.set_cdf(sum);
      point.set_value(value);
      value += 1 + random.Between(0, max_value / 8);
    }
    return config;
  }
  const bool single = random.Chance(0.3);
  for (const float part : kParts) {
    PmfPoint& point = *config.add_pmf_points();
    point.set_pmf(single ? 1.0f : part);
    for (size_t i = 0; i < fields.size(); ++i) {
      DataPoint& data = *point.add_data_points();
      if (random.Chance(0.5)) {
        data.set_exact(random.Between(0, max_value));
      } else {
        data.set_lower(random.Between(0, max_value));
        data.set_upper(random.Between(data.lower(), max_value));
      }
    }
    if (single) break;
  }
  return config;
}

std::string AnyActivityFunction(fuzzing::RandomSource& random) {
  return random.OneOf<std::string>(
      {"ConsumeCpu", "PolluteDataCache", "PolluteInstructionCache", "SleepFor",
       "SpinFor", "Wait", "PointerChase", "Serialize"});
}

std::vector<NamedSetting> AnySettingsOf(const std::string& activity_function,
                                        fuzzing::RandomSource& random) {
  if (activity_function == "ConsumeCpu") {
    return {MakeSetting("array_size", random.Between(1, 50))};
  }
  if (activity_function == "PolluteDataCache") {
    return {MakeSetting("array_size", random.Between(1, 1000)),
            MakeSetting("array_reads_per_iteration", random.Between(1, 20))};
  }
  if (activity_function == "PolluteInstructionCache") {
    return {MakeSetting("function_invocations_per_iteration",
                        random.Between(1, 20))};
  }
  if (activity_function == "SleepFor") {
    return {MakeSetting("duration_us", random.Between(1, 20'000))};
  }
  if (activity_function == "Wait") {
    return {MakeSetting("mean_us", random.Between(1, 20'000)),
            MakeSetting("distribution",
                        random.OneOf<std::string>(
                            {"fixed", "exponential", "lognormal"}))};
  }
  if (activity_function == "PointerChase") {
    return {MakeSetting("bytes", random.Between(640, 10'000)),
            MakeSetting("hops", random.Between(1, 20))};
  }
  if (activity_function == "Serialize") {
    return {MakeSetting("stories", random.Between(1, 2)),
            MakeSetting("objects", 1), MakeSetting("actions", 1)};
  }
  // Kept short, because it burns real time.
  return {MakeSetting("duration_us", random.Between(1, 3))};
}

NumaBinding AnyBinding(fuzzing::RandomSource& random) {
  NumaBinding binding;
  if (random.Chance(0.3)) binding.set_strict(random.Chance(0.5));
  if (random.Chance(0.3)) {
    binding.set_cpus("0-1,3");
    return binding;
  }
  binding.set_nodes("0");
  if (random.Chance(0.5)) {
    binding.set_memory_policy(random.OneOf<NumaBinding::MemoryPolicy>(
        {NumaBinding::BIND, NumaBinding::PREFERRED, NumaBinding::INTERLEAVE}));
    binding.set_memory_nodes("1");
  }
  if (random.Chance(0.5)) {
    binding.set_spread(true);
    binding.set_instances_per_node(static_cast<int32_t>(random.Between(1, 3)));
  }
  return binding;
}

Arrivals AnyArrivals(fuzzing::RandomSource& random) {
  Arrivals arrivals = AnySource(random);
  if (random.Chance(0.7)) return arrivals;
  Arrivals superposed;
  *superposed.add_superposed() = std::move(arrivals);
  *superposed.add_superposed() = AnySource(random);
  superposed.mutable_superposed(1)->set_share(random.OneOf<double>({0.1, 3}));
  return superposed;
}

std::string StochasticFilter(int target_limit, fuzzing::RandomSource& random) {
  const int64_t few = random.Between(0, target_limit);
  const int64_t many = random.Between(0, target_limit);
  return random.Chance(0.3)
             ? absl::StrCat("stochastic{1:", many, "}")
             : absl::StrCat("stochastic{0.7:", few, ",0.3:", many, "}");
}

RpcReplayTraceRecord AnyReplayRecord(int number, int channels,
                                     int server_instances,
                                     fuzzing::RandomSource& random) {
  RpcReplayTraceRecord record;
  record.set_timing_ns(random.Between(0, 10'000'000));
  if (random.Chance(0.8)) {
    record.set_timing_mode(static_cast<RpcReplayTraceRecord::TimingMode>(
        random.Between(1, number == 0 ? 2 : 4)));
  }
  if (record.timing_mode() >=
          RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_START &&
      random.Chance(0.5)) {
    record.add_prior_rpc_distances(
        static_cast<int32_t>(random.Between(0, number - 1)));
  }
  if (random.Chance(0.3)) record.set_rpc_class(7);
  if (channels > 0 && random.Chance(0.3)) {
    record.set_multi_server_channel_name_index(
        static_cast<int32_t>(random.Between(0, channels - 1)));
  }
  record.set_server_instance(
      static_cast<int32_t>(random.Between(0, server_instances - 1)));
  record.set_response_size(
      static_cast<int32_t>(random.Between(0, kMaxSizeBytes)));
  record.set_server_processing_time_ns(random.Between(0, 1'000'000));
  return record;
}

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
