// Async functions of each kind. Where show() is called it gets the names of those that await, outermost first.
@_silgen_name("show_stack") func showStack(_ calls: UnsafePointer<CChar>)

@inline(never) func leaf(_ calls: String) { showStack(calls) }

@inline(never) func readBlock(_ calls: String) async -> Int {
    await Task.yield()
    leaf(calls + " readBlock")
    return 1
}

@inline(never) func loadTable(_ calls: String) async -> Int {
    return await readBlock(calls + " loadTable") + 1
}

@inline(never) func serve(_ calls: String) async -> Int {
    return await loadTable(calls + " serve") + 1
}

@inline(never) func continues(_ calls: String) async -> Int {
    return await withCheckedContinuation { (c: CheckedContinuation<Int, Never>) in
        leaf(calls + " continues")
        c.resume(returning: 3)
    }
}

@inline(never) func streams(_ calls: String) async -> Int {
    let stream = AsyncStream<Int> { c in c.yield(1); c.finish() }
    var sum = 0
    for await n in stream { sum += await readBlock(calls + " streams") + n }
    return sum
}

actor Store {
    var count = 0

    @inline(never) func enter(_ calls: String) async -> Int {
        count += await loadTable(calls + " enter")
        return count
    }
}

@main struct Main {
    static func main() async {
        var sum = await serve("main")
        async let one = serve("main")
        sum += await one
        sum += await withTaskGroup(of: Int.self) { group -> Int in
            group.addTask { await serve("main") }
            var all = 0
            for await n in group { all += n }
            return all
        }
        sum += await continues("main")
        sum += await streams("main")
        sum += await Store().enter("main")
        sum += await Task { await serve("main") }.value
        print("done", sum)
    }
}
