; SPDX-License-Identifier: MIT
; rw_ticket_lock: exclusion, any number of CPUs, with the carries of u8 and u16.
; A count of sections is readers x 2^bits + writers, modulo 2^(2 bits). Without
; the wrap: request is (asked_r, asked_w), completion (over_r, over_w). A
; context: pc (0 outside, 1 waits, 2 in, 3 in and a writer's unlock has read
; completion), its kind, what it found in request (its `before`), how many
; readers and writers that arrived before it are not yet over (ahead_r,
; ahead_w). readers, writers: contexts in or waiting; trying: in try_lock or the
; like. These are counts of contexts: who is one of them is counted.
;
; Operations of rw_ticket_lock.hpp:
;   try_lock: load_relaxed x 2, compare_exchange_acq_rel
;   unlock: load_relaxed, store_release
;   downgrade: load_relaxed, store_release
;   try_lock_shared: load_relaxed x 2, compare_exchange_acq_rel
;   unlock_shared: fetch_add_release
;   arrive: fetch_add_acq_rel
;   arrive_shared: fetch_add_acq_rel
;   await_turn: await_eq_acquire
;   await_writers: await_acquire
(declare-const wide Bool) ; u16
(define-fun times ((n Int)) Int (ite wide (* 65536 n) (* 256 n)))
(define-fun bound () Int (times 1)) ; 2^bits
(define-fun sections ((r Int) (w Int)) Int (+ (times r) w))
(define-fun same ((a Int) (b Int)) Bool
  (= (ite wide (mod (- a b) 4294967296) (mod (- a b) 65536)) 0))
(define-fun same_lower ((a Int) (b Int)) Bool
  (= (ite wide (mod (- a b) 65536) (mod (- a b) 256)) 0))
(declare-datatypes
  ()
  ((context
     (make
       (pc Int)
       (writes Bool)
       (before_r Int)
       (before_w Int)
       (ahead_r Int)
       (ahead_w Int)))))
(declare-datatypes
  ()
  ((state
     (counts
       (asked_r Int)
       (asked_w Int)
       (over_r Int)
       (over_w Int)
       (readers Int)
       (writers Int)))))
(declare-const s state)
(declare-const trying Int)
(declare-const p context)
(declare-const i context)
(declare-const range Bool)
(declare-const order Bool)
(declare-const capacity Bool)
(declare-const broken Bool)
(define-fun active ((c context)) Bool (<= 1 (pc c) 3))
(define-fun in ((c context)) Bool (<= 2 (pc c) 3))
(define-fun reads_in ((c context)) Bool (and (in c) (not (writes c))))
(define-fun writes_in ((c context)) Bool (and (in c) (writes c)))
(define-fun all ((s state)) Bool
  (and
    (= (- (asked_r s) (over_r s)) (readers s))
    (<= 0 (readers s))
    (= (- (asked_w s) (over_w s)) (writers s))
    (<= 0 (writers s))))
(define-fun one ((c context) (s state)) Bool
  (and
    (<= 0 (pc c) 3)
    (=> (= (pc c) 3) (writes c))
    (=> (active c) (and
      (<= (before_r c) (asked_r s))
      (<= (before_w c) (asked_w s))
      (< (+ (before_r c) (before_w c)) (+ (asked_r s) (asked_w s)))
      (<= 0 (ahead_r c))
      (<= 0 (ahead_w c))
      (= (ahead_w c) (- (before_w c) (over_w s)))
      (=> (writes c) (= (ahead_r c) (- (before_r c) (over_r s))))))
    (=> (in c) (= (ahead_w c) 0))
    (=> (writes_in c) (= (ahead_r c) 0))))
(define-fun is_before ((a context) (b context)) Bool
  (< (+ (before_r a) (before_w a)) (+ (before_r b) (before_w b))))
(define-fun counted ((a context) (b context)) Bool
  (=> (and (active a) (active b) (is_before a b)) (ite
    (writes a)
    (<= 1 (ahead_w b))
    (<= 1 (ahead_r b)))))
(define-fun two ((a context) (b context)) Bool
  (and
    (=> (and (active a) (active b)) (or (is_before a b) (is_before b a)))
    (counted a b)
    (counted b a)))

; Everybody ahead is another context that holds or waits.
(define-fun fits ((c context)) Bool
  (=> (active c) (<=
    (+ (ahead_r c) (ahead_w c) 1)
    (+ (readers s) (writers s)))))
(assert (=> range (and (all s) (one p s) (one i s))))
(assert (=> order (two p i)))
(assert (and (fits p) (fits i) (<= 0 trying)))
(assert (=> capacity (<= (+ (readers s) (writers s) trying) bound)))

; c after p's step leaves: who was behind p has one less ahead of it.
(define-fun less ((c context)) context
  (ite
    (and (active c) (is_before p c))
    (make
      (pc c)
      (writes c)
      (before_r c)
      (before_w c)
      (- (ahead_r c) (ite (writes p) 0 1))
      (- (ahead_w c) (ite (writes p) 1 0)))
    c))
(define-fun at ((c context) (to Int)) context
  (make to (writes c) (before_r c) (before_w c) (ahead_r c) (ahead_w c)))

; An arrival, with pc `to`: all who hold or wait are ahead of it.
(define-fun arrived ((to Int) (w Bool)) context
  (make to w (asked_r s) (asked_w s) (readers s) (writers s)))
(define-fun more ((r Int) (w Int)) state
  (counts
    (+ (asked_r s) r)
    (+ (asked_w s) w)
    (over_r s)
    (over_w s)
    (+ (readers s) r)
    (+ (writers s) w)))
