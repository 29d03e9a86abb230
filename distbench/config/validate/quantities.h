// Fields that hold a quantity with its unit, such as Iterations.rate, beside a
// field for the same as a number. A canonical test has only the numbers.
// Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_
#define DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_

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

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_QUANTITIES_H_
