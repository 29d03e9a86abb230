#include "distbench/sequencer/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
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

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(BindAddressTest, BracketsIpv6Addresses) {
  EXPECT_EQ(BindAddress("", 10000), "[::]:10000");
  EXPECT_EQ(BindAddress("localhost", 1), "localhost:1");
  EXPECT_EQ(BindAddress("::1", 1), "[::1]:1");
  EXPECT_EQ(BindAddress("[::1]", 1), "[::1]:1");
}

TEST(FindFreePortTest, FindsPortsThatCanBeListenedAt) {
  for (const char* address : {"", "localhost", "127.0.0.1"}) {
    const absl::StatusOr<int> port = FindFreePort(address);
    ASSERT_TRUE(port.ok()) << port.status();
    EXPECT_GT(*port, 0);
    EXPECT_TRUE(CheckCanListen(address, *port).ok());
  }
}

TEST(FindFreePortTest, SaysWhyThereIsNone) {
  EXPECT_THAT(Message(FindFreePort("192.0.2.1").status()),
              HasSubstr("not an address of this host"));
}

TEST(CheckCanListenTest, AcceptsFreePorts) {
  EXPECT_TRUE(CheckCanListen("", 0).ok());
  EXPECT_TRUE(CheckCanListen("localhost", 0).ok());
  EXPECT_TRUE(CheckCanListen("127.0.0.1", 0).ok());
}

TEST(CheckCanListenTest, SaysThatAPortIsInUse) {
  const Listener listener;
  for (const char* address : {"127.0.0.1", "localhost", ""}) {
    const absl::Status status = CheckCanListen(address, listener.port());
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
    EXPECT_THAT(
        Message(status),
        AllOf(HasSubstr(std::to_string(listener.port())), HasSubstr("in use")));
  }
}

TEST(CheckCanListenTest, SaysWhatIsWrongWithAnAddress) {
  // Reserved for documentation, so that no host has it.
  EXPECT_THAT(Message(CheckCanListen("192.0.2.1", 0)),
              HasSubstr("192.0.2.1 is not an address of this host"));
  EXPECT_THAT(Message(CheckCanListen("no address at all", 0)),
              HasSubstr("no address at all"));
  EXPECT_THAT(Message(CheckCanListen("", 65536)), HasSubstr("65536"));
}

}  // namespace
}  // namespace distbench
