// From the controls of a config to what is written to the kernel's files.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_SETTINGS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

// What shares are shares of. Devices are looked up below `root`, as in
// hierarchy.h.
struct HostAmounts {
  std::string root;
  int64_t memory_bytes = 0;
  int64_t page_bytes = 4096;
  int cpu_count = 1;
};

HostAmounts ReadHostAmounts(const std::string& root);

struct FileSetting {
  std::string file;  // "memory.high"
  std::string
      value;  // in the kernel's form; the config's, if there is a problem

  // Why there is no value for this host, such as a device that it lacks.
  absl::Status problem = absl::OkStatus();

  // "memory".
  std::string controller() const { return file.substr(0, file.find('.')); }
};

// Returns the settings of a group, in the order of its fields; of io_max, one
// for each device.
std::vector<FileSetting> SettingsOf(const ControlGroup& group,
                                    const HostAmounts& host);

// Returns the settings of a device at the root of the hierarchy. The model
// comes first, so that io.cost starts with it.
std::vector<FileSetting> SettingsOf(const IoCostSettings& device,
                                    const HostAmounts& host);

// Gives a problem to each setting whose device an earlier one of the same file
// has set, under another name: the kernel would keep a mixture of both.
void RefuseRepeatedDevices(std::vector<FileSetting>& settings);

// Returns a device's numbers, "259:0", by its name or by them. NOT_FOUND if
// there is no such device; INVALID_ARGUMENT for a partition, which the kernel
// cannot control by itself.
absl::StatusOr<std::string> FindDevice(const std::string& root,
                                       absl::string_view device);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_SETTINGS_H_
