// Converts the messages between node managers and engine processes to and from
// the types of the rest of the program.

#ifndef DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
#define DISTBENCH_HOSTING_ENGINE_MESSAGES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/engine/engine.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/numa/binding.h"

namespace distbench {

EngineBinding ToEngineBinding(const ResolvedBinding& binding);
absl::StatusOr<ResolvedBinding> FromEngineBinding(const EngineBinding& binding);

// The recent intervals are not converted.
EngineTotals ToEngineTotals(const EngineProgress& progress);
EngineProgress FromEngineTotals(const EngineTotals& totals);

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
