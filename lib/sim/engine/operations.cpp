/* SPDX-License-Identifier: MIT */
/*
 * operations - loads, stores and read-modify-writes, on the memory itself
 *
 * What an operation reads is what is there when access() returns: nobody else
 * can write to the line before this CPU's next operation.
 */
#include "engine.hpp"

#include <cstring>

namespace sim {

namespace {

u64 word_at(const hooked::window &w)
{
	u64 word = 0;

	std::memcpy(&word, w.at, w.bytes);
	return word;
}

void put_at(const hooked::window &w, u64 v)
{
	const u64 word = w.put(word_at(w), v);

	std::memcpy(const_cast<void *>(w.at), &word, w.bytes);
}

} // namespace

u64 engine::load(hooked::window w, order, site)
{
	me().did.loads++;
	access(w.at, false);
	return w.look(word_at(w));
}

/* A sequentially consistent store is a store and a fence, as on x86. */
void engine::store(hooked::window w, u64 v, order o, site s)
{
	me().did.stores++;
	access(w.at, true);
	put_at(w, v);
	if (o == order::seq_cst)
		fence(o, s);
}

u64 engine::rmw(hooked::window w, hooked::update how, u64 operand, order, site)
{
	processor &p = me();

	p.did.rmws++;
	access(w.at, true);
	p.now += on.rmw;
	const u64 found = w.look(word_at(w));
	put_at(w, hooked::updated(how, found, operand));
	return found;
}

/* A failed one takes the line as well: on x86 it is a locked write. */
bool engine::compare_exchange(hooked::window w, u64 &expected, u64 desired,
			      order, site)
{
	processor &p = me();

	p.did.rmws++;
	access(w.at, true);
	p.now += on.rmw;
	const u64 found = w.look(word_at(w));
	if (found != expected) {
		expected = found;
		return false;
	}
	put_at(w, desired);
	return true;
}

/* The weaker fences cost nothing on a machine that keeps stores in order. */
void engine::fence(order o, site)
{
	if (o != order::seq_cst)
		return;
	me().did.fences++;
	me().now += on.fence;
}

namespace {

/* Calls touch(a byte of it) for each line that the object lies on. */
template <typename Touch>
void each_line(const void *at, usize bytes, Touch touch)
{
	const char *const first = static_cast<const char *>(at);
	const char *const last = first + bytes - 1;

	for (const char *p = first; p < last; p += line_bytes)
		touch(p);
	touch(last);
}

} // namespace

void engine::read_plain(const void *at, usize bytes, site)
{
	me().did.loads++;
	each_line(at, bytes, [this, at](const void *p) {
		if (p == at || !lines.of(p).serves(current, false))
			access(p, false);
	});
}

void engine::write_plain(const void *at, const void *, usize bytes, site)
{
	me().did.stores++;
	each_line(at, bytes, [this, at](const void *p) {
		if (p == at || !lines.of(p).serves(current, true))
			access(p, true);
	});
}

void engine::relax(u32 turns) { me().now += u64{turns} * on.pause; }

bool engine::irq_flag(bool enabled)
{
	return std::exchange(me().irqs_on, enabled);
}

} // namespace sim
