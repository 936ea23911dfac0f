// Sources, which one wins, what is reserved, and what is reported about files that do not load.
#include "workflow/catalog/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/limits.hpp"
#include "base/testing/fakes.hpp"
#include "workflow/catalog/check_files.hpp"
#include "workflow/catalog/source_file.hpp"
#include "workflow/catalog/surroundings.hpp"
#include "workflow/data.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string workflow(std::string_view id, std::string_view more = "") {
  return "id: " + std::string(id) + "\nname: Named " + std::string(id) + "\ndescription: Does it.\nversion: 1.0.0\n" +
         std::string(more) + "steps:\n  - {id: one, title: One, prompt: Do it.}\n";
}

class CatalogTest : public testing::Test {
 protected:
  void write(const std::string& path, std::string text) { files.contents()[path] = std::move(text); }
  Catalog open(SourceCache* cache = nullptr) {
    CatalogOptions options;
    options.workspace = "/p";
    options.cache = cache;
    options.is_trusted = [this](const std::string&) { return is_trusted; };
    auto catalog = Catalog::open(files, Environment(variables), homes, options);
    EXPECT_TRUE(catalog);
    return std::move(*catalog);
  }
  static std::string reason(const CatalogEntry* entry) {
    return entry->faults.empty() ? "" : entry->faults.front().to_string();
  }
  static std::vector<std::string> ids(const Catalog& catalog, bool all = false) {
    std::vector<std::string> out;
    for (const CatalogEntry* entry : catalog.list(all)) {
      if (entry->origin.kind != SourceKind::kBundled) out.push_back(entry->id);
    }
    return out;
  }

  FakeFiles files;
  std::map<std::string, std::string, std::less<>> variables;
  HomeDirectories homes{"/user/config", "/user/data", "/user/state"};
  bool is_trusted = false;
};

TEST_F(CatalogTest, AnUnknownWorkflowIsBlamedOnAFolderThatIsTooLarge) {
  for (int i = 0; i <= 2'000; ++i) write("/p/workflows/f" + std::to_string(i) + ".yaml", "id: [");
  const auto found = open().find("acme.aa");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("/p/workflows was read only in part: more than 2000"));
}

TEST_F(CatalogTest, ReadsEverySourceWeakestFirst) {
  is_trusted = true;
  write("/user/config/workflows/a.yaml", workflow("acme.aa"));
  const std::vector<std::pair<std::string, SourceKind>> stronger = {
      {"/p/workflows/a.json", SourceKind::kProject},
      {"/p/.workrail/workflows/b.yml", SourceKind::kProject},
      {"/p/.signalbox/workflows/c.yaml", SourceKind::kProject},
      {"/managed/x/d.yaml", SourceKind::kManaged},
      {"/storage/e.yaml", SourceKind::kNamed},
      {"/second/f.yaml", SourceKind::kNamed},
      {"/first/deep/down/g.yaml", SourceKind::kNamed}};
  files.make_directories("/managed");
  ASSERT_TRUE(Catalog::attach(files, homes, "/managed"));
  files.make_directories("/storage");
  files.make_directories("/first");
  files.make_directories("/second");
  variables = {{"SIGNALBOX_WORKFLOWS", "/first:/second"}, {"WORKFLOW_STORAGE_PATH", "/storage"}};
  EXPECT_EQ((*open().find("acme.aa"))->origin.kind, SourceKind::kUser);
  std::size_t weaker = 1;
  for (const auto& [path, kind] : stronger) {
    write(path, workflow("acme.aa"));
    const Catalog catalog = open();
    const CatalogEntry* entry = *catalog.find("acme.aa");
    EXPECT_EQ(entry->origin.file, path);
    EXPECT_EQ(entry->origin.kind, kind) << path;
    EXPECT_EQ(entry->shadows.size(), weaker++) << path;
    EXPECT_FALSE(entry->replaces_bundled);
    EXPECT_THAT(ids(catalog), ElementsAre("acme.aa"));
  }
}

