# SLUICE_SANITIZE applies to the whole build: mixing instrumented and plain
# objects of ours would hide what the sanitizers look for.
if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  # Without the checks of each access that find what AddressSanitizer finds too,
  # or what only casts between types of objects can do, of which there are none:
  # they are a third of the time to compile.
  add_compile_options(
    -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
  # GCC takes what the instrumentation does with inlined storage for reads of
  # it before it is written.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
endif()
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
