#include "test_builder/protocols/registry.h"

#include <map>

#include "distbench/base/plugins.h"
#include "test_builder/protocols/protocols.h"

namespace distbench::test_builder {
namespace {

// gRPC's first, then tcp and those of products by name.
std::vector<Protocol> MakeProtocols() {
  std::map<std::string, Protocol> by_name = {{"tcp", TcpProtocol()}};
  for (const auto& [name, protocol] : base::Plugins<Protocol>::All()) {
    by_name.emplace(name, *protocol);
  }
  std::vector<Protocol> protocols = {GrpcProtocol(), GrpcStreamProtocol()};
  for (const auto& [name, protocol] : by_name) protocols.push_back(protocol);
  for (const Protocol& protocol :
       {LoopbackProtocol(), HomaProtocol(), MercuryProtocol(),
        DoubleBarrelProtocol(), ComposableRpcCounterProtocol()}) {
    protocols.push_back(protocol);
  }
  return protocols;
}

}  // namespace

const std::vector<Protocol>& AllProtocols() {
  static const auto& protocols = *new std::vector<Protocol>(MakeProtocols());
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
