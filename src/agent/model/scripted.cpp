#include "agent/model/scripted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/limits.hpp"
#include "agent/model/exchange.hpp"
#include "agent/model/script_lines.hpp"
#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

constexpr std::int64_t kScriptCheckMs = 50;  // between looks whether to go on

// Short, the same for the same file, and readable in a row's key.
std::string script_key(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return fmt::format("{}-{}", beginning(name, 64), sha256_hex(path).substr(0, 8));
}

std::string mark_of(const std::string& script, int line) {
  return fmt::format("{}/{}", script, line);
}

std::unexpected<ModelError> script_error(std::string message, std::string remedy, Place place) {
  return std::unexpected(ModelError{ModelError::Kind::kScript,
                                    {ErrorCode::kInvalid, std::move(message), std::move(remedy), std::move(place)}});
}

// As one that came over the wire would be.
std::optional<ModelError> too_large(const ModelReply& reply) {
  ReplyRoom room;
  for (const Value& block : reply.content) {
    const auto text = block.string_at("text");
    if (auto error = room.take(text ? text->size() : to_json(block).size())) return error;
  }
  return std::nullopt;
}

class Scripted final : public Model {
 public:
  Scripted(std::string label, std::string path, std::vector<ScriptLine> lines, ScriptParts parts)
      : label_(std::move(label)),
        path_(std::move(path)),
        key_(script_key(path_)),
        lines_(std::move(lines)),
        parts_(std::move(parts)) {}

  std::string name() const override { return "scripted/" + label_; }

  Replied reply(const ModelRequest& request, const OnDelta& on_delta) override {
    const std::string texts = all_texts(request);
    const UsedLines::Taker taker{parts_.run, key_, request.asker.session, fingerprint(request)};
    const auto number = parts_.used->take(taker, [&](const auto& is_used) { return find(request, texts, is_used); });
    if (!number) return std::unexpected(ModelError{ModelError::Kind::kScript, number.error()});
    if (*number == 0) return no_line(request);
    const auto line = std::ranges::find(lines_, *number, &ScriptLine::number);
    return play(*line, texts, taker, request, on_delta);
  }

 private:
  static bool is_for(const ScriptLine& line, const Asker& asker) {
    return (!line.workflow || *line.workflow == asker.workflow) && (!line.step || *line.step == asker.step) &&
           (!line.role || *line.role == asker.role);
  }

  static std::string fingerprint(const ModelRequest& request) {
    if (request.asker.session.empty() || request.asker.turn == 0) return {};
    return fmt::format("{}/{}", request.asker.turn, sha256_hex(to_json(to_value(request))));
  }

  UsedLines::Found find(const ModelRequest& request, std::string_view texts, const UsedLines::IsUsed& is_used) const {
    for (const ScriptLine& line : lines_) {
      if (!is_for(line, request.asker) || is_used(line.number) || !line.when.breach(texts).empty()) continue;
      return {line.number, line.is_kept};
    }
    return {};
  }

  Replied play(const ScriptLine& line, std::string_view texts, const UsedLines::Taker& taker,
               const ModelRequest& request, const OnDelta& on_delta) {
    if (const std::string breach = line.expect.breach(texts); !breach.empty()) {
      parts_.used->give_back(taker, line.number);
      return script_error(fmt::format("What the script expects of a request does not hold: {}", breach), {},
                          {path_, {}, line.number, 1});
    }
    if (!waits(line, request, on_delta)) {
      parts_.used->give_back(taker, line.number);
      return std::unexpected(ModelError{ModelError::Kind::kStopped, {ErrorCode::kUnavailable, "Broken off", {}, {}}});
    }
    if (const auto error = line.error ? line.error : too_large(line.reply)) {
      if (!line.is_kept) {
        if (const Status burnt = parts_.used->burn(taker, line.number); !burnt) {
          return std::unexpected(ModelError{ModelError::Kind::kScript, burnt.error()});
        }
      }
      return std::unexpected(*error);
    }
    ModelReply reply = line.reply;
    reply.model = name();
    if (!line.is_kept) reply.mark = mark_of(key_, line.number);
    return reply;
  }

