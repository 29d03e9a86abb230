#ifndef DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_
#define DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace distbench {

// How the servers of a multi-server channel are chosen among: in turn, or the
// first that can be reached.
inline constexpr char kRoundRobinPolicy[] = "round_robin";
inline constexpr char kPickFirstPolicy[] = "pick_first";

// How the driver of a service is set up. Settings were checked against those
// that the driver declares, so that drivers look them up without failing.
// Of the setting "spin_us": as the CPUs of the host allow.
inline constexpr int64_t kSpinByCpus = -1;

struct DriverOptions {
  using Value = std::variant<int64_t, std::string>;

  std::string driver = "grpc";
  std::string netdev;  // empty: best address of the host
  int ip_version = 0;  // 0: the host's choice
  std::map<std::string, Value> server_settings;
  std::map<std::string, Value> client_settings;

  // The driver that this one decorates; at most one.
  std::vector<DriverOptions> decorated;
};

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_
