// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/job_secret.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr absl::Duration kDay = absl::Hours(24);

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class JobSecretTest : public testing::Test {
 protected:
  JobSecretTest() {
    std::string folder = testing::TempDir() + "/secrets.XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~JobSecretTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Makes a secret that is valid.
  std::string Make(const std::string& name) const {
    const std::string directory = path(name);
    EXPECT_EQ(MakeJobSecret(directory, kDay, absl::Now()), absl::OkStatus());
    return directory;
  }

  static std::string FindError(const std::string& directory) {
    return base::Message(FindJobSecret(directory).status());
  }

  std::string folder_;
};

TEST_F(JobSecretTest, IsForItsOwnerOnly) {
  const std::string directory = Make("secret");
  EXPECT_EQ(ModeOf(directory), 0700);
  for (const char* file : {"ca.crt", "tls.crt", "tls.key"}) {
    EXPECT_EQ(ModeOf(directory + "/" + file), 0600) << file;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 3);
}

TEST_F(JobSecretTest, IsFoundWithItsName) {
  const std::string directory = Make("secret");
  const auto files = FindJobSecret(directory);
  ASSERT_EQ(files.status(), absl::OkStatus());
  EXPECT_EQ(files->ca, directory + "/ca.crt");
  EXPECT_EQ(files->cert, directory + "/tls.crt");
  EXPECT_EQ(files->key, directory + "/tls.key");
  EXPECT_EQ(files->name, "distbench-job");
  EXPECT_EQ(TlsContext::Make(*files).status(), absl::OkStatus());
}

TEST_F(JobSecretTest, KeepsNoKeyOfItsAuthority) {
  const std::string directory = Make("secret");
  EXPECT_EQ(base::ReadFile(directory + "/ca.crt")->find("PRIVATE KEY"),
            std::string::npos);
  EXPECT_EQ(base::ReadFile(directory + "/tls.crt")->find("PRIVATE KEY"),
            std::string::npos);
}

TEST_F(JobSecretTest, GoesIntoAnEmptyPrivateDirectory) {
  ASSERT_EQ(mkdir(path("made").c_str(), 0700), 0);
  EXPECT_EQ(MakeJobSecret(path("made"), kDay, absl::Now()), absl::OkStatus());
  EXPECT_EQ(FindError(path("made")), "");
}

TEST_F(JobSecretTest, NeverReplacesAnotherOne) {
  const std::string directory = Make("secret");
  const std::string before = *base::ReadFile(directory + "/tls.key");
  EXPECT_THAT(
      base::Message(MakeJobSecret(directory, kDay, absl::Now())),
      AllOf(HasSubstr("ca.crt exists"), HasSubstr("another directory")));
  EXPECT_EQ(*base::ReadFile(directory + "/tls.key"), before);
}

TEST_F(JobSecretTest, IsNotMadeWhereOthersCanRead) {
  ASSERT_EQ(mkdir(path("open").c_str(), 0755), 0);
  EXPECT_THAT(base::Message(MakeJobSecret(path("open"), kDay, absl::Now())),
              AllOf(HasSubstr("has mode 0755"), HasSubstr("chmod 700")));
  EXPECT_TRUE(fs::is_empty(path("open")));
}

TEST_F(JobSecretTest, NamesTheDirectoryThatCannotBeMade) {
  EXPECT_THAT(base::Message(MakeJobSecret(path("no/such"), kDay, absl::Now())),
              AllOf(HasSubstr(path("no/such")), HasSubstr("cannot be made")));
  std::ofstream(path("file")) << "text";
  EXPECT_THAT(base::Message(MakeJobSecret(path("file"), kDay, absl::Now())),
              HasSubstr("is not a directory"));
}

// A full disk takes the beginning of a file, and then no more, as this limit.
TEST_F(JobSecretTest, IsNotHalfWritten) {
  ASSERT_EQ(mkdir(path("full").c_str(), 0700), 0);
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit;
  limit.rlim_cur = 8;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  errno = 0;
  const absl::Status status = WriteJobSecret(
      path("full"), {.ca = "ca", .cert = "cert", .key = "0123456789"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  signal(SIGXFSZ, old_handler);
  EXPECT_THAT(base::Message(status), HasSubstr("/tls.key: cannot be written"));
  EXPECT_TRUE(fs::is_empty(path("full")));
}

TEST_F(JobSecretTest, LinksLeadToASecretInMemory) {
  const auto contents = IssueJobCertificate(
      kJobName, absl::Now() - kJobSecretClockTolerance, absl::Now() + kDay);
  ASSERT_TRUE(contents.ok());
  ASSERT_EQ(mkdir(path("links").c_str(), 0700), 0);
  {
    TlsFilesInMemory files;
    ASSERT_EQ(files.Update(*contents), absl::OkStatus());
    ASSERT_EQ(LinkJobSecret(path("links"), files.FilesForOthers()),
              absl::OkStatus());
    EXPECT_EQ(FindError(path("links")), "");
    EXPECT_THAT(
        base::Message(LinkJobSecret(path("links"), files.FilesForOthers())),
        HasSubstr("/ca.crt: cannot be made"));
  }
  EXPECT_THAT(FindError(path("links")), HasSubstr("cannot be read"));
}

TEST_F(JobSecretTest, RefusesTimesOutOfRange) {
  for (const absl::Duration wrong :
       {absl::ZeroDuration(), -kDay, kLongestJobSecret + absl::Seconds(1),
        absl::InfiniteDuration()}) {
    EXPECT_THAT(
        base::Message(MakeJobSecret(path("secret"), wrong, absl::Now())),
        HasSubstr("a secret cannot be valid for"));
  }
  EXPECT_FALSE(fs::exists(path("secret")));
}

TEST_F(JobSecretTest, LongestIsUsable) {
  ASSERT_EQ(MakeJobSecret(path("long"), kLongestJobSecret, absl::Now()),
            absl::OkStatus());
  EXPECT_EQ(FindError(path("long")), "");
}

TEST_F(JobSecretTest, AbsentIsAnError) {
  EXPECT_THAT(FindError(path("none")),
              AllOf(HasSubstr("--secret=" + path("none")),
                    HasSubstr("No such file"), HasSubstr("make_secret")));
  const std::string directory = Make("secret");
  fs::remove(directory + "/tls.key");
  EXPECT_THAT(FindError(directory), HasSubstr("/tls.key cannot be read"));
}

TEST_F(JobSecretTest, ExpiredIsAnError) {
  const std::string directory = path("old");
  ASSERT_EQ(MakeJobSecret(directory, absl::Minutes(1),
                          absl::Now() - absl::Minutes(2)),
            absl::OkStatus());
  EXPECT_THAT(FindError(directory),
              AllOf(HasSubstr("--secret=" + directory), HasSubstr("expired on"),
                    HasSubstr("make_secret makes a new secret")));
}

TEST_F(JobSecretTest, ClocksMayBeBehind) {
  // Made by a clock that is half an hour ahead of this one, then two hours.
  ASSERT_EQ(MakeJobSecret(path("near"), kDay, absl::Now() + absl::Minutes(30)),
            absl::OkStatus());
  EXPECT_EQ(FindError(path("near")), "");
  ASSERT_EQ(MakeJobSecret(path("far"), kDay, absl::Now() + absl::Hours(2)),
            absl::OkStatus());
  EXPECT_THAT(FindError(path("far")),
              AllOf(HasSubstr("valid only from"), HasSubstr("host's clock")));
}

TEST_F(JobSecretTest, FilesOfTwoSecretsAreAnError) {
  const std::string one = Make("one");
  const std::string two = Make("two");
  const auto overwrite = fs::copy_options::overwrite_existing;
  fs::copy_file(two + "/ca.crt", one + "/ca.crt", overwrite);
  EXPECT_THAT(FindError(one), AllOf(HasSubstr("tls.crt is not signed by"),
                                    HasSubstr("files of two secrets")));
  fs::copy_file(two + "/tls.key", one + "/tls.key", overwrite);
  EXPECT_THAT(FindError(one), HasSubstr("not the key of the certificate"));
}

TEST_F(JobSecretTest, CertificatesOfHostsAreAnError) {
  const TestAuthority authority("authority");
  const TlsFiles host = authority.IssueForLocalhost("host");
  const std::string directory = path("host");
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  fs::copy_file(host.ca, directory + "/ca.crt");
  fs::copy_file(host.cert, directory + "/tls.crt");
  fs::copy_file(host.key, directory + "/tls.key");
  ASSERT_EQ(chmod((directory + "/tls.key").c_str(), 0600), 0);
  EXPECT_THAT(FindError(directory),
              HasSubstr("not for the name distbench-job"));
}

TEST_F(JobSecretTest, OpenToOthersIsAnError) {
  const std::string directory = Make("secret");
  ASSERT_EQ(chmod(directory.c_str(), 0750), 0);
  EXPECT_THAT(FindError(directory),
              AllOf(HasSubstr("has mode 0750"), HasSubstr("chmod 700")));
  ASSERT_EQ(chmod(directory.c_str(), 0700), 0);
  const std::string key = directory + "/tls.key";
  for (const mode_t wrong : {0640, 0604, 0620}) {
    ASSERT_EQ(chmod(key.c_str(), wrong), 0);
    EXPECT_THAT(FindError(directory), HasSubstr("chmod 600 " + key));
  }
  ASSERT_EQ(chmod(key.c_str(), 0400), 0);
  EXPECT_EQ(FindError(directory), "");
}

// What the mount of a Kubernetes Secret with an fsGroup looks like: an open
// directory on a read-only file system, and files that a group may read.
class ReadOnlyMount {
 public:
  // Runs in a child process, which has mounts of its own. Returns 0, or the
  // number of the step that failed.
  static int Check(const std::string& directory) {
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", directory.c_str(), "tmpfs", 0, nullptr) != 0) {
      return kCannotMount;
    }
    const std::string key = directory + "/tls.key";
    chmod(directory.c_str(), 0700);
    if (!MakeJobSecret(directory, kDay, absl::Now()).ok()) return 1;
    chmod(directory.c_str(), 01777);
    chmod(key.c_str(), 0440);
    // As long as others can replace its files, an open directory is refused.
    if (FindJobSecret(directory).ok()) return 2;
    if (!Remount(directory, MS_RDONLY)) return 3;
    if (!FindJobSecret(directory).ok()) return 4;
    if (!Remount(directory, 0)) return 5;
    chmod(key.c_str(), 0444);
    if (!Remount(directory, MS_RDONLY)) return 6;
    return FindJobSecret(directory).ok() ? 7 : 0;
  }

  static constexpr int kCannotMount = 100;

 private:
  static bool Remount(const std::string& directory, unsigned long flags) {
    return mount("none", directory.c_str(), nullptr, MS_REMOUNT | flags,
                 nullptr) == 0;
  }
};

TEST_F(JobSecretTest, GroupMayReadAReadOnlyMount) {
  const std::string directory = path("mounted");
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  const pid_t child = fork();
  if (child == 0) {
    _exit(unshare(CLONE_NEWNS) != 0 ? ReadOnlyMount::kCannotMount
                                    : ReadOnlyMount::Check(directory));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == ReadOnlyMount::kCannotMount) {
    GTEST_SKIP() << "mounting needs root, outside of a container";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the step that failed";
}

}  // namespace
}  // namespace distbench::security
