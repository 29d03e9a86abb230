#ifndef DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_
#define DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_

#include <cstdint>

namespace distbench {

// How long a worker should poll before it sleeps. To be put to sleep and woken
// takes some microseconds, and as much time of whoever wakes: so while waits
// turn out to be brief, polling costs less than sleeping. A wait that is not
// brief ends that, so that an idle worker polls for no more than kSpinNs.
class BriefWaits {
 public:
  static constexpr int64_t kSpinNs = 10'000;
  // Longer than kSpinNs by about what being woken takes.
  static constexpr int64_t kBriefNs = 15'000;

  int64_t spin_ns() const { return last_was_brief_ ? kSpinNs : 0; }

  // The worker has slept; since it began to wait, polling included, this time
  // has passed.
  void OnSlept(int64_t waited_ns) { last_was_brief_ = waited_ns < kBriefNs; }

 private:
  bool last_was_brief_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_BRIEF_WAITS_H_
