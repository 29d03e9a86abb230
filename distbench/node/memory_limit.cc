#include "distbench/node/memory_limit.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/host_memory.h"
#include "distbench/node/proc_files.h"

namespace distbench {
namespace {

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

MemoryLimit::MemoryLimit(int64_t max_bytes, std::string root)
    : is_default_(max_bytes == 0),
      root_(std::move(root)),
      max_bytes_(is_default_ ? AllowedMemoryBytes(root_) / 10 * 9 : max_bytes),
      least_available_(is_default_ ? ReadMemInfoBytes(root_, "MemTotal") / 20
                                   : 0) {}

absl::Status MemoryLimit::Check(int64_t engine_bytes) const {
  const int64_t bytes = ReadResidentBytes(root_) + engine_bytes;
  if (max_bytes_ == 0 || bytes <= max_bytes_) return CheckHost(bytes);
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too much memory used: ", Mebibytes(bytes), ", but ",
      is_default_ ? "nine tenths of what the host or its control group allows "
                    "are "
                  : "the test's overload_limits allow ",
      Mebibytes(max_bytes_),
      "; have fewer or smaller RPCs in flight, fewer samples "
      "(sample_memory_bytes) or fewer instances on the node, or raise "
      "max_memory_bytes"));
}

absl::Status MemoryLimit::CheckHost(int64_t bytes) const {
  const int64_t available = ReadMemInfoBytes(root_, "MemAvailable");
  if (available == 0 || available >= least_available_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too little memory left on the host: ", Mebibytes(available),
      ", while this node uses ", Mebibytes(bytes),
      "; below a twentieth of all it begins to swap, or worse: look for what "
      "uses the rest, or set the test's overload_limits.max_memory_bytes"));
}

}  // namespace distbench
