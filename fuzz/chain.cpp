// Untrusted chain state and answers: the first line is the state (empty: begin), the others are answers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "decision/chain/machine.hpp"

namespace {

constexpr const char* kChain = R"(chain: things
skill: fuzz
number: 3
profile: gstack
relation: independent
options:
  - {key: E1, label: One, eli10: one., recommend: {choice: include, reason: r}, requires: [E7]}
  - {key: E2, label: Two, eli10: two., recommend: {choice: cut, reason: r}, requires: [E1]}
  - {key: E3, label: Three, eli10: three., recommend: {choice: defer, reason: r}, conflicts: [E2]}
  - {key: E4, label: Four, eli10: four., recommend: {choice: include, reason: r}, shipped: true}
  - {key: E5, label: Five, eli10: five., recommend: {choice: include, reason: r}, requires: [E6, E4]}
  - {key: E6, label: Six, eli10: six., recommend: {choice: include, reason: r}, requires: [E5]}
  - {key: E7, label: Семь, eli10: seven., recommend: {choice: include, reason: r}}
)";

const sb::decision::Declaration& declaration() {
  static const auto parsed = [] {
    auto document = sb::parse_document("chain.yaml", kChain);
    SB_ASSERT(document.has_value());
    auto made = sb::decision::parse_declaration(*document, sb::decision::Profiles::built_in());
    SB_ASSERT(made.has_value());
    return std::move(*made);
  }();
  return parsed;
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sb::decision::ChainModel model(declaration());
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = take_line(text);
  auto turn = *sb::decision::chain_begin(model, 3 + static_cast<int>(size % 3));
  if (!first.empty()) {
    // Either a whole blob, or only its content, because a fuzzer cannot seal one.
    auto state = sb::decision::load_chain(model, first, {});
    if (auto value = sb::parse_json(first); !state && value) {
      if (value->is_object()) value->set("hash", declaration().hash);
      state = sb::decision::chain_state_from(*value, model);
    }
    if (!state || state->end != sb::decision::ChainEnd::kNo) return 0;
    turn = sb::decision::chain_resume(model, *state);
  }
  while (!text.empty() && turn.state.end == sb::decision::ChainEnd::kNo) {
    turn = sb::decision::chain_step(model, turn.state, take_line(text));
    const auto blob = sb::decision::save_chain(turn.state, "n", {});
    const bool is_open = turn.state.end == sb::decision::ChainEnd::kNo;
    SB_ASSERT(sb::decision::load_chain(model, blob, {}).has_value() == is_open);
  }
  return 0;
}
