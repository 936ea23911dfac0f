// The one-way classifier: which decisions are irreversible.
//
// Pure and thread-safe; patterns are compiled once, on first use, and only those a text can need. Everything here can
// raise a door to one-way and nothing can lower it: a registered two-way id does not override its text. (A declaration
// by someone who may say so overrules the words, in read_decision.cpp.) If a text
// cannot be examined to its end, the door counts as one-way.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

enum class DoorReason { kDeclared, kRegistry, kSkillCategory, kKeyword, kDefaultTwoWay };

std::string_view to_string(DoorReason reason);  // declared, registry, skill-category, keyword, default-two-way

struct DoorFacts {
  Door declared = Door::kTwoWay;
  std::string_view question_id = {};
  std::string_view skill = {};
  std::string_view category = {};
  std::span<const std::string_view> texts = {};  // everything the person would read: question, labels, descriptions
};

struct DoorFinding {
  Door door = Door::kTwoWay;
  DoorReason reason = DoorReason::kDefaultTwoWay;
  std::string keyword;  // for kKeyword: the words that raised it
};

// In this order: declared, registry, skill and category, keywords.
DoorFinding classify_door(const DoorFacts& facts);

// Registered as one-way, whatever its text.
bool is_one_way_id(std::string_view question_id);

// Version of the keyword net; part of the definition hash.
std::string_view door_lexicon_version();

}  // namespace sb::decision