TEST_F(CatalogTest, AnUntrustedProjectReplacesNothingOfTheUsers) {
  write("/user/config/workflows/a.yaml", workflow("acme.aa"));
  for (const char* path : {"/p/workflows/a.yaml", "/p/.workrail/workflows/a.yaml", "/p/.signalbox/workflows/a.yaml"}) {
    write(path, workflow("acme.aa", "about: Another one.\n"));
    write("/p/workflows/b.yaml", workflow("acme.bb"));
    const Catalog catalog = open();
    EXPECT_EQ((*catalog.find("acme.aa"))->origin.kind, SourceKind::kUser) << path;
    EXPECT_THAT(ids(catalog), Contains("acme.bb")) << "its own are available";
    const auto all = catalog.list(true);
    const auto refused = std::ranges::find_if(all, [&](const CatalogEntry* each) { return each->origin.file == path; });
    ASSERT_NE(refused, all.end()) << path;
    EXPECT_THAT(reason(*refused), HasSubstr("signalbox trust"));
    files.contents().erase(path);
  }
  write("/p/workflows/a.yaml", workflow("acme.aa"));
  is_trusted = true;
  EXPECT_EQ((*open().find("acme.aa"))->origin.kind, SourceKind::kProject);
}

TEST_F(CatalogTest, AnUntrustedProjectBindsOnlySlotsOfItsOwn) {
  const std::string slots = "extensionPoints: [{slotId: pass, purpose: Any., default: acme.pass}]\n";
  const auto with_slot = [&](const std::string& id) {
    return "id: " + id + "\nname: N\ndescription: D.\nversion: 1.0.0\n" + slots +
           "steps:\n  - {id: one, title: One, prompt: \"Run {{wr.bindings.pass}}.\"}\n";
  };
  write("/user/config/workflows/u.yaml", with_slot("acme.users"));
  write("/p/workflows/p.yaml", with_slot("acme.projects"));
  write("/user/config/workflows/pass.yaml", workflow("acme.pass"));
  write("/p/workflows/evil.yaml", workflow("acme.evil"));
  write("/p/.workrail/bindings.json", R"({"pass": "acme.evil"})");
  const auto bound = [&](const std::string& id) {
    const Catalog catalog = open();
    const auto bundle = catalog.compile(**catalog.find(id));
    return bundle ? bundle->back()->bindings.at("pass") : to_lines(bundle.error());
  };
  EXPECT_EQ(bound("acme.users"), "acme.pass");
  EXPECT_EQ(bound("acme.projects"), "acme.evil");
  is_trusted = true;
  EXPECT_EQ(bound("acme.users"), "acme.evil");
}

TEST_F(CatalogTest, HasTheBundledWorkflowsAndAllOfThemCompile) {
  const Catalog catalog = open();
  EXPECT_FALSE(catalog.list().empty());
  for (const CatalogEntry* entry : catalog.list(true)) {
    const auto bundle = catalog.compile(*entry);
    EXPECT_TRUE(bundle) << entry->id << ": " << (bundle ? "" : to_lines(bundle.error()));
    EXPECT_EQ(entry->staleness, Staleness::kNone);
    EXPECT_THAT(entry->tags, Not(IsEmpty())) << entry->id;
    EXPECT_THAT(entry->tags, Not(Contains("other"))) << entry->id;
  }
  EXPECT_THAT(catalog.faults(), IsEmpty());
  EXPECT_THAT(catalog.contract_faults(), IsEmpty());
}

TEST_F(CatalogTest, WrIsReservedForProjectsAndUsers) {
  for (const char* path : {"/user/config/workflows/x.yaml", "/p/workflows/x.yaml", "/p/.signalbox/workflows/x.yaml"}) {
    files.contents().clear();
    write(path, workflow("wr.shaping"));
    const Catalog catalog = open();
    EXPECT_EQ((*catalog.find("wr.shaping"))->origin.kind, SourceKind::kBundled) << path;
    EXPECT_THAT(ids(catalog), ElementsAre("wr.shaping"));
    write(path, workflow("wr.mine"));
    const Catalog other = open();
    const CatalogEntry* refused = *other.find("wr.mine");
    EXPECT_FALSE(refused->definition);
    EXPECT_THAT(reason(refused), HasSubstr("reserved"));
    EXPECT_THAT(to_lines(other.compile(*refused).error()), HasSubstr("SIGNALBOX_WORKFLOWS"));
  }
}

