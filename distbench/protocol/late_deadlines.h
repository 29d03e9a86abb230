#ifndef DISTBENCH_PROTOCOL_LATE_DEADLINES_H_
#define DISTBENCH_PROTOCOL_LATE_DEADLINES_H_

#include <cstdint>

namespace distbench::protocol {

// Decides when a transport judges what should have happened by some time, such
// as the replies of calls that have a deadline. A worker that stood still,
// because it was frozen or its host was busy, first reads what has arrived
// meanwhile: otherwise it would blame peers that were in time. It reads until
// nothing is left, but at most for as long as it was late. Not thread-safe.
class LateDeadlines {
 public:
  // Less is no standstill: a turn of a busy worker.
  static constexpr int64_t kLateNs = 5'000'000;

  // Whether to judge what was due at due_ns, which has passed by now_ns.
  // nothing_left: nothing has arrived that was not delivered.
  bool MayJudge(int64_t due_ns, int64_t now_ns, bool nothing_left) {
    const int64_t late_ns = now_ns - due_ns;
    if (reads_until_ns_ == 0) {
      if (late_ns <= kLateNs) return true;
      reads_until_ns_ = now_ns + late_ns;
      return false;
    }
    if (!nothing_left && now_ns < reads_until_ns_) return false;
    reads_until_ns_ = 0;
    return true;
  }

 private:
  int64_t reads_until_ns_ = 0;  // 0: it was not late
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LATE_DEADLINES_H_
