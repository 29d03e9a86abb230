#include "test_builder/protocols/tcp.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

ProtocolSetup SetUpTcp(const ParameterValues& values) {
  return {.alias = absl::StrCat("tcp", IpVersionSuffix(values))};
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

}  // namespace distbench
