// The sentences of a chain, in its language: dependencies and lists of options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/chain/state.hpp"

namespace sb::decision {

// Joins two sentences; either may be empty.
std::string join_sentences(std::string_view first, std::string_view second);

class Phrases {
 public:
  struct Slot {
    std::string_view name;
    std::string value;
  };
  using Slots = std::vector<Slot>;

  explicit Phrases(const ChainModel& model) : model_(model) {}

  // The text under this key with its slots filled.
  std::string operator()(std::string_view key, const Slots& slots = {}) const;
  // The same, in its short form where the profile limits the words of an option.
  std::string sized(std::string_view key, const Slots& slots = {}) const;
  // With "(page of pages)" where there is more than one and the profile allows it in an instruction.
  std::string paged(std::string_view key, int page, int pages) const;
  // An instruction, or the name of one of the chain's own options, that names options of the chain: the full form if
  // the profile has room for it, else the short form.
  std::string instruction(std::string_view key, const Slots& slots, const Slots& short_slots = {}) const;
  std::string option(std::string_view key, const Slots& slots) const;

  std::string name_of(std::size_t index) const;  // E1 (Slack DM bot)
  std::string names_of(const std::vector<std::size_t>& indexes) const;
  std::string keys_of(const std::vector<std::size_t>& indexes) const;
  std::string pairs_of(const std::vector<Violation>& violations) const;
  std::string was(const std::optional<Bucket>& disposition) const;  // included, deferred, cut

  // What the option requires, what requires it and what it conflicts with, with the dispositions of these.
  std::string dependencies(std::size_t index, const Dispositions& dispositions) const;

 private:
  const ChainModel& model_;
};

}  // namespace sb::decision
