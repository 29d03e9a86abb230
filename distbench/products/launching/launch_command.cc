// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/flags.h"
#include "distbench/products/launching/commands.h"
#include "distbench/products/launching/ssh/launched_rank.h"
#include "distbench/products/launching/ssh/ssh_hosts.h"
#include "distbench/products/launching/ssh/ssh_launch.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/job_secret.h"

namespace distbench::launching {

namespace {

// Longer than any job; the secret is forgotten when the job ends.
constexpr absl::Duration kSecretValidity = absl::Hours(24 * 30);

struct LaunchFlags {
  std::string hosts;
  std::string ssh = "ssh";
  bool copy = false;
  std::string remote_program = "distbench";
  std::string remote_dir;
  std::string logs;
  std::string leader;
  absl::Duration start_timeout = absl::Minutes(2);
  absl::Duration join_timeout = absl::ZeroDuration();
  bool plain = false;
  bool node_on_leader = true;
  std::string listen;
  std::string service_address;
  std::vector<std::string> command;
};

std::vector<std::string> JoinFlags(const LaunchFlags& flags) {
  std::vector<std::string> join;
  if (!flags.node_on_leader) join.emplace_back("--node_on_leader=false");
  if (flags.join_timeout > absl::ZeroDuration()) {
    join.push_back(absl::StrCat("--join_timeout=",
                                absl::FormatDuration(flags.join_timeout)));
  }
  if (!flags.listen.empty()) {
    join.push_back(absl::StrCat("--listen=", flags.listen));
  }
  if (!flags.service_address.empty()) {
    join.push_back(absl::StrCat("--service_address=", flags.service_address));
  }
  return join;
}

absl::Status CheckCopy(const LaunchFlags& flags) {
  if (!flags.copy || flags.command.empty() ||
      flags.command.front() != "test_builder") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--copy copies distbench alone, and not test_builder; write the tests to "
      "a file with test_builder, and give that to run_tests");
}

absl::Status MakeLogFolder(const std::string& logs) {
  if (logs.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(logs, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--logs=", logs, ": ", error.message()));
}

// The program of this process, for the hosts.
absl::StatusOr<absl::Cord> OwnBytes() {
  const absl::StatusOr<std::string> path = cli::OwnProgram();
  if (!path.ok()) return path.status();
  absl::StatusOr<std::string> bytes = base::ReadFile(*path);
  if (!bytes.ok()) return bytes.status();
  return absl::Cord(*std::move(bytes));
}

// The secret is never in a file of this machine.
absl::StatusOr<security::TlsContents> MakeSecret() {
  const absl::Time now = absl::Now();
  return security::IssueJobCertificate(security::kJobName,
                                       now - security::kJobSecretClockTolerance,
                                       now + kSecretValidity);
}

absl::StatusOr<SshLaunch> Prepare(const LaunchFlags& flags) {
  absl::StatusOr<std::vector<SshHost>> hosts = ReadHosts(flags.hosts);
  if (!hosts.ok()) return hosts.status();
  SshLaunch launch = {
      .hosts = *std::move(hosts),
      .ssh = flags.ssh,
      .program = {.path = flags.remote_program, .folder = flags.remote_dir},
      .join_flags = JoinFlags(flags),
      .command = flags.command,
      .start_timeout = flags.start_timeout,
      .logs = flags.logs};
  if (!flags.leader.empty()) {
    absl::StatusOr<SshHost> leader = ParseHostOfFlag("--leader", flags.leader);
    if (!leader.ok()) return leader.status();
    launch.leader = *std::move(leader);
  }
  absl::Status status = CheckCopy(flags);
  if (status.ok()) status = MakeLogFolder(flags.logs);
  if (!status.ok()) return status;
  if (flags.copy) {
    absl::StatusOr<absl::Cord> bytes = OwnBytes();
    if (!bytes.ok()) return bytes.status();
    launch.copy = *std::move(bytes);
  }
  if (!flags.plain) {
    absl::StatusOr<security::TlsContents> secret = MakeSecret();
    if (!secret.ok()) return secret.status();
    launch.secret = *std::move(secret);
  }
  return launch;
}

void Show(std::ostream& stream, absl::string_view bytes) {
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.flush();
}

int ExitCodeOf(const LaunchEnd& end) {
  for (const std::string& problem : end.problems)
    cli::Fail(problem, report::kExitRunFailed);
  const bool went_well = end.problems.empty() && end.status >= 0;
  return went_well || end.status > 0 ? end.status : report::kExitRunFailed;
}

absl::StatusOr<int> Launch(const LaunchFlags& flags) {
  base::StopSignals stop(report::kExitRunFailed);
  absl::StatusOr<SshLaunch> launch = Prepare(flags);
  if (!launch.ok()) return launch.status();
  SshLauncher launcher(
      *std::move(launch),
      {.out = [](absl::string_view bytes) { Show(std::cout, bytes); },
       .err = [](absl::string_view bytes) { Show(std::cerr, bytes); }});
  stop.SetHandler([&launcher] { launcher.Stop(); });
  const absl::StatusOr<LaunchEnd> end = launcher.Run();
  stop.SetHandler({});
  if (!end.ok()) return end.status();
  return ExitCodeOf(*end);
}

void AddHostFlags(CLI::App& command, LaunchFlags& flags) {
  cli::AddTextFlag(
      command, "--hosts", flags.hosts, "FILE|HOST[,HOST...]",
      "The hosts: [USER@]HOST[:PORT], separated by commas, or in a\n"
      "file, one a line, with attributes NAME=VALUE behind them and\n"
      "comments after #. The first one runs COMMAND");
  cli::Require(command, "--hosts");
  cli::AddTextFlag(command, "--ssh", flags.ssh, "COMMAND",
                   "ssh with flags, such as 'ssh -i my_key'; default: ssh");
  cli::AddSwitch(command, "--copy", flags.copy,
                 "Copy this program to the hosts, and remove it at the end");
  cli::AddTextFlag(command, "--remote_program", flags.remote_program, "PATH",
                   "distbench on the hosts; default: distbench, found by PATH");
  cli::Exclude(command, "--copy", "--remote_program");
  cli::AddTextFlag(
      command, "--remote_dir", flags.remote_dir, "DIR",
      "Directory on the hosts in which it runs, and in which --copy\n"
      "makes its own; default: the home directory, and $TMPDIR");
  cli::AddTextFlag(command, "--logs", flags.logs, "DIR",
                   "Keep what each host prints in DIR/HOST.log, or\n"
                   "DIR/HOST:PORT.log if --hosts has a port");
}

void AddJobFlags(CLI::App& command, LaunchFlags& flags) {
  cli::AddTextFlag(
      command, "--leader", flags.leader, "HOST[:PORT]",
      "Where the other hosts reach the first one; default: its name\n"
      "in --hosts, and a free port");
  cli::AddDurationFlag(
      command, "--start_timeout", flags.start_timeout,
      "How long the hosts may take until all are ready, before\n"
      "anything is started, and then the first one until it\n"
      "leads the job; default: 2m");
  cli::AddDurationFlag(command, "--join_timeout", flags.join_timeout,
                       "As of distbench join");
  cli::AddBoolFlag(command, "--node_on_leader", flags.node_on_leader,
                   "Whether the first host is a node, too");
  cli::AddSwitch(command, "--plain", flags.plain,
                 "Without TLS: anyone on the network can read and change\n"
                 "everything");
  cli::AddListenFlag(command, flags.listen, "As of distbench join");
  cli::AddTextFlag(command, "--service_address", flags.service_address,
                   "ADDRESS", "As of distbench join");
}

}  // namespace

void AddLaunchCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "launch", "Runs a job on hosts that are reached by ssh");
  auto flags = std::make_shared<LaunchFlags>();
  AddHostFlags(command, *flags);
  AddJobFlags(command, *flags);
  cli::AddTrailingCommand(command, flags->command);
  cli::SetFooter(
      command,
      "Starts distbench join on every host, with a secret of its own for the\n"
      "job, shows what the first host prints and exits as it does. Nothing is\n"
      "started unless all hosts are ready. SIGINT, SIGTERM, a lost session or\n"
      "the end of this program end it on all hosts; COMMAND keeps what was\n"
      "measured. A second signal does not wait for that.\n\n"
      "The COMMAND after -- is a subcommand of distbench or test_builder. The\n"
      "files that it reads and writes are on the first host. Without it, the\n"
      "nodes wait for tests.\n\n"
      "Examples:\n"
      "  distbench launch --hosts=host1,host2,host3 -- \\\n"
      "      run_tests --infile=my_test.config --outfile=my_test.pb.gz \\\n"
      "      --binary_output\n"
      "  distbench launch --hosts=hosts.txt --copy --logs=logs -- \\\n"
      "      search --infile=my_test.config --slo='query p99<=5ms'");
  cli::SetBody(command, chosen, [flags] { return Launch(*flags); });
}

