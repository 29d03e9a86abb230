// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_program.h"

#include <gnu/libc-version.h>
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/version.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/hosting/engine_messages.h"
#include "google/protobuf/text_format.h"

namespace distbench::hosting {
namespace {

// A program that needs longer than this to describe itself is no engine.
constexpr absl::Duration kDescribePatience = absl::Seconds(10);

absl::Status NoEngine(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, " ", what,
      "; it must be a program of distbench: distbench or distbench_engine, of "
      "another build"));
}

// Runs the program, and returns what it prints.
absl::StatusOr<std::string> AskProgram(const std::string& path) {
  base::FileDescriptor output;
  auto program = base::ChildProcess::Start(
      {.path = path,
       .arguments = {path, kEngineSubcommand, kDescribeFlag},
       .ends_with_parent = true,
       .end_signal = SIGKILL},
      &output);
  if (!program.ok()) return program.status();
  // A program that goes on for ever is killed by Finish(), which ends its
  // output: not before it has had the time to describe itself.
  const bool has_ended = program->HasEnded(kDescribePatience);
  const int wait_status = program->Finish();
  if (!has_ended) {
    return NoEngine(path,
                    absl::StrCat("did not describe itself within ",
                                 absl::FormatDuration(kDescribePatience)));
  }
  // All of it fits in the pipe, also what a program says that is no engine.
  absl::StatusOr<std::string> text =
      base::ReadFile(absl::StrCat("/proc/self/fd/", output.get()));
  if (!text.ok()) return text.status();
  if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != EXIT_SUCCESS) {
    const std::string said(absl::StripAsciiWhitespace(*text));
    return NoEngine(path, absl::StrCat(base::DescribeExit(wait_status),
                                       " when asked to describe itself",
                                       said.empty() ? "" : ": ", said));
  }
  return text;
}

absl::StatusOr<EngineProgram> Describe(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot run ", path));
  }
  const absl::StatusOr<std::string> text = AskProgram(path);
  if (!text.ok()) return text.status();
  EngineProgram description;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // a later version's
  if (!parser.ParseFromString(*text, &description) ||
      !description.has_engine_protocol()) {
    return NoEngine(path, "did not describe itself as an engine does");
  }
  if (!base::WorkTogether(base::kEngineProtocol,
                          description.engine_protocol())) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " speaks version ", description.engine_protocol(),
        " of the protocol of engines, and this distbench version ",
        base::kEngineProtocol,
        ", which works with the one before and the one after; build both from "
        "sources that are closer"));
  }
  return description;
}

absl::Status AddEngine(const std::string& flag, EnginePrograms& engines) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(flag, absl::MaxSplits('=', 1));
  const auto& [name, path] = parts;
  if (name.empty() || !config::IsPlain(name) || path.empty()) {
    return absl::InvalidArgumentError(
        "must be NAME=PATH, with a name of letters, digits, '_', '-' and '.', "
        "such as new=/opt/distbench/bin/distbench");
  }
  if (engines.contains(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are two engines \"", name, "\"; rename one"));
  }
  absl::StatusOr<EngineProgram> description = Describe(path);
  if (!description.ok()) return description.status();
  description->set_name(name);
  engines[name] = {.path = path, .description = *std::move(description)};
  return absl::OkStatus();
}

}  // namespace

void AddVersions(google::protobuf::Map<std::string, std::string>& versions) {
  versions["distbench"] = std::string(base::ProgramVersion());
  versions["grpc"] = grpc::Version();
  versions["protobuf"] =
      google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  versions["libc"] = gnu_get_libc_version();
  versions["compiler"] = __VERSION__;
}

EngineProgram DescribeThisProgram() {
  EngineProgram program;
  AddVersions(*program.mutable_versions());
  if (!base::SourceRevision().empty()) {
    (*program.mutable_versions())["revision"] =
        std::string(base::SourceRevision());
  }
  program.set_engine_protocol(base::kEngineProtocol);
  for (std::string& driver : config::BuiltInDriverNames()) {
    program.add_drivers(std::move(driver));
  }
  return program;
}

absl::StatusOr<EnginePrograms> FindEngines(
    const std::vector<std::string>& flags) {
  EnginePrograms engines;
  for (const std::string& flag : flags) {
    const absl::Status status = AddEngine(flag, engines);
    if (status.ok()) continue;
    return absl::Status(
        status.code(), absl::StrCat("--engine=", flag, ": ", status.message()));
  }
  return engines;
}

}  // namespace distbench::hosting
