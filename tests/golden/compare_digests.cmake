# Runs the transcripts in two processes and compares the digests of all that
# the scheduler said.  Addresses and hash seeds differ between the two.
foreach(run first second)
  execute_process(
    COMMAND ${RUNNER} --digest ${TRANSCRIPTS}
    OUTPUT_VARIABLE ${run}
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the ${run} run ended with ${result}:\n${${run}}")
  endif()
endforeach()
if(first STREQUAL "" OR NOT first STREQUAL second)
  message(FATAL_ERROR "two runs differ:\n${first}\n${second}")
endif()
