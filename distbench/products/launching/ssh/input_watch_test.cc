#include "distbench/products/launching/ssh/input_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/patience.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader = base::FileDescriptor(ends[0]);
    writer = base::FileDescriptor(ends[1]);
  }
  base::FileDescriptor reader;
  base::FileDescriptor writer;
};

TEST(InputWatchTest, CallsAtTheEndOnly) {
  Pipe pipe;
  absl::Notification ended;
  std::atomic<bool> is_open = true;
  const InputWatch watch(pipe.reader.get(), [&] {
    EXPECT_FALSE(is_open);
    ended.Notify();
  });
  EXPECT_EQ(write(pipe.writer.get(), "ignored", 7), 7);
  is_open = false;
  pipe.writer.Close();
  EXPECT_TRUE(ended.WaitForNotificationWithTimeout(base::kGenerous));
}

TEST(InputWatchTest, EndsBeforeTheInput) {
  Pipe pipe;
  {
    const InputWatch watch(pipe.reader.get(), [] { FAIL(); });
  }
  pipe.writer.Close();
}

}  // namespace
}  // namespace distbench::launching
