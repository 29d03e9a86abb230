// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/listen_address.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "distbench/base/host_port.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ListenAtTest, ListensAtAPortThatIsFree) {
  for (const char* address : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0"}) {
    const auto listening = ListenAt(address);
    ASSERT_TRUE(listening.ok()) << listening.status();
    EXPECT_NE(listening->port, 0);
    EXPECT_NE(fcntl(listening->socket.get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(fcntl(listening->socket.get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(ListenAtTest, AllInterfacesAreThoseOfIpv4Too) {
  const auto listening = ListenAt(JoinHostPort(AllInterfaces(), 0));
  ASSERT_TRUE(listening.ok()) << listening.status();
  const FileDescriptor visitor(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {.sin_family = AF_INET,
                         .sin_port = htons(listening->port),
                         .sin_addr = {htonl(INADDR_LOOPBACK)}};
  EXPECT_EQ(connect(visitor.get(), reinterpret_cast<sockaddr*>(&address),
                    sizeof(address)),
            0);
}

TEST(ListenAtTest, PreparesTheSocketBeforeAnybodyCanConnect) {
  int is_listening = -1;
  const auto listening = ListenAt("127.0.0.1:0", [&](int fd) {
    socklen_t size = sizeof(is_listening);
    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size);
  });
  ASSERT_TRUE(listening.ok()) << listening.status();
  EXPECT_EQ(is_listening, 0);
}

TEST(ListenAtTest, SaysWhatFailed) {
  EXPECT_THAT(Message(ListenAt("192.0.2.1:0").status()),
              HasSubstr("cannot listen at 192.0.2.1:0: Cannot assign"));
  EXPECT_THAT(Message(ListenAt("no address at all:0").status()),
              HasSubstr("no address at all"));
}

TEST(ListenAddressesTest, AreInNumbers) {
  EXPECT_THAT(*ListenAddresses("", 0), ElementsAre("[::]:0"));
  EXPECT_THAT(*ListenAddresses("127.0.0.1", 0), ElementsAre("127.0.0.1:0"));
  EXPECT_THAT(*ListenAddresses("localhost", 0), Contains("127.0.0.1:0"));
}

TEST(ListenAddressesTest, BracketsIpv6Addresses) {
  const auto addresses = ListenAddresses("::1", 0);
  if (!addresses.ok()) GTEST_SKIP() << addresses.status();
  EXPECT_THAT(*addresses, ElementsAre("[::1]:0"));
}

TEST(FindFreePortTest, FindsPortsThatCanBeListenedAt) {
  for (const char* address : {"", "localhost", "127.0.0.1"}) {
    const absl::StatusOr<int> port = FindFreePort(address);
    ASSERT_TRUE(port.ok()) << port.status();
    EXPECT_GT(*port, 0);
    EXPECT_TRUE(ListenAddresses(address, *port).ok());
  }
}

TEST(FindFreePortTest, SaysWhyThereIsNone) {
  EXPECT_THAT(Message(FindFreePort("192.0.2.1").status()),
              HasSubstr("not an address of this host"));
}

TEST(ListenAddressesTest, AcceptsFreePorts) {
  EXPECT_TRUE(ListenAddresses("", 0).ok());
  EXPECT_TRUE(ListenAddresses("localhost", 0).ok());
  EXPECT_TRUE(ListenAddresses("127.0.0.1", 0).ok());
}

TEST(ListenAddressesTest, SaysThatAPortIsInUse) {
  const auto listener = ListenAt("127.0.0.1:0");
  for (const char* address : {"127.0.0.1", "localhost", ""}) {
    const absl::Status status =
        ListenAddresses(address, listener->port).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
    EXPECT_THAT(
        Message(status),
        AllOf(HasSubstr(std::to_string(listener->port)), HasSubstr("in use")));
  }
}

TEST(ListenAddressesTest, SaysWhatIsWrongWithAnAddress) {
  // Reserved for documentation, so that no host has it.
  EXPECT_THAT(Message(ListenAddresses("192.0.2.1", 0).status()),
              HasSubstr("192.0.2.1 is not an address of this host"));
  EXPECT_THAT(Message(ListenAddresses("no address at all", 0).status()),
              HasSubstr("no address at all"));
  EXPECT_THAT(Message(ListenAddresses("", 65536).status()), HasSubstr("65536"));
}

}  // namespace
}  // namespace distbench::base
