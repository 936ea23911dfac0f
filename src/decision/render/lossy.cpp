#include "decision/render/lossy.hpp"

#include <algorithm>

#include "decision/render/shown_labels.hpp"

namespace sb::decision {
namespace {

class OmittedFields {
 public:
  explicit OmittedFields(const ShownFields& shown) : shown_(shown) {}

  void text(std::string_view name, std::string_view value) { field(name, !value.empty()); }
  void field(std::string_view name, bool is_declared) { fact(name, is_declared && !shown_.has(name)); }
  void fact(std::string_view name, bool is_lost) {
    if (is_lost && std::ranges::find(names_, name) == names_.end()) names_.emplace_back(name);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const ShownFields& shown_;
  std::vector<std::string> names_;
};

// The same text under another name is not lost: a chain's header is its label, its title often the instruction.
void note_heading(const Prompt& prompt, const ShownFields& shown, OmittedFields& losses) {
  const bool is_header_label = prompt.header == prompt.label;
  const bool is_title_instruction = prompt.title == prompt.instruction;
  losses.field("decision_label", !prompt.label.empty() && !(is_header_label && shown.has("header")));
  losses.field("instruction", !prompt.instruction.empty() && !(is_title_instruction && shown.has("title")));
  losses.field("header", !prompt.header.empty() && !(is_header_label && shown.has("decision_label")));
  losses.field("title", !prompt.title.empty() && !(is_title_instruction && shown.has("instruction")));
}

void note_sections(const Sections& sections, OmittedFields& losses) {
  losses.text("sections.context", sections.context);
  losses.text("sections.eli10", sections.eli10);
  losses.text("sections.stakes", sections.stakes);
  losses.field("sections.recommendation", sections.recommendation.has_value());
  losses.text("sections.kind_note", sections.kind_note);
  losses.text("sections.net", sections.net);
  losses.text("sections.safety_notice", sections.safety_notice);
}

void note_option(const Option& option, OmittedFields& losses) {
  losses.text("description", option.description);
  losses.field("recommended", option.recommended);
  losses.field("completeness", option.completeness.has_value());
  losses.field("pros", !option.pros.empty());
  losses.field("cons", !option.cons.empty());
  losses.field("effort", !option.effort_human.empty() || !option.effort_agent.empty());
  losses.text("preview", option.preview);
}

}  // namespace

std::vector<std::string> fields_not_shown(const Prompt& prompt, const Host& host, const ShownFields& shown) {
  OmittedFields losses(shown);
  note_heading(prompt, shown, losses);
  note_sections(prompt.sections, losses);
  for (const Option& option : prompt.options) note_option(option, losses);
  losses.text("irreversible_note", prompt.irreversible_note);
  // How many may be chosen is enforced when the answer is read; only a form's schema can show it earlier.
  const bool is_bounded = prompt.select.mode == SelectMode::kMany && prompt.pages == 1 &&
                          (prompt.select.min > 1 || prompt.select.max < static_cast<int>(prompt.options.size()));
  losses.fact("select.bounds", is_bounded && !host.shows_bounds);
  const bool has_entry = !prompt.options.empty() && entry_of(prompt, prompt.options.size() - 1) == EntryKind::kNone;
  const bool may_be_none = prompt.select.mode == SelectMode::kMany && prompt.select.min == 0 && !has_entry;
  losses.fact("select.none", may_be_none && !host.accepts_none);
  return losses.take();
}

}  // namespace sb::decision
