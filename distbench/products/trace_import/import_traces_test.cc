// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/import_traces.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "distbench/products/trace_import/testing/import_testing.h"
#include "distbench/products/trace_import/testing/traces_fuzz_entry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// Users ask a front end. It works for 1 to 2 ms, asks a cache, and, of 3 in 10
// requests, thrice and at once, a store.
constexpr char kShop[] = R"pb(
  tests {
    name: "shop"
    services { name: "users" count: 1 }
    services { name: "front" count: 1 }
    services { name: "cache" count: 1 }
    services { name: "store" count: 2 }
    delay_distribution_configs {
      name: "work"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { lower: 1000000 upper: 2000000 }
      }
    }
    delay_distribution_configs {
      name: "seek"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 0.9
        data_points { exact: 300000 }
      }
      pmf_points {
        pmf: 0.1
        data_points { exact: 5000000 }
      }
    }
    size_distribution_configs {
      name: "pages"
      field_names: "payload_size"
      pmf_points {
        pmf: 0.5
        data_points { exact: 100 }
      }
      pmf_points {
        pmf: 0.5
        data_points { exact: 9000 }
      }
    }
    payload_descriptions { name: "page" size_distribution_name: "pages" }
    rpc_descriptions {
      name: "buy"
      client: "users"
      server: "front"
      response_payload_name: "page"
    }
    rpc_descriptions { name: "get" client: "front" server: "cache" }
    rpc_descriptions {
      name: "read"
      client: "front"
      server: "store"
      fanout_filter: "random"
    }
    action_lists { name: "users" action_names: "ask" }
    actions {
      name: "ask"
      rpc_name: "buy"
      iterations {
        open_loop_interval_ns: 5000000
        open_loop_interval_distribution: "exponential"
        max_duration_us: 20000000
      }
    }
    action_lists {
      name: "buy"
      action_names: [ "work", "look", "fetch" ]
      predicate_probabilities { key: "miss" value: 0.3 }
    }
    actions { name: "work" delay_distribution_name: "work" }
    actions { name: "look" rpc_name: "get" dependencies: "work" }
    actions {
      name: "fetch"
      rpc_name: "read"
      dependencies: "look"
      predicates: "miss"
      iterations { max_iteration_count: 3 max_parallel_iterations: 3 }
    }
    action_lists { name: "get" action_names: "hit" }
    actions { name: "hit" delay_distribution_name: "work" }
    action_lists { name: "read" action_names: "seek" }
    actions { name: "seek" delay_distribution_name: "seek" }
  })pb";

// The shop's traffic, imported.
const Import& ImportedShop() {
  static const auto* const kImported = [] {
    const auto traces = SimulatedTraces(TestOf(kShop), /*seed=*/7);
    EXPECT_TRUE(traces.ok()) << traces.status();
    ImportOptions options;
    options.measure_fidelity = true;
    return new Import(ImportOf("otlp", *traces, options));
  }();
  return *kImported;
}

TEST(ImportTest, TracesOfOurOwnGiveTheConfigBack) {
  const DistributedSystemDescription test = TestOf(ImportedShop().config.text);
  ASSERT_EQ(test.services_size(), 4);
  EXPECT_EQ(test.services(3).name(), "users");
  EXPECT_EQ(test.services(2).name(), "store");
  EXPECT_EQ(test.services(2).count(), 2);
  ASSERT_EQ(test.rpc_descriptions_size(), 3);
  EXPECT_THAT(RpcNamed(test, "buy").client(), ElementsAre("users"));
  EXPECT_EQ(RpcNamed(test, "read").server(), "store");
  EXPECT_EQ(RpcNamed(test, "read").fanout_filter(), "random");

  // 4000 intervals of a Poisson process vary by 1 / sqrt(4000) of their mean.
  const Iterations& ask = ActionNamed(test, "users.asks.buy").iterations();
  EXPECT_NEAR(ask.open_loop_interval_ns(), 5e6, 4 * 5e6 / std::sqrt(4000));
  EXPECT_EQ(ask.open_loop_interval_distribution(), "exponential");

  EXPECT_THAT(ActionNamed(test, "buy.calls.get").dependencies(),
              ElementsAre("buy.work"));
  EXPECT_THAT(ActionNamed(test, "buy.calls.read").dependencies(),
              testing::Contains("buy.calls.get"));
  const Iterations& reads =
      ActionNamed(test, "buy.calls.read.not_0").iterations();
  EXPECT_EQ(reads.max_iteration_count(), 3);
  EXPECT_EQ(reads.max_parallel_iterations(), 3);
  for (const ActionList& list : test.action_lists()) {
    if (list.name() != "buy.calls.read") continue;
    EXPECT_NEAR(list.predicate_probabilities().at("calls_0"), 0.7,
                4 * std::sqrt(0.7 * 0.3 / 4000));
  }
}

