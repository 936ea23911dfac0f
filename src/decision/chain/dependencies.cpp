#include "decision/chain/dependencies.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace sb::decision {
namespace {

using Edges = std::vector<std::vector<std::size_t>>;

bool contains(const std::vector<std::size_t>& list, std::size_t index) {
  return std::binary_search(list.begin(), list.end(), index);
}

void sort_and_join(Edges& edges) {
  for (auto& list : edges) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

// Options in post-order of a depth-first walk. Uses an explicit stack: a chain of a thousand options may be one long
// line.
std::vector<std::size_t> order_of_leaving(const Edges& edges) {
  std::vector<std::size_t> order;
  std::vector<bool> is_seen(edges.size());
  struct Visit {
    std::size_t node;
    std::size_t next;
  };
  for (std::size_t root = 0; root < edges.size(); ++root) {
    if (is_seen[root]) continue;
    is_seen[root] = true;
    std::vector<Visit> stack{{root, 0}};
    while (!stack.empty()) {
      auto& visit = stack.back();
      if (visit.next == edges[visit.node].size()) {
        order.push_back(visit.node);
        stack.pop_back();
        continue;
      }
      const std::size_t neighbour = edges[visit.node][visit.next++];
      if (is_seen[neighbour]) continue;
      is_seen[neighbour] = true;
      stack.push_back({neighbour, 0});
    }
  }
  return order;
}

// Kosaraju: walk the reversed edges in reverse post-order; each walk finds one strongly connected group.
std::vector<std::size_t> groups_of(const Edges& edges, const Edges& reversed) {
  const auto order = order_of_leaving(edges);
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> group(edges.size(), kNone);
  for (auto root = order.rbegin(); root != order.rend(); ++root) {
    if (group[*root] != kNone) continue;
    std::vector<std::size_t> stack{*root};
    group[*root] = *root;
    while (!stack.empty()) {
      const std::size_t node = stack.back();
      stack.pop_back();
      for (const std::size_t neighbour : reversed[node]) {
        if (group[neighbour] != kNone) continue;
        group[neighbour] = *root;
        stack.push_back(neighbour);
      }
    }
  }
  return group;
}

}  // namespace

ChainGraph::ChainGraph(const Chain& chain) {
  const std::size_t count = chain.options.size();
  required.resize(count);
  dependants.resize(count);
  conflicting.resize(count);
  is_in_cycle.resize(count);
  std::map<std::string, std::size_t, std::less<>> index_of;
  for (std::size_t i = 0; i < count; ++i) index_of.emplace(chain.options[i].key, i);
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& key : chain.options[i].required_keys) {
      const auto found = index_of.find(key);
      if (found == index_of.end() || found->second == i) continue;
      required[i].push_back(found->second);
      dependants[found->second].push_back(i);
    }
    for (const auto& key : chain.options[i].conflicting_keys) {
      const auto found = index_of.find(key);
      if (found == index_of.end() || found->second == i) continue;
      conflicting[i].push_back(found->second);
      conflicting[found->second].push_back(i);
    }
  }
  sort_and_join(required);
  sort_and_join(dependants);
  sort_and_join(conflicting);
  group = groups_of(required, dependants);
  std::map<std::size_t, std::size_t> size_of;
  for (const std::size_t id : group) ++size_of[id];
  for (std::size_t i = 0; i < count; ++i) is_in_cycle[i] = size_of[group[i]] > 1;
}

bool ChainGraph::has_edges() const {
  const auto is_filled = [](const std::vector<std::size_t>& list) { return !list.empty(); };
  return std::any_of(required.begin(), required.end(), is_filled) ||
         std::any_of(conflicting.begin(), conflicting.end(), is_filled);
}

std::vector<std::size_t> ChainGraph::members_of(std::size_t index) const {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i] == group[index]) members.push_back(i);
  }
  return members;
}

bool ChainGraph::is_conflict(std::size_t one, std::size_t other) const {
  return contains(conflicting[one], other);
}

bool ChainGraph::is_pair(std::size_t first, std::size_t second) const {
  return contains(required[first], second) || (first < second && is_conflict(first, second));
}

std::vector<Violation> violations_of(const Chain& chain, const ChainGraph& graph, const Dispositions& dispositions) {
  std::vector<Violation> found;
  const auto is_in = [&](std::size_t i) { return dispositions[i] == Bucket::kInclude; };
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    if (!is_in(i)) continue;
    for (const std::size_t needed : graph.required[i]) {
      if (is_in(needed) || chain.options[needed].shipped) continue;
      const bool is_group = graph.group[i] == graph.group[needed];
      found.push_back({is_group ? Violation::Kind::kGroup : Violation::Kind::kMissing, i, needed});
    }
    for (const std::size_t other : graph.conflicting[i]) {
      if (other > i && is_in(other)) found.push_back({Violation::Kind::kClash, i, other});
    }
  }
  std::sort(found.begin(), found.end(), [](const Violation& a, const Violation& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return found;
}

}  // namespace sb::decision
