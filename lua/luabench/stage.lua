-- Where this Lua state is in its life, for functions that only make sense in one part of it.
local stage = {
  loading = true,  -- the script defines things; false once users may run
  role = "control",
  debug = false,   -- --debug
  slot = "",       -- which of several runs of the command line this is, in a comparison
  random = false,  -- the script's text, or that of a module, speaks of something random
  folder = nil,    -- the script's folder; nil without a script
  script = nil,    -- its path
}

local errors = require "luabench.errors"

--- Ends a call that only a running user can make.
function stage.refuse(name)
  errors.script("%s is called while the script is loaded, when there are no users yet; call it in a function of a scenario. The smallest script:\n\n%s",
    name, errors.SMALLEST)
end

--- Ends a call that belongs to the top of a script: made by a user, in setup, in report, it would define something in one Lua state of many, and too late.
function stage.demand_loading(name)
  if stage.loading then return end
  errors.script("%s is called while the script runs; it defines something, and belongs to the top of the script, outside of run, on_start, setup, report and the like", name)
end

return stage