TEST(ImportTest, SizesAndTimesComeBack) {
  const DistributedSystemDescription test = TestOf(ImportedShop().config.text);
  for (const DistributionConfig& sizes : test.distribution_config()) {
    if (sizes.name() != "buy.sizes") continue;
    ASSERT_EQ(sizes.pmf_points_size(), 2);
    EXPECT_EQ(sizes.pmf_points(0).data_points(1).exact(), 100);
    EXPECT_EQ(sizes.pmf_points(1).data_points(1).exact(), 9000);
    EXPECT_NEAR(sizes.pmf_points(0).pmf(), 0.5, 0.04);
  }
  for (const DistributionConfig& delays : test.delay_distribution_configs()) {
    const auto& points = delays.pmf_points();
    if (delays.name() == "buy.work") {
      EXPECT_NEAR(points[0].data_points(0).lower(), 1e6, 1e4);
    } else if (delays.name() == "read.work") {
      EXPECT_NEAR(points[0].pmf(), 0.9, 0.04);
    }
  }
}

TEST(ImportTest, TheSimulatedConfigIsLikeTheTraces) {
  const Fidelity& fidelity = *ImportedShop().fidelity;
  // Of 3000 arrivals, the rate varies by 1 / sqrt(3000).
  EXPECT_NEAR(*fidelity.simulated.arrivals_per_second /
                  fidelity.traces.arrivals_per_second.value(),
              1, 4 / std::sqrt(3000));
  // The share of traces with 5 calls, not 2, varies by 0.008.
  EXPECT_LT(fidelity.size_distance.value(), 0.03);
  EXPECT_EQ(fidelity.depth_distance.value(), 0);
  ASSERT_EQ(fidelity.rpcs.size(), 3);
  for (const RpcFidelity& rpc : fidelity.rpcs) {
    // The share of reads that take 5 ms varies by 0.006, and their mean is 0.77
    // ms. Of the others, less depends on chance.
    EXPECT_LT(rpc.latency_distance.value(), rpc.rpc == "read" ? 0.1 : 0.03)
        << rpc.rpc;
    EXPECT_NEAR(rpc.simulated.calls_per_arrival / rpc.traces.calls_per_arrival,
                1, 4 * std::sqrt(0.7 / 0.3 / 3000))
        << rpc.rpc;
    EXPECT_EQ(rpc.simulated.failed_share, 0);
  }
}

// Its config is made for other traffic, so distances show that.
TEST(ImportTest, FidelitySeesADifference) {
  const Import& shop = ImportedShop();
  DistributedSystemDescription other = TestOf(shop.config.text);
  for (DistributionConfig& delays :
       *other.mutable_delay_distribution_configs()) {
    if (delays.name() != "get.work") continue;
    delays.clear_pmf_points();
    delays.add_pmf_points()->set_pmf(1);
    delays.mutable_pmf_points(0)->add_data_points()->set_exact(3000000);
  }
  const auto fidelity = MeasureFidelity(shop.model, shop.config, other);
  ASSERT_TRUE(fidelity.ok()) << fidelity.status();
  EXPECT_EQ(fidelity->rpcs[0].rpc, "get");
  // 3 ms instead of 1.5 ms, on average.
  EXPECT_NEAR(fidelity->rpcs[0].latency_distance.value(), 1, 0.03);
}

constexpr char kSecret[] =
    "trace,span,parent,service,operation,start_ns,duration_ns,kind\n"
    "t,1,,bank,steal,1000,90000,server\n"
    "t,2,1,vault,unlock,2000,80000,server\n";

TEST(ImportTest, NamesAreKeptUnlessTheyAreToBeHidden) {
  const Import import = ImportOf("csv", kSecret, {});
  EXPECT_THAT(import.config.text, HasSubstr("name: \"vault\""));
  EXPECT_THAT(ImportText(import),
              HasSubstr("\n  names of services and operations; --hide_names "
                        "replaces them\n"));
}

TEST(ImportTest, NamesAreSecretAndStable) {
  ImportOptions options;
  options.naming.hide_names = true;
  const Import import = ImportOf("csv", kSecret, options);
  for (const char* name : {"bank", "steal", "vault", "unlock"}) {
    EXPECT_THAT(import.config.text, Not(HasSubstr(name)));
    EXPECT_THAT(ImportText(import), Not(HasSubstr(name)));
  }
  EXPECT_EQ(ImportOf("csv", kSecret, options).config.text, import.config.text);
  options.naming.key = "k";
  EXPECT_NE(ImportOf("csv", kSecret, options).config.text, import.config.text);
}

TEST(ImportTest, ReportsSayWhatWasInvented) {
  ImportOptions options;
  options.measure_fidelity = true;
  const Import import = ImportOf("csv", kSecret, options);
  EXPECT_THAT(ImportText(import), HasSubstr("sizes of 2 RPCs: 1024"));
  EXPECT_THAT(import.config.text, HasSubstr("Invented: the rate."));
  const auto json = nlohmann::json::parse(ImportJson(import));
  EXPECT_EQ(json["traces"], 1);
  EXPECT_EQ(json["fidelity"]["rpcs"].size(), 2);
}

