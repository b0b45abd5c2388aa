# cmake -DSOURCE=FOLDER -DOUTPUT=HEADER -P Commit.cmake: writes KILN_COMMIT, the commit that the sources are of, into a header,
# and leaves a header that says so already as it is. In an archive, where git has written the commit into commit.txt, it is
# that one; where neither is known it is "".
set(commit "")
file(STRINGS ${SOURCE}/cmake/commit.txt archived LIMIT_COUNT 1)
if(NOT archived MATCHES "Format")
  set(commit ${archived})
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude * OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define KILN_COMMIT \"${commit}\"\n")
