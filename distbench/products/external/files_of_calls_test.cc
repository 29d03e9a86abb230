#include <filesystem>
#include <fstream>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/reading/referenced_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kConfigWithFiles[] = R"(
  tests {
    services {
      name: "cache" external { tls { ca_file: "parts/ca.pem" } }
    }
    rpc_descriptions {
      name: "get"
      external_call {
        request_file: "parts/get.json"
        descriptor_set_file: "parts/cache.pb"
        rows_file: "parts/users.csv"
      }
    }
  })";

class FilesOfCallsTest : public testing::Test {
 protected:
  FilesOfCallsTest() {
    std::filesystem::create_directories(folder_ + "/parts");
  }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + "/" + name) << content;
  }

  const std::string folder_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FilesOfCallsTest, AreReadFromTheFolderOfTheConfig) {
  Write("parts/ca.pem", "PEM");
  Write("parts/get.json", "{\"key\": 1}");
  Write("parts/cache.pb", "descriptors");
  Write("parts/users.csv", "user\nann\n");
  Write("test.config", kConfigWithFiles);
  const auto sequence = config::LoadTestSequence(folder_ + "/test.config");
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  const DistributedSystemDescription& test = sequence->tests(0);
  EXPECT_EQ(test.services(0).external().tls().ca_certificates(), "PEM");
  const ExternalCallSpec& call = test.rpc_descriptions(0).external_call();
  EXPECT_EQ(call.request_json(), "{\"key\": 1}");
  EXPECT_EQ(call.descriptors(), "descriptors");
  EXPECT_EQ(call.rows(), "user\nann\n");
  // Nothing is read again for a config that has everything.
  std::filesystem::remove_all(folder_ + "/parts");
  TestSequence whole = *sequence;
  EXPECT_TRUE(
      config::ReadReferencedFiles(folder_ + "/test.config", whole).ok());
}

TEST_F(FilesOfCallsTest, ErrorsNameEveryFileThatCannotBeRead) {
  Write("test.config", kConfigWithFiles);
  Write("parts/get.json", "{}");
  const auto sequence = config::LoadTestSequence(folder_ + "/test.config");
  EXPECT_THAT(
      std::string(sequence.status().message()),
      AllOf(HasSubstr("tests[0].services[\"cache\"].external.tls.ca_file: "
                      "cannot read"),
            HasSubstr("tests[0].rpc_descriptions[\"get\"].external_call."
                      "rows_file: cannot read"),
            HasSubstr("cache.pb")));
}

TEST_F(FilesOfCallsTest, TheEndingSaysHowARequestIsWritten) {
  Write("a.txtpb", "key: 1");
  auto sequence = base::FromText<TestSequence>(R"(
    tests { rpc_descriptions { external_call { request_file: "a.txtpb" } } }
    tests { rpc_descriptions { external_call { request_file: "a.xml" } } })");
  const absl::Status status =
      config::ReadReferencedFiles(folder_ + "/test.config", sequence);
  EXPECT_EQ(
      sequence.tests(0).rpc_descriptions(0).external_call().request_text(),
      "key: 1");
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("tests[1]"),
                    HasSubstr("\"a.xml\" has no ending that says how")));
}

TEST_F(FilesOfCallsTest, PrivateKeysAreNotSent) {
  Write("both.pem", "-----BEGIN PRIVATE KEY-----\nAA==\n");
  auto sequence = base::FromText<TestSequence>(
      "tests { services { name: 'cache' external { tls { ca_file: 'both.pem' "
      "} } } }");
  EXPECT_THAT(
      std::string(
          config::ReadReferencedFiles(folder_ + "/test.config", sequence)
              .message()),
      HasSubstr("external.tls.ca_file: \"both.pem\" has a private key"));
}

TEST(ConfigHash, GivesNoHintOfSecrets) {
  const auto hash = [](const std::string& token) {
    auto test = base::FromText<DistributedSystemDescription>(R"(
      rpc_descriptions {
        external_call { metadata { key: "token" value: "a" } }
      })");
    (*test.mutable_rpc_descriptions(0)
          ->mutable_external_call()
          ->mutable_metadata())["token"] = token;
    return config::ConfigHash(test);
  };
  EXPECT_EQ(hash("a"), hash("b"));
}

}  // namespace
}  // namespace distbench::external
