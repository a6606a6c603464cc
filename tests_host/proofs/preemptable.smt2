; SPDX-License-Identifier: MIT
; preemptable_ticket_lock: exclusion, and a turn that never passes next; any
; number of CPUs, u8 and u16. next, turn, state without the wrap; the code has
; place_of(next), and compares states by `same`. Who has swapped `now` has it as state was: the two
; are the same. p: its pc, its ticket (mine, without the wrap), what it swapped
; (now), what it stored (taken). pc: 0 outside, 1 has a ticket, waits; 2 has
; seen a free state `now`; 3 has swapped, settle() is to come; 4 in; 5 unlock
; has read state (held); 6 try_lock has seen a free state, which was the place
; of next. i: any other one. k: any ticket; live_k: it is drawn, and not yet
; served.
;
; Operations of preemptable_ticket_lock.hpp:
;   try_lock: load_relaxed x 2, compare_exchange_acquire
;   unlock: load_relaxed, store_release
;   lock_in_turn: fetch_add_relaxed, await_patient_relaxed,
;     compare_exchange_acquire
;   await_free: await_patient_relaxed
;   settle: load_relaxed, store_relaxed
(declare-const wide Bool)
(declare-const next Int)
(declare-const turn Int)
(declare-const state Int)
(declare-const pc_p Int)
(declare-const mine Int)
(declare-const now Int)
(declare-const taken Int)
(declare-const pc_i Int)
(declare-const now_i Int)
(declare-const k Int)
(declare-const live_k Bool)
(declare-const parity Bool)
(declare-const turns Bool)
(declare-const alone Bool)
(declare-const live Bool)
(declare-const capacity Bool)
(declare-const broken Bool)
(define-fun range () Int (ite wide 65536 256))
(define-fun wrapped ((a Int)) Int (ite wide (mod a 65536) (mod a 256)))
(define-fun same ((a Int) (b Int)) Bool (= (wrapped (- a b)) 0))
(define-fun distance ((from Int) (to Int)) Int (wrapped (- to from)))
(define-fun place_of ((ticket Int)) Int (* 2 ticket))
(define-fun held_by ((place Int)) Int (+ place 3))
(define-fun is_held ((st Int)) Bool (= (mod st 2) 1))
(define-fun toggled ((st Int)) Int (ite (is_held st) (- st 1) (+ st 1)))
(define-fun in ((pc Int)) Bool (<= 3 pc 5))

; Whether a state is free or held is told by its lowest bit alone.
(define-fun bit ((pc Int) (n Int) (st Int)) Bool
  (and
    (<= 0 pc 6)
    (=> (in pc) (is_held st))
    (=> (or (= pc 2) (= pc 6)) (not (is_held n)))
    (=> (= pc 5) (= n st))))

; turn: what it is, where free; where held, what it was (3) or will be (4, 5).
(define-fun right ((pc Int) (n Int) (st Int) (tu Int) (nx Int)) Bool
  (and
    (<= tu nx)
    (=> (not (is_held st)) (= st (place_of tu)))
    (=> (= pc 3) (= n (place_of tu)))
    (=> (<= 4 pc 5) (= (toggled st) (place_of tu)))))
(define-fun two ((a Int) (b Int)) Bool (not (and (in a) (in b))))
(define-fun to_serve ((tu Int) (nx Int) (lv Bool)) Bool
  (=> (and (<= tu k) (< k nx)) lv))
(assert (=> parity (and (bit pc_p now state) (bit pc_i now_i state))))
(assert (=> turns (and
  (right pc_p now state turn next)
  (right pc_i now_i state turn next))))
(assert (=> alone (two pc_p pc_i)))
(assert (=> live (to_serve turn next live_k)))
(assert (=> (<= 1 pc_p 3) (< mine next)))

; The tickets from turn to next are live, so that they are fewer than the
; contexts.
(assert (=> capacity (< (- next turn) (div range 2))))
(define-fun after ((pc Int) (n Int) (st Int) (tu Int) (nx Int)) Bool
  (and
    (bit pc n st)
    (bit pc_i now_i st)
    (two pc pc_i)
    (right pc n st tu nx)
    (right pc_i now_i st tu nx)))

