// What Swift itself reads: backtraces with the decoder of its module Runtime, crash logs as JSON.
//
//     reader decode            lines of stdin, hexadecimal: CBF, or CBF, a blank and an image map. Prints the frames as
//                              `sfb decode` does, then the images, then an empty line.
//     reader frames FILE       of the thread that crashed: kind, address, symbol
//     reader images FILE       path, build-id, start and end
//     reader fields FILE       each field's place in the tree, and its type
import Foundation
import Runtime

func base64(_ hex: Substring) -> String {
    var bytes = Data()
    var rest = hex
    while !rest.isEmpty {
        bytes.append(UInt8(rest.prefix(2), radix: 16)!)
        rest = rest.dropFirst(2)
    }
    return bytes.base64EncodedString()
}

func decoded(_ line: String) throws -> Backtrace {
    let fields = line.split(separator: " ").map(base64)
    var json = "{ \"architecture\": \"x86_64\", \"backtrace\": \"\(fields[0])\""
    if fields.count > 1 { json += ", \"imageMap\": \"\(fields[1])\"" }
    return try JSONDecoder().decode(Backtrace.self, from: Data((json + " }").utf8))
}

// Without leading zeros.
func short(_ address: Backtrace.Address) -> String {
    return "0x" + String(UInt64(String(describing: address).dropFirst(2), radix: 16)!, radix: 16)
}

func decode() {
    while let line = readLine() {
        do {
            let backtrace = try decoded(line)
            for frame in backtrace.frames {
                switch frame {
                case .programCounter(let address): print("pc", short(address))
                case .returnAddress(let address): print("ra", short(address))
                case .asyncResumePoint(let address): print("async", short(address))
                case .omittedFrames(let count): print("omit", count)
                case .truncated: print("truncated")
                @unknown default: print("unknown")
                }
            }
            if let images = backtrace.images {
                for image in images { print("image", image.path ?? "-", short(image.baseAddress)) }
            }
        } catch { print("refused:", error) }
        print("")
    }
}

// Other lines may stand around the log.
func log(_ file: String) -> [String: Any] {
    let text = try! String(contentsOfFile: file, encoding: .utf8)
    let start = text.range(of: "{")!.lowerBound, end = text.range(of: "}", options: .backwards)!.upperBound
    return try! JSONSerialization.jsonObject(with: Data(text[start..<end].utf8)) as! [String: Any]
}

func frames(_ file: String) {
    for thread in log(file)["threads"] as! [[String: Any]] where thread["crashed"] as? Bool == true {
        for frame in thread["frames"] as! [[String: Any]] where frame["inlined"] == nil {
            let address = frame["address"] as? String ?? "-"
            print(frame["kind"]!, address, frame["symbol"] as? String ?? "<unknown>")
        }
    }
}

func images(_ file: String) {
    for image in log(file)["images"] as! [[String: Any]] {
        print(image["path"]!, image["buildId"]!, image["baseAddress"]!, image["endOfText"]!)
    }
}

func fields(_ value: Any, _ place: String, _ found: inout Set<String>) {
    switch value {
    case let object as [String: Any]:
        for (key, value) in object { fields(value, place + "." + key, &found) }
    case let list as [Any]:
        for value in list { fields(value, place + "[]", &found) }
    case let number as NSNumber:
        found.insert(place + ": " + (String(cString: number.objCType) == "c" ? "boolean" : "number"))
    default: found.insert(place + ": text")
    }
}

switch CommandLine.arguments.dropFirst().first {
case "decode": decode()
case "frames": frames(CommandLine.arguments[2])
case "images": images(CommandLine.arguments[2])
case "fields":
    var found = Set<String>()
    fields(log(CommandLine.arguments[2]), "", &found)
    for field in found.sorted() { print(field) }
default: fatalError("usage: reader decode|frames|images|fields [FILE]")
}
