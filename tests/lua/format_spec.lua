-- Figures in words.
package.path = "lua/?.lua;" .. package.path
local format = require "luabench.format"

local function table_of(name, cases)
  for _, case in ipairs(cases) do
    it(("%s(%s) is %q"):format(name, tostring(case[1]), case[2]), function() assert.equal(case[2], format[name](unpack(case, 1, 1))) end)
  end
end

describe("format", function()
  table_of("count", { { 0, "0" }, { 999, "999" }, { 1000, "1,000" }, { 1204512, "1,204,512" }, { 2 ^ 53, "9,007,199,254,740,992" }, { -1234, "-1,234" },
    { 0 / 0, "n/a" }, { 1 / 0, "infinite" } })
  table_of("significant", { { 0, "0" }, { 0.0004821, "0.000482" }, { 4.821, "4.82" }, { 48.21, "48.2" }, { 482.1, "482" }, { 9.996, "10.0" }, { 99.96, "100" },
    { 999.6, "1,000" }, { 48211.3, "48,211" } })
  table_of("duration", { { 0, "0 s" }, { 5e-9, "5 ns" }, { 8.12e-7, "812 ns" }, { 9.996e-7, "1.00 µs" }, { 4.01e-4, "401 µs" }, { 9.994e-4, "999 µs" },
    { 9.996e-4, "1.00 ms" }, { 0.00121, "1.21 ms" }, { 0.121, "121 ms" }, { 0.9996, "1.00 s" }, { 83.24, "83.2 s" }, { 3600, "3,600 s" } })
  table_of("compact", { { 4.01e-4, "401µs" }, { 129600, "129600s" } })
  table_of("span", { { 0, "0 s" }, { 0.25, "250 ms" }, { 0.0015, "1.5 ms" }, { 1.5, "1.5 s" }, { 10, "10 s" }, { 60, "1 min" }, { 90, "1 min 30 s" },
    { 3600, "1 h" }, { 7325, "2 h 2 min 5 s" } })
  table_of("bytes", { { 0, "0 B" }, { 512, "512 B" }, { 1000, "1.00 kB" }, { 98.4e6, "98.4 MB" }, { 999600, "1.00 MB" }, { 5e15, "5.00 PB" } })
  table_of("share", { { 0, "0%" }, { 1, "100%" }, { 0.5, "50.0%" }, { 0.0004, "0.04%" }, { 0.00001, "<0.01%" }, { 0.99999, ">99.9%" }, { 0.123, "12.3%" },
    { 0 / 0, "n/a" } })
  table_of("percentile", { { 0.5, "p50" }, { 0.95, "p95" }, { 0.999, "p99.9" }, { 0.99999, "p99.999" } })
  table_of("narrow", { { 5, "5" }, { 123456789, "123,456,789" }, { 1.5e9, "1.50G" }, { 2 ^ 53, "9.01P" } })
  table_of("timestamp", { { 0, "1970-01-01T00:00:00.000Z" }, { 1700000000.5, "2023-11-14T22:13:20.500Z" }, { 1.99996, "1970-01-01T00:00:01.999Z" } })
  table_of("list", { { {}, "" }, { { "a" }, "a" }, { { "a", "b", "c" }, "a, b and c" } })

  it("says n/a for what does not exist", function()
    for _, name in ipairs { "count", "significant", "rate", "share", "duration", "compact", "span", "bytes", "narrow" } do
      assert.equal("n/a", format[name](nil))
    end
  end)

  it("counts with a noun", function()
    assert.equal("1 user", format.counted(1, "user"))
    assert.equal("0 users", format.counted(0, "user"))
    assert.equal("2 entries", format.counted(2, "entry", "entries"))
  end)
end)
