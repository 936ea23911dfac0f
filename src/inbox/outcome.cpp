#include "inbox/outcome.hpp"

#include <array>
#include <utility>

#include "base/assert.hpp"

namespace sb::inbox {
namespace {

template <class E, std::size_t N>
using Table = std::array<std::pair<E, std::string_view>, N>;

constexpr Table<DecisionStatus, 3> kStates{
    {{DecisionStatus::kOpen, "open"}, {DecisionStatus::kParked, "parked"}, {DecisionStatus::kClosed, "closed"}}};
constexpr Table<OutcomeKind, 6> kEndings{{{OutcomeKind::kAnswered, "answered"},
                                          {OutcomeKind::kDeclined, "declined"},
                                          {OutcomeKind::kCancelled, "cancelled"},
                                          {OutcomeKind::kDefaulted, "defaulted"},
                                          {OutcomeKind::kExpired, "expired"},
                                          {OutcomeKind::kSuperseded, "superseded"}}};
constexpr Table<ResolvedBy, 4> kResolvers{{{ResolvedBy::kHuman, "human"},
                                           {ResolvedBy::kPreference, "preference"},
                                           {ResolvedBy::kDeadline, "deadline"},
                                           {ResolvedBy::kRelayed, "relayed"}}};
constexpr Table<Channel, 9> kChannels{{{Channel::kTerminal, "terminal"},
                                       {Channel::kCommand, "command"},
                                       {Channel::kToken, "token"},
                                       {Channel::kConsole, "console"},
                                       {Channel::kElicitation, "elicitation"},
                                       {Channel::kHook, "hook"},
                                       {Channel::kLink, "link"},
                                       {Channel::kRelay, "relay"},
                                       {Channel::kProgram, "program"}}};
constexpr Table<HostResult, 7> kHostResults{{{HostResult::kSelected, "selected"},
                                             {HostResult::kDeclined, "declined"},
                                             {HostResult::kCancelled, "cancelled"},
                                             {HostResult::kDismissed, "dismissed"},
                                             {HostResult::kSkipped, "skipped"},
                                             {HostResult::kTimedOut, "timed_out"},
                                             {HostResult::kEmpty, "empty"}}};

template <class E, std::size_t N>
std::string_view name_in(const Table<E, N>& table, E wanted) {
  for (const auto& [value, name] : table) {
    if (value == wanted) return name;
  }
  SB_ASSERT(!"an enumerator without a name");
  return {};
}

template <class E, std::size_t N>
std::optional<E> value_in(const Table<E, N>& table, std::string_view wanted) {
  for (const auto& [value, name] : table) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(DecisionStatus state) {
  return name_in(kStates, state);
}
std::string_view to_string(OutcomeKind ending) {
  return name_in(kEndings, ending);
}
std::string_view to_string(ResolvedBy resolved_by) {
  return name_in(kResolvers, resolved_by);
}
std::string_view to_string(Channel channel) {
  return name_in(kChannels, channel);
}
std::string_view to_string(HostResult host_result) {
  return name_in(kHostResults, host_result);
}
std::optional<OutcomeKind> outcome_kind_named(std::string_view name) {
  return value_in(kEndings, name);
}
std::optional<ResolvedBy> resolved_by_named(std::string_view name) {
  return value_in(kResolvers, name);
}
std::optional<Channel> channel_named(std::string_view name) {
  return value_in(kChannels, name);
}
std::optional<HostResult> host_result_named(std::string_view name) {
  return value_in(kHostResults, name);
}

}  // namespace sb::inbox
