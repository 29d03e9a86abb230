// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/host_providers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/cli/command.h"
#include "distbench/report/findings/findings.h"
#include "optional_libraries.h"

#if DISTBENCH_HAS_LIBFABRIC
#include "distbench/products/libfabric/fabric.h"
#endif

namespace distbench::libfabric {
namespace {

// Looking takes some milliseconds. This is for hosts that are busy.
constexpr absl::Duration kPatience = absl::Seconds(5);

HostFacts NotKnown(absl::string_view problem) {
  HostFacts facts;
  facts.set_libfabric_problem(std::string(problem));
  return facts;
}

HostFacts ParseAnswer(const std::string& bytes) {
  HostFacts answer;
  if (!answer.ParseFromString(bytes)) {
    return NotKnown("the process that looked for providers gave no answer");
  }
  HostFacts facts;
  facts.mutable_libfabric_providers()->Swap(
      answer.mutable_libfabric_providers());
  if (answer.has_libfabric_problem()) {
    facts.set_libfabric_problem(answer.libfabric_problem());
  }
  return facts;
}

// What a child that has ended has written; it fits into the pipe.
std::string ReadPipe(const base::FileDescriptor& pipe) {
  std::string bytes;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(pipe.get(), buffer, sizeof(buffer))) > 0) {
    bytes.append(buffer, static_cast<size_t>(count));
  }
  return bytes;
}

// Empty in builds without libfabric.
HostFacts ListProviders() {
  HostFacts facts;
#if DISTBENCH_HAS_LIBFABRIC
  if (const std::string& problem = Libfabric().problem; !problem.empty()) {
    facts.set_libfabric_problem(problem);
    return facts;
  }
  for (const std::string& name : ListLibfabricProviders()) {
    facts.add_libfabric_providers(name);
  }
#endif
  return facts;
}

int RunProvidersCommand() {
  if (TellProviders(ListProviders())) return report::kExitOk;
  return cli::Fail(
      absl::InvalidArgumentError(
          "node managers start this themselves; see: distbench help "
          "node_manager"),
      report::kExitUsage);
}

}  // namespace

void AddProvidersCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, kProvidersSubcommand, "Tells a node manager libfabric's providers");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  cli::SetBody(command, chosen, RunProvidersCommand);
}

bool TellProviders(const HostFacts& facts) {
  struct stat pipe = {};
  if (fstat(base::ChildProgram::kInheritedNumber, &pipe) != 0 ||
      !S_ISFIFO(pipe.st_mode)) {
    return false;
  }
  return base::WriteAll(base::ChildProgram::kInheritedNumber,
                        facts.SerializeAsString());
}

HostFacts FindProviders() {
#if DISTBENCH_HAS_LIBFABRIC
  return FindProviders(
      {.path = "/proc/self/exe",  // also if the program's file was replaced
       .arguments = {"distbench", kProvidersSubcommand}},
      kPatience);
#else
  return NotKnown("distbench was built without libfabric-dev");
#endif
}

HostFacts FindProviders(base::ChildProgram program, absl::Duration patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return NotKnown(absl::ErrnoToStatus(errno, "cannot make a pipe").message());
  }
  const base::FileDescriptor from_child(ends[0]);
  base::FileDescriptor to_parent(ends[1]);
  program.inherited = to_parent.get();
  program.ends_with_parent = true;
  program.end_signal = SIGKILL;
  auto child = base::ChildProcess::Start(std::move(program));
  to_parent = base::FileDescriptor();
  if (!child.ok()) return NotKnown(child.status().message());
  const bool has_ended = child->HasEnded(patience);
  const int exit = child->Finish();
  if (!has_ended) {
    return NotKnown(absl::StrCat("looking for providers took longer than ",
                                 absl::FormatDuration(patience)));
  }
  if (exit != 0) {
    return NotKnown(absl::StrCat("the process that looked for providers ",
                                 base::DescribeExit(exit)));
  }
  return ParseAnswer(ReadPipe(from_child));
}

std::optional<std::string> ProvidersOf(const HostFacts& host) {
  std::set<std::string> names(host.libfabric_providers().begin(),
                              host.libfabric_providers().end());
  for (const std::string& name : host.libfabric_providers()) {
    names.insert(name.substr(0, name.find(';')));
  }
  if (names.empty()) return std::nullopt;
  return absl::StrJoin(names, ",");
}

}  // namespace distbench::libfabric
