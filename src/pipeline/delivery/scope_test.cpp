// Compares changes with the declared files; scans what a diff adds.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> blocked_files(const ScopeReport& report) {
  std::vector<std::string> files;
  for (const DeliveryFinding& finding : report.blocking) files.push_back(finding.cause + " " + finding.file);
  return files;
}

TEST(Scope, DeclaredFilesPass) {
  const DeliverySpec spec{.files_changed = {"src/a.cpp", "./src/b.cpp", "docs/*.md", "tests/", "`lib/c.cpp`"}};
  const ScopeReport report = check_scope(
      {{'M', "src/a.cpp"}, {'A', "src/b.cpp"}, {'M', "docs/x.md"}, {'A', "tests/deep/y.txt"}, {'D', "lib/c.cpp"}},
      spec);
  EXPECT_THAT(report.blocking, IsEmpty());
  EXPECT_THAT(report.collateral, IsEmpty());
  EXPECT_THAT(report.unchanged, IsEmpty());
}

TEST(Scope, UndeclaredFilesBlockByName) {
  const DeliverySpec spec{.files_changed = {"src/a.cpp", "src/never.cpp"}};
  const ScopeReport report = check_scope({{'M', "src/a.cpp"}, {'A', "src/a.cpp.bak"}, {'D', "README.md"}}, spec);
  EXPECT_THAT(blocked_files(report), ElementsAre("undeclared_file src/a.cpp.bak", "undeclared_file README.md"));
  EXPECT_THAT(report.blocking[0].summary, HasSubstr("src/a.cpp.bak"));
  EXPECT_THAT(report.collateral, ElementsAre("src/a.cpp.bak", "README.md"));
  EXPECT_THAT(report.unchanged, ElementsAre("src/never.cpp"));
}

// Shaping excludes it, coding declares and changes it: it stays out of scope.
TEST(Scope, OutOfScopeWinsOverDeclared) {
  const DeliverySpec spec{.files_changed = {"src/a.cpp", "api/schema.json"},
                          .out_of_scope = {"Do not touch `api/**` or the exports.", "Spreadsheets.", "src/legacy.cpp"}};
  const ScopeReport report = check_scope({{'M', "src/a.cpp"}, {'M', "api/schema.json"}, {'M', "src/legacy.cpp"}}, spec);
  EXPECT_THAT(blocked_files(report), ElementsAre("out_of_scope api/schema.json", "out_of_scope src/legacy.cpp"));
  EXPECT_EQ(report.blocking[0].severity, "critical");
}

TEST(Scope, ARenameAffectsBothNames) {
  const DeliverySpec spec{.files_changed = {"src/new.cpp"}, .out_of_scope = {"old/kept.cpp"}};
  const ScopeReport report =
      check_scope({{'R', "src/new.cpp", "old/kept.cpp"}, {'R', "src/other.cpp", "src/new.cpp"}}, spec);
  EXPECT_THAT(blocked_files(report), ElementsAre("out_of_scope old/kept.cpp", "undeclared_file src/other.cpp"));
}

TEST(Scope, ProtectedPathsAndOurOwnBlock) {
  const DeliverySpec spec{.files_changed = {".github/workflows/ci.yaml", ".signalbox/workflows/x.yaml", "a"},
                          .protected_paths = {".github/**"}};
  const ScopeReport report = check_scope({{'M', ".github/workflows/ci.yaml"},
                                          {'A', ".signalbox/workflows/x.yaml"},
                                          {'A', ".signalbox/notes.md"},
                                          {'M', "a"}},
                                         spec);
  EXPECT_THAT(blocked_files(report),
              ElementsAre("protected_path .github/workflows/ci.yaml", "protected_path .signalbox/workflows/x.yaml"));
}

TEST(Scope, ADeclarationOfEverythingIsIgnored) {
  for (const char* wide : {"**", ".", "*/**", "**/*", "./", "{a,**}"}) {
    const DeliverySpec spec{.files_changed = {wide}};
    const ScopeReport report = check_scope({{'M', "x/y.txt"}}, spec);
    EXPECT_GE(report.blocking.size(), 2u) << wide;
  }
}

