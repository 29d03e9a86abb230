#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

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

  void Validate() const {
    CheckCounts("client_messages_distribution",
                stream_.client_messages_distribution());
    CheckCounts("server_messages_distribution",
                stream_.server_messages_distribution());
    CheckDrivers();
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
          path_,
          absl::StrCat(
              "driver ", Quoted(level.driver->name), " of service ",
              Quoted(service_name), " does not stream; these drivers do: ",
              QuotedList(BuiltInDriverNames(&DriverDeclaration::streams))));
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
  const Path path_;
};

}  // namespace

void ValidateStream(const TestValidation& validation, const Path& path,
                    const RpcSpec& rpc) {
  StreamValidation(validation, path, rpc).Validate();
}

}  // namespace distbench::config
