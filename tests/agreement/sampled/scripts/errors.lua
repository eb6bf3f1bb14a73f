-- Errors: they leave C frames by longjmp, from any depth, and pcall and xpcall catch them.
local seconds = tonumber((...)) or 1
local start = os.clock()

local function throw(levels)
    if levels == 0 then error({ code = 7 }) end
    return throw(levels - 1) + 1
end

-- Each level adds a pcall, that is a setjmp and half a dozen C frames.
local function nested(levels)
    if levels == 0 then return throw(10) end
    local ok, err = pcall(nested, levels - 1)
    assert(not ok)
    err.code = err.code + 1
    error(err)
end

local function traceback(levels)
    local ok, text = xpcall(function() return nil + levels end, debug.traceback)
    assert(not ok and text:find("arithmetic", 1, true) and text:find("stack traceback", 1, true))
    return text
end

-- The limit on C calls, LUAI_MAXCCALLS: nearly a thousand C frames.
local function overflow()
    local function forever() return (string.gsub("x", "x", forever)) end
    local ok, err = pcall(forever)
    assert(not ok and tostring(err):find("stack overflow", 1, true))
end

local function closing()
    local log = {}
    local ok = pcall(function()
        local a <close> = setmetatable({}, { __close = function() log[#log + 1] = "a" end })
        local b <close> = setmetatable({}, { __close = function() log[#log + 1] = "b" end })
        error("out")
    end)
    assert(not ok and table.concat(log) == "ba")
end

local round = 0
repeat
    local ok, err = pcall(nested, 25)
    assert(not ok and err.code == 32)
    traceback(round)
    for _ = 1, 20 do closing() end
    assert(not load("return return"))
    round = round + 1
    if round % 20 == 0 then overflow() end
until os.clock() - start >= seconds
