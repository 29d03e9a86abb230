#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace distbench::launching {

// The environment variables of a process, at one time; those without a value
// count as absent, because launchers and templates often set them so.
class LauncherEnvironment {
 public:
  explicit LauncherEnvironment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {}

  // Those of this process, now.
  static LauncherEnvironment OfThisProcess();

  std::optional<std::string> Get(const std::string& name) const;
  bool Has(const std::string& name) const { return Get(name).has_value(); }

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_
