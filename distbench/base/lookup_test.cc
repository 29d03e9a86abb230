// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/lookup.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(LookUpTest, HasThePort) {
  const auto found = LookUp("127.0.0.1", "4711");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ((*found)->ai_family, AF_INET);
  const auto& address = *reinterpret_cast<sockaddr_in*>((*found)->ai_addr);
  EXPECT_EQ(address.sin_port, htons(4711));
  EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  EXPECT_EQ((*found)->ai_next, nullptr) << "once, not for each kind of socket";
}

TEST(LookUpTest, NoHostIsAllInterfacesIfToldSo) {
  std::set<int> families;
  const auto found = LookUp("", "1", AI_PASSIVE);
  ASSERT_TRUE(found.ok()) << found.status();
  for (const addrinfo* entry = found->get(); entry; entry = entry->ai_next) {
    families.insert(entry->ai_family);
    if (entry->ai_family != AF_INET) continue;
    const auto& address = *reinterpret_cast<sockaddr_in*>(entry->ai_addr);
    EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_ANY));
  }
  EXPECT_EQ(families.count(AF_INET), 1);
}

TEST(LookUpTest, NeedsNoPort) {
  const auto found = LookUp("127.0.0.1", "");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(reinterpret_cast<sockaddr_in*>((*found)->ai_addr)->sin_port, 0);
}

// It would stand for this host.
TEST(LookUpTest, NoHostIsNoOtherOne) {
  const auto found = LookUp("", "1");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
}

TEST(LookUpTest, SaysWhyThereIsNone) {
  // No name server is asked: these are no names, and no numbers.
  for (const auto& [host, port] :
       {std::pair("256.1.1.1.", "1"), std::pair("127.0.0.1", "http")}) {
    const auto found = LookUp(host, port, AI_NUMERICHOST);
    EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound) << host;
    EXPECT_EQ(found.status().message(), "Name or service not known") << host;
  }
}

}  // namespace
}  // namespace distbench::base
