#include "distbench/base/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Listens on a free port of 127.0.0.1.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(listen(fd_, 1), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size),
              0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(fd_); }

  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

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
  const Listener listener;
  for (const char* address : {"127.0.0.1", "localhost", ""}) {
    const absl::Status status =
        ListenAddresses(address, listener.port()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
    EXPECT_THAT(
        Message(status),
        AllOf(HasSubstr(std::to_string(listener.port())), HasSubstr("in use")));
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
}  // namespace distbench
