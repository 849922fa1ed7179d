# cmake -DFOLDER=... -DPACK=... -DVERSION=... -DVENDOR=... -DLICENCE=... -DPLUGINS=ENTRY,... -DLIBRARIES=FILE,...
#       -P TunesmithManifest.cmake
# Writes FOLDER/PACK.pack.json for libraries that lie in FOLDER. ENTRY is KIND|ID|LIBRARY|REQUIRED+REQUIRED; LIBRARIES are those
# that come with the pack for the plugins to need.
# Takes write permission from group and others (rule P8), which a umask of 002 gives to what a build writes.
cmake_minimum_required(VERSION 3.25)

# The values may hold quotes and backslashes; string(JSON ... STRING) has no escaping, so it is done here.
function(json_string result text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

set(executable OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
string(REPLACE "," ";" PLUGINS "${PLUGINS}")
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")

set(json "{\"plugins\": []}")
foreach(word id version vendor licence)
  set(value_of_id "${PACK}")
  set(value_of_version "${VERSION}")
  set(value_of_vendor "${VENDOR}")
  set(value_of_licence "${LICENCE}")
  json_string(value "${value_of_${word}}")
  string(JSON json SET "${json}" ${word} "${value}")
endforeach()
string(JSON json SET "${json}" manifest_version 1)

set(index 0)
foreach(entry IN LISTS PLUGINS)
  string(REPLACE "|" ";" fields "${entry}")
  list(GET fields 0 kind)
  list(GET fields 1 id)
  list(GET fields 2 library)
  list(GET fields 3 requires)
  file(CHMOD ${FOLDER}/${library} PERMISSIONS ${executable})
  file(SHA256 ${FOLDER}/${library} sha256)
  set(plugin "{\"kind\": \"${kind}\", \"id\": \"${id}\", \"library\": \"${library}\", \"sha256\": \"${sha256}\"}")
  if(requires)
    string(REPLACE "+" "\", \"" requires "${requires}")
    string(JSON plugin SET "${plugin}" requires "[\"${requires}\"]")
  endif()
  string(JSON json SET "${json}" plugins ${index} "${plugin}")
  math(EXPR index "${index} + 1")
endforeach()

set(index 0)
foreach(library IN LISTS LIBRARIES)
  if(index EQUAL 0)
    string(JSON json SET "${json}" libraries "[]")
  endif()
  file(REAL_PATH ${FOLDER}/${library} file)
  file(CHMOD ${file} PERMISSIONS ${executable})
  file(SHA256 ${file} sha256)
  string(JSON json SET "${json}" libraries ${index} "{\"library\": \"${library}\", \"sha256\": \"${sha256}\"}")
  math(EXPR index "${index} + 1")
endforeach()

file(CHMOD ${FOLDER} PERMISSIONS ${executable})
file(WRITE ${FOLDER}/${PACK}.pack.json "${json}\n")
file(CHMOD ${FOLDER}/${PACK}.pack.json PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
