#ifndef DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_
#define DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_

#include "distbench/sequencer/runs/run_files.pb.h"

namespace distbench {

// Lets a sequencer find the files: it lists the run, hands out its result, and
// takes another run; and so does the next one. Aborts if one of them does not
// do well. Returns how many events of the run were read.
int ReadRunFiles(const RunFiles& files);

// Of a run that a sequencer was killed in, whole.
RunFiles ExampleRunFiles();

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_TESTING_RUN_FILES_FUZZ_ENTRY_H_
