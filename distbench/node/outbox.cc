#include "distbench/node/outbox.h"

#include <utility>

namespace distbench::node {

void Outbox::Add(NodeMessage message) {
  if (message.has_progress()) {
    for_pong_.reset();
    if (messages_.size() > 1 && messages_.back().has_progress()) {
      messages_.back() = std::move(message);
      return;
    }
  } else if (message.has_pong() && for_pong_.has_value()) {
    message.set_test_id(for_pong_->test_id);
    *message.mutable_pong()->mutable_progress() =
        std::move(for_pong_->progress);
    for_pong_.reset();
  }
  messages_.push_back(std::move(message));
}

void Outbox::AddWithPong(int64_t test_id, TrafficProgress progress) {
  for_pong_ = {test_id, std::move(progress)};
}

}  // namespace distbench::node
