#include "pipeline/forge/github_forge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "pipeline/forge/github_api.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kShownMs = 2'000;  // until the API shows a change
constexpr int kStateLooks = 5;            // GitHub computes in the background whether a request can be merged
constexpr std::int64_t kStateMs = 1'000;

class GithubForge final : public Forge {
 public:
  GithubForge(const Seams& seams, net::HttpClient& http, GithubSettings settings)
      : clock_(seams.clock), api_(seams, http, settings.url, settings.token), settings_(std::move(settings)) {}
  const ForgeKind& kind() const override { return *forge_kind_named("github"); }
  std::string push_secret() const override { return api_.token().value_or(""); }
  std::string push_host() const override {
    const std::string host = host_of_url(api_.url());
    return host.starts_with("api.") ? host.substr(4) : host;
  }
  std::int64_t retry_after_ms() const override { return wait_ms_ > 0 ? wait_ms_ : api_.retry_after_ms(); }

  Status check_access() override;
  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) override;
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) override;
  Result<RequestChecks> checks(const ChangeRequest& request) override;
  Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) override;
  Result<bool> needs_update(const ChangeRequest& request) override;
  Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) override {
    return comment_on(settings_.repository, request.id, mark, text);
  }
  Result<Ticket> ticket(const std::string& url_or_id) override;
  Status close_ticket(const Ticket& ticket, const std::string& comment) override;

 private:
  std::string path(std::string_view rest) const { return fmt::format("/repos/{}{}", settings_.repository, rest); }
  Result<std::optional<Value>> find_pull(const ChangeRequestRef& name);
  Result<ChangeRequest> request_of(const Value& pull);
  std::unexpected<Error> not_shown(std::string message) {
    wait_ms_ = kShownMs;
    return std::unexpected(Error{ErrorCode::kUnavailable, std::move(message), {}, {}, true});
  }
  Status comment_on(const std::string& repository, const std::string& number, const std::string& mark,
                    const std::string& text);

  Clock& clock_;
  GithubApi api_;
  GithubSettings settings_;
  std::int64_t wait_ms_ = 0;  // our own wait, not GitHub's
};

std::unexpected<Error> malformed(std::string_view what) {
  return fail(ErrorCode::kInvalid, fmt::format("GitHub's response lacks {}", what));
}

bool has_mark(const Value& pull, const std::string& run) {
  const std::string body = pull.string_at("body").value_or("");
  const std::string mark = "Signalbox-Run: " + run;
  for (std::size_t at = body.find(mark); at != std::string::npos; at = body.find(mark, at + 1)) {
    const std::size_t end = at + mark.size();
    if (end == body.size() || body[end] == '\n' || body[end] == '\r') return true;
  }
  return false;
}

Status GithubForge::check_access() {
  wait_ms_ = 0;
  const Value repository = SB_TRY(api_.send("GET", path(""))).body;
  const std::string name = shown(settings_.repository);
  const auto says = [](const Value& value, bool word) { return value.is_bool() && value.as_bool() == word; };
  if (says(repository["archived"], true)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is archived on GitHub, so it does not accept pushes", name));
  }
  // Some kinds of tokens cannot read their permissions.
  if (says(repository["permissions"]["push"], false)) {
    return fail(ErrorCode::kForbidden, fmt::format("the token can read {} but not push to it", name),
                "Give it write access to contents and pull requests");
  }
  return {};
}