TEST_F(CatalogTest, ACheckoutOfOurOwnSourcesIsNotReportedAsReserved) {
  for (const std::string_view name : bundled::data_names()) {
    write("/p/workflows/" + std::string(name), std::string(bundled::data_file(name)));
  }
  const Catalog catalog = open();
  EXPECT_THAT(ids(catalog, true), IsEmpty());
  EXPECT_THAT(catalog.contract_faults(), IsEmpty());
}

TEST_F(CatalogTest, NamedAndManagedFoldersReplaceBundledOnes) {
  write("/named/x.yaml", workflow("wr.shaping"));
  write("/managed/y.yaml", workflow("wr.shaping"));
  ASSERT_TRUE(Catalog::attach(files, homes, "/managed"));
  EXPECT_EQ((*open().find("wr.shaping"))->origin.file, "/managed/y.yaml");
  EXPECT_TRUE((*open().find("wr.shaping"))->replaces_bundled);
  variables["SIGNALBOX_WORKFLOWS"] = "/named";
  const Catalog catalog = open();
  const CatalogEntry* entry = *catalog.find("wr.shaping");
  EXPECT_EQ(entry->origin.file, "/named/x.yaml");
  EXPECT_TRUE(entry->replaces_bundled);
  EXPECT_EQ(entry->shadows.size(), 2u);
  EXPECT_EQ(catalog.sources().front().shadowed, 1);
}

// WorkRail drops such files silently.
TEST(Pain21, AFileThatDoesNotLoadIsListedWithItsReason) {
  FakeFiles files;
  const HomeDirectories homes{"/c", "/d", "/s"};
  files.contents()["/p/workflows/torn.json"] = "{\"id\": \"acme.torn\",";
  files.contents()["/p/workflows/newer.yaml"] = workflow("acme.newer", "colour: red\n");
  files.contents()["/p/workflows/bytes.json"] = "\xff\xfe";
  files.contents()["/p/workflows/huge.json"] = std::string(limits::kWorkflowBytes + 1, ' ');
  files.contents()["/p/workflows/twice.json"] = R"({"id": "acme.twice", "id": "acme.twice"})";
  const auto catalog = Catalog::open(files, Environment(), homes, "/p");
  ASSERT_TRUE(catalog);
  const std::vector<std::pair<std::string, std::string>> expected = {{"torn", "torn.json:1:"},
                                                                     {"acme.newer", "newer.yaml:5:1"},
                                                                     {"bytes", "UTF-8"},
                                                                     {"huge", "large"},
                                                                     {"twice", "twice.json:1:"}};
  for (const auto& [id, reason] : expected) {
    const auto entry = catalog->find(id);
    ASSERT_TRUE(entry) << id;
    EXPECT_THAT(catalog->list(), Contains(*entry));
    const auto bundle = catalog->compile(**entry);
    ASSERT_FALSE(bundle) << id;
    EXPECT_THAT(to_lines(bundle.error()), HasSubstr(reason)) << id;
  }
}

TEST_F(CatalogTest, ABrokenFileStillShadowsTheOneItReplaces) {
  is_trusted = true;
  write("/user/config/workflows/a.yaml", workflow("acme.aa"));
  write("/p/workflows/a.yaml", workflow("acme.aa", "colour: red\n"));
  const Catalog catalog = open();
  EXPECT_FALSE((*catalog.find("acme.aa"))->definition);
  EXPECT_EQ((*catalog.find("acme.aa"))->shadows.size(), 1u);
}

TEST_F(CatalogTest, AnUnreadableFileDoesNotHideAnotherWithTheSameName) {
  write("/p/workflows/b/acme.aa.json", workflow("acme.aa"));
  write("/p/workflows/acme.aa.json", "{");
  const Catalog catalog = open();
  EXPECT_TRUE((*catalog.find("acme.aa"))->definition);
  EXPECT_THAT(ids(catalog), ElementsAre("acme.aa", "acme.aa"));  // the broken one is still reported
}

TEST_F(CatalogTest, AnUnknownIdSuggestsTheNearest) {
  write("/p/workflows/a.yaml", workflow("acme.release"));
  const auto found = open().find("acme.relaese");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().to_string(), HasSubstr("Did you mean \"acme.release\"?"));
}

