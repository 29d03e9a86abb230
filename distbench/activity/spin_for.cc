#include "distbench/activity/spin_for.h"

#include "distbench/activity/thread_cpu_time.h"

namespace distbench {
namespace {

class SpinFor final : public Activity {
 public:
  explicit SpinFor(int64_t duration_ns) : duration_ns_(duration_ns) {}

  // There is no checksum, because the number of clock readings is meaningless.
  Work DoPart(uint64_t /*iteration*/, int /*step*/, int /*part*/) override {
    const int64_t end_ns = ThreadCpuNs() + duration_ns_;
    while (ThreadCpuNs() < end_ns) {
    }
    return {};
  }

 private:
  const int64_t duration_ns_;
};

}  // namespace

std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns) {
  return std::make_unique<SpinFor>(duration_ns);
}

}  // namespace distbench
