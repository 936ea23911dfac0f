// Classifies what a person typed: a selection, a command, a compact answer to several steps, free text, or something
// that looks like a selection but is not one and is asked again.
//
// Exact matches only. A folded copy of the input (NFKC, case, spaces) is used to reject, never to accept: `1 ` and
// `one` are asked again, and `use port 8080` passes through unchanged. Pure; the lexicon is data/choosing.yaml.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

enum class InvalidReason { kEncoding, kEmpty, kRange, kDuplicate, kArity, kShape, kNearCommand };
std::string_view to_string(InvalidReason reason);

struct Selection {
  std::vector<int> ordinals;  // as typed, from 1
  bool operator==(const Selection&) const = default;
};
struct CancelCommand {
  bool operator==(const CancelCommand&) const = default;
};
struct CompactAnswer {
  std::vector<std::pair<std::string, std::string>> fields;  // key, text after the =
  bool operator==(const CompactAnswer&) const = default;
};
struct FreeText {
  bool operator==(const FreeText&) const = default;
};
struct Invalid {
  InvalidReason reason;
  bool operator==(const Invalid&) const = default;
};
using Input = std::variant<Selection, CancelCommand, CompactAnswer, FreeText, Invalid>;

// What the input is compared with.
struct InputContext {
  int option_count = 0;  // as shown, including the pager's own option
  Select select;
  std::span<const std::string> labels;  // of every option, shown or not
  // The keys for which `key=N` is an answer now, and those for which it is one elsewhere in the flow.
  std::span<const std::string> pending_keys;
  std::span<const std::string> other_keys;
  std::span<const std::string> commands;  // empty where no flow is active
  bool command_case_fold = false;
};

Input classify(std::string_view input, const InputContext& question);

// Fields of a compact answer: `key=value` tokens joined by single spaces; empty when the input does not have this form.
std::vector<std::pair<std::string, std::string>> compact_fields(std::string_view input);

// For definitions: whether a label would be taken for a command or an ordinal.
bool reads_as_command(std::string_view label, std::span<const std::string> commands);
bool reads_as_number(std::string_view label);
// Whether a label means yes or no: two of them make a question that is its own confirmation.
bool reads_as_approval(std::string_view label);

std::string_view choosing_version();

}  // namespace sb::decision
