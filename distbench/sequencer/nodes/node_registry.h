// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The registered nodes, and their names.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_REGISTRY_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

class NodeSession;

// Which small numbers are not in use.

// Finds the smallest free id without a look at the ids in use, of which there
// may be tens of thousands. Ids are 0 or more. Not thread-safe.
class FreeIds {
 public:
  int Smallest() const { return gaps_.empty() ? next_ : *gaps_.begin(); }

  // Does nothing if the id is in use.
  void Take(int id) {
    for (; next_ <= id; ++next_) gaps_.insert(gaps_.end(), next_);
    gaps_.erase(id);
  }

  // The id must be in use.
  void Release(int id) { gaps_.insert(id); }

 private:
  int next_ = 0;        // this one and all above are free
  std::set<int> gaps_;  // free ids below
};

// Such as "node7".
std::string NodeAlias(int id);

// How many nodes may be registered at the same time, and what to do if that is
// too few, for those that are refused.
struct NodeLimit {
  int count;
  std::string remedy;
};

// Thread-safe.
class NodeRegistry {
 public:
  // Ids are below this.
  static constexpr int kMaxNodes = 100000;

  // `clock` must outlive the registry.
  explicit NodeRegistry(NodeLimit limit = {.count = kMaxNodes, .remedy = ""},
                        const base::Clock& clock = base::RealClock())
      : limit_(std::move(limit)), clock_(clock) {}

  // Gives the node the id that it asks for, or else the smallest free one. A
  // node that comes back (same incarnation) replaces its earlier session, which
  // is disconnected. Errors: INVALID_ARGUMENT if the registration is wrong,
  // FAILED_PRECONDITION if the versions differ, ALREADY_EXISTS if another node
  // has the id, RESOURCE_EXHAUSTED if there are too many nodes, UNAVAILABLE
  // after Close(), and while the node that has the id may be gone but has not
  // been declared lost.
  //
  // `make` makes the session once the node has a name. It must not call the
  // registry.
  using MakeSession =
      absl::FunctionRef<std::shared_ptr<NodeSession>(const NodeConfig& config)>;
  absl::Status Register(const NodeRegistration& registration, MakeSession make)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Removes a node that is gone. Does nothing if it was replaced.
  void Remove(int id, const NodeSession& node) ABSL_LOCKS_EXCLUDED(mutex_);

  // When a node was removed last, by the monotonic clock; absent if none was.
  std::optional<int64_t> last_loss_ns() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `on_registered` after every later registration; null ends that. It
  // must not block, and must not call the registry.
  void SetListener(std::function<void()> on_registered)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ordered by id: node2 before node10.
  std::vector<std::shared_ptr<NodeSession>> Nodes() const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Registers no more nodes.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // Registers no more nodes, and tells all to end. They leave soon.
  void ShutDownNodes() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns whether there are no nodes any more, waiting up to `patience`.
  bool AwaitEmpty(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);

  // The same if ShutDownNodes() was called. Otherwise returns at once.
  bool AwaitEmptyIfTold(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::shared_ptr<NodeSession> node;
    uint64_t incarnation;
    std::string hostname;
  };

  // Whether the node that registers is the one that is already registered.
  static bool IsSame(const Entry& entry, const NodeRegistration& registration);

  absl::Status Check(const NodeRegistration& registration) const;
  absl::StatusOr<int> ChooseId(const NodeRegistration& registration) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const NodeLimit limit_;
  const base::Clock& clock_;
  mutable absl::Mutex mutex_;
  std::map<int, Entry> entries_ ABSL_GUARDED_BY(mutex_);  // by id
  FreeIds free_ids_ ABSL_GUARDED_BY(mutex_);

  // By incarnation, of the nodes that have one.
  absl::flat_hash_map<uint64_t, int> ids_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> last_loss_ns_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_registered_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool told_to_end_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_REGISTRY_H_
