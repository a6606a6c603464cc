; SPDX-License-Identifier: MIT
; phase_fair_lock: exclusion, any number of CPUs, u8, u16 (width); and that no
; reader waits for the writer after the one that it found. Without the wrap:
; win, wout; came, went: the readers of rin and rout. mark: rin's two lowest
; bits. readers, writers: how many are in or wait; trying: writers in
; try_lock. p acts; w: any other writer, r: any other reader. A writer: 0
; outside, 1 has a ticket (mine), 2 has its turn, 3 has marked, 4 in. An
; upgradable reader is a writer of two tickets (more), mine and the next one,
; that holds as soon as it has its turn. found: came, as it marked; ahead:
; readers from before its mark that are not out. A reader: 0 outside, 1 waits,
; 2 in. at: came, as it arrived; behind: the ticket of the writer whose mark
; it found.
;
; Operations of phase_fair_lock.hpp:
;   try_lock: load_relaxed x 4, compare_exchange_acquire
;   unlock: load_relaxed, advance_release
;   downgrade: fetch_add_relaxed
;   try_lock_shared: load_relaxed x 4, compare_exchange_acq_rel
;   unlock_shared: fetch_add_release
;   lock_upgradable: await_eq_acquire
;   try_lock_upgradable: compare_exchange_acquire
;   unlock_upgradable: load_relaxed, advance_release
;   try_upgrade: compare_exchange_acquire
;   take_numbers: fetch_add_acq_rel
;   stop_readers: fetch_add_acquire
;   take_turn: await_eq_relaxed
;   await_readers: await_eq_acquire
;   arrive_shared: fetch_add_acq_rel
;   await_writer: await_acquire
(declare-const width Int)
(assert (or (= width 8) (= width 16)))
(define-fun same ((a Int) (b Int)) Bool
  (= 0 (ite (= width 8) (mod (- a b) 256) (mod (- a b) 65536))))
(define-fun counters () Int (ite (= width 8) 256 65536))
(define-fun max_readers () Int (- (div counters 4) 1))
(define-fun mark_of ((ticket Int)) Int (+ 2 (mod ticket 2)))
(declare-datatypes
  ()
  ((writer (wr (pw Int) (mine Int) (found Int) (ahead Int) (more Bool)))))
(define-fun odd_before ((a Int) (b Int)) Bool
  (and (< a b) (= (mod (- b a) 2) 1)))
(declare-datatypes () ((reader (rd (pr Int) (at Int) (behind Int)))))
(declare-datatypes
  ()
  ((state (st (came Int) (went Int) (mark Int) (win Int) (wout Int)))))
(declare-const s state)
(declare-const p writer)
(declare-const w writer)
(declare-const q reader)
(declare-const r reader)
(declare-const trying Int)
(declare-const range Bool)
(declare-const apart Bool)
(declare-const meets Bool)
(declare-const capacity Bool)
(declare-const broken Bool)
(define-fun readers ((s state)) Int (- (came s) (went s)))
(define-fun all ((s state)) Bool
  (and
    (<= 0 (readers s))
    (<= (wout s) (win s))
    (or
      (= (mark s) 0)
      (and (= (mark s) (mark_of (wout s))) (< (wout s) (win s))))))
(define-fun marks ((x writer)) Bool (<= 3 (pw x) 4))
(define-fun one ((x writer) (s state)) Bool
  (and
    (<= 0 (pw x) 4)
    (=> (<= 1 (pw x) 4) (and (<= (wout s) (mine x)) (< (mine x) (win s))))
    (=> (<= 2 (pw x) 4) (= (mine x) (wout s)))
    (=> (marks x) (and
      (= (mark s) (mark_of (wout s)))
      (= (ahead x) (- (found x) (went s)))
      (<= 0 (ahead x) (readers s))
      (<= (found x) (came s))))
    (=> (and (<= 1 (pw x) 2) (= (mine x) (wout s))) (= (mark s) 0))
    (=> (more x) (and (<= 1 (pw x) 4) (< (+ (mine x) 1) (win s))))
    (=> (= (pw x) 4) (= (ahead x) 0))))
(define-fun reads ((x reader) (s state)) Bool
  (and
    (<= 0 (pr x) 2)
    (=> (>= (pr x) 1) (and (< (at x) (came s)) (<= 1 (readers s))))
    (=> (= (pr x) 1) (or
      (odd_before (behind x) (wout s))
      (and (= (behind x) (wout s)) (distinct (mark s) 0))))))