TEST_F(CatalogTest, TheHighestVariantWins) {
  const std::vector<std::string> names = {"a.json", "a.agentic.json", "a.v2.json", "a.lean.json"};
  std::size_t shadowed = 0;
  for (const std::string& name : names) {
    write("/p/workflows/" + name, workflow("acme.aa"));
    const Catalog catalog = open();
    EXPECT_EQ((*catalog.find("acme.aa"))->origin.file, "/p/workflows/" + name);
    EXPECT_EQ((*catalog.find("acme.aa"))->shadows.size(), shadowed++);
  }
  EXPECT_EQ(variant_rank("x.agentic.v2.json"), 2);
  EXPECT_EQ(stem_of("/p/x.agentic.v2.json"), "x");
  EXPECT_EQ(stem_of("/p/wr.shaping.yaml"), "wr.shaping");
}

TEST_F(CatalogTest, OfDuplicateIdsInOneFolderTheFirstPathWins) {
  write("/p/workflows/b.json", workflow("acme.aa"));
  write("/p/workflows/a.json", workflow("acme.aa"));
  EXPECT_EQ((*open().find("acme.aa"))->origin.file, "/p/workflows/a.json");
}

TEST_F(CatalogTest, FolderNamesDetermineTheRole) {
  write("/p/workflows/examples/e.yaml", workflow("acme.example"));
  write("/p/workflows/internal/i.yaml", workflow("acme.internal"));
  write("/p/workflows/node_modules/n/n.yaml", workflow("acme.module"));
  write("/p/workflows/.git/g.yaml", workflow("acme.git"));
  write("/p/workflows/readme.md", "no workflow");
  const Catalog catalog = open();
  EXPECT_THAT(ids(catalog), IsEmpty());
  EXPECT_THAT(ids(catalog, true), ElementsAre("acme.internal"));
  EXPECT_TRUE(catalog.find("acme.internal"));
  EXPECT_FALSE(catalog.find("acme.example"));
  variables["SIGNALBOX_WORKFLOWS"] = "/p/workflows/examples";  // named explicitly, it is read
  EXPECT_TRUE(open().find("acme.example"));
}

TEST_F(CatalogTest, OtherFilesInTheFolderAreNotBrokenWorkflows) {
  write("/p/workflows/package.json", R"({"name": "x", "version": "1.0.0"})");
  write("/p/workflows/real.yaml", "id: acme.real\n");
  EXPECT_THAT(ids(open()), ElementsAre("acme.real"));
  EXPECT_THAT(ids(open(), true), ElementsAre("acme.real", "package"));
}

// In WorkRail only bundled routines are templates.
TEST(DoBetter, RoutinesOfEverySourceAreTemplates) {
  FakeFiles files;
  const HomeDirectories homes{"/c", "/d", "/s"};
  files.contents()["/p/workflows/routines/a.yaml"] = workflow("routine-look-around");
  files.contents()["/p/workflows/b.yaml"] = workflow("routine-elsewhere");
  files.contents()["/p/workflows/routines/c.yaml"] = workflow("plain");
  files.contents()["/p/workflows/user.yaml"] =
      "id: acme.user\nname: U\ndescription: D\nversion: 1.0.0\nsteps:\n"
      "  - {id: call, title: C, templateCall: {templateId: wr.templates.routine.look-around}}\n";
  const auto catalog = Catalog::open(files, Environment(), homes, "/p");
  ASSERT_TRUE(catalog);
  const CatalogResolver around(*catalog);
  for (const char* name : {"look-around", "elsewhere", "plain"}) {
    EXPECT_NE(around.routine(std::string("wr.templates.routine.") + name), nullptr) << name;
  }
  EXPECT_TRUE(catalog->compile(**catalog->find("routine-look-around")));  // can also be started by id
  const auto bundle = catalog->compile(**catalog->find("acme.user"));
  ASSERT_TRUE(bundle) << to_lines(bundle.error());
  EXPECT_EQ(bundle->back()->definition.steps.front().id, "call.one");
}

