#include "distbench/config/compile/compile_context.h"

#include "distbench/config/distributions/distribution_config.h"

namespace distbench {

// The order is: joint distributions, delays, sizes.

std::vector<Distribution> CompileContext::MakeDistributions() const {
  std::vector<Distribution> distributions;
  for (const auto* configs :
       {&test_.distribution_config(), &test_.delay_distribution_configs(),
        &test_.size_distribution_configs()}) {
    for (const DistributionConfig& config : *configs) {
      distributions.push_back(MakeDistribution(config));
    }
  }
  return distributions;
}

int CompileContext::JointDistribution(const std::string& name) const {
  return names_.joint_distributions.Find(name);
}

int CompileContext::DelayDistribution(const std::string& name) const {
  const int index = names_.delay_distributions.Find(name);
  if (index == kNone) return kNone;
  return test_.distribution_config_size() + index;
}

int CompileContext::SizeDistribution(const std::string& name) const {
  const int index = names_.size_distributions.Find(name);
  if (index == kNone) return kNone;
  return test_.distribution_config_size() +
         test_.delay_distribution_configs_size() + index;
}

SizePlan CompileContext::PayloadSize(const std::string& name,
                                     int64_t default_bytes) const {
  const int index = names_.payloads.Find(name);
  if (index == kNone) return {.fixed_bytes = default_bytes};
  const PayloadSpec& payload = test_.payload_descriptions(index);
  return {.fixed_bytes = payload.size(),
          .distribution = SizeDistribution(payload.size_distribution_name())};
}

}  // namespace distbench
