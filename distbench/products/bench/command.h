// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// `distbench bench`: its flags, and what its subcommands do.

#ifndef DISTBENCH_PRODUCTS_BENCH_COMMAND_H_
#define DISTBENCH_PRODUCTS_BENCH_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/flags/completion.h"
#include "distbench/security/tls_files.h"

namespace distbench::bench {

void AddBenchCommand(CLI::App& app, cli::CommandBody& chosen);

struct BenchFlags {
  std::string result;  // the result file
  std::string jobs;    // the file of named jobs

  // Of the subcommand: jobs to run or to print, or files to merge.
  std::vector<std::string> arguments;

  std::string test_sequencer;
  security::TlsFiles tls;
  std::string variables;  // JSON
  std::string outfile;
  bool force = false;
  bool quiet = false;
};

// Bodies of the subcommands; return an ExitCode.
absl::StatusOr<int> RunBench(const BenchFlags& flags, base::StopSignals& stop);
absl::StatusOr<int> ListBench(const BenchFlags& flags);
absl::StatusOr<int> StudyBench(const BenchFlags& flags);
absl::StatusOr<int> FormatBench(const BenchFlags& flags);
absl::StatusOr<int> SummariseBench(const BenchFlags& flags);
absl::StatusOr<int> MergeBench(const BenchFlags& flags);
absl::StatusOr<int> PackBench(const BenchFlags& flags);

// Completes a JOB: a kind of jobs, or a property of one after "KIND:".
std::vector<flags::Candidate> JobCandidates(const flags::ValueRequest& request);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_COMMAND_H_
