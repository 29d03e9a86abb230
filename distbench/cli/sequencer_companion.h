// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What products run beside a test sequencer, such as pages for browsers.
//
// `distbench test_sequencer` asks every base::Plugin<SequencerCompanionMaker>
// for a companion, in the order of their names: adds its flags, checks them,
// and starts it when the sequencer listens. It ends after the sequencer's runs,
// and before the sequencer.

#ifndef DISTBENCH_CLI_SEQUENCER_COMPANION_H_
#define DISTBENCH_CLI_SEQUENCER_COMPANION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"
#include "distbench/sequencer/serving/sequencer_server.h"

namespace distbench::cli {

// A companion that runs, until it is destroyed.
class RunningCompanion {
 public:
  virtual ~RunningCompanion() = default;

  // What users should know about it: lines for stdout.
  virtual std::string Announcement() const = 0;
};

class SequencerCompanion {
 public:
  virtual ~SequencerCompanion() = default;

  // Adds the flags that ask for it, whose values this object takes.
  virtual void AddFlags(CLI::App& command) = 0;

  // Checks what no single flag shows.
  virtual absl::Status CheckFlags() const = 0;

  // What it may use. The files, the rules and the folder are as the sequencer's
  // flags give them.
  struct Sequencer {
    sequencer::SequencerServer& server;  // outlives the companion
    std::string address;                 // at which others reach it
    security::TlsFiles tls;
    security::AccessRules access;
    std::string results_dir;
  };

  // Returns null if the flags do not ask for it.
  virtual absl::StatusOr<std::unique_ptr<RunningCompanion>> Start(
      const Sequencer& sequencer) const = 0;
};

struct SequencerCompanionMaker {
  std::unique_ptr<SequencerCompanion> (*make)();
};

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_SEQUENCER_COMPANION_H_