Result<std::optional<Value>> GithubForge::find_pull(const ChangeRequestRef& name) {
  wait_ms_ = 0;
  const std::string& branch = name.branch;
  if (!name.id.empty()) {
    // The list may lag behind; the pull request itself does not.
    const auto known = SB_TRY(api_.send("GET", path("/pulls/" + percent_encoded(name.id)), {}, {404}));
    if (known.status != 404 && known.body["head"].string_at("ref") == branch) return std::optional<Value>(known.body);
  }
  const std::string owner = settings_.repository.substr(0, settings_.repository.find('/'));
  const auto pulls = SB_TRY(
      api_.pages(path(fmt::format("/pulls?state=all&head={}", percent_encoded(owner + ":" + branch))), {}, 1'000));
  const Value* best = nullptr;
  // Newest first, as GitHub lists them. It ignores `head` if it does not know the name.
  for (const Value& pull : pulls) {
    if (pull["head"].string_at("ref") != branch) continue;
    if (has_mark(pull, name.run)) return std::optional<Value>(pull);
    if (!best) best = &pull;
  }
  return best ? std::optional<Value>(*best) : std::nullopt;
}

Result<ChangeRequest> GithubForge::request_of(const Value& pull) {
  if (!pull["number"].is_integer()) return malformed("the pull request's number");
  ChangeRequest request{.id = std::to_string(pull["number"].as_integer()),
                        .url = shown(pull.string_at("html_url").value_or("")),
                        .commit = pull["head"].string_at("sha").value_or("")};
  if (request.commit.empty()) return malformed("the head of the pull request");
  if (pull.string_at("state") == "open") return request;
  // A list has fewer members than the pull request itself.
  const Value whole = pull["merged"].is_bool() ? pull : SB_TRY(api_.send("GET", path("/pulls/" + request.id))).body;
  request.state = ChangeRequest::State::kClosed;
  if (!whole["merged"].is_bool() || !whole["merged"].as_bool()) return request;
  request.state = ChangeRequest::State::kMerged;
  request.commit = whole["head"].string_at("sha").value_or(request.commit);
  request.merged_as = whole.string_at("merge_commit_sha").value_or("");
  if (request.merged_as.empty()) return malformed("the commit of the merge");
  const std::string base = whole["base"].string_at("ref").value_or("");
  const auto ref = api_.send("GET", path("/git/ref/heads/" + percent_encoded(base)), {}, {404});
  if (ref) request.merged_base = ref->body["object"].string_at("sha").value_or("");
  return request;
}

Result<std::optional<ChangeRequest>> GithubForge::find(const ChangeRequestRef& name) {
  const auto pull = SB_TRY(find_pull(name));
  if (!pull) return std::nullopt;
  return SB_TRY(request_of(*pull));
}

Result<ChangeRequest> GithubForge::open_or_update(const ChangeRequestSpec& spec) {
  const ChangeRequestRef name{.branch = spec.branch, .run = spec.run, .id = spec.id};
  auto pull = SB_TRY(find_pull(name));
  bool already_existed = pull.has_value();
  if (!pull) {
    const Value body =
        Value::object({{"title", spec.title}, {"body", spec.body}, {"head", spec.branch}, {"base", spec.base}});
    auto made = api_.send("POST", path("/pulls"), body, {422});
    if (!made) return std::unexpected(made.error());
    if (made->status != 422) {
      pull = std::move(made->body);
    } else if (made->message.find("already exists") != std::string::npos) {
      pull = SB_TRY(find_pull(name));
      already_existed = true;
      if (!pull) return not_shown("the pull request exists, but GitHub does not list it yet");
    } else {
      return fail(ErrorCode::kConflict, "GitHub: " + made->message);
    }
  }
  // An existing one keeps its title and text: any difference was written by a person.
  ChangeRequest request = SB_TRY(request_of(*pull));
  request.already_existed = already_existed;
  if (request.state == ChangeRequest::State::kClosed) {
    return fail(ErrorCode::kConflict, fmt::format("{} was closed without being merged", request.url),
                "Reopen it, or run the ticket again");
  }
  if (request.state == ChangeRequest::State::kOpen && request.commit != spec.commit) {
    return not_shown(fmt::format("{} does not show the commit {} yet", request.url, spec.commit));
  }
  return request;
}

CheckReport check_report(const Value& run, const std::string& end) {
  CheckReport check{
      .name = run.string_at("name").value_or("a check"), .said = end, .url = run.string_at("details_url").value_or("")};
  for (const char* name : {"title", "summary"}) {
    const std::string text = run["output"].string_at(name).value_or("");
    if (!text.empty()) check.said += (check.said.empty() ? "" : ": ") + text;
  }
  return check;
}

Result<RequestChecks> GithubForge::checks(const ChangeRequest& request) {
  RequestChecks checks;
  bool is_pending = false, has_any = false;
  const std::string commit = path("/commits/" + percent_encoded(request.commit));
  for (const Value& run : SB_TRY(api_.pages(commit + "/check-runs?filter=latest", "check_runs", 2'000))) {
    has_any = true;
    const std::string end = run.string_at("conclusion").value_or("");
    if (run.string_at("status") != "completed") {
      is_pending = true;
    } else if (end == "cancelled" || end == "stale" || end == "action_required") {
      checks.stopped.push_back(check_report(run, end));
    } else if (end != "success" && end != "neutral" && end != "skipped") {
      checks.failed.push_back(check_report(run, end == "failure" ? "" : end));
    }
  }
  for (const Value& status : SB_TRY(api_.pages(commit + "/status?", "statuses", 2'000))) {
    has_any = true;
    const std::string state = status.string_at("state").value_or("");
    if (state == "pending") is_pending = true;
    if (state == "failure" || state == "error") {
      checks.failed.push_back({.name = status.string_at("context").value_or("a status"),
                               .said = status.string_at("description").value_or(""),
                               .url = status.string_at("target_url").value_or("")});
    }
  }
  using State = RequestChecks::State;
  checks.state = !checks.failed.empty()    ? State::kFailed
                 : is_pending              ? State::kPending
                 : !checks.stopped.empty() ? State::kStopped
                 : has_any                 ? State::kPassed
                                           : State::kNone;
  return checks;
}

Status GithubForge::merge(const ChangeRequest& request, const std::string& commit, const std::string& title) {
  wait_ms_ = 0;
  Value body = Value::object({{"sha", commit}, {"merge_method", settings_.merge_method}});
  if (!title.empty() && settings_.merge_method == "squash") {
    body.set("commit_title", fmt::format("{} (#{})", title, request.id));
  }
  const GithubResponse answer = SB_TRY(api_.send("PUT", path("/pulls/" + request.id + "/merge"), body, {409}));
  if (answer.status != 409) return {};
  // Another merge came first; the next attempt is based on it.
  const bool is_race = answer.message.find("Base branch was modified") != std::string::npos;
  if (is_race) wait_ms_ = kShownMs;
  return std::unexpected(
      Error{is_race ? ErrorCode::kUnavailable : ErrorCode::kConflict, "GitHub: " + answer.message, {}, {}, is_race});
}

// `dirty` is a conflict; the local merge finds its files.
Result<bool> GithubForge::needs_update(const ChangeRequest& request) {
  wait_ms_ = 0;
  for (int looks = 1;; ++looks) {
    const Value pull = SB_TRY(api_.send("GET", path("/pulls/" + request.id))).body;
    const std::string state = pull.string_at("mergeable_state").value_or("unknown");
    if (state != "unknown" || looks == kStateLooks) return state == "behind" || state == "dirty";
    clock_.sleep_ms(kStateMs);
  }
}

Status GithubForge::comment_on(const std::string& repository, const std::string& number, const std::string& mark,
                               const std::string& text) {
  const std::string hidden = fmt::format("<!-- signalbox: {} -->", mark);
  const std::string where = fmt::format("/repos/{}/issues/{}/comments", repository, number);
  for (const Value& comment : SB_TRY(api_.pages(where + "?"))) {
    if (comment.string_at("body").value_or("").find(hidden) != std::string::npos) return {};
  }
  SB_TRY(api_.send("POST", where, Value::object({{"body", text + "\n" + hidden + "\n"}})));
  return {};
}

Result<Ticket> GithubForge::ticket(const std::string& url_or_id) {
  wait_ms_ = 0;
  const auto name = issue_named(url_or_id, settings_.repository);
  if (!name) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not an issue on GitHub", shown(url_or_id)),
                "Write it as owner/name#12 or as its URL");
  }
  const std::string host = host_of_url(url_or_id);
  if (!host.empty() && host != push_host() && host != "www." + push_host() && host != host_of_url(api_.url())) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is on {}, but the forge is {}", shown(url_or_id), host, push_host()),
                "Set forge: {url: …} in signalbox.yaml, or give the ticket as a file");
  }
  const std::string where = fmt::format("/repos/{}/issues/{}", name->repository, name->number);
  const Value issue = SB_TRY(api_.send("GET", where)).body;
  if (issue.find("pull_request")) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is a pull request, not an issue", shown(url_or_id)));
  }
  Ticket ticket{.id = name->id(),
                .url = shown(issue.string_at("html_url").value_or("")),
                .title = issue.string_at("title").value_or(""),
                .body = issue.string_at("body").value_or(""),
                .is_closed = issue.string_at("state") == "closed"};
  if (ticket.title.empty()) return malformed("the issue's title");
  if (const Value& labels = issue["labels"]; labels.is_array()) {
    for (const Value& label : labels.items()) {
      const std::string text = label.is_string() ? label.as_string() : label.string_at("name").value_or("");
      if (!text.empty()) ticket.labels.push_back(text);
    }
  }
  std::size_t bytes = ticket.title.size() + ticket.body.size();
  for (const Value& comment : SB_TRY(api_.pages(where + "/comments?"))) {
    ticket.comments.push_back(
        {comment["user"].string_at("login").value_or(""), comment.string_at("body").value_or("")});
    bytes += ticket.comments.back().text.size();
    if (bytes > limits::kTicketBytes) break;
  }
  if (bytes > limits::kTicketBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} is larger than {} KiB with its comments", ticket.id, limits::kTicketBytes >> 10));
  }
  return ticket;
}

