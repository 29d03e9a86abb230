// Which driver a service uses, and with which options: one answer, for
// validation and for compilation.
//
// A service takes the options that it names, else those called
// "default_protocol_driver_options", else none. The options name a driver, or
// else the test's default_protocol does. Where that name is no driver, it names
// options that replace all of those before, and so on.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_

#include <optional>
#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

inline constexpr char kDefaultDriverOptions[] =
    "default_protocol_driver_options";

// How many options a name may lead through, and how many drivers may be around
// one another.
inline constexpr int kMaxDriverDepth = 4;

struct ResolvedDriver {
  const DriverDeclaration* driver;
  const ProtocolDriverOptions* options;  // points into the test, or to none
};

// Why there is no driver to be had, and which name in the test is to blame.
struct DriverProblem {
  // The options in which the name stands, by position; kNone: it is the test's
  // default_protocol.
  int options = kNone;

  // The server setting that it is the value of; empty: it is a protocol_name.
  std::string server_setting;

  std::string message;  // "what is wrong; what would be right"
};

struct DriverStack {
  // From the outermost to the one that decorates no other. All are built in.
  std::vector<ResolvedDriver> drivers;

  // Then the drivers are those that were found before.
  std::optional<DriverProblem> problem;
};

// The options that a service starts from, by position; kNone: none. Requires
// that it names existing ones, if any.
int OptionsOf(const TestNames& names, const ServiceSpec& service);

// The drivers of who starts from these options, by position; kNone: from none.
// Points into the test, which `names` are of.
DriverStack ResolveDriverStack(const DistributedSystemDescription& test,
                               const TestNames& names, int options);

// The drivers, with all defaults filled in. Requires a stack without problem,
// whose settings passed validation.
DriverOptions MakeDriverOptions(const DriverStack& stack);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_
