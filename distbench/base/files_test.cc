// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(ReadFile, ReturnsAllBytes) {
  const std::string bytes = std::string(200'000, 'x') + std::string("\0\n", 2);
  const std::string path = TempPath("bytes");
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(ReadFile(path).value(), bytes);
}

TEST(ReadFile, ReadsPipesToTheirEnd) {
  const std::string path = TempPath("pipe");
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&path] { std::ofstream(path) << "tests"; });
  const auto contents = ReadFile(path);
  writer.join();
  EXPECT_EQ(contents.value(), "tests");
}

TEST(ReadFile, SaysWhatIsMissing) {
  const auto status = ReadFile(TempPath("missing")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/missing: No such file or directory; check the path"));
  EXPECT_THAT(std::string(ReadFile("").status().message()),
              HasSubstr("no file is named"));
}

TEST(ReadFile, RefusesDirectories) {
  EXPECT_THAT(std::string(ReadFile(::testing::TempDir()).status().message()),
              HasSubstr("is a directory"));
}

TEST(ReadFile, SaysWhenPermissionIsMissing) {
  const std::string path = TempPath("secret");
  std::ofstream(path) << "x";
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  WithoutPrivileges([&path] {
    const auto status = ReadFile(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("/secret: Permission"));
  });
}

TEST(ReadFile, MayBeToldToReadLess) {
  const std::string path = TempPath("two_mib");
  std::ofstream(path) << std::string(2 << 20, 'x');
  EXPECT_TRUE(ReadFile(path, 2 << 20).ok());
  EXPECT_THAT(std::string(ReadFile(path, 1 << 20).status().message()),
              HasSubstr("larger than 1 MiB"));
}

TEST(ReadFile, StopsAtFilesWithoutEnd) {
  EXPECT_THAT(std::string(ReadFile("/dev/zero").status().message()),
              HasSubstr("larger than"));
}

TEST(KernelFiles, Numbers) {
  const std::string path = TempPath("number");
  std::ofstream(path) << "42\n7\n";
  EXPECT_EQ(ReadNumber(path), 42);
  std::ofstream(path) << "max\n";
  EXPECT_EQ(ReadNumber(path), std::nullopt);
  EXPECT_EQ(ReadNumber(TempPath("missing")), std::nullopt);
}

TEST(KernelFiles, LinesWithNames) {
  const std::string path = TempPath("lines");
  std::ofstream(path) << "some 1\nall 2\n";
  EXPECT_EQ(ReadNumberOf(path, "all"), 2);
  EXPECT_EQ(ReadNumberOf(path, "none"), std::nullopt);
  std::ofstream(path) << "VmHWMs:\t1 kB\nVmHWM:\t 12 kB\n";
  EXPECT_EQ(ReadTextOf(path, "VmHWM"), "12 kB");
  EXPECT_EQ(ReadTextOf(path, "Vm"), "");
}

TEST(KernelFiles, NamesInFolders) {
  const std::string folder = TempPath("folder");
  mkdir(folder.c_str(), 0700);
  for (const char* name : {"b", "a", "c"}) std::ofstream(folder + "/" + name);
  EXPECT_THAT(NamesIn(folder), ElementsAre("a", "b", "c"));
  EXPECT_THAT(NamesIn(folder + "/missing"), IsEmpty());
}

TEST(KernelFiles, FieldsOfProcesses) {
  const std::string folder = TempPath("process");
  mkdir(folder.c_str(), 0700);
  std::ofstream(folder + "/stat") << "12 (a) R) (b) S 1 34\n";
  EXPECT_THAT(ReadStatFields(folder), ElementsAre("", "", "", "S", "1", "34"));
  EXPECT_THAT(ReadStatFields(TempPath("missing")), IsEmpty());
}

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

TEST(NamelessFileTest, HasBytesAtTheirPlaces) {
  const std::string folder =
      testing::TempDir() + "/nameless" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const FileDescriptor file = CreateNameless(folder);
  ASSERT_TRUE(file.is_open());
  EXPECT_THAT(NamesIn(folder), IsEmpty());
  EXPECT_TRUE(WriteAllAt(file.get(), 2, std::string("cd")));
  EXPECT_TRUE(WriteAllAt(file.get(), 0, std::string("ab")));
  std::string read(3, ' ');
  EXPECT_TRUE(ReadAllAt(file.get(), 1, absl::MakeSpan(read)));
  EXPECT_EQ(read, "bcd");
  EXPECT_FALSE(ReadAllAt(file.get(), 2, absl::MakeSpan(read)))
      << "the file ends before";
  EXPECT_FALSE(WriteAllAt(-1, 0, read));
  EXPECT_EQ(errno, EBADF);
  std::filesystem::remove(folder);
}

TEST(NamelessFileTest, NeedsAFolder) {
  EXPECT_FALSE(CreateNameless("/there/is/none").is_open());
  EXPECT_EQ(errno, ENOENT);
}

TEST(MountTableTest, HasTheFieldsOfEachMount) {
  const std::vector<Mount> mounts = ParseMountInfo(
      "22 1 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw\n"
      "30 22 0:26 /a\\040b /sys/fs/cgroup/x\\134y rw - cgroup none rw,cpu\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].root, "/");
  EXPECT_EQ(mounts[0].point, "/");
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].source, "/dev/sda1");
  EXPECT_EQ(mounts[0].options, "rw");
  EXPECT_EQ(mounts[1].root, "/a b");
  EXPECT_EQ(mounts[1].point, "/sys/fs/cgroup/x\\y");
  EXPECT_EQ(mounts[1].options, "rw,cpu");
}

TEST(MountTableTest, LeavesOutWhatIsNone) {
  EXPECT_THAT(ParseMountInfo(""), testing::IsEmpty());
  EXPECT_THAT(ParseMountInfo("x\n22 1 8:1 / - ext4 /dev/sda1 rw\n"
                             "22 1 8:1 / /a rw - ext4\n"),
              testing::IsEmpty());
  EXPECT_EQ(ParseMountInfo("22 1 8:1 / /a rw - ext4 /dev/sda1").size(), 1u);
}

}  // namespace
}  // namespace distbench::base
