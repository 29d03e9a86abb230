#include "distbench/products/launching/job/job_member.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/host_port.h"
#include "distbench/base/stop_signals.h"
#include "distbench/products/launching/job/leader_file.h"
#include "distbench/products/launching/job/patience.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_diagnosis.h"

namespace distbench::launching {
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
