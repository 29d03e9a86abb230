// The names of services and RPCs in the config that is made of traces.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_NAMES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/traces/traffic_model.h"

namespace distbench::trace_import {

// Names that differ from one another.
class UniqueNames {
 public:
  // Returns the name, or, if it is taken, the name with a number.
  std::string Take(const std::string& name);

 private:
  std::set<std::string> taken_;
};

struct NamingOptions {
  // Names of the traces, as far as a config can have them; otherwise
  // pseudonyms.
  bool keep_names = false;

  // Pseudonyms of one name differ under different keys. Without a key, whoever
  // guesses a name can check the guess.
  std::string key;
};

// Equal names have equal pseudonyms under the same key, whatever else is in the
// traces (unless two pseudonyms collide).
class ConfigNames {
 public:
  ConfigNames(const TrafficModel& model, const NamingOptions& options);

  const std::string& Service(const std::string& name) const {
    return services_.at(name);
  }
  const std::string& Rpc(int index) const { return rpcs_[index]; }

 private:
  std::map<std::string, std::string> services_;
  std::vector<std::string> rpcs_;  // by the model's RPCs
};

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_NAMES_H_
