; SPDX-License-Identifier: MIT
; reader_lock: exclusion, any number of CPUs, M = 2^16 values of the writers'
; counters (any M), depth of nested reads below D = 2^8. A writer: 0 outside, 1
; waits for its turn, 2 looks at the marks, 3 in. A reader: 0 outside, 1 marked,
; before its look at word, 2 in. w does a writer's step, or r a reader's; v, s:
; any other writer and reader. passed_r: w has seen r's mark at 0 (v: other_r).
; queued: writers that hold or wait. A fence between is what sequential
; consistency has for nothing.
;
; Operations of reader_lock.hpp:
;   unlock: load_relaxed, fetch_add_release
;   try_lock_shared: load_relaxed, store_relaxed
;   unlock_shared: load_relaxed, store_release
;   lock_watched: fetch_add_relaxed
;   lock_shared_watched: await_relaxed
;   await_turn: await_acquire, fence_seq_cst, await_eq_acquire
;   enter: store_relaxed, fence_seq_cst, load_acquire, store_relaxed
(declare-const M Int)
(assert (>= M 3))
(declare-const D Int)
(assert (>= D 2))
(declare-const next Int)
(declare-const owner Int)
(declare-const queued Int)
(declare-const pc_w Int)
(declare-const mine_w Int)
(declare-const passed_r Bool)
(declare-const pc_v Int)
(declare-const mine_v Int)
(declare-const other_r Bool)
(declare-const pc_r Int)
(declare-const depth_r Int)
(declare-const range Bool)
(declare-const apart Bool)
(declare-const marks Bool)
(declare-const capacity Bool)
(declare-const depths Bool)
(declare-const broken Bool)
(define-fun same ((a Int) (b Int)) Bool (= (mod (- a b) M) 0))

; What the byte of r's line is while it reads `depth` times.
(define-fun reading ((depth Int)) Int (mod depth D))
(define-fun all ((nx Int) (ow Int) (q Int)) Bool (and (= (- nx ow) q) (<= 0 q)))
(define-fun writer ((pc Int) (mine Int) (passed Bool) (nx Int) (ow Int)) Bool
  (and
    (<= 0 pc 3)
    (=> (>= pc 1) (and (<= ow mine) (< mine nx)))
    (=> (>= pc 2) (= mine ow))
    (=> passed (>= pc 2))
    (=> (= pc 3) passed)))
(define-fun two ((pa Int) (ma Int) (pb Int) (mb Int)) Bool
  (=> (and (>= pa 1) (>= pb 1)) (distinct ma mb)))
(define-fun reader ((pc Int) (depth Int)) Bool
  (and
    (<= 0 pc 2)
    (=> (= pc 0) (= depth 0))
    (=> (= pc 1) (= depth 1))
    (=> (= pc 2) (>= depth 1))))
(define-fun meet ((passed Bool) (pc Int)) Bool (not (and passed (= pc 2))))
(assert (=> range (and
  (all next owner queued)
  (reader pc_r depth_r)
  (writer pc_w mine_w passed_r next owner)
  (writer pc_v mine_v other_r next owner))))
(assert (=> apart (two pc_w mine_w pc_v mine_v)))
(assert (=> marks (and (meet passed_r pc_r) (meet other_r pc_r))))
(assert (=> capacity (<= queued (- M 1))))
(assert (=> depths (<= depth_r (- D 1))))
(define-fun after
    ((pc Int) (mine Int) (passed Bool) (rd Int) (depth Int) (nx Int) (ow Int)
     (q Int)) Bool
  (and
    (all nx ow q)
    (writer pc mine passed nx ow)
    (writer pc_v mine_v other_r nx ow)
    (two pc mine pc_v mine_v)
    (reader rd depth)
    (meet passed rd)
    (meet other_r rd)))

(push)
(echo "reader: init")
(assert (=> capacity (= next owner)))
(assert (and (= pc_w pc_v pc_r 0) (not passed_r) (not other_r) (= depth_r 0)))
(assert (=> broken (not (after 0 mine_w false 0 0 next owner 0))))
(check-sat-assuming (capacity broken))
(check-sat-assuming (capacity))
(check-sat-assuming (broken))
(pop)

