// For tests: a chain from YAML, answered line by line; its state is sealed and opened between any two answers, as a
// host does.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "decision/chain/chain_prompt.hpp"
#include "decision/chain/machine.hpp"
#include "decision/chain/plan.hpp"
#include "decision/state_blob.hpp"

namespace sb::decision::testing {

inline Checked<Declaration> parse_chain(const std::string& yaml, const Profiles& profiles = Profiles::built_in()) {
  auto document = parse_document("chain.yaml", yaml);
  if (!document) return std::unexpected(Faults{document.error()});
  return parse_declaration(*document, profiles);
}

inline std::shared_ptr<const Declaration> chain_of(const std::string& yaml,
                                                   const Profiles& profiles = Profiles::built_in()) {
  auto parsed = parse_chain(yaml, profiles);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().front().to_string() << "\n" << yaml;
    std::abort();
  }
  return std::make_shared<const Declaration>(std::move(*parsed));
}

// A chain D3 of `count` options E1, E2, … ("Option 1", …), each recommended to be included; `extra` adds members by
// key.
struct ChainText {
  std::string relation = "independent";
  std::string profile = "gstack";
  std::string head = {};  // more members of the chain
  std::vector<std::pair<std::string, std::string>> extra = {};
  std::string choice = "include";

  std::string of(int count) const {
    std::string yaml = "chain: things\nskill: plan-ceo-review\nnumber: 3\nprofile: " + profile +
                       "\nrelation: " + relation + "\n" + head + "options:\n";
    for (int i = 1; i <= count; ++i) {
      const std::string n = std::to_string(i), key = "E" + n;
      std::string more, recommend = "recommend: {choice: " + choice + ", reason: reason " + n + "}";
      for (const auto& [name, text] : extra) {
        if (name != key) continue;
        if (text.starts_with("recommend:")) {
          recommend = text;
        } else {
          more += ", " + text;
        }
      }
      yaml +=
          "  - {key: " + key + ", label: Option " + n + ", eli10: About option " + n + "., " + recommend + more + "}\n";
    }
    return yaml;
  }
};

class ChainConversation {
 public:
  explicit ChainConversation(const std::string& yaml, int cap = 0, const Profiles& profiles = Profiles::built_in())
      : ChainConversation(chain_of(yaml, profiles), cap) {}
  ChainConversation(std::shared_ptr<const Declaration> declaration, int cap)
      : declaration_(std::move(declaration)), model_(std::make_shared<const ChainModel>(*declaration_)) {
    auto turn = chain_begin(*model_, cap);
    if (!turn) {
      ADD_FAILURE() << turn.error().to_string();
      std::abort();
    }
    turn_ = std::move(*turn);
  }

  ChainConversation& type(std::string_view input) {
    const auto blob = save_chain(turn_.state, "n", {});
    auto state = load_chain(*model_, blob, {});
    if (!state) {
      ADD_FAILURE() << "at \"" << input << "\": " << state.error().to_string() << "\n"
                    << to_json(to_value(turn_.state));
      std::abort();
    }
    turn_ = chain_step(*model_, std::move(*state), input);
    return *this;
  }
  ChainConversation& type_all(const std::vector<std::string>& inputs) {
    for (const auto& input : inputs) type(input);
    return *this;
  }
  // The letter of the option with this id.
  ChainConversation& choose(std::string_view id) {
    const auto options = prompt().options;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (options[i].id == id) return type(std::string(1, static_cast<char>('A' + i)));
    }
    ADD_FAILURE() << id << " is not among the options of\n" << output();
    std::abort();
  }

  const ChainTurn& turn() const { return turn_; }
  const ChainModel& model() const { return *model_; }
  const std::string& output() const { return turn_.output; }
  const std::string& label() const { return turn_.label; }
  std::string_view event() const { return to_string(turn_.event); }
  bool is_asking() const { return turn_.event == ChainEvent::kNone; }
  std::string values() const { return to_json(turn_.values); }
  std::string waived() const { return to_json(turn_.waived); }
  Prompt prompt() const { return chain_prompt(*model_, turn_.state); }
  std::vector<std::string> option_ids() const {
    std::vector<std::string> ids;
    for (const auto& option : prompt().options) ids.push_back(option.id);
    return ids;
  }
  bool says(std::string_view text) const { return output().find(text) != std::string::npos; }

 private:
  std::shared_ptr<const Declaration> declaration_;
  std::shared_ptr<const ChainModel> model_;
  ChainTurn turn_;
};

using Ids = std::vector<std::string>;

}  // namespace sb::decision::testing
