// Amounts and devices in the settings of control groups (ControlSet).

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_AMOUNTS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_AMOUNTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::protection {

// An amount of memory, or of CPU time.
struct ControlAmount {
  enum class Kind {
    kAbsolute,       // bytes, or CPUs
    kPercentOfHost,  // of the host's memory, or of its CPUs
    kUnlimited,
  };

  Kind kind = Kind::kUnlimited;
  double value = 0;  // 0 if unlimited

  friend bool operator==(const ControlAmount& a, const ControlAmount& b) {
    return a.kind == b.kind && a.value == b.value;
  }
};

// These return INVALID_ARGUMENT for other text, with a message that quotes it
// and shows the right form.

// Parses a size ("512MiB"), a share of the host's memory ("75%"), or "max".
// Bytes are whole; shares are above 0 and at most 100 %.
absl::StatusOr<ControlAmount> ParseMemoryAmount(absl::string_view text);

// Parses a number of CPUs ("1.5"), a share of the host's ("50%"), or "max".
// CPUs are from kMinCpus to kMaxCpus; shares are above 0 and at most 100 %.
absl::StatusOr<ControlAmount> ParseCpuAmount(absl::string_view text);

// The kernel grants CPU time by the millisecond, in periods of 100 ms.
inline constexpr double kMinCpus = 0.01;
inline constexpr double kMaxCpus = 65'536;

// The canonical text of an amount that was parsed.
std::string FormatMemoryAmount(const ControlAmount& amount);
std::string FormatCpuAmount(const ControlAmount& amount);

// Whether the text can name a block device: "nvme0n1", or by its numbers
// "259:0".
bool IsBlockDevice(absl::string_view text);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_CONTROL_AMOUNTS_H_
