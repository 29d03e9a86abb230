// Quantities as people write them: "500ms", "200/s", "256KiB". Numbers are
// decimal digits, perhaps with a fraction, without a sign or an exponent.

#ifndef DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_
#define DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

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

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_QUANTITY_H_
