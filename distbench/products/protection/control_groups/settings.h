// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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

// What the kernel's files say, compared with what was written to them.

// Whether the file has a line for each device, such as
// "259:0 rbps=max wbps=1048576", and a value is about the device that it names.
bool HasDevices(absl::string_view file);

// Whether the text of a file means a value that was written to it. The kernel
// sorts lists of CPUs, has a line for each device, of which a value names one,
// adds keys that the value leaves open, and omits limits that are none.
bool Says(absl::string_view file, absl::string_view text,
          absl::string_view value);

// Returns the part of the text that `value` is about: the line of its device,
// or everything. Without white space around it; empty if there is none.
std::string RelevantPart(absl::string_view file, absl::string_view text,
                         absl::string_view value);

// Returns what to write to make `value` undone, after which the file means the
// same as `text`, which it said before.
std::string UndoingValue(absl::string_view file, absl::string_view text,
                         absl::string_view value);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_SETTINGS_H_
