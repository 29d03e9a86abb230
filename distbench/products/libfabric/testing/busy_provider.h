// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_BUSY_PROVIDER_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_BUSY_PROVIDER_H_

#include <cstdint>

namespace distbench::libfabric {

// While this exists, the endpoints that are opened refuse some messages with
// FI_EAGAIN, as if their transmit queues were full; the rest is libfabric's.
// At most one at a time; must outlive the endpoints.
class BusyProvider {
 public:
  BusyProvider();
  ~BusyProvider();

  BusyProvider(const BusyProvider&) = delete;
  BusyProvider& operator=(const BusyProvider&) = delete;

  // The next messages are refused, whichever endpoints send them. Replaces
  // what was left of the last call. Thread-safe, like the others.
  static void RefuseNext(int64_t count);

  // How many of them are not yet refused.
  static int64_t left();

  // When the last one was, in monotonic time.
  static int64_t refused_ns();
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_TESTING_BUSY_PROVIDER_H_