TEST_F(CatalogTest, AProjectsRoutineCannotUseAReservedName) {
  write("/p/workflows/routines/x.yaml", workflow("routine-design-review"));
  {
    const Catalog catalog = open();
    EXPECT_EQ((*catalog.find("routine-design-review"))->template_id, "");
    EXPECT_EQ(CatalogResolver(catalog).routine("wr.templates.routine.design-review")->id, "wr.routine-design-review");
  }
  variables["SIGNALBOX_WORKFLOWS"] = "/p/workflows";
  const Catalog catalog = open();
  EXPECT_EQ(CatalogResolver(catalog).routine("wr.templates.routine.design-review")->id, "routine-design-review");
  EXPECT_EQ((*catalog.find("wr.routine-design-review"))->template_id, "");
}

TEST_F(CatalogTest, ContractsAndFeaturesComeFromEverySource) {
  const std::string contract =
      "contract: acme.contracts.note\nkind: acme.note\nversion: 1\nhelp: Say it.\n"
      "schema: {type: object, required: [kind], properties: {kind: {const: acme.note}}}\nexample: {kind: acme.note}\n";
  write("/p/workflows/contracts/n.yaml", contract);
  write("/p/workflows/contracts/ours.yaml",
        "contract: wr.contracts.loop_control\n" + contract.substr(contract.find('\n') + 1));
  write("/p/workflows/contracts/bad.yaml", "contract: x\n");
  write("/p/workflows/features/f.yaml", "feature: acme.features.careful\nconstraints: [Be careful.]\n");
  write("/p/workflows/features/bad.yaml", "feature: acme.features.bad\nconstraint: [Be careful.]\n");
  const Catalog catalog = open();
  EXPECT_NE(catalog.contracts().find("acme.contracts.note"), nullptr);
  EXPECT_EQ(catalog.contracts().find("wr.contracts.loop_control")->kind, "wr.loop_control");
  const std::string reported = to_lines(catalog.contract_faults());
  EXPECT_THAT(reported, HasSubstr("reserved"));
  EXPECT_THAT(reported, HasSubstr("bad.yaml"));
  const CatalogResolver around(catalog);
  ASSERT_NE(around.feature("acme.features.careful"), nullptr);
  EXPECT_EQ(around.feature("acme.features.bad"), nullptr);
  EXPECT_THAT(to_lines(catalog.faults()), HasSubstr("constraints"));
  EXPECT_NE(around.feature("wr.features.capabilities"), nullptr);
}

TEST_F(CatalogTest, EveryWorkflowHasATag) {
  write("/p/workflows/a.yaml", workflow("acme.aa"));
  write("/p/workflows/b.yaml", workflow("plain"));
  write("/p/workflows/routines/c.yaml", workflow("acme.part"));
  write("/p/workflows/test.yaml", workflow("test-session-persistence"));
  const Catalog catalog = open();
  EXPECT_THAT((*catalog.find("acme.aa"))->tags, ElementsAre("acme"));
  EXPECT_THAT((*catalog.find("plain"))->tags, ElementsAre("other"));
  EXPECT_THAT((*catalog.find("acme.part"))->tags, ElementsAre("routines", "acme"));
  EXPECT_TRUE((*catalog.find("test-session-persistence"))->is_hidden);
  EXPECT_THAT(ids(catalog), ElementsAre("acme.aa", "acme.part", "plain"));
  std::map<std::string, std::int64_t> counts;
  const Value tags = catalog.tags();
  for (const Value& tag : tags.items()) {
    counts[tag["id"].as_string()] = tag["count"].as_integer();
    EXPECT_FALSE(tag["displayName"].as_string().empty());
    EXPECT_FALSE(tag["when"].as_string().empty());
  }
  EXPECT_EQ(counts["acme"], 2);
  EXPECT_EQ(counts["other"], 1);
  for (const char* id : {"coding", "review_audit", "investigation", "design", "documentation", "tickets", "learning",
                         "routines", "authoring"}) {
    EXPECT_TRUE(counts.contains(id)) << id;
  }
}

TEST_F(CatalogTest, StalenessIsDerivedFromTheStamp) {
  write("/p/workflows/a.yaml", workflow("acme.none"));
  write("/p/workflows/b.yaml", workflow("acme.old", "validatedAgainstSpecVersion: 2\n"));
  write("/p/workflows/c.yaml", workflow("acme.now", "validatedAgainstSpecVersion: 3\n"));
  const Catalog catalog = open();
  EXPECT_EQ((*catalog.find("acme.none"))->staleness, Staleness::kPossible);
  EXPECT_EQ((*catalog.find("acme.old"))->staleness, Staleness::kLikely);
  EXPECT_EQ((*catalog.find("acme.now"))->staleness, Staleness::kNone);
}

