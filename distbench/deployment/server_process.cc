#include "distbench/deployment/server_process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

namespace distbench {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(15);
constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::vector<std::string>& arguments) {
  FileDescriptor output;
  absl::StatusOr<ChildProcess> process =
      ChildProcess::Start({.path = arguments.front(),
                           .arguments = arguments,
                           .ends_with_parent = true},
                          &output);
  if (!process.ok()) return process.status();
  return std::unique_ptr<ServerProcess>(
      new ServerProcess(*std::move(process), std::move(output),
                        absl::StrJoin(arguments, " ")));
}

ServerProcess::ServerProcess(ChildProcess process, FileDescriptor output,
                             std::string name)
    : process_(std::move(process)),
      output_(std::move(output)),
      name_(std::move(name)) {}

ServerProcess::~ServerProcess() {
  Terminate();
  const absl::Time deadline = absl::Now() + kEndPatience;
  absl::Duration pause = absl::ZeroDuration();
  while (!process_.HasEnded(pause) && absl::Now() < deadline) {
    // What it says meanwhile is read, so that it is not blocked by that.
    pause = ReadSome(absl::Now()) ? absl::ZeroDuration() : kPollInterval;
  }
}

void ServerProcess::Terminate() { process_.Signal(SIGTERM); }

bool ServerProcess::ReadSome(absl::Time deadline) {
  pollfd event = {.fd = output_.get(), .events = POLLIN, .revents = 0};
  const int64_t patience_ms =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - absl::Now()));
  if (poll(&event, 1, static_cast<int>(patience_ms)) <= 0) return false;
  char bytes[4096];
  const ssize_t count = read(output_.get(), bytes, sizeof(bytes));
  if (count <= 0) return false;
  text_.append(bytes, count);
  return true;
}

absl::StatusOr<std::string> ServerProcess::WaitForLine(absl::string_view text,
                                                       absl::Time deadline) {
  do {
    for (const absl::string_view line : absl::StrSplit(text_, '\n')) {
      if (line.find(text) != absl::string_view::npos &&
          text_.find('\n', line.data() - text_.data()) != std::string::npos) {
        return std::string(line);
      }
    }
  } while (ReadSome(deadline));
  return absl::AbortedError(absl::StrCat(
      "\"", name_, "\" did not say \"", text, "\"; its output: ", text_));
}

}  // namespace distbench
