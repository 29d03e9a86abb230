// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/job.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/clock.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"
#include "distbench/base/stop_signals.h"
#include "distbench/client/test_client.h"
#include "distbench/products/launching/job/leader_location.h"
#include "distbench/products/launching/job/patience.h"
#include "distbench/products/launching/job/roll_call.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_diagnosis.h"
#include "distbench/security/tls_files.h"
#include "distbench/sequencer/serving/sequencer_server.h"

namespace distbench::launching {
namespace {

// How long nodes may take to leave when they are told to end.
constexpr absl::Duration kEndPatience = absl::Seconds(5);

// The host name with which this process reaches its own sequencer.
std::string OwnHost(const JobOptions& options) {
  const std::string& listen = options.node.listen_address;
  return listen.empty() ? "localhost"
                        : std::string(base::WithoutBrackets(listen));
}

// Whether a host listens at all of its addresses so; others would take it for
// themselves.
bool IsEveryAddress(absl::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

// The host name with which others reach it.
std::string ReachableHost(const JobOptions& options) {
  for (const std::string* host :
       {&options.leader.host, &options.node.listen_address,
        &options.node.service_address}) {
    std::string name(base::WithoutBrackets(*host));
    if (!name.empty() && !IsEveryAddress(name)) return name;
  }
  return base::Hostname();
}

// What the command needs to know, in variables that all programs read.
std::vector<std::string> CommandEnvironment(const JobOptions& options,
                                            int port) {
  std::vector<std::string> variables = {
      "DISTBENCH_IN_JOB=1",
      absl::StrCat("DISTBENCH_TEST_SEQUENCER=",
                   base::JoinHostPort(OwnHost(options), port))};
  // Set without a value, they hide what the user may have set.
  const security::TlsFiles files = options.node.tls == nullptr
                                       ? security::TlsFiles()
                                       : options.node.tls->files();
  variables.push_back(absl::StrCat("DISTBENCH_TLS_CA=", files.ca));
  variables.push_back(absl::StrCat("DISTBENCH_TLS_CERT=", files.cert));
  variables.push_back(absl::StrCat("DISTBENCH_TLS_KEY=", files.key));
  variables.push_back(absl::StrCat("DISTBENCH_TLS_NAME=", files.name));
  return variables;
}

class Leader {
 public:
  Leader(const JobOptions& options, base::StopSignals& stop)
      : options_(options), stop_(stop) {
    if (!options.leader.file.empty()) file_.emplace(options.leader.file);
  }

  JobEnd Lead() {
    stop_.SetHandler([this] { stopped_.Notify(); });
    absl::Status status = Listen();
    if (status.ok()) status = StartOwnNode();
    if (status.ok()) status = AwaitOthers();
    JobEnd end;
    if (!status.ok()) {
      end = {.exit_status = report::kExitUsage,
             .error = absl::StrCat(DescribePlace(options_.place), ": ",
                                   status.message())};
    } else if (!stopped_.HasBeenNotified()) {
      end = options_.command.empty() ? Serve() : RunCommand();
    } else if (!options_.command.empty()) {
      end = {.exit_status = report::kExitRunFailed,
             .error = "stopped before all processes had joined"};
    }
    stop_.SetHandler({});
    EndJob();
    return end;
  }

 private:
  absl::Status Listen() {
    if (file_.has_value()) {
      if (absl::Status status = file_->Clear(); !status.ok()) return status;
    }
    sequencer::SequencerOptions sequencer;
    sequencer.listen_address = options_.node.listen_address;
    sequencer.port = options_.leader.port;
    sequencer.tls = options_.node.tls;
    sequencer.max_nodes = options_.place.size;
    sequencer.guards = options_.node.guards;
    sequencer.revision = options_.revision;
    auto started = sequencer::SequencerServer::Start(std::move(sequencer));
    if (!started.ok()) {
      return absl::Status(
          started.status().code(),
          absl::StrCat(started.status().message(),
                       "; if another job leads there, give this one another "
                       "port (--port), or --rendezvous=DIR and any free one"));
    }
    sequencer_ = *std::move(started);
    const std::string address =
        base::JoinHostPort(ReachableHost(options_), sequencer_->port());
    options_.say(
        absl::StrCat(DescribePlace(options_.place), " leads at ", address));
    return file_.has_value() ? file_->Announce(address) : absl::OkStatus();
  }

  absl::Status StartOwnNode() {
    if (!options_.node_on_leader) return absl::OkStatus();
    node::NodeManagerOptions node = options_.node;
    node.channel = sequencer_->InProcessChannel();
    node.preassigned_id = options_.place.rank;
    auto started = node::NodeManager::Start(std::move(node));
    if (!started.ok()) return started.status();
    node_ = *std::move(started);
    return absl::OkStatus();
  }

  // Returns OK when all have joined, or when the job is to stop.
  absl::Status AwaitOthers() {
    client::TestClient client(sequencer_->InProcessChannel());
    RollCall roll_call(options_.place.size, options_.node_on_leader);
    Patience patience(options_.join_timeout, base::RealClock(),
                      [this](absl::Duration pause) {
                        return !stopped_.WaitForNotificationWithTimeout(pause);
                      });
    do {
      if (file_.has_value()) {
        if (absl::Status status = file_->Check(); !status.ok()) return status;
      }
      absl::StatusOr<GetStatusResponse> status = client.GetStatus();
      if (!status.ok()) return status.status();
      roll_call.SetStatus(*std::move(status));
      if (roll_call.is_complete()) {
        options_.say(roll_call.Summary());
        return absl::OkStatus();
      }
    } while (patience.WaitForNext());
    if (patience.was_ended()) return absl::OkStatus();
    return roll_call.MissingAfter(options_.join_timeout,
                                  options_.node.tls != nullptr);
  }

  JobEnd Serve() {
    stopped_.WaitForNotification();
    return {};
  }

  JobEnd RunCommand() {
    const JobCommand& command = options_.command;
    // A process of another group may not read the terminal.
    absl::StatusOr<base::ChildProcess> child = base::ChildProcess::Start(
        {.path = command.path,
         .arguments = command.arguments,
         .more_environment = CommandEnvironment(options_, sequencer_->port()),
         .has_stdin = isatty(STDIN_FILENO) == 0,
         .ends_with_parent = true});
    if (!child.ok()) {
      return {.exit_status = report::kExitUsage,
              .error = std::string(child.status().message())};
    }
    // A second signal ends this process, and the command is told then.
    stop_.SetHandler([&child] { child->PassOn(SIGTERM); });
    while (!child->HasEnded(absl::InfiniteDuration())) {
    }
    stop_.SetHandler({});
    const int status = child->Finish();
    if (WIFEXITED(status)) return {.exit_status = WEXITSTATUS(status)};
    return {.exit_status = report::kExitRunFailed,
            .error = absl::StrCat(command.arguments.front(), " ",
                                  base::DescribeExit(status))};
  }

  // Ends nodes before the sequencer, which they would otherwise miss.
  void EndJob() {
    if (sequencer_ == nullptr) return;
    sequencer_->EndRuns();
    if (!sequencer_->EndNodes(kEndPatience)) {
      options_.say(absl::StrCat(
          "some nodes have not left within ",
          absl::FormatDuration(kEndPatience),
          "; those that have lost this process end by themselves"));
    }
    node_ = nullptr;
    sequencer_->Shutdown();
  }

  const JobOptions& options_;
  base::StopSignals& stop_;
  absl::Notification stopped_;
  std::optional<LeaderFile> file_;
  std::unique_ptr<sequencer::SequencerServer> sequencer_;
  std::unique_ptr<node::NodeManager> node_;  // uses a channel of the sequencer
};

}  // namespace

JobEnd LeadJob(const JobOptions& options, base::StopSignals& stop) {
  return Leader(options, stop).Lead();
}

namespace {

// How long an attempt to register may take; then the leader is looked for
// again, because what was found may be what an earlier try left.
constexpr absl::Duration kAttempt = absl::Seconds(5);

constexpr absl::Duration kDiagnosisTimeout = absl::Seconds(2);

// How long the leader may take to end the job after the launcher has signalled
// all processes: the time that it gives to measurements.
constexpr absl::Duration kLeaderPatience = absl::Seconds(10);

// How long it may take to collect those of a node that leaves.
constexpr absl::Duration kLeavePatience = absl::Seconds(10);

absl::StatusOr<std::string> LeaderAddress(const LeaderLocation& leader) {
  if (!leader.file.empty()) return ReadLeaderFile(leader.file);
  return base::JoinHostPort(leader.host, leader.port);
}

// Whether the leader has refused the node, so that it would do so again. A
// server that is no sequencer is not the leader.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return true;
    default:
      return false;
  }
}

// Says what the secret, or its absence, has to do with the failure; empty if it
// has nothing to do with it.
std::string SecretProblem(const JobOptions& options,
                          const std::string& address) {
  const security::TlsCredentials* tls = options.node.tls.get();
  if (tls == nullptr) {
    return security::WantsTls(address, kDiagnosisTimeout)
               ? absl::StrCat("the leader at ", address,
                              " has the job's secret, and this process was "
                              "started with --plain; give it --secret=DIR")
               : "";
  }
  const std::string problem = security::DiagnoseTls(
      address, tls->files(), security::ServerName::kChecked, kDiagnosisTimeout);
  if (problem.empty()) return "";
  return absl::StrCat(
      "the leader at ", address,
      " does not have the same secret as this process: ", problem,
      "; all processes of a job need the same --secret");
}

std::string Explain(const JobOptions& options, const std::string& address,
                    const absl::Status& status) {
  if (absl::IsAlreadyExists(status)) {
    return absl::StrCat(status.message(),
                        "; each rank must be started only once");
  }
  if (IsRefusal(status)) return std::string(status.message());
  const std::string secret = SecretProblem(options, address);
  return secret.empty() ? std::string(status.message()) : secret;
}

// A node that joins: looks for the leader until it has registered.
class Joining {
 public:
  explicit Joining(const JobOptions& options)
      : options_(options),
        patience_(options.join_timeout, base::RealClock(),
                  [](absl::Duration pause) {
                    // Signals end a process that has not joined yet.
                    absl::SleepFor(pause);
                    return true;
                  }) {}

