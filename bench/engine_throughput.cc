// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// distbench as it runs a test, without the control plane: an engine in each of
// two processes, over one of the drivers, with all recording. Or only in the
// client, which then calls a server of driver grpc as an external service, or
// bare_grpc_stream by streams.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "bench/throughput.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "proto/data_plane.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace {

using distbench::DistributedSystemDescription;
using distbench::engine::Engine;

constexpr int kClient = 0;
constexpr int kServer = 1;

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

std::string TcpSettings(const bench::Options& options) {
  return absl::Substitute(
      R"(client_settings { name: "connections" int64_value: $0 }
         client_settings { name: "max_batch" int64_value: $1 }
         server_settings { name: "max_batch" int64_value: $1 })",
      options.connections, options.max_batch);
}

// Returns the settings of one side, given as NAME=VALUE.
std::string Settings(const std::string& side,
                     const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    int64_t number;
    absl::StrAppend(&text, side, "_settings { name: \"", parts.first, "\" ",
                    absl::SimpleAtoi(parts.second, &number)
                        ? absl::StrCat("int64_value: ", number)
                        : absl::StrCat("string_value: \"", parts.second, "\""),
                    " }\n");
  }
  return text;
}

std::string DriverSettings(const bench::Options& options) {
  return absl::StrCat(options.driver == "tcp" ? TcpSettings(options) : "",
                      Settings("client", options.client_settings),
                      Settings("server", options.server_settings));
}

std::string TestSettings(const bench::Options& options) {
  return absl::StrCat("workers_per_instance: ", options.threads,
                      options.time_parts ? " measure_time_parts: true" : "",
                      options.wire_share > 0
                          ? absl::StrCat(" measure_wire_time { share: ",
                                         options.wire_share, " }")
                          : "");
}

// Whether this process calls the server as one of others.
bool IsExternal(const bench::Options& options) {
  return options.external && !options.server;
}

std::string Loop(const bench::Options& options) {
  if (options.streams > 0) {
    return absl::StrCat("max_parallel_iterations: ", options.streams);
  }
  return options.per_second > 0
             ? absl::Substitute("open_loop_interval_ns: $0",
                                std::llround(1e9 / options.per_second))
             : absl::Substitute("max_parallel_iterations: $0",
                                options.in_flight);
}

// Returns the action lists with which the server handles a query.
std::string Handler(const bench::Options& options) {
  if (options.handler == "list") {
    return R"(action_lists { name: "query" action_names: "handle" }
              action_lists { name: "nothing" }
              actions { name: "handle" action_list_name: "nothing" })";
  }
  if (options.handler == "activity") {
    return R"(action_lists { name: "query" action_names: "handle" }
              actions { name: "handle" activity_config_name: "work" }
              activity_configs {
                name: "work"
                activity_settings {
                  name: "activity_func" string_value: "ConsumeCpu"
                }
                activity_settings { name: "array_size" int64_value: 100 }
              })";
  }
  return R"(action_lists { name: "query" })";
}

// Returns by RPC whether the server answers without running a list, as nodes
// tell drivers.
std::vector<bool> ImmediateRpcs(const distbench::config::Plan& plan) {
  std::vector<bool> immediate;
  for (const distbench::config::RpcPlan& rpc : plan.rpcs) {
    immediate.push_back(plan.lists[rpc.handler_list].actions.empty());
  }
  return immediate;
}

// Returns a request of driver grpc, which has nothing but its size.
std::string BinaryRequest(int bytes) {
  distbench::GenericRequestResponse request;
  // As far as the length of the payload lets it.
  for (int size = bytes; size >= 0; --size) {
    request.set_payload(std::string(size, 'D'));
    if (request.ByteSizeLong() <= bytes) break;
  }
  return request.SerializeAsString();
}

// Messages of a stream: few enough for streams to end soon after the traffic,
// and many enough for their beginnings not to count.
constexpr int kMessagesOfStream = 100;

std::string ExternalTest(const bench::Options& options) {
  const std::string stream = absl::Substitute(
      R"(stream { client_messages: $0 response_starts: "echo" })",
      kMessagesOfStream);
  return absl::Substitute(
      R"(services {
           name: "server"
           external { addresses: "$0" }
         }
         rpc_descriptions {
           name: "query" client: "client" server: "server" $1
           external_call { method: "$2" request_binary: "$3" }
         })",
      absl::StripPrefix(options.target, "ipv4:"),
      options.streams > 0 ? stream : "",
      options.streams > 0 ? "/distbench.Traffic/GenericStream"
                          : "/distbench.Traffic/GenericRpc",
      absl::CEscape(BinaryRequest(options.request_bytes)));
}

std::string InternalTest(const bench::Options& options) {
  return absl::Substitute(
      R"(services { name: "server" count: 1 }
         payload_descriptions { name: "request" size: $0 }
         payload_descriptions { name: "response" size: $1 }
         rpc_descriptions {
           name: "query" client: "client" server: "server"
           request_payload_name: "request" response_payload_name: "response"
         }
         $2)",
      options.request_bytes, options.response_bytes, Handler(options));
}

