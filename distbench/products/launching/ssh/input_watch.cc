#include "distbench/products/launching/ssh/input_watch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace distbench::launching {

InputWatch::InputWatch(int input, std::function<void()> at_end)
    : thread_([this, input, at_end = std::move(at_end)] {
        Watch(input, at_end);
      }) {}

InputWatch::~InputWatch() {
  end_of_watch_.Wake();
  thread_.join();
}

void InputWatch::Watch(int input, const std::function<void()>& at_end) {
  pollfd descriptors[] = {
      {.fd = input, .events = POLLIN, .revents = 0},
      {.fd = end_of_watch_.fd(), .events = POLLIN, .revents = 0},
  };
  while (true) {
    if (poll(descriptors, 2, -1) < 0 && errno == EINTR) continue;
    if (descriptors[1].revents != 0) return;
    char ignored[512];
    const ssize_t count = read(input, ignored, sizeof(ignored));
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) {
      continue;
    }
    at_end();  // an input that cannot be read has ended, too
    return;
  }
}

}  // namespace distbench::launching