  // The error is for users.
  absl::StatusOr<std::unique_ptr<node::NodeManager>> Join(
      const node::NodeManagerOptions& node) {
    do {
      const absl::StatusOr<std::string> address =
          LeaderAddress(options_.leader);
      if (!address.ok()) {
        SetProblem(std::string(address.status().message()));
        continue;
      }
      auto joined = Register(*address, node);
      if (joined.ok()) return joined;
      SetProblem(Explain(options_, *address, joined.status()));
      if (IsRefusal(joined.status())) return Error("cannot join");
    } while (patience_.WaitForNext());
    return Error(absl::StrCat("has found no leader within ",
                              absl::FormatDuration(options_.join_timeout)));
  }

 private:
  absl::StatusOr<std::unique_ptr<node::NodeManager>> Register(
      const std::string& address, node::NodeManagerOptions node) {
    node.sequencer = address;
    // Whole seconds, because messages name them.
    constexpr absl::Duration kSecond = absl::Seconds(1);
    node.register_timeout =
        std::clamp(absl::Ceil(patience_.left(), kSecond), kSecond, kAttempt);
    return node::NodeManager::Start(std::move(node));
  }

  // Users see a problem that lasts before the time is over, but only once.
  void SetProblem(std::string problem) {
    problem_ = std::move(problem);
    const absl::Duration passed = options_.join_timeout - patience_.left();
    if (was_said_ || passed < kAttempt) return;
    was_said_ = true;
    options_.say(absl::StrCat(DescribePlace(options_.place),
                              " has not joined yet: ", problem_));
  }

