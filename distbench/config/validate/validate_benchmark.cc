// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures what a config takes before it runs: reading its text, and checking
// it. The argument is the number of services; 1000 are what a large test has,
// and 15000 make a text of 10 MB.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "glog/logging.h"

namespace distbench::config {
namespace {

// A ring of services, each of which sends the next one requests at a rate.
std::string RingText(int services) {
  std::string text = "tests {\n";
  for (int i = 0; i < services; ++i) {
    const std::string next = absl::StrCat((i + 1) % services);
    absl::StrAppend(
        &text, "  services {\n    name: \"service", i,
        "\"\n    count: 3\n    numa_binding { nodes: \"0\" }\n  }\n",
        "  payload_descriptions {\n    name: \"payload", i,
        "\"\n    size_with_unit: \"4KiB\"\n  }\n");
    absl::StrAppend(&text, "  size_distribution_configs {\n    name: \"sizes",
                    i, "\"\n    cdf_points { cdf: 0.5 value: 100 }\n",
                    "    cdf_points { cdf: 1 value: 900 }\n  }\n");
    absl::StrAppend(&text, "  rpc_descriptions {\n    name: \"rpc", i,
                    "\"\n    client: \"service", i, "\"\n    server: \"service",
                    next, "\"\n    request_payload_name: \"payload", i,
                    "\"\n    deadline: \"50ms\"\n",
                    "    policy { hedging { percentile: 95 } }\n  }\n");
    absl::StrAppend(
        &text, "  actions {\n    name: \"run", i, "\"\n    rpc_name: \"rpc", i,
        "\"\n    iterations { rate: \"200/s\" max_duration: \"4s\" }\n  }\n",
        "  action_lists { name: \"service", i, "\" action_names: \"run", i,
        "\" }\n  action_lists { name: \"rpc", i, "\" }\n");
  }
  return absl::StrCat(text, "}\n");
}

// As its name's ending says what the text is.
TestSequence Parsed(const std::string& text,
                    absl::string_view source = "benchmark") {
  auto sequence = ParseTestSequence(text, source);
  CHECK(sequence.ok()) << sequence.status();
  return *std::move(sequence);
}

void BM_Read(benchmark::State& state) {
  const std::string text = RingText(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Parsed(text));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_Read)->Arg(1000)->Arg(15'000)->Unit(benchmark::kMillisecond);

// About 6.6 MB of the same test.
void BM_ReadYaml(benchmark::State& state) {
  const std::string text = ToFormat(
      Parsed(RingText(static_cast<int>(state.range(0)))), ConfigFormat::kYaml);
  for (auto _ : state) benchmark::DoNotOptimize(Parsed(text, "ring.yaml"));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_ReadYaml)->Arg(1000)->Arg(15'000)->Unit(benchmark::kMillisecond);

void BM_Check(benchmark::State& state) {
  const TestSequence sequence =
      Parsed(RingText(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    const auto checked = CheckTestSequence(sequence);
    CHECK(checked.ok()) << checked.status();
  }
}
BENCHMARK(BM_Check)->Arg(1000)->Arg(15'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distbench::config

BENCHMARK_MAIN();
