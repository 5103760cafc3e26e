# What cpack runs before it packs a build with STICKSLIP_NATIVE.
message(WARNING "this build is for processors like this one's; for others: cmake --preset package")
