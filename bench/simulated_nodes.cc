// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The nodes of a large cluster in one process: each has its own session with a
// sequencer and speaks the protocol of node managers, but hosts nothing. Each
// asks for the address of one peer, reports progress as often as the sequencer
// wants, and hands over one log of a given size. For each step that all nodes
// have reached, a line says when the first and the last of them did (Unix
// nanoseconds):
//
//   registered 2500 1780000000000000000 1780000001000000000
//
// Ends at SIGTERM.

#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/process_setup.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/version.h"
#include "distbench/node/control_session.h"
#include "distbench/node/control_stream.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {
namespace {

struct Options {
  std::string sequencer;
  int node_count = 1000;
  int first_id = 0;
  int sessions_per_connection = 1;
  int result_bytes = 10'000;
  double traffic_seconds = 5;
  bool everyone_is_peer = false;
};

// When the first and the last node of this process reached each step.
class Steps {
 public:
  explicit Steps(int node_count) : node_count_(node_count) {}

  void Reach(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int64_t now_ns = absl::GetCurrentTimeNanos();
    absl::MutexLock lock(&mutex_);
    Step& step = steps_[name];
    if (step.count++ == 0) step.first_ns = now_ns;
    if (step.count < node_count_) return;
    std::printf("%s %d %lld %lld\n", name.c_str(), step.count,
                static_cast<long long>(step.first_ns),
                static_cast<long long>(now_ns));
    std::fflush(stdout);
    step = {};  // for the next test
  }

 private:
  struct Step {
    int count = 0;
    int64_t first_ns = 0;
  };

  const int node_count_;
  absl::Mutex mutex_;
  std::map<std::string, Step> steps_ ABSL_GUARDED_BY(mutex_);
};

// Latencies from 1 us on, in as many buckets as give about this size.
Histogram HistogramOf(int bytes) {
  constexpr double kNextBucket = 1.008;
  stats::LogHistogram histogram;
  Histogram proto;
  double value_ns = 1'000;
  for (int i = 0; i < bytes; ++i, value_ns *= kNextBucket) {
    histogram.Record(static_cast<int64_t>(value_ns));
    if (i % 32 != 0) continue;
    results::EncodeHistogram(histogram, proto);
    if (static_cast<int>(proto.ByteSizeLong()) >= bytes) break;
  }
  return proto;
}

RpcStatistics StatisticsOf(int bytes) {
  // The shape of an open loop's log, whose largest parts are these.
  const Histogram times = HistogramOf(bytes / 2);
  RpcStatistics statistics;
  *statistics.mutable_service_time_ns() = times;
  *statistics.mutable_response_time_ns() = times;
  int64_t count = 0;
  for (const uint64_t in_bucket : times.bucket_counts()) count += in_bucket;
  statistics.set_succeeded_count(count);
  statistics.set_request_bytes(16 * count);
  statistics.set_response_bytes(16 * count);
  return statistics;
}

// Takes part in every test, but measures nothing.
class SimulatedNode final : private node::ControlStream {
 public:
  SimulatedNode(const Options& options, int id,
                std::shared_ptr<grpc::Channel> channel,
                const RpcStatistics& statistics, Steps& steps,
                absl::BlockingCounter& ended)
      : ControlStream(std::move(channel)),
        options_(options),
        statistics_(statistics),
        steps_(steps),
        ended_(ended) {
    NodeRegistration registration;
    registration.set_hostname(absl::StrCat("simulated", id));
    registration.set_version(std::string(base::ProgramVersion()));
    registration.set_cpu_count(1);
    registration.set_preassigned_node_id(id);
    registration.set_incarnation(id + 1);
    Open(std::move(registration));
  }

  void Leave() { Cancel(); }

