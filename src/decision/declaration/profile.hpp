// A profile: the limits and marks for showing decisions and parsing answers, as data.
//
// `interaction` and `gstack` are built in (data/profiles.yaml); a user's profile inherits from one of them, or from
// another user profile, and changes single values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::decision {

enum class OrdinalStyle { kNumberParen, kLetterParen };
enum class RecommendedMark { kHidden, kSuffix };
enum class Grammar { kStrictNumbers, kLetters };
enum class OnExhausted { kEvent, kReask };
enum class FlowEnd { kConfirmRestartEdit, kShipReviseCut };
enum class AlternativesOverflow { kPage, kSubsteps };
enum class IndependentOverflow { kSplit, kSubsteps };
enum class PageStyle { kPaged, kDoc };

struct Profile {
  std::string id;
  int min_options = 2;
  int max_options = 7;
  int max_questions = 1;

  int instruction_max_words = 0;  // 0: no limit
  int option_max_words = 0;
  bool one_sentence = false;
  int header_max = 12;
  std::vector<std::string> sections_allowed;
  std::vector<std::string> sections_required;

  OrdinalStyle ordinals = OrdinalStyle::kNumberParen;
  RecommendedMark recommended = RecommendedMark::kHidden;

  Grammar grammar = Grammar::kStrictNumbers;
  std::vector<std::string> commands;  // byte for byte: abort, cancel
  bool command_case_fold = false;
  bool compact = true;

  int max_invalid = 3;  // the attempt after these ends the step
  OnExhausted on_exhausted = OnExhausted::kEvent;

  FlowEnd end = FlowEnd::kConfirmRestartEdit;
  AlternativesOverflow alternatives = AlternativesOverflow::kSubsteps;
  IndependentOverflow independent = IndependentOverflow::kSubsteps;
  int meta_above = 0;  // 0: never
  PageStyle page_style = PageStyle::kPaged;

  int id_max = 64;
  bool may_default = false;      // `on_timeout: default` allowed
  bool may_auto_decide = false;  // stored preferences apply

  Value source;  // canonical, enters the definition hash
};

// The available profiles. Immutable after construction.
class Profiles {
 public:
  // The two built-in ones.
  static Profiles built_in();
  // With the user's profiles added. A fault names the user's file; a cycle or an unknown parent is a fault.
  static Checked<Profiles> with(const std::vector<Document>& user_profiles);

  const Profile* find(std::string_view id) const;
  std::vector<std::string> ids() const;

 private:
  std::map<std::string, Profile, std::less<>> profiles_;
};

}  // namespace sb::decision
