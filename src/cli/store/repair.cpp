// `signalbox store repair`: puts what is whole of a damaged store into a new file, and says what is lost.
#include "store/repair/repair.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/printable.hpp"
#include "cli/paging.hpp"
#include "cli/store/store_commands.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "engine/recall/recall_index.hpp"
#include "engine/state/events.hpp"
#include "engine/state/keyring.hpp"
#include "engine/state/rows.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "inbox/home.hpp"
#include "inbox/open_decisions.hpp"
#include "inbox/operators/key_files.hpp"
#include "pipeline/run/run_log.hpp"

namespace sb::cli {
namespace {

struct RepairCommandOptions {
  bool is_dry_run = false, wants_json = false;
};

constexpr std::size_t kShownLines = 50;

// What the program, which knows the meaning of the rows, has done to make them fit the events.
struct Rebuilt {
  std::map<std::string, engine::RebuiltSession> sessions;
  std::vector<std::string> left;  // damage that nothing can restore, each with its way out
};

// What a session may have started with: its goal, and its workflow if that is installed as it was then.
std::vector<Value> contents_of_start(Context& context, const engine::Summary& summary) {
  std::vector<Value> contents = {Value::object({{"goal", summary.goal}})};
  const auto catalog = open_catalog(context, {.workspace = summary.workspace});
  if (!catalog) return contents;
  const auto entry = catalog->find(summary.workflow_id);
  if (!entry) return contents;
  const auto bundle = catalog->compile(**entry);
  if (!bundle || bundle->empty() || bundle->back()->hash != summary.hash) return contents;
  for (const auto& compiled : *bundle) contents.push_back(compiled->pinned);
  return contents;
}

// Contents are stored by their hash, so what has the hash of a lost one is that one.
Status restore_start(Context& context, store::Store& store, engine::RebuiltSession& session,
                     store::RepairReport& report) {
  if (std::ranges::none_of(session.left, is_of_start)) return {};
  const auto summary = SB_TRY(store.read([&](store::Snapshot& s) { return engine::read_summary(s, session.session); }));
  if (!summary) return {};
  bool has_restored = false;
  for (const Value& content : contents_of_start(context, *summary)) {
    const std::string hex = to_hex(as_bytes(sha256(to_canonical_json(content))));
    const auto is_this = [&](const engine::Damage& damage) { return damage.where == "content " + hex; };
    if (std::ranges::none_of(session.left, is_this)) continue;
    SB_TRY(store.write([&](store::Transaction& transaction) { return engine::put_json_blob(transaction, content); }));
    std::erase(report.lost_blobs, hex);
    has_restored = true;
  }
  if (!has_restored) return {};
  session.left = SB_TRY(engine::verify_session(store, session.session));
  session.has_changed = true;
  report.found.push_back(
      fmt::format("session {} had lost what it started with; that is stored again, the workflow as it is installed",
                  session.session));
  return {};
}

Status rebuild_sessions(Context& context, store::Store& store, store::RepairReport& report, Rebuilt& rebuilt) {
  for (engine::RebuiltSession& session : SB_TRY(engine::rebuild_sessions(store))) {
    SB_TRY(restore_start(context, store, session, report));
    for (const engine::Damage& damage : session.left) {
      rebuilt.left.push_back(fmt::format("session {}: {}: {}. {}", session.session, damage.where, damage.message,
                                         way_out_of(session.session, damage)));
    }
    if (session.has_changed) {
      report.found.push_back(fmt::format("the records of session {} did not fit its events", session.session));
    }
    if (session.undone > 0 || session.is_gone) {
      store::LostEvents& lost = report.lost[engine::session_stream(session.session)];
      lost.last = std::max(lost.last, session.events + session.undone);
      lost.kept = session.events;
    }
    rebuilt.sessions[session.session] = std::move(session);
  }
  return {};
}

Status rebuild_decisions(inbox::Inbox& inbox, store::RepairReport& report, Rebuilt& rebuilt) {
  std::vector<std::string> ids;
  SB_TRY(inbox.verify([&](const inbox::DecisionDamage& damage) {
    if (!damage.is_fixable) {
      rebuilt.left.push_back(fmt::format("decision {}: {}. Ask it again", damage.id, damage.message));
      return;
    }
    ids.push_back(damage.id);
    report.found.push_back(fmt::format("decision {}: {}", damage.id, damage.message));
  }));
  return ids.empty() ? Status() : inbox.rebuild(ids);
}

// Their rows are not checked one by one; what searches next makes them again.
Status forget_indexes(store::Store& store) {
  return store.write([](store::Transaction& transaction) -> Status {
    SB_TRY(engine::forget_recall_index(transaction));
    return inbox::forget_open_index(transaction);
  });
}

Status rebuild_runs(store::Store& store, Clock& clock, store::RepairReport& report, Rebuilt& rebuilt) {
  pipeline::RunLog log(store, clock);
  std::vector<std::string> runs;
  SB_TRY(log.verify([&](const pipeline::RunDamage& damage) {
    if (!damage.is_fixable) {
      rebuilt.left.push_back(
          fmt::format("run {}: {}. Start it again with its goal or ticket", damage.run, damage.message));
      return;
    }
    runs.push_back(damage.run);
    report.found.push_back(fmt::format("run {}: {}", damage.run, damage.message));
  }));
  return runs.empty() ? Status() : log.rebuild(runs);
}

Status remove_keys(store::Store& store, store::RepairReport& report) {
  const auto damaged = SB_TRY(store.read([](store::Snapshot& snapshot) { return engine::damaged_keys(snapshot); }));
  for (const std::string& key : damaged) {
    report.found.push_back(fmt::format(
        "token key {} is damaged; tokens signed with it are no longer valid. New ones: signalbox session resume", key));
  }
  const auto keys = SB_TRY(store.read([](store::Snapshot& snapshot) { return snapshot.count(engine::kKeys, {}); }));
  if (report.is_damaged() && report.streams > 0 && keys == static_cast<std::int64_t>(damaged.size())) {
    report.found.push_back("no token key is left, so no token is valid. New ones: signalbox session resume");
  }
  if (damaged.empty()) return {};
  return store.write([](store::Transaction& transaction) { return engine::remove_damaged_keys(transaction); });
}

// Where sessions continue that lost whole advances: their records fit the events that are left.
Status find_steps(store::Store& store, const store::RepairReport& report, Rebuilt& rebuilt) {
  const std::string prefix = engine::session_stream("");
  return store.read([&](store::Snapshot& snapshot) -> Status {
    for (const auto& [stream, lost] : report.lost) {
      if (!stream.starts_with(prefix) || lost.kept == 0) continue;
      const std::string id = stream.substr(prefix.size());
      const auto summary = engine::read_summary(snapshot, id);
      if (!summary || !*summary || rebuilt.sessions.contains(id)) continue;
      rebuilt.sessions[id] = {.session = id, .goal = (*summary)->goal, .step = engine::step_name(**summary)};
    }
    return {};
  });
}

// `session s-…`, `decision d-…`; everything else by its stream.
struct Named {
  std::string_view kind;
  std::string name;
};

Named name_of(const std::string& stream) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"session/", "session"}, {"decision/", "decision"}, {"run/", "run"}, {"agent/", "agent's log of session"}};
  for (const auto& [prefix, kind] : kKinds) {
    if (stream.starts_with(prefix)) return {kind, stream.substr(prefix.size())};
  }
  return {"records of", stream};
}

