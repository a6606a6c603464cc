/* SPDX-License-Identifier: MIT */
#include "objects.hpp"

#include <algorithm>
#include <cstring>

namespace model {

namespace {

usize slot_of(const void *at, usize slots)
{
	const u64 mixed = reinterpret_cast<usize>(at) * 0x9e3779b97f4a7c15u;

	return static_cast<usize>(mixed >> 32) & (slots - 1);
}

} // namespace

bool objects::ordered(unsigned cpu, const object::access &before,
		      const actor &by) const
{
	if (!before.epoch || cpu == by.cpu)
		return true;
	if (by.seen.at[cpu] < before.epoch)
		return false;
	if (in_order)
		in_order->in_order(cpu, before.epoch, by);
	return true;
}

void objects::start_run()
{
	run++;
	order_of_use.clear();
}

void objects::forget_all()
{
	start_run();
	numbers.clear();
}

const object *objects::find(const void *at) const
{
	for (usize i = slot_of(at, table.size());;
	     i = (i + 1) & (table.size() - 1)) {
		if (table[i].run != run)
			return nullptr;
		if (table[i].at == at)
			return &table[i];
	}
}

void objects::grow()
{
	std::vector<object> old(table.size() * 2);

	old.swap(table);
	for (u32 &slot : order_of_use) {
		usize i = slot_of(old[slot].at, table.size());
		while (table[i].run == run)
			i = (i + 1) & (table.size() - 1);
		table[i] = old[slot];
		slot = static_cast<u32>(i);
	}
}

object &objects::entry(const void *at, usize bytes)
{
	usize i = slot_of(at, table.size());

