// One question as it will stand before a person: what every renderer takes and every parser answers against.
//
// Flows, chains and single decisions all come down to a sequence of Prompts. A Prompt never holds more options than the
// cap it was made for: whoever makes it pages or splits first, so no renderer is ever tempted to trim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

inline constexpr std::string_view kMoreId = "more";  // the pager's own option
inline constexpr std::string_view kNoneId = "none-of-these";

struct Prompt {
  std::string decision_id;  // of a flow's step `flow.step`
  std::string label;        // D3.2, or empty
  std::string question_id;  // gstack's id, or empty
  std::string profile;
  std::string locale;
  std::string definition_hash;
  DecisionKind kind = DecisionKind::kChoice;
  std::string instruction, header, title;
  Sections sections;
  std::vector<Option> options;  // in shown order; may end with kMoreId or kNoneId
  Select select;
  std::vector<Field> fields;
  std::string url;
  bool secret = false;
  Door door = Door::kTwoWay;
  std::string irreversible_note;
  int page = 1;
  int pages = 1;
  std::vector<std::string> shown_elsewhere;  // labels of declared options on other pages
  std::vector<std::string> asked_next;       // of those, the ones that come when none of these is chosen
  bool is_declared = false;                  // a decision's own question, not one that a chain makes up
  int recommended_in_all = 0;                // marked options over all pages
  bool has_numbered_pager = false;           // the pager's entry bears its page, as a declared label is the same
};

// How `count` options fall into pages of at most `cap` entries: every page but the last ends with one entry of the
// pager's own ("more"), unless `own_question` (select many), where every page ends with one ("none of these").
// Gives [first, last) per page. No page but a sole one has fewer than 2 entries in all. cap must be at least 2.
struct PageRange {
  std::size_t first;
  std::size_t last;
  bool has_own_option;  // "more" or "none of these" follows
};
std::vector<PageRange> paginate(std::size_t count, std::size_t cap, bool own_question);

// The prompts of a single decision under a cap (its profile's, or the host's where that is smaller), one a page. Where
// the profile requires the sections of a brief, a decision without a label is D1.
std::vector<Prompt> prompts_of(const Decision& decision, const Profile& profile, const std::string& definition_hash,
                               int host_cap = 0);
// The same for a step of a flow: two flows may have a step of the same key.
std::vector<Prompt> prompts_of(const Flow& flow, const FlowStep& step, const Profile& profile,
                               const std::string& definition_hash, int host_cap = 0);

}  // namespace sb::decision