Status GithubForge::close_ticket(const Ticket& ticket, const std::string& comment) {
  wait_ms_ = 0;
  if (!ticket.id.starts_with("github:")) return {};
  const auto name = issue_named(ticket.id, settings_.repository);
  if (!name) return fail(ErrorCode::kInvalid, fmt::format("{} is not an issue on GitHub", shown(ticket.id)));
  SB_TRY(comment_on(name->repository, name->number, "closed " + sha256_hex(comment).substr(0, 16), comment));
  const std::string where = fmt::format("/repos/{}/issues/{}", name->repository, name->number);
  const auto is_closed = [&]() -> Result<bool> {
    return SB_TRY(api_.send("GET", where)).body.string_at("state") == "closed";
  };
  if (SB_TRY(is_closed())) return {};
  SB_TRY(api_.send("PATCH", where, Value::object({{"state", "closed"}, {"state_reason", "completed"}})));
  if (SB_TRY(is_closed())) return {};
  return fail(ErrorCode::kConflict, fmt::format("GitHub accepted closing {}, but the issue is still open", ticket.id),
              "Close it by hand");
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 100 && text != "." && text != ".." &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == text.npos;
}

}  // namespace

std::string repository_named(std::string_view url) {
  if (const std::size_t at = url.find("://"); at != url.npos) {
    url.remove_prefix(at + 3);
    const std::size_t slash = url.find('/');
    if (slash == url.npos) return {};
    url.remove_prefix(slash + 1);
  } else if (const std::size_t colon = url.find(':'); colon != url.npos && url.find('/') > colon) {
    url.remove_prefix(colon + 1);
  } else {
    return {};
  }
  while (url.ends_with('/') || url.ends_with('\n')) url.remove_suffix(1);
  if (url.ends_with(".git")) url.remove_suffix(4);
  const std::size_t slash = url.find('/');
  if (slash == url.npos || !is_name(url.substr(0, slash)) || !is_name(url.substr(slash + 1))) return {};
  return std::string(url);
}

