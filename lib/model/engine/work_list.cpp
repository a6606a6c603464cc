/* SPDX-License-Identifier: MIT */
#include "work_list.hpp"

namespace model {

void work_list::start(unsigned cpus, release_sequence sequence)
{
	done = 0;
	stack.clear();
	stack.push_back(make());
	stack.back()->reset(cpus, sequence);
}

void work_list::run_next()
{
	if (under_way)
		recycle(std::move(under_way));
	under_way = std::move(stack.back());
	stack.pop_back();
}

/* Its share is divided between itself and the graphs that it leads to. */
void work_list::divide_share(usize below, double all)
{
	const double each = all / static_cast<double>(stack.size() - below + 1);

	for (usize i = below; i < stack.size(); i++)
		stack[i]->share = each;
	done += each;
}

void work_list::shrink_to(usize many)
{
	for (; stack.size() > many; stack.pop_back())
		recycle(std::move(stack.back()));
}

void work_list::keep_part(usize number, usize of)
{
	for (usize i = 0; i < stack.size(); i++)
		if (i % of != number)
			recycle(std::move(stack[i]));
	std::erase(stack, nullptr);
}

void work_list::drop_lowest()
{
	recycle(std::move(stack.front()));
	stack.erase(stack.begin());
}

} // namespace model
