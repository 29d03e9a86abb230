// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Results of experiments for tests, made from what happened in each second.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_TESTING_EXAMPLE_EXPERIMENT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_TESTING_EXAMPLE_EXPERIMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::protection {

inline constexpr int64_t kMillisecond = 1'000'000;  // in nanoseconds

// All example runs begin with their baseline at this second of Unix time.
inline constexpr int64_t kExampleStartSecond = 1'700'000'000;
inline constexpr char kExampleRpc[] = "query";
inline constexpr int kExampleCpus = 2;

// What ended, and what was used, in one second.
struct ExampleSecond {
  // Of each request that succeeded.
  std::vector<int64_t> latency_ns;
  int64_t failed_count = 0;

  // Of the antagonist's activity.
  int64_t offered_count = 0;
  int64_t completed_count = 0;
  int64_t bytes = 0;
  std::vector<int64_t> read_ns;

  // Of the only node, on which both run.
  double cpus_used = 0;

  // Of its control groups; absent: it has none.
  std::optional<int64_t> device_bytes;
};

// A run: seconds of baseline, interference and recovery, one after the other.
struct ExampleRun {
  std::string controls = "off";
  std::string antagonist = "hog";
  std::string load;
  std::string purpose;
  int repetition = 0;
  bool is_open_loop = true;

  int baseline_s = 10;
  int interfere_s = 10;
  int recover_s = 10;
  std::vector<ExampleSecond> seconds;
};

// A run in which `per_second` requests of equal latency end in each second.
ExampleRun SteadyRun(int per_second, int64_t latency_ns);

// The seconds of a phase.
std::vector<ExampleSecond*> InterferenceOf(ExampleRun& run);
std::vector<ExampleSecond*> RecoveryOf(ExampleRun& run);

TestResult ResultOf(const ExampleRun& run);

// The results of an experiment with the objective ("" for none).
TestSequenceResults ResultsOf(const std::vector<ExampleRun>& runs,
                              const std::string& objective = "");

// Two controls, two antagonists and one load, three runs each, with everything
// that reports show.
TestSequenceResults MakeExampleExperiment();

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_TESTING_EXAMPLE_EXPERIMENT_H_
