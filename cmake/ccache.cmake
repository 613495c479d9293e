# What one checkout compiled serves every other: paths below the checkout count
# from where the compiler runs, and neither they nor the time of a header is
# part of what ccache compares.  The rest of the sloppiness is what ccache asks
# for where headers are precompiled.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE})
endif()