  // Called once a second: reports progress, or the end of the traffic.
  void Tick() ABSL_LOCKS_EXCLUDED(mutex_) {
    NodeMessage message;
    bool is_over = false;
    bool with_pongs = false;
    {
      absl::MutexLock lock(&mutex_);
      const int64_t now_ns = absl::GetCurrentTimeNanos();
      if (!is_running_ || now_ns < start_ns_) return;
      is_over = now_ns - start_ns_ >= options_.traffic_seconds * 1e9;
      constexpr absl::Duration kTolerance = absl::Milliseconds(100);
      if (!is_over && awaits_pong()) return;
      if (!is_over && !progress_times_.IsDue(now_ns, kTolerance)) return;
      is_running_ = !is_over;
      with_pongs = progress_with_pongs_;
      message.set_test_id(test_id_);
      TrafficProgress& progress = *message.mutable_progress();
      progress.set_succeeded_count(++report_count_ * 1000);
      progress.set_traffic_time_ns(now_ns - start_ns_);
      static const Histogram& recent = *new Histogram(HistogramOf(100));
      *progress.mutable_recent_service_time_ns() = recent;
    }
    if (with_pongs && !is_over) {
      SendWithPong(message.test_id(), std::move(*message.mutable_progress()));
      return;
    }
    Send(message);
    if (is_over) FinishTraffic(message.test_id());
  }

 private:
  void OnCommand(NodeCommand command) override {
    NodeMessage reply;
    reply.set_test_id(command.test_id());
    switch (command.command_case()) {
      case NodeCommand::kWelcome:
        return steps_.Reach("registered");
      case NodeCommand::kPrepare:
        steps_.Reach("prepared");
        FillPrepareReply(command.prepare(), *reply.mutable_prepare_reply());
        break;
      case NodeCommand::kConnect:
        steps_.Reach("connected");
        reply.mutable_connect_reply();
        break;
      case NodeCommand::kStart:
        steps_.Reach("started");
        FillStartReply(command, *reply.mutable_start_reply());
        break;
      case NodeCommand::kStop:
        return Stop();
      case NodeCommand::kCollect:
        SendResult(command.test_id());
        reply.mutable_collect_reply();
        break;
      case NodeCommand::kRelease:
        steps_.Reach("released");
        reply.mutable_release_reply();
        break;
      case NodeCommand::kPing:
        reply.mutable_pong()->set_sequencer_timestamp_ns(
            command.ping().sequencer_timestamp_ns());
        reply.mutable_pong()->set_node_timestamp_ns(
            absl::GetCurrentTimeNanos());
        break;
      default:
        return;
    }
    Send(std::move(reply));
  }

  void OnEnd(const absl::Status&) override { ended_.DecrementCount(); }

  void FillPrepareReply(const PrepareTest& prepare, PrepareReply& reply) {
    reply.mutable_status();
    const auto& services = prepare.config().traffic_config().services();
    const int count = services.empty() ? 1 : services[0].count();
    for (const std::string& instance : prepare.config().services()) {
      instance_ = instance;
      ServiceEndpoint& endpoint =
          (*reply.mutable_endpoints()->mutable_service_endpoints())[instance];
      endpoint.set_hostname("simulated");
      endpoint.set_endpoint_address("127.0.0.1:1");
      int number = 0;
      const size_t slash = instance.find('/');
      if (slash == std::string::npos ||
          !absl::SimpleAtoi(instance.substr(slash + 1), &number)) {
        continue;
      }
      const std::string service = instance.substr(0, slash + 1);
      const int peer_count = options_.everyone_is_peer ? count : 1;
      for (int i = 1; i <= peer_count; ++i) {
        peer_ = absl::StrCat(service, (number + i) % count);
        reply.add_peers(peer_);
      }
    }
  }

  void FillStartReply(const NodeCommand& command, StartReply& reply)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    reply.mutable_status();
    const int64_t late_ns =
        absl::GetCurrentTimeNanos() - command.start().start_timestamp_ns();
    if (late_ns > 0) reply.set_lateness_ns(late_ns);
    absl::MutexLock lock(&mutex_);
    is_running_ = true;
    test_id_ = command.test_id();
    report_count_ = 0;
    progress_with_pongs_ = command.start().progress_with_pongs();
    start_ns_ = command.start().start_timestamp_ns();
    progress_times_.Start(
        absl::Nanoseconds(command.start().progress_interval_ns()),
        absl::Uniform(random_, 0.0, 1.0), start_ns_);
  }

