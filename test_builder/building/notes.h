#ifndef DISTBENCH_TEST_BUILDER_BUILDING_NOTES_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_NOTES_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace distbench::test_builder {

// Notes to the user about tests that were built nevertheless. Duplicates are
// dropped, because tests of a sweep have much in common.
class Notes {
 public:
  void Add(std::string note) {
    if (std::find(all_.begin(), all_.end(), note) == all_.end()) {
      all_.push_back(std::move(note));
    }
  }

  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_NOTES_H_
