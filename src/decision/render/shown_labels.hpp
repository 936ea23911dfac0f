// How options are labelled on hosts that answer with the label itself.
//
// A label is shown as declared, followed by the profile's mark. If that would be ambiguous (two entries would look the
// same, or a list joined by commas could be split in two ways), every entry is prefixed with its ordinal; the label
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

inline constexpr std::string_view kRecommendedSuffix = " (recommended)";  // gstack's own hooks search for it

struct ShownLabels {
  std::vector<ShownOption> options;
  bool has_ordinals = false;
};

ShownLabels shown_labels(const Prompt& prompt, const Profile& profile);

// `A) ` or `1) `; after Z comes AA.
std::string ordinal_mark(OrdinalStyle style, std::size_t index);
std::string letters_of(std::size_t index);

// What each entry of a prompt means: distinguishes the pager's own entries from declared options with the same id.
EntryKind entry_of(const Prompt& prompt, std::size_t index);

// The entry with exactly this label; also without its "(recommended)" if that is unambiguous.
const ShownOption* find_shown(const std::vector<ShownOption>& options, std::string_view answer);

// The entries of a list joined by commas, in shown order; nothing if any part is not an entry, or one occurs twice.
std::optional<std::vector<const ShownOption*>> split_joined(const std::vector<ShownOption>& options,
                                                            std::string_view answer);

}  // namespace sb::decision
