// Names, defaults and ranges of the tcp driver's settings. The catalog declares
// them, and the driver falls back to them when it is created directly.

#ifndef DISTBENCH_CONFIG_PLAN_TCP_SETTING_LIMITS_H_
#define DISTBENCH_CONFIG_PLAN_TCP_SETTING_LIMITS_H_

#include <cstdint>

namespace distbench {

struct TcpSettingLimits {
  const char* name;
  int64_t default_value;
  int64_t minimum;
  int64_t maximum;
};

inline constexpr TcpSettingLimits kTcpConnections = {"connections", 1, 1, 1024};
inline constexpr TcpSettingLimits kTcpMaxBatch = {"max_batch", 64, 1, 4096};
inline constexpr TcpSettingLimits kTcpSendQueueBytes = {
    "send_queue_bytes", 16 << 20, 64 << 10, 1 << 30};
inline constexpr TcpSettingLimits kTcpSpinUs = {"spin_us", 0, 0, 1'000'000};

// A batch of this size is written at once, even if it is below max_batch.
inline constexpr int64_t kTcpMaxBatchBytes = 256 << 10;

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_PLAN_TCP_SETTING_LIMITS_H_
