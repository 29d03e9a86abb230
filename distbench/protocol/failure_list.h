#ifndef DISTBENCH_PROTOCOL_FAILURE_LIST_H_
#define DISTBENCH_PROTOCOL_FAILURE_LIST_H_

#include <string>
#include <vector>

namespace distbench {

// The peers that failed, each with its reason: "a (refused)".
class FailureList {
 public:
  // Does nothing if it is in the list already: a peer may fail once for each
  // connection.
  void Add(std::string failure);

  bool empty() const { return failures_.empty(); }

  // The first few, and how many more there are: "a (refused), b (refused),
  // c (no answer) and 7 more".
  std::string ToString() const;

 private:
  std::vector<std::string> failures_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_FAILURE_LIST_H_
