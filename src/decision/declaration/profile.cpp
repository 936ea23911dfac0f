#include "decision/declaration/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/document/reader.hpp"
#include "decision/data.hpp"

namespace sb::decision {
namespace {

template <class E>
using Table = std::pair<std::string_view, E>;

constexpr Table<OrdinalStyle> kOrdinals[] = {{"number_paren", OrdinalStyle::kNumberParen},
                                             {"letter_paren", OrdinalStyle::kLetterParen}};
constexpr Table<RecommendedMark> kMarks[] = {{"hidden", RecommendedMark::kHidden},
                                             {"suffix", RecommendedMark::kSuffix}};
constexpr Table<Grammar> kGrammars[] = {{"strict_numbers", Grammar::kStrictNumbers}, {"letters", Grammar::kLetters}};
constexpr Table<OnExhausted> kExhausted[] = {{"event", OnExhausted::kEvent}, {"reask", OnExhausted::kReask}};
constexpr Table<FlowEnd> kEnds[] = {{"confirm_restart_edit", FlowEnd::kConfirmRestartEdit},
                                    {"ship_revise_cut", FlowEnd::kShipReviseCut}};
constexpr Table<AlternativesOverflow> kAlternatives[] = {{"page", AlternativesOverflow::kPage},
                                                         {"substeps", AlternativesOverflow::kSubsteps}};
constexpr Table<IndependentOverflow> kIndependents[] = {{"split", IndependentOverflow::kSplit},
                                                        {"substeps", IndependentOverflow::kSubsteps}};
constexpr Table<PageStyle> kPageStyles[] = {{"paged", PageStyle::kPaged}, {"doc", PageStyle::kDoc}};

constexpr std::string_view kSectionNames[] = {"context",   "eli10",     "stakes", "recommendation", "completeness",
                                              "kind_note", "pros_cons", "net",    "safety_notice"};

void read_number(Fields& fields, std::string_view name, int min, int max, int& into) {
  if (const auto number = fields.integer(name, min, max)) into = static_cast<int>(*number);
}

void read_flag(Fields& fields, std::string_view name, bool& into) {
  if (const auto flag = fields.boolean(name)) into = *flag;
}

template <class E>
void read_choice(Fields& fields, std::string_view name, Names<E> names, E& into) {
  if (const auto choice = fields.choice<E>(name, names)) into = *choice;
}

void read_sections(Fields& fields, std::string_view name, std::vector<std::string>& into) {
  if (!fields.has(name)) {
    fields.get(name);
    return;
  }
  into.clear();
  for (const Reader& item : fields.items(name)) {
    const auto section = item.string();
    if (!section) continue;
    if (std::ranges::find(kSectionNames, *section) == std::end(kSectionNames)) {
      item.fault(fmt::format("there is no section \"{}\"", *section), "Use a section of the built-in profiles");
    } else {
      into.push_back(*section);
    }
  }
}

template <class Read>
void in_group(Fields& fields, std::string_view name, Read read) {
  const auto group = fields.get(name);
  if (!group) return;
  Fields inner = group->fields();
  read(inner);
  inner.finish();
}

Value to_value(const Profile& profile) {
  return Value::object({
      {"id", profile.id},
      {"limits", Value(Value::Array{profile.min_options, profile.max_options, profile.max_questions,
                                    profile.instruction_max_words, profile.option_max_words, profile.header_max,
                                    profile.max_invalid, profile.meta_above, profile.id_max})},
      {"choices", Value(Value::Array{static_cast<int>(profile.ordinals), static_cast<int>(profile.recommended),
                                     static_cast<int>(profile.grammar), static_cast<int>(profile.on_exhausted),
                                     static_cast<int>(profile.end), static_cast<int>(profile.alternatives),
                                     static_cast<int>(profile.independent), static_cast<int>(profile.page_style)})},
      {"flags", Value(Value::Array{profile.one_sentence, profile.command_case_fold, profile.compact,
                                   profile.may_default, profile.may_auto_decide})},
      {"commands", Value::array(profile.commands)},
      {"sections_allowed", Value::array(profile.sections_allowed)},
      {"sections_required", Value::array(profile.sections_required)},
  });
}

// Reads one profile on top of `profile`, which already contains the inherited values.
void read_profile(Fields& fields, Profile& profile) {
  in_group(fields, "cap", [&](Fields& cap) {
    read_number(cap, "min_options", 2, 26, profile.min_options);
    read_number(cap, "max_options", 2, 26, profile.max_options);
    read_number(cap, "max_questions", 1, 10, profile.max_questions);
  });
  in_group(fields, "text", [&](Fields& text) {
    read_number(text, "instruction_max_words", 0, 1000, profile.instruction_max_words);
    read_number(text, "option_max_words", 0, 1000, profile.option_max_words);
    read_flag(text, "one_sentence", profile.one_sentence);
    read_number(text, "header_max", 1, 200, profile.header_max);
    read_sections(text, "sections_allowed", profile.sections_allowed);
    read_sections(text, "sections_required", profile.sections_required);
  });
  in_group(fields, "marks", [&](Fields& marks) {
    read_choice<OrdinalStyle>(marks, "ordinals", kOrdinals, profile.ordinals);
    read_choice<RecommendedMark>(marks, "recommended", kMarks, profile.recommended);
  });
  in_group(fields, "input", [&](Fields& input) {
    read_choice<Grammar>(input, "grammar", kGrammars, profile.grammar);
    if (input.has("commands")) profile.commands = input.strings("commands");
    input.get("commands");
    read_flag(input, "command_case_fold", profile.command_case_fold);
    read_flag(input, "compact", profile.compact);
  });
  in_group(fields, "retry", [&](Fields& retry) {
    read_number(retry, "max_invalid", 1, 100, profile.max_invalid);
    read_choice<OnExhausted>(retry, "on_exhausted", kExhausted, profile.on_exhausted);
  });
  in_group(fields, "flow", [&](Fields& flow) { read_choice<FlowEnd>(flow, "end", kEnds, profile.end); });
  in_group(fields, "overflow", [&](Fields& overflow) {
    read_choice<AlternativesOverflow>(overflow, "alternatives", kAlternatives, profile.alternatives);
    read_choice<IndependentOverflow>(overflow, "independent", kIndependents, profile.independent);
    read_number(overflow, "meta_above", 0, 1000, profile.meta_above);
    read_choice<PageStyle>(overflow, "page_style", kPageStyles, profile.page_style);
  });
  in_group(fields, "ids", [&](Fields& ids) { read_number(ids, "max_len", 16, 64, profile.id_max); });
  in_group(fields, "defaults", [&](Fields& defaults) { read_flag(defaults, "allowed", profile.may_default); });
  in_group(fields, "auto_decide", [&](Fields& decide) { read_flag(decide, "allowed", profile.may_auto_decide); });
  if (profile.min_options > profile.max_options) {
    fields.self().fault("cap.min_options is more than cap.max_options", "Lower min_options");
  }
  fields.finish();
}

struct Pending {
  const Document* document;
  std::string parent;
  bool is_open = false;  // being resolved: seeing it again means a cycle
};

}  // namespace

Profiles Profiles::built_in() {
  Profiles profiles;
  const auto document = parse_document("profiles.yaml", std::string(data_file("profiles.yaml")));
  SB_ASSERT(document.has_value());
  Faults faults;
  for (const Reader& item : Reader(*document, faults).items()) {
    Profile profile;
    Fields fields = item.fields();
    profile.id = fields.string("profile", Need::kRequired).value_or("");
    read_profile(fields, profile);
    profile.source = to_value(profile);
    profiles.profiles_.emplace(profile.id, std::move(profile));
  }
  SB_ASSERT(faults.empty() && profiles.profiles_.size() == 2);
  return profiles;
}

Checked<Profiles> Profiles::with(const std::vector<Document>& user_profiles) {
  Profiles result = built_in();
  Faults faults;
  std::map<std::string, Pending, std::less<>> pending;
  for (const Document& document : user_profiles) {
    Reader root(document, faults);
    Fields fields = root.fields();
    const auto id = fields.string("profile", Need::kRequired, 64);
    const auto parent = fields.string("inherits", Need::kRequired, 64);
    if (!id || !parent) continue;
    if (result.find(*id) || pending.contains(*id)) {
      root.fault(fmt::format("profile \"{}\" already exists", *id), "Give it another name");
      continue;
    }
    pending.emplace(*id, Pending{&document, *parent});
  }
  const auto resolve = [&](auto& self, const std::string& id) -> const Profile* {
    if (const Profile* known = result.find(id)) return known;
    const auto found = pending.find(id);
    if (found == pending.end()) return nullptr;
    Pending& one = found->second;
    Reader root(*one.document, faults);
    if (one.is_open) {
      root.fault(fmt::format("the profile \"{}\" inherits from itself", id), "Inherit from interaction or gstack");
      return nullptr;
    }
    one.is_open = true;
    const Profile* parent = self(self, one.parent);
    if (!parent) {
      if (!pending.contains(one.parent)) {
        root.fault(fmt::format("there is no profile \"{}\" to inherit from", one.parent),
                   "Inherit from interaction, gstack or another of your profiles");
      }
      return nullptr;
    }
    Profile profile = *parent;
    profile.id = id;
    Fields fields = root.fields();
    fields.get("profile");
    fields.get("inherits");
    read_profile(fields, profile);
    profile.source = to_value(profile);
    return &result.profiles_.emplace(id, std::move(profile)).first->second;
  };
  std::vector<std::string> ids;
  for (const auto& [id, one] : pending) ids.push_back(id);
  for (const auto& id : ids) resolve(resolve, id);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return result;
}

const Profile* Profiles::find(std::string_view id) const {
  const auto found = profiles_.find(id);
  return found == profiles_.end() ? nullptr : &found->second;
}

std::vector<std::string> Profiles::ids() const {
  std::vector<std::string> out;
  for (const auto& [id, profile] : profiles_) out.push_back(id);
  return out;
}

}  // namespace sb::decision