namespace {

absl::StatusOr<int> RunLaunched(
    const std::vector<std::string>& join_arguments) {
  // A session that is lost takes stdout and stderr with it. What runs here, and
  // inherits this, must not end by that, but in order.
  signal(SIGPIPE, SIG_IGN);
  base::StopSignals stop(report::kExitRunFailed);
  const absl::StatusOr<std::string> program = cli::OwnProgram();
  if (!program.ok()) return program.status();
  const absl::StatusOr<int> wait_status = RunLaunchedRank(
      {.program = *program, .join_arguments = join_arguments}, STDIN_FILENO,
      stop, [](absl::string_view line) { std::cout << line << std::endl; });
  if (!wait_status.ok()) return wait_status.status();
  if (WIFEXITED(*wait_status)) return WEXITSTATUS(*wait_status);
  return cli::Fail(
      absl::StrCat("distbench join ", base::DescribeExit(*wait_status)),
      report::kExitRunFailed);
}

}  // namespace

void AddLaunchedCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "launched", "Runs one host's part of a job for distbench launch");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  auto arguments = std::make_shared<std::vector<std::string>>();
  cli::AddTrailingCommand(command, *arguments);
  cli::SetBody(command, chosen,
               [arguments] { return RunLaunched(*arguments); });
}

}  // namespace distbench::launching
