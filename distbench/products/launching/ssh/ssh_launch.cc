// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_launch.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "distbench/base/child_process.h"
#include "distbench/base/host_port.h"
#include "distbench/products/launching/ssh/ssh_session.h"

namespace distbench::launching {
namespace {

// How long rank 0 may take to end: a little more than the hosts give it.
constexpr absl::Duration kLeaderPatience = absl::Seconds(75);

// How long the others may take to end by themselves once rank 0 has ended, and
// how long then when their input has ended.
constexpr absl::Duration kOthersPatience = absl::Seconds(40);
constexpr absl::Duration kLastPatience = absl::Seconds(20);

// How often to look whether an ssh process has ended, which no descriptor that
// is polled here tells for certain.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);

// Distbench's own commands use less; shells and ssh use those above.
constexpr int kLargestStatus = 125;

// Whether this is the end of a command of distbench, and not that of ssh.
bool HasStatus(int wait_status) {
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) <= kLargestStatus;
}

std::string HostsInWords(size_t count) {
  return absl::StrCat(count, count == 1 ? " host is" : " hosts are");
}

}  // namespace

SshLauncher::SshLauncher(SshLaunch launch, ShownOutput shown)
    : launch_(std::move(launch)),
      shown_(std::move(shown)),
      program_(launch_.program) {
  program_.copied_bytes = static_cast<int64_t>(launch_.copy.size());
}

absl::StatusOr<LaunchEnd> SshLauncher::Run() {
  absl::Status status = CheckLeader();
  if (status.ok()) status = StartSessions();
  if (status.ok()) status = WaitUntilReady();
  if (!status.ok()) return status;
  StartJob();
  WatchJob();
  EndOthers();
  return Finish();
}

void SshLauncher::Stop() {
  stop_requested_ = true;
  wakeup_.Wake();
}

absl::Status SshLauncher::CheckLeader() const {
  const std::string& first = launch_.hosts.front().host;
  if (!launch_.leader.host.empty() || !IsLoopbackHost(first)) {
    return absl::OkStatus();
  }
  for (const SshHost& host : launch_.hosts) {
    if (IsLoopbackHost(host.host)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        host.host, " cannot reach the first host as ", first,
        ", which every host calls itself; give its name with --leader=HOST"));
  }
  return absl::OkStatus();
}

std::vector<std::string> SshLauncher::ArgumentsOf(int rank) const {
  std::vector<std::string> arguments = {
      "launched", "--", absl::StrCat("--rank=", rank),
      absl::StrCat("--size=", launch_.hosts.size())};
  if (rank == 0 && launch_.leader.port != 0) {
    arguments.push_back(absl::StrCat("--port=", launch_.leader.port));
  }
  const auto append = [&arguments](const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  append(launch_.join_flags);
  append(launch_.hosts[rank].attributes);
  if (rank == 0 && !launch_.command.empty()) {
    arguments.push_back("--");
    append(launch_.command);
  }
  return arguments;
}

absl::Status SshLauncher::StartSessions() {
  for (size_t rank = 0; rank < launch_.hosts.size(); ++rank) {
    auto host = std::make_unique<Host>();
    host->host = &launch_.hosts[rank];
    if (!launch_.logs.empty()) {
      const absl::Status status = host->output.LogTo(
          absl::StrCat(launch_.logs, "/", host->name(), ".log"));
      if (!status.ok()) return status;
    }
    HostOutput& output = host->output;
    absl::StatusOr<std::unique_ptr<SshSession>> session = SshSession::Start(
        launch_.ssh, *host->host,
        RemoteCommand(program_, ArgumentsOf(static_cast<int>(rank))),
        [&output](SshStream stream, absl::string_view bytes) {
          output.Add(stream, bytes);
        });
    if (!session.ok()) return session.status();
    host->session = *std::move(session);
    host->session->Send(launch_.copy);
    hosts_.push_back(std::move(host));
  }
  leader().output.Show(shown_);
  return absl::OkStatus();
}

// Waits for all of them even if one has failed, so that every bad host is named
// at once.
absl::Status SshLauncher::WaitUntilReady() {
  const auto is_decided = [this] {
    return stop_requested_ ||
           std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) {
             return host->output.is_ready() || host->has_ended();
           });
  };
  MoveUntil(is_decided, absl::Now() + launch_.start_timeout);
  if (stop_requested_) {
    return absl::CancelledError("stopped before the job had started");
  }
  absl::Status status = ExplainWhoIsNotReady();
  if (status.ok()) Note(absl::StrCat(HostsInWords(hosts_.size()), " ready"));
  return status;
}

absl::Status SshLauncher::ExplainWhoIsNotReady() {
  std::vector<std::string> reasons;
  for (const auto& host : hosts_) {
    if (host->has_ended()) {
      host->output.Finish();
      const std::string words = host->output.LastWords();
      reasons.push_back(absl::StrCat(
          ExplainNotReady(*host->host, *host->session->wait_status(), words,
                          program_),
          words.empty() ? "" : "; it said:\n", words));
    } else if (!host->output.is_ready()) {
      reasons.push_back(absl::StrCat(
          host->name(), ": was not ready within ",
          absl::FormatDuration(launch_.start_timeout),
          "; --start_timeout allows for more\n", host->output.LastWords()));
    }
  }
  if (reasons.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("nothing was started, because of ", reasons.size(), " of ",
                   hosts_.size(), " hosts\n", absl::StrJoin(reasons, "\n")));
}

