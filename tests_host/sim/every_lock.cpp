/* SPDX-License-Identifier: MIT */
#include "every_lock.hpp"

#include <ctime>
#include <map>

namespace sim {

namespace {

#ifdef KLOCK_ALL_WIDTHS
template <unsigned Cpus>
using measured_locks = klock::selftest::all_locks<Cpus>;
#else
template <unsigned Cpus>
using measured_locks = tested<klock::selftest::all_locks<Cpus>>;
#endif

template <unsigned Cpus, unsigned SizeBefore>
std::vector<figures> measure_list(const machine &on)
{
	std::vector<figures> out;

	measured_locks<Cpus>::for_each([&]<typename Subject>() {
		if (Subject::capacity <= SizeBefore ||
		    Cpus > most_cpus<Subject>)
			return;
		const unsigned cpus =
			Cpus < Subject::capacity
				? Cpus
				: static_cast<unsigned>(Subject::capacity);
		out.push_back(measure<typename Subject::lock>(Subject::name, on,
							      {.cpus = cpus}));
	});
	return out;
}

} // namespace

std::vector<figures> measure_every_lock(const machine &on, first size,
					unsigned most)
{
	struct list {
		unsigned cpus;
		std::vector<figures> (*measure)(const machine &);
		std::vector<figures> rows;
	};
	std::vector<list> lists = {
		{2, measure_list<2, 1>, {}},
		{8, measure_list<8, 2>, {}},
#ifdef KLOCK_ALL_WIDTHS
		{32, measure_list<32, 8>, {}},
		{128, measure_list<128, 32>, {}},
		{512, measure_list<512, 128>, {}},
		{1024, measure_list<1024, 512>, {}},
#else
		{128, measure_list<128, 8>, {}},
#endif
	};
	std::erase_if(lists, [=](const list &l) { return l.cpus > most; });
	if (size == first::small)
		for (list &l : lists)
			l.rows = l.measure(on);
	else
		for (auto l = lists.rbegin(); l != lists.rend(); ++l)
			l->rows = l->measure(on);

	std::vector<figures> out;
	for (const list &l : lists)
		out.insert(out.end(), l.rows.begin(), l.rows.end());
	return out;
}

const measured &every_lock_measured(unsigned most)
{
	static std::map<unsigned, measured> of;
	measured &m = of[most];

	if (m.rows.empty()) {
		const std::clock_t before = std::clock();

		m.rows = measure_every_lock(xeon_8180, first::large, most);
		m.seconds = static_cast<double>(std::clock() - before) /
			    CLOCKS_PER_SEC;
	}
	return m;
}

} // namespace sim
