# Everything that is not ours. Each becomes one target; each is used in one place of src/ (docs/architecture.md lists them).
find_package(PkgConfig REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(luajit REQUIRED IMPORTED_TARGET luajit)
pkg_check_modules(nghttp2 REQUIRED IMPORTED_TARGET libnghttp2)
pkg_check_modules(brotli REQUIRED IMPORTED_TARGET libbrotlidec)
pkg_check_modules(libxml2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)

find_path(LIBEV_INCLUDE_DIR ev.h REQUIRED)
find_library(LIBEV_LIBRARY ev REQUIRED)
add_library(libev INTERFACE)
target_include_directories(libev SYSTEM INTERFACE ${LIBEV_INCLUDE_DIR})
target_link_libraries(libev INTERFACE ${LIBEV_LIBRARY})
target_compile_definitions(libev INTERFACE EV_COMPAT3=0)

# llhttp: a system library where there is one; Debian 12 ships its C sources in node-llhttp.
find_library(LLHTTP_LIBRARY llhttp)
find_path(LLHTTP_INCLUDE_DIR llhttp.h PATH_SUFFIXES llhttp PATHS /usr/share/include REQUIRED)
if(LLHTTP_LIBRARY)
  add_library(llhttp INTERFACE)
  target_link_libraries(llhttp INTERFACE ${LLHTTP_LIBRARY})
  target_include_directories(llhttp SYSTEM INTERFACE ${LLHTTP_INCLUDE_DIR})
else()
  find_path(LLHTTP_SOURCE_DIR llhttp.c PATHS /usr/share/llhttp REQUIRED)
  add_library(llhttp STATIC ${LLHTTP_SOURCE_DIR}/llhttp.c ${LLHTTP_SOURCE_DIR}/http.c ${LLHTTP_SOURCE_DIR}/api.c)
  target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE_DIR})
  target_compile_options(llhttp PRIVATE -w)
  target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1) # as llhttp 9: no blanks in field names, no CR without LF
endif()

# The command-line parser is a Lua library, embedded beside our own Lua files.
find_file(ARGPARSE_LUA argparse.lua PATHS /usr/share/lua/5.1 /usr/local/share/lua/5.1 REQUIRED)