// WorkRail takes them from the folder in which the server was started.
TEST(Pain22, BindingsComeFromTheWorkspaceOfTheCall) {
  FakeFiles files;
  const HomeDirectories homes{"/c", "/d", "/s"};
  files.contents()["/p/.workrail/bindings.json"] = R"({"acme.aa": {"review": "one", "plan": "two"}})";
  files.contents()["/p/.signalbox/bindings.json"] = R"({"review": "three", "other": "four"})";
  const auto catalog = Catalog::open(files, Environment(), homes, "/p");
  const CatalogResolver around(*catalog);
  EXPECT_EQ(*around.binding("acme.aa", "review"), "one");  // for this workflow; takes precedence over those for all
  EXPECT_EQ(*around.binding("acme.bb", "review"), "three");
  EXPECT_EQ(*around.binding("acme.aa", "plan"), "two");
  EXPECT_EQ(*around.binding("acme.aa", "other"), "four");
  EXPECT_EQ(around.binding("acme.bb", "plan"), nullptr);
}

TEST_F(CatalogTest, BadBindingsAreReportedAndTheRestCounts) {
  write("/p/.workrail/bindings.json", R"({"acme.aa": {"review": 1, "plan": "two"}, "acme.bb": "three"})");
  write("/p/.signalbox/bindings.json", "{");
  const Catalog catalog = open();
  EXPECT_EQ(catalog.faults().size(), 3u) << to_lines(catalog.faults());
  EXPECT_EQ(*CatalogResolver(catalog).binding("acme.aa", "plan"), "two");
}

