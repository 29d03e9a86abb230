// Tests that all servers listen on hosts whose kernel has no IPv6. A filter,
// installed at the start of this program, makes socket(2) refuse it.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"
#include "distbench/base/listen_address.h"
#include "distbench/client/test_client.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optional_libraries.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

bool RefuseIpv6() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = std::size(filter), .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool IsListening(int port) {
  const base::FileDescriptor visitor(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {.sin_family = AF_INET,
                         .sin_port = htons(port),
                         .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return connect(visitor.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)) == 0;
}

TEST(NoIpv6Test, ThereIsNone) {
  EXPECT_FALSE(
      base::FileDescriptor(socket(AF_INET6, SOCK_STREAM, 0)).is_open());
  EXPECT_EQ(errno, EAFNOSUPPORT);
}

TEST(NoIpv6Test, AllInterfacesAreThoseOfIpv4) {
  EXPECT_EQ(base::AllInterfaces(), "0.0.0.0");
  EXPECT_THAT(*base::ListenAddresses("", 0), ElementsAre("0.0.0.0:0"));
  EXPECT_THAT(*base::ListenAddresses("localhost", 0),
              ElementsAre("127.0.0.1:0"));
}

TEST(NoIpv6Test, TheSequencersFrontDoorAndMetrics) {
  sequencer::SequencerOptions options;
  options.port = 0;
  options.metrics_port = 0;
  const auto sequencer = sequencer::SequencerServer::Start(options);
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_TRUE(IsListening((*sequencer)->metrics_port()));
  const auto client = client::TestClient::Connect(
      absl::StrCat("127.0.0.1:", (*sequencer)->port()));
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->GetStatus().ok());
}

TEST(NoIpv6Test, TheNodeManagersServices) {
  Cluster cluster;
  node::NodeManagerOptions options;
  options.port = base::FindFreePort("").value();
  options.metrics_port = 0;
  const node::NodeManager& node = cluster.StartNode(options);
  EXPECT_TRUE(IsListening(options.port));
  EXPECT_TRUE(IsListening(node.metrics_port()));
}

TEST(NoIpv6Test, TheDrivers) {
  for (const char* name : {
         "grpc", "grpc_stream", "tcp", "thrift",
#if DISTBENCH_HAS_NGHTTP2
             "http2",
#endif
       }) {
    // Listens on all interfaces because the address is a host name.
    auto driver = protocol::MakeProtocolDriver(
        {.driver = name}, {.service_address = "node7.example"});
    ASSERT_TRUE(driver.ok()) << driver.status();
    const absl::StatusOr<std::string> address = (*driver)->Listen(1);
    ASSERT_TRUE(address.ok()) << address.status();
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(base::SplitHostPort(*address).second, &port));
    EXPECT_TRUE(IsListening(port)) << name << " " << *address;
  }
}

#if DISTBENCH_HAS_LIBFABRIC
// Its address is not a port: the first bytes are the socket address's family.
TEST(NoIpv6Test, Libfabric) {
  auto driver = protocol::MakeProtocolDriver({.driver = "libfabric"},
                                             {.service_address = "127.0.0.1"});
  ASSERT_TRUE(driver.ok()) << driver.status();
  const absl::StatusOr<std::string> address = (*driver)->Listen(1);
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_THAT(*address, StartsWith("libfabric:tcp:0200"));
}
#endif

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!distbench::RefuseIpv6()) return 1;
  return RUN_ALL_TESTS();
}
