// The messages in one direction of a connection, from the end that sends them
// to the one that receives them.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_STREAM_QUEUE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_STREAM_QUEUE_H_

#include <atomic>
#include <cstdint>

#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/network/returning_pool.h"

namespace distbench::simulation {

struct StreamMessage : ReturningObject<StreamMessage> {
  int64_t end_offset;  // in the stream of bytes
  SimulatedEventHandler* receiver;
  SimulatedEvent arrival;
  std::atomic<StreamMessage*> next;
};

// A list of which one thread writes the end while another one reads the front.
// Packets only carry numbers of bytes: what these mean is looked up here, where
// it was written long before the bytes arrive. So it does not matter how soon
// the receiver sees what is written.
class StreamQueue {
 public:
  // The sender's end. The message comes from its pool.
  void Append(StreamMessage& message) {
    message.next.store(nullptr, std::memory_order_relaxed);
    (last_ == nullptr ? first_ : last_->next)
        .store(&message, std::memory_order_release);
    last_ = &message;
  }

  // The receiver's end: the next message, if its last byte is before `offset`,
  // or null. It is valid until the next call.
  const StreamMessage* Take(int64_t offset) {
    StreamMessage* next = (taken_ == nullptr ? first_ : taken_->next)
                              .load(std::memory_order_acquire);
    if (next == nullptr || next->end_offset > offset) return nullptr;
    // Only now: the sender may have needed it to append the next one.
    if (taken_ != nullptr) ReturningPool<StreamMessage>::Return(taken_);
    taken_ = next;
    return next;
  }

 private:
  std::atomic<StreamMessage*> first_ = nullptr;
  StreamMessage* last_ = nullptr;   // sender
  StreamMessage* taken_ = nullptr;  // receiver
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_STREAM_QUEUE_H_
