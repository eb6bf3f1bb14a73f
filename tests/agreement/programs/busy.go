// CPU-bound: recursion, sorting with a callback, maps, goroutines, panics; calls into C and back. For 300
// seconds, or as many as the argument says. The end is C's: Go's runs no destructors.
package main

/*
#include <stdlib.h>
extern int back(int);
static int forth(int n) { return back(n) + 1; }
*/
import "C"

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//export back
func back(n C.int) C.int { return C.int(fib(int(n))) }

func fails(n int) int {
	if n == 0 {
		panic("thrown")
	}
	return 1 + fails(n-1)
}

func recovers(n int) (result int) {
	defer func() {
		if recover() != nil {
			result = 1
		}
	}()
	return fails(n)
}

func main() {
	sum, seconds := 0, 300
	if len(os.Args) > 1 {
		seconds, _ = strconv.Atoi(os.Args[1])
	}
	results := make(chan int)
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		sum += fib(15) + int(C.forth(10))
		numbers := make([]int, 500)
		for i := range numbers {
			numbers[i] = i * 7919 % 1009
		}
		sort.Slice(numbers, func(a, b int) bool { return numbers[a] < numbers[b] })
		for i := 0; i < 5; i++ {
			sum += recovers(i)
		}
		go func() { results <- len(fmt.Sprint(numbers)) }()
		sum += <-results
	}
	fmt.Println(sum > 0)
	C.exit(0)
}
