// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What one host of a launched job writes.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_HOST_OUTPUT_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_HOST_OUTPUT_H_

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/launching/ssh/ssh_session.h"

namespace distbench::launching {

// Where the output of the leader is shown.
struct ShownOutput {
  std::function<void(absl::string_view bytes)> out;
  std::function<void(absl::string_view bytes)> err;
};

// Takes a host's output: finds the lines that are for `launch`
// (start_message.h) and keeps the rest in a log and, shortened, in memory. Not
// thread-safe.
class HostOutput {
 public:
  // Writes everything to a file, which is made anew. The error names it.
  absl::Status LogTo(const std::string& path);

  // Shows what comes after the host was ready. What its login shell may write
  // before that is no output of the job.
  void Show(ShownOutput shown) { shown_ = std::move(shown); }

  void Add(SshStream stream, absl::string_view bytes);

  // Takes what came last without a line feed for a line.
  void Finish();

  bool is_ready() const { return is_ready_; }
  std::optional<int> port() const { return port_; }

  // The last lines of both streams, each indented and with a line feed.
  std::string LastWords() const;

 private:
  void AddLines(absl::string_view bytes);
  void Keep(SshStream stream, absl::string_view bytes);

  std::ofstream log_;
  ShownOutput shown_;
  bool is_ready_ = false;
  std::optional<int> port_;
  std::string begun_line_;  // of stdout
  std::string tail_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_HOST_OUTPUT_H_
