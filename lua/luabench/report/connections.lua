-- The lines of the text report that concern connections: how many, what was agreed on them, and where they went.
local format = require "luabench.format"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local connections = {}

local escape, value = terminal.escape, summary.value

local MOST = 6 -- addresses and kinds of agreement

local function totals(scenarios)
  local sum = { opened = 0, reused = 0, closed_by_peer = 0, resumed = 0 }
  for _, entry in ipairs(scenarios) do
    local counts = entry.figures.connections
    for _, name in ipairs { "opened", "reused", "closed_by_peer" } do sum[name] = sum[name] + counts[name] end
    for _, kind in ipairs(counts.agreed or {}) do sum.resumed = sum.resumed + kind.resumed end
  end
  return sum
end

-- Adds up `count` of entries with the same `key`; a list in order of first use.
local function add_up(list, index, key, count)
  if not index[key] then
    index[key] = { key = key, count = 0 }
    list[#list + 1] = index[key]
  end
  index[key].count = index[key].count + count
end

local function cut(items)
  local more = #items - MOST
  for i = #items, MOST + 1, -1 do items[i] = nil end
  if more > 0 then items[#items + 1] = { ("and %d more"):format(more) } end
  return items
end

local function agreed_words(kind)
  local words = kind.http:find("^%d") and "HTTP/" .. kind.http or "other"
  if not value(kind.tls) then return words end
  return ("%s, %s %s"):format(words, kind.tls, value(kind.cipher) or "")
end

-- Plain HTTP/1.1 alone goes without saying.
local function agreed(page, scenarios)
  local list, index = {}, {}
  for _, entry in ipairs(scenarios) do
    for _, kind in ipairs(entry.figures.connections.agreed or {}) do add_up(list, index, escape(agreed_words(kind)), kind.opened) end
  end
  if #list == 0 or (#list == 1 and list[1].key == "HTTP/1.1") then return end
  local items = {}
  for i, kind in ipairs(list) do items[i] = { #list > 1 and ("%s × %s"):format(kind.key, format.count(kind.count)) or kind.key } end
  page:items("protocol", cut(items), "; ")
end

-- Where there is more than one address: how many connections each got, and how many attempts failed.
local function addresses(page, scenarios)
  local opened, failed, list, index = {}, {}, {}, {}
  for _, entry in ipairs(scenarios) do
    for address, counts in pairs(entry.figures.connections.by_address or {}) do
      add_up(list, index, address, counts.opened)
      failed[address] = (failed[address] or 0) + counts.failed
    end
  end
  if #list < 2 then return end
  table.sort(list, function(a, b) return a.key < b.key end)
  for i, each in ipairs(list) do
    local fails = failed[each.key]
    opened[i] = { ("%s × %s%s"):format(escape(each.key), format.count(each.count), fails > 0 and (" (%s failed)"):format(format.count(fails)) or ""),
      fails > 0 and "red" or nil }
  end
  page:items("addresses", cut(opened), ", ")
end

--- The lines of the page.
function connections.lines(page, scenarios)
  local sum = totals(scenarios)
  local items = { { format.count(sum.opened) .. " opened" }, { format.count(sum.reused) .. " requests on a reused one" } }
  if sum.closed_by_peer > 0 then items[#items + 1] = { format.count(sum.closed_by_peer) .. " closed by the server" } end
  if sum.resumed > 0 then items[#items + 1] = { format.count(sum.resumed) .. " resumed a TLS session" } end
  page:items("connections", items, ", ")
  agreed(page, scenarios)
  addresses(page, scenarios)
end

return connections
