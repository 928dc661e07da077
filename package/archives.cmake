# The command of a release tarball (TIPPLE_ARCHIVES, tools/package tarball) needs little of a host: of what Debian has as
# archives it is linked with these. The driver's own needs differ with its version: what is not there is left out, and
# the linker takes of the others what is called. tools/package tells what stays dynamic, and why.
set(archives mongoc-static-1.0 bson-static-1.0 mongocrypt-static bidgcc000 yaml snappy z zstd lzma bz2 icuuc icudata
    utf8proc)
function(find_archive name to)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT EXISTS ${path})
        set(path "")
    endif()
    set(${to} ${path} PARENT_SCOPE)
endfunction()

add_library(tipple_archives INTERFACE)
target_include_directories(tipple_archives SYSTEM INTERFACE ${MONGOC_INCLUDE_DIRS})
# Old drivers have a part of this one inside: it is taken whole, so that nothing of theirs is.
find_archive(kms_message-static path)
target_link_libraries(tipple_archives INTERFACE -Wl,--whole-archive ${path} -Wl,--no-whole-archive)
foreach(name ${archives})
    find_archive(${name} path)
    target_link_libraries(tipple_archives INTERFACE ${path})
endforeach()
target_link_libraries(tipple_archives INTERFACE sasl2 ssl resolv -static-libgcc -static-libstdc++)
target_link_options(tipple PRIVATE -Wl,-Map=${PROJECT_BINARY_DIR}/tipple.map) # tells which archives were taken
