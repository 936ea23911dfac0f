#include "pipeline/forge/cassette_forge.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "agent/secrets/redact.hpp"

namespace sb::pipeline {
namespace {

constexpr std::string_view kKind = "forge";
constexpr std::array kCodes = {
    ErrorCode::kInvalid,     ErrorCode::kLimit, ErrorCode::kNotFound, ErrorCode::kConflict,    ErrorCode::kForbidden,
    ErrorCode::kUnavailable, ErrorCode::kIo,    ErrorCode::kCorrupt,  ErrorCode::kUnsupported, ErrorCode::kInternal};
constexpr std::array<std::string_view, 3> kRequestStates = {"open", "merged", "closed"};
constexpr std::array<std::string_view, 5> kCheckStates = {"none", "pending", "passed", "failed", "stopped"};

template <class E, std::size_t N>
E state_of(const Value& value, const std::array<std::string_view, N>& names) {
  const std::string name = value.string_at("state").value_or("");
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return E{};
}

Value value_of(const ChangeRequest& request) {
  return Value::object({{"id", request.id},
                        {"url", request.url},
                        {"commit", request.commit},
                        {"state", kRequestStates[static_cast<std::size_t>(request.state)]},
                        {"merged_as", request.merged_as},
                        {"merged_base", request.merged_base},
                        {"was_there", request.already_existed}});
}

ChangeRequest request_from(const Value& value) {
  return {.id = value.string_at("id").value_or(""),
          .url = value.string_at("url").value_or(""),
          .commit = value.string_at("commit").value_or(""),
          .state = state_of<ChangeRequest::State>(value, kRequestStates),
          .merged_as = value.string_at("merged_as").value_or(""),
          .merged_base = value.string_at("merged_base").value_or(""),
          .already_existed = value["was_there"].is_bool() && value["was_there"].as_bool()};
}

Value value_of(const std::vector<CheckReport>& checks) {
  Value all = Value::array();
  for (const CheckReport& check : checks) {
    all.push_back(Value::object({{"name", check.name}, {"said", check.said}, {"url", check.url}}));
  }
  return all;
}

Value value_of(const RequestChecks& checks) {
  return Value::object({{"state", kCheckStates[static_cast<std::size_t>(checks.state)]},
                        {"failed", value_of(checks.failed)},
                        {"stopped", value_of(checks.stopped)}});
}

std::vector<CheckReport> checks_in(const Value& list) {
  std::vector<CheckReport> checks;
  if (!list.is_array()) return checks;
  for (const Value& one : list.items()) {
    checks.push_back({.name = one.string_at("name").value_or(""),
                      .said = one.string_at("said").value_or(""),
                      .url = one.string_at("url").value_or("")});
  }
  return checks;
}

RequestChecks checks_from(const Value& value) {
  return {.state = state_of<RequestChecks::State>(value, kCheckStates),
          .failed = checks_in(value["failed"]),
          .stopped = checks_in(value["stopped"])};
}

// The calls as recorded, shared by recording and replay. A cassette replaces hashes in an answer with those of the
// request, so the last pushed commit is part of the `find` call.
Value find_asked(const ChangeRequestRef& name, const std::string& commit) {
  return Value::object({{"call", "find"}, {"branch", name.branch}, {"run", name.run}, {"commit", commit}});
}
Value open_asked(const ChangeRequestSpec& spec) {
  return Value::object({{"call", "open_or_update"},
                        {"run", spec.run},
                        {"branch", spec.branch},
                        {"base", spec.base},
                        {"commit", spec.commit},
                        {"title", spec.title},
                        {"body", spec.body}});
}
Value checks_asked(const ChangeRequest& request) {
  return Value::object({{"call", "checks"}, {"request", request.id}, {"commit", request.commit}});
}
Value merge_asked(const ChangeRequest& request, const std::string& commit, const std::string& title) {
  return Value::object({{"call", "merge"}, {"request", request.id}, {"commit", commit}, {"title", title}});
}
Value comment_asked(const ChangeRequest& request, const std::string& mark, const std::string& text) {
  return Value::object({{"call", "comment"}, {"request", request.id}, {"mark", mark}, {"text", text}});
}
Value ticket_asked(const std::string& name) {
  return Value::object({{"call", "ticket"}, {"name", name}});
}
Value close_asked(const Ticket& ticket, const std::string& comment) {
  return Value::object({{"call", "close_ticket"}, {"ticket", ticket.id}, {"comment", comment}});
}

Value update_asked(const ChangeRequest& request) {
  return Value::object({{"call", "needs_update"}, {"request", request.id}});
}

// The current run, shared by recording and replay.
class CassetteForge : public Forge {
 public:
  explicit CassetteForge(CassetteOf cassette_of) : cassette_of_(std::move(cassette_of)) {}
  Status set_run(const std::string& run, const std::string& commit) override {
    cassette_ = SB_TRY(cassette_of_(run));
    commit_ = commit;
    return {};
  }

