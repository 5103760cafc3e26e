# Every shipped scene is a test: it and its variants run headless with each solver, with intersection checks,
# and must satisfy their expectations. quick: the first frames, all frames of a small scene; long: the whole
# length.
set(quick_frames 12)
# Fewer frames for scenes whose frames take seconds.
set(heavy_scenes "^puffer-net")
set(heavy_frames 3)
set(small_scenes "^erleben-")
set(solvers ipc barrier_al)
# Scenes of rigid bodies run whole with the solver that they select (some take less than a second). Their
# first frames also run with solvers of other families: sweeps, proximal steps, conjugate gradients over
# sweeps, accelerated gradients.
set(light_scenes "^(bounce|collisions|friction-laws|matchsticks|painleve|ridges|slide|slope|slope-sweep|wood-rings)(_|$)")
set(contact_solvers nsgs prox_gs nncg apgd)
# Sweeps alone do not solve these within the scene's iterations: the run must report that (and exit with 1).
set(unsolved "^plates_(nsgs|prox_gs|nncg)$")

# add_rigid_scene_tests(name arguments...): the same for a scene with rigid bodies.
function(add_rigid_scene_tests name)
  set(run $<TARGET_FILE:stickslip> run ${ARGN} --backend cpu)
  if(name MATCHES ${light_scenes})
    add_test(NAME scene_${name} COMMAND ${run})
  else()
    add_test(NAME scene_${name} COMMAND ${run} --frames ${quick_frames})
    add_test(NAME scene_${name}_Long COMMAND ${run})
    set_tests_properties(scene_${name}_Long PROPERTIES LABELS long TIMEOUT 3600)
  endif()
  set_tests_properties(scene_${name} PROPERTIES LABELS quick TIMEOUT 300)
  foreach(solver ${contact_solvers})
    add_test(NAME scene_${name}_${solver} COMMAND ${run} --solver ${solver} --frames ${quick_frames})
    set_tests_properties(scene_${name}_${solver} PROPERTIES LABELS quick TIMEOUT 300)
    if("${name}_${solver}" MATCHES ${unsolved})
      set_tests_properties(scene_${name}_${solver} PROPERTIES PASS_REGULAR_EXPRESSION
                           "none of ${quick_frames} steps converged")
    endif()
  endforeach()
endfunction()

# Constraints without a barrier (`ccd_al`) must hold all expectations in these scenes, and in the first steps of
# the next ones. In the others steps that do not converge are expected, but no intersections.
set(constraint_scenes "^(erleben-[^_]*|slope)$")
set(constraint_starts "^(beams|belt|buggy|cloth-drag|hair|mixed|rods-twist|self-locking|spinner|stack|twist)$")
set(start_frames 8)
set(no_intersections "passed   expected: at most 0 intersections")
set(constraint_frames 3)

# add_constraint_test(name arguments...): the run of a scene with ccd_al; variants are left out.
function(add_constraint_test name)
  set(run $<TARGET_FILE:stickslip> run ${ARGN} --solver ccd_al --backend cpu --check-intersections)
  if(name MATCHES ${constraint_scenes})
    add_test(NAME scene_${name}_ccd_al COMMAND ${run})
    set_tests_properties(scene_${name}_ccd_al PROPERTIES LABELS quick TIMEOUT 300)
  elseif(name MATCHES ${constraint_starts})
    add_test(NAME scene_${name}_ccd_al COMMAND ${run} --frames ${start_frames})
    set_tests_properties(scene_${name}_ccd_al PROPERTIES LABELS quick TIMEOUT 300)
  elseif(NOT name MATCHES "_")
    add_test(NAME scene_${name}_ccd_al COMMAND ${run} --frames ${constraint_frames})
    add_test(NAME scene_${name}_ccd_al_Long COMMAND ${run})
    set_tests_properties(scene_${name}_ccd_al PROPERTIES LABELS quick TIMEOUT 300)
    set_tests_properties(scene_${name}_ccd_al_Long PROPERTIES LABELS long TIMEOUT 3600)
    set_tests_properties(scene_${name}_ccd_al scene_${name}_ccd_al_Long PROPERTIES
                         PASS_REGULAR_EXPRESSION ${no_intersections})
  endif()
endfunction()

# Variants named admm select nodal ADMM, also in scenes of the barrier solvers, and run as they are.
set(light_admm "^(belt|card-house-thin|crossing)_")

# add_admm_test(name arguments...): the run of such a variant.
function(add_admm_test name)
  set(run $<TARGET_FILE:stickslip> run ${ARGN} --backend cpu)
  if(name MATCHES ${light_admm})
    add_test(NAME scene_${name} COMMAND ${run})
  else()
    add_test(NAME scene_${name} COMMAND ${run} --frames ${quick_frames})
    add_test(NAME scene_${name}_Long COMMAND ${run})
    set_tests_properties(scene_${name}_Long PROPERTIES LABELS long TIMEOUT 3600)
  endif()
  set_tests_properties(scene_${name} PROPERTIES LABELS quick TIMEOUT 300)
endfunction()

