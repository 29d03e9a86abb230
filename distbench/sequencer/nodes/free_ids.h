// Which small numbers are not in use.

#ifndef DISTBENCH_SEQUENCER_NODES_FREE_IDS_H_
#define DISTBENCH_SEQUENCER_NODES_FREE_IDS_H_

#include <set>

namespace distbench::sequencer {

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

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_FREE_IDS_H_
