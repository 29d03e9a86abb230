#include "distbench/security/received_tls_files.h"

#include <fstream>
#include <string>

#include "distbench/base/read_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

TEST(ReceivedTlsFilesTest, FilesHaveWhatWasReceived) {
  ReceivedTlsFiles received;
  EXPECT_TRUE(received.files().empty());
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "first", .key = "1"}),
            absl::OkStatus());
  const TlsFiles files = received.files();
  EXPECT_EQ(*ReadFile(files.ca), "authority");
  EXPECT_EQ(*ReadFile(files.cert), "first");
  EXPECT_EQ(*ReadFile(files.key), "1");
}

TEST(ReceivedTlsFilesTest, RenewedOnesHaveTheSameNames) {
  ReceivedTlsFiles received;
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "first", .key = "1"}),
            absl::OkStatus());
  const TlsFiles files = received.files();
  ASSERT_EQ(received.Update({.ca = "authority", .cert = "second", .key = "2"}),
            absl::OkStatus());
  EXPECT_EQ(received.files().cert, files.cert);
  EXPECT_EQ(*ReadFile(files.cert), "second");
  EXPECT_EQ(*ReadFile(files.key), "2");
}

TEST(ReceivedTlsFilesTest, ReadsWhatIsSent) {
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
}  // namespace distbench
