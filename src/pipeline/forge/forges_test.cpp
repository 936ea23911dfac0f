#include "pipeline/forge/forges.hpp"

#include <gmock/gmock.h>

#include "net/http_client.hpp"
#include "pipeline/delivery/outgoing_text.hpp"
#include "pipeline/delivery/testing.hpp"
#include "pipeline/forge/cassette_forge.hpp"
#include "pipeline/plan/next_action.hpp"
#include "pipeline/settings/run_keys.hpp"

namespace sb::pipeline {
namespace {

using testing::HasSubstr;

// A forge of another kind, which only reports its kind.
class AcmeForge final : public Forge {
 public:
  AcmeForge(const ForgeKind& kind, std::string named) : repository(std::move(named)), kind_(kind) {}
  const ForgeKind& kind() const override { return kind_; }
  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef&) override { return std::nullopt; }
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec&) override { return ChangeRequest{}; }
  Result<RequestChecks> checks(const ChangeRequest&) override { return RequestChecks{}; }
  Status merge(const ChangeRequest&, const std::string&, const std::string&) override { return {}; }
  Result<bool> needs_update(const ChangeRequest&) override { return false; }
  Status comment(const ChangeRequest&, const std::string&, const std::string&) override { return {}; }
  Result<Ticket> ticket(const std::string& id) override { return Ticket{.id = id}; }
  Status close_ticket(const Ticket&, const std::string&) override { return {}; }
  const std::string repository;

 private:
  const ForgeKind& kind_;
};

Result<std::unique_ptr<Forge>> make_acme(const ForgeParts& parts) {
  return std::make_unique<AcmeForge>(*parts.settings.kind, parts.settings.repository);
}

// The forges of the program and one more, which is one row.
class AddedForge : public testing::Test {
 protected:
  AddedForge() : rows(forge_kinds().begin(), forge_kinds().end()) {
    rows.push_back({.name = "acme",
                    .is_hosted = true,
                    .repository_form = "team.project",
                    .is_repository = [](std::string_view name) { return name.contains('.'); },
                    .is_ticket_name = [](std::string_view name) { return name.starts_with("AC-"); },
                    .checks_folder = ".acme",
                    .make = make_acme});
    keys = make_run_keys(agent::model_providers(), rows);
  }
  std::string read(const std::string& yaml) {
    Faults faults;
    read_settings(*parse_document("config.yaml", yaml), SettingsOrigin::kUser, "/h", settings, faults, keys);
    std::string text;
    for (const Error& fault : faults) text += fault.to_string() + "\n";
    return text;
  }

  std::vector<ForgeKind> rows;
  SettingKeys<RunSettings> keys;
  RunSettings settings;
};

TEST_F(AddedForge, IsReadCreatedAndWritten) {
  ASSERT_EQ(read("forge: {kind: acme, repository: team.shop, token: $T}\n"), "");
  const Value value = to_value(settings, keys);
  EXPECT_EQ(value["forge"].string_at("kind"), "acme");
  RunSettings again;
  restore(keys, value, again);
  EXPECT_EQ(again.forge.kind, &rows.back());
  GitFixture place;
  const auto http = net::make_http_client();
  const auto made = make_forge({place.seams, *http, settings.forge, place.repo()});
  ASSERT_TRUE(made);
  const auto* forge = dynamic_cast<const AcmeForge*>(made->get());
  ASSERT_NE(forge, nullptr);
  EXPECT_EQ(forge->repository, "team.shop");
  EXPECT_EQ(merge_policy(settings, forge->kind().is_hosted), MergePolicy::kAsk);
}

TEST_F(AddedForge, HasItsOwnFaults) {
  EXPECT_THAT(read("forge: {kind: acm}\n"), HasSubstr("Did you mean acme?"));
  EXPECT_THAT(read("forge: {kind: acme, repository: a.b}\n"), HasSubstr("\"token\" is missing"));
  EXPECT_THAT(read("forge: {kind: acme, repository: a/b, token: $T}\n"), HasSubstr("Write it like team.project"));
}

TEST_F(AddedForge, NamesItsTickets) {
  EXPECT_EQ(ticket_reference("acme:AC-7", rows.back()), "AC-7");
  EXPECT_EQ(ticket_reference("github:a/b#7", rows.back()), "a/b#7");
  EXPECT_EQ(ticket_reference("acme:AC-7", rows.front()), "");
  EXPECT_EQ(ticket_reference("local:7", rows.front()), "");
  EXPECT_EQ(ticket_reference("AC-7", rows.back()), "");
  const Ticket own{.id = "acme:team/shop#7"};
  EXPECT_EQ(without_references("fixes team/shop#7", own, rows.back()), "fixes team/shop#7");
  EXPECT_NE(without_references("fixes team/shop#8", own, rows.back()), "fixes team/shop#8");
}

TEST_F(AddedForge, IsReplayedAsItself) {
  const auto replaying = make_replaying_forge(
      rows.back(), [](const std::string&) -> Result<std::shared_ptr<agent::Cassette>> { return nullptr; });
  EXPECT_EQ(&replaying->kind(), &rows.back());
}

TEST(ForgeKinds, EachHasWhatItsKindNeeds) {
  for (const ForgeKind& kind : forge_kinds()) {
    EXPECT_EQ(kind.is_repository != nullptr, kind.is_hosted) << kind.name;
    EXPECT_EQ(!kind.repository_form.empty(), kind.is_hosted) << kind.name;
    EXPECT_TRUE(kind.make) << kind.name;
    EXPECT_EQ(forge_kind_named(kind.name), &kind);
  }
  EXPECT_EQ(forge_kinds().front().name, "local");
  EXPECT_EQ(forge_kind_named("gitlab"), nullptr);
}

}  // namespace
}  // namespace sb::pipeline
