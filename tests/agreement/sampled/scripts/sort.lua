-- table.sort with a Lua comparator, one that sorts in turn, and libc's qsort where the program has
-- it: then libc lies in the middle of the stack.
local seconds = tonumber((...)) or 1
local start = os.clock()

local seed = 42
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
end

local function numbers(n)
    local list = {}
    for i = 1, n do list[i] = random(100000) end
    return list
end

local function check(list, less)
    for i = 2, #list do assert(not less(list[i], list[i - 1])) end
end

local function descending(a, b) return a > b end

local function length(word) return #word end

-- Words by their sorted letters: every comparison sorts twice.
local function letters(word)
    local list = {}
    for c in word:gmatch(".") do list[#list + 1] = c end
    table.sort(list, function(a, b) return a < b end)
    return table.concat(list)
end

local function by_letters(a, b)
    local x, y = letters(a), letters(b)
    if x ~= y then return x < y end
    return a < b
end

local words = {}
for word in ([[the quick brown fox jumps over the lazy dog while seven wizards quietly
        conjure amber lights from paper boxes and tired sailors watch listen silent]]):gmatch("%a+") do
    words[#words + 1] = word
end

repeat
    local list = numbers(400)
    table.sort(list, descending)
    check(list, descending)

    local copy = table.move(words, 1, #words, 1, {})
    table.sort(copy, by_letters)
    check(copy, by_letters)
    assert(length(table.concat(copy)) == length(table.concat(words)))

    if host then
        list = host.qsort(numbers(300), descending)
        check(list, descending)
        copy = host.qsort(words, by_letters)
        check(copy, by_letters)
    end
until os.clock() - start >= seconds