std::string range_of(const store::LostEvents& lost) {
  const std::int64_t first = lost.kept + 1;
  return first == lost.last ? fmt::format("event {}", first) : fmt::format("events {} to {}", first, lost.last);
}

std::string line_for(const std::string& stream, const store::LostEvents& lost, const Rebuilt& rebuilt) {
  const Named named = name_of(stream);
  std::string line = fmt::format("{} {}: ", named.kind, printable(named.name));
  if (lost.kept == 0) return line + (lost.last == 1 ? "its only event" : fmt::format("all {} events", lost.last));
  line += range_of(lost);
  std::vector<std::string> types;
  for (const auto& [seq, type] : lost.types) types.push_back(printable(type));
  if (!types.empty()) line += fmt::format(" ({})", fmt::join(types, ", "));
  const auto session = rebuilt.sessions.find(named.name);
  if (named.kind == "session" && session != rebuilt.sessions.end() && !session->second.step.empty()) {
    line += fmt::format("; it continues at step \"{}\"", printable(session->second.step));
  }
  return line;
}

Value to_value(const std::string& stream, const store::LostEvents& lost, const Rebuilt& rebuilt) {
  const Named named = name_of(stream);
  Value types = Value::object();
  for (const auto& [seq, type] : lost.types) types.set(std::to_string(seq), type);
  Value value = Value::object(
      {{"stream", stream}, {"kind", named.kind}, {"id", named.name}, {"kept", lost.kept}, {"last", lost.last}});
  if (types.size() > 0) value.set("types", types);
  const auto session = rebuilt.sessions.find(named.name);
  if (named.kind == "session" && session != rebuilt.sessions.end()) value.set("step", session->second.step);
  return value;
}

