; SPDX-License-Identifier: MIT
; ticket_lock, padded_ticket_lock, proportional_ticket_lock, narrow_ticket_lock:
; exclusion, any number of CPUs, counters of any M values. padded has no
; try_lock; proportional's lock is lock_paced, the same wait. next, owner:
; without the wrap; the code has them modulo M. A context: pc, its ticket
; (mine), what it has read (seen). queued: contexts that hold or wait; trying:
; those in try_lock. They are counts of contexts: who is one is counted. pc: 0
; outside, 1 waits, 2 in, 3 in and unlock has read owner, 4 try_lock has read
; owner, 5 and next. p does a step; i is any other one. Each obligation is asked
; three times: unsat, it holds; sat, the step is possible; sat, without the one
; hypothesis that is left out it fails.
;
; Operations of ticket_lock.hpp:
;   lock_paced: await_paced_acquire
;   try_lock: load_acquire, load_relaxed, compare_exchange_acquire
;   unlock: load_relaxed, store_release
;   take_ticket: fetch_add_acq_rel
;   await_turn: await_eq_acquire
; Operations of padded_ticket_lock.hpp:
;   unlock: load_relaxed, store_release
;   take_ticket: fetch_add_acq_rel
;   await_turn: await_eq_acquire
; Operations of proportional_ticket_lock.hpp:
;   set_base: store_relaxed
; Operations of narrow_ticket_lock.hpp:
;   lock: fetch_add_relaxed, await_acquire
;   try_lock: load_relaxed, compare_exchange_acquire
;   unlock: load_relaxed, fetch_add_release
(declare-const M Int)
(assert (>= M 2))
(declare-const next Int)
(declare-const owner Int)
(declare-const queued Int)
(declare-const trying Int)
(declare-const pc_p Int)
(declare-const mine_p Int)
(declare-const seen_p Int)
(declare-const pc_i Int)
(declare-const mine_i Int)
(declare-const seen_i Int)
(declare-const range Bool)
(declare-const apart Bool)
(declare-const capacity Bool)
(declare-const broken Bool)

; Equal as the code's counters are.
(define-fun same ((a Int) (b Int)) Bool (= (mod (- a b) M) 0))
(define-fun queues ((pc Int)) Bool (<= 1 pc 3))
(define-fun in ((pc Int)) Bool (<= 2 pc 3))
(define-fun one ((pc Int) (mine Int) (seen Int) (nx Int) (ow Int)) Bool
  (and
    (<= 0 pc 5)
    (=> (queues pc) (and (<= ow mine) (< mine nx)))
    (=> (in pc) (= mine ow))
    (=> (= pc 3) (same seen ow))))
(define-fun two ((pa Int) (ma Int) (pb Int) (mb Int)) Bool
  (=> (and (queues pa) (queues pb)) (distinct ma mb)))
(define-fun all ((nx Int) (ow Int) (q Int)) Bool (and (= (- nx ow) q) (<= 0 q)))
(assert (=> range (and
  (all next owner queued)
  (one pc_p mine_p seen_p next owner)
  (one pc_i mine_i seen_i next owner))))
(assert (=> apart (two pc_p mine_p pc_i mine_i)))
(assert (=> capacity (<= (+ queued trying) M)))
(assert (and (<= 0 trying) (=> (<= 4 pc_p 5) (<= 1 trying))))

; What must hold after p's step, for p and for i, which did nothing.
(define-fun after
    ((pc Int) (mine Int) (seen Int) (nx Int) (ow Int) (q Int)) Bool
  (and
    (all nx ow q)
    (one pc mine seen nx ow)
    (one pc_i mine_i seen_i nx ow)
    (two pc mine pc_i mine_i)))

