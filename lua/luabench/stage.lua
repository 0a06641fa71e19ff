-- Where this Lua state is in its life, for functions that only make sense in one part of it.
local stage = {
  loading = true,  -- the script defines things; false once users may run
  role = "control",
  debug = false,   -- --debug
  slot = "",       -- which of several runs of the command line this is, in a comparison
  folder = nil,    -- the script's folder; nil without a script
}

local errors = require "luabench.errors"

--- Ends a call that only a running user can make.
function stage.refuse(name)
  errors.script("%s is called while the script is loaded, when there are no users yet; call it in a function of a scenario. The smallest script:\n\n%s",
    name, errors.SMALLEST)
end

return stage
