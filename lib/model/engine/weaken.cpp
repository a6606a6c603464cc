/* SPDX-License-Identifier: MIT */
/*
 * weaken - an operation's order made weaker; the uses of orders recorded
 */
#include "operations.hpp"
#include "timeline.hpp"

#include <model/model.hpp>

#include <cstring>
#include <string>

namespace model {

namespace {

bool same_file(const std::string &name, const char *file)
{
	return file && std::strcmp(name.c_str(), file) == 0;
}

/* The orders one step below this one, for this kind of operation. */
std::vector<order> one_below(operation what, order o)
{
	const bool both = what == operation::rmw || what == operation::fence;

	switch (o) {
	case order::seq_cst:
		if (both)
			return {order::acq_rel};
		return {what == operation::load ? order::acquire
						: order::release};
	case order::acq_rel:
		return {order::acquire, order::release};
	case order::acquire:
	case order::release:
		return {order::relaxed};
	case order::relaxed:
		break;
	}
	return {};
}

} // namespace

order weakened(const options &given, operation what_kind, order written, site s)
{
	if (!given.weaken)
		return written;

	const use &w = given.weaken->where;
	if (w.line == s.line && w.what == what_kind && w.written == written &&
	    same_file(w.file, s.file))
		return given.weaken->to;
	return written;
}

std::vector<weakening> weakenings(const use &u)
{
	std::vector<weakening> all;

	for (order to : one_below(u.what, u.written))
		all.push_back({u, to});
	return all;
}

const char *text(order o)
{
	switch (o) {
	case order::relaxed:
		return "relaxed";
	case order::acquire:
		return "acquire";
	case order::release:
		return "release";
	case order::acq_rel:
		return "acq_rel";
	case order::seq_cst:
		return "seq_cst";
	}
	return "?";
}

std::string text(const use &u)
{
	static const char *const kinds[] = {"load", "store", "rmw", "fence"};

	return text(site(u.file.c_str(), u.line)) + " " +
	       kinds[static_cast<int>(u.what)] + " " + text(u.written);
}

std::string text(const weakening &w)
{
	return text(w.where) + " -> " + text(w.to);
}

} // namespace model