void print_json(const Context& context, const store::RepairReport& report, const Rebuilt& rebuilt, bool is_dry_run) {
  Value lost = Value::array();
  for (const auto& [stream, events] : report.lost) lost.push_back(to_value(stream, events, rebuilt));
  Value value = Value::object(
      {{"damaged", report.is_damaged()},
       {"dryRun", is_dry_run},
       {"found", Value::array(report.found)},
       {"lost", lost},
       {"lostContents", Value::array(report.lost_blobs)},
       {"left", Value::array(rebuilt.left)},
       {"kept", Value::object({{"streams", report.streams}, {"events", report.events}, {"contents", report.blobs}})}});
  if (!report.aside.empty()) value.set("aside", report.aside);
  context.out(to_json(value) + "\n");
}

void print_lines(const Context& context, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  context.out(fmt::format("{}\n", heading));
  for (std::size_t i = 0; i < lines.size() && i < kShownLines; ++i) context.out("  " + printable(lines[i]) + "\n");
  if (lines.size() > kShownLines) {
    context.out(fmt::format("  and {} more; --json lists all\n", lines.size() - kShownLines));
  }
}

void print_text(const Context& context, const store::RepairReport& report, const Rebuilt& rebuilt, bool is_dry_run) {
  std::vector<std::string> lost;
  for (const auto& [stream, events] : report.lost) lost.push_back(line_for(stream, events, rebuilt));
  for (const std::string& hex : report.lost_blobs) lost.push_back(fmt::format("content {}", hex));
  print_lines(context, "Damaged:", report.found);
  if (report.is_damaged() && lost.empty()) context.out("Lost: nothing that was recognized.\n");
  print_lines(context, "Lost:", lost);
  print_lines(context, "Still damaged:", rebuilt.left);
  context.out(fmt::format("{} {} in {} and {}.\n",
                          report.is_damaged() ? "Kept:" : "Whole:", counted(report.events, "event"),
                          counted(report.streams, "stream"), counted(report.blobs, "content")));
  if (!report.is_damaged()) {
    context.out(rebuilt.left.empty() ? "There is nothing to repair.\n" : "None of this can be repaired.\n");
  } else if (is_dry_run) {
    context.out("Nothing was changed. To do it: signalbox store repair\n");
  } else {
    context.out(fmt::format("The store is repaired. The damaged files are in {}\n", report.aside));
  }
}

Result<int> repair(Context& context, const RepairCommandOptions& options) {
  const Seams& seams = context.seams;
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const inbox::Config config = SB_TRY(inbox::load_config(seams.files, homes));
  const inbox::Operators operators = SB_TRY(inbox::OperatorFiles(seams.files, homes).load());
  Rebuilt rebuilt;
  const auto rebuild = [&](store::Store& store, store::RepairReport& report) -> Status {
    inbox::Inbox inbox(store, seams.clock, seams.random, operators, config.policy);
    SB_TRY(rebuild_sessions(context, store, report, rebuilt));
    SB_TRY(find_steps(store, report, rebuilt));
    SB_TRY(rebuild_decisions(inbox, report, rebuilt));
    SB_TRY(rebuild_runs(store, seams.clock, report, rebuilt));
    if (report.is_damaged()) SB_TRY(forget_indexes(store));
    return remove_keys(store, report);
  };
  const store::RepairReport report =
      SB_TRY(store::repair_store(inbox::store_path(homes), {.is_dry_run = options.is_dry_run, .rebuild = rebuild}));
  if (options.wants_json) {
    print_json(context, report, rebuilt, options.is_dry_run);
  } else {
    print_text(context, report, rebuilt, options.is_dry_run);
  }
  const bool is_fine = rebuilt.left.empty() && (!report.is_damaged() || !options.is_dry_run);
  return is_fine ? kExitOk : kExitNegative;
}

}  // namespace

Subcommand declare_store_repair(App& store) {
  App* sub = store.add_subcommand("repair", "Repair a damaged store, keep the damaged files, report what is lost");
  auto options = std::make_shared<RepairCommandOptions>();
  sub->add_flag("--dry-run", options->is_dry_run, "Only print what is damaged and what would be lost");
  sub->add_flag("--json", options->wants_json, "Print one line of JSON");
  return {sub, [options](Context& context) {
            const Result<int> code = repair(context, *options);
            return code ? *code : report(context, code.error());
          }};
}

}  // namespace sb::cli
