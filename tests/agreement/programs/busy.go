// CPU-bound: recursion, sorting with a callback, maps, goroutines, panics; calls into C and back.
package main

/*
extern int back(int);
static int forth(int n) { return back(n) + 1; }
*/
import "C"

import (
	"fmt"
	"sort"
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
	sum := 0
	results := make(chan int)
	for end := time.Now().Add(300 * time.Second); time.Now().Before(end); {
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
}
