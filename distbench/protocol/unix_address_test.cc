#include "distbench/protocol/unix_address.h"

#include <sys/un.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/driver_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(UnixAddressTest, AddressesAreNewAndFit) {
  const std::string address = NewUnixAddress(false).value();
  EXPECT_TRUE(IsUnixAddress(address));
  EXPECT_NE(NewUnixAddress(false).value(), address);
  EXPECT_LT(address.size() - std::strlen(kUnixScheme),
            sizeof(sockaddr_un::sun_path));
  EXPECT_FALSE(IsUnixAddress("ipv4:127.0.0.1:80"));
}

TEST(UnixAddressTest, ThereIsNoTls) {
  const absl::Status status = NewUnixAddress(true).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("\"unix\""), HasSubstr("--tls_ca")));
}

TEST(UnixAddressTest, OtherHostsAreRefusedBeforeTheyAreDialled) {
  const std::string here = NewUnixAddress(false).value();
  EXPECT_TRUE(PeersToDial(SingleServers({here}), false).ok());
  const std::string there = absl::StrCat(
      kUnixScheme, "distbench-00000000-1111-2222-3333-444444444444-5-abc");
  const absl::Status status =
      PeersToDial(SingleServers({here, there}), false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(there), HasSubstr("transport \"tcp\"")));
}

}  // namespace
}  // namespace distbench::protocol