(define-fun over ((r Int) (w Int)) state
  (counts
    (asked_r s)
    (asked_w s)
    (+ (over_r s) r)
    (+ (over_w s) w)
    (- (readers s) r)
    (- (writers s) w)))
(define-fun is_counted ((c context)) Bool
  (=> (active c) (ite (writes c) (<= 1 (writers s)) (<= 1 (readers s)))))
(assert (and (is_counted p) (is_counted i)))
(define-fun after ((p1 context) (i1 context) (s1 state)) Bool
  (and
    (all s1)
    (one p1 s1)
    (one i1 s1)
    (counted i1 p1)
    (counted p1 i1)
    (=> (and (active p1) (active i1)) (or
      (is_before p1 i1)
      (is_before i1 p1)))))
(define-fun completion () Int (sections (over_r s) (over_w s)))
(define-fun request () Int (sections (asked_r s) (asked_w s)))
(define-fun before () Int (sections (before_r p) (before_w p)))

(push)
(echo "rw_ticket: init")
(assert (and
  (=> capacity (= (readers s) (writers s) 0))
  (= (pc p) (pc i) 0)
  (= (asked_r s) (over_r s))
  (= (asked_w s) (over_w s))))
(assert (=> broken (not (after p i s))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)
(declare-const writer Bool)

(push)
(echo "rw_ticket: lock arrives, lock_shared arrives")
(assert (= (pc p) 0))
(assert (=> broken (not (after
  (arrived 1 writer)
  i
  (ite writer (more 0 1) (more 1 0))))))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (order broken))
(pop)

; The control: as many readers as a u8 or u16 counts, one more context.
(push)
(echo "rw_ticket: await_turn")
(assert (and (= (pc p) 1) (writes p) (same completion before)))
(assert (=> broken (not (after (at p 2) i s))))
(check-sat-assuming (range order capacity broken))
(check-sat-assuming (range order capacity))
(assert (= (ahead_r p) bound))
(assert (= (ahead_w p) 0))
(check-sat-assuming (range order broken))
(pop)

; The control: as many writers.
(push)
(echo "rw_ticket: await_writers")
(assert (and (= (pc p) 1) (not (writes p)) (same_lower completion before)))
(assert (=> broken (not (after (at p 2) i s))))
(check-sat-assuming (range order capacity broken))
(check-sat-assuming (range order capacity))
(assert (= (ahead_w p) bound))
(check-sat-assuming (range order broken))
(pop)

(push)
(echo "rw_ticket: unlock reads completion")
(assert (and (= (pc p) 2) (writes p)))
(assert (=> broken (not (after (at p 3) i s))))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (order broken))
(pop)

; Between unlock's look and its store nobody else changes completion; the store
; is a number more, whatever carries from the writers' half.
(push)
(echo "rw_ticket: unlock's completion stands")
(assert (= (pc p) 3))
(assert (=> broken (in i)))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (range broken))
(pop)

(push)
(echo "rw_ticket: unlock stores")
(assert (= (pc p) 3))
(assert (=> broken (not (and
  (same (+ completion 1) (sections (over_r s) (+ (over_w s) 1)))
  (after (at p 0) (less i) (over 0 1))))))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (range broken))
(pop)

; As if p had arrived as a reader, right where it is: who is behind it has a
; reader ahead for a writer.
(push)
(echo "rw_ticket: downgrade stores")
(assert (= (pc p) 3))
(assert (=> broken (not (and
  (same (+ completion (- 1 bound)) (sections (- (over_r s) 1) (+ (over_w s) 1)))
  (after
    (make 2 false (- (before_r p) 1) (+ (before_w p) 1) 0 0)
    (ite
      (and (active i) (is_before p i))
      (make
        (pc i)
        (writes i)
        (before_r i)
        (before_w i)
        (+ (ahead_r i) 1)
        (- (ahead_w i) 1))
      i)
    (counts
      (asked_r s)
      (asked_w s)
      (- (over_r s) 1)
      (+ (over_w s) 1)
      (+ (readers s) 1)
      (- (writers s) 1)))))))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (range broken))
(pop)

(push)
(echo "rw_ticket: unlock_shared")
(assert (reads_in p))
(assert (=> broken (not (and
  (same (+ completion bound) (sections (+ (over_r s) 1) (over_w s)))
  (after (at p 0) (less i) (over 1 0))))))
(check-sat-assuming (range order broken))
(check-sat-assuming (range order))
(check-sat-assuming (range broken))
(pop)

(push)
(echo "rw_ticket: try_lock")
(assert (and (= (pc p) 0) (>= trying 1) (same request completion)))
(assert (=> broken (not (after (arrived 2 true) i (more 0 1)))))
(check-sat-assuming (range order capacity broken))
(check-sat-assuming (range order capacity))
(check-sat-assuming (range order broken))
(pop)

(push)
(echo "rw_ticket: try_lock_shared")
(assert (and (= (pc p) 0) (>= trying 1) (same_lower request completion)))
(assert (=> broken (not (after (arrived 2 false) i (more 1 0)))))
(check-sat-assuming (range order capacity broken))
(check-sat-assuming (range order capacity))
(check-sat-assuming (range order broken))
(pop)

(push)
(echo "rw_ticket: exclusion")
(assert true)
(assert (=> broken (and (writes_in p) (in i))))
(check-sat-assuming (range order capacity broken))
(check-sat-assuming (range order capacity))
(check-sat-assuming (range capacity broken))
(pop)
