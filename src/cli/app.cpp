#include "cli/app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace sb::cli {
namespace {

std::string without_full_stop(std::string_view message) {
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.remove_suffix(1);
  return std::string(message);
}

const CLI::App& innermost_of(const CLI::App& app) {
  const CLI::App* inner = &app;
  while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
  return *inner;
}

}  // namespace

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::range(std::int64_t min, std::int64_t max) {
  option_->check(CLI::Range(min, max));
  return this;
}

Option* Option::one_of(std::vector<std::string> names) {
  choices_ = names;
  option_->check(CLI::IsMember(std::move(names)));
  return this;
}

Option* Option::excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::excludes(const std::vector<std::string>& names) {
  for (const std::string& name : names) option_->excludes(name);
  return this;
}

Option* Option::once_each() {
  option_->allow_extra_args(false);
  return this;
}

Option* Option::shows_default() {
  option_->capture_default_str();
  return this;
}

OptionFacts Option::facts() const {
  OptionFacts facts{.help = option_->get_description(), .choices = choices_, .is_required = option_->get_required()};
  facts.is_positional = option_->get_positional();
  if (facts.is_positional) facts.names.push_back(option_->get_name(true));
  for (const std::string& name : option_->get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option_->get_lnames()) facts.names.push_back("--" + name);
  const bool is_flag = option_->get_expected_max() == 0;
  if (!is_flag) facts.value = !choices_.empty() ? "NAME" : option_->get_type_name().starts_with("INT") ? "N" : "TEXT";
  if (!is_flag) facts.default_value = option_->get_default_str();
  return facts;
}

App::App(const std::string& description, const std::string& name)
    : own_(std::make_unique<CLI::App>(description, name)), app_(own_.get()) {}

App::App(CLI::App* app) : app_(app) {}

App::~App() = default;

Option* App::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

Option* App::add_option(const std::string& name, std::string& into, const std::string& help) {
  return keep(app_->add_option(name, into, help));
}

Option* App::add_option(const std::string& name, std::optional<std::string>& into, const std::string& help) {
  return keep(app_->add_option(name, into, help));
}

Option* App::add_option(const std::string& name, std::vector<std::string>& into, const std::string& help) {
  return keep(app_->add_option(name, into, help));
}

Option* App::add_option(const std::string& name, int& into, const std::string& help) {
  return keep(app_->add_option(name, into, help));
}

Option* App::add_option(const std::string& name, std::optional<int>& into, const std::string& help) {
  return keep(app_->add_option(name, into, help));
}

Option* App::add_flag(const std::string& name, bool& into, const std::string& help) {
  return keep(app_->add_flag(name, into, help));
}

App* App::add_subcommand(const std::string& name, const std::string& summary) {
  App* sub = subcommands_.emplace_back(new App(app_->add_subcommand(name, summary))).get();
  sub->parent_ = this;
  return sub;
}

void App::require_subcommand(std::size_t min, std::size_t max) {
  app_->require_subcommand(min, max);
}

std::string App::name() const {
  return app_->get_name();
}

std::vector<App*> App::subcommands() const {
  std::vector<App*> all;
  for (const auto& subcommand : subcommands_) all.push_back(subcommand.get());
  return all;
}

void App::set_description(const std::string& text) {
  app_->description(text);
}

std::string App::full_name() const {
  return parent_ == nullptr ? name() : parent_->full_name() + " " + name();
}

std::string App::summary() const {
  return app_->get_description();
}

std::vector<OptionFacts> App::options() const {
  std::vector<OptionFacts> all;
  for (const auto& option : options_) all.push_back(option->facts());
  return all;
}

void App::set_footer(const std::string& text) {
  app_->footer(text);
}

std::string App::footer() const {
  return app_->get_footer();
}

const App& App::innermost() const {
  for (const auto& sub : subcommands_) {
    if (app_->got_subcommand(sub->app_)) return sub->innermost();
  }
  return *this;
}

bool App::got_subcommand(const App* subcommand) const {
  return app_->got_subcommand(subcommand->app_);
}

std::string App::called() const {
  std::string name = app_->get_name();
  for (const CLI::App* inner = app_; !inner->get_subcommands().empty();) {
    inner = inner->get_subcommands().front();
    name += " " + inner->get_name();
  }
  return name;
}

App::Parsed App::unexpected() const {
  const CLI::App& inner = innermost_of(*app_);
  const std::vector<std::string> extras = app_->remaining(true);
  Parsed parsed{.kind = Parsed::Kind::kUnexpected, .where = called()};
  if (!extras.empty()) parsed.message = extras.front();
  if (parsed.message.starts_with("-")) {
    for (const CLI::Option* option : inner.get_options()) {
      for (const std::string& name : option->get_lnames()) parsed.known.push_back("--" + name);
    }
  } else {
    for (const CLI::App* subcommand : inner.get_subcommands([](const CLI::App*) { return true; })) {
      parsed.known.push_back(subcommand->get_name());
    }
  }
  return parsed;
}

App::Parsed App::parse(const std::vector<std::string>& arguments) {
  try {
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return {.kind = Parsed::Kind::kHelp, .where = called()};
  } catch (const CLI::ExtrasError&) {
    return unexpected();
  } catch (const CLI::RequiredError& error) {
    // CLI11 reports a mistyped subcommand as a missing one.
    if (!app_->remaining(true).empty()) return unexpected();
    return {.kind = Parsed::Kind::kError, .where = called(), .message = without_full_stop(error.what())};
  } catch (const CLI::ParseError& error) {
    return {.kind = Parsed::Kind::kError, .where = called(), .message = without_full_stop(error.what())};
  }
  return {.where = called()};
}

}  // namespace sb::cli
