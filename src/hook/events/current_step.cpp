#include "hook/events/current_step.hpp"

#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "guard/host_session.hpp"
#include "guard/limits.hpp"

namespace sb::hook {
namespace {

using guard::OpenStep;

Result<std::optional<OpenStep>> used_by(store::Snapshot& snapshot, const std::string& key,
                                        const std::string& conversation, bool& has_used) {
  const guard::HostSession host = SB_TRY(guard::read_host_session(snapshot, key));
  has_used = has_used || !host.sessions.empty();
  for (const auto& used : host.sessions) {
    const std::string user = SB_TRY(guard::last_user_of(snapshot, used.session));
    if (!user.empty() && user != conversation) continue;  // another conversation took it over
    auto step = SB_TRY(guard::find_open_step(snapshot, used.workspace, used.session));
    if (step) return step;
  }
  return std::nullopt;
}

using ById = std::map<std::string, const OpenStep*, std::less<>>;

// Whether any conversation uses the session or one of its ancestors; a subagent's use counts too.
Result<bool> is_in_use(store::Snapshot& snapshot, const OpenStep& step, const ById& all) {
  const OpenStep* at = &step;
  for (int depth = 0; depth <= limits::kChildDepth; ++depth) {
    const std::string user = SB_TRY(guard::last_user_of(snapshot, at->session));
    if (!user.empty()) return true;
    const auto parent = all.find(at->parent);
    if (parent == all.end()) return false;
    at = parent->second;
  }
  return false;
}

Result<std::optional<OpenStep>> newest_of(store::Snapshot& snapshot, const std::string& folder, TimestampMs now) {
  std::vector<OpenStep> steps = SB_TRY(guard::open_steps_in(snapshot, folder, limits::kOpenSessionsScanned));
  ById all;
  for (const OpenStep& step : steps) all.emplace(step.session, &step);
  std::vector<const OpenStep*> newest;
  for (const OpenStep& step : steps) newest.push_back(&step);
  std::ranges::stable_sort(newest, std::ranges::greater(), [](const OpenStep* step) { return step->at; });
  for (const OpenStep* step : newest) {
    if (step->is_autonomous || step->at < now - limits::kSessionMaxIdleMs) continue;
    if (!SB_TRY(is_in_use(snapshot, *step, all))) return *step;
  }
  return std::nullopt;
}

// Of the conversation with this key: when its transcript was written to, or when it last used a session. 0: unknown.
Result<TimestampMs> last_seen(store::Snapshot& snapshot, const Files& files, const std::string& key) {
  const guard::HostSession host = SB_TRY(guard::read_host_session(snapshot, key));
  if (host.transcript.empty()) return host.at;
  return std::max<TimestampMs>(host.at, files.status(host.transcript).modified_ns / 1'000'000);
}

Result<guard::OpenStepChain> chain_of(store::Snapshot& snapshot, OpenStep step) {
  guard::OpenStepChain chain{std::move(step)};
  while (!chain.back().parent.empty() && chain.size() <= static_cast<std::size_t>(limits::kChildDepth)) {
    auto parent = SB_TRY(guard::find_open_step(snapshot, chain.back().workspace, chain.back().parent));
    if (!parent) break;
    chain.push_back(std::move(*parent));
  }
  return chain;
}

}  // namespace

Result<std::optional<CurrentStep>> current_step(store::Snapshot& snapshot, const HookEvent& event,
                                                const std::vector<std::string>& folders, TimestampMs now) {
  const std::string own = guard::host_key(event.session, "");
  bool has_used = false;
  std::optional<OpenStep> found;
  if (!event.subagent.empty()) {
    found = SB_TRY(used_by(snapshot, guard::host_key(event.session, event.subagent), own, has_used));
  }
  if (!found) found = SB_TRY(used_by(snapshot, own, own, has_used));
  const bool is_used = found.has_value();
  for (auto folder = folders.begin(); !found && !has_used && folder != folders.end(); ++folder) {
    found = SB_TRY(newest_of(snapshot, *folder, now));
  }
  if (!found) return std::nullopt;
  return CurrentStep{SB_TRY(chain_of(snapshot, std::move(*found))), is_used};
}

Result<std::optional<LeftSession>> left_session(store::Snapshot& snapshot, const Files& files,
                                                const std::vector<std::string>& folders, TimestampMs now) {
  for (const std::string& folder : folders) {
    std::optional<LeftSession> newest;
    for (OpenStep& step : SB_TRY(guard::open_steps_in(snapshot, folder, limits::kOpenSessionsScanned))) {
      if (step.is_autonomous || !step.parent.empty()) continue;
      const std::string user = SB_TRY(guard::last_user_of(snapshot, step.session));
      const TimestampMs seen = std::max(step.at, SB_TRY(last_seen(snapshot, files, user)));
      if (seen < now - limits::kOfferMaxIdleMs || (newest && newest->last_seen >= seen)) continue;
      newest = LeftSession{.step = std::move(step), .has_user = !user.empty(), .last_seen = seen};
    }
    if (newest) return newest;
  }
  return std::nullopt;
}

}  // namespace sb::hook
