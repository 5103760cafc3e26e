#include "gpu/core/scan.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <class T>
std::vector<T> serial_scan(const std::vector<T>& in) {
  std::vector<T> out(in.size() + 1, 0);
  for (std::size_t i = 0; i < in.size(); ++i) out[i + 1] = static_cast<T>(out[i] + in[i]);
  return out;
}

template <class T>
void expect_scans(Context& ctx, unsigned seed) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE("n " + std::to_string(n));
    const std::vector<T> host = random_integers<T>(n, 0, 1000, seed);
    const std::vector<T> expected = serial_scan(host);
    const Buffer<T> in(ctx, host);
    Buffer<T> out(ctx, n + 1);
    exclusive_scan(ctx, n, in.data(), out.data());
    EXPECT_EQ(out.download(ctx), expected);

    Buffer<T> in_place(ctx, n + 1);
    copy_to_device(ctx, in_place.data(), host.data(), n);
    exclusive_scan(ctx, n, in_place.data(), in_place.data());
    EXPECT_EQ(in_place.download(ctx), expected);
  }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Scan, EqualsTheSerialOneAndWorksInPlace) {
  FRESH_SEED(seed);
  expect_scans<std::int32_t>(ctx, seed);
  expect_scans<std::uint32_t>(ctx, seed);
  expect_scans<std::int64_t>(ctx, seed);
  expect_scans<std::uint64_t>(ctx, seed);
}

BACKEND_TEST(Scan, AnyNumberOfThreads) {
  FRESH_SEED(seed);
  for_thread_counts([&](Context& c) { expect_scans<std::int32_t>(c, seed); });
}
