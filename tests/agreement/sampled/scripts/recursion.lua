-- Deep recursion: in Lua alone, which costs no C stack, and through C by metamethods, tostring and
-- gsub callbacks, which costs six or so C frames a level.
local seconds = tonumber((...)) or 1
local start = os.clock()

local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end

local function depth_first(tree)
    if not tree then return 0 end
    return 1 + depth_first(tree.left) + depth_first(tree.right)
end

local function grow(depth)
    if depth == 0 then return nil end
    return { left = grow(depth - 1), right = grow(depth - 1) }
end

local function deep(n)
    if n == 0 then return 0 end
    return 1 + deep(n - 1)
end

-- Every level is a metamethod that asks the next object: luaV_finishget calls back into the VM.
local function chain(levels)
    local object = setmetatable({}, { __index = function(_, key) return fib(key) end })
    for _ = 1, levels do
        local inner = object
        object = setmetatable({}, { __index = function(_, key) return inner[key] + 1 end })
    end
    return object
end

local function nested_gsub(levels)
    return (string.gsub("x", "x", function()
        if levels == 0 then return tostring(fib(9)) end
        return nested_gsub(levels - 1) .. "."
    end))
end

local function nested_tostring(levels)
    return setmetatable({}, { __tostring = function()
        if levels == 0 then return "leaf" end
        return "(" .. tostring(nested_tostring(levels - 1)) .. ")"
    end })
end

local tree = grow(10)
repeat
    assert(fib(15) == 610)
    assert(depth_first(tree) == 1023)
    assert(deep(5000) == 5000)
    assert(chain(25)[12] == 144 + 25)
    assert(nested_gsub(30) == "34" .. string.rep(".", 30))
    assert(tostring(nested_tostring(20)) == string.rep("(", 20) .. "leaf" .. string.rep(")", 20))
until os.clock() - start >= seconds