 protected:
  CassetteOf cassette_of_;
  std::shared_ptr<agent::Cassette> cassette_ = {};  // null: no run is set yet
  std::string commit_ = {};
};

class RecordingForge final : public CassetteForge {
 public:
  RecordingForge(std::unique_ptr<Forge> forge, CassetteOf cassette_of, Clock& clock, std::vector<std::string> secrets)
      : CassetteForge(std::move(cassette_of)), forge_(std::move(forge)), clock_(clock), redactor_(std::move(secrets)) {}
  const ForgeKind& kind() const override { return forge_->kind(); }
  std::string push_secret() const override { return forge_->push_secret(); }
  std::string push_host() const override { return forge_->push_host(); }
  std::int64_t retry_after_ms() const override { return forge_->retry_after_ms(); }
  Status set_run(const std::string& run, const std::string& commit) override {
    SB_TRY(CassetteForge::set_run(run, commit));
    for (const Exchange& exchange : std::exchange(early_, {})) {
      SB_TRY(cassette_->put(kKind, exchange.asked, exchange.answer, exchange.note));
    }
    return forge_->set_run(run, commit);
  }
  Status check_access() override { return forge_->check_access(); }

  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) override {
    return keep(find_asked(name, commit_), forge_->find(name),
                [](const auto& found) { return found ? value_of(*found) : Value(); });
  }
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) override {
    return keep(open_asked(spec), forge_->open_or_update(spec), [](const auto& made) { return value_of(made); });
  }
  Result<RequestChecks> checks(const ChangeRequest& request) override {
    return keep(checks_asked(request), forge_->checks(request), [](const auto& seen) { return value_of(seen); });
  }
  Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) override {
    return keep_status(merge_asked(request, commit, title), forge_->merge(request, commit, title));
  }
  Result<bool> needs_update(const ChangeRequest& request) override {
    return keep(update_asked(request), forge_->needs_update(request), [](bool needs) { return Value(needs); });
  }
  Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) override {
    return keep_status(comment_asked(request, mark, text), forge_->comment(request, mark, text));
  }
  Result<Ticket> ticket(const std::string& name) override {
    return keep(ticket_asked(name), forge_->ticket(name), [](const Ticket& read) { return read.to_value(); });
  }
  Status close_ticket(const Ticket& ticket, const std::string& comment) override {
    return keep_status(close_asked(ticket, comment), forge_->close_ticket(ticket, comment));
  }

 private:
  struct Exchange {
    Value asked, answer, note;
  };
  Status put(const Value& asked, const Value& answer) {
    const Exchange exchange{redactor_.clean_value(asked), redactor_.clean_value(answer),
                            Value::object({{"at", clock_.now_ms()}, {"call", ++calls_}})};
    if (cassette_) return cassette_->put(kKind, exchange.asked, exchange.answer, exchange.note);
    early_.push_back(exchange);
    return {};
  }
  Status put_error(const Value& asked, const Error& error) {
    if (error.is_retryable) return {};
    return put(asked, Value::object({{"error", Value::object({{"code", to_string(error.code)},
                                                              {"message", error.message},
                                                              {"remedy", error.remedy}})}}));
  }
  // An answer that cannot be stored is an error; on a retry the forge finds that it was done.
  template <class T, class AsValue>
  Result<T> keep(const Value& asked, Result<T> answer, AsValue as_value) {
    SB_TRY(answer ? put(asked, Value::object({{"ok", as_value(*answer)}})) : put_error(asked, answer.error()));
    return answer;
  }
  Status keep_status(const Value& asked, Status answer) {
    SB_TRY(answer ? put(asked, Value::object({{"ok", true}})) : put_error(asked, answer.error()));
    return answer;
  }

  std::unique_ptr<Forge> forge_;
  Clock& clock_;
  agent::Redactor redactor_;
  std::int64_t calls_ = 0;
  std::vector<Exchange> early_ = {};
};

