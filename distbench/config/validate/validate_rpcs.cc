// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// ---- Streams ----------------------------------------------------------------

constexpr int64_t kMaxMessages = 1'000'000;

class StreamValidation {
 public:
  StreamValidation(const TestValidation& validation, const Path& rpc_path,
                   const RpcSpec& rpc)
      : validation_(validation),
        names_(validation.names()),
        rpc_(rpc),
        stream_(rpc.stream()),
        path_(rpc_path.Field("stream")) {}

  // Calls to servers outside of the test have no driver, and their product
  // checks the rest.
  void Validate() const {
    CheckCounts("client_messages_distribution",
                stream_.client_messages_distribution());
    CheckCounts("server_messages_distribution",
                stream_.server_messages_distribution());
    if (!CallsOutside(rpc_)) CheckDrivers();
  }

 private:
  // A drawn number has the same limit as a given one.
  void CheckCounts(const char* field, const std::string& name) const {
    const int index = names_.size_distributions.Find(name);
    if (index == kNone) return;
    const DistributionConfig& counts =
        validation_.test().size_distribution_configs(index);
    int64_t most = 0;
    for (const CdfPoint& point : counts.cdf_points()) {
      most = std::max(most, point.value());
    }
    for (const PmfPoint& point : counts.pmf_points()) {
      for (const DataPoint& data : point.data_points()) {
        most = std::max({most, data.exact(), data.upper()});
      }
    }
    validation_.CheckRange(path_.Field(field), most, 0, kMaxMessages);
  }

  void CheckDrivers() const {
    CheckDriver(rpc_.server());
    for (const auto& [driver, options] : validation_.DriversOf(rpc_.server())) {
      CheckSettings(rpc_.server(), *driver, options->server_settings(),
                    driver->server_settings, driver->streaming_server_settings);
    }
    for (const std::string& client : rpc_.client()) {
      if (client != rpc_.server()) CheckDriver(client);
      for (const auto& [driver, options] : validation_.DriversOf(client)) {
        CheckSettings(client, *driver, options->client_settings(),
                      driver->client_settings,
                      driver->streaming_client_settings);
      }
    }
  }

  // Also reports decorators, which would not count or split messages.
  void CheckDriver(const std::string& service_name) const {
    for (const ResolvedDriver& level : validation_.DriversOf(service_name)) {
      if (level.driver->streams) continue;
      validation_.Add(
          path_, "driver ", Quoted(level.driver->name), " of service ",
          Quoted(service_name), " does not stream; these drivers do: ",
          QuotedList(BuiltInDriverNames(&DriverDeclaration::streams)));
      return;
    }
  }

  void CheckSettings(const std::string& service_name,
                     const DriverDeclaration& driver,
                     const NamedSettings& settings,
                     const SettingsDeclaration& declaration,
                     const std::map<std::string, std::string>& needed) const {
    if (!driver.streams) return;
    for (const auto& [name, value] : needed) {
      const std::string given = StringSetting(settings, declaration, name);
      if (given == value) continue;
      validation_.Add(path_, "driver ", Quoted(driver.name), " of service ",
                      Quoted(service_name), " does not stream with ", name, " ",
                      Quoted(given), "; set it to ", Quoted(value),
                      ", or leave it out");
    }
  }

  const TestValidation& validation_;
  const TestNames& names_;
  const RpcSpec& rpc_;
  const StreamSpec& stream_;
  const Path path_;
};

// ---- RPCs -------------------------------------------------------------------

// Whether some clients of the RPC are instances of its server, of which each
// calls the others and not itself.
bool CallsOwnService(const RpcSpec& rpc) {
  return absl::c_linear_search(rpc.client(), rpc.server());
}

constexpr const char* kAxisNames[] = {"x", "y", "z"};

class RpcValidation {
 public:
  RpcValidation(const TestValidation& validation, int index)
      : validation_(validation),
        names_(validation.names()),
        rpc_(validation.test().rpc_descriptions(index)),
        path_(validation.Rpc(index)) {}

  void Validate() const {
    CheckHandler();
    CheckFanout();
    CheckSizesByInstance(validation_, path_.Field("request_payload_name"),
                         rpc_.request_payload_name(), rpc_);
    CheckSizesByInstance(validation_, path_.Field("response_payload_name"),
                         rpc_.response_payload_name(), rpc_);
    if (rpc_.has_stream()) {
      StreamValidation(validation_, path_, rpc_).Validate();
    }
  }

 private:
  void CheckHandler() const {
    // Servers outside of the test have handlers of their own.
    if (CallsOutside(rpc_)) return;
    if (rpc_.name().empty() || names_.lists.Find(rpc_.name()) != kNone) return;
    validation_.Add(path_, "no action list is named ", Quoted(rpc_.name()),
                    " to handle this RPC; add action_lists { name: ",
                    Quoted(rpc_.name()), " }, empty to answer at once");
  }

