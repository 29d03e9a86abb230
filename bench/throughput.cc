// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/throughput.h"

#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "distbench/base/memory.h"

namespace bench {
namespace {

constexpr double kNsPerSecond = 1e9;

// Enough for any of the programs, so that no reallocation disturbs them.
constexpr double kExpectedPerSecond = 500'000;

double Quantile(const std::vector<int64_t>& sorted, double quantile) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<size_t>(quantile * sorted.size());
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace

Options ParseOptions(int argc, char** argv, const std::string& description) {
  distbench::base::KeepFreedMemory();
  Options options;
  CLI::App app(description);
  bool client = false;
  auto* mode = app.add_option_group("mode");
  mode->add_flag("--server", options.server, "print the address and serve");
  mode->add_flag("--client", client, "send RPCs to --target");
  mode->require_option(1);
  app.add_option("--target", options.target, "what the server printed");
  app.add_option("--request_bytes", options.request_bytes);
  app.add_option("--response_bytes", options.response_bytes);
  app.add_option("--in_flight", options.in_flight);
  app.add_option("--per_second", options.per_second,
                 "send at this rate, whatever is in flight");
  app.add_option("--threads", options.threads);
  app.add_option("--seconds", options.seconds, "measured");
  app.add_option("--warmup_seconds", options.warmup_seconds, "run before that");
  app.add_option("--spin_us", options.spin_us, "poll this long, then block");
  app.add_option("--driver", options.driver, "the protocol driver");
  app.add_option("--client_setting", options.client_settings,
                 "setting of engine_throughput's driver: NAME=VALUE");
  app.add_option("--server_setting", options.server_settings, "likewise");
  app.add_option("--handler", options.handler,
                 "action list of engine_throughput's server")
      ->check(CLI::IsMember({"empty", "list", "activity"}));
  app.add_option("--time_parts", options.time_parts,
                 "measure them (engine_throughput)");
  app.add_option("--wire_share", options.wire_share,
                 "measure wire times of this share (engine_throughput)");
  app.add_flag("--external", options.external,
               "call the server, of driver grpc, as an external service "
               "(driver_throughput, engine_throughput)");
  app.add_option("--streams", options.streams,
                 "echoes instead of RPCs (bare_grpc_stream, engine_throughput "
                 "--external)");
  auto* ca = app.add_option("--tls_ca", options.tls_ca,
                            "use TLS (bare_tcp, bare_grpc): PEM files");
  auto* cert = app.add_option("--tls_cert", options.tls_cert)->needs(ca);
  auto* key = app.add_option("--tls_key", options.tls_key)->needs(cert);
  ca->needs(key);
  app.add_option("--connections", options.connections, "TCP: per thread");
  app.add_option("--max_batch", options.max_batch, "TCP: messages per write");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::string ResourceFigures(double cpu_seconds_before) {
  // getrusage() would include the peak of the process that started this one.
  std::ifstream status("/proc/self/status");
  long peak_kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "VmHWM: %ld", &peak_kib) == 1) break;
  }
  char figures[128];
  std::snprintf(figures, sizeof(figures),
                "\"client_cpu_seconds\": %.6f, \"client_mib\": %.1f",
                distbench::base::ProcessCpuSeconds() - cpu_seconds_before,
                peak_kib / 1024.0);
  return figures;
}

Schedule::Schedule(const Options& options)
    : per_second_(options.per_second / options.threads),
      start_ns_(NowNs()),
      next_ns_(start_ns_) {}

Recorder::Recorder(const Options& options)
    : start_ns_(NowNs() +
                static_cast<int64_t>(options.warmup_seconds * kNsPerSecond)),
      end_ns_(start_ns_ +
              static_cast<int64_t>(options.seconds * kNsPerSecond)) {
  latencies_ns_.reserve(
      static_cast<size_t>(options.seconds * kExpectedPerSecond));
}

void Recorder::Merge(const Recorder& other) {
  total_count_ += other.total_count_;
  latencies_ns_.insert(latencies_ns_.end(), other.latencies_ns_.begin(),
                       other.latencies_ns_.end());
}

void Recorder::Print() {
  const std::string resources = ResourceFigures(cpu_seconds_before_);
  std::sort(latencies_ns_.begin(), latencies_ns_.end());
  const double seconds = (end_ns_ - start_ns_) / kNsPerSecond;
  std::printf(
      "{\"rpcs\": %zu, \"total_rpcs\": %zu, \"seconds\": %.3f, \"kqps\": %.3f, "
      "\"p50_us\": %.1f, \"p99_us\": %.1f, %s}\n",
      latencies_ns_.size(), static_cast<size_t>(total_count_), seconds,
      latencies_ns_.size() / seconds / 1e3, Quantile(latencies_ns_, 0.5) / 1e3,
      Quantile(latencies_ns_, 0.99) / 1e3, resources.c_str());
  std::fflush(stdout);
}

void RunClientThreads(const Options& options,
                      const std::function<void(Recorder& recorder)>& run) {
  std::vector<Recorder> recorders;
  for (int i = 0; i < options.threads; ++i) recorders.emplace_back(options);
  std::vector<std::thread> threads;
  for (Recorder& recorder : recorders) {
    threads.emplace_back([&] { run(recorder); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 1; i < options.threads; ++i) recorders[0].Merge(recorders[i]);
  recorders[0].Print();
}

void AnnounceServer(const std::string& target) {
  // End with the process that started this one.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::printf("%s\n", target.c_str());
  std::fflush(stdout);
}

}  // namespace bench
