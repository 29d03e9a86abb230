#include "distbench/node/thread_limits.h"

#include <algorithm>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/engine/activities/activities.h"

namespace distbench {
namespace {

// Main, commands, the silence watch and a driver's timer.
constexpr int64_t kOwnThreads = 4;

// Timers, resolvers and executors of gRPC 1.51, apart from its two pools.
constexpr int64_t kOtherGrpcThreads = 8;

constexpr char kHowToNeedFewer[] =
    "let the test have fewer workers_per_instance, or smaller pools";

template <typename Value>
const Value* Find(const DriverOptions& options, const char* name) {
  const auto it = options.server_settings.find(name);
  return it == options.server_settings.end() ? nullptr
                                             : std::get_if<Value>(&it->second);
}

// The initial size of the handler pool.
int64_t HandlerThreads(const DriverOptions& options) {
  if (!options.decorated.empty()) {
    return HandlerThreads(options.decorated.front());
  }
  const std::string* const type = Find<std::string>(options, "server_type");
  const auto* const kind = Find<std::string>(options, "threadpool_type");
  const bool has_pool =
      type != nullptr && (*type == "polling" || *type == "handoff");
  const bool starts_empty = kind != nullptr && *kind == "null";
  if (!has_pool || starts_empty) return 0;
  const auto* const size = Find<int64_t>(options, "threadpool_size");
  return size != nullptr && *size > 0 ? *size
                                      : std::thread::hardware_concurrency();
}

std::string Describe(const ThreadNeeds& needs) {
  return absl::StrCat(needs.workers, " workers, ", needs.activities,
                      " for activities, ", needs.handlers,
                      " for requests, and up to ", OtherThreadsOfEngine(),
                      " of its process and libraries");
}

}  // namespace

ThreadNeeds CountThreads(const Plan& plan, int instance, int worker_count) {
  const int service = plan.instances[instance].service;
  return {.workers = worker_count,
          .activities = ActivityThreads(plan, instance, worker_count),
          .handlers = HandlerThreads(plan.services[service].driver)};
}

// gRPC 1.51 has as many threads as CPUs for events, and half as many for
// callbacks; both numbers are clamped.
int64_t OtherThreadsOfEngine() {
  const int64_t cpus = std::thread::hardware_concurrency();
  return kOwnThreads + kOtherGrpcThreads + std::clamp<int64_t>(cpus, 2, 32) +
         std::clamp<int64_t>(cpus / 2, 2, 16);
}

absl::Status CheckThreads(const ThreadNeeds& needs, const ThreadRoom& room,
                          int64_t max_threads) {
  const int64_t needed = needs.total() + OtherThreadsOfEngine();
  if (max_threads > 0 && needed > max_threads) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "its engine process needs up to ", needed, " threads (",
        Describe(needs), "), but the node manager's --engine_max_threads is ",
        max_threads, "; raise it, or ", kHowToNeedFewer));
  }
  if (needed <= room.left) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "its engine process needs up to ", needed, " threads (", Describe(needs),
      "), but ", room.limit, "; raise that limit, or ", kHowToNeedFewer,
      ", or place fewer instances on the node"));
}

absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads) {
  if (max_threads == 0 || thread_count <= max_threads) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "its engine process has ", thread_count,
      " threads, but the node manager's --engine_max_threads is ", max_threads,
      "; raise it, or ", kHowToNeedFewer));
}

}  // namespace distbench
