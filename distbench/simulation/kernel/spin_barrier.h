#ifndef DISTBENCH_SIMULATION_KERNEL_SPIN_BARRIER_H_
#define DISTBENCH_SIMULATION_KERNEL_SPIN_BARRIER_H_

#include <atomic>
#include <thread>

namespace distbench {

// A barrier for threads that meet every few microseconds, so that sleeping
// would cost more than what they do in between. Gives its CPU to others if the
// rest is late.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : threads_(threads), missing_(threads) {}

  // Returns when all threads have called it; they see what the others did
  // before.
  void Wait() {
    if (threads_ == 1) return;
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      missing_.store(threads_, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round;
         ++spins) {
      if (spins >= kSpins) std::this_thread::yield();
    }
  }

 private:
  static constexpr int kSpins = 2000;

  const int threads_;
  std::atomic<int> missing_;
  std::atomic<unsigned> round_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SIMULATION_KERNEL_SPIN_BARRIER_H_
