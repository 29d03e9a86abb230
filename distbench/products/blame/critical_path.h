// The critical path of a request: the RPCs that it waited for, one after the
// other.

#ifndef DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_
#define DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/blame/request_tree.h"

namespace distbench::blame {

struct PathStep {
  int call = 0;  // position in the tree

  // The RPC's time in which the request waited for none of its children.
  int64_t own_ns = 0;
};

// Returns the RPCs on the critical path, parents first. Their own times add up
// to the duration of the root.
//
// The path is walked back from the end of the root. In an RPC, it goes to the
// child that ended last: of a parallel fanout, this is the one that all others
// waited for. From the start of this child it goes on to the child that ended
// last before that, and so on: of a sequence, these are all. Time between them
// is the RPC's own. As in Z. Zhang, M. K. Ramanathan, P. Raj, A. Parwal, T.
// Sherwood and M. Chabbi, CRISP: Critical Path Analysis of Large-Scale
// Microservice Architectures, USENIX ATC 2022; the idea is that of C.-Q. Yang
// and B. P. Miller, Critical Path Analysis for the Execution of Parallel and
// Distributed Programs, ICDCS 1988.
std::vector<PathStep> CriticalPath(const RequestTree& tree);

// The parts of a request's time.
enum class BlamePart {
  kLateness,  // before the request was sent, in its client
  kNetwork,   // network and both stacks
  kServerQueue,
  kServerHandler,  // without the RPCs that the handler waited for
  kUndivided,      // the three above, if the server did not report them
};

// Returns "lateness", "network", "server_queue", "server_handler" or
// "undivided".
absl::string_view NameOf(BlamePart part);

// A part of a request's time, and who is responsible for it: the server of the
// RPC or, for lateness, the client.
struct PathTime {
  int rpc = 0;
  int instance = 0;
  BlamePart part = BlamePart::kUndivided;
  int64_t time_ns = 0;
};

// Returns where the time of a request went on its critical path. The times are
// above 0, and add up to total_ns().
std::vector<PathTime> TimesOnPath(const RequestTree& tree);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_
