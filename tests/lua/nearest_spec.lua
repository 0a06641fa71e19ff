-- luabench.nearest: distances known from the literature, and the suggestions that people get.
require("core_stub").install()
local nearest = require "luabench.nearest"

-- The same distance by its recursive definition, to compare with.
local function brute(a, b)
  if a == "" then return #b end
  if b == "" then return #a end
  local best = math.min(brute(a:sub(2), b) + 1, brute(a, b:sub(2)) + 1, brute(a:sub(2), b:sub(2)) + (a:sub(1, 1) == b:sub(1, 1) and 0 or 1))
  if #a > 1 and #b > 1 and a:sub(1, 1) == b:sub(2, 2) and a:sub(2, 2) == b:sub(1, 1) then best = math.min(best, brute(a:sub(3), b:sub(3)) + 1) end
  return best
end

describe("nearest.distance", function()
  it("counts edits", function()
    for _, row in ipairs { { "kitten", "sitting", 3 }, { "", "abc", 3 }, { "abc", "", 3 }, { "same", "same", 0 }, { "ca", "abc", 3 }, { "teh", "the", 1 }, { "saturday", "sunday", 3 } } do
      assert.equal(row[3], nearest.distance(row[1], row[2]))
    end
  end)
  it("agrees with the recursive definition on all short words", function()
    local words = { "" }
    for length = 1, 3 do
      local last = {}
      for _, word in ipairs(words) do
        if #word == length - 1 then
          for _, letter in ipairs { "a", "b", "c" } do last[#last + 1] = word .. letter end
        end
      end
      for _, word in ipairs(last) do words[#words + 1] = word end
    end
    for _, a in ipairs(words) do
      for _, b in ipairs(words) do assert.equal(brute(a, b), nearest.distance(a, b)) end
    end
  end)
end)

describe("nearest.name", function()
  local known = { "users", "duration", "iterations", "iterations_per_user", "graceful_stop", "run" }
  it("finds what was meant", function()
    for _, row in ipairs { { "durration", "duration" }, { "user", "users" }, { "GracefulStop", "graceful_stop" }, { "iteratoins", "iterations" }, { "rnu", "run" },
                           { "iterationsPerUser", "iterations_per_user" } } do
      assert.equal(row[2], nearest.name(row[1], known))
    end
  end)
  it("stays silent when nothing is near", function()
    assert.is_nil(nearest.name("banana", known))
    assert.is_nil(nearest.name("x", { "y" }))
    assert.equal("", nearest.hint("banana", known))
  end)
  it("takes a set as well as a list, and the first by name of equals", function()
    assert.equal("cat", nearest.name("bat", { rat = true, cat = true }))
  end)
end)
