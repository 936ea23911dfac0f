#include "guard/interlock.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "guard/glob_overlap.hpp"

namespace sb::guard {
namespace {

constexpr std::size_t kShown = 160;
constexpr std::size_t kGlobsShown = 8;

std::string shown(std::string_view text) {
  return shortened(one_line(printable(text)), kShown);
}

std::string list_of(const std::vector<std::string>& globs) {
  std::vector<std::string> first(globs.begin(),
                                 globs.begin() + static_cast<std::ptrdiff_t>(std::min(globs.size(), kGlobsShown)));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (globs.size() > kGlobsShown) text += fmt::format(" and {} more", globs.size() - kGlobsShown);
  return text;
}

std::string allowance(const OpenStep& step) {
  std::string text;
  if (step.writes) text = step.writes->empty() ? "change no file" : "change only " + list_of(*step.writes);
  if (step.commands_read_only) text += fmt::format("{}run only read-only commands", text.empty() ? "" : "; ");
  return text.empty() ? "anything that is in scope" : text;
}

std::string refusal(const OpenStep& step, std::string_view what) {
  const std::string how = step.waiting.empty() ? "Submit the step, then continue: continue_workflow"
                                               : "It is waiting; once that is done, call continue_workflow";
  const std::string token = step.token.empty() ? "" : fmt::format(" with continueToken {}", step.token);
  return fmt::format("Signalbox: {}. Step \"{}\" ({}) of {} is open and allows: {}. {}{}.", what, shown(step.title),
                     step.step, step.workflow, allowance(step), how, token);
}

// No later step allows it either. `entry`: the sentence or path that was put out of scope.
std::string scope_refusal(const OpenStep& step, std::string_view what, std::string_view entry) {
  return fmt::format(
      "Signalbox: {} was refused: {} is out of scope for this session of {}, whatever its step \"{}\" ({}) "
      "allows. Leave it unchanged and continue; if it has to change, say so in the notes for a person to decide.",
      what, shown(entry), step.workflow, shown(step.title), step.step);
}

// Relative to the workspace; nothing when it is outside.
std::optional<std::string> inside(const OpenStep& step, const std::string& place) {
  if (!is_within(place, step.workspace)) return std::nullopt;
  std::string_view rest = std::string_view(place).substr(step.workspace.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return rest.empty() ? "." : std::string(rest);
}

bool covers(const OpenStep& step, const std::string& glob, const std::string& place, GlobCase letters) {
  if (glob.starts_with('/')) return glob_covers(glob, place, letters);
  const auto relative = inside(step, place);
  return relative && glob_covers(glob, *relative, letters);
}

bool is_allowed(const OpenStep& step, const std::string& place) {
  return !step.writes || std::ranges::any_of(*step.writes, [&](const std::string& glob) {
    return covers(step, glob, place, GlobCase::kExact);
  });
}

// The entry of `out_of_scope` for which this holds for the entry itself or one of the globs it names.
template <class Holds>
const std::string* entry_where(const OpenStep& step, const Holds& holds) {
  const auto found = std::ranges::find_if(step.out_of_scope, [&](const std::string& entry) {
    return std::ranges::any_of(paths_named(entry), [&](const std::string& glob) { return holds(entry, glob); }) ||
           holds(entry, std::string());
  });
  return found == step.out_of_scope.end() ? nullptr : &*found;
}

const std::string* out_of_scope(const OpenStep& step, const std::string& place) {
  const auto relative = inside(step, place);
  return entry_where(step, [&](const std::string& entry, const std::string& glob) {
    if (glob.empty()) return relative && names_path(entry, *relative);
    return covers(step, glob, place, GlobCase::kIgnored);
  });
}

// Whether it declares anything about files.
bool declares(const OpenStep& step) {
  return step.writes || !step.out_of_scope.empty();
}

// The folder in which such a glob begins: `src/legacy` of `src/legacy/**`.
std::string fixed_part(std::string_view glob) {
  std::string_view fixed = glob.substr(0, glob.find_first_of("*?[{"));
  if (fixed.size() < glob.size()) fixed = fixed.substr(0, std::min(fixed.rfind('/'), fixed.size()));
  return lexically_normal(fixed);
}

// Something out of scope below the path a command names, since commands recurse into folders.
const std::string* holds_out_of_scope(const OpenStep& step, const std::string& place) {
  const auto is_below = [&](const std::string& fixed) {
    return is_within(fixed.starts_with('/') ? fixed : step.workspace + "/" + fixed, place);
  };
  return entry_where(step, [&](const std::string& entry, const std::string& glob) {
    if (!glob.empty()) return is_below(fixed_part(glob));
    return std::ranges::any_of(files_named(entry), is_below);
  });
}

// The part before the first wildcard, with its slash: `src/` of `src/*.c`.
std::string folder_of(std::string_view pattern) {
  const std::string_view fixed = pattern.substr(0, pattern.find_first_of("*?["));
  const std::size_t slash = fixed.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(fixed.substr(0, slash + 1));
}

// The target of a pattern with `..` after a wildcard is unknown.
bool is_resolvable(const Target& target) {
  if (!target.is_known || !target.is_pattern) return target.is_known;
  const std::string rest = "/" + target.path.substr(folder_of(target.path).size()) + "/";
  return rest.find("/../") == std::string::npos;
}

const std::string* pattern_out_of_scope(const OpenStep& step, const std::string& place, bool is_recursive) {
  const auto overlaps = [&](const std::string& glob) {
    const bool is_plain = glob.find_first_of("*?[{") == std::string::npos;
    const std::string whole =
        (glob.starts_with('/') ? glob : join_path(step.workspace, glob)) + (is_plain ? "/**" : "");
    return may_overlap(place, whole, is_recursive);
  };
  return entry_where(step, [&](const std::string& entry, const std::string& glob) {
    return glob.empty() ? std::ranges::any_of(files_named(entry), overlaps) : overlaps(glob);
  });
}

// Whether everything a pattern can match is allowed: tried with short and long sample names. Bracket expressions of a
// glob distinguish letters, so no sample name can represent all of them.
bool is_pattern_allowed(const OpenStep& step, const std::string& place) {
  OpenStep plain = step;
  std::erase_if(*plain.writes, [](const std::string& glob) { return glob.find('[') != std::string::npos; });
  return std::ranges::all_of(std::initializer_list<std::string_view>{"", "\x01", "\x01\x01"},
                             [&](std::string_view name) {
                               std::string tried;
                               for (std::size_t i = 0; i < place.size(); ++i) {
                                 const std::size_t close = place[i] == '[' ? place.find(']', i + 2) : std::string::npos;
                                 if (place[i] == '*') {
                                   tried += name;
                                 } else if (place[i] == '?' || close != std::string::npos) {
                                   tried += '\x01';
                                   if (close != std::string::npos) i = close;
                                 } else {
                                   tried += place[i];
                                 }
                               }
                               return is_allowed(plain, tried);
                             });
}

class Judge {
 public:
  Judge(const OpenStep& step, const std::string& temporary, const PathResolver& resolve)
      : step_(step), temporary_(temporary), resolve_(resolve) {}

  std::optional<std::string> refuse(const CommandEffect& effect) const {
    if (effect.effect == Effect::kPaths) {
      if (auto reason = refuse_out_of_scope(effect)) return reason;
    }
    if (step_.commands_read_only) return not_read_only(effect);
    if (!step_.writes) return std::nullopt;
    const bool is_none = step_.writes->empty();
    switch (effect.effect) {
      case Effect::kReads:
        return std::nullopt;
      case Effect::kRepository:
      case Effect::kInstalls:
      case Effect::kOutside:
        return is_none ? refusal(step_, called(effect) + " was refused because it changes something")
                       : std::optional<std::string>();
      case Effect::kTree:
        return refusal(step_, called(effect) + " was refused because it may change any file");
      case Effect::kPaths:
        return refuse_paths(effect);
      case Effect::kUnknown:
        // A command line that cannot be analyzed could do anything; an unknown program is allowed.
        if (!is_none || effect.name != "the command line") return std::nullopt;
        return refusal(step_, fmt::format("the command was refused because {}; simplify it", effect.why));
    }
    return std::nullopt;
  }

 private:
  // A redirection is not a command.
  static std::string called(const CommandEffect& effect) {
    return effect.name == kRedirection ? "a redirection (`>`)" : fmt::format("`{}`", shown(effect.name));
  }

  std::optional<std::string> not_read_only(const CommandEffect& effect) const {
    const std::string name = called(effect);
    if (effect.effect != Effect::kUnknown) {
      return refusal(step_, fmt::format("{} was refused because it changes something", name));
    }
    const std::string why = effect.why.empty() ? "it is not known to be read-only" : effect.why;
    return refusal(step_, fmt::format("{} was refused: {}", name, why));
  }

  // A pattern with its folder resolved.
  PathForms places_of(const Target& target) const {
    if (!target.is_pattern) return resolve_(target.path);
    const std::string folder = folder_of(target.path);
    PathForms places = resolve_(folder.empty() ? "." : folder);
    places.is_agents_own = false;  // its folder is, but not all that it may match
    for (std::string& place : places.paths) place = join_path(place, target.path.substr(folder.size()));
    return places;
  }

  const std::string* out_of_scope_at(const CommandEffect& effect, const Target& target,
                                     const std::string& place) const {
    if (target.is_pattern) return pattern_out_of_scope(step_, place, effect.is_recursive);
    const std::string* glob = out_of_scope(step_, place);
    return glob == nullptr && effect.is_recursive ? holds_out_of_scope(step_, place) : glob;
  }

  std::optional<std::string> refuse_out_of_scope(const CommandEffect& effect) const {
    if (step_.out_of_scope.empty()) return std::nullopt;
    for (const Target& target : effect.targets) {
      if (!is_resolvable(target) && !target.is_list) continue;
      const PathForms places = places_of(target);
      if (places.is_agents_own) continue;
      if (!places.blocked_reason.empty()) {
        return refusal(
            step_, fmt::format("{} on {} was refused: {}", called(effect), shown(target.path), places.blocked_reason));
      }
      for (const std::string& place : places.paths) {
        const std::string* glob = out_of_scope_at(effect, target, place);
        if (glob == nullptr) continue;
        return scope_refusal(step_, fmt::format("{} on {}", called(effect), shown(target.path)), *glob);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> refuse_paths(const CommandEffect& effect) const {
    for (const Target& target : effect.targets) {
      const std::string what = fmt::format("{} on {} was refused", called(effect), shown(target.path));
      if (!is_resolvable(target)) return refusal(step_, what + " because its path is not literal");
      const PathForms places = places_of(target);
      if (places.is_agents_own) continue;
      if (!places.blocked_reason.empty()) return refusal(step_, fmt::format("{}: {}", what, places.blocked_reason));
      for (const std::string& place : places.paths) {
        const bool is_scratch = is_within(place, temporary_) && !is_within(place, step_.workspace);
        const bool may_be = target.is_pattern ? is_pattern_allowed(step_, place) : is_allowed(step_, place);
        if (!is_scratch && !may_be) return refusal(step_, what);
      }
    }
    return std::nullopt;
  }

  const OpenStep& step_;
  const std::string& temporary_;
  const PathResolver& resolve_;
};

std::optional<std::string> refuse_unknown(const OpenStepChain& chain, const ToolChange& change) {
  const auto restricts = [&](const OpenStep& step) {
    return step.writes || (change.is_shell && step.commands_read_only);
  };
  const auto step = std::ranges::find_if(chain, restricts);
  if (step == chain.end()) return std::nullopt;
  return refusal(
      *step, fmt::format("{} was refused because what it changes is unknown: {}", shown(change.tool), change.unknown));
}

}  // namespace

bool has_interlock(const OpenStepChain& chain) {
  return std::ranges::any_of(chain, [](const OpenStep& step) { return declares(step) || step.commands_read_only; });
}

std::optional<std::string> refuse_edit(const OpenStepChain& chain, const PathForms& places) {
  if (places.is_agents_own) return std::nullopt;
  for (const OpenStep& step : chain) {
    for (const std::string& place : places.paths) {
      const std::string name = shown(inside(step, place).value_or(place));
      if (!places.blocked_reason.empty() && declares(step)) {
        return refusal(step, fmt::format("changing {} was refused: {}", name, places.blocked_reason));
      }
      if (const std::string* glob = out_of_scope(step, place)) {
        return scope_refusal(step, fmt::format("changing {}", name), *glob);
      }
      if (!is_allowed(step, place)) return refusal(step, fmt::format("changing {} was refused", name));
    }
  }
  return std::nullopt;
}

std::optional<std::string> refuse_command(const OpenStepChain& chain, std::string_view command_line,
                                          const std::string& temporary, const PathResolver& resolve) {
  const std::vector<CommandEffect> effects = effects_of(command_line);
  for (const OpenStep& step : chain) {
    for (const CommandEffect& effect : effects) {
      if (auto reason = Judge(step, temporary, resolve).refuse(effect)) return reason;
    }
  }
  return std::nullopt;
}

std::optional<std::string> refuse_change(const OpenStepChain& chain, const ToolChange& change,
                                         const std::string& temporary, const PathResolver& resolve) {
  switch (change.kind) {
    case ToolChange::Kind::kNothing:
      return std::nullopt;
    case ToolChange::Kind::kCommand:
      return refuse_command(chain, change.command, temporary, resolve);
    case ToolChange::Kind::kPaths:
      for (const std::string& path : change.paths) {
        if (auto reason = refuse_edit(chain, resolve(path))) return reason;
      }
      return std::nullopt;
    case ToolChange::Kind::kUnknown:
      return refuse_unknown(chain, change);
  }
  return std::nullopt;
}

}  // namespace sb::guard
