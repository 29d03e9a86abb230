// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

class FaultValidation {
 public:
  FaultValidation(const TestValidation& validation, int index)
      : validation_(validation),
        fault_(validation.test().server_faults(index)),
        path_(validation.Element("server_faults",
                                 validation.names().server_faults, index)) {}

  void Validate() const {
    CheckInstances();
    if (!IsOfServer()) CheckRpc();
    if (fault_.reset_connections()) CheckDriver();
  }

 private:
  // Whether it is about the server as a whole, not about single requests.
  bool IsOfServer() const {
    return fault_.fault_case() == ServerFault::kFreeze ||
           fault_.fault_case() == ServerFault::kResetConnections;
  }

  template <typename... Parts>
  void Add(const char* field, const Parts&... message) const {
    validation_.Add(path_.Field(field), message...);
  }

  void CheckInstances() const {
    const auto service = validation_.FindService(fault_.service());
    if (!service.has_value() || IsOutside(*service->service)) return;
    const Path path = path_.Field("instances");
    for (int i = 0; i < fault_.instances_size(); ++i) {
      validation_.CheckRange(path.At(i), fault_.instances(i), 0,
                             service->grid.Count() - 1);
    }
  }

  void CheckRpc() const {
    if (fault_.rpc_name().empty()) {
      CheckStreams();
      return;
    }
    const int index = validation_.names().rpcs.Find(fault_.rpc_name());
    if (index == kNone) return;
    const RpcSpec& rpc = validation_.test().rpc_descriptions(index);
    if (rpc.server() != fault_.service()) {
      Add("rpc_name", "RPC ", Quoted(rpc.name()), " is not answered by ",
          Quoted(fault_.service()), ", but by ", Quoted(rpc.server()),
          "; correct one");
    }
  }

  void CheckStreams() const {
    for (const RpcSpec& rpc : validation_.test().rpc_descriptions()) {
      if (rpc.server() != fault_.service() || !rpc.has_stream()) continue;
      Add("rpc_name", "is missing, but of the RPCs of ",
          Quoted(fault_.service()), ", ", Quoted(rpc.name()),
          " streams, which only freeze and reset_connections affect; name an "
          "RPC that does not stream");
      return;
    }
  }

  // Decorators have to pass it on.
  void CheckDriver() const {
    const int index = validation_.names().services.Find(fault_.service());
    if (index == kNone || IsOutside(validation_.test().services(index))) {
      return;
    }
    for (const ResolvedDriver& level :
         validation_.DriversOf(fault_.service())) {
      if (level.driver->breaks_connections) continue;
      Add("reset_connections",
          absl::StrCat("driver ", Quoted(level.driver->name), " of service ",
                       Quoted(fault_.service()),
                       " cannot break its connections; drivers that can: ",
                       QuotedList(BuiltInDriverNames(
                           &DriverDeclaration::breaks_connections))));
      return;
    }
  }

  const TestValidation& validation_;
  const ServerFault& fault_;
  const Path path_;
};

}  // namespace

void ValidateServerFaults(const TestValidation& validation) {
  for (int i = 0; i < validation.test().server_faults_size(); ++i) {
    FaultValidation(validation, i).Validate();
  }
}

}  // namespace distbench::config
