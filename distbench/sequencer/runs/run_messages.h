// Messages that explain why a run's result is incomplete.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_MESSAGES_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_MESSAGES_H_

namespace distbench {

inline constexpr char kPiecesDropped[] =
    "its result needs more than the sequencer's --results_memory: only "
    "summaries were kept";
inline constexpr char kResultDropped[] =
    "its result was dropped to make room for later ones; the sequencer's "
    "--results_memory sets how much is kept, and with --results_dir all is";

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_MESSAGES_H_
