# Every shipped scene is a test: it runs headless, checked for intersections, and its expectations must hold.
# quick: the first frames; long: the whole length.
file(GLOB scene_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/assets/scenes/*.toml)
set(quick_frames 12)
foreach(file ${scene_files})
  cmake_path(GET file STEM name)
  set(run $<TARGET_FILE:stickslip> run ${name} --backend cpu --check-intersections)
  add_test(NAME scene_${name} COMMAND ${run} --frames ${quick_frames})
  set_tests_properties(scene_${name} PROPERTIES LABELS quick TIMEOUT 300)
  add_test(NAME scene_${name}_Long COMMAND ${run})
  set_tests_properties(scene_${name}_Long PROPERTIES LABELS long TIMEOUT 3600)
endforeach()

# The gallery shows every one of them, with the words of the scene itself.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME gallery_is_up_to_date
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/gallery.py --check --program $<TARGET_FILE:stickslip>)
set_tests_properties(gallery_is_up_to_date PROPERTIES LABELS quick)