// The others are told where the sequencer listens, which rank 0 says.
void SshLauncher::StartJob() {
  StartMessage message = {.leader = "", .secret = launch_.secret};
  leader().session->Send(absl::Cord(EncodeStartMessage(message)));
  const auto is_decided = [this] {
    return stop_requested_ || leader().has_ended() ||
           leader().output.port().has_value();
  };
  if (!MoveUntil(is_decided, absl::Now() + launch_.start_timeout)) {
    problems_.push_back(absl::StrCat(
        leader().name(), " (rank 0) did not lead the job within ",
        absl::FormatDuration(launch_.start_timeout),
        "; is that host overloaded, or its disk full? --start_timeout allows "
        "for more; it said:\n",
        leader().output.LastWords()));
  }
  if (!leader().output.port()) return;
  const std::string& name =
      launch_.leader.host.empty() ? leader().host->host : launch_.leader.host;
  message.leader = base::JoinHostPort(name, *leader().output.port());
  for (size_t i = 1; i < hosts_.size(); ++i) {
    hosts_[i]->session->Send(absl::Cord(EncodeStartMessage(message)));
  }
}

// Returns when rank 0 has ended, or does not end when told to. If there are
// problems already, it is told at once.
void SshLauncher::WatchJob() {
  MoveUntil(
      [this] {
        BlameHosts();
        return stop_requested_ || !problems_.empty() || leader().has_ended();
      },
      absl::InfiniteFuture());
  if (leader().has_ended()) return;
  Note(stop_requested_ ? "ending the job" : problems_.back());
  leader().session->CloseInput();
  const auto has_ended = [this] { return leader().has_ended(); };
  if (!MoveUntil(has_ended, absl::Now() + kLeaderPatience)) {
    problems_.push_back(
        absl::StrCat(leader().name(), " (rank 0) did not end within ",
                     absl::FormatDuration(kLeaderPatience),
                     "; look whether distbench still runs there"));
    leader().session->Kill();
  }
}

// Notes the hosts that ended before rank 0, and not well.
void SshLauncher::BlameHosts() {
  for (size_t i = 1; i < hosts_.size(); ++i) {
    Host& host = *hosts_[i];
    if (host.is_blamed || !host.has_ended() ||
        *host.session->wait_status() == 0) {
      continue;
    }
    host.is_blamed = true;
    host.output.Finish();
    problems_.push_back(absl::StrCat(
        host.name(), " (rank ", i, ") ended before the job did: ssh ",
        base::DescribeExit(*host.session->wait_status()), "; it said:\n",
        host.output.LastWords()));
  }
}

// They end when rank 0 ends in order. Otherwise, and if they do not, their
// input ends.
void SshLauncher::EndOthers() {
  const auto have_ended = [this] { return others_have_ended(); };
  const bool end_by_themselves = leader().output.port().has_value() &&
                                 HasStatus(*leader().session->wait_status()) &&
                                 !stop_requested_ && problems_.empty();
  if (end_by_themselves &&
      MoveUntil(have_ended, absl::Now() + kOthersPatience)) {
    return;
  }
  for (const auto& host : hosts_) host->session->CloseInput();
  if (MoveUntil(have_ended, absl::Now() + kLastPatience)) return;
  for (size_t i = 1; i < hosts_.size(); ++i) {
    if (hosts_[i]->has_ended()) continue;
    problems_.push_back(
        absl::StrCat(hosts_[i]->name(), " (rank ", i,
                     ") did not end; look whether distbench still runs there"));
    hosts_[i]->session->Kill();
  }
}

LaunchEnd SshLauncher::Finish() {
  const int wait_status = *leader().session->wait_status();
  LaunchEnd end;
  if (HasStatus(wait_status)) {
    end.status = WEXITSTATUS(wait_status);
  } else {
    problems_.push_back(absl::StrCat("the session to ", leader().name(),
                                     " (rank 0) was lost: ssh ",
                                     base::DescribeExit(wait_status)));
  }
  for (const auto& host : hosts_) host->output.Finish();
  end.problems = std::move(problems_);
  return end;
}

bool SshLauncher::MoveUntil(const std::function<bool()>& condition,
                            absl::Time deadline) {
  while (!condition()) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    MoveOnce(std::min(left, kLookInterval));
  }
  return true;
}

void SshLauncher::MoveOnce(absl::Duration at_most) {
  std::vector<pollfd> descriptors = {
      {.fd = wakeup_.fd(), .events = POLLIN, .revents = 0}};
  for (const auto& host : hosts_) {
    host->session->AppendPollFds(descriptors);
  }
  poll(descriptors.data(), descriptors.size(),
       static_cast<int>(absl::ToInt64Milliseconds(at_most)) + 1);
  if (descriptors[0].revents != 0) wakeup_.Sleep(/*timeout_ns=*/0);
  for (const auto& host : hosts_) host->session->Move();
}

void SshLauncher::Note(absl::string_view message) const {
  shown_.err(absl::StrCat("distbench launch: ", message, "\n"));
}

bool SshLauncher::others_have_ended() const {
  return std::all_of(hosts_.begin() + 1, hosts_.end(),
                     [](const auto& host) { return host->has_ended(); });
}

}  // namespace distbench::launching