; What settle() decides from drawn, which is next at that time.
(define-fun to_come () Bool
  (< (distance now (place_of mine)) (distance now (place_of next))))
(define-fun settled () Int
  (ite to_come (held_by (place_of mine)) (toggled now)))
(define-fun new_turn () Int
  (ite to_come (+ turn (div (distance now (place_of mine)) 2) 1) turn))

(push)
(echo "preemptable: init")
(assert (and
  (= pc_p pc_i 0)
  (= next turn)
  (=> capacity (= state (place_of turn)))))
(assert (=> broken (not (and
  (after 0 now state turn next)
  (to_serve turn next live_k)))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)

(push)
(echo "preemptable: take a ticket")
(assert (= pc_p 0))
(assert (=> broken (not (and
  (after 1 now state turn (+ next 1))
  (to_serve turn (+ next 1) (or live_k (= k next)))))))
(check-sat-assuming (parity turns alone live broken))
(check-sat-assuming (parity turns alone live))
(check-sat-assuming (parity turns alone broken))
(pop)

(push)
(echo "preemptable: await_patient ends")
(assert (and (= pc_p 1) (=> capacity (not (is_held state)))))
(assert (=> broken (not (after 2 state state turn next))))
(check-sat-assuming (parity turns alone capacity broken))
(check-sat-assuming (parity turns alone capacity))
(check-sat-assuming (parity turns alone broken))
(pop)

; Whatever it guesses: the turn behind its own, or as it is.
(push)
(echo "preemptable: lock_in_turn swaps")
(assert (and
  (= pc_p 2)
  (same state now)
  (or (= taken (toggled state)) (= taken (held_by (place_of mine))))))
(assert (=> broken (not (after 3 state taken turn next))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (turns alone broken))
(pop)

(push)
(echo "preemptable: lock_in_turn's swap fails")
(assert (and (= pc_p 2) (not (same state now))))
(assert (=> broken (not (after 1 now state turn next))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (turns alone broken))
(pop)

; The control: next was behind the turn.
(push)
(echo "preemptable: settle")
(assert (= pc_p 3))
(assert (=> broken (not (and
  (after 4 now (toggled (place_of new_turn)) new_turn next)
  (same settled (toggled (place_of new_turn)))
  (<= turn new_turn next)))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (parity alone broken))
(pop)

(push)
(echo "preemptable: settle serves its own ticket")
(assert (and (= pc_p 3) (=> (<= turn mine) live_k)))
(assert (=> broken (not (to_serve
  new_turn
  next
  (and live_k (distinct k mine))))))
(check-sat-assuming (parity turns alone live capacity broken))
(check-sat-assuming (parity turns alone live capacity))
(check-sat-assuming (parity turns alone live broken))
(pop)

(push)
(echo "preemptable: unlock reads state")
(assert (= pc_p 4))
(assert (=> broken (not (after 5 state state turn next))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (turns alone broken))
(pop)

(push)
(echo "preemptable: unlock stores state")
(assert (= pc_p 5))
(assert (=> broken (not (after 0 now (toggled now) turn next))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (parity turns broken))
(pop)

; now is still the state, but next may have gone on since the look.
(push)
(echo "preemptable: try_lock swaps")
(assert (and (= pc_p 6) (same state now)))
(assert (=> broken (not (after 4 now (toggled state) turn next))))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (turns alone broken))
(pop)

; Free, and no ticket live: the turn is next, and try_lock() succeeds. The
; control: one is live.
(push)
(echo "preemptable: at rest the turn is next")
(assert (and (= k turn) (not live_k) (not (is_held state))))
(assert (=> broken (not (same state (place_of next)))))
(check-sat-assuming (parity turns alone live broken))
(check-sat-assuming (parity turns alone live))
(check-sat-assuming (parity turns alone broken))
(pop)

(push)
(echo "preemptable: exclusion")
(assert (in pc_p))
(assert (=> broken (in pc_i)))
(check-sat-assuming (parity turns alone broken))
(check-sat-assuming (parity turns alone))
(check-sat-assuming (parity turns broken))
(pop)
