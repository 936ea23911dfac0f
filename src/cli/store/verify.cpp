// `signalbox store verify`: checks everything in the store and says for each damaged thing what to do about it.
#include "store/verify.hpp"

#include <fmt/format.h>

#include "base/text/printable.hpp"
#include "cli/paging.hpp"
#include "cli/store/store_commands.hpp"
#include "engine/state/keyring.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "inbox/home.hpp"
#include "pipeline/run/run_log.hpp"
#include "store/sqlite/inspect.hpp"

namespace sb::cli {
namespace {

constexpr std::string_view kRepair = "signalbox store repair --dry-run shows what can be saved";

struct Finding {
  std::string kind, id, what, remedy;
};

struct Verified {
  std::int64_t sessions = 0, decisions = 0, runs = 0, streams = 0, blobs = 0;
  std::vector<Finding> findings;

  void note(std::string kind, std::string id, std::string what, std::string_view remedy) {
    findings.push_back({std::move(kind), std::move(id), std::move(what), std::string(remedy)});
  }
};

// Sessions, decisions and runs are checked by those who know what their events mean.
bool is_other_stream(std::string_view stream) {
  return !stream.starts_with("session/") && !stream.starts_with("decision/") && !stream.starts_with("run/");
}

Status verify_structure(const std::string& path, Verified& verified) {
  const auto inspection = store::inspect_store(path, store::Thoroughness::kFull);
  if (!inspection && inspection.error().code != ErrorCode::kCorrupt) return std::unexpected(inspection.error());
  if (!inspection) verified.note("file", path, inspection.error().message, kRepair);
  if (!inspection) return {};
  for (const std::string& fault : inspection->faults) verified.note("file", path, fault, kRepair);
  return {};
}

Status verify_sessions(store::Store& store, Verified& verified) {
  const auto note = [&](const std::string& id, const std::vector<engine::Damage>& damages) {
    for (const engine::Damage& damage : damages) {
      const bool is_content = damage.where.starts_with("content ");
      verified.note("session", id, fmt::format("{}: {}", damage.where, damage.message),
                    is_content ? way_out_of(id, damage) : std::string(kRepair));
    }
  };
  verified.sessions = SB_TRY(engine::verify_sessions(store, note, nullptr));
  return {};
}

Status verify_rest(store::Store& store, Verified& verified) {
  return store.read([&](store::Snapshot& snapshot) -> Status {
    const auto found = SB_TRY(store::verify_some(snapshot, is_other_stream));
    verified.streams = found.streams;
    verified.blobs = found.blobs;
    for (const Error& fault : found.faults) verified.note("record", "", fault.message, kRepair);
    for (const std::string& key : SB_TRY(engine::damaged_keys(snapshot))) {
      verified.note("key", key, "the token key is damaged",
                    "signalbox session rotate-keys makes a new one; signalbox session resume prints new tokens");
    }
    return {};
  });
}

Status verify_all(Context& context, inbox::Home& home, Verified& verified) {
  SB_TRY(verify_sessions(home.store(), verified));
  verified.decisions = SB_TRY(home.inbox().verify([&](const inbox::DecisionDamage& damage) {
    verified.note("decision", damage.id, damage.message,
                  damage.is_fixable ? kRepair : "Do not act on it; ask again after signalbox store repair");
  }));
  verified.runs =
      SB_TRY(pipeline::RunLog(home.store(), context.seams.clock).verify([&](const pipeline::RunDamage& damage) {
        verified.note("run", damage.run, damage.message, kRepair);
      }));
  return verify_rest(home.store(), verified);
}

void print_json(const Context& context, const Verified& verified) {
  Value damaged = Value::array();
  for (const Finding& finding : verified.findings) {
    Value one = Value::object({{"kind", finding.kind}, {"message", finding.what}, {"remedy", finding.remedy}});
    if (!finding.id.empty()) one.set("id", finding.id);
    damaged.push_back(std::move(one));
  }
  context.out(to_json(Value::object({{"ok", verified.findings.empty()},
                                     {"sessions", verified.sessions},
                                     {"decisions", verified.decisions},
                                     {"runs", verified.runs},
                                     {"otherStreams", verified.streams},
                                     {"contents", verified.blobs},
                                     {"damaged", damaged}})) +
              "\n");
}

void print_text(const Context& context, const Verified& verified) {
  for (const Finding& finding : verified.findings) {
    const std::string name = finding.id.empty() ? finding.kind : fmt::format("{} {}", finding.kind, finding.id);
    context.out(fmt::format("{}: {}\n    fix: {}\n", printable(name), printable(finding.what), finding.remedy));
  }
  const auto faults = static_cast<std::int64_t>(verified.findings.size());
  context.out(fmt::format("Checked {}, {}, {}, {} and {}: {}.\n", counted(verified.sessions, "session"),
                          counted(verified.decisions, "decision"), counted(verified.runs, "run"),
                          counted(verified.streams, "other stream"), counted(verified.blobs, "content"),
                          faults == 0 ? "no damage found" : counted(faults, "fault")));
}

// Reading is enough, and possible on a read-only disk.
Result<std::unique_ptr<inbox::Home>> open_home(const Context& context) {
  auto home = inbox::Home::open(context.seams, store::Access::kReadOnly);
  if (home || home.error().code != ErrorCode::kIo) return home;
  return inbox::Home::open(context.seams, store::Access::kReadWrite);
}

Result<int> verify(Context& context, bool wants_json) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  Verified verified;
  auto home = open_home(context);
  if (!home && home.error().code != ErrorCode::kCorrupt) return std::unexpected(home.error());
  if (!home) verified.note("file", inbox::store_path(homes), home.error().message, kRepair);
  if (home) {
    SB_TRY(verify_structure(inbox::store_path(homes), verified));
    const Status checked = verify_all(context, **home, verified);
    if (!checked && checked.error().code != ErrorCode::kCorrupt) return std::unexpected(checked.error());
    if (!checked) verified.note("file", inbox::store_path(homes), checked.error().message, kRepair);
  }
  wants_json ? print_json(context, verified) : print_text(context, verified);
  return verified.findings.empty() ? kExitOk : kExitNegative;
}

}  // namespace

Subcommand declare_store_verify(App& store) {
  App* sub = store.add_subcommand("verify", "Check sessions, decisions, runs, keys and contents; exit 1 if damaged");
  auto wants_json = std::make_shared<bool>(false);
  sub->add_flag("--json", *wants_json, "Print one line of JSON");
  return {sub, [wants_json](Context& context) {
            const Result<int> code = verify(context, *wants_json);
            return code ? *code : report(context, code.error());
          }};
}

}  // namespace sb::cli