  absl::Status Error(absl::string_view what) const {
    return absl::UnavailableError(
        absl::StrCat(DescribePlace(options_.place), " ", what, ": ", problem_));
  }

  const JobOptions& options_;
  Patience patience_;
  std::string problem_;
  bool was_said_ = false;
};

}  // namespace

JobEnd JoinJob(const JobOptions& options, base::StopSignals& stop) {
  // Before the node is registered there is nothing to end.
  stop.SetHandler([] { std::_Exit(report::kExitOk); });
  absl::Status end;
  absl::Notification has_ended;
  node::NodeManagerOptions node = options.node;
  node.preassigned_id = options.place.rank;
  node.reconnect_timeout = options.leader_timeout;
  node.on_ended = [&](absl::Status status) {
    end = std::move(status);
    has_ended.Notify();
    stop.Request();
  };
  const auto joined = Joining(options).Join(node);
  if (!joined.ok()) {
    return {.exit_status = report::kExitUsage,
            .error = std::string(joined.status().message())};
  }
  stop.SetHandler({});
  options.say(absl::StrCat(DescribePlace(options.place), " has joined as ",
                           (*joined)->alias()));
  stop.Wait();
  has_ended.WaitForNotificationWithTimeout(kLeaderPatience);
  (*joined)->Leave(kLeavePatience);
  (*joined)->Shutdown();
  if (end.ok()) return {};
  return {
      .exit_status = report::kExitRunFailed,
      .error = absl::StrCat(DescribePlace(options.place), ": ", end.message())};
}

}  // namespace distbench::launching
