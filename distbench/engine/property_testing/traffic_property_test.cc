// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Random tests that use the whole language: each test that passes validation
// runs to its end, on simulated time.
//
// DISTBENCH_PROPERTY_SEED=N starts at another seed, and
// DISTBENCH_PROPERTY_SECONDS=N sets how long to go on.
// DISTBENCH_PROPERTY_VERBOSE=1 announces each test, and
// DISTBENCH_PROPERTY_PRINT=1 prints its config.
//
//   bazel test //distbench/engine/property_testing:traffic_property_test
//     --test_env=DISTBENCH_PROPERTY_SECONDS=600 --test_timeout=1000

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/testing/used_fields.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/property_testing/random_parts.h"
#include "distbench/engine/property_testing/shrink.h"
#include "distbench/engine/property_testing/traffic_check.h"
#include "distbench/engine/property_testing/traffic_generator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;

constexpr int64_t kTests = 300;
// Most generated tests must be valid; otherwise few would run.
constexpr double kMinValidShare = 0.95;
constexpr int kShrinkAttempts = 2000;
constexpr int kShrinkSeconds = 30;

int64_t FromEnvironment(const char* variable, int64_t default_value) {
  const char* text = std::getenv(variable);
  int64_t value;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value
                                                           : default_value;
}

// Whether engines can run a test like this yet.
bool Runs(const std::string& config) {
  auto sequence = config::ParseTestSequence(config, "probe");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  return sequence.ok() && config::CheckTestSequence(*sequence).ok();
}

OptionalFeatures FeaturesThatRun() {
  OptionalFeatures features;
  features.replay = Runs(R"(tests {
    default_protocol: 'loopback'
    services { name: 'a' count: 1 }
    action_lists { name: 'a' action_names: 'run' }
    actions { name: 'run' rpc_replay_trace_name: 'trace' }
    rpc_replay_traces { name: 'trace' client: 'a' server: 'a' records {} }
  })");
  features.multi_server_channels = Runs(R"(tests {
    default_protocol: 'loopback'
    services {
      name: 'a' count: 1
      multi_server_channels { name: 'b' selected_instances: 0 }
    }
    action_lists { name: 'a' action_names: 'run' }
    action_lists { name: 'rpc' }
    actions { name: 'run' rpc_name: 'rpc' }
    rpc_descriptions {
      name: 'rpc' client: 'a' server: 'a' multi_server_channel_name: 'b'
    }
  })");
  return features;
}

absl::StatusOr<TestSequence> Check(const DistributedSystemDescription& test) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  return config::CheckTestSequence(std::move(sequence));
}

TrafficCheckOptions OptionsFor(uint64_t seed, bool ends_by_itself) {
  TrafficCheckOptions options;
  options.ends_by_itself = ends_by_itself;
  if (seed % 5 == 0) options.refusal_probability = 0.3;
  options.seed = seed;
  return options;
}

// Reduces a violation to its kind, without numbers and names.
std::string KindOf(const std::string& violation) {
  std::string kind = violation.substr(violation.find(": ") + 1);
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  return kind;
}

// Returns the smallest test found that breaks the same rule. Gives up after a
// while, because tests without their limits take long.
std::string Minimised(DistributedSystemDescription test,
                      const TrafficCheckOptions& options,
                      const std::string& violation) {
  const absl::Time deadline = absl::Now() + absl::Seconds(kShrinkSeconds);
  Shrink(test, kShrinkAttempts, [&] {
    if (absl::Now() > deadline) return false;
    const auto checked = Check(test);
    if (!checked.ok()) return false;
    const auto violations = CheckTraffic(checked->tests(0), options).violations;
    return !violations.empty() && KindOf(violations[0]) == KindOf(violation);
  });
  return test.DebugString();
}

// Adds the names of all fields that a message of this type may have inside,
// except those of experiment.proto: they are a product's, which draws them in a
// test of its own.
void CollectAllFields(const Descriptor& type, std::set<std::string>& names) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() != nullptr &&
        field.message_type()->file()->name() == "proto/experiment.proto") {
      continue;
    }
    if (!names.insert(field.full_name()).second) continue;
    if (field.message_type() != nullptr) {
      CollectAllFields(*field.message_type(), names);
    }
  }
}

// Fields that the loopback driver does not use, or that engines do not support
// yet.
bool MayBeMissing(const std::string& field, const OptionalFeatures& features) {
  static const auto* const kOfOtherDrivers = new std::set<std::string>{
      "distbench.ProtocolDriverOptions.engine",
      "distbench.ProtocolDriverOptions.netdev_name",
      "distbench.ProtocolDriverOptions.client_settings",
      "distbench.ProtocolDriverOptions.ip_version",
      "distbench.DistributedSystemDescription.measure_wire_time",
      // Read before the test is made.
      "distbench.RecordedArrivals.file",
  };
  if (kOfOtherDrivers->count(field) > 0) return true;
  // Fields of clients, which do not change the traffic.
  if (absl::StrContains(field, "LoadSearchSpec") ||
      field == "distbench.DistributedSystemDescription.search" ||
      field == "distbench.DistributedSystemDescription.objectives") {
    return true;
  }
  // Random lists would wait for requests that nobody sends. The test of the
  // patterns of collectives has lists that receive what is sent, in random order.
  if (absl::StrContains(field, "CollectiveSpec") ||
      field == "distbench.Action.collective" ||
      field == "distbench.Action.receive_rpc_name") {
    return true;
  }
  if (absl::StrContains(field, "WireTimeSpec")) return true;
  // What nodes read beside the traffic, which engines know nothing of.
  if (absl::StrContains(field, "ServerMetric") ||
      absl::StrContains(field, "PrometheusQuery") ||
      field == "distbench.DistributedSystemDescription.server_metrics") {
    return true;
  }
  // Services outside of the test, which the simulation has none of.
  if (absl::StrContains(field, "External") ||
      field == "distbench.ServiceSpec.external" ||
      field == "distbench.RpcSpec.external_call") {
    return true;
  }
  if (absl::StrContains(field, "ReplayTrace") ||
      absl::StrContains(field, "replay_trace")) {
    return !features.replay;
  }
  return !features.multi_server_channels &&
         (absl::StrContains(field, "MultiServerChannel") ||
          absl::StrContains(field, "multi_server_channel"));
}

