# CPU-bound, for Tcl and Jim Tcl: recursion, sorting with a command, errors, text, expressions.
proc fib n {if {$n < 2} {return $n}; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}}
proc fails n {if {$n == 0} {error thrown}; fails [expr {$n - 1}]}
proc less {a b} {expr {$a - $b}}
for {set i 0} {$i < 10000000} {incr i} {
    fib 12
    set numbers {}
    for {set k 0} {$k < 200} {incr k} {lappend numbers [expr {$k * 7919 % 1009}]}
    set sorted [lsort -command less $numbers]
    catch {fails 5}
    string length [join $sorted " "]
    regexp {([0-9]+) 9} $sorted all one
}
