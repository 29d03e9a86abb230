#include "distbench/engine/property_testing/random_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

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

}  // namespace distbench::engine