  void CheckFanout() const {
    const Path path = path_.Field("fanout_filter");
    const auto fanout = ParseFanoutFilter(rpc_.fanout_filter());
    if (!fanout.ok()) {
      validation_.Add(path, fanout.status().message());
      return;
    }
    CheckAxes(path, *fanout);
    CheckTargetCounts(path, *fanout);
    CheckQuorum(*fanout);
  }

  // Both sides need the axes: the client has the coordinates, and the server
  // has the targets.
  void CheckAxes(const Path& path, const FanoutPlan& fanout) const {
    std::vector<std::string> services = {rpc_.server()};
    services.insert(services.end(), rpc_.client().begin(), rpc_.client().end());
    for (const int axis : AxesOf(fanout)) {
      for (const std::string& service : services) {
        const auto found = validation_.FindService(service);
        if (!found.has_value() || axis < found->grid.dimensions) continue;
        validation_.Add(path, "service ", Quoted(service), " has no axis ",
                        kAxisNames[axis], "; give it ", kAxisNames[axis],
                        "_size or choose another filter");
        return;
      }
    }
  }

  void CheckTargetCounts(const Path& path, const FanoutPlan& fanout) const {
    const auto server = validation_.FindService(rpc_.server());
    if (!server.has_value()) return;
    const int64_t available =
        server->grid.Count() - (CallsOwnService(rpc_) ? 1 : 0);
    for (const FanoutPlan::Choice& choice : fanout.choices) {
      if (choice.target_count <= available) continue;
      validation_.Add(path, "there are not ", choice.target_count,
                      " distinct targets; service ", Quoted(rpc_.server()),
                      " offers ", available);
      return;
    }
  }

  void CheckQuorum(const FanoutPlan& fanout) const {
    const int answers = rpc_.policy().quorum().answers();
    if (answers < 1) return;
    const int64_t targets = FewestTargets(fanout);
    if (answers <= targets) return;
    validation_.Add(path_.Field("policy").Field("quorum").Field("answers"),
                    answers,
                    " answers are more than an iteration can get; it may have "
                    "only ",
                    targets, " target", targets == 1 ? "" : "s");
  }

  // The targets of an iteration that has any, as far as they are known.
  int64_t FewestTargets(const FanoutPlan& fanout) const {
    if (!rpc_.multi_server_channel_name().empty()) return 1;
    const auto server = validation_.FindService(rpc_.server());
    if (!server.has_value()) return std::numeric_limits<int64_t>::max();
    Grid peers = server->grid;
    for (const int axis : fanout.axes) peers.sizes[axis] = 1;
    int64_t targets = peers.Count() - (CallsOwnService(rpc_) ? 1 : 0);
    switch (fanout.kind) {
      case FanoutPlan::Kind::kAll:
      case FanoutPlan::Kind::kSameCoordinates:
        break;
      case FanoutPlan::Kind::kStochastic:
        for (const FanoutPlan::Choice& choice : fanout.choices) {
          if (choice.target_count == 0) continue;
          targets = std::min<int64_t>(targets, choice.target_count);
        }
        break;
      default:
        targets = std::min<int64_t>(targets, 1);
    }
    return targets;
  }

  const TestValidation& validation_;
  const TestNames& names_;
  const RpcSpec& rpc_;
  const Path path_;
};

void CheckSizes(const TestValidation& validation, int index) {
  const auto& sizes =
      validation.test().payload_descriptions(index).sizes_by_instance();
  const Path path = validation.Element("payload_descriptions",
                                       validation.names().payloads, index);
  for (int i = 0; i < sizes.size(); ++i) {
    validation.CheckRange(path.Field("sizes_by_instance").At(i), sizes[i], 0,
                          kMaxSizeBytes);
  }
}

}  // namespace

void CheckSizesByInstance(const TestValidation& validation, const Path& path,
                          const std::string& payload, const RpcSpec& rpc) {
  const int index = validation.names().payloads.Find(payload);
  if (index == kNone || validation.test()
                            .payload_descriptions(index)
                            .sizes_by_instance()
                            .empty()) {
    return;
  }
  const auto refuse = [&](const char* part) {
    validation.Add(path, "payload ", Quoted(payload),
                   " has sizes_by_instance, which do not go together with the ",
                   part, " of RPC ", Quoted(rpc.name()),
                   "; use a payload with a size");
  };
  if (rpc.has_stream()) refuse("stream");
  if (rpc.has_policy()) refuse("policy");
  if (!rpc.multi_server_channel_name().empty()) {
    refuse("multi_server_channel_name");
  }
}

void ValidateRpcs(const TestValidation& validation) {
  for (int i = 0; i < validation.test().payload_descriptions_size(); ++i) {
    CheckSizes(validation, i);
  }
  for (int i = 0; i < validation.test().rpc_descriptions_size(); ++i) {
    RpcValidation(validation, i).Validate();
  }
}

}  // namespace distbench::config
