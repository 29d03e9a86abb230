// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_SHRINK_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_SHRINK_H_

#include "absl/functional/function_ref.h"
#include "google/protobuf/message.h"

namespace distbench::engine {

// Shrinks a message that fails: clears fields and removes elements of repeated
// fields, one at a time, as long as it still fails. Calls `fails` at most
// max_attempts times.
void Shrink(google::protobuf::Message& message, int max_attempts,
            absl::FunctionRef<bool()> fails);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_SHRINK_H_