DistributedSystemDescription MakeTest(const bench::Options& options) {
  const std::string config = absl::Substitute(
      R"(tests {
           $0
           services { name: "client" count: 1 }
           protocol_driver_options {
             name: "default_protocol_driver_options"
             protocol_name: "$2"
             client_settings { name: "spin_us" int64_value: $1 }
             server_settings { name: "spin_us" int64_value: $1 }
             $3
           }
           $4
           action_lists { name: "client" action_names: "run" }
           actions {
             name: "run"
             rpc_name: "query"
             iterations {
               $5
               max_duration_us: $6
               warmup_ns: $7
             }
           }
         })",
      TestSettings(options), options.spin_us, options.driver,
      DriverSettings(options),
      IsExternal(options) ? ExternalTest(options) : InternalTest(options),
      Loop(options),
      static_cast<int64_t>(1e6 * (options.seconds + options.warmup_seconds)),
      static_cast<int64_t>(1e9 * options.warmup_seconds));
  auto parsed = distbench::config::ParseTestSequence(config, "benchmark");
  if (!parsed.ok()) Fail(parsed.status().ToString());
  auto checked = distbench::config::CheckTestSequence(*std::move(parsed));
  if (!checked.ok()) Fail(checked.status().ToString());
  return checked->tests(0);
}

std::unique_ptr<Engine> MakeEngine(const bench::Options& options, int instance,
                                   std::function<void()> on_finished) {
  const DistributedSystemDescription test = MakeTest(options);
  distbench::engine::EngineOptions engine_options;
  engine_options.plan = std::make_shared<const distbench::config::Plan>(
      distbench::config::Compile(test));
  engine_options.instance = instance;
  engine_options.worker_count = options.threads;
  engine_options.on_traffic_finished = std::move(on_finished);
  auto driver = distbench::protocol::MakeProtocolDriver(
      engine_options.plan->services[instance].driver,
      {.service_address = "127.0.0.1",
       .immediate_rpcs = ImmediateRpcs(*engine_options.plan),
       .measures_time_parts = engine_options.plan->measures_time_parts,
       .wire_time = engine_options.plan->wire_time});
  if (!driver.ok()) Fail(driver.status().ToString());
  if (IsExternal(options)) {
    *driver = distbench::protocol::ExtendDriver(
        *std::move(driver),
        {.test = test, .service = "client", .instance = "client/0"});
  }
  auto engine = Engine::Create(std::move(engine_options), *std::move(driver));
  if (!engine.ok()) Fail(engine.status().ToString());
  return *std::move(engine);
}

void RunServer(const bench::Options& options) {
  const auto engine = MakeEngine(options, kServer, [] {});
  bench::AnnounceServer(engine->address());
  // Serve until the parent process ends this one.
  absl::Notification().WaitForNotification();
}

// Prints the same line of JSON as the other programs.
void Print(const distbench::results::RpcTotals& totals,
           const std::string& resources) {
  const distbench::results::RpcCounts& counts = totals.counts;
  if (counts.succeeded_count == 0) {
    Fail("no RPC that began after the warm-up has succeeded");
  }
  const double seconds = 1e-9 * static_cast<double>(counts.duration_ns());
  std::printf(
      "{\"kqps\": %.3f, \"p50_us\": %.3f, \"p99_us\": %.3f, "
      "\"total_rpcs\": %ld, %s}\n",
      1e-3 * static_cast<double>(counts.succeeded_count) / seconds,
      1e-3 * static_cast<double>(totals.service_time_ns.ValueAtQuantile(0.5)),
      1e-3 * static_cast<double>(totals.service_time_ns.ValueAtQuantile(0.99)),
      static_cast<long>(counts.succeeded_count + counts.warmup_count),
      resources.c_str());
}

// Puts messages in the place of streams. The time in which there were streams
// remains, with all that begin late and end early.
void CountMessages(const distbench::StreamStatistics& streams,
                   distbench::results::RpcTotals& totals) {
  if (totals.counts.failed_count > 0) Fail("a stream has failed");
  totals.counts.succeeded_count = streams.response_messages();
  totals.counts.warmup_count *= kMessagesOfStream;
  totals.service_time_ns =
      distbench::results::HistogramOf(streams.round_trip_ns());
}

void RunClient(const bench::Options& options) {
  absl::Notification finished;
  const auto engine = MakeEngine(options, kClient, [&] { finished.Notify(); });
  // A server outside of the test has its address in the test.
  const absl::Status connected =
      engine->Connect({options.external ? "" : options.target},
                      absl::Now() + absl::Seconds(10));
  if (!connected.ok()) Fail(connected.ToString());
  const double cpu_seconds_before = distbench::base::ProcessCpuSeconds();
  engine->Start(bench::NowNs());
  finished.WaitForNotification();
  engine->Shutdown();
  // Excludes the cost of the result, which is made after the traffic.
  const std::string resources = bench::ResourceFigures(cpu_seconds_before);
  distbench::results::RpcTotals totals;
  distbench::StreamStatistics streams;
  engine->Collect([&](distbench::ResultChunk chunk) {
    for (const auto& [rpc, of_rpc] : chunk.instance_log().stream_statistics()) {
      streams = of_rpc;
    }
    if (!chunk.rpc_log().has_statistics()) return;
    const absl::Status added = totals.Add(chunk.rpc_log().statistics());
    if (!added.ok()) Fail(added.ToString());
  });
  if (options.streams > 0) CountMessages(streams, totals);
  Print(totals, resources);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::ParseOptions(
      argc, argv, "The whole engine over one of the drivers: throughput.");
  options.server ? RunServer(options) : RunClient(options);
}
