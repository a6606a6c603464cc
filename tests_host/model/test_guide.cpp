/* SPDX-License-Identifier: MIT */
/*
 * The examples of lib/model/README.md: they pass, their mistakes are found, and
 * the code that the guide shows is the code that is compiled.
 */
#include <model/example/reference_count.hpp>
#include <model/example/ring.hpp>

#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <fstream>
#include <regex>
#include <sstream>

namespace {

std::string contents(const std::string &name)
{
	const std::string here = __FILE__;
	std::ifstream file(here.substr(0, here.rfind('/')) +
			   "/../../lib/model/" + name);
	std::stringstream all;

	all << file.rdbuf();
	return all.str();
}

/* What stands between ``` lines. */
std::vector<std::string> blocks(const std::string &text,
				const std::string &language)
{
	const std::string open = "```" + language + "\n";
	std::vector<std::string> all;

	for (auto at = text.find(open); at != std::string::npos;
	     at = text.find(open, at)) {
		at += open.size();
		const auto end = text.find("```", at);
		all.push_back(text.substr(at, end - at));
		at = end;
	}
	return all;
}

/* Less padding, and less where in which file: this is not the guide's. */
std::string without_places(const std::string &timeline)
{
	const std::regex place("[a-z_]+\\.[ch]pp:[0-9]+"), spaces(" +");

	return std::regex_replace(std::regex_replace(timeline, place, "@"),
				  spaces, " ");
}

struct counted {
	reference_count held;
	klock::plain<unsigned> object{7};
	unsigned ended = 0;

	counted()
	{
		held.get();
		model::name(held, "held");
		model::name(object, "object");
	}
};

model::result count_down(const model::options &how)
{
	return model::explore<counted>(
		how,
		[](counted &w, unsigned) {
			(void)w.object.get();
			if (w.held.put()) {
				w.object.set(0);
				w.ended++;
			}
		},
		[](counted &w) { model::check(w.ended == 1); });
}

} // namespace

TEST_CASE("guide: what it shows is what is compiled")
{
	const std::string guide = contents("README.md");
	const auto code = blocks(guide, "cpp");
	const std::string sources =
		contents("example/reference_count.hpp") +
		contents("example/ring.hpp") +
		contents("example/test_reference_count.cpp");

	REQUIRE(code.size() >= 2);
	for (const std::string &block : code) {
		INFO(block);
		CHECK(sources.find(block) != std::string::npos);
	}
}

TEST_CASE("guide: the timeline that it shows is the one that comes")
{
	model::options how{.sections = {1, 1}, .record_uses = true};
	const auto whole = count_down(how);
	std::string shown;

	REQUIRE(whole.ok());
	for (const model::use &u : whole.uses)
		if (u.written == klock::order::release) {
			how.weaken = {u, klock::order::relaxed};
			shown = count_down(how).timeline;
		}
	INFO(shown);
	const auto texts = blocks(contents("README.md"), "text");
	REQUIRE(texts.size() == 1);
	CHECK(without_places(texts[0]) == without_places(shown));
}

TEST_CASE("guide: each order of the reference count is needed")
{
	model::options how{.sections = {1, 1}, .record_uses = true};
	const auto whole = count_down(how);
	unsigned weaker = 0;

	CHECK(whole.ok());
	CHECK(whole.exhaustive);
	CHECK(whole.complete == 2);
	for (const model::use &u : whole.uses)
		for (const model::weakening &w : model::weakenings(u)) {
			INFO(model::text(w));
			how.weaken = w;
			CHECK(count_down(how).found == model::bug::data_race);
			weaker++;
		}
	CHECK(weaker == 2);
}

TEST_CASE("guide: the ring, and each of its orders")
{
	const auto run = [](const model::options &how) {
		return model::explore<ring>(how, [](ring &r, unsigned cpu) {
			for (int i = 1; i <= 4; i++)
				if (cpu == 0)
					r.put(i);
				else
					model::check(r.take() == i);
		});
	};
	model::options how{.sections = {1, 1}, .record_uses = true};
	const auto whole = run(how);
	unsigned weaker = 0;

	INFO(whole.timeline);
	CHECK(whole.ok());
	CHECK(whole.exhaustive);
	CHECK(whole.complete >= 4);
	for (const model::use &u : whole.uses)
		for (const model::weakening &w : model::weakenings(u)) {
			INFO(model::text(w));
			how.weaken = w;
			CHECK_FALSE(run(how).ok());
			weaker++;
		}
	CHECK(weaker == 4);
}
