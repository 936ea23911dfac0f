// One person's way through a decision, flow or chain, prompt by prompt, whatever host shows the prompts.
//
//   Walk walk = SB_TRY(Walk::at(declaration, position, cap_of(host, declaration.profile)));   // null: from the start
//   render(walk.prompt(), …)                              // what the host shows
//   WalkTurn turn = walk.answer(parse_answer(shape, given));   // or walk.take(line) for what was typed
//   store(walk.position());
//
// Pure: the same declaration, position and answers give the same prompts. The position does not belong to a host: a
// walk continues on a host with room for fewer options where another one left it, with every answer given so far.
//
// The rules are those of the machines below it (decision/flow, decision/chain); this adds what they have in common:
// answers by id, pages, and text typed into a dialog. A text that is exactly the label, id, number or letter of an
// option is that option, also of one on another page; other text is free text. `back` shows the page before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/chain/machine.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/flow/flow.hpp"
#include "decision/prompt.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/walk/paged_choice.hpp"

namespace sb::decision {

struct WalkTurn {
  enum class Kind {
    kAsk,        // show prompt(): the next question, or the same one again
    kHeld,       // a chain on hold: nothing is asked until a person says how to continue
    kAnswered,   // options, values, waived
    kCancelled,  // FLOW_CANCEL
    kSuspended,  // STEP_ABORT: too many invalid inputs
  };
  Kind kind = Kind::kAsk;
  bool is_same = false;                  // of kAsk: the question that was answered is still open
  std::string error;                     // of kAsk: what was wrong with the answer, in the declaration's language
  std::optional<std::string> free_text;  // what the person wrote instead of choosing
  std::vector<std::string> options;      // of a decision
  Value values = Value::object();        // of a flow or chain; of a text or form: what was entered
  Value waived;                          // of a chain

  // FLOW_CANCEL or STEP_ABORT; else empty.
  std::string_view code() const;
};

class Walk {
 public:
  // `host_cap` 0: the host has no limit. kUnsupported where a chain does not fit.
  static Result<Walk> at(const Declaration& declaration, const Value& position, int host_cap);

  const Declaration& declaration() const { return *declaration_; }
  bool is_held() const;
  // The question that is open or held.
  Prompt prompt() const;
  // While on hold: how to continue, as a choice for a person. The ids are words for take().
  Prompt hold_prompt() const;
  // The step or the chain's option it is about; else empty.
  std::string part() const;
  // The decision that is asked, if it is a declared one: of a step, or itself. Null for questions that a walk makes.
  const Decision* step() const;
  // `2 of 3` for a flow's steps, `D3.2` for a chain's questions; empty for a decision and at the end.
  std::string place() const;
  // As a person reads it in a terminal: a block, a brief or the confirmation, without markers for programs.
  std::string text() const;
  Value position() const;

  // Shows another page of the open question. kInvalid if there is none, or if an earlier page must be answered first.
  Status turn_to(int page);

  // Holds a chain at one of its options.
  Status hold_at(std::string_view key);

  WalkTurn answer(const HostAnswer& answer);
  // Lower-case letters count; everything else as strictly as the profile says.
  WalkTurn take(std::string_view line);

 private:
  using Place = std::variant<PagedChoice, FlowState, ChainState>;
  Walk(std::shared_ptr<const Declaration> declaration, std::shared_ptr<const ChainModel> model, Place place)
      : declaration_(std::move(declaration)), model_(std::move(model)), place_(std::move(place)) {}

  WalkTurn answer_ids(const std::vector<std::string>& ids);
  WalkTurn reject();
  std::optional<WalkTurn> answer_by_name(const std::string& text);
  WalkTurn on(PagedChoice::Turn turn);
  WalkTurn on(FlowOutcome outcome);
  WalkTurn on(ChainTurn turn);

  std::shared_ptr<const Declaration> declaration_;  // with the host's cap
  std::shared_ptr<const ChainModel> model_;         // of a chain
  Place place_;
};

// Without what only programs read: the marker's id and the note about scores.
Prompt for_person(Prompt prompt);

}  // namespace sb::decision