  // The delay, then the texts as deltas; false when somebody says to stop.
  bool waits(const ScriptLine& line, const ModelRequest& request, const OnDelta& on_delta) {
    for (std::int64_t left = line.delay_ms; left > 0; left -= kScriptCheckMs) {
      if (request.keeps_going && !request.keeps_going()) return false;
      parts_.clock.sleep_ms(std::min(left, kScriptCheckMs));
    }
    if (!on_delta) return true;
    return std::ranges::all_of(line.reply.content, [&](const Value& block) {
      return block.string_at("type") != "text" || on_delta(block.string_at("text").value_or(""));
    });
  }

  Replied no_line(const ModelRequest& request) const {
    const Asker& asker = request.asker;
    return script_error(
        fmt::format("No line of the script that is left is for this request (workflow {}, step {}, role {}, turn {})",
                    asker.workflow.empty() ? "none" : asker.workflow, asker.step.empty() ? "none" : asker.step,
                    asker.role.empty() ? "none" : asker.role, asker.turn),
        "Add a line to it", {path_, {}, 0});
  }

  std::string label_, path_, key_;
  std::vector<ScriptLine> lines_;
  ScriptParts parts_;
};

}  // namespace

Result<UsedLines::Run*> UsedLines::run_of(const std::string& run) {
  if (const auto known = runs_.find(run); known != runs_.end()) return &known->second;
  Run fresh;
  const std::string prefix = run + "/";
  SB_TRY(store_.read([&](store::Snapshot& snapshot) -> Status {
    store::Listing page{.prefix = prefix, .limit = sb::limits::kStorePageRows};
    for (;;) {
      const auto rows = SB_TRY(snapshot.list(kScriptUsed, page));
      for (const store::Row& row : rows) fresh.used.insert(row.key.substr(prefix.size()));
      if (rows.size() < static_cast<std::size_t>(page.limit)) return {};
      page.after = rows.back();
    }
  }));
  return &runs_.emplace(run, std::move(fresh)).first->second;
}

Result<int> UsedLines::take(const Taker& taker, const std::function<Found(const IsUsed&)>& find) {
  const std::scoped_lock lock(mutex_);
  Run& run = *SB_TRY(run_of(taker.run));
  const std::string who = taker.script + "/" + taker.session;
  if (const auto last = run.last.find(who); last != run.last.end() && !taker.request.empty()) {
    if (last->second.first == taker.request) return last->second.second;
  }
  const Found found = find([&](int line) { return run.used.contains(mark_of(taker.script, line)); });
  if (found.line == 0 || found.is_kept) return found.line;
  run.used.insert(mark_of(taker.script, found.line));
  if (!taker.request.empty()) run.last[who] = {taker.request, found.line};
  return found.line;
}

void UsedLines::give_back(const Taker& taker, int line) {
  const std::scoped_lock lock(mutex_);
  const auto run = runs_.find(taker.run);
  if (run == runs_.end()) return;
  run->second.used.erase(mark_of(taker.script, line));
  run->second.last.erase(taker.script + "/" + taker.session);
}

Status UsedLines::burn(const Taker& taker, int line) {
  {
    const std::scoped_lock lock(mutex_);
    const auto run = runs_.find(taker.run);
    if (run != runs_.end()) run->second.last.erase(taker.script + "/" + taker.session);
  }
  return store_.write([&](store::Transaction& transaction) {
    return transaction.put(kScriptUsed, taker.run + "/" + mark_of(taker.script, line), "{}");
  });
}

Result<std::unique_ptr<Model>> make_scripted(const std::string& label, const std::string& path, ScriptParts parts) {
  const std::string text = SB_TRY(parts.files.read(path, limits::kScriptBytes));
  auto lines = SB_TRY(read_script(path, text));
  return std::make_unique<Scripted>(label, path, std::move(lines), std::move(parts));
}

}  // namespace sb::agent