(define-fun two ((x writer) (y writer)) Bool
  (=> (and (>= (pw x) 1) (>= (pw y) 1)) (and
    (distinct (mine x) (mine y))
    (=> (more x) (distinct (+ (mine x) 1) (mine y)))
    (=> (more y) (distinct (mine x) (+ (mine y) 1))))))

; Who came before the mark is counted, and in or let in; who came after it
; waits for this writer.
(define-fun meet ((x writer) (y reader)) Bool
  (=>
    (and (marks x) (>= (pr y) 1))
    (ite
      (< (at y) (found x))
      (and (<= 1 (ahead x)) (or (= (pr y) 2) (odd_before (behind y) (mine x))))
      (and (= (pr y) 1) (= (behind y) (mine x))))))
(assert (=> range (and (all s) (one p s) (one w s) (reads q s) (reads r s))))
(assert (=> apart (two p w)))
(assert (=> meets (and (meet p q) (meet p r) (meet w q) (meet w r))))
(assert (and
  (<= 0 trying)
  (=> capacity (and
    (<= (readers s) max_readers)
    (<= (+ (- (win s) (wout s)) trying) counters)))))

; After a writer's step, and after a reader's. q and r are two.
(define-fun wrote ((x writer) (s1 state)) Bool
  (and
    (all s1)
    (one x s1)
    (one w s1)
    (reads r s1)
    (two x w)
    (meet x r)
    (meet w r)))
(define-fun read ((y reader) (w1 writer) (s1 state)) Bool
  (and (all s1) (one w1 s1) (reads y s1) (reads r s1) (meet w1 y) (meet w1 r)))
(define-fun now ((c Int) (g Int) (m Int) (n Int) (o Int)) state
  (st (+ (came s) c) (+ (went s) g) m (+ (win s) n) (+ (wout s) o)))
(push)
(echo "phase_fair: init")
(assert (and
  (= (pw p) (pw w) (pr r) (mark s) 0)
  (not (more p))
  (not (more w))
  (= (win s) (wout s))
  (=> capacity (= (readers s) 0))))
