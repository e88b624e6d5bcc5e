// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 4, Construct: what is farther from the root is attached to all that is nearer.
#include "collectives/cmpi/gather_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "collectives/cmpi/subtrees.hpp"

namespace fairlead::collectives {
namespace {

class Construction {
 public:
  Construction(const Hierarchy& hierarchy, std::int32_t num_hosts, bool is_upwards)
      : hierarchy_(hierarchy),
        num_hosts_(static_cast<std::size_t>(num_hosts)),
        is_upwards_(is_upwards),
        parent_of_host_(num_hosts_, kNoHost) {}

  /// Attaches all hosts of the tree, from the smallest group around `root` to the whole tree.
  /// @return  its hosts by their distance to `root`, those of one distance ascending: UP
  std::vector<std::int32_t> construct(std::int32_t root, Subtree tree) {
    if (tree.children.empty()) return {root};
    const auto own =
        std::find_if(tree.children.begin(), tree.children.end(), [root](const Subtree& child) {
          return std::binary_search(child.hosts.begin(), child.hosts.end(), root);
        });
    std::vector<std::int32_t> nearer = construct(root, std::move(*own));
    tree.children.erase(own);
    std::vector<std::int32_t> farther;
    for (const Subtree& child : tree.children) {
      farther.insert(farther.end(), child.hosts.begin(), child.hosts.end());
    }
    attach(std::move(tree.children), nearer);
    std::sort(farther.begin(), farther.end());
    nearer.insert(nearer.end(), farther.begin(), farther.end());
    return nearer;
  }

  [[nodiscard]] ParentOfHost parent_of_host() && { return std::move(parent_of_host_); }

 private:
  /// Lines 3 to 8: one of the subtrees to each host of `up`.
  void attach(std::vector<Subtree> down, const std::vector<std::int32_t>& up) {
    adjust(down, up.size());
    for (std::size_t index = 0; index < down.size(); ++index) {
      const std::int32_t root = best_for(up[index], down[index].hosts);
      parent_of_host_[static_cast<std::size_t>(root)] = up[index];
      construct(root, std::move(down[index]));
    }
  }

  /// The host with the best performance to its parent; the first of several.
  [[nodiscard]] std::int32_t best_for(std::int32_t parent,
                                      const std::vector<std::int32_t>& hosts) const {
    return *std::min_element(hosts.begin(), hosts.end(),
                             [&](std::int32_t left, std::int32_t right) {
                               return level(parent, left) < level(parent, right);
                             });
  }

  [[nodiscard]] std::int32_t level(std::int32_t parent, std::int32_t child) const {
    const auto src = static_cast<std::size_t>(is_upwards_ ? child : parent);
    const auto dst = static_cast<std::size_t>(is_upwards_ ? parent : child);
    return hierarchy_.level_of_pair[src * num_hosts_ + dst];
  }

  const Hierarchy& hierarchy_;
  std::size_t num_hosts_;
  bool is_upwards_;
  ParentOfHost parent_of_host_;
};

}  // namespace

ParentOfHost gather_tree(const Hierarchy& hierarchy, std::int32_t num_hosts, std::int32_t root,
                         bool is_upwards) {
  Construction construction(hierarchy, num_hosts, is_upwards);
  construction.construct(root, tree_seen_from(hierarchy, num_hosts, root));
  return std::move(construction).parent_of_host();
}

}  // namespace fairlead::collectives
