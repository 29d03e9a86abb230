// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Code shared by the throughput benchmarks: flags, timestamps, and the line
// that they print. Uses nothing of distbench's engine, so that the bare
// programs stay bare.

#ifndef BENCH_THROUGHPUT_H_
#define BENCH_THROUGHPUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "distbench/base/clock.h"

namespace bench {

struct Options {
  bool server = false;  // else client
  std::string target;   // client: what the server printed
  int request_bytes = 16;
  int response_bytes = 16;
  int in_flight = 100;  // by all threads; not with per_second
  // The rate of an open loop, which sends RPCs at constant intervals whatever
  // is in flight. 0 means a closed loop.
  double per_second = 0;
  int threads = 1;  // each has a queue and, in a client, a connection
  double seconds = 2;
  double warmup_seconds = 0.5;
  int spin_us = 0;
  std::string driver = "grpc";  // for programs that have a choice
  // More settings of engine_throughput's driver, as NAME=VALUE.
  std::vector<std::string> client_settings;
  std::vector<std::string> server_settings;
  // The work that engine_throughput's server does for a request: "empty"
  // nothing, "list" an action without work, "activity" some microseconds of
  // work.
  std::string handler = "empty";
  bool time_parts = false;  // whether engine_throughput measures them
  double wire_share = 0;    // of the RPCs whose wire time it measures
  // Whether the client of driver_throughput or engine_throughput calls the
  // server as an external service.
  bool external = false;
  // Instead of RPCs: this many streams, among which in_flight is divided; with
  // bare_grpc_stream, and with engine_throughput's external client. 0: one for
  // each thread with the former, RPCs with the latter.
  int streams = 0;
  // PEM files, all or none; with bare_tcp and bare_grpc. The peer's certificate
  // must be signed by the authority.
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  int connections = 1;  // with TCP: per client thread
  int max_batch = 64;   // with TCP: messages per write
};

// Exits with a message if the command line is wrong. Also sets up malloc, in
// the same way for all programs.
Options ParseOptions(int argc, char** argv, const std::string& description);

// Reads CLOCK_MONOTONIC.
int64_t NowNs();

// Returns members of a JSON object: the CPU time that this process has used
// beyond `cpu_seconds_before`, and its peak memory.
std::string ResourceFigures(double cpu_seconds_before);

// The times at which one of options.threads threads sends in an open loop.
class Schedule {
 public:
  explicit Schedule(const Options& options);

  int64_t next_ns() const { return next_ns_; }
  void Advance() { next_ns_ = start_ns_ + ++sent_ * 1e9 / per_second_; }

 private:
  const double per_second_;  // of this thread
  const int64_t start_ns_;
  int64_t next_ns_;
  int64_t sent_ = 0;
};

// Counts RPCs and keeps the latencies of those that end in the measured time.
class Recorder {
 public:
  // The measured time starts after the warm-up, which starts now.
  explicit Recorder(const Options& options);

  bool finished(int64_t now_ns) const { return now_ns >= end_ns_; }
  int64_t end_ns() const { return end_ns_; }

  void Record(int64_t sent_ns, int64_t done_ns) {
    ++total_count_;
    if (done_ns >= start_ns_ && done_ns < end_ns_) {
      latencies_ns_.push_back(done_ns - sent_ns);
    }
  }

  // Adds the records of another thread.
  void Merge(const Recorder& other);

  // Prints one line of JSON.
  void Print();

 private:
  const double cpu_seconds_before_ = distbench::base::ProcessCpuSeconds();
  const int64_t start_ns_;
  const int64_t end_ns_;
  int64_t total_count_ = 0;  // including the warm-up
  std::vector<int64_t> latencies_ns_;
};

// Runs a client on each of options.threads threads, and prints their combined
// records.
void RunClientThreads(const Options& options,
                      const std::function<void(Recorder& recorder)>& run);

// Prints the server's address for the process that started it. From then on
// this server ends with that process.
void AnnounceServer(const std::string& target);

}  // namespace bench

#endif  // BENCH_THROUGHPUT_H_
