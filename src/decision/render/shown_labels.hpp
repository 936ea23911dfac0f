// How options are labelled on hosts that answer with the label itself.
//
// A label is shown as declared, with the profile's mark behind it. Where that could not be read back (two entries would
// look the same, or a list joined by commas could be cut in two ways) every entry gets its ordinal in front: the label
// itself is never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"
#include "decision/render/answer_shape.hpp"

namespace sb::decision {

inline constexpr std::string_view kRecommendedSuffix = " (recommended)";  // what gstack's own hooks look for

struct ShownLabels {
  std::vector<ShownOption> options;
  bool has_ordinals = false;
};

ShownLabels shown_labels(const Prompt& prompt, const Profile& profile);

// `A) ` or `1) `; letters go on with AA behind Z.
std::string ordinal_mark(OrdinalStyle style, std::size_t index);
std::string letters_of(std::size_t index);

// What each entry of a prompt means: the pager's own are told apart from declared options of the same id.
EntryKind entry_of(const Prompt& prompt, std::size_t index);

// The entry with exactly this label; also without its "(recommended)", where that is still only one.
const ShownOption* find_shown(const std::vector<ShownOption>& options, std::string_view answer);

// The entries of a list joined by commas, in shown order; nothing when any part is not an entry, or one comes twice.
std::optional<std::vector<const ShownOption*>> split_joined(const std::vector<ShownOption>& options,
                                                            std::string_view answer);

}  // namespace sb::decision
