#ifndef DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_
#define DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_

#include <cstdint>

namespace distbench {

// Decides how long a worker polls before it sleeps. Sleeping and being woken
// takes some microseconds, and as much time of the waking thread, so polling is
// cheaper than sleeping while waits are brief. After a wait that was not brief
// the worker does not poll, so an idle worker polls for at most kSpinNs.
class BriefWaits {
 public:
  static constexpr int64_t kSpinNs = 10'000;
  // Longer than kSpinNs by about the duration of a wake-up.
  static constexpr int64_t kBriefNs = 15'000;

  int64_t spin_ns() const { return last_was_brief_ ? kSpinNs : 0; }

  // Call this after the worker has slept. waited_ns is the time since it began
  // to wait, including polling.
  void OnSlept(int64_t waited_ns) { last_was_brief_ = waited_ns < kBriefNs; }

 private:
  bool last_was_brief_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_
