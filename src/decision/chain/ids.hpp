// Names inside a chain: the D-labels people see, and the question ids used by logs and preferences.
//
// An id is `<skill>-split-<slug>`, at most 64 characters of [a-z0-9-]. Only the slug is ever shortened: a preference
// for one option must not apply to another, and the prefix keeps all of them from being decided without a person.
//
// Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

// Every id of one chain, fixed at construction. Options come first, in declared order; the chain's own questions use
// what is left, so they never change an option's id.
class ChainIds {
 public:
  explicit ChainIds(const Chain& chain);

  const std::string& of_option(std::size_t index) const { return options_[index]; }
  const std::string& whole() const { return whole_; }  // the single question, its pages and groups
  const std::string& meta() const { return meta_; }
  const std::string& narrow() const { return narrow_; }
  const std::string& rest() const { return rest_; }
  const std::string& final() const { return final_; }
  const std::string& pick_revise() const { return pick_revise_; }
  const std::string& cut_more() const { return cut_more_; }
  // The id of the conflict between two options (indexes).
  std::string of_conflict(std::size_t first, std::size_t second) const;

 private:
  std::size_t room() const;
  void claim_options(const Chain& chain);
  std::string claim(const std::string& slug, bool is_reserved);

  std::string prefix_;
  std::set<std::string, std::less<>> taken_;  // slugs
  std::map<std::string, std::size_t> next_number_;
  std::vector<std::string> options_;
  std::vector<std::string> slugs_;
  std::string whole_, meta_, narrow_, rest_, final_, pick_revise_, cut_more_;
};

// `D3`, `D3.0`, `D3.2` (k from 1), `D3.final`, `D3.revise-2`.
std::string parent_label(const Chain& chain);
std::string meta_label(const Chain& chain);
std::string child_label(const Chain& chain, std::size_t index);
std::string final_label(const Chain& chain);
std::string revise_label(const Chain& chain, std::size_t index);

// Whether the text has the form of a label, with or without its D: `D3`, `3.2`, `D3.final`, `3.revise-2`.
bool is_label(std::string_view text);
// Whether two labels are equal, ignoring a leading D.
bool same_label(std::string_view one, std::string_view other);

}  // namespace sb::decision