(push)
(echo "reader: lock takes a ticket")
(assert (= pc_w 0))
(assert (=> broken (not (after
  1
  next
  false
  pc_r
  depth_r
  (+ next 1)
  owner
  (+ queued 1)))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (apart marks broken))
(pop)

(push)
(echo "reader: lock has its turn")
(assert (and (= pc_w 1) (same mine_w owner)))
(assert (=> broken (not (after 2 mine_w false pc_r depth_r next owner queued))))
(check-sat-assuming (range apart marks capacity broken))
(check-sat-assuming (range apart marks capacity))
(assert (= queued (+ M 1)))
(check-sat-assuming (range apart marks broken))
(pop)

(push)
(echo "reader: lock sees no mark of r")
(assert (and (= pc_w 2) (= (reading depth_r) 0)))
(assert (=> broken (not (after 2 mine_w true pc_r depth_r next owner queued))))
(check-sat-assuming (range apart marks depths broken))
(check-sat-assuming (range apart marks depths))
(assert (= depth_r D))
(check-sat-assuming (range apart marks broken))
(pop)

(push)
(echo "reader: lock has seen all marks")
(assert (=> capacity passed_r))
(assert (= pc_w 2))
(assert (=> broken (not (after
  3
  mine_w
  passed_r
  pc_r
  depth_r
  next
  owner
  queued))))
(check-sat-assuming (range apart marks capacity broken))
(check-sat-assuming (range apart marks capacity))
(check-sat-assuming (range apart marks broken))
(pop)

(push)
(echo "reader: unlock")
(assert (= pc_w 3))
(assert (=> broken (not (after
  0
  mine_w
  false
  pc_r
  depth_r
  next
  (+ owner 1)
  (- queued 1)))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (range marks broken))
(pop)

(push)
(echo "reader: try_lock_shared marks, or gives up")
(declare-const to Int)
(assert (or (and (= pc_r 0) (= to 1)) (and (= pc_r 1) (= to 0))))
(assert (=> broken (not (after pc_w mine_w passed_r to to next owner queued))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (apart marks broken))
(pop)

; With M writers, one more than max_contenders, word looks free.
(push)
(echo "reader: try_lock_shared enters")
(assert (and (= pc_r 1) (same next owner)))
(assert (=> broken (not (after pc_w mine_w passed_r 2 1 next owner queued))))
(check-sat-assuming (range apart marks capacity broken))
(check-sat-assuming (range apart marks capacity))
(assert (= queued M))
(check-sat-assuming (range apart marks broken))
(pop)

(push)
(echo "reader: lock_shared nests")
(assert (and (= pc_r 2) (distinct (reading depth_r) 0)))
(assert (=> broken (not (after
  pc_w
  mine_w
  passed_r
  2
  (+ depth_r 1)
  next
  owner
  queued))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (range apart broken))
(pop)

(push)
(echo "reader: unlock_shared")
(assert (= pc_r 2))
(assert (=> broken (not (after
  pc_w
  mine_w
  passed_r
  (ite (= depth_r 1) 0 2)
  (- depth_r 1)
  next
  owner
  queued))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (apart marks broken))
(pop)

(push)
(echo "reader: exclusion of writers")
(assert (=> broken (and (= pc_w 3) (= pc_v 3))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (range marks broken))
(pop)

(push)
(echo "reader: exclusion of a writer and a reader")
(assert (=> broken (and (= pc_w 3) (= pc_r 2))))
(check-sat-assuming (range apart marks broken))
(check-sat-assuming (range apart marks))
(check-sat-assuming (range apart broken))
(pop)

; word: the two counters of 16 bits; each add is the step of one of them alone.
(declare-const word (_ BitVec 32))
(declare-const n32 (_ BitVec 32))
(declare-const o32 (_ BitVec 32))
(define-fun last () (_ BitVec 32) #x0000ffff)
(define-fun back_to_zero () (_ BitVec 32) (bvneg last))
(define-fun word_of ((nx (_ BitVec 32)) (ow (_ BitVec 32))) (_ BitVec 32)
  (bvor (bvshl nx #x00000010) (bvand ow last)))
(assert (=> range (= word (word_of n32 o32))))

(push)
(echo "reader: word, lock")
(assert (=> broken (not (=
  (bvadd word #x00010000)
  (word_of (bvadd n32 #x00000001) o32)))))
(check-sat-assuming (range broken))
(check-sat-assuming (range))
(check-sat-assuming (broken))
(pop)

; the control: unlock without back_to_zero carries into next
(push)
(echo "reader: word, unlock")
(assert (=> broken (not (=
  (word_of n32 (bvadd o32 #x00000001))
  (bvadd
    word
    (ite (and capacity (= (bvand o32 last) last)) back_to_zero #x00000001))))))
(check-sat-assuming (range capacity broken))
(check-sat-assuming (range capacity))
(check-sat-assuming (range (not capacity) broken))
(pop)