TEST(ImportTest, SizesOfOneDirectionAreNoneOfTheOther) {
  const Import import = ImportOf(
      "csv",
      "trace,span,service,operation,start_ns,duration_ns,kind,request_bytes,"
      "response_bytes\n"
      "t,1,web,get,1000,90000,server,,512\n"
      "u,1,web,get,2000,90000,server,,512\n"
      "v,1,web,put,3000,90000,server,64,32\n",
      {});
  EXPECT_THAT(import.config.text,
              HasSubstr("Invented: that requests without a size have 0 bytes "
                        "(2 of 2)."));
  EXPECT_THAT(import.config.text, Not(HasSubstr("that responses without")));
  EXPECT_THAT(ImportText(import),
              HasSubstr("0 bytes in a direction, for calls of 1 RPC"));
}

TEST(ImportTest, RatesOfSampledTracesAreScaled) {
  const std::string text =
      std::string(kSecret) + "u,1,,bank,steal,1000001000,90000,server\n";
  ImportOptions options;
  options.sampled_fraction = 0.01;
  const Import import = ImportOf("csv", text, options);
  EXPECT_EQ(ActionNamed(import.config.test, "users.asks.steal")
                .iterations()
                .open_loop_interval_ns(),
            10'000'000);
}

// No config has an interval below a nanosecond.
TEST(ImportTest, RatesThatNoConfigHasAreRefused) {
  const std::string text =
      std::string(kSecret) + "u,1,,bank,steal,1000001000,90000,server\n";
  SpanSet spans;
  ASSERT_TRUE(ReadSpans("csv", "file", text, /*max_spans=*/100, spans).ok());
  ImportOptions options;
  options.sampled_fraction = 1.1e-9;
  const absl::StatusOr<Import> extreme = ImportTraces(spans, options);
  ASSERT_TRUE(extreme.ok()) << extreme.status();
  EXPECT_THAT(ImportText(*extreme),
              HasSubstr("asks each instance for 1e+09 per second"));
  options.sampled_fraction = 0.9e-9;
  const absl::StatusOr<Import> import = ImportTraces(spans, options);
  ASSERT_FALSE(import.ok());
  EXPECT_THAT(std::string(import.status().message()),
              HasSubstr("--sampled_fraction"));
}

// No config has an interval of a month.
TEST(ImportTest, RareRequestsMakeAValidConfig) {
  const std::string text =
      std::string(kSecret) + "u,1,,bank,steal,2592000000000000,90000,server\n";
  ImportOptions options;
  const Import import = ImportOf("csv", text, options);
  const Iterations& iterations =
      ActionNamed(import.config.test, "users.asks.steal").iterations();
  EXPECT_GT(iterations.open_loop_interval_ns(),
            int64_t{7} * 86400 * 1000000000);
  EXPECT_THAT(import.config.text, HasSubstr("2 requests arrived, 3.8"));
  EXPECT_THAT(import.config.text, Not(HasSubstr("intervals vary")));
}

TEST(DistributionFitTest, EqualValuesAreOnePoint) {
  const DistributionConfig fit = FitDelays({5, 5, 5, 9}, "work");
  ASSERT_EQ(fit.pmf_points_size(), 2);
  EXPECT_EQ(fit.pmf_points(0).data_points(0).exact(), 5);
  EXPECT_FLOAT_EQ(fit.pmf_points(0).pmf(), 0.75);
}

TEST(DistributionFitTest, ManyCountsAreMergedButNotNone) {
  std::map<int, int64_t> counts;
  for (int i = 0; i < 20; ++i) counts[i] = 1;
  const CountWeights simple = SimplifyCounts(counts);
  EXPECT_EQ(simple.size(), 8);
  EXPECT_THAT(simple[0], Pair(0, 1));
  int64_t total = 0;
  for (const auto& [count, weight] : simple) total += weight;
  EXPECT_EQ(total, 20);
}

TEST(TracesFuzzTest, KeptInputs) {
  for (const std::string& input : fuzzing::KeptCorpus("traces"))
    ImportAnything(input);
}

// Half of a process with a squared variation of 7 has one of 4.
TEST(ImportTest, BurstyArrivalsKeepTheirVariation) {
  TrafficModel model;
  model.services = {{"front", 1}, {"users", 1}};
  model.rpcs.push_back({.server = "front", .operation = "buy"});
  model.arrivals.push_back({.client = "users",
                            .rpc = 0,
                            .count = 1000,
                            .rate_per_second = 50,
                            .variation = 2,
                            .process = ArrivalModel::Process::kBursty});
  const ImportedConfig config =
      WriteConfig(model, /*naming=*/{}, /*sampled_fraction=*/0.5);
  ASSERT_EQ(config.test.actions_size(), 1);
  const Iterations& iterations = config.test.actions(0).iterations();
  EXPECT_EQ(iterations.open_loop_interval_ns(), 10'000'000);
  EXPECT_EQ(iterations.arrivals().process(), "gamma");
  EXPECT_NEAR(iterations.arrivals().coefficient_of_variation(), 2.65, 1e-9);
  EXPECT_FALSE(iterations.has_open_loop_interval_distribution());
}

}  // namespace
}  // namespace distbench::trace_import
