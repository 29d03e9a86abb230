// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_
#define DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_

#include "distbench/sequencer/runs/run_files.pb.h"

namespace distbench::sequencer {

// Starts a sequencer with these files; it must list the run, hand out its
// result and take another run. Repeats this with a second sequencer. Aborts if
// one of them fails. Returns how many events of the run were read.
int ReadRunFiles(const RunFiles& files);

// The undamaged files of a run during which the sequencer was killed.
RunFiles ExampleRunFiles();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_
