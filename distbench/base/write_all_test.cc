#include "distbench/base/write_all.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "distbench/base/files.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    reader = FileDescriptor(ends[0]);
    writer = FileDescriptor(ends[1]);
  }

  int UnreadBytes() const {
    int count = 0;
    ioctl(reader.get(), FIONREAD, &count);
    return count;
  }

  FileDescriptor reader;
  FileDescriptor writer;
};

std::string ReadToEnd(const FileDescriptor& file) {
  std::string text;
  char bytes[4096];
  for (ssize_t count; (count = read(file.get(), bytes, sizeof(bytes))) > 0;) {
    text.append(bytes, count);
  }
  return text;
}

// A signal ends a write that has begun early, and one that waits with EINTR.
TEST(WriteAllTest, GoesOnAfterSignals) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};  // without SA_RESTART
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  Pipe pipe;
  const int capacity = fcntl(pipe.writer.get(), F_GETPIPE_SZ);
  ASSERT_GT(capacity, 0);
  std::string text;
  for (int i = 0; i < 3 * capacity; ++i) text += static_cast<char>('a' + i % 7);
  bool is_written = false;
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    is_written = WriteAll(pipe.writer.get(), text);
    pipe.writer.Close();
    is_over = true;
  });
  while (pipe.UnreadBytes() < capacity) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) {
    pthread_kill(writer.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_over);
  EXPECT_EQ(ReadToEnd(pipe.reader), text);
  writer.join();
  EXPECT_TRUE(is_written);
  sigaction(SIGUSR1, &before, nullptr);
}

// A file takes bytes up to this limit, as a disk does until it is full, and
// then no more.
TEST(WriteAllTest, AnErrorAfterAPartIsAnError) {
  const FileDescriptor file(
      open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.is_open());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 8;
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const bool is_written = WriteAll(file.get(), "0123456789");
  const int error_number = errno;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(is_written);
  EXPECT_EQ(error_number, EFBIG);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_END), 8);
}

TEST(WriteAllTest, NothingIsWrittenAtOnce) { EXPECT_TRUE(WriteAll(-1, "")); }

}  // namespace
}  // namespace distbench::base
