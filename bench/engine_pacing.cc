// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How punctual a whole engine is: an open loop at a constant rate, and how late
// each RPC was sent, as recorded by the engine itself.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "bench/throughput.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/results/rpc_totals.h"

namespace {

using distbench::engine::Engine;

struct Options {
  std::string driver = "loopback";
  double per_second = 10'000;
  double seconds = 10;
  bool spin = false;
  std::string arrivals = "constant";
};

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

std::shared_ptr<const distbench::config::Plan> MakePlan(
    const Options& options) {
  const std::string config = absl::Substitute(
      R"(tests {
           workers_per_instance: 1
           default_protocol: "$0"
           delay_actions_by_spinning: $1
           services { name: "client" count: 1 }
           services { name: "server" count: 1 }
           rpc_descriptions { name: "query" client: "client" server: "server" }
           action_lists { name: "client" action_names: "run" }
           action_lists { name: "query" }
           actions {
             name: "run"
             rpc_name: "query"
             iterations {
               open_loop_interval_ns: $2
               open_loop_interval_distribution: "$3"
               max_duration_us: $4
             }
           }
         })",
      options.driver, options.spin,
      static_cast<int64_t>(std::llround(1e9 / options.per_second)),
      options.arrivals, static_cast<int64_t>(1e6 * options.seconds));
  auto parsed = distbench::config::ParseTestSequence(config, "benchmark");
  if (!parsed.ok()) Fail(parsed.status().ToString());
  auto checked = distbench::config::CheckTestSequence(*std::move(parsed));
  if (!checked.ok()) Fail(checked.status().ToString());
  return std::make_shared<const distbench::config::Plan>(
      distbench::config::Compile(checked->tests(0)));
}

std::unique_ptr<Engine> MakeEngine(
    const std::shared_ptr<const distbench::config::Plan>& plan, int instance,
    std::function<void()> on_finished) {
  distbench::engine::EngineOptions engine_options;
  engine_options.plan = plan;
  engine_options.instance = instance;
  engine_options.on_traffic_finished = std::move(on_finished);
  auto driver = distbench::protocol::MakeProtocolDriver(
      plan->services[instance].driver, {.service_address = "127.0.0.1"});
  if (!driver.ok()) Fail(driver.status().ToString());
  auto engine = Engine::Create(std::move(engine_options), *std::move(driver));
  if (!engine.ok()) Fail(engine.status().ToString());
  return *std::move(engine);
}

// Prints one line of JSON. The arrivals include both ends of the duration.
void Print(const distbench::results::RpcTotals& totals, const Options& options,
           double cpu_seconds) {
  const int64_t count = totals.counts.succeeded_count;
  const double expected = options.per_second * options.seconds + 1;
  const auto late_us = [&](double quantile) {
    return 1e-3 *
           static_cast<double>(totals.lateness_ns.ValueAtQuantile(quantile));
  };
  std::printf(
      "{\"rpcs\": %ld, \"count_error\": %.5f, \"late_p50_us\": %.1f, "
      "\"late_p90_us\": %.1f, \"late_p99_us\": %.1f, \"late_p999_us\": %.1f, "
      "\"late_max_us\": %.1f, \"cpu_us\": %.2f}\n",
      static_cast<long>(count), static_cast<double>(count) / expected - 1,
      late_us(0.5), late_us(0.9), late_us(0.99), late_us(0.999), late_us(1),
      1e6 * cpu_seconds / static_cast<double>(count));
}

void Run(const Options& options) {
  const auto plan = MakePlan(options);
  absl::Notification finished;
  const auto client = MakeEngine(plan, 0, [&] { finished.Notify(); });
  const auto server = MakeEngine(plan, 1, [] {});
  const absl::Status connected =
      client->Connect({server->address()}, absl::Now() + absl::Seconds(10));
  if (!connected.ok()) Fail(connected.ToString());
  const double cpu_before = distbench::base::ProcessCpuSeconds();
  constexpr int64_t kHeadStartNs = 10'000'000;
  client->Start(bench::NowNs() + kHeadStartNs);
  finished.WaitForNotification();
  const double cpu_seconds = distbench::base::ProcessCpuSeconds() - cpu_before;
  client->Shutdown();
  server->Shutdown();
  distbench::results::RpcTotals totals;
  client->Collect([&](distbench::ResultChunk chunk) {
    if (!chunk.rpc_log().has_statistics()) return;
    const absl::Status added = totals.Add(chunk.rpc_log().statistics());
    if (!added.ok()) Fail(added.ToString());
  });
  Print(totals, options, cpu_seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A client and a server engine in one process: pacing.");
  app.add_option("--driver", options.driver, "any that needs no settings");
  app.add_option("--per_second", options.per_second)
      ->check(CLI::Range(1.0, 1e9));
  app.add_option("--seconds", options.seconds)->check(CLI::Range(1e-6, 1e6));
  app.add_option("--arrivals", options.arrivals, "constant, exponential, ...");
  app.add_flag("--spin", options.spin, "poll until an RPC is due");
  CLI11_PARSE(app, argc, argv);
  Run(options);
}