(assert (=> broken (not (wrote p s))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)
(push)
(echo "phase_fair: take_number")
(assert (= (pw p) 0))
(assert
  (=> broken (not (wrote (wr 1 (win s) 0 0 false) (now 0 0 (mark s) 1 0)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (apart meets broken))
(pop)
(push)
(echo "phase_fair: lock has its turn")
(assert (and (= (pw p) 1) (same (mine p) (wout s))))
(assert (=> broken (not (wrote (wr 2 (mine p) 0 0 (more p)) s))))
(check-sat-assuming (range apart meets capacity broken))
(check-sat-assuming (range apart meets capacity))
(assert (= (- (win s) (wout s)) (+ counters 1)))
(check-sat-assuming (range apart meets broken))
(pop)
(push)
(echo "phase_fair: stop_readers")
(assert (= (pw p) 2))
(assert
  (=>
    broken
    (not
      (wrote
        (wr 3 (mine p) (came s) (readers s) (more p))
        (now 0 0 (mark_of (mine p)) 0 0)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)

; The control: one reader over max_readers.
(push)
(echo "phase_fair: await_readers")
(assert (and (= (pw p) 3) (same (* 4 (found p)) (* 4 (went s)))))
(assert
  (=> broken (not (wrote (wr 4 (mine p) (found p) (ahead p) (more p)) s))))
(check-sat-assuming (range apart meets capacity broken))
(check-sat-assuming (range apart meets capacity))
(assert (= (readers s) (+ max_readers 1)))
(check-sat-assuming (range apart meets broken))
(pop)
(push)
(echo "phase_fair: unlock")
(assert (and (= (pw p) 4) (not (more p))))
(assert (=> broken (not (wrote (wr 0 0 0 0 false) (now 0 0 0 0 1)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)
(push)
(echo "phase_fair: try_lock")
(assert (and
  (= (pw p) 0)
  (>= trying 1)
  (same (+ (* 4 (came s)) (mark s)) (* 4 (went s)))
  (same (win s) (wout s))))
(assert
  (=>
    broken
    (not
      (wrote (wr 4 (win s) (came s) 0 false) (now 0 0 (mark_of (win s)) 1 0)))))
(check-sat-assuming (range apart meets capacity broken))
(check-sat-assuming (range apart meets capacity))
(check-sat-assuming (range apart meets broken))
(pop)
(push)
(echo "phase_fair: lock_upgradable takes two numbers")
(assert (= (pw p) 0))
(assert
  (=> broken (not (wrote (wr 1 (win s) 0 0 true) (now 0 0 (mark s) 2 0)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (apart meets broken))
(pop)
(push)
(echo "phase_fair: try_lock_upgradable")
(assert (and (= (pw p) 0) (>= trying 2) (same (win s) (wout s))))
(assert
  (=> broken (not (wrote (wr 2 (win s) 0 0 true) (now 0 0 (mark s) 2 0)))))
(check-sat-assuming (range apart meets capacity broken))
(check-sat-assuming (range apart meets capacity))
(check-sat-assuming (range apart meets broken))
(pop)

; Its control, and that of upgrade: two who have one ticket.
(push)
(echo "phase_fair: unlock_upgradable")
(assert (and (= (pw p) 2) (more p)))
(assert (=> broken (not (wrote (wr 0 0 0 0 false) (now 0 0 (mark s) 0 2)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)
(push)
(echo "phase_fair: upgrade ends its first write")
(assert (and (= (pw p) 4) (more p)))
(assert
  (=> broken (not (wrote (wr 2 (+ (mine p) 1) 0 0 false) (now 0 0 0 0 1)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)

; The control: one reader over max_readers, which looks like none.
(push)
(echo "phase_fair: try_upgrade")
(assert (and
  (= (pw p) 2)
  (more p)
  (same (+ (* 4 (came s)) (mark s)) (* 4 (went s)))))
(assert
  (=>
    broken
    (not
      (wrote
        (wr 4 (+ (mine p) 1) (came s) 0 false)
        (now 0 0 (mark_of (+ (mine p) 1)) 0 1)))))
(check-sat-assuming (range apart meets capacity broken))
(check-sat-assuming (range apart meets capacity))
(assert (= (readers s) (+ max_readers 1)))
(check-sat-assuming (range apart meets broken))
(pop)

; q is p, as a reader.
(push)
(echo "phase_fair: downgrade")
(assert (and (= (pw p) 4) (not (more p)) (= (pr q) 0)))
(assert
  (=>
    broken
    (not
      (and
        (wrote (wr 0 0 0 0 false) (now 1 0 0 0 1))
        (read (rd 2 (came s) 0) w (now 1 0 0 0 1))))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)
(push)
(echo "phase_fair: arrive_shared")
(assert (= (pr q) 0))
(assert
  (=>
    broken
    (not
      (read
        (rd (ite (= (mark s) 0) 2 1) (came s) (wout s))
        w
        (now 1 0 (mark s) 0 0)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (apart meets broken))
(pop)
(push)
(echo "phase_fair: await_writer")
(assert (and (= (pr q) 1) (distinct (mark s) (mark_of (behind q)))))
(assert (=> broken (not (read (rd 2 (at q) (behind q)) w s))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (apart meets broken))
(pop)
(push)
(echo "phase_fair: unlock_shared")
(assert (= (pr q) 2))
(assert
  (=> (>= (pr r) 1) (and
    (<= 2 (readers s))
    (=> (< (at q) (found w)) (< (at r) (found w)) (<= 2 (ahead w))))))
(assert
  (=>
    broken
    (not
      (read
        (rd 0 0 0)
        (wr (pw w) (mine w) (found w) (- (ahead w) 1) (more w))
        (now 0 1 (mark s) 0 0)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range apart broken))
(pop)
(push)
(echo "phase_fair: who came before the mark gets in")
(assert (and (marks w) (= (pr r) 1) (< (at r) (found w))))
(assert (=> broken (= (mark s) (mark_of (behind r)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range apart broken))
(pop)
(push)
(echo "phase_fair: exclusion")
(assert (= (pw w) 4))
(assert (=> broken (or (= (pr r) 2) (= (pw p) 4) (and (= (pw p) 2) (more p)))))
(check-sat-assuming (range apart meets broken))
(check-sat-assuming (range apart meets))
(check-sat-assuming (range meets broken))
(pop)
