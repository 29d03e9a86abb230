#ifndef DISTBENCH_PRODUCTS_SIMULATION_KERNEL_WINDOW_THREADS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_KERNEL_WINDOW_THREADS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace distbench::simulation {

// Threads that work side by side for a few microseconds, again and again. They
// spin in between, and sleep when that lasts: then others get the CPU.
class WindowThreads {
 public:
  // work(i) is what thread i does; thread 0 is the one that calls Run().
  WindowThreads(int threads, std::function<void(int)> work);
  ~WindowThreads();

  // Does all of the work once. Each thread sees what the others did before.
  void Run();

 private:
  void Loop(int index);

  const std::function<void(int)> work_;
  std::atomic<uint32_t> round_ = 0;
  std::atomic<int> missing_ = 0;  // threads that have not done their work
  bool is_over_ = false;          // read when the round changes
  std::vector<std::thread> others_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_KERNEL_WINDOW_THREADS_H_
