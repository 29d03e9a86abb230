// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs one job on hosts that are reached by ssh.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_LAUNCH_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_LAUNCH_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"
#include "distbench/products/launching/ssh/host_output.h"
#include "distbench/products/launching/ssh/ssh_hosts.h"
#include "distbench/products/launching/ssh/ssh_session.h"
#include "distbench/products/launching/ssh/start_message.h"
#include "distbench/security/tls_files.h"

namespace distbench::launching {

struct SshLaunch {
  // The first is rank 0's.
  std::vector<SshHost> hosts;

  // The ssh command, for the shell.
  std::string ssh = "ssh";

  // `copied_bytes` is set by SshLauncher.
  RemoteProgram program;

  // What the hosts are to run instead of a program of theirs; empty for none.
  absl::Cord copy;

  // Where the other hosts reach the first. Without a host: as `hosts` names it;
  // without a port: at one that is free there.
  SshHost leader;

  // The job's secret; empty if the job is to be without TLS.
  security::TlsContents secret;

  // For `distbench join` on every host.
  std::vector<std::string> join_flags;

  // What rank 0 runs; empty: nothing, it serves until it is stopped.
  std::vector<std::string> command;

  // Within which every host must be ready, copy included, and then rank 0 must
  // lead.
  absl::Duration start_timeout = absl::Minutes(2);

  // An existing folder for a log of each host; empty for none.
  std::string logs;
};

// How a job ended that had been started.
struct LaunchEnd {
  // The exit status of rank 0; negative if it is not known.
  int status = -1;

  // What went wrong about hosts and sessions. May have several lines.
  std::vector<std::string> problems;
};

// Runs a job. Its methods belong to one thread, except Stop().
class SshLauncher {
 public:
  // `shown` gets what rank 0 writes, and messages about the hosts.
  SshLauncher(SshLaunch launch, ShownOutput shown);

  // Runs the job to its end. An error means that nothing was started; it names
  // every host that is to blame. Nothing runs on any host afterwards, unless
  // `problems` say so.
  absl::StatusOr<LaunchEnd> Run();

  // Ends the job in order: rank 0's command keeps what it measured. Any thread.
  void Stop();

 private:
  struct Host {
    const SshHost* host = nullptr;
    HostOutput output;
    std::unique_ptr<SshSession> session;
    bool is_blamed = false;

    std::string name() const { return DescribeHost(*host); }
    bool has_ended() const { return session->wait_status().has_value(); }
  };

  absl::Status CheckLeader() const;
  absl::Status StartSessions();
  std::vector<std::string> ArgumentsOf(int rank) const;
  absl::Status WaitUntilReady();
  absl::Status ExplainWhoIsNotReady();
  void StartJob();
  void WatchJob();
  void BlameHosts();
  void EndOthers();
  LaunchEnd Finish();

  // Moves bytes until `condition` holds or the deadline has passed; returns
  // whether it holds.
  bool MoveUntil(const std::function<bool()>& condition, absl::Time deadline);
  void MoveOnce(absl::Duration at_most);
  void Note(absl::string_view message) const;

  bool others_have_ended() const;
  Host& leader() { return *hosts_.front(); }

  const SshLaunch launch_;
  const ShownOutput shown_;
  RemoteProgram program_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::string> problems_;
  std::atomic<bool> stop_requested_ = false;
  base::Wakeup wakeup_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_LAUNCH_H_
