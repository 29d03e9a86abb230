#include "test_builder/protocols/plain_drivers.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

ProtocolSetup SetUpTcp(const ParameterValues& values) {
  return {.alias = absl::StrCat("tcp", IpVersionSuffix(values)), .options = {}};
}

ProtocolSetup SetUpLoopback(const ParameterValues&) {
  return {.alias = "loopback", .options = {}};
}

}  // namespace

Protocol TcpProtocol() {
  return {
      .name = "tcp",
      .summary = "messages over plain TCP connections",
      .parameters = {},
      .build = &SetUpTcp,
  };
}

Protocol LoopbackProtocol() {
  return {
      .name = "loopback",
      .summary = "within one process, to measure distbench itself",
      .parameters = {},
      .build = &SetUpLoopback,
  };
}

}  // namespace distbench