TEST(Scope, InvalidNamesAreShownEscapedAndBlock) {
  const DeliverySpec spec{.files_changed = {"data/"}};
  const ScopeReport report = check_scope({{'A', "data/\xff\n"}, {'A', "x\xff\n"}}, spec);
  EXPECT_THAT(blocked_files(report), ElementsAre("undeclared_file x\\xff\\x0a"));
}

TEST(Scope, ANestedRepositoryIsNotDelivered) {
  const DeliverySpec spec{.files_changed = {"lib"}};
  Change change{'A', "lib"};
  change.is_repository = true;
  EXPECT_THAT(blocked_files(check_scope({change}, spec)), ElementsAre("nested_repository lib"));
}

constexpr const char* kKey = "ghp_9fK2mQ7xZr4LpW8sVb3NcT6yHj1DgA5eUo0i";

TEST(SecretScan, ReportsFileLineAndKindButNotTheValue) {
  const std::string diff = std::string("diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n") +
                           "@@ -10,2 +10,3 @@\n context\n+fine\n+token = \"" + kKey + "\"\n-gone\n";
  const auto findings = scan_secrets(diff, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].summary, AllOf(HasSubstr("src/a.txt:12"), HasSubstr("github"), Not(HasSubstr(kKey))));
  EXPECT_EQ(findings[0].severity, "critical");
}

TEST(SecretScan, SaysThatThereAreMoreThanItLists) {
  const auto scan = [](int count) {
    std::string diff = fmt::format("--- a/x\n+++ b/x\n@@ -0,0 +1,{} @@\n", count);
    for (int i = 0; i < count; ++i) diff += "+token: correct horse\n";
    return scan_secrets(diff, {"correct horse"});
  };
  EXPECT_THAT(scan(50).back().summary, HasSubstr("x:50"));
  ASSERT_EQ(scan(80).size(), 51u);
  EXPECT_EQ(scan(80).back().summary, "there are more secrets; these are the first 50");
}

TEST(SecretScan, ScansOnlyAddedLines) {
  const std::string gone = std::string("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n-token = \"") + kKey + "\"\n " + kKey + "\n";
  EXPECT_THAT(scan_secrets(gone, {}), IsEmpty());
}

// As `base64` writes a long one.
TEST(SecretScan, FindsAKnownValueInBase64OfSeveralLines) {
  const std::string known(90, 'k');
  std::string encoded;
  for (int i = 0; i < 30; ++i) encoded += "a2tr";
  const std::string diff =
      "--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+" + encoded.substr(0, 76) + "\n+" + encoded.substr(76) + "\n";
  const auto found = scan_secrets(diff, {known});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "x");
}

TEST(SecretScan, FindsKnownValuesAnywhere) {
  const std::string known = "correct horse";
  const auto found = scan_secrets("--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+\xff\x00" + known + "\xfe\n", {known, "ab"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].summary, Not(HasSubstr(known)));
}

// Lines of the file that look like diff syntax.
TEST(SecretScan, IsNotFooledByADiffInTheFile) {
  const std::string diff =
      std::string("--- a/real.txt\n+++ b/real.txt\n@@ -0,0 +1,4 @@\n+++ b/fake.txt\n+@@ -1 +900 @@\n") +
      "+--- a/fake.txt\n+key = \"" + kKey + "\"\n";
  const auto findings = scan_secrets(diff, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].summary, HasSubstr("real.txt:4"));
}

TEST(SecretScan, FindsAKeyOverSeveralLines) {
  const std::string diff =
      "--- a/k\n+++ b/k\n@@ -0,0 +1,3 @@\n+-----BEGIN RSA PRIVATE KEY-----\n+MIIEpAIBAAKCAQEA7\n+-----END RSA PRIVATE "
      "KEY-----\n";
  const auto findings = scan_secrets(diff, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].summary, HasSubstr("k:1"));
}

}  // namespace
}  // namespace sb::pipeline
