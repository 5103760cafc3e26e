#include "gpu/core/team.h"

#include "gpu/core/buffer.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct Digits {
  int value[100];
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

// Each `each` reads all values written by the previous one, whichever lane wrote them.
BACKEND_TEST(Team, LanesSeeEachOthersWrites) {
  constexpr int kTeams = 37, kLength = 100;
  Buffer<int> result(ctx, kTeams * kLength);
  int* out = result.data();
  launch_teams<Digits>(ctx, kTeams, [=] SS_LAMBDA(std::size_t t, const Team& team, Digits& digits) {
    team.each(kLength, [&](int i) { digits.value[i] = static_cast<int>(t) + i; });
    for (int round = 0; round < 3; ++round) {
      int* row = out + t * kLength;
      team.each(kLength, [&](int i) { row[i] = digits.value[kLength - 1 - i]; });
      team.each(kLength, [&](int i) { digits.value[i] = row[i]; });
    }
  });
  const std::vector<int> got = result.download(ctx);
  for (int t = 0; t < kTeams; ++t)
    for (int i = 0; i < kLength; ++i) EXPECT_EQ(got[t * kLength + i], t + kLength - 1 - i) << t << ", " << i;
}

BACKEND_TEST(Team, NoTeamsAreFine) {
  launch_teams<Digits>(ctx, 0, [=] SS_LAMBDA(std::size_t, const Team&, Digits&) {});
}
