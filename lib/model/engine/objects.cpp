/* SPDX-License-Identifier: MIT */
#include "objects.hpp"

namespace model {

namespace {

usize slot_of(const void *at, usize slots)
{
	const u64 mixed = reinterpret_cast<usize>(at) * 0x9e3779b97f4a7c15u;

	return static_cast<usize>(mixed >> 32) & (slots - 1);
}

bool ordered(unsigned cpu, const object::access &before, const actor &by)
{
	return !before.epoch || by.seen.at[cpu] >= before.epoch ||
	       cpu == by.cpu;
}

} // namespace

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

/* Whether it is there, for one who has seen this much. */
conflict objects::alive(const object &o, const actor &by) const
{
	if (!o.alive)
		return {bug::dead_object, "use of a dead object, gone", o.maker,
			o.end.where};
	if (!ordered(o.maker, o.end, by))
		return {bug::dead_object,
			"use of an object that may not be there yet, made",
			o.maker, o.end.where};
	return {};
}

/* Whether all accesses happened before this one. */
conflict objects::ended_by_all(const object &o, const actor &by, bug as,
			       const char *text) const
{
	for (unsigned cpu = 0; cpu < max_cpus; cpu++)
		if (!ordered(cpu, o.reads[cpu], by))
			return {as, text, cpu, o.reads[cpu].where};
	if (!ordered(o.writer, o.write, by))
		return {as, text, o.writer, o.write.where};
	return {};
}

conflict objects::born(const void *at, usize bytes, const actor &by,
		       unsigned birth)
{
	object &o = entry(at, bytes);
	conflict found;

	if (!ordered(o.maker, o.end, by))
		found = {bug::dead_object, "object made over another, touched",
			 o.maker, o.end.where};
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
 * What is atomic lies in the graph, and what is plain in memory: neither finds
 * what the other has stored.
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
			 o.write.where};
	if (found.found == bug::none && o.place >= 0)
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
	if (found.found == bug::none && o.place >= 0)
		found = beside(o);
	o.writer = static_cast<u8>(by.cpu);
	o.write = {by.epoch, by.where};
	return found;
}

conflict objects::use(const void *at, usize bytes, const actor &by,
		      unsigned &place)
{
	object &o = entry(at, bytes);
	conflict found = alive(o, by);

	if (found.found == bug::none && !ordered(o.writer, o.write, by))
		found = {bug::data_race, "data race with the write", o.writer,
			 o.write.where};
	if (o.place < 0) {
		/* Who makes it may have done so plainly: before. */
		if (found.found == bug::none)
			found = ended_by_all(
				o, by, bug::mixed_access,
				"an atomic access beside a plain one");
		const auto name =
			std::tuple(at, o.was_born ? o.maker : ~0u, o.birth);
		const int next = static_cast<int>(numbers.size());
		o.place = numbers.try_emplace(name, next).first->second;
		o.atomic = true;
		o.bytes = static_cast<u32>(bytes);
		o.user = static_cast<u8>(by.cpu);
		o.used = by.where;
	}
	if (found.found == bug::none && o.bytes != bytes)
		found = {bug::mixed_access,
			 "an atomic access of another size than one", o.user,
			 o.used};
	place = static_cast<unsigned>(o.place);
	o.reads[by.cpu] = {by.epoch, by.where};
	return found;
}

} // namespace model
