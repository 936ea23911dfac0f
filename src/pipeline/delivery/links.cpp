// Where the symbolic links of a change point, followed through all links of the resulting tree.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "pipeline/delivery/steps.hpp"

namespace sb::pipeline::steps {
namespace {

constexpr int kMaxHops = 40;  // as many as the system follows
constexpr std::size_t kListBytes = std::size_t{512} << 20;

using Links = std::map<std::string, std::string, std::less<>>;  // path, target

Result<Links> links_of(Git& git, const std::string& tree) {
  const ProcessResult listed =
      SB_TRY(git.run(GitCall{.words = {"ls-tree", "-r", "-z", tree}, .max_bytes = kListBytes}));
  std::vector<std::string> paths;
  std::string hashes;
  for (std::string_view rest = listed.output; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));  // MODE TYPE HASH\tPATH
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("120000 blob ") || tab == entry.npos) continue;
    hashes += fmt::format("{}\n", entry.substr(12, tab - 12));
    paths.emplace_back(entry.substr(tab + 1));
  }
  Links links;
  if (paths.empty()) return links;
  const ProcessResult read =
      SB_TRY(git.run(GitCall{.words = {"cat-file", "--batch"}, .input = hashes, .max_bytes = kListBytes}));
  std::string_view rest = read.output;
  for (std::string& path : paths) {  // HASH blob SIZE\nBYTES\n
    const std::string head(rest.substr(0, rest.find('\n')));
    const std::size_t size = std::strtoull(head.c_str() + std::min(head.rfind(' ') + 1, head.size()), nullptr, 10);
    if (rest.size() < head.size() + 1 + size) return fail(ErrorCode::kInternal, "git cat-file returned too little");
    links.emplace(std::move(path), rest.substr(head.size() + 1, size));
    rest.remove_prefix(std::min(head.size() + size + 2, rest.size()));
  }
  return links;
}

void put_before(std::deque<std::string>& parts, std::string_view path) {
  std::vector<std::string> pieces;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) pieces.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  parts.insert(parts.begin(), pieces.begin(), pieces.end());
}

struct LinkTarget {
  bool leads_out = false, leads_into_git = false;
  std::set<std::string> through = {};  // links on the way, itself included
};

LinkTarget follow(const Links& links, const std::string& link) {
  LinkTarget way;
  std::deque<std::string> at, left;
  int hops = 0;
  put_before(left, link);
  while (!left.empty()) {
    const std::string part = left.front();
    left.pop_front();
    if (part == ".") continue;
    if (part == "..") {
      way.leads_out = at.empty();
      if (way.leads_out) return way;
      at.pop_back();
      continue;
    }
    at.push_back(part);
    way.leads_into_git = way.leads_into_git || is_like_git_folder(part);
    const auto found = links.find(fmt::format("{}", fmt::join(at, "/")));
    if (found == links.end()) continue;
    if (++hops > kMaxHops) return {};  // a loop: cannot be followed
    way.through.insert(found->first);
    way.leads_out = found->second.starts_with('/');
    if (way.leads_out) return way;
    at.pop_back();
    put_before(left, found->second);
  }
  return way;
}

}  // namespace

Result<std::vector<DeliveryFinding>> link_findings(const Job& job, Git& git, const std::string& tree,
                                                   const std::vector<Change>& changes) {
  std::vector<DeliveryFinding> findings;
  std::set<std::string> changed;
  for (const Change& change : changes) {
    if (change.is_link && !is_internal(change, job.spec)) changed.insert(change.path);
  }
  if (changed.empty()) return findings;
  const Links links = SB_TRY(links_of(git, tree));
  for (const auto& [path, target] : links) {
    const LinkTarget way = follow(links, path);
    if (!way.leads_out && !way.leads_into_git) continue;
    // A new link may make an existing one point outside.
    if (std::ranges::none_of(way.through, [&](const std::string& link) { return changed.contains(link); })) continue;
    findings.push_back({"major",
                        fmt::format("{} is a link that points {}: {}", shown(path),
                                    way.leads_out ? "out of the repository" : "into .git", shown(target)),
                        shown(path), "link_outside"});
  }
  return findings;
}

}  // namespace sb::pipeline::steps
