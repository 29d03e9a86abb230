// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/child_process.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/patience.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ChildProgram Shell(const std::string& script) {
  return {.path = "/bin/sh", .arguments = {"sh", "-c", script}};
}

// Reads the first line, or until the other end is closed.
std::string ReadLine(const FileDescriptor& output) {
  std::string line;
  for (char c; read(output.get(), &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

int ExitOf(ChildProgram program) {
  auto child = ChildProcess::Start(std::move(program));
  EXPECT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(child->HasEnded(kGenerous));
  return child->Finish();
}

bool IsThere(pid_t pid) { return kill(pid, 0) == 0; }

TEST(ChildProcessTest, TellsHowItEnded) {
  EXPECT_EQ(ExitOf(Shell("exit 0")), 0);
  EXPECT_EQ(DescribeExit(ExitOf(Shell("exit 3"))), "exited with status 3");
  EXPECT_EQ(DescribeExit(ExitOf(Shell("kill -TERM $$"))),
            "was killed by signal 15 (Terminated)");
  EXPECT_EQ(DescribeExit(
                ExitOf({.path = "/no/such/program", .arguments = {"program"}})),
            "exited with status 127");
}

TEST(ChildProcessTest, ReadsNothingAndIsRead) {
  const FileDescriptor input(memfd_create("", MFD_CLOEXEC));
  ASSERT_EQ(pwrite(input.get(), "not for the child\n", 18, 0), 18);
  ASSERT_EQ(dup2(input.get(), STDIN_FILENO), STDIN_FILENO);
  FileDescriptor output;
  const auto child =
      ChildProcess::Start(Shell("cat; echo out; echo err >&2"), &output);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(ReadLine(output), "out");
  EXPECT_EQ(ReadLine(output), "err");
  EXPECT_EQ(ReadLine(output), "");
}

TEST(ChildProcessTest, InheritsTheEnvironmentAndMore) {
  setenv("DISTBENCH_OLD", "1", 1);
  ChildProgram program = Shell("exit $DISTBENCH_OLD$DISTBENCH_NEW");
  program.more_environment = {"DISTBENCH_NEW=2"};
  EXPECT_EQ(WEXITSTATUS(ExitOf(program)), 12);
  program.more_environment = {"DISTBENCH_NEW=2", "DISTBENCH_OLD=3"};
  EXPECT_EQ(WEXITSTATUS(ExitOf(program)), 32);
}

TEST(ChildProcessTest, ReadsTheStdinOfItsParentIfItMay) {
  const FileDescriptor input(memfd_create("", MFD_CLOEXEC));
  ASSERT_EQ(pwrite(input.get(), "for the child\n", 14, 0), 14);
  ASSERT_EQ(dup2(input.get(), STDIN_FILENO), STDIN_FILENO);
  FileDescriptor output;
  ChildProgram program = Shell("cat");
  program.has_stdin = true;
  const auto child = ChildProcess::Start(program, &output);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(ReadLine(output), "for the child");
}

TEST(ChildProcessTest, PassesSignalsOn) {
  FileDescriptor output;
  const auto child =
      ChildProcess::Start(Shell("trap 'echo stopped; exit 5' TERM; echo ready; "
                                "while :; do sleep 0.01; done"),
                          &output);
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_EQ(ReadLine(output), "ready");
  child->PassOn(SIGTERM);
  EXPECT_EQ(ReadLine(output), "stopped");
}

TEST(ChildProcessTest, HasTheDescriptorThatItIsGivenAndNoOther) {
  const FileDescriptor file(memfd_create("", MFD_CLOEXEC));
  const FileDescriptor other(open("/dev/null", O_RDONLY));  // not close-on-exec
  ASSERT_EQ(fcntl(other.get(), F_DUPFD, 50), 50);
  for (const int inherited : {-1, file.get()}) {
    ChildProgram program = Shell("ls /proc/$$/fd; readlink /proc/$$/fd/3");
    program.inherited = inherited;
    FileDescriptor output;
    const auto child = ChildProcess::Start(program, &output);
    ASSERT_TRUE(child.ok()) << child.status();
    for (const char* number : {"0", "1", "2"}) {
      EXPECT_EQ(ReadLine(output), number);
    }
    if (inherited >= 0) {
      EXPECT_EQ(ReadLine(output), "3");
      EXPECT_THAT(ReadLine(output), StartsWith("/memfd:"));
    }
    EXPECT_EQ(ReadLine(output), "");
  }
  close(50);
}

TEST(ChildProcessTest, MayHaveTheNumberAlready) {
  const FileDescriptor none(open("/dev/null", O_RDONLY));  // 3, if that is free
  const FileDescriptor saved(fcntl(3, F_DUPFD_CLOEXEC, 10));
  const FileDescriptor file(memfd_create("", MFD_CLOEXEC));
  ASSERT_EQ(dup3(file.get(), 3, O_CLOEXEC), 3);
  ChildProgram program = Shell("test -e /proc/$$/fd/3");
  program.inherited = 3;
  EXPECT_EQ(ExitOf(program), 0);
  dup2(saved.get(), 3);
}

TEST(ChildProcessTest, HasNoSignalBlocked) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  // Not through a shell, which unblocks signals itself.
  const auto child = ChildProcess::Start(
      {.path = "/bin/sleep", .arguments = {"sleep", "600"}});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child.ok()) << child.status();
  child->Signal(SIGTERM);
  EXPECT_TRUE(child->HasEnded(kGenerous));
}

TEST(ChildProcessTest, IsGoneWithAllThatItStarted) {
  pid_t pid = 0, grandchild = 0;
  FileDescriptor output;
  {
    const auto child =
        ChildProcess::Start(Shell("sleep 600 & echo $!; wait"), &output);
    ASSERT_TRUE(child.ok()) << child.status();
    pid = child->pid();
    ASSERT_TRUE(absl::SimpleAtoi(ReadLine(output), &grandchild));
    EXPECT_FALSE(child->HasEnded(absl::ZeroDuration()));
    EXPECT_TRUE(IsThere(pid));
  }
  EXPECT_FALSE(IsThere(pid));
  // Succeeds only when nobody has the other end open any more.
  EXPECT_EQ(ReadLine(output), "");
}

// Which signal ends a child when the thread that starts it ends.
int EndSignalOf(const ChildProgram& program) {
  absl::StatusOr<ChildProcess> child = absl::UnknownError("not started");
  std::thread([&] { child.emplace(*ChildProcess::Start(program)); }).join();
  EXPECT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(child->HasEnded(kGenerous));
  return WTERMSIG(child->Finish());
}

TEST(ChildProcessTest, EndsWithTheThreadThatStartsIt) {
  ChildProgram program = Shell("sleep 600");
  program.ends_with_parent = true;
  EXPECT_EQ(EndSignalOf(program), SIGTERM);
}

TEST(ChildProcessTest, EndsBySigkillIfThatIsAsked) {
  ChildProgram program = Shell("sleep 600");
  program.ends_with_parent = true;
  program.end_signal = SIGKILL;
  EXPECT_EQ(EndSignalOf(program), SIGKILL);
}

TEST(ChildProcessTest, MayHaveASessionOfItsOwn) {
  for (const bool has_own_session : {false, true}) {
    ChildProgram program = Shell(
        "read pid name state parent group session rest </proc/$$/stat; "
        "test $session = $$");
    program.has_own_session = has_own_session;
    EXPECT_EQ(ExitOf(program) == 0, has_own_session);
  }
}

// A group of version 2, of no controllers, in that of this process.
class GroupForTest {
 public:
  GroupForTest() {
    std::ifstream mounts("/proc/self/mounts");
    std::string device, point, type, rest;
    while (mounts >> device >> point >> type && std::getline(mounts, rest)) {
      if (type == "cgroup2") mount_ = point;
    }
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      if (line.rfind("0::", 0) == 0) own_ = line.substr(3);
    }
    path_ = absl::StrCat(own_ == "/" ? "" : own_, "/distbench.test-", getpid());
    if (!mount_.empty() && mkdir((mount_ + path_).c_str(), 0755) == 0) {
      folder_ = FileDescriptor(
          open((mount_ + path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
  }

  ~GroupForTest() { Remove(); }

  // Whether this process may make groups.
  bool exists() const { return folder_.is_open(); }
  int get() const { return folder_.get(); }
  const std::string& path() const { return path_; }
  void Remove() const { rmdir((mount_ + path_).c_str()); }

 private:
  std::string mount_;
  std::string own_;
  std::string path_;
  FileDescriptor folder_;
};

TEST(ChildProcessTest, StartsInAControlGroup) {
  const GroupForTest group;
  if (!group.exists()) GTEST_SKIP() << "no control group can be made here";
  ChildProgram program = Shell("sed -n s/^0:://p /proc/$$/cgroup");
  program.group = group.get();
  FileDescriptor output;
  const auto child = ChildProcess::Start(program, &output);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(ReadLine(output), group.path());
}

// Makes clone3(2) fail for this thread, as kernels and containers do.
void ForbidClone3(int error_number) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K,
               SECCOMP_RET_ERRNO | static_cast<uint32_t>(error_number)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = std::size(filter), .filter = filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(ChildProcessTest, StartsInAControlGroupWithoutClone3) {
  const GroupForTest group;
  if (!group.exists()) GTEST_SKIP() << "no control group can be made here";
  for (const int error_number : {ENOSYS, EPERM, EINVAL}) {
    std::thread([&] {
      ForbidClone3(error_number);
      ChildProgram program = Shell("sed -n s/^0:://p /proc/$$/cgroup");
      program.group = group.get();
      FileDescriptor output;
      const auto child = ChildProcess::Start(program, &output);
      ASSERT_TRUE(child.ok()) << child.status();
      EXPECT_EQ(ReadLine(output), group.path());
    }).join();
  }
}

TEST(ChildProcessTest, SaysWhyItCannotJoinAControlGroup) {
  const FileDescriptor folder(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::thread([&] {
    ForbidClone3(ENOSYS);
    ChildProgram program = Shell("exit 0");
    program.group = folder.get();
    EXPECT_THAT(Message(ChildProcess::Start(program).status()),
                HasSubstr("is none of version 2"));
  }).join();
}

TEST(ChildProcessTest, SaysWhyItCannotStartInAControlGroup) {
  const GroupForTest group;
  if (!group.exists()) GTEST_SKIP() << "no control group can be made here";
  group.Remove();
  ChildProgram program = Shell("exit 0");
  program.group = group.get();
  EXPECT_THAT(Message(ChildProcess::Start(program).status()),
              HasSubstr("cannot start /bin/sh"));
  EXPECT_THAT(Message(ChildProcess::Start(program).status()),
              HasSubstr("the control group has been removed"));
  const FileDescriptor folder(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  program.group = folder.get();
  EXPECT_THAT(Message(ChildProcess::Start(program).status()),
              HasSubstr("not the folder of a control group"));
}

}  // namespace
}  // namespace distbench::base
