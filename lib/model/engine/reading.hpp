/* SPDX-License-Identifier: MIT */
/*
 * reading - an operation as the graphs see it: where, by which orders, what for
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <model/options.hpp>

namespace model {

namespace hooked = klock::arch::hooked;
using hooked::window;
using klock::u16;
using klock::u32;
using klock::usize;
using klock::arch::site;

/* What a read wants of what it finds. */
struct reading {
	window at;
	order ord;	 /* of the read */
	order store_ord; /* of what an RMW or a store writes */
	const hooked::test *until = nullptr; /* a wait: what ends it */

	/* An RMW: what it would write; null: it only reads. */
	bool writes = false;
	hooked::update how = hooked::update::exchange;
	u64 operand = 0;
	const u64 *expected = nullptr; /* compare-and-swap: if this is there */

	order failed;	    /* compare-and-swap: the read's, if it fails */
	u64 fits = ~u64{0}; /* bits of the location that can be set */

	reading(const window &w, order o)
	    : at(w), ord(o), store_ord(o), failed(o)
	{
	}

	bool ends(u64 word) const { return !until || (*until)(at.look(word)); }
	bool would_write(u64 word) const
	{
		return writes && ends(word) &&
		       (!expected || at.look(word) == *expected);
	}
	/* The read's order, having found this. */
	order order_for(u64 word) const
	{
		return expected && at.look(word) != *expected ? failed : ord;
	}
	u64 written(u64 word) const
	{
		return at.put(word, updated(how, at.look(word), operand)) &
		       fits;
	}
};

} // namespace model
