#include <cstdio>
#include <cstring>

#include "test/native/check.h"

namespace halogen::test {
std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
}  // namespace halogen::test

// --list names the tests; other arguments choose those whose name contains one of them.
int main(int count, char** words) {
  int failed = 0, run = 0;
  for (const halogen::test::Test& test : halogen::test::tests()) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted = wanted || std::strstr(test.name.c_str(), words[i]) != nullptr;
    if (count > 1 && std::strcmp(words[1], "--list") == 0) {
      std::printf("%s\n", test.name.c_str());
      continue;
    }
    if (!wanted) continue;
    ++run;
    std::string problem;
    try {
      test.body();
    } catch (const halogen::Error& error) {
      problem = error.code() + ": " + error.message();
    } catch (const std::exception& error) {
      problem = error.what();
    }
    failed += problem.empty() ? 0 : 1;
    std::printf("%s %s%s%s\n", problem.empty() ? "ok" : "FAILED", test.name.c_str(), problem.empty() ? "" : ": ",
                problem.c_str());
    std::fflush(stdout);
  }
  if (count > 1 && std::strcmp(words[1], "--list") == 0) return 0;
  std::printf("%d run, %d failed\n", run, failed);
  return failed == 0 && run > 0 ? 0 : 1;
}