  void Stop() ABSL_LOCKS_EXCLUDED(mutex_) {
    int64_t test_id = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (!is_running_) return;
      is_running_ = false;
      test_id = test_id_;
    }
    FinishTraffic(test_id);
  }

  void FinishTraffic(int64_t test_id) {
    steps_.Reach("finished");
    NodeMessage message;
    message.set_test_id(test_id);
    message.mutable_traffic_finished();
    Send(std::move(message));
  }

  void SendResult(int64_t test_id) ABSL_LOCKS_EXCLUDED(mutex_) {
    NodeMessage message;
    message.set_test_id(test_id);
    ResultChunk& chunk = *message.mutable_result_chunk();
    chunk.set_instance(instance_);
    chunk.set_peer(peer_);
    chunk.set_rpc_index(0);
    RpcStatistics& statistics = *chunk.mutable_rpc_log()->mutable_statistics();
    statistics = statistics_;
    {
      absl::MutexLock lock(&mutex_);
      statistics.set_first_start_timestamp_ns(start_ns_);
    }
    statistics.set_last_end_timestamp_ns(absl::GetCurrentTimeNanos());
    Send(std::move(message));
    steps_.Reach("collected");
  }

  const Options& options_;
  const RpcStatistics& statistics_;
  Steps& steps_;
  absl::BlockingCounter& ended_;

  // Used on the stream's reader only.
  std::string instance_;
  std::string peer_;

  absl::Mutex mutex_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t test_id_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t report_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool progress_with_pongs_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t start_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  node::ProgressTimes progress_times_ ABSL_GUARDED_BY(mutex_);
  absl::InsecureBitGen random_ ABSL_GUARDED_BY(mutex_);
};

// Each node reports once a second, at its own moment of the second, as nodes on
// different hosts do.
void TickUntilStopped(const std::vector<std::unique_ptr<SimulatedNode>>& nodes,
                      base::StopSignals& stop) {
  constexpr int kSlots = 100;
  const absl::Time begin = absl::Now();
  for (int64_t slot = 0; !stop.requested(); ++slot) {
    absl::SleepFor(begin + slot * absl::Seconds(1) / kSlots - absl::Now());
    for (size_t i = slot % kSlots; i < nodes.size(); i += kSlots) {
      nodes[i]->Tick();
    }
  }
}

int Main(const Options& options) {
  base::StopSignals stop(/*exit_code=*/1);
  Steps steps(options.node_count);
  absl::BlockingCounter ended(options.node_count);
  const RpcStatistics statistics = StatisticsOf(options.result_bytes);

  std::vector<std::unique_ptr<SimulatedNode>> nodes;
  std::shared_ptr<grpc::Channel> channel;
  for (int i = 0; i < options.node_count; ++i) {
    if (i % options.sessions_per_connection == 0) {
      channel = node::MakeNodeChannel(options.sequencer, /*tls=*/nullptr);
    }
    nodes.push_back(std::make_unique<SimulatedNode>(
        options, options.first_id + i, channel, statistics, steps, ended));
  }
  TickUntilStopped(nodes, stop);
  for (const auto& node : nodes) node->Leave();
  ended.Wait();
  return 0;
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  distbench::base::SetUpProcess(argv[0]);
  distbench::Options options;
  CLI::App app("Sessions of many nodes at a sequencer, until SIGTERM");
  app.add_option("--sequencer", options.sequencer, "HOST:PORT")->required();
  app.add_option("--nodes", options.node_count, "How many nodes")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--first_id", options.first_id, "The N of the first, nodeN")
      ->capture_default_str();
  app.add_option("--sessions_per_connection", options.sessions_per_connection,
                 "Node managers have one each")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--result_bytes", options.result_bytes,
                 "Approximate size of each node's log")
      ->capture_default_str();
  app.add_option("--traffic_seconds", options.traffic_seconds,
                 "How long the traffic of a test takes")
      ->capture_default_str();
  app.add_flag("--everyone_is_peer", options.everyone_is_peer,
               "Every node asks for the addresses of all others");
  CLI11_PARSE(app, argc, argv);
  return distbench::Main(options);
}
