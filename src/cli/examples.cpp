#include "cli/examples.hpp"

#include <algorithm>
#include <array>

namespace sb::cli {
namespace {

constexpr std::array kExamples = {
    std::string_view("signalbox config check . --json"),
    std::string_view("signalbox config show"),
    std::string_view("signalbox config get merge"),
    std::string_view("signalbox config set limits.turns 60"),
    std::string_view("signalbox config edit"),
    std::string_view("signalbox config path"),
    std::string_view("signalbox contract list"),
    std::string_view("signalbox contract show wr.contracts.review_verdict"),
    std::string_view("signalbox contract check workflows/contracts/release.yaml"),
    std::string_view("signalbox flow start --def release.yaml"),
    std::string_view("signalbox flow step --def release.yaml --state @state.txt --input 2"),
    std::string_view("signalbox hook install --user"),
    std::string_view("signalbox hook uninstall --user"),
    std::string_view("signalbox inbox list"),
    std::string_view("signalbox inbox show drop-table"),
    std::string_view("signalbox inbox answer drop-table keep"),
    std::string_view("signalbox inbox watch --json"),
    std::string_view("signalbox inbox withdraw drop-table"),
    std::string_view("signalbox inbox decline drop-table"),
    std::string_view("signalbox inbox cancel drop-table"),
    std::string_view("signalbox mcp install --client claude-code"),
    std::string_view("signalbox mcp uninstall --client claude-code"),
    std::string_view("signalbox operator init"),
    std::string_view("signalbox operator token --scope workspace:. --expires 8h"),
    std::string_view("signalbox operator revoke ann"),
    std::string_view("signalbox rules show"),
    std::string_view("signalbox rules install --client claude-code"),
    std::string_view("signalbox rules uninstall --client claude-code"),
    std::string_view("signalbox serve token ann"),
    std::string_view("signalbox serve token list"),
    std::string_view("signalbox serve token revoke ann"),
    std::string_view("signalbox split plan --def integrations.yaml --cap 4"),
    std::string_view("signalbox split start --def integrations.yaml --cap 4"),
    std::string_view("signalbox split step --def integrations.yaml --state @state.txt --input A"),
    std::string_view("signalbox workflow list"),
    std::string_view("signalbox workflow show wr.shaping"),
    std::string_view("signalbox workflow check release.yaml"),
    std::string_view("signalbox workflow source add ~/workflows"),
    std::string_view("signalbox workflow source remove ~/workflows"),
    std::string_view("signalbox workflow source list"),
    std::string_view("signalbox runs list --limit 5"),
    std::string_view("signalbox runs show last"),
    std::string_view("signalbox runs resume last --wait 10m"),
    std::string_view("signalbox runs stop last --reason 'No longer needed'"),
    std::string_view("signalbox runs export last --as-test incident-12"),
    std::string_view("signalbox session start wr.shaping --goal 'Faster search'"),
    std::string_view("signalbox session continue ct_TOKEN --note 'Two tables are read twice.'"),
    std::string_view("signalbox session show s-ab12"),
    std::string_view("signalbox session log s-ab12 --full"),
    std::string_view("signalbox session list"),
    std::string_view("signalbox session resume 'faster search'"),
    std::string_view("signalbox session fork s-ab12 --node 3"),
    std::string_view("signalbox session checkpoint ck_TOKEN"),
    std::string_view("signalbox session stop s-ab12"),
    std::string_view("signalbox session export s-ab12 > session.jsonl"),
    std::string_view("signalbox session import session.jsonl"),
    std::string_view("signalbox session verify s-ab12"),
    std::string_view("signalbox session prune --older-than 90d --dry-run"),
    std::string_view("signalbox session gc"),
    std::string_view("signalbox session rotate-keys"),
    std::string_view("signalbox session steer s-ab12 'Use the existing parser'"),
    std::string_view("signalbox session pause s-ab12"),
    std::string_view("signalbox session unpause s-ab12"),
    std::string_view("signalbox session kill s-ab12 --reason 'It is on the wrong track'"),
    std::string_view("signalbox session retry s-ab12"),
    std::string_view("signalbox session take-over s-ab12"),
    std::string_view("signalbox store repair --dry-run"),
    std::string_view("signalbox store verify"),
};

}  // namespace

std::string_view example_of(std::string_view subcommand) {
  constexpr std::size_t kProgram = std::string_view("signalbox ").size();
  const auto is_of = [&](std::string_view example) {
    const std::string_view rest = example.substr(kProgram);
    return rest.starts_with(subcommand) && (rest.size() == subcommand.size() || rest[subcommand.size()] == ' ');
  };
  const auto found = std::ranges::find_if(kExamples, is_of);
  return found == kExamples.end() ? std::string_view() : *found;
}

}  // namespace sb::cli
