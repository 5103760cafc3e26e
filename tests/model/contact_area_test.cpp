// Areas of contacts on patches whose areas are known.
#include "gpu/model/contact_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace stickslip {
namespace {

using Vec3f = Vec<float, 3>;

ContactRecord contact_at(const Vec3f& point, const Vec3f& normal = {0, 1, 0}, std::int32_t other = -1) {
  ContactRecord contact;
  contact.point = point;
  contact.normal = normal;
  contact.normal_force = 1;
  contact.object_a = 0;
  contact.object_b = other;
  return contact;
}

/// n x m contacts on the plane y = 0 with these spacings [m].
std::vector<ContactRecord> grid(int n, int m, float dx, float dz) {
  std::vector<ContactRecord> contacts;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      contacts.push_back(contact_at({dx * static_cast<float>(i), 0, dz * static_cast<float>(j)}));
  return contacts;
}

double sum_of_areas(const std::vector<ContactRecord>& contacts) {
  double sum = 0;
  for (const ContactRecord& contact : contacts) sum += static_cast<double>(contact.area);
  return sum;
}

TEST(ContactArea, CornersOfABoxHaveQuartersOfItsFace) {
  std::vector<ContactRecord> contacts = grid(2, 2, 0.4f, 0.1f);
  contacts[0].normal_force = 8;
  set_contact_areas(contacts);
  for (const ContactRecord& contact : contacts) EXPECT_NEAR(contact.area, 0.01, 1e-7);
  EXPECT_NEAR(contacts[0].pressure(), 800, 1e-2);
}

TEST(ContactArea, IsHalfAtTheEdgesOfARegularMeshAndAQuarterAtItsCorners) {
  for (const auto& [n, m, dz] : {std::tuple{5, 4, 0.1f}, {40, 30, 0.1f}, {12, 12, 0.6f}}) {
    std::vector<ContactRecord> contacts = grid(n, m, 0.1f, dz);
    const float whole = 0.1f * dz;
    const auto share_of = [&](int i, int j) {
      return (i == 0 || i == n - 1 ? 0.5f : 1) * (j == 0 || j == m - 1 ? 0.5f : 1);
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        contacts[static_cast<std::size_t>(i * m + j)].normal_force = 700 * whole * share_of(i, j);
    set_contact_areas(contacts);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        const ContactRecord& contact = contacts[static_cast<std::size_t>(i * m + j)];
        EXPECT_NEAR(contact.area, share_of(i, j) * whole, 1e-4f * whole)
            << n << " x " << m << ": " << i << ", " << j;
        EXPECT_NEAR(contact.pressure(), 700, 0.1) << n << " x " << m << ": " << i << ", " << j;
      }
  }
}

/// Contacts of two meshes: each point of a grid has four more at a thousandth of the spacing.
TEST(ContactArea, ContactsOfAClusterHaveOnePressure) {
  std::vector<ContactRecord> contacts;
  for (const ContactRecord& contact : grid(6, 6, 0.1f, 0.1f))
    for (int k = 0; k < 5; ++k) {
      contacts.push_back(contact);
      contacts.back().point += Vec3f{1e-4f * static_cast<float>(k % 2), 0, 1e-4f * static_cast<float>(k / 2)};
      contacts.back().normal_force = static_cast<float>(k);
    }
  set_contact_areas(contacts, 1e-3);
  for (int i = 1; i < 5; ++i)
    for (int j = 1; j < 5; ++j)
      for (std::size_t k = 1; k < 5; ++k)
        EXPECT_NEAR(contacts[5 * static_cast<std::size_t>(6 * i + j) + k].pressure(), 1000, 10);
}

TEST(ContactArea, OfAPatchAddUpToItsHull) {
  std::vector<ContactRecord> contacts;
  const Vec3f u{0.6f, 0.8f, 0}, v{0, 0, 1}, normal{-0.8f, 0.6f, 0};
  for (int i = 0; i < 37; ++i) {  // points of a sunflower, and a ring around them
    const double turn = 2.399963 * i, r = 0.1 * std::sqrt(i / 37.0);
    contacts.push_back(contact_at(
        static_cast<float>(r * std::cos(turn)) * u + static_cast<float>(r * std::sin(turn)) * v, normal));
  }
  for (int i = 0; i < 24; ++i) {
    const double turn = 2 * std::numbers::pi * i / 24;
    contacts.push_back(contact_at(
        static_cast<float>(0.11 * std::cos(turn)) * u + static_cast<float>(0.11 * std::sin(turn)) * v,
        normal));
  }
  set_contact_areas(contacts);
  const double hull = 12 * 0.11 * 0.11 * std::sin(2 * std::numbers::pi / 24);
  EXPECT_NEAR(sum_of_areas(contacts), hull, 0.01 * hull);
}

TEST(ContactArea, PointsAndLinesHaveNone) {
  for (const int count : {1, 2, 9, 100}) {
    std::vector<ContactRecord> contacts = grid(count, 1, 0.1f, 0.1f);
    set_contact_areas(contacts);
    EXPECT_EQ(sum_of_areas(contacts), 0) << count;
    EXPECT_LT(contacts[0].pressure(), 0) << "not known";
  }
}

TEST(ContactArea, FeetOfATableArePatchesOfTheirOwn) {
  std::vector<ContactRecord> contacts;
  for (int foot = 0; foot < 4; ++foot)
    for (ContactRecord contact : grid(2, 2, 0.05f, 0.04f)) {
      contact.point += Vec3f{static_cast<float>(foot % 2), 0, 0.7f * static_cast<float>(foot / 2)};
      contacts.push_back(contact);
    }
  set_contact_areas(contacts);
  for (const ContactRecord& contact : contacts) EXPECT_NEAR(contact.area, 0.0005, 1e-8);
}

TEST(ContactArea, OfDenseClustersInOnePatchAreThoseOfEachAlone) {
  std::vector<ContactRecord> alone = grid(50, 50, 2e-4f, 2e-4f), both = alone;
  set_contact_areas(alone);
  for (ContactRecord contact : grid(50, 50, 2e-4f, 2e-4f)) {
    contact.point += Vec3f{0, 0, 1};
    both.push_back(contact);
  }
  set_contact_areas(both);
  // The hull of what is near an edge may reach to the other cluster.
  for (std::size_t i = 0; i < alone.size(); ++i)
    if (i % 50 > 3 && i % 50 < 46) {
      EXPECT_NEAR(both[i].area, alone[i].area, 1e-3 * alone[i].area);
    }
}

TEST(ContactArea, OtherObjectsAndOtherSidesDoNotShareIt) {
  std::vector<ContactRecord> contacts = grid(2, 2, 0.1f, 0.1f);
  for (ContactRecord contact : grid(2, 2, 0.1f, 0.1f)) {
    contact.point[0] += 0.03f;
    contact.object_b = 2;
    contacts.push_back(contact);
    contact.object_b = -1;
    contact.normal = {0, -1, 0};
    contacts.push_back(contact);
  }
  set_contact_areas(contacts);
  for (const ContactRecord& contact : contacts) EXPECT_NEAR(contact.area, 0.0025, 1e-8);
}

TEST(ContactArea, ContactsOfOnePlaceShareIt) {
  std::vector<ContactRecord> contacts = grid(2, 2, 0.1f, 0.1f);
  for (ContactRecord contact : grid(2, 2, 0.1f, 0.1f)) {
    std::swap(contact.object_a, contact.object_b);
    contact.normal = -1.0f * contact.normal;
    contacts.push_back(contact);
  }
  set_contact_areas(contacts);
  for (const ContactRecord& contact : contacts) EXPECT_NEAR(contact.area, 0.00125, 1e-8);
}

TEST(ContactArea, OfASphereAddUpToIt) {
  std::vector<ContactRecord> contacts;
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    const double turn = 2.399963 * i, y = 1 - 2 * (i + 0.5) / kCount, r = std::sqrt(1 - y * y);
    const Vec3f n{static_cast<float>(r * std::cos(turn)), static_cast<float>(y),
                  static_cast<float>(r * std::sin(turn))};
    contacts.push_back(contact_at(0.3f * n, n, 1));
  }
  set_contact_areas(contacts);
  const double sphere = 4 * std::numbers::pi * 0.09;
  EXPECT_NEAR(sum_of_areas(contacts), sphere, 0.01 * sphere);
}

}  // namespace
}  // namespace stickslip
