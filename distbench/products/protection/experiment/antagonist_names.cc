#include "distbench/products/protection/experiment/antagonist_names.h"

#include "absl/strings/str_cat.h"

namespace distbench::protection {

bool IsIncast(const Antagonist& antagonist) {
  return antagonist.activity() == kIncastActivity;
}

std::string AntagonistService(const Antagonist& antagonist) {
  return absl::StrCat(kAntagonistPrefix, antagonist.name());
}

std::string SenderService(const Antagonist& antagonist) {
  return absl::StrCat(AntagonistService(antagonist), "_sender");
}

std::vector<std::string> AntagonistServices(const Antagonist& antagonist) {
  std::vector<std::string> services = {AntagonistService(antagonist)};
  if (IsIncast(antagonist)) services.push_back(SenderService(antagonist));
  return services;
}

}  // namespace distbench::protection
