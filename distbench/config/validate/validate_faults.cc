#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/syntax/words.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

std::vector<std::string> DriversThatBreakConnections() {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.built_in && driver.breaks_connections) {
      names.push_back(driver.name);
    }
  }
  return names;
}

class FaultValidation {
 public:
  FaultValidation(const TestValidation& validation, int index)
      : validation_(validation),
        fault_(validation.test().server_faults(index)),
        path_(validation.Element("server_faults",
                                 validation.names().server_faults, index)) {}

  void Validate() const {
    CheckQuantities(fault_, path_, validation_.problems());
    CheckService();
    CheckRpc();
    CheckTimes();
    CheckRepetition();
    CheckProbability();
    CheckKind();
  }

 private:
  // Whether it is about the server as a whole, not about single requests.
  bool IsOfServer() const {
    return fault_.fault_case() == ServerFault::kFreeze ||
           fault_.fault_case() == ServerFault::kResetConnections;
  }
  bool IsMoment() const {
    return fault_.fault_case() == ServerFault::kResetConnections;
  }

  void Add(const char* field, std::string message) const {
    validation_.Add(path_.Field(field), std::move(message));
  }

  void CheckService() const {
    const int index =
        validation_.Resolve(path_.Field("service"), "service", fault_.service(),
                            validation_.names().services);
    if (index == kNone || IsOutside(validation_.test().services(index))) return;
    CheckInstances();
  }

  void CheckInstances() const {
    const auto service = validation_.FindService(fault_.service());
    if (!service.has_value()) return;
    const Path path = path_.Field("instances");
    std::set<int> seen;
    for (int i = 0; i < fault_.instances_size(); ++i) {
      const int number = fault_.instances(i);
      validation_.CheckRange(path.At(i), number, 0, service->grid.Count() - 1);
      if (!seen.insert(number).second) {
        validation_.Add(path.At(i), absl::StrCat(number,
                                                 " is listed more than once; "
                                                 "remove one"));
      }
    }
  }

  void CheckRpc() const {
    if (IsOfServer()) {
      if (fault_.has_rpc_name()) {
        Add("rpc_name",
            "does not go together with freeze and reset_connections, which "
            "affect the server as a whole; remove it");
      }
      return;
    }
    if (fault_.rpc_name().empty()) {
      CheckStreams();
      return;
    }
    const int index =
        validation_.Resolve(path_.Field("rpc_name"), "RPC", fault_.rpc_name(),
                            validation_.names().rpcs);
    if (index == kNone) return;
    const RpcSpec& rpc = validation_.test().rpc_descriptions(index);
    if (rpc.server() != fault_.service()) {
      Add("rpc_name",
          absl::StrCat("RPC ", Quoted(rpc.name()), " is not answered by ",
                       Quoted(fault_.service()), ", but by ",
                       Quoted(rpc.server()), "; correct one"));
    } else if (rpc.has_stream()) {
      Add("rpc_name",
          absl::StrCat("RPC ", Quoted(rpc.name()),
                       " streams, and only freeze and reset_connections affect "
                       "streams; use one of these, or name another RPC"));
    }
  }

  void CheckStreams() const {
    for (const RpcSpec& rpc : validation_.test().rpc_descriptions()) {
      if (rpc.server() != fault_.service() || !rpc.has_stream()) continue;
      Add("rpc_name",
          absl::StrCat("is missing, but of the RPCs of ",
                       Quoted(fault_.service()), ", ", Quoted(rpc.name()),
                       " streams, which only freeze and reset_connections "
                       "affect; name an RPC that does not stream"));
      return;
    }
  }

  void CheckTimes() const {
    const auto check = [&](bool is_present, const char* field, int64_t value,
                           int64_t minimum) {
      if (!is_present) return;
      validation_.CheckRange(path_.Field(field), value, minimum, kMaxTimeNs);
    };
    check(fault_.has_start_ns(), "start_ns", fault_.start_ns(), 0);
    check(fault_.has_duration_ns(), "duration_ns", fault_.duration_ns(), 1);
    check(fault_.has_repeat_ns(), "repeat_ns", fault_.repeat_ns(),
          kMinFaultRepeatNs);
  }