class ReplayingForge final : public CassetteForge {
 public:
  ReplayingForge(const ForgeKind& kind, CassetteOf cassette_of) : CassetteForge(std::move(cassette_of)), kind_(kind) {}
  const ForgeKind& kind() const override { return kind_; }

  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) override {
    const Value answer = SB_TRY(take(find_asked(name, commit_)));
    if (answer.is_null()) return std::nullopt;
    return request_from(answer);
  }
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) override {
    return request_from(SB_TRY(take(open_asked(spec))));
  }
  Result<RequestChecks> checks(const ChangeRequest& request) override {
    return checks_from(SB_TRY(take(checks_asked(request))));
  }
  Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) override {
    SB_TRY(take(merge_asked(request, commit, title)));
    return {};
  }
  Result<bool> needs_update(const ChangeRequest& request) override {
    const Value answer = SB_TRY(take(update_asked(request)));
    return answer.is_bool() && answer.as_bool();
  }
  Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) override {
    SB_TRY(take(comment_asked(request, mark, text)));
    return {};
  }
  Result<Ticket> ticket(const std::string& name) override { return Ticket::from(SB_TRY(take(ticket_asked(name)))); }
  Status close_ticket(const Ticket& ticket, const std::string& comment) override {
    SB_TRY(take(close_asked(ticket, comment)));
    return {};
  }

 private:
  Result<Value> take(const Value& whole) {
    if (!cassette_) return fail(ErrorCode::kInternal, "the forge was called before a run was set");
    const Value asked = redactor_.clean_value(whole);
    const auto answer = SB_TRY(cassette_->take(kKind, asked));
    if (!answer) return diverged(asked);
    const Value* error = answer->find("error");
    if (!error) return (*answer)["ok"];
    ErrorCode code = ErrorCode::kInternal;
    for (const ErrorCode known : kCodes) {
      if (error->string_at("code") == to_string(known)) code = known;
    }
    return fail(code, error->string_at("message").value_or(""), error->string_at("remedy").value_or(""));
  }
  std::unexpected<Error> diverged(const Value& asked) {
    auto difference = cassette_->difference(kKind, asked);
    if (!difference) return std::unexpected(std::move(difference).error());
    const std::string divergence = fmt::format("The replay called the forge in a way that was not recorded ({}). {}",
                                               asked.string_at("call").value_or("?"), *difference);
    cassette_->mark_divergence(divergence);
    return fail(ErrorCode::kConflict, divergence);
  }

  const ForgeKind& kind_;
  agent::Redactor redactor_;
};

}  // namespace

std::unique_ptr<Forge> make_recording_forge(std::unique_ptr<Forge> forge, CassetteOf cassette_of, Clock& clock,
                                            std::vector<std::string> secrets) {
  return std::make_unique<RecordingForge>(std::move(forge), std::move(cassette_of), clock, std::move(secrets));
}

std::unique_ptr<Forge> make_replaying_forge(const ForgeKind& kind, CassetteOf cassette_of) {
  return std::make_unique<ReplayingForge>(kind, std::move(cassette_of));
}

}  // namespace sb::pipeline
