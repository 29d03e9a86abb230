// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/netlink.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The attributes that are found.
std::vector<std::pair<int, std::string>> Found(absl::string_view attributes) {
  std::vector<std::pair<int, std::string>> found;
  ForEachAttribute(attributes, [&](uint16_t type, absl::string_view value) {
    found.emplace_back(type, std::string(value));
  });
  return found;
}

std::string AttributeText(uint16_t type, const std::string& value,
                          size_t size) {
  const rtattr header{.rta_len = static_cast<uint16_t>(size), .rta_type = type};
  std::string bytes(BytesOf(header));
  bytes += value;
  bytes.resize(RTA_ALIGN(bytes.size()));
  return bytes;
}

TEST(NetlinkTest, AttributesArePaddedToFourBytes) {
  const std::string attributes = AttributeText(7, "abcde", sizeof(rtattr) + 5) +
                                 AttributeText(8, "", sizeof(rtattr));
  EXPECT_THAT(Found(attributes), ElementsAre(Pair(7, "abcde"), Pair(8, "")));
}

TEST(NetlinkTest, TheLastAttributeMayLackItsPadding) {
  const std::string attribute = AttributeText(7, "abcde", sizeof(rtattr) + 5);
  EXPECT_THAT(Found(attribute.substr(0, sizeof(rtattr) + 5)),
              ElementsAre(Pair(7, "abcde")));
}

TEST(NetlinkTest, AMalformedAttributeIsTheEnd) {
  const std::string good = AttributeText(1, "abcd", sizeof(rtattr) + 4);
  EXPECT_THAT(Found(good + AttributeText(2, "abcd", sizeof(rtattr) + 5) + good),
              ElementsAre(Pair(1, "abcd"), Pair(2, testing::_)))
      << "the length of the second one includes a byte of the third";
  EXPECT_THAT(Found(good + AttributeText(2, "", sizeof(rtattr) - 1) + good),
              ElementsAre(Pair(1, "abcd")));
  EXPECT_THAT(Found(AttributeText(2, "abcd", sizeof(rtattr) + 5)), IsEmpty());
  EXPECT_THAT(Found("abc"), IsEmpty());
}

TEST(NetlinkTest, ListsTheDevicesOfTheKernel) {
  ifinfomsg request{};
  const std::pair<int, std::string> loopback(IFLA_IFNAME,
                                             std::string("lo\0", 3));
  int loopback_count = 0;
  const absl::Status status =
      DumpNetlink(NETLINK_ROUTE, RTM_GETLINK, BytesOf(request),
                  [&](absl::string_view message) {
                    ConsumeStruct<ifinfomsg>(message);
                    for (const auto& attribute : Found(message)) {
                      loopback_count += attribute == loopback;
                    }
                  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(loopback_count, 1);
}

TEST(NetlinkTest, PassesOnTheKernelsRefusal) {
  inet_diag_req_v2 request{};
  request.sdiag_family = 255;
  const absl::Status status =
      DumpNetlink(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, BytesOf(request),
                  [](absl::string_view) { FAIL(); });
  EXPECT_THAT(std::string(status.message()), HasSubstr("netlink"));
  EXPECT_FALSE(status.ok());
}

TEST(NetlinkTest, AFamilyThatDoesNotExistIsAnError) {
  const absl::Status status =
      DumpNetlink(/*family=*/31, 16, "", [](absl::string_view) { FAIL(); });
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open a netlink socket"));
}

}  // namespace
}  // namespace distbench::node
