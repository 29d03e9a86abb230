// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people write them: "500ms", "200/s", "256KiB". Numbers are
// decimal digits, perhaps with a fraction, without a sign or an exponent.

#ifndef DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_
#define DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace distbench {
class FieldRules;
}  // namespace distbench

namespace distbench::config {

// All of these return INVALID_ARGUMENT for other text. The message quotes the
// text and shows the right form.

// Parses a duration: numbers with their units (ns, us, ms, s, m, h), such as
// "1.5s" or "1h30m". The result is from 0 to 2^63 - 1 nanoseconds, and rounded
// to the nearest one.
absl::StatusOr<absl::Duration> ParseDurationWithUnit(absl::string_view text);

// Parses a rate per second, minute or hour, such as "200/s", "1.5k/s", "2M/s",
// "6/min" or "10/h". The result is per second, positive and finite.
absl::StatusOr<double> ParseRateWithUnit(absl::string_view text);

// Parses a size in B, in kB (or KB), MB or GB, which are powers of 1000, or in
// KiB, MiB or GiB, which are powers of 1024. The result is a whole number of
// bytes, from 0 to 2^53.
absl::StatusOr<int64_t> ParseSizeWithUnit(absl::string_view text);

// Writes such a size with the largest unit of which it is a whole number,
// preferring powers of 1024: "512MiB", "3MB", "100B".
std::string FormatSizeWithUnit(int64_t bytes);

// An amount of memory, or of CPU time.
struct HostAmount {
  enum class Kind {
    kAbsolute,       // bytes, or CPUs
    kPercentOfHost,  // of the host's memory, or of its CPUs
    kUnlimited,
  };

  Kind kind = Kind::kUnlimited;
  double value = 0;  // 0 if unlimited

  friend bool operator==(const HostAmount&, const HostAmount&) = default;
};

// Parses a size ("512MiB"), a share of the host's memory ("75%"), or "max".
// Bytes are whole; shares are above 0 and at most 100 %.
absl::StatusOr<HostAmount> ParseMemoryAmount(absl::string_view text);

// Parses a number of CPUs ("1.5"), a share of the host's ("50%"), or "max".
// CPUs are from kMinCpus to kMaxCpus; shares are above 0 and at most 100 %.
absl::StatusOr<HostAmount> ParseCpuAmount(absl::string_view text);

// The kernel grants CPU time by the millisecond, in periods of 100 ms.
inline constexpr double kMinCpus = 0.01;
inline constexpr double kMaxCpus = 65'536;

// The canonical text of an amount that was parsed.
std::string FormatMemoryAmount(const HostAmount& amount);
std::string FormatCpuAmount(const HostAmount& amount);

// What a text in place of a number comes to, by its unit; within the range of
// the rules.
absl::StatusOr<int64_t> ParseQuantity(absl::string_view text,
                                      const FieldRules& rules);

// The one way to write a text whose rules have several, such as a list of
// indices; a wrong one stays as it is.
std::string CanonicalText(const std::string& text, const FieldRules& rules);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_
