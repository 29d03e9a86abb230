#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/words.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

constexpr int64_t kMaxMessages = 1'000'000;

std::vector<std::string> DriversThatStream() {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.built_in && driver.streams) names.push_back(driver.name);
  }
  return names;
}

class StreamValidation {
 public:
  StreamValidation(const TestValidation& validation, const Path& rpc_path,
                   const RpcSpec& rpc)
      : validation_(validation),
        names_(validation.names()),
        rpc_(rpc),
        stream_(rpc.stream()),
        rpc_path_(rpc_path),
        path_(rpc_path.Field("stream")) {}

  void Validate() const {
    CheckQuantities(stream_, path_, validation_.problems());
    CheckSide("client", stream_.has_client_messages(),
              stream_.client_messages(), stream_.client_messages_distribution(),
              stream_.has_client_interval_ns(), stream_.client_interval_ns(),
              stream_.client_interval_distribution());
    CheckSide("server", stream_.has_server_messages(),
              stream_.server_messages(), stream_.server_messages_distribution(),
              stream_.has_server_interval_ns(), stream_.server_interval_ns(),
              stream_.server_interval_distribution());
    CheckCounts("client_messages_distribution",
                stream_.client_messages_distribution());
    CheckCounts("server_messages_distribution",
                stream_.server_messages_distribution());
    CheckStart();
    CheckRpc();
    CheckDrivers();
  }

 private:
  void CheckSide(const std::string& side, bool has_count, int64_t count,
                 const std::string& count_distribution, bool has_interval,
                 int64_t interval_ns,
                 const std::string& interval_distribution) const {
    const std::string messages = absl::StrCat(side, "_messages");
    const std::string interval = absl::StrCat(side, "_interval");
    const std::string interval_number = absl::StrCat(interval, "_ns");
    validation_.CheckRange(path_.Field(messages), count, 1, kMaxMessages);
    if (has_interval) {
      validation_.CheckRange(path_.Field(interval_number), interval_ns, 1,
                             kMaxDelayNs);
    }
    CheckDistribution(messages, has_count, count_distribution,
                      "size_distribution_configs entry",
                      names_.size_distributions);
    CheckDistribution(interval, has_interval, interval_distribution,
                      "delay_distribution_configs entry",
                      names_.delay_distributions);
  }

  void CheckDistribution(const std::string& quantity, bool has_number,
                         const std::string& name, const char* kind,
                         const NameIndex& index) const {
    const std::string field = absl::StrCat(quantity, "_distribution");
    validation_.ResolveOptional(path_.Field(field), kind, name, index);
    if (has_number && !name.empty()) {
      validation_.Add(path_, absl::StrCat("has both ", quantity, " and ", field,
                                          "; give one"));
    }
  }

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

  void CheckStart() const {
    const auto start = ParseResponseStart(stream_.response_starts());
    if (!start.ok()) {
      validation_.Add(path_.Field("response_starts"),
                      std::string(start.status().message()));
      return;
    }
    if (*start != StreamPlan::Start::kEcho) return;
    if (stream_.has_server_messages() ||
        !stream_.server_messages_distribution().empty() ||
        stream_.has_server_interval_ns() ||
        !stream_.server_interval_distribution().empty()) {
      validation_.Add(path_,
                      "has a number or an interval of server messages, but an "
                      "echo answers each message when it comes; remove them, "
                      "or choose another response_starts");
    }
  }

  void CheckRpc() const {
    const auto refuse = [&](const char* field) {
      validation_.Add(rpc_path_.Field(field),
                      "does not go together with stream; remove one of them");
    };
    if (!rpc_.distribution_config_name().empty()) {
      refuse("distribution_config_name");
    }
    if (!rpc_.multi_server_channel_name().empty()) {
      refuse("multi_server_channel_name");
    }
  }

  void CheckDrivers() const {
    CheckDriver(rpc_.server());
    CheckServerSettings(rpc_.server());
    for (const std::string& client : rpc_.client()) {
      if (client != rpc_.server()) CheckDriver(client);
      CheckClientSettings(client);
    }
  }

  // Outermost first; empty if they cannot be found, which is reported
  // elsewhere.
  std::vector<ResolvedDriver> DriversOf(const std::string& service_name) const {
    const int index = names_.services.Find(service_name);
    if (index == kNone) return {};
    const DriverStack stack = ResolveDriverStack(
        validation_.test(), names_,
        OptionsOf(names_, validation_.test().services(index)));
    if (stack.problem.has_value()) return {};
    return stack.drivers;
  }

  // Also reports decorators, which would not count or split messages.
  void CheckDriver(const std::string& service_name) const {
    for (const ResolvedDriver& level : DriversOf(service_name)) {
      if (level.driver->streams) continue;
      validation_.Add(path_,
                      absl::StrCat("driver ", Quoted(level.driver->name),
                                   " of service ", Quoted(service_name),
                                   " does not stream; these drivers do: ",
                                   QuotedList(DriversThatStream())));
      return;
    }
  }

  void CheckClientSettings(const std::string& service_name) const {
    for (const auto& [driver, options] : DriversOf(service_name)) {
      CheckSettings(service_name, *driver, options->client_settings(),
                    driver->client_settings, driver->streaming_client_settings);
    }
  }

  void CheckServerSettings(const std::string& service_name) const {
    for (const auto& [driver, options] : DriversOf(service_name)) {
      CheckSettings(service_name, *driver, options->server_settings(),
                    driver->server_settings, driver->streaming_server_settings);
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
      validation_.Add(
          path_, absl::StrCat("driver ", Quoted(driver.name), " of service ",
                              Quoted(service_name), " does not stream with ",
                              name, " ", Quoted(given), "; set it to ",
                              Quoted(value), ", or leave it out"));
    }
  }

  const TestValidation& validation_;
  const TestNames& names_;
  const RpcSpec& rpc_;
  const StreamSpec& stream_;
  const Path rpc_path_;
  const Path path_;
};

}  // namespace

void ValidateStream(const TestValidation& validation, const Path& path,
                    const RpcSpec& rpc) {
  StreamValidation(validation, path, rpc).Validate();
}

}  // namespace distbench::config