std::optional<IssueName> issue_named(std::string_view name, const std::string& repository) {
  IssueName issue{.repository = repository, .number = {}};
  if (name.starts_with("github:")) name.remove_prefix(7);
  std::string_view number = name;
  const bool is_address = name.starts_with("https://") || name.starts_with("http://");
  if (const std::size_t at = name.find("/issues/"); is_address && at != name.npos) {
    issue.repository = repository_named(name.substr(0, at));
    number = name.substr(at + 8);
    number = number.substr(0, number.find_first_of("#?/"));
  } else if (const std::size_t sign = name.rfind('#'); sign != name.npos) {
    if (sign > 0) issue.repository = repository_named("x:" + std::string(name.substr(0, sign)));
    number = name.substr(sign + 1);
  }
  if (issue.repository.empty() || number.empty() || number.size() > 12) return std::nullopt;
  if (number.find_first_not_of("0123456789") != number.npos) return std::nullopt;
  issue.number = std::string(number);
  return issue;
}

std::unique_ptr<Forge> make_github_forge(const Seams& seams, net::HttpClient& http, GithubSettings settings) {
  while (settings.url.ends_with('/')) settings.url.pop_back();
  return std::make_unique<GithubForge>(seams, http, std::move(settings));
}

Result<std::unique_ptr<Forge>> make_github_forge(const ForgeParts& parts) {
  const ForgeSettings& settings = parts.settings;
  GithubSettings github{.repository = settings.repository, .token = settings.token, .merge_method = settings.method};
  if (!settings.url.empty()) github.url = settings.url;
  if (github.repository.empty() || repository_named("x:" + github.repository) != github.repository) {
    return fail(ErrorCode::kInvalid, "the GitHub repository is unknown",
                "Set forge: {kind: github, repository: owner/name} in signalbox.yaml");
  }
  return make_github_forge(parts.seams, parts.http, std::move(github));
}

bool is_github_issue(std::string_view name) {
  return issue_named(name, "owner/name").has_value();
}

}  // namespace sb::pipeline
