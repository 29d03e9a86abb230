#ifndef DISTBENCH_BASE_START_THREAD_H_
#define DISTBENCH_BASE_START_THREAD_H_

#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Turns std::thread's exception into RESOURCE_EXHAUSTED. `what` completes
// "cannot start a thread for".
inline absl::Status NoThreadError(absl::string_view what,
                                  const std::system_error& error) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot start a thread for ", what, ": ", error.code().message(),
      "; let the test need fewer threads, or raise the system's limits of "
      "threads and memory"));
}

// Starts a thread that runs `body`; NoThreadError() if the system refuses it.
// For threads whose number depends on input: a failing std::thread would end
// the process.
template <typename Body>
absl::StatusOr<std::thread> StartThread(absl::string_view what, Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    return NoThreadError(what, error);
  }
}

}  // namespace distbench

#endif  // DISTBENCH_BASE_START_THREAD_H_