  bool HasDuration() const {
    return fault_.has_duration_ns() || fault_.has_duration();
  }
  bool HasRepeat() const {
    return fault_.has_repeat_ns() || fault_.has_repeat();
  }

  void CheckRepetition() const {
    if (IsMoment()) {
      if (HasDuration()) {
        Add("duration",
            "does not go together with reset_connections, which happens at one "
            "moment; remove it, or give repeat");
      }
      return;
    }
    if (HasDuration()) {
      // Texts that are wrong are reported as quantities.
      if (fault_.has_duration_ns() && fault_.has_repeat_ns() &&
          fault_.repeat_ns() <= fault_.duration_ns()) {
        Add("repeat",
            "is not longer than the duration, so that the fault would never "
            "end; raise it, or leave both out");
      }
    } else if (fault_.fault_case() == ServerFault::kFreeze) {
      Add("duration", "is missing; say how long the server is frozen");
    } else if (HasRepeat()) {
      Add("repeat",
          "needs a duration, without which the fault lasts until the end of "
          "the traffic; add it");
    }
  }

  void CheckProbability() const {
    if (!fault_.has_probability()) return;
    if (IsOfServer()) {
      Add("probability",
          "does not go together with freeze and reset_connections, which "
          "affect the server as a whole; remove it");
    } else if (!(fault_.probability() > 0 && fault_.probability() <= 1)) {
      Add("probability", absl::StrCat(fault_.probability(),
                                      " is out of range; must be above 0 and "
                                      "at most 1"));
    }
  }

  void CheckKind() const {
    switch (fault_.fault_case()) {
      case ServerFault::kErrorCode:
        CheckText("error_code", CheckErrorCode(fault_.error_code()));
        break;
      case ServerFault::kExtraLatency:
        CheckExtraLatency();
        break;
      case ServerFault::kExtraLatencyDistribution:
        validation_.Resolve(path_.Field("extra_latency_distribution"),
                            "delay_distribution_configs entry",
                            fault_.extra_latency_distribution(),
                            validation_.names().delay_distributions);
        break;
      case ServerFault::kFreeze:
        CheckTrue("freeze", fault_.freeze());
        break;
      case ServerFault::kResetConnections:
        CheckTrue("reset_connections", fault_.reset_connections());
        CheckDriver();
        break;
      case ServerFault::FAULT_NOT_SET:
        validation_.Add(path_,
                        "does not say what happens; give one of error_code, "
                        "extra_latency, extra_latency_distribution, freeze and "
                        "reset_connections");
        break;
    }
  }

  void CheckText(const char* field, const absl::Status& status) const {
    if (!status.ok()) Add(field, std::string(status.message()));
  }

  void CheckTrue(const char* field, bool value) const {
    if (!value) Add(field, "is false; set it to true, or remove the fault");
  }

  void CheckExtraLatency() const {
    const auto latency = ParseDurationWithUnit(fault_.extra_latency());
    CheckText("extra_latency", latency.status());
    if (!latency.ok()) return;
    const int64_t latency_ns = absl::ToInt64Nanoseconds(*latency);
    if (latency_ns >= 1 && latency_ns <= kMaxDelayNs) return;
    Add("extra_latency", absl::StrCat(Quoted(fault_.extra_latency()),
                                      " is out of range; must be from 1ns to "
                                      "277h"));
  }

  // Decorators have to pass it on.
  void CheckDriver() const {
    const int index = validation_.names().services.Find(fault_.service());
    if (index == kNone || IsOutside(validation_.test().services(index))) {
      return;
    }
    const DriverStack stack = ResolveDriverStack(
        validation_.test(), validation_.names(),
        OptionsOf(validation_.names(), validation_.test().services(index)));
    if (stack.problem.has_value()) return;
    for (const ResolvedDriver& level : stack.drivers) {
      if (level.driver->breaks_connections) continue;
      Add("reset_connections",
          absl::StrCat("driver ", Quoted(level.driver->name), " of service ",
                       Quoted(fault_.service()),
                       " cannot break its connections; drivers that can: ",
                       QuotedList(DriversThatBreakConnections())));
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
