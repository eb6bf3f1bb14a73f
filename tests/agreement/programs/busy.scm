;; CPU-bound, for guile and Chez Scheme: recursion, sorting with a predicate, conditions, call/cc.
(import (rnrs))

(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (fails n) (if (zero? n) (raise 'thrown) (+ 1 (fails (- n 1)))))

(define (numbers n) (if (zero? n) '() (cons (mod (* n 7919) 1009) (numbers (- n 1)))))

(define (work)
  (let ((sorted (list-sort (lambda (a b) (< a b)) (numbers 500))))
    (+ (fib 15)
       (guard (e (#t 1)) (fails 5))
       (call/cc (lambda (k) (for-each (lambda (x) (when (> x 900) (k x))) sorted) 0))
       (string-length (apply string-append (map number->string sorted))))))

;; Longer than anybody waits: whoever runs it ends it.
(let loop ((i 0) (sum 0))
  (if (< i 10000000) (loop (+ i 1) (mod (+ sum (work)) 1000003)) sum))