TEST_F(CatalogTest, ManagedFoldersAreStored) {
  files.make_directories("/a");
  files.make_directories("/b");
  ASSERT_TRUE(Catalog::attach(files, homes, "/a"));
  ASSERT_TRUE(Catalog::attach(files, homes, "/b"));
  ASSERT_TRUE(Catalog::attach(files, homes, "/a"));  // no error, no duplicate
  EXPECT_THAT(*Catalog::attached(files, homes),
              ElementsAre(Catalog::AttachedFolder{"/a"}, Catalog::AttachedFolder{"/b"}));
  EXPECT_EQ(Catalog::attach(files, homes, "/nowhere").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Catalog::detach(files, homes, "/a"));
  EXPECT_EQ(Catalog::detach(files, homes, "/a").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(*Catalog::attached(files, homes), ElementsAre(Catalog::AttachedFolder{"/b"}));
}

TEST_F(CatalogTest, ADamagedFolderListIsReportedAndNotOverwritten) {
  for (const char* text : {"{", "{}", R"({"v": 1, "folders": [1]})", R"({"v": 2, "folders": []})"}) {
    write("/user/data/sources.json", text);
    EXPECT_EQ(open().faults().size(), 1u) << text;
    files.make_directories("/a");
    EXPECT_FALSE(Catalog::attach(files, homes, "/a")) << text;
    EXPECT_EQ(files.contents()["/user/data/sources.json"], text);
  }
}

TEST_F(CatalogTest, AMissingNamedFolderIsReported) {
  variables["SIGNALBOX_WORKFLOWS"] = "/nowhere::";
  const Catalog catalog = open();
  EXPECT_TRUE(catalog.sources().back().is_missing);
  EXPECT_EQ(catalog.sources().back().notes.size(), 1u);
}

// WorkRail opens every file at every call.
TEST(Pain13, AFileIsReadAgainOnlyIfItChanged) {
  FakeFiles files;
  const HomeDirectories homes{"/c", "/d", "/s"};
  files.contents()["/p/workflows/a.yaml"] = workflow("acme.aa");
  files.contents()["/p/workflows/b.yaml"] = workflow("acme.bb");
  SourceCache cache;
  CatalogOptions options;
  options.workspace = "/p";
  options.cache = &cache;
  const auto open = [&] { return std::move(*Catalog::open(files, Environment(), homes, options)); };
  const Catalog first = open();
  EXPECT_EQ(cache.reads(), 2);
  const Catalog second = open();
  EXPECT_EQ(cache.reads(), 2);
  EXPECT_EQ((*first.find("acme.aa"))->definition, (*second.find("acme.aa"))->definition);
  files.contents()["/p/workflows/a.yaml"] = workflow("acme.cc");
  const Catalog third = open();
  EXPECT_EQ(cache.reads(), 3);
  EXPECT_FALSE(third.find("acme.aa"));
  EXPECT_TRUE(third.find("acme.cc"));
  files.contents().erase("/p/workflows/b.yaml");
  EXPECT_FALSE(open().find("acme.bb"));
}

TEST_F(CatalogTest, ASourceMayBeASingleFile) {
  write("/elsewhere/a.yaml", workflow("acme.aa"));
  write("/elsewhere/b.yaml", workflow("acme.bb"));
  variables["SIGNALBOX_WORKFLOWS"] = "/elsewhere/a.yaml";
  EXPECT_THAT(ids(open()), ElementsAre("acme.aa"));
}

TEST_F(CatalogTest, AFileInTwoSourcesCountsOnce) {
  write("/p/workflows/a.yaml", workflow("wr.shaping"));
  variables["SIGNALBOX_WORKFLOWS"] = "/p";
  const Catalog catalog = open();
  EXPECT_THAT(ids(catalog), ElementsAre("wr.shaping"));
  EXPECT_TRUE((*catalog.find("wr.shaping"))->replaces_bundled);
  EXPECT_EQ((*catalog.find("wr.shaping"))->shadows.size(), 1u);
}

TEST_F(CatalogTest, ChecksEachFileInTheContextOfAll) {
  write("/w/routines/r.yaml", workflow("routine-mine"));
  write("/w/contracts/bad.yaml", "contract: x\n");
  write("/w/a.yaml",
        "id: acme.aa\nname: U\ndescription: D\nversion: 1.0.0\nsteps:\n"
        "  - {id: call, title: C, templateCall: {templateId: wr.templates.routine.mine}}\n");
  write("/w/wr.yaml", workflow("wr.shaping"));
  write("/w/broken.json", "{");
  CatalogOptions options;
  options.overrides = {"/w/a.yaml", "/w", "/nowhere.yaml"};
  const auto verdicts = check_files(files, Environment(), homes, options);
  ASSERT_TRUE(verdicts);
  std::map<std::string, std::string> reported;
  for (const FileCheckResult& verdict : *verdicts) reported[verdict.file] += to_lines(verdict.faults);
  EXPECT_EQ(reported["/w/a.yaml"], "");
  EXPECT_EQ(reported["/w/wr.yaml"], "");
  EXPECT_EQ(reported["/w/routines/r.yaml"], "");
  EXPECT_THAT(reported["/w/contracts/bad.yaml"], HasSubstr("bad.yaml"));
  EXPECT_THAT(reported["/w/broken.json"], HasSubstr("broken.json:1:"));
  EXPECT_TRUE(verdicts->back().is_missing);
}

void expect_no_faults_in(const std::string& folder) {
  CatalogOptions options;
  options.overrides = {folder};
  const auto verdicts = check_files(SystemFiles(), Environment(), {"/nowhere", "/nowhere", "/nowhere"}, options);
  ASSERT_TRUE(verdicts);
  EXPECT_GT(verdicts->size(), 10u);
  for (const FileCheckResult& verdict : *verdicts) EXPECT_EQ(to_lines(verdict.faults), "") << verdict.file;
}

TEST(Compatibility, WorkflowsOfTheFormatAreCheckedWithoutAMessage) {
  expect_no_faults_in(SB_SOURCE_DIR "/tests/data/workflows");
}

// The files of the original, where they are available.
TEST(Compatibility, SharedWorkflowsOfTheFormatAreCheckedWithoutAMessage) {
  const char* named = std::getenv("SIGNALBOX_COMPAT");
  const std::string folder =
      (named != nullptr ? std::string(named) : std::string(SB_SOURCE_DIR) + "/../shared/compat") + "/workflows";
  if (SystemFiles().kind(folder) != FileKind::kDirectory) GTEST_SKIP() << "no " << folder;
  expect_no_faults_in(folder);
}

}  // namespace
}  // namespace sb::workflow