(push)
(echo "ticket: init")
(assert (=> capacity (= next owner)))
(assert (and (= pc_p 0) (= pc_i 0)))
(assert (=> broken (not (after 0 mine_p seen_p next owner 0))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)

(push)
(echo "ticket: take_ticket")
(assert (= pc_p 0))
(assert (=> broken (not (after 1 next seen_p (+ next 1) owner (+ queued 1)))))
(check-sat-assuming (range apart broken))
(check-sat-assuming (range apart))
(check-sat-assuming (apart broken))
(pop)

(push)
(echo "ticket: await_turn")
(assert (and (= pc_p 1) (same mine_p owner)))
(assert (=> broken (not (after 2 mine_p seen_p next owner queued))))
(check-sat-assuming (range apart capacity broken))
(check-sat-assuming (range apart capacity))
(assert (= queued (+ M 1)))
(check-sat-assuming (range apart broken))
(pop)

(push)
(echo "ticket: unlock reads owner")
(assert (= pc_p 2))
(assert (=> broken (not (after 3 mine_p owner next owner queued))))
(check-sat-assuming (range apart broken))
(check-sat-assuming (range apart))
(check-sat-assuming (apart broken))
(pop)

(push)
(echo "ticket: unlock stores owner")
(assert (= pc_p 3))
(assert (=> broken (not (and
  (same (+ seen_p 1) (+ owner 1))
  (after 0 mine_p seen_p next (+ owner 1) (- queued 1))))))
(check-sat-assuming (range apart broken))
(check-sat-assuming (range apart))
(check-sat-assuming (range broken))
(pop)

; The swap finds both equal to what was read, hence to each other.
(push)
(echo "ticket: try_lock swaps")
(assert (and (= pc_p 5) (same next owner)))
(assert (=> broken (not (after 2 next seen_p (+ next 1) owner (+ queued 1)))))
(check-sat-assuming (range apart capacity broken))
(check-sat-assuming (range apart capacity))
(assert (= (+ queued trying) (+ M 1)))
(check-sat-assuming (range apart broken))
(pop)

(push)
(echo "ticket: exclusion")
(assert (=> broken (and (in pc_p) (in pc_i))))
(check-sat-assuming (range apart capacity broken))
(check-sat-assuming (range apart capacity))
(check-sat-assuming (range capacity broken))
(pop)

; narrow_ticket_lock: the byte is the two counters modulo 2^Bits, and each add
; to it is the step of one counter alone. So it is the lock above, M = 2^Bits.
(declare-const Bits (_ BitVec 8))
(assert (or (= Bits #x02) (= Bits #x03) (= Bits #x04)))
(define-fun next_shift () (_ BitVec 8) (bvsub #x08 Bits))
(define-fun last () (_ BitVec 8) (bvsub (bvshl #x01 Bits) #x01))
(define-fun back_to_zero () (_ BitVec 8) (bvneg last))
(define-fun byte_of ((nx (_ BitVec 8)) (ow (_ BitVec 8))) (_ BitVec 8)
  (bvor (bvshl nx next_shift) (bvand ow last)))
(declare-const byte (_ BitVec 8))
(declare-const n8 (_ BitVec 8))
(declare-const o8 (_ BitVec 8))
(assert (=> range (= byte (byte_of n8 o8))))

(push)
(echo "narrow_ticket: next_of, owner_of")
(assert (=> broken (not (and
  (= (bvlshr byte next_shift) (bvand n8 last))
  (= (bvand byte last) (bvand o8 last))))))
(check-sat-assuming (range broken))
(check-sat-assuming (range))
(check-sat-assuming (broken))
(pop)

(push)
(echo "narrow_ticket: take a ticket")
(assert (=> broken (not (=
  (bvadd byte (bvshl #x01 next_shift))
  (byte_of (bvadd n8 #x01) o8)))))
(check-sat-assuming (range broken))
(check-sat-assuming (range))
(check-sat-assuming (broken))
(pop)

; the control: unlock without back_to_zero carries into next
(push)
(echo "narrow_ticket: unlock")
(assert (=> broken (not (=
  (byte_of n8 (bvadd o8 #x01))
  (bvadd
    byte
    (ite (and capacity (= (bvand o8 last) last)) back_to_zero #x01))))))
(check-sat-assuming (range capacity broken))
(check-sat-assuming (range capacity))
(check-sat-assuming (range (not capacity) broken))
(pop)
