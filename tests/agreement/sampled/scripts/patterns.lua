-- String patterns: the matcher recurses in C, and gsub calls back into Lua from within it.
local seconds = tonumber((...)) or 1
local start = os.clock()

local text = string.rep("The year 1984 (and 2001) had 365 days; x = {a = {b = {c = 1}}}. ", 20)

local function escape(s)
    return (s:gsub("[<>&()]", { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;" }))
end

-- A little template language: expressions in ${} may hold templates in turn.
local function expand(template, values)
    return (template:gsub("%${(%w+)}", function(name)
        local value = values[name]
        return value and expand(value, values) or name
    end))
end

local values = { v0 = "deep" }
for i = 1, 25 do values["v" .. i] = "<${v" .. i - 1 .. "}>" end

local function balanced(s)
    local count = 0
    for group in s:gmatch("%b{}") do
        count = count + 1 + balanced(group:sub(2, -2))
    end
    return count
end

-- Backtracks a lot: every * tries all lengths.
local function backtrack(n)
    local subject = string.rep("a", n)
    return subject:find("^a*a*a-b") == nil and subject:match("^(a-)(a*)$") == ""
end

repeat
    local words = 0
    for _ in text:gmatch("%a+") do words = words + 1 end
    assert(words == 20 * 9)
    local doubled = text:gsub("%d+", function(d) return tostring(tonumber(d) * 2) end)
    assert(select(2, doubled:gsub("3968", "")) == 20)
    assert(#escape(text) == #text)
    assert(expand("${v25}", values) == string.rep("<", 25) .. "deep" .. string.rep(">", 25))
    assert(balanced(text) == 20 * 3)
    assert(backtrack(40))
    assert(string.format("%5.2f|%-6s|%q", 3.14159, "ab", "q\n") == ' 3.14|ab    |"q\\\n"')
until os.clock() - start >= seconds
