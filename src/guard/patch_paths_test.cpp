#include "guard/patch_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guard/shell/command_effects.hpp"

namespace sb::guard {
namespace {

using testing::ElementsAre;

TEST(PatchPaths, AreThoseOfTheHeaders) {
  EXPECT_THAT(
      paths_of_patch("*** Begin Patch\n*** Add File: a b.txt\n+x\n*** Update File: ../c\r\n*** Move to: d\n@@\n"
                     "-*** Add File: no\n+*** Delete File: no\n*** End of File\n  *** Delete File: e \n*** End Patch")
          .value(),
      ElementsAre("a b.txt", "../c", "d", "e"));
  for (const char* patch : {"", "*** Begin Patch\n*** End Patch", "*** Add File:\n+x", "--- a\n+++ b",
                            "*** Rename File: a", "*** Add File: a\n*** Frobnicate", "***Add File: a"}) {
    EXPECT_FALSE(paths_of_patch(patch)) << patch;
  }
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "*** Add File: a" + std::to_string(i) + "\n*** Update File: a1\n";
  EXPECT_EQ(paths_of_patch(many).value().size(), 1'000u);
  EXPECT_FALSE(paths_of_patch(many + "*** Add File: b"));
}

// The targets of the only effect, a path that is not literal with a question mark; else the name of what is refused.
std::string patched(std::string_view line) {
  std::string text;
  for (const CommandEffect& effect : effects_of(line)) {
    if (effect.effect != Effect::kPaths) text += effect.name + (effect.effect == Effect::kTree ? " any" : " ?") + ";";
    for (const Target& target : effect.targets) text += target.path + (target.is_known ? ";" : "?;");
  }
  return text;
}

TEST(PatchPaths, OfAShellCommandAreThoseOfItsHereDocumentOrArgument) {
  EXPECT_EQ(patched("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+$x `y`\n*** End Patch\nEOF\n"), "a;");
  EXPECT_EQ(patched("apply_patch <<EOF && rm b\n*** Delete File: a\nEOF"), "a;b;");
  EXPECT_EQ(patched("cat <<A; apply_patch <<B\n*** Delete File: no\nA\n*** Delete File: yes\nB"), "yes;");
  EXPECT_EQ(patched("cd src && apply_patch <<-EOF\n\t*** Update File: a\n\t*** Move to: ../b\n\tEOF"),
            "src/a;src/../b;");
  EXPECT_EQ(patched("apply_patch '*** Begin Patch\n*** Update File: a\n*** End Patch'"), "a;");
  EXPECT_EQ(patched("timeout 5 apply_patch <<'EOF'\n*** Add File: a\nEOF"), "a;");
  EXPECT_EQ(patched("bash -lc \"apply_patch <<'EOF'\n*** Add File: a\nEOF\n\""), "a;");
  EXPECT_EQ(patched("(apply_patch <<'EOF'\n*** Add File: a\nEOF\n)"), "a;");
  for (const char* line :
       {"apply_patch", "apply_patch < p", "apply_patch \"$P\"", "cat p | apply_patch", "apply_patch -",
        "apply_patch <<EOF\n*** Add File: $X\nEOF", "apply_patch <<'EOF'\nno header\nEOF",
        "applypatch <<'EOF'\n*** Add File: a\n*** Frobnicate\nEOF"}) {
    EXPECT_THAT(patched(line), testing::EndsWith("patch any;")) << line;
  }
}

}  // namespace
}  // namespace sb::guard