	for (; table[i].run == run; i = (i + 1) & (table.size() - 1))
		if (table[i].at == at)
			return table[i];
	if (order_of_use.size() * 2 >= table.size()) {
		grow();
		return entry(at, bytes);
	}
	order_of_use.push_back(static_cast<u32>(i));
	table[i] = {};
	table[i].at = at;
	table[i].run = run;
	table[i].bytes = static_cast<u32>(bytes);
	return table[i];
}

/* Whether the object is there for an access with this clock. */
conflict objects::alive(const object &o, const actor &by) const
{
	if (!o.alive)
		return {bug::dead_object, "use of a dead object, gone",
			o.maker,	  o.end.where,
			o.end.epoch,	  true};
	if (!ordered(o.maker, o.end, by))
		return {bug::dead_object,
			"use of an object that may not be there yet, made",
			o.maker, o.end.where, o.end.epoch};
	return {};
}

/* Whether all accesses happened before this one. */
conflict objects::ended_by_all(const object &o, const actor &by, bug as,
			       const char *text) const
{
	for (unsigned cpu = 0; cpu < max_cpus; cpu++)
		if (!ordered(cpu, o.reads[cpu], by))
			return {as, text, cpu, o.reads[cpu].where,
				o.reads[cpu].epoch};
	if (!ordered(o.writer, o.write, by))
		return {as, text, o.writer, o.write.where, o.write.epoch};
	return {};
}

conflict objects::born(const void *at, usize bytes, const actor &by,
		       unsigned birth)
{
	object &o = entry(at, bytes);
	conflict found;

	if (!ordered(o.maker, o.end, by))
		found = {bug::dead_object, "object made over another, touched",
			 o.maker, o.end.where, o.end.epoch};
	else
		found = ended_by_all(o, by, bug::dead_object,
				     "object made over one in use");

	const void *const where = o.at;
	const u32 of = o.run;
	o = {};
	o.at = where;
	o.run = of;
	o.bytes = static_cast<u32>(bytes);
	o.was_born = true;
	o.maker = static_cast<u8>(by.cpu);
	o.birth = birth;
	o.end = {by.epoch, by.where};
	return found;
}

conflict objects::dead(const void *at, usize bytes, const actor &by)
{
	object &o = entry(at, bytes);
	conflict found = alive(o, by);

	if (found.found == bug::none)
		found = ended_by_all(o, by, bug::dead_object,
				     "end of an object that is in use");
	o.alive = false;
	o.maker = static_cast<u8>(by.cpu);
	o.end = {by.epoch, by.where};
	return found;
}

/*
 * Values of atomics are in the graph, those of plain data in memory: so an
 * access of one kind does not find a value that the other kind stored.
 */
static conflict beside(const object &o)
{
	return {bug::mixed_access, "a plain access beside an atomic one",
		o.user, o.used};
}

conflict objects::read_plain(const void *at, usize bytes, const actor &by)
{
	object &o = entry(at, bytes);
	conflict found = alive(o, by);

	if (found.found == bug::none && !ordered(o.writer, o.write, by))
		found = {bug::data_race, "data race with the write", o.writer,
			 o.write.where, o.write.epoch};
	if (found.found == bug::none && (o.location >= 0 || o.part))
		found = beside(o);
	o.reads[by.cpu] = {by.epoch, by.where};
	return found;
}

conflict objects::write_plain(const void *at, usize bytes, const actor &by)
{
	object &o = entry(at, bytes);
	conflict found = alive(o, by);

	if (found.found == bug::none)
		found = ended_by_all(o, by, bug::data_race,
				     "data race with the access");
	if (found.found == bug::none && (o.location >= 0 || o.part))
		found = beside(o);
	o.writer = static_cast<u8>(by.cpu);
	o.write = {by.epoch, by.where};
	return found;
}

/* A live atomic location that begins before this byte, and has it. */
const object *objects::atomic_around(const void *at) const
{
	for (usize before = 1; before < sizeof(u64); before++) {
		const object *const o =
			find(static_cast<const char *>(at) - before);
		if (o && o->location >= 0 && o->alive && o->bytes > before)
			return o;
	}
	return nullptr;
}

/* A conflict with an object that shares bytes with a new location. */
conflict objects::overlap(object &o, usize bytes, const actor &by)
{
	const auto at_odds = [](const object &with) -> conflict {
		return {bug::mixed_access,
			"an atomic access that overlaps another location, used",
			with.user, with.used};
	};
	conflict found;

	if (const object *const around = atomic_around(o.at))
		found = at_odds(*around);
	for (usize i = 1; i < bytes; i++) {
		object *const with =
			find_mutable(static_cast<const char *>(o.at) + i);
		if (!with || !with->alive)
			continue;
		if (with->location >= 0)
			found = at_odds(*with);
		else if (found.found == bug::none)
			found = ended_by_all(
				*with, by, bug::mixed_access,
				"an atomic access beside a plain one");
		with->part = true;
		with->user = static_cast<u8>(by.cpu);
		with->used = by.where;
	}
	return found;
}

void objects::meet_byte(const void *at, const actor &by, bool reuses)
{
	object *const before = find_mutable(at);

	if (before && before->part && !atomic_around(at))
		before->part = false;
	if (before && (before->alive || !reuses ||
		       !ordered(before->maker, before->end, by)))
		return;
	if (before) {
		*before = {};
		before->at = at;
		before->run = run;
		before->bytes = 1;
	}
	if (const object *const around = atomic_around(at)) {
		object &o = entry(at, 1);
		o.part = true;
		o.user = around->user;
		o.used = around->used;
	}
}

void objects::given(const void *at, usize bytes)
{
	const char *const first = static_cast<const char *>(at);

	for (const char *byte = first; byte < first + bytes; byte++)
		if (object *const o = find_mutable(byte)) {
			object anew;
			anew.at = o->at;
			anew.run = o->run;
			anew.bytes = o->bytes;
			*o = anew;
		}
}

conflict objects::ended(const void *at, const actor &by)
{
	const object *const o = find(at);

	return o && o->alive ? dead(at, o->bytes, by) : conflict{};
}

void objects::adopt(const void *at, unsigned cpu, const object::access &write,
		    const object::access &read, u8 ended)
{
	object &o = entry(at, 1);

	if (o.location >= 0 && o.alive) {
		o.writer = static_cast<u8>(cpu);
		o.write = write;
		return;
	}
	o = {};
	o.at = at;
	o.run = run;
	o.bytes = 1;
	o.writer = o.maker = static_cast<u8>(cpu);
	o.write = write;
	o.reads[cpu] = read;
	if (ended) {
		o.alive = false;
		o.end.epoch = ended;
	}
}

conflict objects::use(const void *at, usize bytes, const actor &by,
		      unsigned &location)
{
	object &o = entry(at, bytes);
	conflict found = alive(o, by);

	if (found.found == bug::none && !ordered(o.writer, o.write, by))
		found = {bug::data_race, "data race with the write", o.writer,
			 o.write.where, o.write.epoch};
	if (o.location < 0) {
		/* Its initialisation may be plain, if it happens before. */
		if (found.found == bug::none)
			found = ended_by_all(
				o, by, bug::mixed_access,
				"an atomic access beside a plain one");
		if (found.found == bug::none)
			found = overlap(o, bytes, by);
		const auto name =
			std::tuple(at, o.was_born ? o.maker : ~0u, o.birth);
		const int next = static_cast<int>(numbers.size());
		o.location = numbers.try_emplace(name, next).first->second;
		o.atomic = true;
		o.bytes = static_cast<u32>(bytes);
		o.user = static_cast<u8>(by.cpu);
		o.used = by.where;
	}
	if (found.found == bug::none && o.bytes != bytes)
		found = {bug::mixed_access,
			 "an atomic access of another size than one", o.user,
			 o.used};
	location = static_cast<unsigned>(o.location);
	o.reads[by.cpu] = {by.epoch, by.where};
	return found;
}

int objects::location_known(const void *at) const
{
	const object *const o = find(at);

	return o && o->location >= 0 ? o->location
				     : numbers.at(std::tuple(at, ~0u, 0u));
}

/* -- A CPU's own stack ----------------------------------------------------- */

void own_stack::start_run(const char *from, const char *to, bool shown)
{
	if (notes > ~u32{0} / 2 || to - from != high - low) {
		bytes.clear();
		notes = 0;
	}
	low = from;
	high = to;
	start = notes;
	shared.clear();
	ends.clear();
	calls.clear();
	by.resize(shown ? static_cast<usize>(high - low) : 0);
}

bool own_stack::accessed(const char *place, usize size, bool writes, u8 epoch,
			 const void *caller)
{
	make_room();
	byte *const first = &at(place);
	for (usize i = 0; i < size; i++)
		if (first[i].shared && first[i].when > start)
			return false;
	notes++;
	for (usize i = 0; i < size; i++) {
		byte &b = at(place + i);
		b.when = notes;
		(writes ? b.wrote : b.read) = epoch;
	}
	if (by.empty())
		return true;
	for (usize i = 0; i < size; i++) {
		callers &c = by[static_cast<usize>(place - low) + i];
		(writes ? c.writer : c.reader) = caller;
	}
	return true;
}

void own_stack::share(const char *place)
{
	at(place).shared = true;
	shared.push_back(place);
}

void own_stack::forget(const char *place, usize size)
{
	for (; told() && size; size--, place++)
		at(place).wrote = at(place).read = 0;
}

const own_stack::end *own_stack::end_of(const char *place)
{
	const u32 last = at(place).when;
	const auto after = std::find_if(
		std::partition_point(
			ends.begin(), ends.end(),
			[last](const end &e) { return e.when < last; }),
		ends.end(), [place](const end &e) { return place < e.above; });

	return after == ends.end() ? nullptr : &*after;
}

/* Its frame ends at the address where its return address is. */
void own_stack::enter(const char *frame, const void *returns_to)
{
	const char *above = frame;

	make_room();
	while (!calls.empty() && calls.back().sp <= frame)
		calls.pop_back();
	const char *const till = calls.empty() ? high : calls.back().sp;
	for (const char *word = frame + 2 * sizeof(void *);
	     word + sizeof(void *) <= till + 2 * sizeof(void *) && word < high;
	     word += sizeof(void *)) {
		const void *is;
		std::memcpy(&is, word, sizeof(is));
		if (is == returns_to) {
			above = word;
			break;
		}
	}
	calls.push_back({frame, above, returns_to});
}

const char *own_stack::leave(const char *frame, u8 epoch)
{
	const char *above = nullptr;

	while (!calls.empty() && calls.back().sp <= frame) {
		above = std::max(above, calls.back().above);
		calls.pop_back();
	}
	if (!above)
		return nullptr;
	/* Several ends in one epoch count as one. */
	while (!ends.empty() && ends.back().epoch == epoch &&
	       ends.back().above <= above)
		ends.pop_back();
	ends.push_back({++notes, above, epoch});
	return above;
}

} // namespace model
