/* SPDX-License-Identifier: MIT */
/*
 * The checker's verdict on functions of libraries (klock::model_plain): reads
 * names, one a line, and writes behind each what it is. scan.py runs it.
 */
#include <model/body.hpp>

#include <iostream>
#include <string>

int main()
{
	const char *const words[] = {"harmless", "seen", "refused"};

	for (std::string name; std::getline(std::cin, name);)
		std::cout << name << ' '
			  << words[static_cast<int>(
				     model::detail::what_is(name.c_str()))]
			  << '\n';
}
