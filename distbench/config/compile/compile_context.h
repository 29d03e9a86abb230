// Parts that Compile() consists of. Private to the compiler.

#ifndef DISTBENCH_CONFIG_COMPILE_COMPILE_CONTEXT_H_
#define DISTBENCH_CONFIG_COMPILE_COMPILE_CONTEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

inline constexpr int64_t kDefaultRequestBytes = 16;
inline constexpr int64_t kDefaultResponseBytes = 32;

// A valid test, which must outlive this object, and its names.
class CompileContext {
 public:
  explicit CompileContext(const DistributedSystemDescription& test)
      : test_(test), names_(test) {}

  const DistributedSystemDescription& test() const { return test_; }
  const TestNames& names() const { return names_; }

  // Builds Plan::distributions. The functions below return indices into it;
  // kNone for an empty name.
  std::vector<Distribution> MakeDistributions() const;
  int JointDistribution(const std::string& name) const;
  int DelayDistribution(const std::string& name) const;
  int SizeDistribution(const std::string& name) const;

  // The size of the named payload, or default_bytes if the name is empty.
  SizePlan PayloadSize(const std::string& name, int64_t default_bytes) const;

 private:
  const DistributedSystemDescription& test_;
  const TestNames names_;
};

// Compiles the test's action lists, in the order of the config.
std::vector<ListPlan> CompileLists(const CompileContext& context);

// Compiles the failures of servers, in the order of the config.
std::vector<FaultPlan> CompileFaults(const CompileContext& context);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_COMPILE_COMPILE_CONTEXT_H_
