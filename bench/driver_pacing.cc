// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How punctual a worker can be with a protocol driver: sends RPCs at a constant
// rate, waits in the driver for the time of the next one, and prints how late
// each RPC was and how much CPU time it took.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/throughput.h"
#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/protocol/registry/registry.h"

namespace {

using distbench::protocol::ClientCall;
using distbench::protocol::Transport;

struct Options {
  std::string target;
  double per_second = 10'000;
  double seconds = 10;
  int spin_us = 0;
  std::string driver = "grpc";
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

class Pacer final : public distbench::protocol::TransportEvents {
 public:
  Pacer(Transport& transport, const Options& options)
      : transport_(transport),
        interval_ns_(static_cast<int64_t>(1e9 / options.per_second)),
        total_(static_cast<int64_t>(options.per_second * options.seconds)) {
    lateness_ns_.reserve(total_);
  }

  void Run() {
    const int64_t start_ns = bench::NowNs() + 1'000'000;
    const double cpu_before = distbench::base::ProcessCpuSeconds();
    while (sent_ < total_) {
      const int64_t due_ns = start_ns + interval_ns_ * sent_;
      if (bench::NowNs() < due_ns) {
        transport_.Poll(due_ns, *this);
      } else {
        Send(due_ns);
      }
    }
    while (calls_.in_use() > 0) transport_.Poll(INT64_MAX, *this);
    cpu_seconds_ = distbench::base::ProcessCpuSeconds() - cpu_before;
    seconds_ = (last_sent_ns_ - start_ns) / 1e9;
  }

  void Print() {
    std::sort(lateness_ns_.begin(), lateness_ns_.end());
    const auto quantile_us = [&](double quantile) {
      const auto index = static_cast<size_t>(quantile * lateness_ns_.size());
      return lateness_ns_[std::min(index, lateness_ns_.size() - 1)] / 1e3;
    };
    std::printf(
        "{\"rpcs\": %zu, \"late_p50_us\": %.1f, \"late_p90_us\": %.1f, "
        "\"late_p99_us\": %.1f, \"late_p999_us\": %.1f, \"late_max_us\": %.1f, "
        "\"achieved_per_second\": %.1f, \"cpu_us\": %.3f}\n",
        lateness_ns_.size(), quantile_us(0.5), quantile_us(0.9),
        quantile_us(0.99), quantile_us(0.999), quantile_us(1),
        (total_ - 1) / seconds_, cpu_seconds_ * 1e6 / lateness_ns_.size());
  }

  void OnDone(ClientCall* call) override {
    if (!call->error.empty()) Fail(std::string(call->error));
    auto* paced = static_cast<PacedCall*>(call);
    lateness_ns_.push_back(call->sent_ns - paced->due_ns);
    last_sent_ns_ = std::max(last_sent_ns_, call->sent_ns);
    calls_.Put(paced);
  }
  void OnRequest(distbench::protocol::ServerCall*) override {}

 private:
  struct PacedCall : ClientCall {
    int64_t due_ns = 0;
  };

  void Send(int64_t due_ns) {
    PacedCall* call = calls_.Get();
    call->request_bytes = 16;
    call->due_ns = due_ns;
    if (!transport_.Start(call)) Fail("the send queue is full");
    ++sent_;
  }

  Transport& transport_;
  const int64_t interval_ns_;
  const int64_t total_;
  int64_t sent_ = 0;
  distbench::base::ObjectPool<PacedCall> calls_;
  std::vector<int64_t> lateness_ns_;
  int64_t last_sent_ns_ = 0;
  double seconds_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A protocol driver without an engine: pacing.");
  app.add_option("--target", options.target,
                 "what `driver_throughput --server` printed")
      ->required();
  app.add_option("--per_second", options.per_second);
  app.add_option("--seconds", options.seconds);
  app.add_option("--spin_us", options.spin_us, "poll this long, then block");
  app.add_option("--driver", options.driver, "grpc, grpc_stream or tcp");
  CLI11_PARSE(app, argc, argv);

  distbench::config::DriverOptions driver_options;
  driver_options.driver = options.driver;
  driver_options.client_settings["spin_us"] = int64_t{options.spin_us};
  const auto driver = distbench::protocol::MakeProtocolDriver(
      driver_options, {.service_address = "127.0.0.1"});
  if (!driver.ok()) Fail(driver.status().ToString());
  const auto address = (*driver)->Listen(1);
  if (!address.ok()) Fail(address.status().ToString());
  const absl::Status connected =
      (*driver)->Connect(distbench::protocol::SingleServers({options.target}),
                         absl::Now() + absl::Seconds(10));
  if (!connected.ok()) Fail(connected.ToString());

  Pacer pacer((*driver)->transport(0), options);
  pacer.Run();
  pacer.Print();
}
