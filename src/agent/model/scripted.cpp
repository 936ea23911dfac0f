#include "agent/model/scripted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/limits.hpp"
#include "agent/model/exchange.hpp"
#include "agent/model/script_lines.hpp"
#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "store/paging.hpp"

namespace sb::agent {

namespace {

constexpr std::int64_t kScriptCheckMs = 50;  // between checks whether to continue

// Short, stable for a file, and readable in a row's key.
std::string script_key(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return fmt::format("{}-{}", utf8_prefix(name, 64), sha256_hex(path).substr(0, 8));
}

std::string mark_of(const std::string& script, int line) {
  return fmt::format("{}/{}", script, line);
}

std::unexpected<ModelError> script_error(std::string message, std::string remedy, SourceLocation place) {
  return std::unexpected(ModelError{ModelError::Kind::kScript,
                                    {ErrorCode::kInvalid, std::move(message), std::move(remedy), std::move(place)}});
}

// As a reply over the network would be.
std::optional<ModelError> too_large(const ModelReply& reply) {
  ReplySizeLimit room;
  for (const Value& block : reply.content) {
    const auto text = block.string_at("text");
    if (auto error = room.take(text ? text->size() : to_json(block).size())) return error;
  }
  return std::nullopt;
}

class ScriptedModel final : public Model {
 public:
  ScriptedModel(std::string label, std::string path, std::vector<ScriptLine> lines, ScriptParts parts)
      : label_(std::move(label)),
        path_(std::move(path)),
        key_(script_key(path_)),
        lines_(std::move(lines)),
        parts_(std::move(parts)) {}

  std::string name() const override { return "scripted/" + label_; }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    const std::string texts = all_texts(request);
    const UsedLines::LineClaim claim{parts_.run, key_, request.requester.session, fingerprint(request)};
    const auto number = parts_.used->take(claim, [&](const auto& is_used) { return find(request, texts, is_used); });
    if (!number) return std::unexpected(ModelError{ModelError::Kind::kScript, number.error()});
    if (*number == 0) return no_line(request);
    const auto line = std::ranges::find(lines_, *number, &ScriptLine::number);
    return play(*line, texts, claim, request, on_delta);
  }

 private:
  static bool is_for(const ScriptLine& line, const Requester& requester) {
    return (!line.workflow || *line.workflow == requester.workflow) && (!line.step || *line.step == requester.step) &&
           (!line.role || *line.role == requester.role);
  }

  static std::string fingerprint(const ModelRequest& request) {
    if (request.requester.session.empty() || request.requester.turn == 0) return {};
    return fmt::format("{}/{}/{}", request.requester.turn, request.requester.attempt,
                       sha256_hex(to_json(to_value(request))));
  }

  UsedLines::Found find(const ModelRequest& request, std::string_view texts, const UsedLines::IsUsed& is_used) const {
    for (const ScriptLine& line : lines_) {
      if (!is_for(line, request.requester) || is_used(line.number) || !line.when.violation(texts).empty()) continue;
      return {line.number, line.is_kept};
    }
    return {};
  }

  ModelResult play(const ScriptLine& line, std::string_view texts, const UsedLines::LineClaim& claim,
                   const ModelRequest& request, const OnDelta& on_delta) {
    if (const std::string violation = line.expect.violation(texts); !violation.empty()) {
      parts_.used->release(claim, line.number);
      return script_error(fmt::format("The request does not meet the script's `expect`: {}", violation), {},
                          {path_, {}, line.number, 1});
    }
    if (!waits(line, request, on_delta)) {
      parts_.used->release(claim, line.number);
      return std::unexpected(ModelError{ModelError::Kind::kStopped, {ErrorCode::kUnavailable, "Interrupted", {}, {}}});
    }
    if (const auto error = line.error ? line.error : too_large(line.reply)) {
      if (!line.is_kept) {
        if (const Status burnt = parts_.used->record_used(claim, line.number); !burnt) {
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

  // Waits, then passes the texts on as deltas; false if interrupted.
  bool waits(const ScriptLine& line, const ModelRequest& request, const OnDelta& on_delta) {
    for (std::int64_t left = line.delay_ms; left > 0; left -= kScriptCheckMs) {
      if (request.should_continue && !request.should_continue()) return false;
      parts_.clock.sleep_ms(std::min(left, kScriptCheckMs));
    }
    if (!on_delta) return true;
    return std::ranges::all_of(line.reply.content, [&](const Value& block) {
      return block.string_at("type") != "text" || on_delta(block.string_at("text").value_or(""));
    });
  }

  ModelResult no_line(const ModelRequest& request) const {
    const Requester& requester = request.requester;
    return script_error(
        fmt::format("No unused line of the script matches this request (workflow {}, step {}, role {}, turn {})",
                    requester.workflow.empty() ? "none" : requester.workflow,
                    requester.step.empty() ? "none" : requester.step, requester.role.empty() ? "none" : requester.role,
                    requester.turn),
        "Add a line to the script", {path_, {}, 0});
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
    return store::each_row(snapshot, kScriptUsed, {.prefix = prefix},
                           [&](const store::Row& row) { fresh.used.insert(row.key.substr(prefix.size())); });
  }));
  return &runs_.emplace(run, std::move(fresh)).first->second;
}

Result<int> UsedLines::take(const LineClaim& claim, const std::function<Found(const IsUsed&)>& find) {
  const std::scoped_lock lock(mutex_);
  Run& run = *SB_TRY(run_of(claim.run));
  const std::string who = claim.script + "/" + claim.session;
  if (const auto last = run.last.find(who); last != run.last.end() && !claim.request.empty()) {
    if (last->second.first == claim.request) return last->second.second;
  }
  const Found found = find([&](int line) { return run.used.contains(mark_of(claim.script, line)); });
  if (found.line == 0 || found.is_kept) return found.line;
  run.used.insert(mark_of(claim.script, found.line));
  if (!claim.request.empty()) run.last[who] = {claim.request, found.line};
  return found.line;
}

void UsedLines::release(const LineClaim& claim, int line) {
  const std::scoped_lock lock(mutex_);
  const auto run = runs_.find(claim.run);
  if (run == runs_.end()) return;
  run->second.used.erase(mark_of(claim.script, line));
  run->second.last.erase(claim.script + "/" + claim.session);
}

Status UsedLines::record_used(const LineClaim& claim, int line) {
  {
    const std::scoped_lock lock(mutex_);
    const auto run = runs_.find(claim.run);
    if (run != runs_.end()) run->second.last.erase(claim.script + "/" + claim.session);
  }
  return store_.write([&](store::Transaction& transaction) {
    return transaction.put(kScriptUsed, claim.run + "/" + mark_of(claim.script, line), "{}");
  });
}

Result<std::unique_ptr<Model>> make_scripted_model(const std::string& label, const std::string& path,
                                                   ScriptParts parts) {
  const std::string text = SB_TRY(parts.files.read(path, limits::kScriptBytes));
  auto lines = SB_TRY(read_script(path, text));
  return std::make_unique<ScriptedModel>(label, path, std::move(lines), std::move(parts));
}

}  // namespace sb::agent
