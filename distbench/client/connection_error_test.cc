#include "distbench/client/connection_error.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Explain(const absl::Status& error) {
  const absl::Status explained =
      ExplainConnectionError(error, "host1:10000", absl::Seconds(5));
  EXPECT_EQ(explained.code(), error.code());
  return std::string(explained.message());
}

TEST(ConnectionErrorTest, SaysWhatToCheck) {
  EXPECT_THAT(
      Explain(absl::UnavailableError(
          "failed to connect to all addresses; last error: UNKNOWN: "
          "ipv4:127.0.0.1:10000: Failed to connect to remote host: "
          "Connection refused")),
      AllOf(HasSubstr("nothing listens at host1:10000"), HasSubstr("port?")));
  EXPECT_THAT(Explain(absl::UnavailableError(
                  "DNS resolution failed for host1:10000: not found")),
              AllOf(HasSubstr("host1:10000"), HasSubstr("name")));
  EXPECT_THAT(
      Explain(absl::DeadlineExceededError("Deadline Exceeded")),
      AllOf(HasSubstr("host1:10000"), HasSubstr("5s"), HasSubstr("firewall")));
  EXPECT_THAT(
      Explain(absl::UnimplementedError("")),
      AllOf(HasSubstr("host1:10000"), HasSubstr("another implementation")));
  EXPECT_THAT(Explain(absl::InternalError("strange")),
              AllOf(HasSubstr("host1:10000"), HasSubstr("strange")));
}

}  // namespace
}  // namespace distbench::client
