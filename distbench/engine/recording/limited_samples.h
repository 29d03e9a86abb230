#ifndef DISTBENCH_ENGINE_RECORDING_LIMITED_SAMPLES_H_
#define DISTBENCH_ENGINE_RECORDING_LIMITED_SAMPLES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "distbench/engine/recording/recorder.h"

namespace distbench::engine {

// Keeps `limit` of the samples that the workers have set aside, or all of them
// if there are fewer. Each RPC is kept with the same probability, as far as the
// workers' budgets allow. Equal seeds make equal choices. Requires that the
// workers have ended.
void KeepOfMainList(int64_t limit, absl::Span<Recorder* const> recorders,
                    uint64_t seed);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_RECORDING_LIMITED_SAMPLES_H_
