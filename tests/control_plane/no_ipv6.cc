// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/control_plane/no_ipv6.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"
#include "distbench/protocol/registry/registry.h"
#include "glog/logging.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

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

// Before main(), because threads that exist already keep IPv6.
const bool kIsRefused = [] {
  CHECK(RefuseIpv6());
  return true;
}();

}  // namespace

bool IsListening(int port) {
  const base::FileDescriptor visitor(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {.sin_family = AF_INET,
                         .sin_port = htons(port),
                         .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return connect(visitor.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)) == 0;
}

void ExpectDriverListens(const std::string& name) {
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

}  // namespace distbench
