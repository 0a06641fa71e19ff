-- luabench.units: what people write for times, rates, sizes and counts.
require("core_stub").install()
local units = require "luabench.units"

-- input, expected number; or input, nil, part of the message
local function check_table(read, rows)
  for _, row in ipairs(rows) do
    local value, why = read(row[1])
    if row[2] ~= nil then
      assert.message(tostring(row[1]) .. ": " .. tostring(why)).is_not_nil(value)
      assert.message(tostring(row[1])).near(row[2], value, math.abs(row[2]) * 1e-15)
    else
      assert.message(tostring(row[1])).is_nil(value)
      assert.truthy(why:find(row[3], 1, true), why)
    end
  end
end

describe("units.duration", function()
  it("reads numbers and every form of the contract", function()
    check_table(units.duration, {
      { 30, 30 }, { 0, 0 }, { 0.25, 0.25 }, { "30", 30 }, { " 1.5 ", 1.5 }, { "250ms", 0.25 }, { "30s", 30 }, { "5m", 300 }, { "1h", 3600 }, { "1m30s", 90 },
      { "1h1m1s", 3661 }, { "1.5s", 1.5 }, { "500us", 0.0005 }, { "1 m 30 s", 90 }, { "2d", 172800 }, { "1e3", 1000 }, { "0s", 0 },
    })
  end)
  it("says what is wrong", function()
    check_table(units.duration, {
      { "200x", nil, '200 what? "x" is no unit of time' }, { "", nil, "is not a duration" }, { "abc", nil, "write 250ms" }, { -1, nil, "must be 0 or more, not -1" },
      { "-5s", nil, "0 or more" }, { 0 / 0, nil, "not a usable number" }, { math.huge, nil, "not a usable number" }, { "1e400", nil, "not a usable number" },
      { "nan", nil, "is not a duration" }, { "inf", nil, "is not a duration" }, { "0x10", nil, "is not a duration" }, { 2e9, nil, "too large" }, { {}, nil, "a table is not a duration" },
      { "1m1m", nil, "is not a duration" }, { "1s1m", nil, "is not a duration" }, { "1 2", nil, "is not a duration" }, { "5%", nil, "is not a duration" }, { true, nil, "true is not a duration" },
    })
  end)
  it("knows durations that must be above 0", function()
    assert.is_nil((units.positive_duration(0)))
    assert.truthy(select(2, units.positive_duration("0s")):find("more than 0", 1, true))
    assert.equal(0.001, units.positive_duration("1ms"))
  end)
end)

describe("units.count", function()
  it("reads whole numbers, k and M", function()
    check_table(units.count, {
      { 1, 1 }, { "50", 50 }, { "10k", 10000 }, { "5M", 5e6 }, { "1.5k", 1500 }, { "2.3M", 2300000 }, { "1G", 1e9 }, { "1e6", 1000000 }, { 2 ^ 53, 2 ^ 53 },
    })
  end)
  it("says what is wrong", function()
    check_table(units.count, {
      { 0, nil, "must be 1 or more, not 0" }, { -5, nil, "1 or more" }, { 1.5, nil, "not a whole number" }, { "1.0005k", nil, "not a whole number" },
      { "10s", nil, "is not a count" }, { "", nil, "is not a count" }, { 1 / 0, nil, "not a usable number" }, { 0 / 0, nil, "not a usable number" },
      { 2 ^ 54, nil, "too large" }, { "nan", nil, "is not a count" }, { "5m", nil, "is not a count" },
    })
    assert.equal(0, units.count(0, 0))
  end)
end)

describe("units.rate", function()
  it("reads rates per second", function()
    check_table(units.rate, { { 100, 100 }, { "100/s", 100 }, { "600/m", 10 }, { "3600/h", 1 }, { "1k/s", 1000 }, { "0.5/s", 0.5 }, { " 90 / min ", 1.5 } })
  end)
  it("says what is wrong", function()
    check_table(units.rate, { { "100/x", nil, "is not a rate" }, { 0, nil, "more than 0" }, { "-1/s", nil, "0 or more" }, { "/s", nil, "is not a rate" }, { "fast", nil, "write 100/s" } })
  end)
end)

describe("units.size", function()
  it("reads bytes", function()
    check_table(units.size, { { 10, 10 }, { "64KiB", 65536 }, { "5MB", 5e6 }, { "1GiB", 2 ^ 30 }, { "1.5KiB", 1536 }, { "7", 7 }, { "12B", 12 }, { "64k", 64000 }, { "64M", 64e6 } })
  end)
  it("says what is wrong", function()
    check_table(units.size, { { "64x", nil, "is not a size" }, { -1, nil, "0 or more" }, { 1.5, nil, "whole number of bytes" }, { {}, nil, "is not a size" } })
  end)
end)

describe("units.digits", function()
  it("writes whole numbers whole and others so that they read back the same", function()
    assert.equal("1700000000000000", units.digits(1.7e15))
    assert.equal("4111111111111111", units.digits(4111111111111111))
    assert.equal("0", units.digits(0))
    assert.equal("-3", units.digits(-3))
    assert.equal("0.1", units.digits(0.1))
    for _, number in ipairs { 1 / 3, 2 / 3, 1e-7, 123456.789, 2 ^ 0.5 } do assert.equal(number, tonumber(units.digits(number))) end
    assert.is_nil(units.digits(0 / 0))
    assert.is_nil(units.digits(1 / 0))
  end)
end)

describe("units.show_duration and show_count", function()
  it("write for people", function()
    for _, row in ipairs { { 0, "0 s" }, { 0.25, "250 ms" }, { 30, "30 s" }, { 90, "1 min 30 s" }, { 3600, "1 h" }, { 90061, "1 d 1 h 1 min 1 s" }, { 1.5, "1.5 s" } } do
      assert.equal(row[2], units.show_duration(row[1]))
    end
    assert.equal("1,000,000", units.show_count(1e6))
    assert.equal("999", units.show_count(999))
  end)
end)
