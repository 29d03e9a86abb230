// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Stdout is the descriptor as long as this exists. What it could not take is
// forgotten at the end.
class RedirectedStdout {
 public:
  explicit RedirectedStdout(int fd) {
    Flush();
    kept_ = FileDescriptor(dup(STDOUT_FILENO));
    dup2(fd, STDOUT_FILENO);
  }

  ~RedirectedStdout() {
    Flush();
    dup2(kept_.get(), STDOUT_FILENO);
    std::cout.clear();
    clearerr(stdout);
  }

 private:
  static void Flush() {
    std::cout.flush();
    fflush(stdout);
  }

  FileDescriptor kept_;
};

// What is said after "text" was printed to the descriptor.
absl::Status AfterPrintingTo(int fd, bool is_flushed) {
  const RedirectedStdout redirected(fd);
  std::cout << "text";
  if (is_flushed) std::cout.flush();
  return FinishStandardOutput();
}

TEST(FinishStandardOutput, WritesWhatIsLeft) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor reader(ends[0]), writer(ends[1]);
  EXPECT_TRUE(AfterPrintingTo(writer.get(), /*is_flushed=*/false).ok());
  char text[8];
  EXPECT_EQ(read(reader.get(), text, sizeof(text)), 4);
}

TEST(FinishStandardOutput, SaysThatADiskIsFull) {
  const FileDescriptor full(open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full.is_open());
  const absl::Status status = AfterPrintingTo(full.get(), /*is_flushed=*/false);
  EXPECT_EQ(status.message(),
            "cannot write /dev/stdout: No space left on device");
}

TEST(FinishStandardOutput, NoticesWhatWasLostEarlier) {
  const FileDescriptor full(open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full.is_open());
  const absl::Status status = AfterPrintingTo(full.get(), /*is_flushed=*/true);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("cannot write /dev/stdout: "));
}

// As SetUpProcess() leaves a stdout that was closed.
TEST(FinishStandardOutput, SaysThatItIsNotOpenForWriting) {
  const FileDescriptor closed(open("/dev/null", O_RDONLY));
  ASSERT_TRUE(closed.is_open());
  const absl::Status status =
      AfterPrintingTo(closed.get(), /*is_flushed=*/false);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Bad file descriptor"));
}

TEST(FinishStandardOutput, LetsReadersGo) {
  const auto handler = signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor writer(ends[1]);
  close(ends[0]);
  EXPECT_TRUE(AfterPrintingTo(writer.get(), /*is_flushed=*/false).ok());
  EXPECT_TRUE(AfterPrintingTo(writer.get(), /*is_flushed=*/true).ok());
  signal(SIGPIPE, handler);
}

}  // namespace
}  // namespace distbench::base
