# Run by cpack between installing and packing: what Debian wants of each package besides what is installed. Its pages are
# compressed, its programs have no debug information, and it has a copyright and the list of changes.
cmake_minimum_required(VERSION 3.19)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Debian's list of changes, of CHANGELOG.md: its versions and their days.
function(list_changes to)
    file(STRINGS ${source}/CHANGELOG.md versions REGEX "^## [0-9.]+ \\([0-9-]+\\)$")
    set(text "")
    foreach(version ${versions})
        string(REGEX MATCH "^## ([0-9.]+) \\(([0-9-]+)\\)$" version "${version}")
        set(number ${CMAKE_MATCH_1})
        set(release 1)
        if(number STREQUAL CPACK_PACKAGE_VERSION)
            set(release ${CPACK_DEBIAN_PACKAGE_RELEASE})
        endif()
        execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date -u -d ${CMAKE_MATCH_2} "+%a, %d %b %Y 00:00:00 +0000"
                        OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        string(APPEND text "tipple (${number}-${release}) unstable; urgency=medium\n\n"
               "  * Version ${number}; see changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${day}\n\n")
    endforeach()
    string(REGEX REPLACE "\n$" "" text "${text}")
    file(WRITE ${to} "${text}")
endfunction()

# The packages that the libraries of a file are in, as dpkg-shlibdeps tells them of a source package.
function(depends_of file to)
    set(folder ${CPACK_TEMPORARY_DIRECTORY}.shlibdeps)
    file(WRITE ${folder}/debian/control "Source: tipple\n\nPackage: tipple\nArchitecture: any\n")
    execute_process(COMMAND dpkg-shlibdeps -O ${file} WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE said
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
    string(REGEX REPLACE "^shlibs:Depends=" "" said "${said}")
    set(${to} ${said} PARENT_SCOPE)
endfunction()

set(share ${CPACK_TEMPORARY_DIRECTORY}/tipple/usr/share)
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions) # where Debian's zsh looks below /usr
file(COPY ${source}/examples DESTINATION ${CPACK_TEMPORARY_DIRECTORY}/libtipple-dev/usr/share/doc/libtipple-dev)

foreach(package ${CPACK_COMPONENTS_ALL})
    set(root ${CPACK_TEMPORARY_DIRECTORY}/${package})
    set(docs ${root}/usr/share/doc/${package})
    file(MAKE_DIRECTORY ${docs})
    file(COPY ${source}/package/copyright DESTINATION ${docs})
    list_changes(${docs}/changelog.Debian)
    configure_file(${source}/CHANGELOG.md ${docs}/changelog COPYONLY)
    file(GLOB pages ${root}/usr/share/man/man*/*)
    run(gzip -9n ${docs}/changelog.Debian ${docs}/changelog ${pages})

    set(strip strip --enable-deterministic-archives --remove-section=.comment --remove-section=.note)
    file(GLOB_RECURSE files ${root}/usr/bin/* ${root}/usr/lib/*)
    foreach(file ${files})
        if(IS_SYMLINK ${file})
        elseif(file MATCHES "/bin/")
            run(${strip} ${file})
        elseif(file MATCHES "[.]so[.]")
            run(${strip} --strip-unneeded ${file})
        elseif(file MATCHES "[.]a$")
            run(${strip} --strip-debug ${file})
        endif()
    endforeach()
    run(chmod -R u=rwX,go=rX ${root})
endforeach()
file(GLOB library ${CPACK_TEMPORARY_DIRECTORY}/libtipple0/usr/lib/*/libtipple.so.*.*)
depends_of(${library} CPACK_DEBIAN_LIBTIPPLE0_PACKAGE_DEPENDS)
