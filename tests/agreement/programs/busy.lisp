;; CPU-bound: recursion, sorting with a predicate, closures, conditions that unwind.
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(defun fails (n) (if (zerop n) (error "thrown") (1+ (fails (- n 1)))))

(defun round-of-work ()
  (let ((numbers (loop for i below 500 collect (mod (* i 7919) 1009)))
        (sum (fib 15)))
    (dolist (n (sort numbers (lambda (a b) (< a b)))) (incf sum n))
    (dotimes (i 5)
      (handler-case (fails i) (error () (incf sum))))
    (incf sum (length (format nil "~{~a ~}" numbers)))
    (reduce #'+ (mapcar (lambda (x) (* x x)) numbers) :initial-value sum)))

(compile 'fib)
(compile 'fails)
(compile 'round-of-work)
(let ((end (+ (get-internal-real-time) (* 300 internal-time-units-per-second))))
  (loop while (< (get-internal-real-time) end) do (round-of-work)))
