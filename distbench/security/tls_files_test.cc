// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_files.h"

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/security/testing/testing_certificates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsFilesTest : public testing::Test {
 protected:
  static std::string Error(const TlsFiles& files,
                           TlsRole role = TlsRole::kNode) {
    return std::string(CheckTlsFiles(files, role).message());
  }

  const TestAuthority authority_{"authority"};
  const TlsFiles good_ = authority_.IssueForLocalhost("node");
};

TEST_F(TlsFilesTest, AcceptsWhatFitsTheRole) {
  for (TlsRole role : {TlsRole::kClient, TlsRole::kSequencer, TlsRole::kNode}) {
    EXPECT_EQ(Error({}, role), "");
    EXPECT_EQ(Error(good_, role), "");
  }
  EXPECT_EQ(Error({.ca = good_.ca}, TlsRole::kClient), "");
  EXPECT_EQ(Error({.cert = good_.cert, .key = good_.key}, TlsRole::kSequencer),
            "");
}

TEST_F(TlsFilesTest, SaysWhatIsMissing) {
  EXPECT_THAT(Error({.cert = good_.cert, .key = good_.key}, TlsRole::kClient),
              HasSubstr("TLS needs --tls_ca as well"));
  EXPECT_THAT(Error({.cert = good_.cert, .key = good_.key}),
              HasSubstr("TLS needs --tls_ca as well"));
  for (TlsRole role : {TlsRole::kClient, TlsRole::kSequencer, TlsRole::kNode}) {
    EXPECT_THAT(Error({.ca = good_.ca, .cert = good_.cert}, role),
                HasSubstr("TLS needs --tls_key as well"));
    EXPECT_THAT(Error({.ca = good_.ca, .key = good_.key}, role),
                HasSubstr("TLS needs --tls_cert as well"));
  }
  EXPECT_THAT(Error({.ca = good_.ca}),
              HasSubstr("TLS needs --tls_cert as well"));
}

TEST_F(TlsFilesTest, NameWithoutTlsIsAnError) {
  EXPECT_THAT(Error({.name = "host"}, TlsRole::kClient),
              AllOf(HasSubstr("TLS needs --tls_ca"), HasSubstr("--tls_name")));
}

TEST_F(TlsFilesTest, NamesTheFileThatIsNotThere) {
  TlsFiles files = good_;
  files.ca = "/no/such/file";
  EXPECT_THAT(Error(files), AllOf(HasSubstr("--tls_ca=/no/such/file: "),
                                  HasSubstr("No such file")));
}

TEST_F(TlsFilesTest, NamesTheFileThatIsSomethingElse) {
  TlsFiles files = good_;
  files.cert = good_.key;
  EXPECT_THAT(Error(files), AllOf(HasSubstr("--tls_cert=" + good_.key),
                                  HasSubstr("no certificate in PEM form")));
  files = good_;
  files.key = good_.cert;
  EXPECT_THAT(Error(files), AllOf(HasSubstr("--tls_key=" + good_.cert),
                                  HasSubstr("no private key in PEM form")));
}

TEST_F(TlsFilesTest, RefusesTheKeyOfAnotherCertificate) {
  TlsFiles files = good_;
  files.key = authority_.IssueForLocalhost("other").key;
  EXPECT_THAT(Error(files),
              HasSubstr("not the key of the certificate in " + good_.cert));
}

TEST_F(TlsFilesTest, RefusesWhatHasExpired) {
  const TlsFiles expired = authority_.Issue(
      "old", {.common_name = "old", .validity = -absl::Minutes(1)});
  EXPECT_THAT(Error(expired), AllOf(HasSubstr("--tls_cert=" + expired.cert),
                                    HasSubstr("the certificate expired on ")));
}

TEST(TlsFilesInMemoryTest, FilesHaveWhatWasReceived) {
  TlsFilesInMemory received;
  EXPECT_TRUE(received.files().empty());
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "first", .key = "1"}),
            absl::OkStatus());
  const TlsFiles files = received.files();
  EXPECT_EQ(*base::ReadFile(files.ca), "authority");
  EXPECT_EQ(*base::ReadFile(files.cert), "first");
  EXPECT_EQ(*base::ReadFile(files.key), "1");
}

TEST(TlsFilesInMemoryTest, RenewedOnesHaveTheSameNames) {
  TlsFilesInMemory received;
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "first", .key = "1"}),
            absl::OkStatus());
  const TlsFiles files = received.files();
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "second", .key = "2"}),
            absl::OkStatus());
  EXPECT_EQ(received.files().cert, files.cert);
  EXPECT_EQ(*base::ReadFile(files.cert), "second");
  EXPECT_EQ(*base::ReadFile(files.key), "2");
}

TEST(TlsFilesInMemoryTest, OtherProcessesOfTheUserCanReadThem) {
  TlsFilesInMemory files;
  ASSERT_EQ(files.Update({.ca = "a", .cert = "b", .key = "c"}),
            absl::OkStatus());
  const TlsFiles names = files.FilesForOthers();
  const std::string command =
      absl::StrCat("cat ", names.ca, " ", names.cert, " ", names.key);
  FILE* output = popen(command.c_str(), "r");
  char contents[4] = {};
  EXPECT_EQ(fread(contents, 1, 3, output), 3);
  EXPECT_EQ(pclose(output), 0);
  EXPECT_STREQ(contents, "abc");
  struct stat key = {};
  ASSERT_EQ(stat(names.key.c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 07777, 0600);
}

TEST(TlsFilesInMemoryTest, ReadsWhatIsSent) {
  const std::string path = testing::TempDir() + "/certificate";
  std::ofstream(path) << "contents\n";
  const auto contents = ReadTlsContents({.cert = path});
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(*contents, (TlsContents{.cert = "contents\n"}));
  EXPECT_THAT(
      std::string(ReadTlsContents({.key = path + ".gone"}).status().message()),
      HasSubstr(path + ".gone"));
}

}  // namespace
}  // namespace distbench::security
