#include "test_builder/protocols/registry.h"

#include "test_builder/protocols/decorators.h"
#include "test_builder/protocols/grpc.h"
#include "test_builder/protocols/homa.h"
#include "test_builder/protocols/mercury.h"
#include "test_builder/protocols/tcp.h"

namespace distbench {

const std::vector<Protocol>& AllProtocols() {
  static const auto& protocols = *new std::vector<Protocol>{
      GrpcProtocol(),         TcpProtocol(),
      HomaProtocol(),         MercuryProtocol(),
      DoubleBarrelProtocol(), ComposableRpcCounterProtocol(),
  };
  return protocols;
}

const Protocol* FindProtocol(absl::string_view name) {
  for (const Protocol& protocol : AllProtocols()) {
    if (protocol.name == name) return &protocol;
  }
  return nullptr;
}

}  // namespace distbench