std::string Now() {
  return absl::FormatTime("%H:%M:%E2S", absl::Now(), absl::UTCTimeZone());
}

struct Totals {
  int64_t generated = 0;
  int64_t valid = 0;
  int64_t rpcs = 0;
  int64_t overloaded = 0;
  int64_t timed_out = 0;
  std::set<std::string> problems;
  std::set<std::string> fields;
};

void RunTest(uint64_t seed, OptionalFeatures features, Totals& totals) {
  const GeneratedTest generated = TrafficGenerator(seed, features).Generate();
  ++totals.generated;
  const auto checked = Check(generated.test);
  if (!checked.ok()) {
    totals.problems.insert(checked.status().ToString());
    return;
  }
  ++totals.valid;
  if (std::getenv("DISTBENCH_PROPERTY_PRINT") != nullptr) {
    absl::FPrintF(stderr, "%s\n", generated.test.DebugString());
  }
  config::CollectUsedFields(generated.test, totals.fields);
  const TrafficCheckOptions options =
      OptionsFor(seed, generated.ends_by_itself);
  const TrafficCheckResult result = CheckTraffic(checked->tests(0), options);
  totals.rpcs += result.rpc_count;
  totals.overloaded += result.overloaded;
  totals.timed_out += result.timed_out;
  if (result.violations.empty()) return;
  FAIL() << "seed " << seed << "\n"
         << absl::StrJoin(result.violations, "\n") << "\nminimised:\n"
         << Minimised(generated.test, options, result.violations[0]);
}

TEST(TrafficPropertyTest, WhateverIsValidRunsToItsEnd) {
  const OptionalFeatures features = FeaturesThatRun();
  const auto first =
      static_cast<uint64_t>(FromEnvironment("DISTBENCH_PROPERTY_SEED", 1));
  const absl::Time end = absl::Now() + absl::Seconds(FromEnvironment(
                                           "DISTBENCH_PROPERTY_SECONDS", 0));
  const bool verbose = std::getenv("DISTBENCH_PROPERTY_VERBOSE") != nullptr;
  Totals totals;
  for (uint64_t seed = first; totals.generated < kTests || absl::Now() < end;
       ++seed) {
    // Printed before the test runs, in case that crashes.
    if (verbose) absl::FPrintF(stderr, "%s seed %d\n", Now(), seed);
    ASSERT_NO_FATAL_FAILURE(RunTest(seed, features, totals));
  }
  EXPECT_GT(static_cast<double>(totals.valid),
            kMinValidShare * static_cast<double>(totals.generated))
      << absl::StrJoin(totals.problems, "\n");
  RecordProperty("tests", std::to_string(totals.generated));
  absl::PrintF(
      "%d tests, %d of them valid, with %d RPCs; %d ended by an overload and "
      "%d by their timeout\n",
      totals.generated, totals.valid, totals.rpcs, totals.overloaded,
      totals.timed_out);
}

// The generator would prove little without using the whole language.
TEST(TrafficPropertyTest, EveryFieldOfTheLanguageIsUsed) {
  const OptionalFeatures features = FeaturesThatRun();
  std::set<std::string> used;
  for (uint64_t seed = 1; seed <= kTests; ++seed) {
    config::CollectUsedFields(TrafficGenerator(seed, features).Generate().test,
                              used);
  }
  std::set<std::string> all;
  CollectAllFields(*DistributedSystemDescription::descriptor(), all);
  for (const std::string& field : all) {
    EXPECT_TRUE(used.count(field) > 0 || MayBeMissing(field, features))
        << field;
  }
}

// Tests that differ only in how their quantities are written are the same test.
TEST(TrafficPropertyTest, UnitsDoNotChangeATest) {
  int rewritten = 0;
  for (uint64_t seed = 1; seed <= kTests; ++seed) {
    const auto checked =
        Check(TrafficGenerator(seed, OptionalFeatures()).Generate().test);
    if (!checked.ok()) continue;
    fuzzing::RandomSource random(seed);
    DistributedSystemDescription with_units = checked->tests(0);
    WriteSomeWithUnits(random, with_units);
    if (with_units.SerializeAsString() !=
        checked->tests(0).SerializeAsString()) {
      ++rewritten;
    }
    const auto again = Check(with_units);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(config::ToText(*again), config::ToText(*checked))
        << with_units.DebugString();
  }
  EXPECT_GT(rewritten, kTests / 10);
}

TEST(TrafficGeneratorTest, IsDeterminedByTheSeed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto generate = [&] {
      TestSequence sequence;
      *sequence.add_tests() =
          TrafficGenerator(seed, OptionalFeatures()).Generate().test;
      return config::ToText(sequence);
    };
    EXPECT_EQ(generate(), generate());
  }
}

}  // namespace
}  // namespace distbench::engine
