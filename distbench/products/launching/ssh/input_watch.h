// Waits for the end of an input, beside what a program does otherwise.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_INPUT_WATCH_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_INPUT_WATCH_H_

#include <functional>
#include <thread>

#include "distbench/base/wakeup.h"

namespace distbench::launching {

// Calls a function, on a thread of its own, when an input ends: a pipe, socket
// or file whose writers are gone. What is read until then is thrown away.
class InputWatch {
 public:
  // `input` must stay open during this object's lifetime.
  InputWatch(int input, std::function<void()> at_end);

  // Afterwards the function is not called any more.
  ~InputWatch();

  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

 private:
  void Watch(int input, const std::function<void()>& at_end);

  base::Wakeup end_of_watch_;
  std::thread thread_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_INPUT_WATCH_H_
