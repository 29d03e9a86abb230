#include "distbench/products/simulation/kernel/window_threads.h"

#include <utility>

namespace distbench::simulation {
namespace {

// Some tens of microseconds: more than it takes to wake a thread that sleeps.
constexpr int kSpins = 2000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename T>
void AwaitChange(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

WindowThreads::WindowThreads(int threads, std::function<void(int)> work)
    : work_(std::move(work)) {
  for (int i = 1; i < threads; ++i) {
    others_.emplace_back([this, i] { Loop(i); });
  }
}

WindowThreads::~WindowThreads() {
  is_over_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : others_) thread.join();
}

void WindowThreads::Run() {
  missing_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work_(0);
  for (int missing; (missing = missing_.load(std::memory_order_acquire)) > 0;) {
    AwaitChange(missing_, missing);
  }
}

void WindowThreads::Loop(int index) {
  for (uint32_t round = 0;; ++round) {
    AwaitChange(round_, round);
    if (is_over_) return;
    work_(index);
    missing_.fetch_sub(1, std::memory_order_release);
    missing_.notify_one();
  }
}

}  // namespace distbench::simulation