# add_scene_tests(file name arguments...): the runs of one scene, or of one of its variants.
function(add_scene_tests file name)
  if(name MATCHES "_admm$")
    add_admm_test(${name} ${ARGN})
    return()
  endif()
  # Scenes of solids that select a contact solver need properties that barrier steps refuse.
  file(STRINGS ${file} velocity REGEX "^(body = \"rigid\"|solver = )")
  if(velocity)
    add_rigid_scene_tests(${name} ${ARGN})
    return()
  endif()
  add_constraint_test(${name} ${ARGN})
  foreach(solver ${solvers})
    set(run $<TARGET_FILE:stickslip> run ${ARGN} --solver ${solver} --backend cpu --check-intersections)
    if(name MATCHES ${small_scenes})
      add_test(NAME scene_${name}_${solver} COMMAND ${run})
      set_tests_properties(scene_${name}_${solver} PROPERTIES LABELS quick TIMEOUT 300)
      continue()
    endif()
    set(frames ${quick_frames})
    if(name MATCHES ${heavy_scenes})
      set(frames ${heavy_frames})
    endif()
    add_test(NAME scene_${name}_${solver} COMMAND ${run} --frames ${frames})
    set_tests_properties(scene_${name}_${solver} PROPERTIES LABELS quick TIMEOUT 300)
    add_test(NAME scene_${name}_${solver}_Long COMMAND ${run})
    set_tests_properties(scene_${name}_${solver}_Long PROPERTIES LABELS long TIMEOUT 3600)
  endforeach()
endfunction()

# Every scene also runs whole under the family of steppers that it does not select: with nsgs where it selects a
# barrier stepper, otherwise with ipc. What does not hold there has its reason in the scene's [steppers] table.
# quick: those that take less than 5 s, 35 s of processor time in all.
set(quick_others arch beams bounce card-house-thin cloth-drag matchsticks mixed painleve plates rest ridges
    rollers slide slope slope-ramp slope-sweep
    spikes staircase tippe-top wood-rings)
foreach(part cliff internal-edges sliding-spike sliding-wedge spike-crack spike-hole spikes wedge-crack)
  list(APPEND quick_others erleben-${part})
endforeach()
# Barrier steps refuse properties of these (restitution, directions of friction, textures, cohesion, compliance):
# the run drops them.
set(forced_others bounce bowling collisions matchsticks pinched-cloth ridges sticky-rods wood-rings)
# A step of these takes more than 10 s: they run for two frames.
set(slow_others links wall)

# add_other_family_test(file name): that run of a scene.
function(add_other_family_test file name)
  file(STRINGS ${file} velocity REGEX "^(body = \"rigid\"|solver = )")
  set(other --solver nsgs)
  if(velocity)
    set(other --solver ipc)
  endif()
  if(name IN_LIST forced_others)
    list(APPEND other --force)
  endif()
  if(name IN_LIST slow_others)
    list(APPEND other --frames 2)
  endif()
  set(test scene_${name}_other)
  if(name IN_LIST quick_others)
    set(label quick)
  else()
    set(label long)
    string(APPEND test _Long)
  endif()
  add_test(NAME ${test} COMMAND $<TARGET_FILE:stickslip> run ${name} ${other} --backend cpu --check-intersections)
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 3600)
endfunction()

# Scenes of thin objects, of lattices and frames, and with joints on solids also run by ADMM on the nodes with its defaults: whole where that takes less than 3 s
# (15 s of processor time in all), otherwise their first frames.
set(whole_nodal box-cone cloth-drag cloth-turn elastica flag hairy-ball helix knot self-locking sticky-rods twist-kinds
    writhe)
set(started_nodal cloth-sphere curtain everything frizzy-hair furry-ball furry-roll hair hair-band long-hair palm-frames
    sewn-skirt soft-embedded)
foreach(scene ${whole_nodal} ${started_nodal})
  set(run $<TARGET_FILE:stickslip> run ${scene} --solver nsgs --set coupling=nodal_admm --backend cpu)
  if(scene IN_LIST started_nodal)
    list(APPEND run --frames ${quick_frames})
  endif()
  add_test(NAME scene_${scene}_nodal_admm COMMAND ${run})
  set_tests_properties(scene_${scene}_nodal_admm PROPERTIES LABELS quick TIMEOUT 300)
endforeach()

file(GLOB scene_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/assets/scenes/*.toml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scene_files})  # for their variants
foreach(file ${scene_files})
  cmake_path(GET file STEM scene)
  add_scene_tests(${file} ${scene} ${scene})
  add_other_family_test(${file} ${scene})
  file(STRINGS ${file} lines REGEX "^(\\[\\[variant\\]\\]|name = )")
  set(in_variant FALSE)
  foreach(line ${lines})
    if(line STREQUAL "[[variant]]")
      set(in_variant TRUE)
    elseif(in_variant)
      string(REGEX REPLACE "^name = \"(.*)\"$" "\\1" variant ${line})
      add_scene_tests(${file} ${scene}_${variant} ${scene} --variant ${variant})
      set(in_variant FALSE)
    endif()
  endforeach()
endforeach()

# The same state of rest on a finer mesh; more bodies.
set(shipped ${CMAKE_SOURCE_DIR}/assets/scenes)
add_scene_tests(${shipped}/rest.toml rest_fine rest --scale 2)
add_scene_tests(${shipped}/staircase.toml staircase_full staircase --scale 4)
add_scene_tests(${shipped}/links.toml links_full links --scale 4.4)

# The gallery shows every scene, with the scene's own description.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME gallery_is_up_to_date
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/gallery.py --check --program $<TARGET_FILE:stickslip>)
set_tests_properties(gallery_is_up_to_date PROPERTIES LABELS quick)
