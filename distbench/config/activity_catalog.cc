#include "distbench/config/activity_catalog.h"

#include <cstdint>

namespace distbench {
namespace {

// Of elements of an array: more memory than a host has is no activity.
constexpr int64_t kMaxArraySize = 1'000'000'000;
constexpr int64_t kMaxRepetitions = 1'000'000'000;
// Over eleven days.
constexpr int64_t kMaxDurationUs = 1'000'000'000'000;

SettingDeclaration ArraySize(int64_t default_value) {
  return {
      .name = "array_size",
      .description = "Number of 8-byte elements.",
      .default_value = default_value,
      .minimum = 1,
      .maximum = kMaxArraySize,
  };
}

SettingDeclaration Repetitions(const std::string& name,
                               const std::string& description) {
  return {
      .name = name,
      .description = description,
      .default_value = int64_t{1000},
      .minimum = 1,
      .maximum = kMaxRepetitions,
  };
}

SettingsDeclaration Duration() {
  return {.settings = {{
              .name = "duration_us",
              .description = "How long, in microseconds.",
              .default_value = int64_t{0},
              .minimum = 1,
              .maximum = kMaxDurationUs,
              .required = true,
          }}};
}

std::vector<ActivityDeclaration> MakeCatalog() {
  return {
      {
          .name = "ConsumeCpu",
          .description = "Fills an array, sorts it and sums it up.",
          .settings = {.settings = {ArraySize(1000)}},
          .metrics = {"iteration_count"},
      },
      {
          .name = "PolluteDataCache",
          .description =
              "Reads elements of an array in random order, which evicts the "
              "data that others have in the cache.",
          .settings = {.settings = {ArraySize(2'000'000),
                                    Repetitions("array_reads_per_iteration",
                                                "Elements to read.")}},
          .metrics = {"iteration_count"},
      },
      {
          .name = "PolluteInstructionCache",
          .description =
              "Calls functions out of a large number of them in random order, "
              "which evicts the code that others have in the cache.",
          .settings = {.settings = {Repetitions(
                           "function_invocations_per_iteration",
                           "Functions to call.")}},
          .metrics = {"iteration_count"},
      },
      {
          .name = "SleepFor",
          .description = "Waits without using CPU.",
          .settings = Duration(),
          .metrics = {},
      },
      {
          .name = "SpinFor",
          .description = "Burns CPU time of a thread.",
          .settings = Duration(),
          .metrics = {},
      },
  };
}

}  // namespace

absl::Span<const ActivityDeclaration> ActivityCatalog() {
  static const auto* const catalog =
      new std::vector<ActivityDeclaration>(MakeCatalog());
  return *catalog;
}

const ActivityDeclaration* FindActivity(absl::string_view name) {
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    if (activity.name == name) return &activity;
  }
  return nullptr;
}

std::vector<std::string> ActivityNames() {
  std::vector<std::string> names;
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    names.push_back(activity.name);
  }
  return names;
}

std::string ActivityFunctionOf(const ActivityConfig& config) {
  for (const NamedSetting& setting : config.activity_settings()) {
    if (setting.name() == kActivityFunctionSetting) {
      return setting.string_value();
    }
  }
  return "";
}

}  // namespace distbench
