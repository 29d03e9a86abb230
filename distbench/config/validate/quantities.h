// Fields that hold a quantity with its unit, such as Iterations.rate, beside a
// field for the same as a number. A canonical test has only the numbers.

#ifndef DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_
#define DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/problems/problem.h"
#include "google/protobuf/message.h"

namespace distbench::config {

// Replaces each quantity of the message by its number. Leaves those that
// CheckQuantities() reports.
void ReplaceQuantities(google::protobuf::Message& message);

// Adds a problem for each quantity of the message, which is at `path`, whose
// text is wrong or out of its number's range, and for each that is beside its
// number. Does not check submessages.
void CheckQuantities(const google::protobuf::Message& message, const Path& path,
                     Problems& problems);

// A quantity of a type of messages.
struct Quantity {
  int text_field;
  int number_field;  // an int64

  // Returns the number for a text, or INVALID_ARGUMENT.
  absl::StatusOr<int64_t> (*parse)(absl::string_view text);

  // The number's range, and the same for messages.
  int64_t minimum;
  int64_t maximum;
  const char* range;
};

// A time from a microsecond up to kMaxTimeUs, as a number of microseconds.
Quantity TimeUs(int text_field, int number_field);

// The same, for a message of a product, which has these quantities.
void ReplaceQuantities(absl::Span<const Quantity> quantities,
                       google::protobuf::Message& message);
void CheckQuantities(absl::Span<const Quantity> quantities,
                     const google::protobuf::Message& message, const Path& path,
                     Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_
