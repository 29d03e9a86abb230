#include "distbench/activity/spin_for.h"

#include <ctime>

namespace distbench {
namespace {

int64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

class SpinFor final : public Activity {
 public:
  explicit SpinFor(int64_t duration_ns) : duration_ns_(duration_ns) {}

  void RunIteration() override {
    const int64_t end_ns = ThreadCpuNs() + duration_ns_;
    while (ThreadCpuNs() < end_ns) ++checksum_;
  }

  uint64_t checksum() const override { return checksum_; }

 private:
  const int64_t duration_ns_;
  uint64_t checksum_ = 0;  // how often it looked at the time
};

}  // namespace

std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns) {
  return std::make_unique<SpinFor>(duration_ns);
}

}  // namespace distbench
