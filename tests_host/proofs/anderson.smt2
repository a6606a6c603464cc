; SPDX-License-Identifier: MIT
; anderson_lock: exclusion, and next that stays at Last + Slots at most; any
; number of CPUs, up to Slots, any number of slots, any Last, a multiple of it.
; drawn, served: tickets without the wrap; next = drawn - round + Last: ticket
; `round`, a multiple of Last, is number Last. Slot is what the code has by %
; Slots. pc: 0 outside, 1 waits, 2
; has seen its slot open, 3 has closed it, 4 in, next brought back. mine: its
; ticket; number: as the code drew it. entered: the slot of served is closed.
; open: the slots that are open are those of `served`, and none once it has
; entered. p acts.
;
; Operations of anderson_lock.hpp:
;   lock: fetch_add_acq_rel, await_eq_acquire, store_relaxed, fetch_add_relaxed
;   unlock: store_release
(declare-const Slots Int)
(assert (>= Slots 1))
(declare-const Last Int)
(assert (>= Last Slots))
(declare-const drawn Int)
(declare-const served Int)
(declare-const round Int)
(declare-const entered Bool)
(declare-datatypes () ((context (make (pc Int) (mine Int) (number Int)))))
(declare-const p context)
(declare-const i context)
(declare-const range Bool)
(declare-const apart Bool)
(declare-const rounds Bool)
(declare-const capacity Bool)
(declare-const broken Bool)
(define-fun next () Int (+ (- drawn round) Last))
(define-fun same_slot ((a Int) (b Int)) Bool (= (mod (- a b) Slots) 0))
(define-fun is_open ((t Int)) Bool (and (not entered) (same_slot t served)))
(define-fun one ((c context) (d Int) (s Int) (e Bool)) Bool
  (and
    (<= 0 (pc c) 4)
    (=> (>= (pc c) 1) (and (<= s (mine c)) (< (mine c) d)))
    (=> (>= (pc c) 2) (= (mine c) s))
    (=> (>= (pc c) 3) e)
    (=> (and (<= 1 (pc c) 2) (= (mine c) s)) (not e))))

; Its number is its ticket's in this round, or in the one before.
(define-fun numbered ((c context) (r Int)) Bool
  (=> (>= (pc c) 1) (or
    (= (number c) (+ (- (mine c) r) Last))
    (and
      (= (number c) (+ (- (mine c) r) Last Last))
      (or
        (< (- r Last) (mine c) r)
        (and (= (mine c) (- r Last)) (= (pc c) 4)))))))
(define-fun two ((a context) (b context)) Bool
  (=> (and (>= (pc a) 1) (>= (pc b) 1)) (distinct (mine a) (mine b))))
(define-fun all ((d Int) (s Int) (e Bool) (r Int)) Bool
  (and (<= s d) (=> e (< s d)) (<= (- r Last) s r)))
(define-fun after ((c context) (d Int) (s Int) (e Bool) (r Int)) Bool
  (and
    (all d s e r)
    (one c d s e)
    (one i d s e)
    (two c i)
    (numbered c r)
    (numbered i r)
    (=> (= (pc c) 4) (< s r))
    (=> (= (pc i) 4) (< s r))))
(assert (=> range (and
  (all drawn served entered round)
  (one p drawn served entered)
  (one i drawn served entered))))
(assert (=> rounds (and
  (numbered p round)
  (numbered i round)
  (=> (or (= (pc p) 4) (= (pc i) 4)) (< served round)))))
(assert (=> apart (two p i)))
(assert (=> capacity (<= (- drawn served) Slots)))
(define-fun to ((n Int)) context (make n (mine p) (number p)))

(push)
(echo "anderson: init")
(assert (and
  (= (pc p) (pc i) 0)
  (= drawn served)
  (not entered)
  (=> capacity (= (- round Last) drawn))))
(assert (=> broken (not (after p drawn served false round))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)

(push)
(echo "anderson: lock takes a slot")
(assert (= (pc p) 0))
(assert (=> broken (not (after
  (make 1 drawn next)
  (+ drawn 1)
  served
  entered
  round))))
(check-sat-assuming (range apart rounds broken))
(check-sat-assuming (range apart rounds))
(check-sat-assuming (apart rounds broken))
(pop)

; The control: one context more finds the holder's slot not yet closed.
(push)
(echo "anderson: lock finds it open")
(assert (and (= (pc p) 1) (is_open (mine p))))
(assert (=> broken (not (after (to 2) drawn served entered round))))
(check-sat-assuming (range apart rounds capacity broken))
(check-sat-assuming (range apart rounds capacity))
(assert (= (- drawn served) (+ Slots 1)))
(check-sat-assuming (range apart rounds broken))
(pop)

(push)
(echo "anderson: lock closes it")
(assert (= (pc p) 2))
(assert (=> broken (not (after (to 3) drawn served true round))))
(check-sat-assuming (range apart rounds broken))
(check-sat-assuming (range apart rounds))
(check-sat-assuming (range rounds broken))
(pop)

(push)
(echo "anderson: lock goes on")
(assert (and (= (pc p) 3) (distinct (number p) Last)))
(assert (=> broken (not (after (to 4) drawn served entered round))))
(check-sat-assuming (range apart rounds broken))
(check-sat-assuming (range apart rounds))
(check-sat-assuming (range apart broken))
(pop)

(push)
(echo "anderson: lock brings next back")
(assert (and (= (pc p) 3) (= (number p) Last)))
(assert (=> broken (not (after (to 4) drawn served entered (+ round Last)))))
(check-sat-assuming (range apart rounds capacity broken))
(check-sat-assuming (range apart rounds capacity))
(check-sat-assuming (range apart rounds broken))
(pop)

(push)
(echo "anderson: unlock")
(assert (= (pc p) 4))
(assert (=> broken (not (after (to 0) drawn (+ served 1) false round))))
(check-sat-assuming (range apart rounds broken))
(check-sat-assuming (range apart rounds))
(check-sat-assuming (range rounds broken))
(pop)

(push)
(echo "anderson: next stays")
(assert true)
(assert (=> broken (not (<= 0 next (+ Last Slots)))))
(check-sat-assuming (range apart rounds capacity broken))
(check-sat-assuming (range apart rounds capacity))
(check-sat-assuming (range apart rounds broken))
(pop)

; They differ by a multiple of Slots, as Last is one, and round: it goes on by
; Last alone.
(declare-const rounds_of_last Int)
(declare-const done Int)

(push)
(echo "anderson: a number's slot is its ticket's")
(assert (and (>= (pc p) 1) (=> capacity (and
  (= Last (* Slots rounds_of_last))
  (= round (* Slots done))))))
(assert (=> broken (not (or
  (= (- (number p) (mine p)) (* Slots (- rounds_of_last done)))
  (= (- (number p) (mine p)) (* Slots (- (* 2 rounds_of_last) done)))))))
(check-sat-assuming (rounds capacity broken))
(check-sat-assuming (rounds capacity))
(check-sat-assuming (rounds broken))
(pop)

(push)
(echo "anderson: exclusion")
(assert (>= (pc p) 2))
(assert (=> broken (>= (pc i) 2)))
(check-sat-assuming (range apart rounds capacity broken))
(check-sat-assuming (range apart rounds capacity))
(check-sat-assuming (range rounds broken))
(pop)
