#include "test_builder/protocols/registry.h"

#include "test_builder/protocols/protocols.h"

namespace distbench::test_builder {

const std::vector<Protocol>& AllProtocols() {
  static const auto& protocols = *new std::vector<Protocol>{
      GrpcProtocol(),
      GrpcStreamProtocol(),
      Http2Protocol(),
      LibfabricProtocol(),
      TcpProtocol(),
      ThriftProtocol(),
      LoopbackProtocol(),
      HomaProtocol(),
      MercuryProtocol(),
      DoubleBarrelProtocol(),
      ComposableRpcCounterProtocol(),
  };
  return protocols;
}

std::vector<std::string> ProtocolNames() {
  std::vector<std::string> names;
  for (const Protocol& protocol : AllProtocols())
    names.push_back(protocol.name);
  return names;
}

const Protocol* FindProtocol(absl::string_view name) {
  for (const Protocol& protocol : AllProtocols()) {
    if (protocol.name == name) return &protocol;
  }
  return nullptr;
}

}  // namespace distbench::test_builder
