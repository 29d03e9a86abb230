// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/join_command.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/version.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/node_flags.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/flags.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/hosting/process_engines.h"
#include "distbench/products/launching/commands.h"
#include "distbench/products/launching/job/job.h"
#include "distbench/products/launching/job/launcher_environment.h"
#include "distbench/products/launching/job/leader_location.h"
#include "distbench/products/launching/job/place_in_job.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/authorization.h"
#include "distbench/security/credentials.h"
#include "distbench/security/job_secret.h"
#include "distbench/security/tls_files.h"
#include "proto/traffic_config.pb.h"

namespace distbench::launching {

namespace {

namespace fs = std::filesystem;

constexpr char kTestBuilder[] = "test_builder";

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

absl::StatusOr<std::string> FindTestBuilder(const std::string& own_program,
                                            const std::string& search_path) {
  const fs::path beside = fs::path(own_program).parent_path() / kTestBuilder;
  if (IsProgram(beside)) return beside.string();
  for (const absl::string_view folder :
       absl::StrSplit(search_path, ':', absl::SkipEmpty())) {
    const fs::path path = fs::path(std::string(folder)) / kTestBuilder;
    if (IsProgram(path)) return path.string();
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no test_builder beside ", own_program,
      " and none in PATH; install it there (scripts/install.sh does)"));
}

// The subcommands that users see. A job within the job would wait for itself.
std::vector<std::string> PossibleCommands(const CLI::App& app) {
  std::vector<std::string> names = {kTestBuilder};
  for (const CLI::App* command : flags::CommandsOf(app)) {
    std::string name = flags::FullName(*command);
    if (name != "join") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

absl::StatusOr<JobCommand> FindTrailingProgram(
    const CLI::App& app, const std::vector<std::string>& words,
    const std::string& search_path) {
  if (words.empty()) return JobCommand();
  absl::StatusOr<std::string> own_program = cli::OwnProgram();
  if (!own_program.ok()) return own_program.status();
  if (words.front() == kTestBuilder) {
    absl::StatusOr<std::string> path =
        FindTestBuilder(*own_program, search_path);
    if (!path.ok()) return path.status();
    return JobCommand{.path = *std::move(path), .arguments = words};
  }
  const std::vector<std::string> names = PossibleCommands(app);
  if (std::find(names.begin(), names.end(), words.front()) == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(words.front()),
                     " after -- is no command that a job can run; ",
                     config::Suggestion(words.front(), names)));
  }
  JobCommand command = {.path = *std::move(own_program),
                        .arguments = {"distbench"}};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return command;
}

namespace {

constexpr char kSecretVariable[] = "DISTBENCH_SECRET";

struct JoinFlags {
  PlaceFlags place;
  LeaderFlags leader;
  std::string secret;
  bool is_plain = false;
  bool node_on_leader = true;
  absl::Duration join_timeout = JobOptions().join_timeout;
  absl::Duration leader_timeout = JobOptions().leader_timeout;
  cli::NodeFlags node;
  std::vector<std::string> attributes;
  std::vector<std::string> command;
};

// No files: the user wants no TLS.
absl::StatusOr<security::TlsFiles> FindSecret(
    const JoinFlags& flags, const LauncherEnvironment& environment) {
  if (flags.is_plain) {
    if (flags.secret.empty()) return security::TlsFiles();
    return absl::InvalidArgumentError(
        "--plain and --secret exclude each other; give one");
  }
  const std::string directory =
      !flags.secret.empty() ? flags.secret
                            : environment.Get(kSecretVariable).value_or("");
  if (!directory.empty()) return security::FindJobSecret(directory);
  return absl::InvalidArgumentError(
      "a job needs a secret, which keeps others out: make one with distbench "
      "make_secret DIR, and give --secret=DIR to all of its processes; or give "
      "--plain where everyone who can reach the ports may use the hosts");
}

absl::StatusOr<NodeAttributes> FindAttributes(
    const JoinFlags& flags, const LauncherEnvironment& environment) {
  absl::StatusOr<cli::NodeArguments> arguments =
      cli::ParseNodeArguments(flags.attributes);
  if (!arguments.ok()) return arguments.status();
  if (arguments->preassigned_id >= 0) {
    return absl::InvalidArgumentError(
        "a node of a job is named after its rank: node2 is that of rank 2; "
        "leave the name out");
  }
  return MergeAttributes(environment, arguments->attributes);
}

// Everything but the node, which `MakeNode` adds.
absl::StatusOr<JobOptions> MakeJob(const CLI::App& app, const JoinFlags& flags,
                                   const LauncherEnvironment& environment) {
  const absl::StatusOr<PlaceInJob> place =
      FindPlaceInJob(flags.place, environment);
  if (!place.ok()) return place.status();
  JobOptions job;
  job.place = *place;
  job.node_on_leader = flags.node_on_leader;
  if (place->size == 1 && !flags.node_on_leader) {
    return absl::InvalidArgumentError(
        "a job of one process with --node_on_leader=false has no node; start "
        "more processes, or leave the flag out");
  }
  // Nobody else needs to find a leader who is alone.
  absl::StatusOr<LeaderLocation> leader = FindLeader(flags.leader, environment);
  if (!leader.ok() && place->size > 1) return leader.status();
  if (leader.ok()) job.leader = *std::move(leader);
  absl::StatusOr<JobCommand> command = FindTrailingProgram(
      app, flags.command, environment.Get("PATH").value_or(""));
  // Only the leader needs to have test_builder.
  const bool is_missing = absl::IsNotFound(command.status());
  if (!command.ok() && (place->is_leader() || !is_missing)) {
    return command.status();
  }
  if (command.ok()) job.command = *std::move(command);
  job.join_timeout = flags.join_timeout;
  job.leader_timeout = flags.leader_timeout;
  job.revision = std::string(base::SourceRevision());
  job.say = [](absl::string_view line) {
    std::cerr << absl::StrCat("distbench: ", line, "\n") << std::flush;
  };
  return job;
}

absl::Status MakeNode(const JoinFlags& flags,
                      const LauncherEnvironment& environment,
                      const std::optional<NumaBinding>& binding,
                      hosting::EngineFactory& engines, JobOptions& job) {
  if (absl::Status status = cli::CheckNodeFlags(flags.node); !status.ok()) {
    return status;
  }
  const absl::StatusOr<security::TlsFiles> secret =
      FindSecret(flags, environment);
  if (!secret.ok()) return secret.status();
  const auto tls =
      security::TlsCredentials::Load(*secret, security::TlsRole::kNode);
  if (!tls.ok()) return tls.status();
  absl::StatusOr<NodeAttributes> attributes =
      FindAttributes(flags, environment);
  if (!attributes.ok()) return attributes.status();
  job.node = cli::ToNodeOptions(flags.node, binding, engines);
  job.node.tls = *tls;
  job.node.attributes = *std::move(attributes);
  for (std::string* address :
       {&job.node.listen_address, &job.node.service_address}) {
    const absl::StatusOr<std::string> found = cli::AddressOrDevice(*address);
    if (!found.ok()) return found.status();
    *address = *found;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunJoin(const CLI::App& app, const JoinFlags& flags) {
  const absl::StatusOr<std::optional<NumaBinding>> binding =
      cli::BindAsFlagged(flags.node);
  if (!binding.ok()) return binding.status();
  const LauncherEnvironment environment = LauncherEnvironment::OfThisProcess();
  absl::StatusOr<JobOptions> job = MakeJob(app, flags, environment);
  if (!job.ok()) return job.status();
  base::StopSignals stop(report::kExitRunFailed);
  absl::StatusOr<hosting::EnginePrograms> programs =
      hosting::FindEngines(flags.node.engines);
  if (!programs.ok()) return programs.status();
  hosting::ProcessEngines engines(flags.node.engine_limits,
                                  *std::move(programs));
  if (absl::Status status =
          MakeNode(flags, environment, *binding, engines, *job);
      !status.ok()) {
    return status;
  }
  if (flags.is_plain && job->place.is_leader()) {
    job->say(cli::SequencerExposure(job->node.listen_address,
                                    security::TlsFiles(),
                                    security::AccessRules()));
  }
  const JobEnd end =
      job->place.is_leader() ? LeadJob(*job, stop) : JoinJob(*job, stop);
  return end.error.empty() ? end.exit_status
                           : cli::Fail(end.error, end.exit_status);
}

void AddPlaceFlags(CLI::App& command, JoinFlags& flags) {
  cli::AddTextFlag(command, "--size", flags.place.size, "N|auto",
                   "Number of the job's processes; auto, the default: as the\n"
                   "launcher says (SLURM_NTASKS, DISTBENCH_SIZE,\n"
                   "OMPI_COMM_WORLD_SIZE, PMI_SIZE)");
  cli::AddTextFlag(command, "--rank", flags.place.rank, "R|auto",
                   "Which of them this is, from 0; auto, the default: as the\n"
                   "launcher says (SLURM_PROCID, JOB_COMPLETION_INDEX,\n"
                   "OMPI_COMM_WORLD_RANK, PMI_RANK)");
  cli::AddTextFlag(command, "--leader", flags.leader.leader, "HOST[:PORT]",
                   "Where rank 0 is; default: DISTBENCH_LEADER, --rendezvous,\n"
                   "or the first host of SLURM_STEP_NODELIST");
  cli::AddNumberFlag(command, "--port", flags.leader.port, 0, 65535, "PORT",
                     "Port of rank 0; default: a free one with --rendezvous,\n"
                     "with Slurm one that follows from the job's number, else\n"
                     "10000");
  cli::AddTextFlag(
      command, "--rendezvous", flags.leader.rendezvous, "DIR",
      "Directory that all hosts share, in which rank 0 says where\n"
      "it is; default: DISTBENCH_RENDEZVOUS");
}

void AddJobFlags(CLI::App& command, JoinFlags& flags) {
  cli::AddTextFlag(command, "--secret", flags.secret, "DIR",
                   "The job's secret, made by distbench make_secret: TLS for\n"
                   "everything; default: DISTBENCH_SECRET");
  cli::AddSwitch(command, "--plain", flags.is_plain,
                 "No secret: without TLS, anybody who can reach the ports\n"
                 "can use the job's hosts");
  cli::AddBoolFlag(command, "--node_on_leader", flags.node_on_leader,
                   "Whether rank 0 is a node, too");
  cli::AddDurationFlag(command, "--join_timeout", flags.join_timeout,
                       "How long all processes may take to join; default: 60s");
  cli::AddDurationFlag(
      command, "--leader_timeout", flags.leader_timeout,
      "How long the others look for rank 0 when they have lost\n"
      "it, before they end; default: 30s");
}

}  // namespace

void AddJoinCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "join", "Makes this process a part of a job, as the launcher says");
  auto flags = std::make_shared<JoinFlags>();
  cli::AddArguments(command, "ATTRIBUTES", flags->attributes, "ATTRIBUTES",
                    "name=value: attributes for the service constraints of\n"
                    "tests; those that the launcher tells are there already");
  AddPlaceFlags(command, *flags);
  AddJobFlags(command, *flags);
  cli::AddNodeFlags(command, flags->node);
  cli::AddTrailingCommand(command, flags->command);
  cli::SetFooter(
      command,
      "The same command, started once on each host, makes a cluster: rank 0 "
      "is\n"
      "the sequencer and a node, the others are nodes. When all are there,\n"
      "rank 0 runs the COMMAND after --, which is a subcommand of distbench "
      "or\n"
      "test_builder and needs no --test_sequencer. The status of the COMMAND "
      "is\n"
      "that of rank 0, and the others end. Without a COMMAND, rank 0 serves\n"
      "until SIGTERM. --listen and --service_address also take the name of a\n"
      "network device.\n\n"
      "Examples, with Slurm and by hand:\n"
      "  distbench make_secret secret\n"
      "  srun --ntasks-per-node=1 distbench join --secret=secret \\\n"
      "      --rendezvous=secret -- run_tests --infile=my_test.config\n"
      "  distbench join --rank=0 --size=2 --leader=host1 --secret=secret \\\n"
      "      -- run_tests --infile=my_test.config");
  cli::SetBody(command, chosen, [flags, &app] { return RunJoin(app, *flags); });
}

}  // namespace distbench::launching
