#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_HOMA_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_HOMA_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// The Homa transport.
Protocol HomaProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_HOMA_H_
