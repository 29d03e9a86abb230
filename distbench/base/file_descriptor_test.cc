#include "distbench/base/file_descriptor.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <utility>

#include "gtest/gtest.h"

namespace distbench {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

int NewFile() { return eventfd(0, EFD_CLOEXEC); }

TEST(FileDescriptorTest, ClosesWhatItOwns) {
  int number;
  {
    const FileDescriptor file(NewFile());
    number = file.get();
    EXPECT_TRUE(file.is_open());
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(FileDescriptorTest, PassesItOn) {
  FileDescriptor file(NewFile());
  const int number = file.get();
  FileDescriptor other(std::move(file));
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(other.get(), number);
  FileDescriptor third(NewFile());
  const int replaced = third.get();
  third = std::move(other);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_EQ(third.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(FileDescriptorTest, MayOwnNone) {
  FileDescriptor none;
  EXPECT_FALSE(none.is_open());
  none.Close();
  const FileDescriptor failed(-1);
  EXPECT_FALSE(failed.is_open());
}

}  // namespace
}  // namespace distbench
