#include "runs/request.hpp"

#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"

namespace sb::runs {
namespace {

class TicketForge final : public pipeline::Forge {
 public:
  explicit TicketForge(const pipeline::ForgeKind& kind) : kind_(kind) {}
  const pipeline::ForgeKind& kind() const override { return kind_; }
  Result<std::optional<pipeline::ChangeRequest>> find(const pipeline::ChangeRequestRef&) override {
    return std::nullopt;
  }
  Result<pipeline::ChangeRequest> open_or_update(const pipeline::ChangeRequestSpec&) override { return none(); }
  Result<pipeline::RequestChecks> checks(const pipeline::ChangeRequest&) override { return none(); }
  Status merge(const pipeline::ChangeRequest&, const std::string&, const std::string&) override { return none(); }
  Result<bool> needs_update(const pipeline::ChangeRequest&) override { return none(); }
  Status comment(const pipeline::ChangeRequest&, const std::string&, const std::string&) override { return none(); }
  Result<pipeline::Ticket> ticket(const std::string& id) override {
    return pipeline::Ticket{.id = "fetched " + id, .title = "of the forge"};
  }
  Status close_ticket(const pipeline::Ticket&, const std::string&) override { return none(); }

 private:
  static std::unexpected<Error> none() { return fail(ErrorCode::kUnsupported, "not in this test"); }
  const pipeline::ForgeKind& kind_;
};

class LoadTicket : public testing::Test {
 protected:
  std::string load(const pipeline::ForgeKind& kind, const std::string& given) {
    TicketForge forge(kind);
    const auto ticket = load_ticket(seams, forge, given, &source);
    return !ticket ? ticket.error().to_string() : ticket->id.empty() ? ticket->title : ticket->id;
  }

  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return fail(ErrorCode::kUnsupported, "none"); }};
  Environment environment;
  FakeStreams streams;
  Seams seams{files, clock, random, process, environment, streams};
  std::string source;
};

TEST_F(LoadTicket, AsksTheForgeForNamesOfItsKind) {
  const pipeline::ForgeKind acme{
      .name = "acme", .is_hosted = true, .is_ticket_name = [](std::string_view name) { return name == "AC-7"; }};
  EXPECT_EQ(load(acme, "AC-7"), "fetched AC-7");
  EXPECT_EQ(source, "fetched AC-7");
  EXPECT_EQ(load(acme, "acme:AC-7"), "fetched acme:AC-7");
  EXPECT_EQ(source, "acme:AC-7");
  EXPECT_EQ(load(acme, "https://acme.example/7"), "fetched https://acme.example/7");
  EXPECT_NE(load(acme, "#7"), "fetched #7");
  EXPECT_EQ(load(*pipeline::forge_kind_named("github"), "#7"), "fetched #7");
  EXPECT_NE(load(*pipeline::forge_kind_named("local"), "#7"), "fetched #7");
  EXPECT_EQ(load(*pipeline::forge_kind_named("local"), "github:a/b#7"), "fetched github:a/b#7");
}

TEST_F(LoadTicket, PrefersAFileToAName) {
  files.contents()["/w/AC-7.md"] = "---\ntitle: of the file\n---\nText.\n";
  const pipeline::ForgeKind acme{
      .name = "acme", .is_hosted = true, .is_ticket_name = [](std::string_view) { return true; }};
  EXPECT_EQ(load(acme, "/w/AC-7.md"), "of the file");
}

}  // namespace
}  // namespace sb::runs
