// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Engines in processes of their own, so that the node manager does not disturb
// their measurements, and survives what happens to them.
//
// Compared with a process that all instances of a host share, over gRPC on two
// CPUs: 2.4 times the rate with 256 KiB, 1.5 times with one small RPC in
// flight, 0.93 to 1.10 times with 100, depending on the threading model; half
// the p50 of a clique of 60, and a seventh of that of a clique of 100.

#ifndef DISTBENCH_HOSTING_PROCESS_ENGINES_H_
#define DISTBENCH_HOSTING_PROCESS_ENGINES_H_

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_process.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_files.h"

namespace distbench::hosting {

// Each engine has its own process, for one test. The exception is the
// `loopback` protocol, which works only within a process: a test's engines that
// use it share one.
//
// A process is started ahead of time and waits for the next engine, so that
// tests do not wait for it. For an engine with a binding or a control group, a
// new process is started, because a process's first memory lies where its
// parent's binding puts it, and counts in the group in which it started. So is
// one for an engine of another program.
//
// This program must implement the subcommand kEngineSubcommand, as the others
// do. Thread-safe.
class ProcessEngines final : public EngineFactory {
 public:
  explicit ProcessEngines(EngineLimits limits = {},
                          EnginePrograms programs = {});

  // All engines must have been destroyed.
  ~ProcessEngines() override;

  EngineLimits limits() const override { return limits_; }
  std::vector<EngineProgram> programs() const override;

  void Expect(int count) override ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override ABSL_LOCKS_EXCLUDED(mutex_);

  void AwaitEnds(absl::Duration patience) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using ProcessPointer = std::shared_ptr<EngineProcess>;

  // A process that has engines.
  struct Busy {
    ProcessPointer process;
    std::shared_ptr<const config::Plan> plan;
    bool is_shared = false;
    int engine_count = 1;

    // The source of its certificates, and the contents that it was sent last.
    std::shared_ptr<const security::TlsCredentials> tls;
    security::TlsContents sent;
  };

  // A process that was told to end.
  struct Ending {
    ProcessPointer process;
    int beats = 0;
  };

  // was_idle: on entry, whether the previous process, which failed, was an idle
  // one; on return, whether this one is.
  absl::StatusOr<ProcessPointer> GetProcess(const EngineRequest& request,
                                            const security::TlsContents& tls,
                                            const std::string& program,
                                            bool& was_idle)
      ABSL_LOCKS_EXCLUDED(mutex_);
  ProcessPointer TakeShared(const config::Plan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ProcessPointer TakeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveBack(const ProcessPointer& process) ABSL_LOCKS_EXCLUDED(mutex_);
  void End(ProcessPointer process) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int IdleCount() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepOneAhead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The keeper thread starts processes ahead, sends beats, renews certificates,
  // and destroys processes that have ended.
  void RunKeeper() ABSL_LOCKS_EXCLUDED(mutex_);
  void StartAhead() ABSL_LOCKS_EXCLUDED(mutex_);
  void BeatAll() ABSL_LOCKS_EXCLUDED(mutex_);
  void ReapEnded() ABSL_LOCKS_EXCLUDED(mutex_);
  void RenewCertificates() ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsOver() const ABSL_LOCKS_EXCLUDED(mutex_);

  bool HasNoEnding() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ending_.empty();
  }

  // Whether no process is busy or ending.
  bool IsIdle() const ABSL_LOCKS_EXCLUDED(mutex_);

  // What the process for the request runs; empty: this program.
  absl::StatusOr<std::string> ProgramFor(const EngineRequest& request) const;

  const EngineLimits limits_;
  const EnginePrograms programs_;

  mutable absl::Mutex mutex_;
  std::deque<ProcessPointer> idle_ ABSL_GUARDED_BY(mutex_);
  std::vector<Busy> busy_ ABSL_GUARDED_BY(mutex_);
  std::vector<Ending> ending_ ABSL_GUARDED_BY(mutex_);
  int to_start_ ABSL_GUARDED_BY(mutex_) = 1;
  bool is_expecting_ ABSL_GUARDED_BY(mutex_) = false;  // engines of a test
  bool is_starting_ ABSL_GUARDED_BY(mutex_) = false;   // by the keeper
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;

  base::Wakeup keeper_wakeup_;
  std::thread keeper_;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_PROCESS_ENGINES_H_
