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

// A suspended task of each kind. All are the main actor's: while one function of it runs, its other tasks do not.
@_silgen_name("show_suspended") func showSuspended(_ task: UnsafeRawPointer, _ calls: UnsafePointer<CChar>)

@MainActor final class Gate {
    var waiting: UnsafeContinuation<Void, Never>?
    var reached = false

    // Lets the main actor's other tasks run until one has suspended, shows that one, and resumes it.
    func show(_ task: Task<Int, Never>, _ calls: String, _ waits: Bool) async -> Int {
        while !reached { await Task.yield() }
        showSuspended(unsafeBitCast(task, to: UnsafeRawPointer.self), calls)
        if let waiting {
            // A continuation is a pointer to its task, too.
            if waits { showSuspended(unsafeBitCast(waiting, to: UnsafeRawPointer.self), calls) }
            waiting.resume()
        }
        return await task.value
    }
}

@MainActor @inline(never) func waits(_ gate: Gate) async -> Int {
    await withUnsafeContinuation { c in gate.waiting = c; gate.reached = true }
    return 1
}

@MainActor @inline(never) func yields(_ gate: Gate) async -> Int {
    gate.reached = true
    await Task.yield()
    return 1
}

@MainActor @inline(never) func awaitsTask(_ gate: Gate) async -> Int {
    return await Task { @MainActor in await waits(gate) }.value + 1
}

@MainActor @inline(never) func awaitsGroup(_ gate: Gate) async -> Int {
    return await withTaskGroup(of: Int.self) { group -> Int in
        group.addTask { await waits(gate) }
        var all = 0
        for await n in group { all += n }
        return all
    }
}

@MainActor @inline(never) func awaitsLet(_ gate: Gate) async -> Int {
    async let one = waits(gate)
    return await one + 1
}

@MainActor @inline(never) func loads(_ how: @MainActor @escaping (Gate) async -> Int, _ gate: Gate) async -> Int {
    return await how(gate) + 1
}

@MainActor func suspended(_ name: String, _ how: @MainActor @escaping (Gate) async -> Int) async -> Int {
    let gate = Gate()
    let task = Task { @MainActor in await loads(how, gate) }
    return await gate.show(task, "suspended loads " + name, name == "waits")
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
        sum += await suspended("waits", waits)
        sum += await suspended("yields", yields)
        sum += await suspended("awaitsTask", awaitsTask)
        sum += await suspended("awaitsGroup", awaitsGroup)
        sum += await suspended("awaitsLet", awaitsLet)
        print("done", sum)
    }
}
