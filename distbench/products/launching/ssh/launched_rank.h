// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One host's part of a job that `distbench launch` started: what runs at the
// other end of an ssh session.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/wakeup.h"

namespace distbench::base {
class StopSignals;
}  // namespace distbench::base

namespace distbench::launching {

struct LaunchedRank {
  // The path of distbench.
  std::string program;

  // Arguments of its command join, without the leader and the secret.
  std::vector<std::string> join_arguments;
};

// Says that it is ready, waits for the start message on `input`, and runs
// `distbench join` until that ends, a stop is requested, or the input ends. In
// the latter cases, join gets SIGTERM, and a minute to keep what it measured.
// Returns the wait status, as waitpid(2) does.
//
// `say` gets lines of start_message.h, without line feed, for launch. The
// secret is only in memory: join finds it in a private folder, by names that
// end with this process.
absl::StatusOr<int> RunLaunchedRank(
    const LaunchedRank& rank, int input, base::StopSignals& stop,
    const std::function<void(absl::string_view line)>& say);

// A fresh folder of mode 0700, which this object removes with its contents. It
// is in memory where the host allows that, so that no disk ever has it.
class PrivateFolder {
 public:
  static absl::StatusOr<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, "")) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Waits for the end of an input, beside what a program does otherwise.

// Calls a function, on a thread of its own, when an input ends: a pipe, socket
// or file whose writers are gone. What is read until then is thrown away.
class InputWatch {
 public:
  // `input` must stay open during this object's lifetime.
  InputWatch(int input, std::function<void()> at_end);

  // Afterwards the function is not called any more.
  ~InputWatch();

  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

 private:
  void Watch(int input, const std::function<void()>& at_end);

  base::Wakeup end_of_watch_;
  std::thread thread_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_
