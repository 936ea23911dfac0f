#include "guard/shell/effect_list.hpp"

#include "base/files.hpp"
#include "guard/shell/command_table.hpp"

namespace sb::guard {

void EffectList::add_unknown(std::string_view name, std::string why) {
  found.push_back({Effect::kUnknown, std::string(name), {}, false, std::move(why)});
}

void EffectList::add(Effect effect, std::string name) {
  found.push_back({effect, std::move(name), {}, false, {}});
}

void EffectList::add_paths(std::string_view name, const std::vector<ShellWord>& words, const CommandArguments& own) {
  const auto inside = command_table().inside.find(name);
  const bool is_recursive =
      inside != command_table().inside.end() && (inside->second.empty() || find_option(own, inside->second) != nullptr);
  CommandEffect effect{Effect::kPaths, std::string(name), {}, is_recursive, {}};
  for (const ShellWord& word : words) {
    if (word.is_known && is_harmless_file(word.text)) continue;
    const bool is_absolute = word.text.starts_with('/');
    const bool is_known = word.is_known && (is_absolute || place.is_known);
    Target target{word.text, is_known && !word.is_list, word.is_pattern, is_known && word.is_list};
    if (!is_absolute && !place.folder.empty()) target.path = join_path(place.folder, word.text);
    effect.targets.push_back(std::move(target));
  }
  if (!effect.targets.empty()) found.push_back(std::move(effect));
}

}  // namespace sb::guard
