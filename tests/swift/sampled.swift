// Async functions that call each other all the time, for samples by a signal.
@_silgen_name("sample_depth") func sampleDepth(_ change: Int32)

@inline(never) func fib(_ n: Int) async -> Int {
    sampleDepth(1)
    if n < 2 {
        sampleDepth(-1)
        return n
    }
    let sum = await fib(n - 1) + fib(n - 2)
    sampleDepth(-1)
    return sum
}

@inline(never) func outer(_ n: Int) async -> Int {
    return await fib(n) + 1
}

@main struct Main {
    static func main() async {
        var sum = 0
        for _ in 0..<1000 { sum += await outer(20) }
        print("done", sum)
    }
}
