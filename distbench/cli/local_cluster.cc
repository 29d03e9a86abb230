// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/local_cluster.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/security/job_secret.h"

namespace distbench::cli {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(15);

// On one host, a node's end is noticed at once by its closed connection. A node
// that is slow because overload is being measured must not be declared lost.
constexpr char kNodeTimeout[] = "--node_timeout=60s";

// Nobody reads the output of a process that has said that it is ready, which
// must neither end nor hold up what it measures.
constexpr char kUnheard[] = "trap '' PIPE; exec \"$@\"";

// Returns the line of output that contains the text, once it is complete. The
// error quotes the output instead.
absl::StatusOr<std::string> WaitForLine(absl::string_view who,
                                        absl::string_view text,
                                        const base::FileDescriptor& output,
                                        absl::Time deadline) {
  std::string said;
  while (true) {
    const size_t found = said.find(text.data(), 0, text.size());
    const size_t end = said.find('\n', found);
    if (found != std::string::npos && end != std::string::npos) {
      const size_t begin = said.rfind('\n', found) + 1;  // npos + 1 is 0
      return said.substr(begin, end - begin);
    }
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    pollfd event = {.fd = output.get(), .events = POLLIN, .revents = 0};
    const int ready =
        poll(&event, 1, static_cast<int>(std::max<int64_t>(left_ms, 0)));
    if (ready < 0 && errno == EINTR) continue;
    char bytes[4096];
    const ssize_t count =
        ready > 0 ? read(output.get(), bytes, sizeof(bytes)) : 0;
    if (count <= 0) {
      return absl::AbortedError(
          absl::StrCat(who, " did not say \"", text, "\"; its output: ", said));
    }
    said.append(bytes, count);
  }
}

}  // namespace

absl::Status LocalCluster::MakeSecret() {
  const absl::Time now = absl::Now();
  const absl::StatusOr<security::TlsContents> secret =
      security::IssueJobCertificate(security::kJobName,
                                    now - security::kJobSecretClockTolerance,
                                    now + security::kLongestJobSecret);
  if (!secret.ok()) return secret.status();
  const absl::Status kept = secret_.Update(*secret);
  if (!kept.ok()) return kept;
  tls_ = secret_.FilesForOthers();
  tls_.name = security::kJobName;
  return absl::OkStatus();
}

absl::StatusOr<base::FileDescriptor> LocalCluster::StartProcess(
    std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", kUnheard, "sh"});
  arguments.push_back(absl::StrCat("--tls_ca=", tls_.ca));
  arguments.push_back(absl::StrCat("--tls_cert=", tls_.cert));
  arguments.push_back(absl::StrCat("--tls_key=", tls_.key));
  base::FileDescriptor output;
  absl::StatusOr<base::ChildProcess> process = base::ChildProcess::Start(
      {.path = arguments.front(),
       .arguments = arguments,
       // Those of the user are for another sequencer.
       .more_environment = flags::NoConnectionDefaults(),
       .ends_with_parent = true},
      &output);
  if (!process.ok()) return process.status();
  processes_.push_back(*std::move(process));
  return output;
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(
    const std::string& program,
    const std::vector<std::vector<std::string>>& node_flags,
    absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  const absl::Status secret = cluster->MakeSecret();
  if (!secret.ok()) return secret;
  std::vector<base::FileDescriptor> outputs;
  const auto start = [&](std::vector<std::string> arguments) -> absl::Status {
    absl::StatusOr<base::FileDescriptor> output =
        cluster->StartProcess(std::move(arguments));
    if (output.ok()) outputs.push_back(*std::move(output));
    return output.status();
  };
  absl::Status status = start({program, "test_sequencer", "--listen=127.0.0.1",
                               "--port=0", kNodeTimeout});
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> line =
      WaitForLine("the sequencer", "Listening at ", outputs[0], deadline);
  if (!line.ok()) return line.status();
  cluster->address_ = std::string(absl::StripPrefix(*line, "Listening at "));

  for (const std::vector<std::string>& flags : node_flags) {
    std::vector<std::string> arguments = {
        program,
        "node_manager",
        absl::StrCat("node", outputs.size() - 1),
        absl::StrCat("--test_sequencer=", cluster->address_),
        "--service_address=127.0.0.1",
        absl::StrCat("--tls_name=", cluster->tls_.name),
        "--plain_traffic"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    status = start(std::move(arguments));
    if (!status.ok()) return status;
  }
  for (size_t i = 1; i < outputs.size(); ++i) {
    status = WaitForLine(absl::StrCat("node", i - 1), " registered with ",
                         outputs[i], deadline)
                 .status();
    if (!status.ok()) return status;
  }
  return cluster;
}

// Nodes end before the sequencer, which they would otherwise miss. All of them
// are told first, because each takes its time.
LocalCluster::~LocalCluster() {
  for (size_t i = 1; i < processes_.size(); ++i) processes_[i].Signal(SIGTERM);
  while (!processes_.empty()) {
    processes_.back().Signal(SIGTERM);
    processes_.back().HasEnded(kEndPatience);
    processes_.pop_back();  // which kills it
  }
}

}  // namespace distbench::cli
