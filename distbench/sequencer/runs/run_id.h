// The ids of runs.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_ID_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_ID_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"

namespace distbench::sequencer {

// Whether the text is a well-formed run id. Such ids consist of digits and '-',
// so they can be part of a file name. The run need not exist.
bool IsRunId(absl::string_view text);

// Generates ids that say when a run was submitted, in UTC:
// "20260131-235959-000". Each sorts after all earlier ones, even if the clock
// is set back. Not thread-safe.
class RunIds {
 public:
  // `clock` must outlive this.
  explicit RunIds(const base::Clock& clock) : clock_(clock) {}

  // Makes later ids sort after `id`, which must be a run id.
  void Follow(absl::string_view id);

  std::string Next();

 private:
  const base::Clock& clock_;
  int64_t last_second_ = 0;  // Unix time
  int last_number_ = 0;      // within the second
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_ID_H_
