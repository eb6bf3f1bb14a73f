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

enum Failure: Error { case expected }

@inline(never) func fails(_ calls: String) async throws -> Int {
    let n = await readBlock(calls + " fails")
    if n > 0 { throw Failure.expected }
    return n
}

@inline(never) func catches(_ calls: String) async -> Int {
    do { return try await fails(calls + " catches") } catch { return await readBlock(calls + " catches") }
}

protocol Source { func fetch(_ calls: String) async -> Int }

struct Disk: Source {
    @inline(never) func fetch(_ calls: String) async -> Int { return await loadTable(calls + " fetch") }
}

@inline(never) func generic<S: Source>(_ source: S, _ calls: String) async -> Int {
    return await source.fetch(calls + " generic") + 1
}

@inline(never) func erased(_ source: any Source, _ calls: String) async -> Int {
    return await source.fetch(calls + " erased") + 1
}

@inline(never) func applies(_ calls: String, _ how: (String) async -> Int) async -> Int {
    return await how(calls + " applies") + 1
}

@inline(never) func recurses(_ depth: Int, _ calls: String) async -> Int {
    if depth == 0 { return await readBlock(calls) }
    return await recurses(depth - 1, calls) + 1
}

enum Local { @TaskLocal static var value = 0 }

@inline(never) func binds(_ calls: String) async -> Int {
    return await Local.$value.withValue(7) { await readBlock(calls + " binds") + Local.value }
}

@inline(never) func cancels(_ calls: String) async -> Int {
    return await withTaskCancellationHandler { await readBlock(calls + " cancels") } onCancel: {}
}

@MainActor @inline(never) func hops(_ calls: String) async -> Int {
    let before = await readBlock(calls + " hops")
    leaf(calls + " hops")
    return before
}

@inline(never) func maps(_ calls: String) async -> Int {
    let stream = AsyncStream<Int> { c in c.yield(1); c.finish() }.map { n in await readBlock(calls + " maps") + n }
    var sum = 0
    for await n in stream { sum += n }
    return sum
}

@inline(never) func lets() async -> Int {
    async let one = readBlock("lets")
    async let two = lets2()
    return await one + two
}

@inline(never) func lets2() async -> Int {
    async let three = loadTable("lets2")
    return await three + 1
}

@inline(never) func more() async -> Int {
    var sum = await catches("main more")
    sum += await generic(Disk(), "main more")
    sum += await erased(Disk(), "main more")
    sum += await applies("main more", readBlock)
    sum += await recurses(100, "main more recurses")
    sum += await binds("main more")
    sum += await cancels("main more")
    sum += await hops("main more")
    sum += await maps("main more")
    sum += await lets()
    sum += await Task.detached { await serve("more") }.value
    await withDiscardingTaskGroup { group in group.addTask { _ = await serve("more") } }
    sum += (try? await withThrowingTaskGroup(of: Int.self) { group -> Int in
        group.addTask { try await fails("more") }
        return try await group.next() ?? 0
    }) ?? 0
    return sum
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
        sum += await more()
        sum += await suspended("waits", waits)
        sum += await suspended("yields", yields)
        sum += await suspended("awaitsTask", awaitsTask)
        sum += await suspended("awaitsGroup", awaitsGroup)
        sum += await suspended("awaitsLet", awaitsLet)
        print("done", sum)
    }
}
