#include "decision/render/lossy.hpp"

#include <algorithm>

#include "decision/brief.hpp"
#include "decision/render/drafts.hpp"

namespace sb::decision {
namespace {

class Losses {
 public:
  explicit Losses(std::string_view shown) : shown_(shown) {}

  void text(std::string_view name, std::string_view value) {
    if (!value.empty() && !is_shown(value, shown_)) add(name);
  }
  void fact(std::string_view name, bool is_lost) {
    if (is_lost) add(name);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  void add(std::string_view name) {
    if (std::ranges::find(names_, name) == names_.end()) names_.emplace_back(name);
  }
  std::string_view shown_;
  std::vector<std::string> names_;
};

bool shows_brief(const Profile& profile, Host host) {
  return drafts::explains(profile) && host != Host::kText && host != Host::kRequestUserInput;
}

bool shows_mark(const Profile& profile, Host host) {
  return host != Host::kText && profile.recommended == RecommendedMark::kSuffix;
}

void note_sections(const Sections& sections, Losses& losses) {
  losses.text("sections.context", sections.context);
  losses.text("sections.eli10", sections.eli10);
  losses.text("sections.stakes", sections.stakes);
  if (sections.recommendation) losses.text("sections.recommendation", sections.recommendation->reason);
  losses.text("sections.kind_note", sections.kind_note);
  losses.text("sections.net", sections.net);
  losses.text("sections.safety_notice", sections.safety_notice);
}

void note_option(const Option& option, const Profile& profile, Host host, Losses& losses) {
  const bool has_brief = shows_brief(profile, host);
  losses.text("description", option.description);
  losses.fact("recommended", option.recommended && !shows_mark(profile, host));
  losses.fact("completeness", option.completeness && !has_brief);
  for (const std::string& pro : option.pros) losses.text("pros", pro);
  for (const std::string& con : option.cons) losses.text("cons", con);
  losses.text("effort", option.effort_human);
  losses.text("effort", option.effort_agent);
  losses.text("preview", option.preview);
}

}  // namespace

bool is_shown(std::string_view text, std::string_view shown) {
  return shown.find(text) != std::string_view::npos || shown.find(on_one_line(text)) != std::string_view::npos;
}

std::vector<std::string> fields_not_shown(const Prompt& prompt, const Profile& profile, Host host,
                                          std::string_view shown) {
  Losses losses(shown);
  losses.text("decision_label", prompt.label);
  // A chain's child is asked by its title: what about this option.
  if (prompt.kind != Kind::kCherryPick || !is_shown(prompt.title, shown))
    losses.text("instruction", prompt.instruction);
  losses.text("header", prompt.header);
  losses.text("title", prompt.title);
  note_sections(prompt.sections, losses);
  for (const Option& option : prompt.options) note_option(option, profile, host, losses);
  losses.text("irreversible_note", prompt.irreversible_note);
  // How many may be chosen is enforced when the answer is read; only a form's schema can say it before.
  const bool is_bounded = prompt.select.mode == SelectMode::kMany && prompt.pages == 1 &&
                          (prompt.select.min > 1 || prompt.select.max < static_cast<int>(prompt.options.size()));
  losses.fact("select.bounds", is_bounded && host != Host::kElicitation);
  // Claude Code gives an empty answer for nothing chosen, and an empty answer is no answer.
  const bool may_be_none = prompt.select.mode == SelectMode::kMany && prompt.select.min == 0;
  losses.fact("select.none", may_be_none && (host == Host::kAskUserQuestion || host == Host::kText));
  return losses.take();
}

}  // namespace sb::decision
