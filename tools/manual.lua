-- Makes docs/reference.md and lua/library/luabench.lua from lua/luabench/manual/*.lua:  luajit tools/manual.lua   (from the project's folder)
package.path = "lua/?.lua;" .. package.path

local manual = require "luabench.manual"

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  file:close()
end

write("docs/reference.md", manual.reference())
write("lua/library/luabench.lua", manual.library())
