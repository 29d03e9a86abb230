#ifndef DISTBENCH_PROTOCOL_FAILURE_LIST_H_
#define DISTBENCH_PROTOCOL_FAILURE_LIST_H_

#include <string>
#include <vector>

namespace distbench {

// The failed peers with their reasons, such as "a (refused)".
class FailureList {
 public:
  // Adds a failure once: a peer may fail on each of its connections.
  void Add(std::string failure);

  bool empty() const { return failures_.empty(); }

  // Returns the first few failures and the number of others: "a (refused), b
  // (refused), c (no answer) and 7 more".
  std::string ToString() const;

 private:
  std::vector<std::string> failures_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_FAILURE_LIST_H_
