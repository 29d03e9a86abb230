#ifndef DISTBENCH_BASE_MESSAGE_LIMITS_H_
#define DISTBENCH_BASE_MESSAGE_LIMITS_H_

namespace distbench {

// The largest message that the sequencer accepts: room for very large tests,
// but not for a message that would use up its memory.
inline constexpr int kMaxMessageToSequencerBytes = 256 << 20;

}  // namespace distbench

#endif  // DISTBENCH_BASE_MESSAGE_LIMITS_H_
