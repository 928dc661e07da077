# Packages for Debian: `cpack -G DEB`, or tools/package deb, which takes Debian's own flags and looks at what comes out.
# tipple has the command, and needs none of the others; libtipple0 the shared library; libtipple-dev what programs are
# built with. package/finish.cmake makes of what is installed what Debian wants to see of it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "tipple maintainers <maintainers@example.org>" CACHE STRING "who answers for the packages")
set(CPACK_PACKAGE_VENDOR tipple)
set(CPACK_COMPONENTS_ALL tipple libtipple0 libtipple-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/package/finish.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1 CACHE STRING "the packages' own part of their version")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(TIPPLE_SAYS
    "tipple loads CSV, JSON, BSON, dumps of mongodump and fixed-width records,
compressed or not, from one server to hundreds of shards. It accounts for
every record, goes on where it was stopped, proves that everything is there,
and times queries on what it loaded.")

set(CPACK_DEBIAN_TIPPLE_PACKAGE_NAME tipple)
set(CPACK_DEBIAN_TIPPLE_PACKAGE_SECTION database)
set(CPACK_DEBIAN_TIPPLE_PACKAGE_SUGGESTS libcurl4)
set(CPACK_COMPONENT_TIPPLE_DESCRIPTION "bulk loader for MongoDB\n${TIPPLE_SAYS}")

set(CPACK_DEBIAN_LIBTIPPLE0_PACKAGE_NAME libtipple${TIPPLE_SOVERSION})
set(CPACK_DEBIAN_LIBTIPPLE0_PACKAGE_SECTION libs)
# By CPack's own shlibdeps the package would have scripts that call ldconfig, which Debian does by a trigger today:
# package/finish.cmake asks what the library depends on.
set(CPACK_DEBIAN_LIBTIPPLE0_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBTIPPLE0_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/package/symbols ${PROJECT_SOURCE_DIR}/package/shlibs
    ${PROJECT_SOURCE_DIR}/package/triggers)
set(CPACK_COMPONENT_LIBTIPPLE0_DESCRIPTION "bulk loader for MongoDB - shared library\n${TIPPLE_SAYS}
.
This is the library by which programs load what they make themselves.")

set(CPACK_DEBIAN_LIBTIPPLE-DEV_PACKAGE_NAME libtipple-dev)
set(CPACK_DEBIAN_LIBTIPPLE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBTIPPLE-DEV_PACKAGE_SHLIBDEPS OFF)
string(CONCAT CPACK_DEBIAN_LIBTIPPLE-DEV_PACKAGE_DEPENDS
       "libtipple${TIPPLE_SOVERSION} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libmongoc-dev, "
       "libyaml-dev, zlib1g-dev, libzstd-dev, liblzma-dev, libbz2-dev, libisal-dev, libxxhash-dev, libssl-dev, "
       "g++ | libstdc++-dev")
set(CPACK_COMPONENT_LIBTIPPLE-DEV_DESCRIPTION "bulk loader for MongoDB - development files\n${TIPPLE_SAYS}
.
These are the header, the static library and the examples for programs that
load what they make themselves.")
include(CPack)
